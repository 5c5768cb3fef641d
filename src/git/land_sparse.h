/* land_sparse.h - which paths a sparse checkout of the host's leaves out, by its own patterns. */
#ifndef GIT_LAND_SPARSE_H
#define GIT_LAND_SPARSE_H

#include "git/fetch.h"

struct buf;
struct err;

/* land_sparse_out(git_dir, paths, wanted, out, err): of those of ${paths} for which ${wanted} says so,
 * the names that are left out, each with a NUL, appended to ${out}. Nothing when the checkout is not a
 * sparse one. */
int land_sparse_out(const char *git_dir, const struct git_paths *,
                    bool (*wanted)(void *arg, const struct git_path *), void *arg, struct buf *out,
                    struct err *);

#endif
