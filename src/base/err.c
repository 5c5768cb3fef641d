/* err.c - building the one sentence an error ends up as. See err.h for the contract.
 *
 * Called everywhere, also after clone in the child, so it allocates nothing. */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
        if (!e)
                return -1;

        va_list ap;
        va_start(ap, fmt);
        e->code = code;
        e->sys = 0;
        vsnprintf(e->text, sizeof e->text, fmt, ap);
        va_end(ap);
        return -1;
}

int err_sys(struct err *e, const char *fmt, ...)
{
        int saved = errno;
        if (!e)
                return -1;

        char words[512];
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(words, sizeof words, fmt, ap);
        va_end(ap);
        e->code = E_SYSTEM;
        e->sys = saved;
        snprintf(e->text, sizeof e->text, "%s: %s", words, strerror(saved));
        errno = saved;
        return -1;
}

int err_add(struct err *e, const char *fmt, ...)
{
        if (!e)
                return -1;

        char words[512], rest[sizeof e->text];
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(words, sizeof words, fmt, ap);
        va_end(ap);
        memcpy(rest, e->text, sizeof rest);
        int n = snprintf(e->text, sizeof e->text, "%s: ", words);
        if (n > 0 && (size_t)n < sizeof e->text)
                snprintf(e->text + n, sizeof e->text - (size_t)n, "%s", rest);
        return -1;
}

int err_hint(struct err *e, const char *fmt, ...)
{
        if (!e)
                return -1;

        size_t used = strnlen(e->text, sizeof e->text);
        char words[512];
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(words, sizeof words, fmt, ap);
        va_end(ap);
        snprintf(e->text + used, sizeof e->text - used, " (%s)", words);
        return -1;
}
