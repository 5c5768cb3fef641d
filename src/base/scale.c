/* scale.c - see scale.h. Empty but in the weak build. */
#include "base/scale.h"

#ifdef OSTIARY_WEAK

#include "base/exitcode.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { SCALE_MAX = 100, LONG_MS = 1000 };

static uint64_t scale = 1;
static bool is_for_timers;
static char word[32];

void scale_init(void)
{
        const char *said = getenv("OSTIARY_SCALE");
        if (!said)
                return;
        if (str_u64(said, &scale) < 0 || scale < 1 || scale > SCALE_MAX) {
                fprintf(stderr,
                        "ostiary: OSTIARY_SCALE is \"%.40s\", and not a number from 1 to %d\n",
                        said, SCALE_MAX);
                exit(EXIT_BAD_USAGE);
        }
        snprintf(word, sizeof word, "OSTIARY_SCALE=%u", (unsigned)scale);
}

uint64_t scale_ms(uint64_t ms)
{
        return ms / scale;
}

void scale_timers(void)
{
        is_for_timers = true;
}

uint64_t scale_timer_ms(uint64_t ms)
{
        return is_for_timers && ms >= LONG_MS ? ms / scale : ms;
}

char *scale_word(void)
{
        return word[0] ? word : NULL;
}

#endif
