/* blob.h - the id that git would give to a content. */
#ifndef GIT_BLOB_H
#define GIT_BLOB_H

#include "git/fetch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* git_blob_of_file(fd, size, id_len, id): ${id_len} 40 or 64 says which hash. false: it could not
 * be read, or has another size by now, or is larger than what is left of the bytes that all calls of
 * the program together may read: a file of holes costs nothing to make. git_blob_of(bytes, n, id_len, id): of a link's target. */
bool git_blob_of_file(int fd, uint64_t size, size_t id_len, char id[GIT_ID_MAX + 1]);
void git_blob_of(const void *, size_t n, size_t id_len, char id[GIT_ID_MAX + 1]);

/* git_blob_size(repo, path, size): of the content of an entry of one of the repository's lists. Of touched
 * and head_tree by the host's git, which is asked once for all of a list; of staged by the box's word.
 * GIT_BLOB_UNTOLD: ${size} is as it was. */
enum git_blob_told { GIT_BLOB_UNTOLD, GIT_BLOB_BY_BOX, GIT_BLOB_TOLD };
enum git_blob_told git_blob_size(struct git_repo *, const struct git_path *, uint64_t *size);

/* git_blob_sizes_in(paths, for_git), git_blob_sizes_out(paths, said): what `cat-file GIT_BLOB_SIZES` reads
 * for a list and what it said: a size each, UINT64_MAX where none was told. The caller frees it. */
#define GIT_BLOB_SIZES "--batch-check=%(objectsize)"
void git_blob_sizes_in(const struct git_paths *, struct buf *for_git);
uint64_t *git_blob_sizes_out(const struct git_paths *, struct buf *said);

#endif
