/* land_dirty.h - what the user has not committed at the paths that commits of a box touch. */
#ifndef GIT_LAND_DIRTY_H
#define GIT_LAND_DIRTY_H

#include "git/land.h"

/* land_dirty(repo, box, arg, why, err): ${why} is NULL when no work of the user's is in the way,
 * else a sentence, which the caller frees. 0 or -1. */
int land_dirty(const struct git_repo *, git_land_box_fn *box, void *arg, char **why, struct err *);

/* land_host_ask(repo, argv, out, err): git over the user's repository; 0, or -1 also when it fails. */
int land_host_ask(const struct git_repo *, const char *const *argv, struct buf *out, struct err *);

#endif
