/* git_index.h - which paths a repository of the host tracks, read from its index without running
 * git.
 *
 * Only hashes of the paths are kept: eight bytes for each path and directory. Two paths with one
 * hash make a file count as tracked that is not, and then it is shown: never the other way. */
#ifndef WORKSPACE_GIT_INDEX_H
#define WORKSPACE_GIT_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct git_index {
        uint64_t *hashes; /* sorted */
        size_t n;
};

enum { GIT_INDEX_MAX = 512 << 20 }; /* bytes that are read at most */

/* git_index_parse(x, data, len): versions 2 to 4, SHA-1 or SHA-256. -1 when it is not understood to
 * its end (a split or sparse index, damage): then nothing is known. */
int git_index_parse(struct git_index *, const void *, size_t len);
void git_index_free(struct git_index *);

/* git_index_has(x, path): is it tracked, or a directory in which something is? */
bool git_index_has(const struct git_index *, const char *path);

struct cur;
/* git_index_varint(c, n): a number as index and packs write it: in version 4, how many bytes of the
 * last path are dropped. 0 or -1. */
int git_index_varint(struct cur *, uint64_t *n);

#endif
