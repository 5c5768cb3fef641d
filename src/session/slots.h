/* slots.h - which of the boxes that run now a box is: the lowest number that no living box of this
 * user has, from 1 on. What boxes share with each other and with their owner is divided
 * by it (plan_share.c), and boxes of root have a user id of their own by it.
 *
 * A number is a locked byte of a file (`ostiary.slots` in /run or /run/user/UID, else `slots` in the
 * state directory). It is free again when the last process that holds
 * the descriptor is gone, whatever killed it. */
#ifndef SESSION_SLOTS_H
#define SESSION_SLOTS_H

struct store;

/* As many boxes as one state directory numbers; a further one gets this number as well. */
#define SLOTS_MAX 4096

/* slots_take(store, &number): take the lowest free number. Returns the descriptor that holds it,
 * the caller's to close. -1 where nothing can be locked: the number is then SLOTS_MAX, the smallest
 * share, because nobody knows who else runs; or 1 where no box was ever made. */
int slots_take(const struct store *, unsigned *number);

#endif
