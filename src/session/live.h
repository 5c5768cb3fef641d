/* live.h - a workspace that the box writes to directly (--live, rw binds): what of it the box may
 * not change, what is masked, what is watched for, and how the run is taken back.
 *
 * Before the start the tree is looked through: every file that somebody runs or obeys on commit, on
 * open or as an agent is shown read-only, as are the settings of ostiary and git's own
 * configuration and hooks; sockets and FIFOs are masked by a file without content. Files for builds
 * and CI stay writable: an agent that may not edit package.json or a Makefile is of no use, and
 * what it writes there is in the record that undo takes back. Installed packages (node_modules,
 * .venv) are not looked into: they are replaced as a whole.
 *
 * While the box runs a process of its own (live_watch.h) moves what is new and dangerous into the
 * box's directory quarantine/ (case 64). */
#ifndef SESSION_LIVE_H
#define SESSION_LIVE_H

#include "base/strs.h"
#include "session/start.h"
#include "workspace/classify.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct checkpoint;
struct err;
struct stat;

enum {
        LIVE_TREES_MAX = 16,   /* directories that the box may write to */
        LIVE_FDS_MAX = 64,     /* descriptors of all of them together */
        LIVE_SHOWN_MAX = 4000, /* mounts to protect and to mask */
};

/* A directory that the box may write to, opened and ready to be judged. */
struct live_tree {
        char *root;
        int fd;
        bool is_workspace; /* or a git directory of it: a checkpoint is taken */
        struct ws_root ws;
        const struct file_classes *classes;
        struct classify *classify;
        struct live_known *known; /* dangerous files that were there, sorted by path */
        size_t known_n;
        struct strs dirs; /* all that are looked into, for who watches them */
        mode_t mask;      /* the user's umask */
        int64_t begun_ns; /* before anything was looked at */
        uint64_t *wide;   /* what others could write to before, as sorted numbers (live_modes.c) */
        size_t wide_n;
        struct checkpoint *checkpoint;
};
struct live_known {
        char *path;
        uint64_t ino;
        int64_t ctime_ns;
        bool is_shown; /* read-only in the box: it can be moved with a directory, and not changed */
};

struct live {
        struct live_tree *v;
        size_t n;
        struct file_classes *classes; /* with the user's rows */
        size_t shown_n, masked_n;     /* mounts: read-only, and over sockets and FIFOs */
};

/* live_prepare(plan, store, id, dir_fd, is_quiet, live, err): look through the trees, add the
 * mounts to the plan, take the checkpoints. Nothing of the user's is changed. ${live} has no trees
 * when the box has none that it may write to. A tree with too much to protect is refused. Unless
 * ${is_quiet}, how far a checkpoint is and what it cannot cover is said on stderr. */
int live_prepare(struct session_plan *, const struct store *, const char *id, int dir_fd,
                 bool is_quiet, struct live *, struct err *);
/* live_tell(plan, store, err): for explain: add the mounts that a start would make, and nothing
 * else. */
int live_tell(struct session_plan *, const struct store *, struct err *);
void live_free(struct live *);
/* live_drop(live): the box did not start: no record of a run is left. */
void live_drop(struct live *);
/* live_fds(live, to): the descriptors that it holds, for whoever closes all others; how many. */
size_t live_fds(const struct live *, int to[LIVE_FDS_MAX]);

/* live_quarantined(store, id): how many files were taken away while this box ran. */
uint64_t live_quarantined(const struct store *, const char *id);

/* live_walk(root_fd, from, max, fn, ctx): everything below ${from}, parents first, by descriptor
 * and however deep; ${fn} returns 1 to leave a directory out, -1 to stop. -1 also beyond ${max}
 * entries, and when a path became too long to be named. */
enum { LIVE_ENTRIES_MAX = 4000000, LIVE_DEPTH_MAX = 200 };
typedef int live_fn(void *ctx, const char *path, const struct stat *);
int live_walk(int root_fd, const char *from, uint64_t max, live_fn *, void *ctx);

/* live_judge(tree, path, mode, is_end, verdict): would this, if it is new, be taken away? While the
 * box runs what git itself makes for a clone, a worktree or a rebase is not; a rebase that is left
 * behind is, at the end. live_is_guarded(class): is it a class that is guarded here at all? */
bool live_judge(struct live_tree *, const char *path, mode_t, bool is_end,
                struct file_class_verdict *);
bool live_is_guarded(enum file_class);
/* live_modes_begin(tree): before the first look. live_modes_note(tree, path, st): what others may write
 * to already, and what they may not read; live_modes_noted(tree): that was all. live_modes_mend(tree, path,
 * st): take away rights of others that came since: to write, if the umask forbids it; to read what they
 * could not read; to run a program as its owner or group. Which of them it was, 0 when there were none,
 * -1 when they could not be taken away. */
enum { LIVE_MENDED_WRITE = 1, LIVE_MENDED_READ, LIVE_MENDED_LENT };
void live_modes_begin(struct live_tree *);
void live_modes_note(struct live_tree *, const char *path, const struct stat *);
void live_modes_noted(struct live_tree *);
int live_modes_mend(const struct live_tree *, const char *path, const struct stat *);

/* live_is_installed(path): a directory of installed packages, which is not looked into. */
bool live_is_installed(const char *path);

#endif
