/* refwords.h - how a ref of a box is told to the user. */
#ifndef CLI_REFWORDS_H
#define CLI_REFWORDS_H

#include "git/fetch.h"

/* refwords(ref): "main", "tag v1", "stash@{0}", quoted; the caller frees. */
char *refwords(const struct git_ref *);
/* refwords_in(repo): " in lib/sub", or "" for the workspace's own; the caller frees. */
char *refwords_in(const struct git_repo *);

#endif
