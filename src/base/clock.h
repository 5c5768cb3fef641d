/* clock.h - the wall clock as the log, the facts of a box and the story count it. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* clock_real_us(): microseconds since 1970. It may be set back: two of them make no duration that
 * anything but a sentence may depend on. */
uint64_t clock_real_us(void);

#endif
