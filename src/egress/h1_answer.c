/* h1_answer.c - see h1.h: an answer's head from text, as strict as requests are. Pure; called by
 * the engine that talks to an origin, which gives the connection up when this refuses. */
#include "egress/h1.h"

#include "base/err.h"
#include "egress/h1_fields.h"
#include "egress/head_chars.h"

#include <string.h>

static int bad(struct err *err, const char *why)
{
        err_set(err, E_PROTO, "%s", why);
        return -1;
}

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

/* "HTTP/1.x SP 200 [SP reason] CR LF": bytes used, 0 for more, -1. The reason is dropped. */
static ssize_t read_line(const char *p, const char *end, struct head *h, struct err *err)
{
        size_t have = (size_t)(end - p);
        if (memcmp(p, "HTTP/1.", have < 7 ? have : 7) != 0)
                return bad(err, "the answer does not begin with HTTP/1.1 or HTTP/1.0");
        if (have < 13)
                return 0;
        if ((p[7] != '0' && p[7] != '1') || p[8] != ' ')
                return bad(err, "the answer does not begin with HTTP/1.1 or HTTP/1.0");
        if (!is_digit(p[9]) || p[9] == '0' || !is_digit(p[10]) || !is_digit(p[11]))
                return bad(err, "the answer has no status of three digits");
        h->minor = (uint8_t)(p[7] - '0');
        h->status = (uint16_t)((p[9] - '0') * 100 + (p[10] - '0') * 10 + (p[11] - '0'));

        const char *at = p + 12;
        if (*at == ' ')
                at = head_value_end(at, end);
        if (at - p > HEAD_LINE_MAX)
                return bad(err, "the first line of the answer is too long");
        int ends = h1_line_end(at, end);
        if (ends < 0)
                return bad(err, "the first line of the answer does not end with CR LF");
        return ends ? at + 2 - p : 0;
}

/* 101: the other side speaks something else from here on; only what we asked for will do. */
static int take_upgrade(struct head *h, const struct h1_fields *f, struct err *err)
{
        if (h->minor != 1 || !f->says_upgrade || f->upgrades_n != 1 ||
            !head_same(f->upgrade.p, f->upgrade.n, "websocket") ||
            head_count(h, "sec-websocket-accept") != 1)
                return bad(err, "the server switches to a protocol that nobody asked for");
        if (head_find(h, "sec-websocket-extensions"))
                return bad(err, "the server uses an extension of WebSocket that nobody offered");
        h->is_websocket = true;
        return 0;
}

static int take_framing(struct head *h, const struct h1_fields *f, bool is_head_request,
                        struct err *err)
{
        bool has_body = f->is_chunked || f->length > 0;
        h->has_length = f->has_length;
        h->length = f->length;
        h->is_persistent = !f->says_close && (h->minor == 1 || f->says_keep_alive);

        if (h->status < 200) {
                if (has_body)
                        return bad(err, "an interim answer has a body");
                h->has_length = false;
                return h->status == 101 ? take_upgrade(h, f, err) : 0;
        }
        h->is_to_head = is_head_request;
        if (h->status == 204) {
                if (has_body && !is_head_request)
                        h->is_persistent = false;
                h->has_length = false;
                h->length = 0;
                return 0;
        }
        if (is_head_request || h->status == 304) {
                /* A 304 that says chunked may well be followed by chunks. */
                if (!is_head_request && f->is_chunked)
                        h->is_persistent = false;
                return 0;
        }
        if (f->is_chunked) {
                h->body = HEAD_BODY_STREAM;
        } else if (f->has_length) {
                h->body = f->length ? HEAD_BODY_LENGTH : HEAD_BODY_NONE;
        } else {
                h->body = HEAD_BODY_CLOSE;
                h->is_persistent = false;
        }
        return 0;
}

static ssize_t read_answer(const char *p, size_t n, bool is_head_request, struct head *h,
                           struct err *err)
{
        struct h1_fields f = {0};
        int status = 0;
        ssize_t line = n ? read_line(p, p + n, h, err) : 0;
        if (line <= 0)
                return line;
        ssize_t rest = h1_fields_read(p + line, n - (size_t)line, h, &f, &status, err);
        if (rest <= 0)
                return rest;
        if (h1_fields_settle(h, &f, h->minor, err) < 0)
                return -1;
        if (take_framing(h, &f, is_head_request, err) < 0)
                return -1;
        const struct field *type = head_find(h, "content-type");
        h->is_grpc = type && head_is_grpc_type(head_str(h, type->value), type->value_len);
        return line + rest;
}

ssize_t h1_answer(const char *p, size_t n, bool is_head_request, struct head *h, struct err *err)
{
        size_t seen = n < HEAD_BYTES_MAX ? n : HEAD_BYTES_MAX;
        ssize_t used = read_answer(p, seen, is_head_request, h, err);
        if (used == 0 && n >= HEAD_BYTES_MAX)
                used = bad(err, "the head of the answer is too large");
        if (used <= 0)
                head_clear(h);
        else if (h->body == HEAD_BODY_STREAM || h->body == HEAD_BODY_CLOSE)
                h->length = 0;
        return used;
}
