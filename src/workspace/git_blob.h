/* git_blob.h - a tracked file as git last saw it, read from the host's own repository without
 * running git: the index names the blob, which is a loose object or in a pack. Bounded, checked
 * against its name, and never guessed. */
#ifndef WORKSPACE_GIT_BLOB_H
#define WORKSPACE_GIT_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/* git_blob_before(root_fd, path, before_ns, out): the blob that the index has for ${path}, if git
 * found the file so before ${before_ns}; a later one is none, and so is a repository whose .git is
 * no directory below the root, that uses SHA-256, or that has alternates. At most out->max bytes.
 */
bool git_blob_before(int root_fd, const char *path, int64_t before_ns, struct buf *out);

/* For tests: one entry of an index in memory. Fills the object's name in hexadecimal and when the
 * file was last changed. */
bool git_blob_entry(const void *index, size_t len, const char *path, char hex[41],
                    int64_t *changed_ns);

#endif
