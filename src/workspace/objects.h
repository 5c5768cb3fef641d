/* objects.h - a store of file contents by their SHA-256 (of a gigabyte and more: of what is not
 * zero in them, so that holes cost nothing), for undo: each content once, never
 * changed, outside of every box's reach (case 79).
 *
 *   $XDG_STATE_HOME/ostiary/undo/objects/ab/cdef...   mode 0400
 *
 * An object appears whole, by link or rename, and is checked against its name when it is read. */
#ifndef WORKSPACE_OBJECTS_H
#define WORKSPACE_OBJECTS_H

#include "base/sha256.h"

#include <stdbool.h>
#include <stdint.h>

struct err;

/* objects_put(objects_fd, src_fd, hex, size, err): take the content of a regular file (reflink
 * where it can be, else a copy; holes stay holes); its name to ${hex}. On failure nothing is left.
 */
int objects_put(int objects_fd, int src_fd, char hex[SHA256_HEX_LEN + 1], uint64_t *size,
                struct err *);
/* objects_hash(src_fd, hex, err): only its name, without storing. */
int objects_hash(int src_fd, char hex[SHA256_HEX_LEN + 1], struct err *);
/* objects_get(objects_fd, hex, dst_fd, err): write the content to an empty file, checking it on the
 * way: a damaged object is an error, and says which. */
int objects_get(int objects_fd, const char *hex, int dst_fd, struct err *);
/* objects_has(objects_fd, hex): is it there? */
bool objects_has(int objects_fd, const char *hex);
/* objects_gc(objects_fd, is_used, arg, freed_n, freed_bytes, err): remove what nobody names, and
 * what a killed put left. The caller holds the lock of the undo directory. */
int objects_gc(int objects_fd, bool (*is_used)(void *arg, const char *hex), void *arg,
               uint64_t *freed_n, uint64_t *freed_bytes, struct err *);
/* objects_each(objects_fd, fn, arg, err): every object, and what it takes on disk. */
int objects_each(int objects_fd, void (*fn)(void *arg, const char *hex, uint64_t bytes), void *arg,
                 struct err *);

/* objects_copy(src_fd, dst_fd, hex, size, err): a regular file into an empty one, from the
 * beginning, whatever the size: reflink where it can be, holes stay holes; its name and length on
 * the way. A file that grows meanwhile is read to the end it had when we got there. */
int objects_copy(int src_fd, int dst_fd, char hex[SHA256_HEX_LEN + 1], uint64_t *size,
                 struct err *);

/* objects_is_name(hex): 64 small hexadecimal digits? */
bool objects_is_name(const char *);

#endif
