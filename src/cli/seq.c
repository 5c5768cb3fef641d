/* seq.c - see seq.h. Used by screen_paint.c and filter_modes.c. */
#include "cli/seq.h"

#include <string.h>

void seq_put(struct seq *q, const char *s)
{
        size_t n = strlen(s);
        if (q->n + n > q->cap)
                return;
        memcpy(q->p + q->n, s, n);
        q->n += n;
}

void seq_number(struct seq *q, unsigned number)
{
        char digits[12], *d = digits + sizeof digits;
        *--d = 0;
        do
                *--d = (char)('0' + number % 10);
        while ((number /= 10));
        seq_put(q, d);
}
