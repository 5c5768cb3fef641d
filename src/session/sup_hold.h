/* sup_hold.h - a box that is paused stays so: a process of its own holds every thread of the box.
 *
 * SIGSTOP alone does not: a process can have arranged a SIGCONT before (a timer, a pipe with F_SETSIG,
 * the end of a child), and the freezer of a control group would hold the box's first process as well,
 * which has to serve `exec`, `cp` and the end. */
#ifndef SESSION_SUP_HOLD_H
#define SESSION_SUP_HOLD_H

#include <stdbool.h>

struct sup;

/* sup_hold(s): everything below the box's first process is held from a moment after this on, also what
 * came since the last call. A box that cannot be held, or not in time, is ended, and says so. Returns at
 * once; sup_pause_settle is called when all are held, and sup_pause_stop meanwhile. */
void sup_hold(struct sup *);
/* sup_hold_is_busy(s): are they not held yet? sup_hold_stopped(s): what sup_pause_stop began is done. */
bool sup_hold_is_busy(const struct sup *);
void sup_hold_stopped(struct sup *);
/* sup_release(s): let all go on, if they are held. What was sent SIGSTOP stays stopped. */
void sup_release(struct sup *);

#endif
