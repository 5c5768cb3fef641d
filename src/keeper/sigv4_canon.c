/* sigv4_canon.c - see sigv4.h: the canonical request, in which signer and service must agree to the
 * byte. Pure. It works on what is sent and never on something decoded and written again. */
#include "base/buf.h"
#include "keeper/sigv4.h"
#include "policy/aws_auth.h"

#include <stdlib.h>
#include <string.h>

/* recode(p, n, b): one spelling for what came in several: escapes in large letters and only where
 * they are needed. An encoded slash stays one, and a plus is a plus. */
static void recode(const char *p, size_t n, bool keeps_slash, struct buf *b)
{
        while (n) {
                const char *escape = memchr(p, '%', n);
                size_t plain = escape ? (size_t)(escape - p) : n;
                aws_encode(p, plain, keeps_slash, b);
                p += plain;
                n -= plain;
                if (!n)
                        return;
                size_t take = n < 3 ? n : 3;
                _cleanup_buf_ struct buf byte = {0};
                aws_decode(p, take, &byte);
                if (byte.len != 1)
                        take = 1; /* no escape: the percent sign itself */
                aws_encode((const char *)byte.data, 1, false, b);
                p += take;
                n -= take;
        }
}

/* Without empty and dot segments. A slash at the end stays. */
static void put_normal(const char *path, size_t n, struct buf *b)
{
        size_t base = b->len;
        for (size_t i = 0; i < n;) {
                const char *p = path + i, *slash = memchr(p, '/', n - i);
                size_t len = slash ? (size_t)(slash - p) : n - i;
                i += len + 1;
                if (len == 0 || (len == 1 && p[0] == '.'))
                        continue;
                if (len == 2 && p[0] == '.' && p[1] == '.') {
                        while (b->len > base && b->data[b->len - 1] != '/')
                                b->len--;
                        if (b->len > base)
                                b->len--;
                        continue;
                }
                buf_put_u8(b, '/');
                buf_put(b, p, len);
        }
        if (b->len == base || (n && path[n - 1] == '/'))
                buf_put_u8(b, '/');
}

void sigv4_put_path(const char *path, size_t n, bool is_s3, struct buf *b)
{
        if (n == 0) {
                buf_put_u8(b, '/');
        } else if (is_s3) {
                recode(path, n, true, b);
        } else {
                _cleanup_buf_ struct buf normal = {0};
                put_normal(path, n, &normal);
                aws_encode((const char *)normal.data, normal.len, true, b);
        }
}

struct param {
        size_t name, name_len, value, value_len; /* in the buffer behind them */
};

struct params {
        struct param *v;
        size_t n;
        struct buf text;
};

static int compare_bytes(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
        size_t n = a_len < b_len ? a_len : b_len;
        int r = n ? memcmp(a, b, n) : 0;
        return r ? r : (a_len > b_len) - (a_len < b_len);
}

/* By name first: "a" comes before "a-b" though '=' comes after '-'. */
static int compare(const void *x, const void *y, void *ctx)
{
        const struct param *a = x, *b = y;
        const uint8_t *t = ctx;
        int r = compare_bytes(t + a->name, a->name_len, t + b->name, b->name_len);
        return r ? r : compare_bytes(t + a->value, a->value_len, t + b->value, b->value_len);
}

void sigv4_put_query(const char *p, size_t n, struct buf *b)
{
        struct aws_text query = {p, n}, name, value;
        struct params all = {0};
        size_t max = 1;
        for (size_t i = 0; i < n; i++)
                max += p[i] == '&';
        all.v = calloc(max, sizeof *all.v);
        while (all.v && aws_query_next(&query, &name, &value)) {
                if (aws_param_of(name.p, name.n) == AWS_PARAM_SIGNATURE)
                        continue;
                struct param *q = &all.v[all.n++];
                q->name = all.text.len;
                recode(name.p, name.n, false, &all.text);
                q->name_len = all.text.len - q->name;
                q->value = all.text.len;
                recode(value.p, value.n, false, &all.text);
                q->value_len = all.text.len - q->value;
        }
        if (!all.v || all.text.is_broken)
                b->is_broken = true;
        else if (all.n)
                qsort_r(all.v, all.n, sizeof *all.v, compare, all.text.data);
        for (size_t i = 0; i < all.n && !b->is_broken; i++) {
                if (i)
                        buf_put_u8(b, '&');
                buf_put(b, all.text.data + all.v[i].name, all.v[i].name_len);
                buf_put_u8(b, '=');
                buf_put(b, all.text.data + all.v[i].value, all.v[i].value_len);
        }
        buf_free(&all.text);
        free(all.v);
}

/* Blanks at the ends go, several inside become one. */
static void put_trimmed(const char *s, struct buf *b)
{
        const char *blanks = " \t\r\n";
        s += strspn(s, blanks);
        while (*s) {
                size_t n = strcspn(s, blanks);
                buf_put(b, s, n);
                s += n;
                s += strspn(s, blanks);
                if (*s)
                        buf_put_u8(b, ' ');
        }
}

void sigv4_put_fields(const struct sigv4_field *f, size_t n, const char *names, struct buf *b)
{
        struct aws_text list = {names, strlen(names)}, name;
        while (aws_auth_name_next(&list, &name)) {
                bool is_first = true;
                buf_put(b, name.p, name.n);
                buf_put_u8(b, ':');
                for (size_t i = 0; i < n; i++) {
                        if (!aws_text_is(name, f[i].name))
                                continue;
                        if (!is_first)
                                buf_put_u8(b, ',');
                        is_first = false;
                        put_trimmed(f[i].value, b);
                }
                buf_put_u8(b, '\n');
        }
}

void sigv4_put_request(const char *method, const char *target, bool is_s3,
                       const struct sigv4_field *fields, size_t n, const char *names,
                       const char *payload, struct buf *b)
{
        size_t path_len = strcspn(target, "?");
        const char *query = target[path_len] ? target + path_len + 1 : "";
        buf_put_fmt(b, "%s\n", method);
        sigv4_put_path(target, path_len, is_s3, b);
        buf_put_u8(b, '\n');
        sigv4_put_query(query, strlen(query), b);
        buf_put_u8(b, '\n');
        sigv4_put_fields(fields, n, names, b);
        buf_put_fmt(b, "\n%s\n%s", names, payload);
}
