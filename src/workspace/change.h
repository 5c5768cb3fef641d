/* change.h - what a box changed, one entry at a time: found by comparing the two views of a root,
 * judged by class, told in the order of paths. */
#ifndef WORKSPACE_CHANGE_H
#define WORKSPACE_CHANGE_H

#include "base/sha256.h"
#include "base/strs.h"
#include "policy/file_class.h"
#include "workspace/box_roots.h"

enum ws_what {
        WS_ADDED,
        WS_MODIFIED, /* content, or a link's target; the mode may differ too */
        WS_MODE,     /* nothing but the permission bits */
        WS_RETYPED,  /* a file became a directory or a link, ... */
        WS_DELETED,  /* of a directory: with everything in it, one entry each, deepest first */
        WS_RENAMED,  /* `from` is where it was; made of a deletion and an addition by
                        ws_changes_rename, never told by ws_walk */
};

struct ws_change {
        const struct ws_root *root;
        char *path; /* from the root; any bytes but NUL, so quote it before it is shown (case 76) */
        char *from; /* WS_RENAMED, else NULL */
        enum ws_what what;
        struct ws_node before, after; /* kind WS_NONE where there is nothing */
        struct file_class_verdict class;
        char judged[SHA256_HEX_LEN + 1]; /* the content that decided its class, or "". A box can
                                            write to a file that it has mapped without moving its
                                            times, so apply holds it to this. */
        unsigned
                above; /* classes (1 << class) that new directories above it have: they are made with
                            it, so they must be approved with it */
        bool is_ignored; /* build output, by the host's own ignore files or by name; plain, or runs
                            on build (installed packages, which apply must not take as plain) */
        size_t in_ignored; /* it is told, and lies in a directory that the host ignores as a whole:
                              index in ws_tally.ignored plus one; else 0 */
        bool is_program;   /* plain, of a kind that can be run: executable, or begins with "#!" */
        bool is_masked;    /* what the box saw was a stand-in of ours: never applied */
        const char *refused; /* a constant sentence why apply never takes it (device, outward link,
                                ...), or NULL */
        unsigned similarity; /* of a rename: percent */
};
void ws_change_free(struct ws_change *);

/* What to look at. */
struct ws_query {
        const struct strs *paths; /* only these and what is below them, from the root; NULL: all */
        const struct file_classes *classes; /* the tables, with the user's additions */
        bool with_ignored; /* tell each ignored file; otherwise they are only counted */
        bool is_raw;       /* also what was touched and is equal, as modified (directories: mode) */
        /* Paths that are stand-ins of ours, by layer; may be NULL. */
        bool (*is_masked)(void *arg, const char *layer, const char *path);
        /* An entry that was applied before and has not changed since; may be NULL. */
        bool (*is_applied)(void *arg, const char *layer, const char *path, const struct ws_node *);
        /* now and then, for a progress line; may be NULL */
        void (*on_progress)(void *arg, uint64_t entries_n);
        void *arg;
};

struct ws_ignored { /* counted instead of told: by their topmost ignored directory */
        char *path;
        uint64_t files_n, bytes;
};
struct ws_tally {
        uint64_t files_n[WS_RENAMED + 1];     /* by enum ws_what, ignored ones left out */
        uint64_t classes_n[FILE_CLASS_COUNT]; /* the same by class */
        uint64_t refused_n;
        struct ws_ignored *ignored;
        size_t ignored_n;
        /* Git directories are not told: they never land (git/fetch.h). Here is what of them the
         * box touched: work trees whose .git it is, and bare repositories, from the root ("" is
         * the top of it). */
        struct strs git_trees; /* at most WS_GIT_TREES_MAX; those beyond are counted: */
        uint64_t git_more_n;
        /* Repositories that only the box has, below a directory that is ignored: mostly what a build
         * fetched, and so not among the others unless the query has with_ignored. */
        struct strs git_output; /* at most WS_GIT_TREES_MAX */
};
enum { WS_GIT_TREES_MAX = 4096 };
void ws_tally_free(struct ws_tally *);

/* ws_walk(root, query, fn, ctx, tally, err):
 * Call ${fn} for each change, sorted by path within a directory, parents before children
 * (deletions: after; a directory that became something else: after the deletions in it). Parents
 * that are not asked for, or ignored, are not told: who applies makes missing directories; the
 * change is the walk's own and valid during the call; ${fn} returns 0 to go on. Memory grows with
 * one directory and the depth, never with the tree. Files that were touched and are equal are not
 * changes. In a copy-on-write root nothing of a git directory is told: an entry named .git, a
 * directory that is one by its shape on the host or as a whole new one, a root that is one. They
 * are noted in the tally, also when they are beside what the query asks for. Returns 0, what ${fn} returned, or -1 with a story. */
int ws_walk(const struct ws_root *, const struct ws_query *,
            int (*fn)(void *ctx, const struct ws_change *), void *ctx, struct ws_tally *,
            struct err *);

struct ws_changes {
        struct ws_change *v;
        size_t n;
};
/* ws_changes_of(root, query, changes, tally, err): the same as a list, at most WS_CHANGES_MAX. */
enum { WS_CHANGES_MAX = 4000000 };
int ws_changes_of(const struct ws_root *, const struct ws_query *, struct ws_changes *,
                  struct ws_tally *, struct err *);
/* ws_changes_rename(changes): join deletions and additions of the same content (or mostly the same
 * text) into renames; bounded work. For showing; apply takes the parts. */
void ws_changes_rename(struct ws_changes *);
void ws_changes_free(struct ws_changes *);
#define _cleanup_changes_ __attribute__((cleanup(ws_changes_free)))

/* ws_what_name(w): "added", "modified", "mode", "type", "deleted", "renamed". */
const char *ws_what_name(enum ws_what);

#endif
