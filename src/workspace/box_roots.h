/* box_roots.h - which directories of the host a box sees copy-on-write, and everything that is
 * known of them: the way from a box's directory to two views of each tree, before and after.
 *
 * The supervisor writes `roots` into the box's directory before the box starts, one line each:
 *
 *   root NAME<TAB>KIND<TAB>DEV:INO<TAB>SINCE_NS<TAB>HOSTPATH
 *
 * NAME is the layer's ("ws", "git0", "bind2", "home"), KIND cow, home or live, DEV:INO identifies
 * the host directory as it was (0:0 for a home without an accepted layer), SINCE_NS is
 * CLOCK_REALTIME when the box first started: what the host changed later is a conflict. A box that
 * is woken keeps its lines. */
#ifndef WORKSPACE_BOX_ROOTS_H
#define WORKSPACE_BOX_ROOTS_H

#include "workspace/view.h"

#include <stdbool.h>
#include <stdint.h>

struct err;

enum ws_root_kind { WS_ROOT_COW, WS_ROOT_HOME, WS_ROOT_LIVE };

struct ws_root {
        char *name;
        enum ws_root_kind kind;
        char *host; /* absolute; "" for a home without an accepted layer */
        uint64_t dev, ino;
        int64_t since_ns;
        int host_fd;           /* O_RDONLY | O_DIRECTORY; -1: none, or see gone */
        const char *gone;      /* why the host directory cannot be used ("was deleted", "is another
                                  directory now"), or NULL */
        struct ws_view before; /* what the changes are compared with */
        struct ws_view after;  /* what the box sees */
        size_t top_n;          /* layers of ${after} that are not in ${before}; they come first */
};

struct ws_roots {
        struct ws_root *v;
        size_t n;
        int *fds; /* of all layers; closed by ws_roots_free */
        size_t fds_n;
};

/* ws_roots_open(r, box_dir_fd, frozen_fd, turn, err):
 * Read `roots` and `stack` (stack.h) of a box and open everything. ${frozen_fd} is the directory of
 * frozen layers. ${turn} 0: all that the box changed; N: the N-th turn alone, compared with what
 * was there before it. A layer that is missing or damaged is an error with a sentence; a host
 * directory that is gone is told in the root. The layers are hostile: opened by descriptor, never
 * followed. */
int ws_roots_open(struct ws_roots *, int box_dir_fd, int frozen_fd, unsigned turn, struct err *);
void ws_roots_free(struct ws_roots *);
#define _cleanup_roots_ __attribute__((cleanup(ws_roots_free)))

/* ws_roots_is_same(fd, dev, ino, since_ns): is it the directory that was seen then? Device numbers
 * change when a machine starts again; then the inode, and that it was there before, must do. */
bool ws_roots_is_same(int fd, uint64_t dev, uint64_t ino, int64_t since_ns);

/* ws_root_is_git(root): "git0", "git1", ...: a git directory outside of the workspace. */
bool ws_root_is_git(const struct ws_root *);

/* ws_roots_parse(r, text, err): the lines alone, appended to ${r}; ${text} is changed. A line that
 * is not whole, or not one of ours, is an error: a root must not vanish from sight. */
int ws_roots_parse(struct ws_roots *, char *text, struct err *);

/* ws_roots_write(box_dir_fd, r, err): `roots`, from name, kind, host, dev, ino and since_ns. */
int ws_roots_write(int box_dir_fd, const struct ws_roots *, struct err *);

#endif
