/* row_text.c - the words of our row: quoted, cut to the width, or broken into lines. See row.h. */
#include "cli/row.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

char *row_quote(const char *s)
{
        _cleanup_buf_ struct buf b = {0};
        for (const unsigned char *p = (const unsigned char *)s; *p; p++) {
                if (*p == '"' || *p == '\\')
                        buf_put_fmt(&b, "\\%c", *p);
                else if (*p < 0x20 || *p > 0x7e)
                        buf_put_fmt(&b, "\\x%02x", *p);
                else
                        buf_put_u8(&b, *p);
        }
        return str_dup(buf_cstr(&b));
}

/* text_host(what, &n): the host of "METHOD scheme://host/path", or NULL. */
static const char *text_host(const char *what, size_t *n)
{
        const char *from = strstr(what, "://");
        if (!from || strchr(what, ' ') > from)
                return NULL;
        from += 3;
        *n = strcspn(from, "/?#");
        return from;
}

/* text_cut(what, room): the end of a host says whose it is, so it is not cut away. */
static char *text_cut(const char *what, size_t room)
{
        size_t n = strlen(what), host_n = 0;
        if (n <= room)
                return str_dup(what);
        const char *host = text_host(what, &host_n);
        size_t head_n = host ? (size_t)(host - what) + host_n : 0;
        if (room < 8)
                return str_dup("...");
        if (!host || head_n + 3 <= room)
                return str_fmt("%.*s...", (int)(room - 3), what);
        size_t method_n = strcspn(what, " ");
        const char *rest = head_n < n ? "..." : "";
        size_t fixed = method_n + 1 + 3 + strlen(rest);
        if (fixed + 4 > room) /* the method is the box's word too */
                return str_fmt("...%.*s", (int)(room - 3), host + host_n - (room - 3));
        size_t keep = room - fixed < host_n ? room - fixed : host_n;
        return str_fmt("%.*s ...%.*s%s", (int)method_n, what, (int)keep, host + host_n - keep,
                       rest);
}

char *row_short(const char *before, const char *what, const char *after, unsigned cols)
{
        size_t fixed = strlen(before) + strlen(after);
        if (fixed + 12 > cols) /* a very narrow terminal: what it is about is more than how */
                return text_cut(what, cols);
        _cleanup_free_ char *cut = text_cut(what, cols - fixed);
        return str_fmt("%s%s%s", before, cut, after);
}

void row_wrap(const char *text, unsigned cols, struct strs *lines)
{
        bool is_joined = false;
        cols = cols ? cols : 1;
        while (*text) {
                size_t n = strcspn(text, "\n"), cut = n;
                if (n > cols) {
                        cut = cols;
                        while (cut > 0 && text[cut] != ' ')
                                cut--;
                        cut = cut ? cut : cols;
                }
                _cleanup_free_ char *line =
                        str_fmt("%s%.*s", is_joined ? "\001" : "", (int)cut, text);
                strs_add(lines, line);
                is_joined = cut == cols && cut < n && text[cut] != ' ';
                text += cut;
                if (*text == '\n' || (cut < n && *text == ' '))
                        text++;
        }
}
