/* h1_write.c - see h1.h: heads and chunks as HTTP/1 text, made from the struct alone. Pure; called
 * by both engines. It never writes a byte that the parsers here would refuse: a field that cannot
 * be written, or that would speak of framing, breaks the buffer. */
#include "egress/h1.h"

#include "egress/head_chars.h"

#include <string.h>

static char *put(char *at, const void *p, size_t n)
{
        memcpy(at, p, n);
        return at + n;
}

#define PUT(at, literal) put((at), "" literal, sizeof(literal) - 1)

static char *put_number(char *at, uint64_t v)
{
        char digits[20];
        size_t n = 0;
        do
                digits[n++] = (char)('0' + v % 10);
        while (v /= 10);
        while (n)
                *at++ = digits[--n];
        return at;
}

/* What a writer adds to the fields at the most: start line without target, Host, framing, upgrade.
 */
enum { EXTRA_MAX = 512 };

static size_t fields_size(const struct head *h)
{
        size_t n = 0;
        for (size_t i = 0; i < h->fields_n; i++)
                n += (size_t)h->fields[i].name_len + h->fields[i].value_len + 4;
        return n;
}

/* NULL when a field may not be written. */
static char *put_fields(char *at, const struct head *h)
{
        for (size_t i = 0; i < h->fields_n; i++) {
                const struct field *f = &h->fields[i];
                const char *name = head_str(h, f->name), *value = head_str(h, f->value);
                if (!head_is_token(name, f->name_len) || !head_is_value(value, f->value_len) ||
                    head_is_hop(name, f->name_len))
                        return NULL;
                at = put(at, name, f->name_len);
                at = PUT(at, ": ");
                at = put(at, value, f->value_len);
                at = PUT(at, "\r\n");
        }
        return at;
}

static char *put_length(char *at, uint64_t n)
{
        at = PUT(at, "content-length: ");
        at = put_number(at, n);
        return PUT(at, "\r\n");
}

/* Give back what was not used of ${size} bytes; NULL undoes everything. */
static void end_put(struct buf *b, size_t start, size_t size, const char *at)
{
        b->len = at ? (size_t)((const uint8_t *)at - b->data) : start;
        if (!at || b->len > start + size)
                b->is_broken = true;
}

/* A target is visible ASCII: path_canon and head_target see to it, and nobody else fills them. */
static bool is_visible(const char *p, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (p[i] <= 0x20 || p[i] == 0x7f)
                        return false;
        return true;
}

static bool expects_body(const char *method, size_t n)
{
        return (n == 4 && memcmp(method, "POST", 4) == 0) ||
               (n == 3 && memcmp(method, "PUT", 3) == 0) ||
               (n == 5 && memcmp(method, "PATCH", 5) == 0);
}

void h1_put_request(struct buf *b, const struct head *h, bool is_tls)
{
        const char *method = head_str(h, h->method), *query = head_str(h, h->query);
        size_t start = b->len;
        size_t size = h->method_len + h->path.len + h->query_len + h->host.len + EXTRA_MAX +
                      fields_size(h);
        char *at = (char *)buf_room(b, size);
        if (!at)
                return;
        if (!head_is_token(method, h->method_len) || !h->path.len || !h->host.len ||
            !is_visible(h->path.text, h->path.len) || !is_visible(query, h->query_len))
                return end_put(b, start, size, NULL);

        at = put(at, method, h->method_len);
        *at++ = ' ';
        if (h->is_options_star) {
                *at++ = '*';
        } else {
                at = put(at, h->path.text, h->path.len);
                if (h->query) {
                        *at++ = '?';
                        at = put(at, query, h->query_len);
                }
        }
        at = PUT(at, " HTTP/1.1\r\nhost: ");
        at = put(at, h->host.text, h->host.len);
        if (h->port && h->port != (is_tls ? 443 : 80)) {
                *at++ = ':';
                at = put_number(at, h->port);
        }
        at = PUT(at, "\r\n");
        at = put_fields(at, h);
        if (!at)
                return end_put(b, start, size, NULL);

        if (h->is_websocket)
                at = PUT(at, "connection: Upgrade\r\nupgrade: websocket\r\n");
        else if (h->body == HEAD_BODY_LENGTH)
                at = put_length(at, h->length);
        else if (h->body == HEAD_BODY_STREAM)
                at = PUT(at, "transfer-encoding: chunked\r\n");
        else if (expects_body(method, h->method_len))
                at = put_length(at, 0);
        at = PUT(at, "\r\n");
        /* A request cannot end with its connection. */
        end_put(b, start, size, h->body == HEAD_BODY_CLOSE ? NULL : at);
}

bool h1_answer_is_chunked(const struct head *h, int minor)
{
        bool has_body = h->status >= 200 && h->status != 204 && h->status != 304 && !h->is_to_head;
        return has_body && minor >= 1 &&
               (h->body == HEAD_BODY_STREAM || h->body == HEAD_BODY_CLOSE);
}

/* How the body of an answer ends; *is_persistent becomes false where only closing ends it. */
static char *put_framing(char *at, const struct head *h, int minor, bool *is_persistent)
{
        if (h->status < 200 || h->status == 204)
                return at;
        if (h->is_to_head || h->status == 304)
                return h->has_length ? put_length(at, h->length) : at;
        if (h1_answer_is_chunked(h, minor))
                return PUT(at, "transfer-encoding: chunked\r\n");
        if (h->body == HEAD_BODY_NONE || h->body == HEAD_BODY_LENGTH)
                return put_length(at, h->body == HEAD_BODY_LENGTH ? h->length : 0);
        *is_persistent = false;
        return at;
}

static const char *reason(int status)
{
        static const struct {
                int status;
                const char *words;
        } known[] = {
                {200, "OK"},
                {100, "Continue"},
                {101, "Switching Protocols"},
                {103, "Early Hints"},
                {201, "Created"},
                {202, "Accepted"},
                {204, "No Content"},
                {206, "Partial Content"},
                {301, "Moved Permanently"},
                {302, "Found"},
                {303, "See Other"},
                {304, "Not Modified"},
                {307, "Temporary Redirect"},
                {308, "Permanent Redirect"},
                {400, "Bad Request"},
                {401, "Unauthorized"},
                {402, "Payment Required"},
                {403, "Forbidden"},
                {404, "Not Found"},
                {405, "Method Not Allowed"},
                {406, "Not Acceptable"},
                {408, "Request Timeout"},
                {409, "Conflict"},
                {410, "Gone"},
                {411, "Length Required"},
                {412, "Precondition Failed"},
                {413, "Content Too Large"},
                {414, "URI Too Long"},
                {415, "Unsupported Media Type"},
                {416, "Range Not Satisfiable"},
                {417, "Expectation Failed"},
                {421, "Misdirected Request"},
                {422, "Unprocessable Content"},
                {425, "Too Early"},
                {426, "Upgrade Required"},
                {428, "Precondition Required"},
                {429, "Too Many Requests"},
                {431, "Request Header Fields Too Large"},
                {500, "Internal Server Error"},
                {501, "Not Implemented"},
                {502, "Bad Gateway"},
                {503, "Service Unavailable"},
                {504, "Gateway Timeout"},
                {505, "HTTP Version Not Supported"},
        };
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
                if (known[i].status == status)
                        return known[i].words;
        return "";
}

void h1_put_answer(struct buf *b, const struct head *h, int minor, bool is_persistent)
{
        /* HTTP/1.0 knows no interim answers. */
        if (h->status < 200 && minor == 0)
                return;
        size_t start = b->len, size = fields_size(h) + EXTRA_MAX;
        char *at = (char *)buf_room(b, size);
        if (!at)
                return;
        if (h->status < 100 || h->status > 999)
                return end_put(b, start, size, NULL);

        const char *words = reason(h->status);
        at = PUT(at, "HTTP/1.1 ");
        at = put_number(at, h->status);
        *at++ = ' ';
        at = put(at, words, strlen(words));
        at = PUT(at, "\r\n");
        at = put_fields(at, h);
        if (!at)
                return end_put(b, start, size, NULL);

        at = put_framing(at, h, minor, &is_persistent);
        if (h->status == 101)
                at = PUT(at, "connection: Upgrade\r\nupgrade: websocket\r\n");
        else if (h->status >= 200 && !is_persistent)
                at = PUT(at, "connection: close\r\n");
        else if (h->status >= 200 && minor == 0)
                at = PUT(at, "connection: keep-alive\r\n");
        at = PUT(at, "\r\n");
        end_put(b, start, size, at);
}

void h1_put_chunk_head(struct buf *b, size_t n)
{
        static const char digits[] = "0123456789abcdef";
        if (n == 0) { /* would be the last one */
                b->is_broken = true;
                return;
        }
        char text[18];
        size_t at = sizeof text;
        text[--at] = '\n';
        text[--at] = '\r';
        do
                text[--at] = digits[n & 15];
        while (n >>= 4);
        buf_put(b, text + at, sizeof text - at);
}

void h1_put_last(struct buf *b, const struct head *trailers)
{
        size_t start = b->len, size = (trailers ? fields_size(trailers) : 0) + 8;
        char *at = (char *)buf_room(b, size);
        if (!at)
                return;
        at = PUT(at, "0\r\n");
        if (trailers)
                at = put_fields(at, trailers);
        if (at)
                at = PUT(at, "\r\n");
        end_put(b, start, size, at);
}
