/* apply.h - bring chosen changes of a box to the host: beneath the root, one file at a time and
 * each atomically, keeping what is replaced, never over something the host changed meanwhile.
 *
 * What was applied is remembered in the box's directory (`applied`: layer, path, the upper file's
 * inode, size, mtime and ctime, and what the host got), so that it is no pending change any more,
 * and so that the host's copy that we wrote ourselves is no conflict later. */
#ifndef WORKSPACE_APPLY_H
#define WORKSPACE_APPLY_H

#include "workspace/change.h"
#include "workspace/undo.h"

struct err;

enum apply_conflict {
        APPLY_CLEAR,
        APPLY_HOST_CHANGED, /* ctime later than the box's start, and not by us */
        APPLY_HOST_GONE,    /* the box changed a file that the host deleted */
        APPLY_HOST_NEW,     /* the box added what the host has meanwhile too */
        APPLY_HOST_ODD,     /* a symlink, device or directory is in the way */
};
const char *apply_conflict_words(enum apply_conflict);

/* `applied` of a box, read. No file is an empty one. */
struct applied;
int applied_read(int box_dir_fd, struct applied **, struct err *);
void applied_free(struct applied *);
/* For ws_query.is_applied; ${arg} is a struct applied. */
bool applied_has(void *arg, const char *layer, const char *path, const struct ws_node *);
/* applied_is_ours(a, layer, path, state): is this what we put there, or put back, ourselves? */
bool applied_is_ours(const struct applied *, const char *layer, const char *path,
                     const struct undo_state *);
/* apply_judge(change, applied, conflict, err): looks at the host as it is now. Equal content on
 * both sides is no conflict. ${applied} may be NULL. */
int apply_judge(const struct ws_change *, const struct applied *, enum apply_conflict *,
                struct err *);

/* apply_host_sha(change, sha): names what the host has there now: the content of a file, or where a
 * link leads. 0, or -1: neither. */
int apply_host_sha(const struct ws_change *, char sha[SHA256_HEX_LEN + 1]);

/* apply_unreadable(err): did it fail because the user may not read it? Then this one is left. */
bool apply_unreadable(const struct err *);
#define APPLY_BOX_UNREADABLE "it cannot be read with your rights"
#define APPLY_HOST_UNREADABLE                                                                      \
        "what the host has there cannot be read with your rights, nor kept for undo"

enum apply_how {
        APPLY_TAKE, /* as the box has it */
        APPLY_SKIP,
        APPLY_BYTES, /* a regular file with these bytes instead: some of its hunks */
        APPLY_MERGE, /* the same, made of both sides: what the host changed is in it */
};
struct apply_choice {
        const struct ws_change *change;
        enum apply_how how;
        const void *bytes;
        size_t bytes_len;
        const char *host_sha; /* unless NULL or "": what the host has there (apply_host_sha) was
                                 weighed already, and is no conflict as long as it is that. Always
                                 with APPLY_MERGE */
        const char *shown; /* APPLY_TAKE: the content that the user was shown, or NULL or "": a box
                              that goes on writing must not have another one applied */
};

struct apply_result {
        uint64_t record_n; /* of undo; 0: nothing was done */
        uint64_t applied_n, conflicts_n, refused_n;
        uint64_t kept_bytes; /* size of what was replaced */
};
struct apply_hooks {
        void (*on_conflict)(void *arg, const struct ws_change *, enum apply_conflict);
        /* ${why} is a clause: "a device", "the directory is not empty on the host" */
        void (*on_refused)(void *arg, const struct ws_change *, const char *why);
        void (*on_progress)(void *arg, uint64_t done_n, uint64_t all_n);
        void *arg;
};
/* apply_run(box_dir_fd, box_id, undo_fd, root, choices, n, hooks, result, err):
 * All choices belong to ${root}, each path at most once. Conflicts and refusals are told and
 * skipped; anything of a git directory, or that would make one on the host, is refused whatever is
 * chosen; a failure (a full disk) stops, says what was done, and leaves a record that undo takes
 * back; when already keeping what is replaced fails, nothing was touched. Modes are those of the
 * box masked by 0777 without setuid, setgid and sticky; owners are the user, or who had the
 * replaced file. Directories that are missing above a path are made as the box has them. Waits for
 * the lock of the undo directory. */
int apply_run(int box_dir_fd, const char *box_id, int undo_fd, const struct ws_root *,
              const struct apply_choice *, size_t n, const struct apply_hooks *,
              struct apply_result *, struct err *);

#endif
