/* cp_open.h - open the user's side of a copy without being led astray by what a box planted.
 *
 * A box with a live workspace, or changes that were taken over from one, can put a link where the
 * user will name a path next (B3). Paths are the user's own until they enter the workspace of some
 * box; from there on they are resolved beneath it. */
#ifndef CLI_CP_OPEN_H
#define CLI_CP_OPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct err;
struct store;

/* Directories that boxes know, as what they are and not as names. */
struct cp_roots {
        struct cp_root {
                dev_t dev;
                ino_t ino;
        } * v;
        size_t n;
};

/* cp_roots_load(roots, store): the workspaces of all boxes; those that are gone do not matter. */
void cp_roots_load(struct cp_roots *, const struct store *);
void cp_roots_free(struct cp_roots *);
#define _cleanup_cp_roots_ __attribute__((cleanup(cp_roots_free)))

/* cp_roots_has(roots, fd): is the open directory one of them? */
bool cp_roots_has(const struct cp_roots *, int fd);

/* cp_open(roots, path, flags, err): a descriptor; or -1, errno and a sentence. */
int cp_open(const struct cp_roots *, const char *path, int flags, struct err *);

/* cp_open_dir(roots, path, err): the same for a directory, in the form tree_place_open wants. */
int cp_open_dir(void *roots, const char *path, struct err *);

#endif
