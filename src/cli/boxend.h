/* boxend.h - ending a box from outside, for stop, rm and probe, and clearing up after one whose
 * supervisor was killed. */
#ifndef CLI_BOXEND_H
#define CLI_BOXEND_H

#include <stdint.h>

struct err;
struct store;

/* boxend_stop(store, id, grace_s, err): ask the supervisor to end the box and wait until it is
 * gone. 0 also when it has ended already; -1 otherwise. */
int boxend_stop(const struct store *, const char *id, uint64_t grace_s, struct err *);

/* boxend_sweep_groups(store): delete the control groups that no living box claims. Returns how many
 * there were. */
int boxend_sweep_groups(const struct store *);

#endif
