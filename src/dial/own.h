/* own.h - the addresses that this machine has itself: a name that leads to one of them leads to
 * whatever listens here, also when the address is a public one (E10). */
#ifndef DIAL_OWN_H
#define DIAL_OWN_H

struct addr;
struct err;

/* own_has(a, err): 1 or 0 by a list that is at most a second old; -1 when it cannot be had. */
int own_has(const struct addr *, struct err *);

#endif
