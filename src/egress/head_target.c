/* head_target.c - see head.h: the two parts of a head that policy judges, made from what was sent:
 * the target and the authority. Pure; the only place where either becomes a validated type, for
 * HTTP/1 and HTTP/2 alike (cases E2, E4). */
#include "egress/head.h"

#include "base/err.h"

#include <string.h>

/* Bytes beyond ASCII in a query are encoded, because servers and HTTP/2 disagree about bare ones.
 */
static uint32_t put_wide_query(struct head *h, const char *p, size_t n, size_t *len)
{
        static const char digits[] = "0123456789ABCDEF";
        char out[3 * HEAD_LINE_MAX];
        *len = 0;
        for (size_t i = 0; i < n; i++) {
                unsigned char c = (unsigned char)p[i];
                if (c < 0x80) {
                        out[(*len)++] = p[i];
                        continue;
                }
                out[(*len)++] = '%';
                out[(*len)++] = digits[c >> 4];
                out[(*len)++] = digits[c & 15];
        }
        return head_put(h, out, *len);
}

/* Otherwise the query is forwarded as it came; what no URL holds is refused. ${at} is its place in
 * the target. */
static int put_query(struct head *h, const char *p, size_t n, size_t at, struct err *err)
{
        size_t len = n;
        unsigned wide = 0;
        for (size_t i = 0; i < n; i++) {
                unsigned char c = (unsigned char)p[i];
                if (c <= 0x20 || c == 0x7f || c == '#')
                        return err_set(err, E_INPUT,
                                       "a query has no spaces, control characters or # in it "
                                       "unless they are encoded");
                wide |= c & 0x80;
        }
        h->query = wide ? put_wide_query(h, p, n, &len) : h->target + (uint32_t)at;
        h->query_len = (uint32_t)len;
        if (!h->query)
                return err_set(err, E_PROTO, "the head of a message is too large");
        return 0;
}

int head_target(struct head *h, const char *p, size_t n, struct err *err)
{
        if (n > HEAD_LINE_MAX)
                return err_set(err, E_INPUT, "a request target has at most %d bytes",
                               HEAD_LINE_MAX);
        h->query = h->query_len = 0;
        h->is_options_star = false;
        path_canon_free(&h->path);
        h->target = head_put(h, p, n);
        h->target_len = (uint32_t)n;
        if (!h->target)
                return err_set(err, E_PROTO, "the head of a message is too large");
        p = head_str(h, h->target); /* what came may be in the store, which may have moved */

        if (n == 1 && p[0] == '*') {
                if (h->method_len != 7 || memcmp(head_str(h, h->method), "OPTIONS", 7) != 0)
                        return err_set(err, E_INPUT, "only OPTIONS may ask for *");
                h->is_options_star = true;
                return path_canon_parse("/", 1, &h->path, err);
        }
        const char *mark = memchr(p, '?', n);
        size_t path_len = mark ? (size_t)(mark - p) : n;
        if (path_canon_parse(p, path_len, &h->path, err) < 0)
                return -1;
        return mark ? put_query(h, mark + 1, n - path_len - 1, path_len + 1, err) : 0;
}

/* Digits without a zero in front, 1 to 65535; 0 for anything else. */
static uint16_t read_port(const char *p, size_t n)
{
        unsigned port = 0;
        if (n == 0 || n > 5 || p[0] == '0')
                return 0;
        for (size_t i = 0; i < n; i++) {
                if (p[i] < '0' || p[i] > '9')
                        return 0;
                port = port * 10 + (unsigned)(p[i] - '0');
        }
        return port <= UINT16_MAX ? (uint16_t)port : 0;
}

int head_authority(struct head *h, const char *p, size_t n, struct err *err)
{
        const char *from = p;
        if (n && p[0] == '[') {
                const char *close = memchr(p, ']', n);
                from = close ? close : p;
        }
        const char *colon = memchr(from, ':', n - (size_t)(from - p));
        uint16_t port = 0;
        if (colon) {
                size_t digits = n - (size_t)(colon - p) - 1;
                port = read_port(colon + 1, digits);
                if (port == 0) {
                        memset(&h->host, 0, sizeof h->host);
                        h->port = 0;
                        return err_set(err, E_INPUT,
                                       "after the colon of a host stands a port from 1 to 65535");
                }
                n = (size_t)(colon - p);
        }
        h->port = port;
        return host_name_parse(p, n, &h->host, err);
}
