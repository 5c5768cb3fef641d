/* lenders.c - see lenders.h. Paths and names are written by whoever wants to see a token: they are
 * compared in the most forgiving way that servers have, and in time that is linear in each. */
#include "policy/lenders.h"

#include "base/cleanup.h"
#include "policy/lenders_table.h"
#include "policy/path_canon.h"
#include "policy/readings.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FIELD_MAX = 96 };

static char small(char c)
{
        return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* holds(pattern, s, n): * is any text, + any without a slash. The last of them is the only one worth
 * going back to; behind a slash that + does not cross, the last star is. */
static bool holds(const char *p, const char *s, size_t n)
{
        const char *star = NULL, *plus = NULL;
        size_t i = 0, from = 0, plus_from = 0;
        while (i < n) {
                if (*p == '*') {
                        star = ++p;
                        from = i;
                        plus = NULL;
                } else if (*p == '+') {
                        plus = ++p;
                        plus_from = i;
                } else if (*p && *p == small(s[i])) {
                        p++;
                        i++;
                } else if (plus && s[plus_from] != '/') {
                        p = plus;
                        i = ++plus_from;
                } else if (star) {
                        plus = NULL;
                        p = star;
                        i = ++from;
                } else {
                        return false;
                }
        }
        while (*p == '*' || *p == '+')
                p++;
        return *p == '\0';
}

/* bare(path, n): how much of it counts. Servers take /token/, /token;x=y and /token.json for
 * /token. */
static size_t bare(const char *path, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (path[i] == ';' || (i + 3 <= n && strncasecmp(path + i, "%3b", 3) == 0))
                        n = i;
        while (n > 0 && path[n - 1] == '/')
                n--;
        if (n > 5 && strncasecmp(path + n - 5, ".json", 5) == 0)
                n -= 5;
        else if (n > 4 && strncasecmp(path + n - 4, ".xml", 4) == 0)
                n -= 4;
        return n;
}

/* has_query(query, n, name): a parameter of that name, with a value or without. */
static bool has_query(const char *q, size_t n, const char *name)
{
        size_t len = strlen(name);
        for (size_t at = 0; q && at + len <= n;) {
                size_t end = at;
                while (end < n && q[end] != '&' && q[end] != ';')
                        end++;
                bool is_it = end - at >= len && strncasecmp(q + at, name, len) == 0;
                /* A name that is escaped in part may be any: in doubt it is this one. */
                if ((is_it && (end - at == len || q[at + len] == '=')) ||
                    memchr(q + at, '%', end - at))
                        return true;
                at = end + 1;
        }
        return false;
}

struct asked {
        const char *host, *query;
        size_t host_n, query_n;
        const struct lender_place *found;
};

/* is_lender(ctx, path, n): a visit for each reading of the path; goes on until one is in the table. */
static bool is_lender(void *ctx, const char *path, size_t n)
{
        struct asked *a = ctx;
        size_t len = bare(path, n);
        for (const struct lender_place *p = lender_places; p->path && !a->found; p++)
                if ((!*p->host || holds(p->host, a->host, a->host_n)) &&
                    holds(p->path, path, len) &&
                    (!*p->query || has_query(a->query, a->query_n, p->query)))
                        a->found = p;
        return !a->found;
}

const char *lenders_place(const char *host, const char *path, const char *query, size_t n,
                          unsigned *lends)
{
        struct asked a = {
                .host = host, .host_n = strlen(host), .query = query, .query_n = query ? n : 0};
        size_t len = strlen(path);
        *lends = 0;
        if (is_lender(&a, path, len)) {
                /* The box spells the path: /oauth%2Ftoken is the token endpoint of some servers. */
                _cleanup_free_ char *plain = malloc(len + 1);
                const char *why;
                long plain_n = plain ? path_canon_decode(path, len, plain, &why) : -1;
                if (plain_n < 0 ||
                    (!readings_path(plain, (size_t)plain_n, is_lender, &a) && !a.found))
                        return "a path that cannot be read with certainty";
        }
        *lends = a.found ? a.found->lends : 0;
        return a.found ? a.found->who : NULL;
}

/* fits(pattern, s, n): "*end" or the whole name. Asked of each row for each string of an answer. */
static bool fits(const char *pattern, const char *s, size_t n)
{
        bool is_end = *pattern == '*';
        size_t len = strlen(pattern + is_end);
        return (is_end ? n >= len : n == len) && memcmp(s + n - len, pattern + is_end, len) == 0;
}

/* field_of(name, n): its row, or NULL. */
static const struct lender_field *field_of(const char *name, size_t n)
{
        char text[FIELD_MAX];
        size_t len = 0;
        for (size_t i = 0; i < n; i++) {
                char c = small(name[i]);
                if (c == ':') /* the prefix of a namespace */
                        len = 0;
                if ((c < 'a' || c > 'z') && (c < '0' || c > '9'))
                        continue;
                if (len == sizeof text) /* the end of a name says what it is */
                        memmove(text, text + 1, --len);
                text[len++] = c;
        }
        for (const struct lender_field *f = lender_fields; f->name; f++)
                if (fits(f->name, text, len))
                        return f;
        return NULL;
}

const char *lenders_name(const char *name, size_t n, bool *is_plain)
{
        const struct lender_field *f = field_of(name, n);
        *is_plain = f && strcmp(f->piece, "none") == 0;
        return f && !*is_plain ? f->piece : NULL;
}

const char *lenders_field(const char *name, size_t n)
{
        bool is_plain;
        return lenders_name(name, n, &is_plain);
}

bool lenders_is_sure(const char *name, size_t n)
{
        const struct lender_field *f = field_of(name, n);
        return f && f->is_sure;
}
