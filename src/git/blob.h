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

/* git_blob_size(repo, path, size): of the content of an entry of repo->touched, by the host's git, which
 * is asked once for all of them. false: it cannot be told. */
bool git_blob_size(struct git_repo *, const struct git_path *, uint64_t *size);

#endif
