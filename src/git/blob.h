/* blob.h - the id that git would give to a content. */
#ifndef GIT_BLOB_H
#define GIT_BLOB_H

#include "git/fetch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* git_blob_of_file(fd, size, id_len, id): ${id_len} 40 or 64 says which hash. false: it could not
 * be read, or has another size by now. git_blob_of(bytes, n, id_len, id): of a link's target. */
bool git_blob_of_file(int fd, uint64_t size, size_t id_len, char id[GIT_ID_MAX + 1]);
void git_blob_of(const void *, size_t n, size_t id_len, char id[GIT_ID_MAX + 1]);

#endif
