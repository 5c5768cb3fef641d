/* changes.h - what a box changed, ready to be asked: its roots opened (workspace/box_roots.h), the
 * classes with the user's additions, what is masked and what was applied, joined into a query for
 * ws_walk. Used by diff, apply, the timeline and the report.
 *
 *     _cleanup_box_changes_ struct changes c = {0};
 *     if (changes_open(&c, &store, id, 0, err) < 0 ||
 *         changes_limit(&c, words, words_n, err) < 0)
 *             return -1;
 *     for (size_t i = 0; i < c.roots.n; i++) {
 *             struct ws_query q;
 *             if (changes_query(&c, i, &q) && ws_walk(&c.roots.v[i], &q, fn, ctx, &t, err) != 0)
 *                     ...
 *     }
 *
 * Reads only: works for running boxes and for ended ones, wakes none, needs no lock. */
#ifndef SESSION_CHANGES_H
#define SESSION_CHANGES_H

#include "base/strs.h"
#include "workspace/box_roots.h"
#include "workspace/change.h"

#include <stdbool.h>
#include <stdint.h>

struct applied;
struct err;
struct secret_mask_list;
struct store;

struct changes {
        char *id;
        char *workspace; /* on the host, absolute; "" when the box has none */
        int box_fd;      /* the box's directory; -1 when closed */
        int frozen_fd;
        unsigned turn;
        struct ws_roots roots; /* "ws" first, then git and bind directories, the home last */
        struct ws_query query; /* ready for every root as long as no paths were asked for; ${arg} is
                                  this struct, which must therefore stay where it is */
        struct file_classes *classes;
        struct applied *applied; /* for apply_judge */
        /* A progress line of the caller's: set both after changes_open; may stay NULL. */
        void (*on_progress)(void *arg, uint64_t entries_n);
        void *progress_arg;
        struct strs home_kept; /* what of the home outlives the box; the rest is not told */
        /* private */
        struct secret_mask_list *masks;
        struct strs *paths; /* one list per root, or NULL: everything */
};

/* changes_open(c, store, id, turn, err): ${id} is a box's whole id (store_find). ${turn} as for
 * ws_roots_open; what was applied is left out only with turn 0. The file `classes` in the user's
 * configuration directory extends the tables; a wrong line in it is an error that names it. A
 * workspace that is gone is no error here: see gone in the root. */
int changes_open(struct changes *, const struct store *, const char *id, unsigned turn,
                 struct err *);
void changes_close(struct changes *);
#define _cleanup_box_changes_ __attribute__((cleanup(changes_close)))

/* changes_limit(c, words, n, err): only these paths from now on. A word is relative to the current
 * directory when that lies within a root, else to the workspace; absolute; or "~/..." of the box's
 * home (there also what does not outlive the box). One that lies in no root is an error (E_INPUT),
 * and so is one that neither the host nor the box has. ${n} 0: everything. */
int changes_limit(struct changes *, char *const *words, size_t n, struct err *);

/* changes_query(c, i, q): the query for root ${i}; false when none of the paths asked for lies in
 * it. ${q} borrows from ${c}. */
bool changes_query(const struct changes *, size_t i, struct ws_query *);

/* changes_query_raw(q): everything in the layers, what was applied included, for
 * changes_was_applied(c, change): did it land on the host since? A directory of the host that the
 * box only went through did not. */
void changes_query_raw(struct ws_query *);
bool changes_was_applied(const struct changes *, const struct ws_change *);

/* changes_name(c, root, path): how a path is told to the user: from the workspace as it is, "~/..."
 * for the home, absolute for any other root. Not quoted yet. The caller frees. */
char *changes_name(const struct changes *, const struct ws_root *, const char *path);

/* changes_gone(c, err): -1 and a sentence when a host directory that the box's changes belong to is
 * not there any more or is another one. */
int changes_gone(const struct changes *, struct err *);

/* changes_is_untouched(c, change): of a masked file: it is our stand-in as it was laid there, so
 * that there is nothing of the box in it. */
bool changes_is_untouched(const struct changes *, const struct ws_change *);

/* changes_classes(store, err): only the tables with the user's additions; NULL on failure. */
struct file_classes *changes_classes(const struct store *, struct err *);

#endif
