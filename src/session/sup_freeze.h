/* sup_freeze.h - make everything in a box stand still for a while, and go on again. */
#ifndef SESSION_SUP_FREEZE_H
#define SESSION_SUP_FREEZE_H

#include "box/box.h"

#include <stdbool.h>
#include <stddef.h>

struct err;

struct sup_frozen {
        const struct box *box;
        bool is_group; /* the control group is frozen; else each process was stopped */
        struct sup_stopped {
                pid_t pid;
                int pidfd;
                bool was_stopped; /* by somebody else: it stays so */
        } * v;                    /* parents before their children */
        size_t n;
};

/* sup_freeze(f, box, err): no process of the box but its first runs when this returns 0. On failure
 * all go on. */
int sup_freeze(struct sup_frozen *, const struct box *, struct err *);
/* sup_thaw(f): in any case, also after a failure or twice. */
void sup_thaw(struct sup_frozen *);

/* sup_below(pid, fn, ctx): ${fn} for every process below ${pid}, parents first, as /proc lists them at
 * this moment: what is born or moves meanwhile may be missed. */
typedef void sup_below_fn(void *ctx, pid_t pid, pid_t parent);
void sup_below(pid_t, sup_below_fn *, void *ctx);
/* sup_look_at(pid, tid, &parent): the letter that /proc has for this thread, and whose child it is; 0
 * when it is gone. */
char sup_look_at(pid_t, const char *tid, pid_t *parent);
/* sup_is_still(pid, may_sleep): do all its threads stand still? One that waits for a child of vfork
 * sleeps in the kernel until that runs again, and cannot be stopped: that counts if ${may_sleep}. */
bool sup_is_still(pid_t, bool may_sleep);

/* sup_is_idle(box): is there no process in it but its first? */
bool sup_is_idle(const struct box *);

#endif
