/* sup_freeze.h - make everything in a box stand still for a while, and go on again. */
#ifndef SESSION_SUP_FREEZE_H
#define SESSION_SUP_FREEZE_H

#include "box/box.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

struct sup_frozen {
        const struct box *box;
        int proc_fd;   /* its own /proc */
        bool is_group; /* the control group is frozen; else each process was stopped */
        struct sup_stopped {
                pid_t pid;
                int dir_fd;       /* its directory there */
                uint64_t born;    /* sup_procs_born */
                bool was_stopped; /* by somebody else: it stays so */
        } * v;                    /* parents before their children */
        size_t n;
};

/* sup_freeze(f, box, proc_fd, err): no process of the box but its first runs when this returns 0. On
 * failure all go on. ${proc_fd} is the box's own /proc and stays the caller's. */
int sup_freeze(struct sup_frozen *, const struct box *, int proc_fd, struct err *);
/* sup_thaw(f): in any case, also after a failure or twice. */
void sup_thaw(struct sup_frozen *);

/* sup_is_idle(box): is there no process in it but its first? */
bool sup_is_idle(const struct box *);

#endif
