/* stack_int.h - what the files of the stack share. Included by workspace/stack*.c only. */
#ifndef WORKSPACE_STACK_INT_H
#define WORKSPACE_STACK_INT_H

#include "workspace/stack.h"

#include <sys/stat.h>

struct strs;

/* How far down a tree is followed. What a box makes deeper than this is told of, not copied. */
enum { STACK_DEPTH_MAX = 2000 };

/* An entry that is being made: nothing lists it yet. */
struct stack_fresh {
        int hold_fd;  /* keeps the sweep away */
        int entry_fd; /* frozen/FID */
        char id[STACK_ID_LEN + 1];
};
/* stack_fresh_make(frozen_fd, kind, label, f, err): an empty one. */
int stack_fresh_make(int frozen_fd, const char *kind, const char *label, struct stack_fresh *,
                     struct err *);
/* stack_fresh_end(frozen_fd, f, is_kept): close; delete it unless it is kept. */
void stack_fresh_end(int frozen_fd, struct stack_fresh *, bool is_kept);

/* stack_layers(box_dir_fd, names, err): the layers whose upper holds something. Returns the
 * descriptor of `layers`, -1 on failure, and -2 when there is no such directory. */
int stack_layers(int box_dir_fd, struct strs *names, struct err *);
/* stack_is_empty(dir_fd): does this directory hold nothing? */
bool stack_is_empty(int dir_fd);

/* stack_attrs(from_fd, to_fd, st, with_overlay): owner, mode, xattrs and times of one file or
 * directory for another; ${with_overlay} false leaves out what the overlay itself noted. 0, or -1
 * with errno. */
int stack_attrs(int from_fd, int to_fd, const struct stat *, bool with_overlay);

/* A directory of a layer, opened for reading; one whose mode forbids that is made readable until it
 * is closed. */
struct stack_dir {
        int fd;
        struct stat st;
        bool was_opened_up;
};
int stack_dir_open(int parent_fd, const char *name, struct stack_dir *); /* 0, -1 with errno */
void stack_dir_close(struct stack_dir *);

/* stack_copy_file(from_fd, name, st, to_fd, err): content, owner, mode, xattrs and times of a
 * regular file; shares blocks where the filesystem can. */
int stack_copy_file(int from_fd, const char *name, const struct stat *, int to_fd, struct err *);
/* stack_copy_other(from_fd, name, st, to_fd, err): a symlink, whiteout, FIFO or socket. Other
 * devices, which no box can make, are left out. */
int stack_copy_other(int from_fd, const char *name, const struct stat *, int to_fd, struct err *);
/* stack_is_whiteout(st): a 0/0 character device. */
bool stack_is_whiteout(const struct stat *);

#define STACK_OPAQUE   "user.overlay.opaque"
#define STACK_WHITEOUT "user.overlay.whiteout"

#endif
