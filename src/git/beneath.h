/* beneath.h - a work tree's own directory, reached through no link, and git bound to the repository
 * that was judged there. */
#ifndef GIT_BENEATH_H
#define GIT_BENEATH_H

#include "git/fetch.h"

/* git_beneath(workspace, path): 1 when ${path} is a directory below ${workspace} and no part of it is
 * a link, 0 when there is nothing, -1 when a link or something else stands in the way. */
int git_beneath(const char *workspace, const char *path);

/* git_beneath_env(repo, env): GIT_DIR and GIT_WORK_TREE, so that git looks for no other repository
 * than the one that was found. */
void git_beneath_env(const struct git_repo *, struct strs *env);

#endif
