/* sup_procs.h - the processes of a box by its own /proc, and whether they stand still. That lists all of
 * them, however deep they are and whoever adopted them. Used by what stops a box: sup_freeze.c,
 * sup_hold.c, sup_pause.c. */
#ifndef SESSION_SUP_PROCS_H
#define SESSION_SUP_PROCS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sup;

/* sup_procs_fd(s): the box's own /proc, which stays the watch's; -1 before the box is built. */
int sup_procs_fd(const struct sup *);

/* sup_procs(proc_fd, fn, ctx): ${fn} for each process of the box but its first, with its number in the
 * box and /proc/NUMBER, which ${fn} may take (take_fd). False when the list is not whole: it could not be
 * read, or somebody was gone before it was looked at, and may have left a child. */
typedef void sup_procs_fn(void *ctx, pid_t, int *dir_fd);
bool sup_procs(int proc_fd, sup_procs_fn *, void *ctx);

/* How much a process rests: as much as that of its threads that rests least. */
enum sup_rest {
        SUP_GONE,
        SUP_AWAKE,
        SUP_SLEEPS,  /* in the kernel, and is not woken by a signal: a parent in vfork, an execve */
        SUP_STOPPED, /* by a signal, or by a debugger in the box */
        SUP_HELD     /* by a tracer outside of the box; or it has ended and waits for its parent */
};
enum sup_rest sup_procs_rest(int dir_fd);

/* sup_procs_born(dir_fd, &state): when it began, in ticks of the kernel, and the letter of its first
 * thread; 0 when it is gone. With its number this is never anybody else. */
uint64_t sup_procs_born(int dir_fd, char *state);

/* sup_procs_signal(dir_fd, sig): to this process and never to one that has its number later. 0 or -1. */
int sup_procs_signal(int dir_fd, int sig);

#endif
