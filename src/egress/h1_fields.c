/* h1_fields.c - see h1_fields.h. One pass over the bytes; nothing is allocated but the head's
 * store. What two programs could read in two ways is refused (case E3), never repaired. */
#include "egress/h1_fields.h"

#include "base/err.h"
#include "egress/head_chars.h"
#include "egress/head_names.h"

#include <string.h>

enum { USUAL_HEAD = 4096 };

static int bad(struct err *err, const char *why)
{
        err_set(err, E_PROTO, "%s", why);
        return -1;
}

static int too_much(int *status, struct err *err)
{
        *status = 431;
        return err_set(err, E_PROTO, "a message has at most %d header lines of at most %d bytes",
                       HEAD_FIELDS_MAX, HEAD_LINE_MAX);
}

/* Digits alone, and at most what a file can hold. */
static int read_length(const char *p, size_t n, uint64_t *length, struct err *err)
{
        uint64_t v = 0;
        if (n == 0 || n > 19)
                return bad(err, "Content-Length is a number of at most 19 digits");
        for (size_t i = 0; i < n; i++) {
                if (p[i] < '0' || p[i] > '9')
                        return bad(err, "Content-Length is made of digits alone");
                v = v * 10 + (uint64_t)(p[i] - '0');
        }
        if (v > INT64_MAX)
                return bad(err, "Content-Length is too large");
        *length = v;
        return 0;
}

/* The next member of a list with commas, without blanks; empty ones are skipped. */
static bool next_member(const char **p, size_t *n, const char **member, size_t *len)
{
        while (*n) {
                const char *comma = memchr(*p, ',', *n);
                *member = *p;
                *len = comma ? (size_t)(comma - *p) : *n;
                *n -= *len + (comma ? 1 : 0);
                *p += *len + (comma ? 1 : 0);
                head_trim(member, len);
                if (*len)
                        return true;
        }
        return false;
}

static bool list_has(const char *p, size_t n, const char *word)
{
        const char *member;
        size_t len;
        while (next_member(&p, &n, &member, &len))
                if (head_same(member, len, word))
                        return true;
        return false;
}

static int take_hop(enum head_hop hop, const char *p, size_t n, struct h1_fields *f, int *status,
                    struct err *err)
{
        switch (hop) {
        case HOP_TE:
                f->takes_trailers |= list_has(p, n, "trailers");
                return 0;
        case HOP_HOST:
                f->host = (struct h1_span){p, n};
                f->hosts_n++;
                return 0;
        case HOP_EXPECT:
                if (!head_same(p, n, "100-continue")) {
                        *status = 417;
                        return bad(err, "the only expectation that can be met is 100-continue");
                }
                f->wants_continue = true;
                return 0;
        case HOP_UPGRADE:
                f->upgrade = (struct h1_span){p, n};
                f->upgrades_n++;
                return 0;
        case HOP_CONNECTION:
                if (f->connections_n == H1_CONNECTIONS_MAX)
                        return bad(err, "there are too many Connection fields");
                f->connection[f->connections_n++] = (struct h1_span){p, n};
                return 0;
        case HOP_CONTENT_LENGTH:
                if (f->has_length)
                        return bad(err, "there is more than one Content-Length");
                f->has_length = true;
                return read_length(p, n, &f->length, err);
        case HOP_TRANSFER_ENCODING:
                if (f->is_chunked)
                        return bad(err, "there is more than one Transfer-Encoding");
                if (!head_same(p, n, "chunked")) {
                        *status = 501;
                        return bad(err, "the only Transfer-Encoding that is understood is chunked");
                }
                f->is_chunked = true;
                return 0;
        case HOP_DISGUISED:
                return bad(err, "a field that concerns the connection is written with _ for -");
        case HOP_OTHER:
        case HOP_NOT:
                return 0;
        }
        return 0;
}

/* Most heads then need one allocation, and one that is used again none. */
static void reserve(struct buf *b, size_t n)
{
        if (b->cap - b->len < n && buf_room(b, n))
                b->len -= n;
}

ssize_t h1_fields_read(const char *p, size_t n, struct head *h, struct h1_fields *f, int *status,
                       struct err *err)
{
        const char *at = p, *end = p + n;
        reserve(&h->store, (n < USUAL_HEAD ? n : USUAL_HEAD) + 256);
        for (;;) {
                const char *name = at;
                int ends = h1_line_end(at, end);
                if (ends == 1)
                        return at + 2 - p;
                if (ends == 0)
                        return 0;

                at = head_token_end(name, end);
                size_t name_len = (size_t)(at - name);
                if (at == end && name_len <= HEAD_LINE_MAX)
                        return 0;
                if (at == end)
                        return too_much(status, err);
                if (*at != ':' || name_len == 0) {
                        if (head_is_blank(*name))
                                return bad(err, "a header line begins with a blank (folding is not "
                                                "accepted)");
                        return bad(err, head_is_blank(*at)
                                                ? "there is a blank before a header's colon"
                                                : "a header line has no name that can be read");
                }
                const char *value = at + 1;
                at = head_value_end(value, end);
                size_t value_len = (size_t)(at - value);
                ends = h1_line_end(at, end);
                if (ends < 0)
                        return bad(err, "a header line holds a control character or does not end "
                                        "with CR LF");
                if (name_len + value_len + 1 > HEAD_LINE_MAX || f->lines_n == HEAD_FIELDS_MAX)
                        return too_much(status, err);
                if (ends == 0)
                        return 0;
                f->lines_n++;
                at += 2;

                head_trim(&value, &value_len);
                enum head_hop hop = head_hop(name, name_len);
                if (hop) {
                        if (take_hop(hop, value, value_len, f, status, err) < 0)
                                return -1;
                } else if (head_add(h, name, name_len, value, value_len, err) < 0) {
                        *status = 431;
                        return -1;
                }
        }
}

/* One option of Connection: a word for us, or the name of a field that ends here. */
static int take_option(struct head *h, struct h1_fields *f, const char *p, size_t n,
                       struct err *err)
{
        if (head_same(p, n, "close")) {
                f->says_close = true;
                return 0;
        }
        if (head_same(p, n, "keep-alive")) {
                f->says_keep_alive = true;
                return 0;
        }
        if (!head_is_token(p, n))
                return bad(err, "Connection lists something that is not a name");
        switch (head_hop(p, n)) {
        case HOP_HOST:
        case HOP_CONTENT_LENGTH:
        case HOP_TRANSFER_ENCODING:
        case HOP_CONNECTION:
        case HOP_DISGUISED:
                return bad(err, "Connection lists a field that frames the message");
        case HOP_UPGRADE:
                f->says_upgrade = true;
                return 0;
        case HOP_TE:
        case HOP_EXPECT:
        case HOP_OTHER:
                return 0;
        case HOP_NOT:
                break;
        }
        char name[256];
        if (n >= sizeof name)
                return bad(err, "Connection lists a name that is too long");
        for (size_t i = 0; i < n; i++)
                name[i] = (char)head_token_char[(uint8_t)p[i]];
        name[n] = 0;
        head_drop(h, name);
        return 0;
}

int h1_fields_settle(struct head *h, struct h1_fields *f, int minor, struct err *err)
{
        if (f->is_chunked && f->has_length)
                return bad(err, "Content-Length and Transfer-Encoding exclude each other");
        if (f->is_chunked && minor == 0)
                return bad(err, "HTTP/1.0 has no Transfer-Encoding");

        size_t options_n = 0;
        for (size_t i = 0; i < f->connections_n; i++) {
                const char *p = f->connection[i].p, *option;
                size_t n = f->connection[i].n, len;
                while (next_member(&p, &n, &option, &len)) {
                        if (++options_n > H1_OPTIONS_MAX)
                                return bad(err, "Connection lists too many names");
                        if (take_option(h, f, option, len, err) < 0)
                                return -1;
                }
        }
        return 0;
}
