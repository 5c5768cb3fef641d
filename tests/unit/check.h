/* check.h - the few words a unit test needs: one line per result, a count at the end. */
#ifndef TESTS_UNIT_CHECK_H
#define TESTS_UNIT_CHECK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int check_failed_n;

/* check(good, name, fmt, ...): "ok NAME", or "not ok NAME: why". Returns ${good}. */
__attribute__((format(printf, 3, 4))) static inline bool check(bool good, const char *name,
                                                               const char *fmt, ...)
{
        va_list ap;
        if (good) {
                printf("ok %s\n", name);
        } else {
                printf("not ok %s: ", name);
                va_start(ap, fmt);
                vprintf(fmt, ap);
                va_end(ap);
                putchar('\n');
                check_failed_n++;
        }
        fflush(stdout);
        return good;
}

/* CHECK(name, condition): the same; the condition itself is the why. */
#define CHECK(name, condition)                                                                     \
        check((condition), (name), "line %d: %s does not hold", __LINE__, #condition)

/* check_str(name, got, want): equal strings; NULL is not equal to anything but NULL. */
static inline bool check_str(const char *name, const char *got, const char *want)
{
        bool is_same = got && want ? strcmp(got, want) == 0 : got == want;
        return check(is_same, name, "got \"%s\", wanted \"%s\"", got ? got : "(null)",
                     want ? want : "(null)");
}

static inline int check_end(void)
{
        return check_failed_n ? 1 : 0;
}

#endif
