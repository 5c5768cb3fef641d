/* notify.h - what the attacks on notifications share; see notify.c. */
#ifndef NOTIFY_H
#define NOTIFY_H

#include <stdint.h>
#include <sys/types.h>

struct outcome;

enum { RACE_MS = 2500 }; /* at most; a case has eight seconds */

/* spent_ms(): since the first time that this process asked. */
long spent_ms(void);

/* user_ns(): the number of our user namespace, or 0. */
ino_t user_ns(void);

/* own_filter(action, nr, flags): a filter of our own above the box's: ${action} for that call. What
 * the kernel answers. */
int own_filter(uint32_t action, unsigned nr, unsigned flags);

void case_tracer(struct outcome *);

#endif
