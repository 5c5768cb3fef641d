/* beneath.h - the one door for paths inside a tree that somebody else may be changing.
 *
 * A root descriptor and a relative path go in, a descriptor comes out; the kernel resolves every
 * component below the root (openat2 with RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS), so a symlink
 * swapped in between cannot lead outside (cases 71, 72, B3). Host code keeps the descriptor. */
#ifndef BASE_BENEATH_H
#define BASE_BENEATH_H

#include <sys/types.h>

struct err;

/* beneath_open(root_fd, path, flags, mode, err): open below the root. Symlinks that stay beneath
 * are followed unless O_NOFOLLOW; "" or "." is the root itself. Returns a descriptor or -1. */
int beneath_open(int root_fd, const char *path, int flags, mode_t, struct err *);

/* beneath_open_nosym(...): the same and no component may be a symlink at all. */
int beneath_open_nosym(int root_fd, const char *path, int flags, mode_t, struct err *);

/* beneath_mkdirs(root_fd, path, mode, err): make every missing directory of ${path}; returns a
 * descriptor of the last one, or -1. No component may be a symlink. */
int beneath_mkdirs(int root_fd, const char *path, mode_t, struct err *);

/* beneath_remove_tree(dir_fd, name, err): delete a file or a whole tree without following any
 * symlink and without recursing on the C stack per level more than a bounded depth needs. Absent is
 * success. */
int beneath_remove_tree(int dir_fd, const char *name, struct err *);

#endif
