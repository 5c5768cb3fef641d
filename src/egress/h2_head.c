/* h2_head.c - see h2_head.h: heads that come in. Pure; must never let a byte into a head that
 * HTTP/1 would not carry, because it may be forwarded that way (case E3, H2.CL, H2.TE). */
#include "egress/h2_head.h"

#include "base/err.h"
#include "egress/head_names.h"

#include <string.h>
#include <strings.h>

/* A list that is this much larger than allowed is not worth an answer. */
enum { BYTES_ABSURD = 4 * HEAD_BYTES_MAX, METHOD_MAX = 32 };

void h2_in_begin(struct h2_in *in)
{
        head_clear(&in->head);
        in->cookies.len = 0;
        in->path = in->authority = in->scheme = in->protocol = in->host = (struct h2_text){0};
        in->bytes = in->hosts_n = 0;
        in->has_expect = false;
        in->status = 0;
        in->why = NULL;
}

void h2_in_free(struct h2_in *in)
{
        head_free(&in->head);
        buf_free(&in->cookies);
}

static void refuse(struct h2_in *in, int status, const char *why)
{
        if (!in->status) {
                in->status = status;
                in->why = why;
        }
}

static void keep(struct h2_in *in, struct h2_text *t, const char *p, size_t n)
{
        t->at = n > HEAD_LINE_MAX ? 0 : head_put(&in->head, p, n);
        t->len = (uint32_t)n;
        if (!t->at)
                refuse(in, 431, "the head of this request is too large");
}

static bool is_name(const char *p, size_t n, const char *name)
{
        return n == strlen(name) && memcmp(p, name, n) == 0;
}

static void take_pseudo(struct h2_in *in, const char *name, size_t n, const char *p, size_t len)
{
        struct head *h = &in->head;
        if (is_name(name, n, ":method")) {
                if (len > METHOD_MAX) {
                        refuse(in, 501, "this method is too long to be one");
                        return;
                }
                h->method = head_put(h, p, len);
                h->method_len = (uint32_t)len;
        } else if (is_name(name, n, ":path")) {
                if (len > HEAD_LINE_MAX)
                        refuse(in, 414, "the address of this request is too long");
                else
                        keep(in, &in->path, p, len);
        } else if (is_name(name, n, ":authority")) {
                keep(in, &in->authority, p, len);
        } else if (is_name(name, n, ":scheme")) {
                keep(in, &in->scheme, p, len);
        } else if (is_name(name, n, ":protocol")) {
                keep(in, &in->protocol, p, len);
        } else if (is_name(name, n, ":status") && len == 3) {
                h->status = (uint16_t)((p[0] - '0') * 100 + (p[1] - '0') * 10 + (p[2] - '0'));
        }
}

static void take_length(struct h2_in *in, const char *p, size_t n)
{
        uint64_t v = 0;
        for (size_t i = 0; i < n; i++) {
                bool is_digit = p[i] >= '0' && p[i] <= '9';
                if (!is_digit || __builtin_mul_overflow(v, 10, &v) ||
                    __builtin_add_overflow(v, (uint64_t)(p[i] - '0'), &v) || v > INT64_MAX) {
                        refuse(in, 400, "the Content-Length is not a number of bytes");
                        return;
                }
        }
        if (n == 0 || in->head.has_length)
                refuse(in, 400, "the Content-Length is empty or there twice");
        in->head.has_length = true;
        in->head.length = v;
}

static void take_hop(struct h2_in *in, enum head_hop hop, const char *p, size_t n)
{
        switch (hop) {
        case HOP_TE:
                in->head.takes_trailers = n == 8 && strncasecmp(p, "trailers", 8) == 0;
                return;
        case HOP_HOST:
                in->hosts_n++;
                keep(in, &in->host, p, n);
                return;
        case HOP_EXPECT:
                if (n != 12 || strncasecmp(p, "100-continue", 12) != 0)
                        refuse(in, 417, "the only expectation that can be met is 100-continue");
                in->has_expect = true;
                return;
        case HOP_CONTENT_LENGTH:
                take_length(in, p, n);
                return;
        case HOP_UPGRADE:
        case HOP_CONNECTION:
        case HOP_TRANSFER_ENCODING:
                refuse(in, 400, "a field that concerns the connection has no place in HTTP/2");
                return;
        case HOP_DISGUISED:
                refuse(in, 400, "a field that concerns the connection is written with _ for -");
                return;
        case HOP_OTHER:
        case HOP_NOT:
                return;
        }
}

static void take_cookie(struct h2_in *in, const char *p, size_t n)
{
        in->cookies.max = HEAD_LINE_MAX;
        if (n == 0)
                return; /* it would leave a blank at the end */
        if (in->cookies.len)
                buf_put_str(&in->cookies, "; ");
        buf_put(&in->cookies, p, n);
        if (in->cookies.is_broken)
                refuse(in, 431, "the cookies of this request are too large");
}

static void take_field(struct h2_in *in, const char *name, size_t n, const char *value, size_t len)
{
        if (!head_is_token(name, n) || !head_is_value(value, len)) {
                refuse(in, 400, "a header field holds characters that may not stand there");
                return;
        }
        enum head_hop hop = head_hop(name, n);
        if (hop != HOP_NOT)
                take_hop(in, hop, value, len);
        else if (is_name(name, n, "cookie"))
                take_cookie(in, value, len);
        else if (head_add(&in->head, name, n, value, len, NULL) < 0)
                refuse(in, 431, "the head of this message is too large");
}

int h2_in_field(struct h2_in *in, const char *name, size_t n, const char *value, size_t len)
{
        in->bytes += n + len + 32;
        if (in->bytes > BYTES_ABSURD)
                return -1;
        if (in->bytes > HEAD_BYTES_MAX)
                refuse(in, 431, "the head of this message is too large");
        bool is_refused = in->status != 0;
        if (!is_refused && n && name[0] == ':')
                take_pseudo(in, name, n, value, len);
        else if (!is_refused)
                take_field(in, name, n, value, len);
        if (in->status && in->bytes <= HEAD_BYTES_MAX) { /* the tripwire looks at it all the same */
                head_put(&in->head, name, n);
                head_put(&in->head, value, len);
        }
        return 0;
}

static int no(int *status, int code, struct err *err, const char *why)
{
        *status = code;
        return err_set(err, E_PROTO, "%s", why);
}

static int take_authority(struct h2_in *in, int *status, struct err *err)
{
        struct head *h = &in->head;
        *status = 400;
        if (in->hosts_n > 1)
                return no(status, 400, err, "there is more than one Host");
        if (!in->authority.at && !in->host.at)
                return no(status, 400, err, "the request names no host");
        if (in->host.at) {
                if (head_authority(h, head_str(h, in->host.at), in->host.len, err) < 0)
                        return err_add(err, "the Host of this request");
        }
        if (!in->authority.at)
                return 0;
        struct host_name host = h->host;
        uint16_t port = h->port;
        if (head_authority(h, head_str(h, in->authority.at), in->authority.len, err) < 0)
                return err_add(err, "the :authority of this request");
        if (in->host.at && (!host_name_equal(&host, &h->host) || port != h->port))
                return no(status, 400, err, "Host names another host than :authority");
        return 0;
}

/* RFC 8441: CONNECT with a protocol. To policy it is the GET that it would be in HTTP/1. */
static int take_method(struct h2_in *in, bool is_end, int *status, struct err *err)
{
        struct head *h = &in->head;
        const char *method = head_str(h, h->method);
        bool is_connect = strcmp(method, "CONNECT") == 0;
        if (in->protocol.at) {
                if (!is_connect || strcmp(head_str(h, in->protocol.at), "websocket") != 0)
                        return no(status, 501, err,
                                  "the only protocol that CONNECT can lead to is websocket");
                const struct field *v = head_find(h, "sec-websocket-version");
                if (is_end || h->has_length || !v || strcmp(head_str(h, v->value), "13") != 0 ||
                    head_count(h, "sec-websocket-version") != 1)
                        return no(status, 400, err, "this is no well-formed WebSocket request");
                h->is_websocket = true;
                h->method = head_put(h, "GET", 3);
                h->method_len = 3;
                head_drop(h, "sec-websocket-key");
                head_drop(h, "sec-websocket-extensions");
                return 0;
        }
        if (is_connect)
                return no(status, 405, err,
                          "CONNECT is not needed here: connect to the host itself");
        if (strcmp(method, "TRACE") == 0 || strcmp(method, "TRACK") == 0)
                return no(status, 405, err,
                          "TRACE is refused: it shows a server's view of a request");
        if (!head_is_token(method, h->method_len))
                return no(status, 400, err, "the method is not a word");
        for (const char *p = method; *p; p++)
                if (*p >= 'a' && *p <= 'z')
                        return no(status, 400, err, "a method has no small letters");
        for (size_t i = 0; i < h->fields_n; i++)
                if (strncmp(head_str(h, h->fields[i].name), "sec-websocket-", 14) == 0)
                        return no(status, 400, err, "this is no well-formed WebSocket request");
        return 0;
}

static int put_cookies(struct h2_in *in, struct err *err)
{
        if (in->cookies.len == 0)
                return 0;
        return head_add(&in->head, "cookie", 6, (const char *)in->cookies.data, in->cookies.len,
                        err);
}

static void take_body(struct head *h, bool is_end)
{
        h->minor = 1;
        h->is_persistent = true;
        if (is_end || (h->has_length && h->length == 0))
                h->body = HEAD_BODY_NONE;
        else
                h->body = h->has_length ? HEAD_BODY_LENGTH : HEAD_BODY_STREAM;
        if (is_end && !h->is_to_head && h->status != 304)
                h->length = 0;
}

int h2_in_request(struct h2_in *in, bool is_tls, bool is_end, int *status, struct err *err)
{
        struct head *h = &in->head;
        if (in->status)
                return no(status, in->status, err, in->why);
        if (take_method(in, is_end, status, err) < 0 || take_authority(in, status, err) < 0)
                return -1;
        if (strcasecmp(head_str(h, in->scheme.at), is_tls ? "https" : "http") != 0)
                return no(status, 400, err, "the :scheme is not that of this connection");
        *status = 400;
        if (head_target(h, head_str(h, in->path.at), in->path.len, err) < 0)
                return -1;
        *status = 431;
        if (put_cookies(in, err) < 0)
                return -1;
        take_body(h, is_end);
        if (h->is_websocket)
                h->body = HEAD_BODY_NONE; /* frames follow when it is agreed on */
        h->wants_continue = in->has_expect && h->body != HEAD_BODY_NONE;
        const struct field *type = head_find(h, "content-type");
        if (type) {
                if (head_count(h, "content-type") > 1)
                        return no(status, 400, err, "there is more than one Content-Type");
                h->is_grpc = head_is_grpc_type(head_str(h, type->value), type->value_len);
        }
        return h->store.is_broken ? no(status, 431, err, "the head is too large") : 0;
}

int h2_in_answer(struct h2_in *in, bool is_head_request, bool is_end, struct err *err)
{
        struct head *h = &in->head;
        if (in->status)
                return err_set(err, E_PROTO, "%s", in->why);
        if (h->status < 100 || h->status == 101 || h->status > 999)
                return err_set(err, E_PROTO, "the answer has no status that HTTP/2 knows");
        if (h->status < 200 && is_end)
                return err_set(err, E_PROTO, "an interim answer ends the stream");
        if (put_cookies(in, err) < 0)
                return -1;
        h->is_to_head = is_head_request;
        take_body(h, is_end);
        if (h->status < 200) {
                h->body = HEAD_BODY_NONE;
                h->has_length = false;
        }
        const struct field *type = head_find(h, "content-type");
        h->is_grpc = type && head_is_grpc_type(head_str(h, type->value), type->value_len);
        return 0;
}

int h2_in_trailers(struct h2_in *in, struct err *err)
{
        struct head *h = &in->head;
        size_t kept = 0;
        if (in->status)
                return err_set(err, E_PROTO, "%s", in->why);
        for (size_t i = 0; i < h->fields_n; i++)
                if (head_may_trail(head_str(h, h->fields[i].name), h->fields[i].name_len))
                        h->fields[kept++] = h->fields[i];
        h->fields_n = kept;
        return 0;
}
