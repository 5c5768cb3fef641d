/* since.h - what was committed in a repository of the host's own since a moment: for live
 * workspaces, whose git directory the box writes to directly. */
#ifndef GIT_SINCE_H
#define GIT_SINCE_H

#include "git/fetch.h"

struct err;

/* git_since_tips(tree, ids, err): what its refs and HEAD name now; none when it is no repository. */
int git_since_tips(const char *tree, struct strs *ids, struct err *);

/* git_since(tree, ids, classes, &commits_n, paths, err): commits that a ref or HEAD reaches and none
 * of ${ids} does, and every path that one of them brings, by class of the path. */
int git_since(const char *tree, const struct strs *ids, const struct file_classes *,
              size_t *commits_n, struct git_paths *, struct err *);

#endif
