/* mnt.h - the few mount operations a box is made of, by descriptor, with the kernel's newer calls:
 * a mount is made detached with its flags already set, and attached when it is finished, so there
 * is no moment at which it is visible with weaker flags. Called by the set-up steps only. */
#ifndef BOX_MNT_H
#define BOX_MNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* mnt_make(fs, attrs, err, "key", "value", ..., NULL): a detached mount of a fresh ${fs}. Returns
 * its descriptor. A value of NULL sets a flag. */
int mnt_make(const char *fs, uint64_t attrs, struct err *, ...);

/* mnt_overlay_ro(top_fd, bottom_fd, err): a detached read-only overlay of two directories and no
 * upper: what is a socket or a FIFO below is a dead object in it (B1). */
int mnt_overlay_ro(int top_fd, int bottom_fd, struct err *);

/* mnt_overlay_rw(lowers, n, layer_fd, stage_fd, err): a detached overlay over ${n} directories,
 * topmost first, that is written in the upper and work of ${layer_fd}. ${stage_fd} is a directory
 * of our own in which a mount may be made for a moment: kernels before 6.8 take long lists no other
 * way. */
int mnt_overlay_rw(const int *lowers, size_t n, int layer_fd, int stage_fd, struct err *);

/* mnt_overlay_view(lowers, n, stage_fd, err): the same without an upper, read-only; at least two. */
int mnt_overlay_view(const int *lowers, size_t n, int stage_fd, struct err *);

/* mnt_clone(dir_fd, path, is_recursive, attrs, err): a detached, private copy of what ${path}
 * shows, with ${attrs} added. AT_EMPTY_PATH when path is "". */
int mnt_clone(int dir_fd, const char *path, bool is_recursive, uint64_t attrs, struct err *);

/* mnt_source(path, err): an O_PATH descriptor of a host path that was resolved and judged before. A
 * symlink that has come into it since then is refused (case 22): what was judged is what is shown.
 */
int mnt_source(const char *path, struct err *);

/* mnt_attach(mnt_fd, to_fd, err): put it on the directory or file ${to_fd}. */
int mnt_attach(int mnt_fd, int to_fd, struct err *);

/* mnt_set(fd, attrs, err): add flags to the mount that ${fd} is on. */
int mnt_set(int fd, uint64_t attrs, struct err *);

#define MNT_NS   MOUNT_ATTR_NOSUID
#define MNT_SAFE (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

#endif
