/* match_query.c - names and values in a query or a form. See match.h. Pure; it reads bytes from the
 * box and must neither write nor look outside them. */
#include "base/str.h"
#include "policy/match.h"
#include "policy/path_steps.h"
#include "policy/readings.h"

#include <stdlib.h>
#include <string.h>

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
                        int high = i + 2 < len ? path_step_hex(s[i + 1]) : -1;
                        int low = i + 2 < len ? path_step_hex(s[i + 2]) : -1;
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

/* query_is_ours(key, n, name, is_loose): is this the field that is looked for? */
static bool query_is_ours(const char *key, size_t n, const char *name, bool is_loose)
{
        if (is_loose)
                return readings_name_is(key, n, name);
        return n == strlen(name) && memcmp(key, name, n) == 0;
}

/* query_end(s, n, is_loose): where a pair ends; some take ; for &. NULL at the end of all. */
static const char *query_end(const char *s, size_t n, bool is_loose)
{
        if (!is_loose)
                return memchr(s, '&', n);
        for (size_t i = 0; i < n; i++)
                if (s[i] == '&' || s[i] == ';')
                        return s + i;
        return NULL;
}

bool match_query_each(const char *query, size_t len, const char *name, bool is_loose,
                      request_visit *visit, void *ctx)
{
        bool is_plain = true;
        char *out = malloc(len + 1);
        if (!out)
                str_no_memory();
        for (size_t at = 0; at <= len;) {
                const char *pair = query + at;
                const char *amp = len > at ? query_end(pair, len - at, is_loose) : NULL;
                size_t pair_len = amp ? (size_t)(amp - pair) : len - at;
                const char *eq = pair_len ? memchr(pair, '=', pair_len) : NULL;
                size_t key_len = eq ? (size_t)(eq - pair) : pair_len;
                size_t n = 0;
                if (pair_len && memchr(pair, ';', pair_len))
                        is_plain = false; /* some take it for & */
                is_plain &= decode(pair, key_len, out, &n);
                bool is_ours = pair_len && query_is_ours(out, n, name, is_loose);
                size_t value_at = eq ? key_len + 1 : key_len;
                is_plain &= decode(pair + value_at, pair_len - value_at, out, &n);
                if (is_ours)
                        visit(ctx, out, n);
                at += pair_len + 1;
        }
        free(out);
        return is_plain;
}
