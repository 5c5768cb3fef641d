/* git_pack.h - a blob out of the packs of the host's repository: index version 2, deltas of both
 * kinds. Bounded in memory and depth; the caller checks the content against its name. */
#ifndef WORKSPACE_GIT_PACK_H
#define WORKSPACE_GIT_PACK_H

#include <stdbool.h>

struct buf;

/* git_pack_blob(git_fd, hex, out): the content of a blob, at most out->max bytes. */
bool git_pack_blob(int git_fd, const char *hex, struct buf *out);

#endif
