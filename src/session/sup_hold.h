/* sup_hold.h - a box that is paused stays so: a process of its own holds every thread of the box.
 *
 * SIGSTOP alone does not: a process can have arranged a SIGCONT before (a timer, a pipe with F_SETSIG,
 * the end of a child), and the freezer of a control group would hold the box's first process as well,
 * which has to serve `exec`, `cp` and the end. */
#ifndef SESSION_SUP_HOLD_H
#define SESSION_SUP_HOLD_H

struct sup;

/* sup_hold(s): everything below the box's first process is held from a moment after this on, also what
 * came since the last call. A box that cannot be held is ended, and says so. Returns at once. */
void sup_hold(struct sup *);
/* sup_release(s): let all go on, if they are held. What was sent SIGSTOP stays stopped. */
void sup_release(struct sup *);

#endif
