/* walk_int.h - what the files of the walk share.
 *
 * Included by walk*.c and change.c alone. */
#ifndef WORKSPACE_WALK_INT_H
#define WORKSPACE_WALK_INT_H

#include "base/buf.h"
#include "workspace/change.h"
#include "workspace/classify.h"
#include "workspace/ignore.h"
#include "workspace/view_int.h"

struct walk_above;
struct walk_repo;

/* What is done in a directory. */
enum walk_mode {
        WALK_BOTH,    /* it is on both sides */
        WALK_ADDED,   /* everything in it is new */
        WALK_DELETED, /* everything in it is gone: told deepest first */
};

struct walk_frame {
        struct walk_frame *up;
        enum walk_mode mode;
        struct ws_dir *before, *after; /* NULL: not there on that side */
        bool is_asleep;                /* see ws_dir_sleep */
        struct ws_names names, more;   /* to look at; more: of the side before */
        size_t at, more_at;
        size_t path_len;          /* of the walk's path, with the slash and without an entry */
        size_t depth;             /* 0: the root */
        bool is_asked;            /* all of it is within what the query asks for */
        bool is_setgid;           /* new directories inherit that bit: no wish of the box */
        struct ignore *rules;     /* the host's .gitignore here, or NULL */
        struct walk_repo *repo;   /* the host has a repository here, or NULL */
        struct walk_frame *ruled; /* the nearest one, this or above, with rules or a repository; the
                                     root at last */
        struct walk_above *above; /* of the root: a repository that it is a directory of, or NULL */
        size_t ignored; /* index in the tally plus one of the ignored tree this is in, or 0 */
        struct file_class_verdict
                inherited;          /* the class of the nearest new directory that has one */
        unsigned classes_above;     /* of all of these, as bits */
        const char *refused;        /* a directory that is not applied has nothing in it that is */
        bool is_made_git;           /* the box made a git directory of it: see walk_git.c */
        bool holds_git;             /* the host has a git directory in it, which stays */
        struct ws_change *after_it; /* told when the directory is done, or NULL */
};

struct walk {
        const struct ws_root *root;
        const struct ws_query *query;
        struct strs paths; /* of the query, made canonical */
        int (*fn)(void *ctx, const struct ws_change *);
        void *ctx;
        struct ws_tally *tally;
        struct buf path; /* of the entry in hand */
        struct walk_frame *top;
        bool is_asked; /* the entry in hand is within what the query asks for */
        uint64_t seen_n;
        struct classify *classify;
        struct ignore *user; /* the user's own ignore file, read with the first repository */
        bool is_user_read;
};

#define WALK_UNREADABLE "it cannot be read with your rights"

/* walk_same(f, name, c): is the content (a link's target) of both sides the same? What cannot be
 * read is not the same, and ${c} says so. */
bool walk_same(const struct walk_frame *, const char *name, struct ws_change *);
/* walk_same_bytes(a_fd, b_fd): 1 equal, 0 not, -1 could not be read (errno). Holes are skipped:
 * what is a hole on both sides costs nothing, whatever its size (case 78). */
int walk_same_bytes(int a_fd, int b_fd);

/* walk_judge_root(w, f), walk_judge_dir(w, f, sub, name, c): what holds for everything in a
 * directory, found out when it is entered. */
void walk_judge_root(struct walk *, struct walk_frame *);
void walk_judge_dir(struct walk *, struct walk_frame *, struct walk_frame *sub, const char *name,
                    const struct ws_change *);
/* walk_judge(w, f, name, c): class, ignored, masked and refused of a change. */
void walk_judge(struct walk *, struct walk_frame *, const char *name, struct ws_change *);
/* walk_tell(w, f, c): count it, and call the walk's function unless it is only counted. */
int walk_tell(struct walk *, struct walk_frame *, const struct ws_change *);

/* --- walk_git.c --------------------------------------------------------------------------------
 */

/* walk_git_is_name(w, name): is it `.git` in a copy-on-write root? walk_git_name(w, f, c): the box
 * touched it: note its work tree. */
bool walk_git_is_name(const struct walk *, const char *name);
void walk_git_name(struct walk *, struct walk_frame *, const struct ws_change *);
/* walk_git_is_root(w, f), walk_git_is_dir(w, f, sub, c): is the whole root, or the directory that
 * is about to be entered, a git directory? It is noted then. */
bool walk_git_is_root(struct walk *, struct walk_frame *);
bool walk_git_is_dir(struct walk *, struct walk_frame *, struct walk_frame *sub,
                     const struct ws_change *);
/* walk_git_refusal(w, f, name): why an entry that is told may not land, or NULL. */
const char *walk_git_refusal(const struct walk *, const struct walk_frame *, const char *name);

/* --- walk_ignore.c -----------------------------------------------------------------------------
 */

/* walk_ignore_is_repo(w, f): has the host's directory a .git? */
bool walk_ignore_is_repo(const struct walk *, const struct walk_frame *);
/* walk_ignore_enter(w, f): read what the host's directory says; walk_ignore_leave(f). */
void walk_ignore_enter(struct walk *, struct walk_frame *);
void walk_ignore_leave(struct walk_frame *);
/* walk_ignore_says(f, path, is_dir): the nearest ignore file that says something, up to the
 * repository the frame is in. */
enum ignore_says walk_ignore_says(const struct walk_frame *, const char *path, bool is_dir);

enum walk_tracked { WALK_UNTRACKED, WALK_TRACKED, WALK_NO_REPO, WALK_TRACKED_UNKNOWN };
/* walk_is_tracked(f, path): by the index of the host's repository the frame is in; a directory is
 * tracked when something in it is. */
enum walk_tracked walk_is_tracked(struct walk_frame *, const char *path);

enum { WALK_RULES_MAX = 4 << 20 };
/* walk_ignore_read(dir, path): an ignore file of the host, through no link; NULL: there is none. */
struct ignore *walk_ignore_read(int dir, const char *path);

/* walk_repo_open(w, dir): the repository whose .git is in ${dir}. walk_repo_says: its info/exclude,
 * then the user's own file. walk_repo_tracked: its index; paths are from ${dir} on. */
struct walk_repo *walk_repo_open(struct walk *, int dir);
void walk_repo_free(struct walk_repo *);
enum ignore_says walk_repo_says(const struct walk_repo *, const char *path, bool is_dir);
enum walk_tracked walk_repo_tracked(struct walk_repo *, const char *path);

/* --- walk_above.c ------------------------------------------------------------------------------
 */

/* walk_above_read(w): the repository that the workspace is a directory of, or NULL: none, one of
 * somebody else's, or one that ignores the workspace as a whole. walk_above_says, -_tracked: as
 * above; ${path} from the workspace on, NULL is silent. walk_above_user(): what core.excludesFile
 * of the user's settings (no includes) names, or git's default for it. */
struct walk_above *walk_above_read(struct walk *);
void walk_above_free(struct walk_above *);
enum ignore_says walk_above_says(const struct walk_above *, const char *path, bool is_dir);
enum walk_tracked walk_above_tracked(const struct walk_above *, const char *path);
struct ignore *walk_above_user(void);

#endif
