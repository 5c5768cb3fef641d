/* scale.h - the clock of the test-only build, which makes long time limits short.
 *
 * A check that a limit of 30 seconds exists has to wait for it. `make VARIANT=weak` builds
 * out/weak/ostiary, which reads OSTIARY_SCALE=N (1 to 100) and divides by N: in a role of the door
 * every timer of a second or more (base/loop.c), elsewhere only the limits that ask scale_ms(). How
 * long our own processes may take to answer is never divided. In every other build all of it is
 * nothing, and the word does not occur in what is shipped. */
#ifndef BASE_SCALE_H
#define BASE_SCALE_H

#include <stdint.h>

#ifdef OSTIARY_WEAK

/* scale_init(): read OSTIARY_SCALE. Called once, early in main, because the environment is wiped
 * soon after; forked processes inherit the answer. What is no number from 1 to 100 ends the program
 * with a sentence and exit 64, so that a misspelt test cannot pass. */
void scale_init(void);

/* scale_ms(ms): as long as the test wants it to be. */
uint64_t scale_ms(uint64_t ms);

/* scale_timers(): from now on, for every timer of a second or more of this process. */
void scale_timers(void);
uint64_t scale_timer_ms(uint64_t ms);

/* scale_word(): what a role of the door gets as a variable, or NULL. */
char *scale_word(void);

#else

static inline void scale_init(void)
{
}

static inline uint64_t scale_ms(uint64_t ms)
{
        return ms;
}

static inline void scale_timers(void)
{
}

static inline uint64_t scale_timer_ms(uint64_t ms)
{
        return ms;
}

static inline char *scale_word(void)
{
        return (char *)0;
}

#endif

#endif
