/* fetched.h - what a box committed, for who asks: joins the box's layers (changes.h), git in a box
 * of its own (errand.h) and the git room. Used by diff, apply and pending. */
#ifndef SESSION_FETCHED_H
#define SESSION_FETCHED_H

#include "git/fetch.h"

struct buf;
struct changes;
struct err;
struct store;

/* fetched_get(c, store, trees, fetch, err): ${trees} are the work trees whose git directories the
 * box touched (ws_tally.git_trees); none: nothing was committed, and ${fetch} is empty. */
int fetched_get(const struct changes *, const struct store *, const struct strs *trees,
                struct git_fetch *, struct err *);
/* fetched_show: the same for who shows which files are not committed: git is asked as well which of them
 * it would convert to what is committed (git_path.is_converted). */
int fetched_show(const struct changes *, const struct store *, const struct strs *trees,
                 struct git_fetch *, struct err *);

/* fetched_pending(c, store, trees, landed, err): 1 when a ref of the box is not on the host, 0, -1.
 * ${landed}: git_want.landed. */
int fetched_pending(const struct changes *, const struct store *, const struct strs *trees,
                    struct buf *landed, struct err *);

/* fetched_known(box_dir_fd, common, refs): refs below refs/ostiary/BOX of the repository whose git
 * directory is ${common}, that earlier applies of this box made. fetched_note(box_dir_fd, common, ref,
 * err): one more. fetched_drop(box_dir_fd, err): remove all of them from their repositories; one that
 * is gone, or whose repository is, is no failure. */
void fetched_known(int box_dir_fd, const char *common, struct strs *refs);
int fetched_note(int box_dir_fd, const char *common, const char *ref, struct err *);
int fetched_drop(int box_dir_fd, struct err *);

/* fetched_path(repo, path): ${path}, from the top of the workspace, from the top of the repository's
 * work tree; NULL when it lies outside. fetched_repo(f, path): the innermost repository whose work
 * tree it lies in, or NULL. */
const char *fetched_path(const struct git_repo *, const char *path) __attribute__((nonnull));
struct git_repo *fetched_repo(const struct git_fetch *, const char *path) __attribute__((nonnull));

#endif
