/* custody_slots_text.c - see custody_slots.h: names and values in queries, forms and cookies, as
 * they are written and as they are meant. Pure; reads bytes from the box and must never look
 * outside them. */
#include "egress/custody_slots.h"

#include "base/buf.h"

#include <string.h>

bool custody_pair_next(const char *p, size_t n, size_t *at, struct custody_pair *pair)
{
        if (*at >= n)
                return false;
        const char *amp = memchr(p + *at, '&', n - *at);
        size_t end = amp ? (size_t)(amp - p) : n;
        const char *eq = memchr(p + *at, '=', end - *at);
        size_t name_end = eq ? (size_t)(eq - p) : end;
        *pair = (struct custody_pair){.from = *at, .name_len = name_end - *at};
        if (eq) {
                pair->value_from = name_end + 1;
                pair->value_len = end - name_end - 1;
        }
        *at = end + 1;
        return true;
}

bool custody_cookie_next(const char *p, size_t n, size_t *at, struct custody_pair *pair)
{
        while (*at < n && (p[*at] == ' ' || p[*at] == '\t' || p[*at] == ';'))
                (*at)++;
        if (*at >= n)
                return false;
        const char *semi = memchr(p + *at, ';', n - *at);
        size_t end = semi ? (size_t)(semi - p) : n;
        const char *eq = memchr(p + *at, '=', end - *at);
        size_t name_end = eq ? (size_t)(eq - p) : end;
        *pair = (struct custody_pair){.from = *at, .name_len = name_end - *at};
        if (eq) {
                size_t from = name_end + 1, to = end;
                while (to > from && (p[to - 1] == ' ' || p[to - 1] == '\t'))
                        to--;
                if (to - from >= 2 && p[from] == '"' && p[to - 1] == '"') {
                        from++;
                        to--;
                }
                pair->value_from = from;
                pair->value_len = to - from;
        }
        *at = end;
        return true;
}

static int hex(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        if (c >= 'a' && c <= 'f')
                return c - 'a' + 10;
        return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

void custody_undo(const char *p, size_t n, bool is_form, struct buf *out)
{
        for (size_t i = 0; i < n; i++) {
                char c = p[i];
                if (c == '+' && is_form)
                        c = ' ';
                int high = c == '%' && i + 2 < n ? hex(p[i + 1]) : -1;
                int low = high >= 0 ? hex(p[i + 2]) : -1;
                if (low >= 0) {
                        c = (char)(high * 16 + low);
                        i += 2;
                }
                buf_put(out, &c, 1);
        }
}

void custody_redo(const char *p, size_t n, struct buf *out)
{
        static const char digits[] = "0123456789ABCDEF";
        for (size_t i = 0; i < n; i++) {
                unsigned char c = (unsigned char)p[i];
                bool is_plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                                (c >= '0' && c <= '9') || memchr("-._~", c, 4);
                char coded[3] = {'%', digits[c >> 4], digits[c & 15]};
                if (is_plain)
                        buf_put_u8(out, c);
                else
                        buf_put(out, coded, 3);
        }
}
