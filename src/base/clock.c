/* clock.c - see clock.h. */
#include "base/clock.h"

#include <time.h>

uint64_t clock_real_us(void)
{
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}
