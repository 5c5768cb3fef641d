/* text_diff_lines.c - a text as lines, and whether it is a text at all. Called by whoever compares
 * or shows contents. Reads bytes only; a line keeps its newline, so that a last line without one
 * differs from the same line with one, as it does for git. */
#include "workspace/text_diff.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

void text_lines_of(struct text_lines *l, const char *data, size_t len)
{
        if (!data)
                data = "";
        *l = (struct text_lines){.data = data, .len = len};
        size_t n = 0;
        for (const char *p = data, *end = data + len; p < end; n++) {
                const char *nl = memchr(p, '\n', (size_t)(end - p));
                p = nl ? nl + 1 : end;
        }
        l->n = n;
        l->at = malloc((n + 1) * sizeof *l->at);
        if (!l->at)
                str_no_memory();
        size_t at = 0;
        for (size_t i = 0; i < n; i++) {
                l->at[i] = at;
                const char *nl = memchr(data + at, '\n', len - at);
                at = nl ? (size_t)(nl - data) + 1 : len;
        }
        l->at[n] = len;
        l->lacks_newline = len > 0 && data[len - 1] != '\n';
}

void text_lines_free(struct text_lines *l)
{
        free(l->at);
        *l = (struct text_lines){0};
}

bool text_is_binary(const char *data, size_t len)
{
        enum { LOOKED_AT = 8000 };
        return len > 0 && memchr(data, 0, len < LOOKED_AT ? len : LOOKED_AT) != NULL;
}
