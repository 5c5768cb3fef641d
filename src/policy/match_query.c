/* match_query.c - names and values in a query or a form. See match.h. Pure; it reads bytes from the
 * box and must neither write nor look outside them. */
#include "base/str.h"
#include "policy/match.h"

#include <stdlib.h>
#include <string.h>

static int hex(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        if (c >= 'a' && c <= 'f')
                return c - 'a' + 10;
        return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* decode(s, len, out, &n): + is a space, %XX a byte. False when an escape is broken; it then stands
 * as it is. */
static bool decode(const char *s, size_t len, char *out, size_t *n)
{
        bool is_good = true;
        *n = 0;
        for (size_t i = 0; i < len; i++) {
                char c = s[i];
                if (c == '+')
                        c = ' ';
                if (c == '%') {
                        int high = i + 2 < len ? hex(s[i + 1]) : -1;
                        int low = i + 2 < len ? hex(s[i + 2]) : -1;
                        if (high < 0 || low < 0) {
                                is_good = false;
                        } else {
                                c = (char)(high * 16 + low);
                                i += 2;
                        }
                }
                out[(*n)++] = c;
        }
        return is_good;
}

bool match_query_each(const char *query, size_t len, const char *name, request_visit *visit,
                      void *ctx)
{
        bool is_plain = true;
        size_t name_len = strlen(name);
        char *out = malloc(len + 1);
        if (!out)
                str_no_memory();
        for (size_t at = 0; at <= len;) {
                const char *pair = query + at;
                const char *amp = len > at ? memchr(pair, '&', len - at) : NULL;
                size_t pair_len = amp ? (size_t)(amp - pair) : len - at;
                const char *eq = pair_len ? memchr(pair, '=', pair_len) : NULL;
                size_t key_len = eq ? (size_t)(eq - pair) : pair_len;
                size_t n = 0;
                if (pair_len && memchr(pair, ';', pair_len))
                        is_plain = false; /* some take it for & */
                is_plain &= decode(pair, key_len, out, &n);
                bool is_ours = pair_len && n == name_len && memcmp(out, name, n) == 0;
                size_t value_at = eq ? key_len + 1 : key_len;
                is_plain &= decode(pair + value_at, pair_len - value_at, out, &n);
                if (is_ours)
                        visit(ctx, out, n);
                at += pair_len + 1;
        }
        free(out);
        return is_plain;
}
