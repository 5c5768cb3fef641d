/* h1_request.c - see h1.h: a request's head from text. Pure; called by the engine that talks to the
 * box. It never guesses: what could be read in two ways is refused (cases E2, E3, E5). */
#include "egress/h1.h"

#include "base/err.h"
#include "egress/h1_fields.h"
#include "egress/head_chars.h"

#include <string.h>

enum { METHOD_MAX = 32 };

/* Where a refusal is told: the sentence, and the status that goes with it. */
struct refusal {
        int status;
        struct err *err;
};

static int refuse(struct refusal *r, int status, const char *why)
{
        r->status = status;
        err_set(r->err, E_PROTO, "%s", why);
        return -1;
}

/* The parts of a request line, in the bytes that came in. */
struct line {
        const char *method, *target;
        size_t method_len, target_len;
        uint8_t minor;
};

static int check_method(const char *p, size_t n, struct refusal *r)
{
        static const struct {
                const char *name, *why;
        } never[] = {
                {"CONNECT", "CONNECT is not needed here: connect to the host itself"},
                {"TRACE", "TRACE is refused: it shows a server's view of a request"},
                {"TRACK", "TRACK is refused: it shows a server's view of a request"},
        };
        for (size_t i = 0; i < sizeof never / sizeof *never; i++)
                if (strlen(never[i].name) == n && memcmp(never[i].name, p, n) == 0)
                        return refuse(r, 405, never[i].why);
        return 0;
}

/* The three bytes after "HTTP/". */
static int read_version(const char *p, struct line *l, struct refusal *r)
{
        bool has_form = p[5] >= '0' && p[5] <= '9' && p[6] == '.' && p[7] >= '0' && p[7] <= '9';
        if (!has_form)
                return refuse(r, 400, "a request line ends with HTTP/1.1 or HTTP/1.0");
        if (p[5] != '1' || p[7] > '1')
                return refuse(r, 505, "this is a version of HTTP that is not spoken here");
        l->minor = (uint8_t)(p[7] - '0');
        return 0;
}

/* "METHOD SP target SP HTTP/1.x CR LF": bytes used, 0 for more, -1. */
static ssize_t read_line(const char *p, const char *end, struct line *l, struct refusal *r)
{
        const char *at = p;
        while (at < end && *at != ' ') {
                if (!head_token_char[(uint8_t)*at] || (*at >= 'a' && *at <= 'z'))
                        return refuse(r, 400, "this does not begin with a method of HTTP");
                if (++at - p > METHOD_MAX)
                        return refuse(r, 501, "this method is too long to be one");
        }
        if (at == end)
                return 0;
        l->method = p;
        l->method_len = (size_t)(at - p);
        if (l->method_len == 0)
                return refuse(r, 400, "this does not begin with a method of HTTP");
        if (check_method(p, l->method_len, r) < 0)
                return -1;

        l->target = ++at;
        while (at < end && (uint8_t)*at > 0x20 && *at != 0x7f)
                at++;
        l->target_len = (size_t)(at - l->target);
        if (at - p > HEAD_LINE_MAX)
                return refuse(r, 414, "the address of this request is too long");
        if (at == end)
                return 0;
        if (*at != ' ' || l->target_len == 0)
                return refuse(r, 400,
                              "a request line is a method, an address and a version with one space "
                              "between them");
        at++;
        size_t have = (size_t)(end - at);
        if (memcmp(at, "HTTP/", have < 5 ? have : 5) != 0)
                return refuse(r, 400, "a request line ends with HTTP/1.1 or HTTP/1.0");
        if (have < 8)
                return 0;
        if (read_version(at, l, r) < 0)
                return -1;
        at += 8;
        int ends = h1_line_end(at, end);
        if (ends < 0)
                return refuse(r, 400, "a request line ends with CR LF after its version");
        return ends ? at + 2 - p : 0;
}

/* "http://authority/path": the authority must be the Host, and then only the rest counts. */
static int take_absolute(struct head *h, struct line *l, struct refusal *r)
{
        const char *p = l->target, *end = p + l->target_len;
        const char *colon = memchr(p, ':', l->target_len);
        size_t scheme_len = colon ? (size_t)(colon - p) : 0;
        bool is_https = head_same(p, scheme_len, "https");
        if (!colon || (!is_https && !head_same(p, scheme_len, "http")) || end - colon < 3 ||
            memcmp(colon, "://", 3) != 0)
                return refuse(r, 400, "the address of a request begins with / or http://");
        const char *host = colon + 3, *rest = host;
        while (rest < end && *rest != '/' && *rest != '?' && *rest != '#')
                rest++;

        struct host_name wanted = h->host;
        uint16_t wanted_port = h->port, usual = is_https ? 443 : 80;
        if (head_authority(h, host, (size_t)(rest - host), r->err) < 0) {
                r->status = 400;
                return -1;
        }
        if (!host_name_equal(&h->host, &wanted) ||
            (h->port ? h->port : usual) != (wanted_port ? wanted_port : usual))
                return refuse(r, 400, "the address of this request names another host than Host");
        h->port = wanted_port;
        l->target = rest;
        l->target_len = (size_t)(end - rest);
        return 0;
}

static int take_target(struct head *h, struct line *l, struct refusal *r)
{
        if (l->target[0] != '/' && !(l->target[0] == '*' && l->target_len == 1)) {
                if (take_absolute(h, l, r) < 0)
                        return -1;
                if (l->target_len == 0 && h->method_len == 7 &&
                    memcmp(head_str(h, h->method), "OPTIONS", 7) == 0) {
                        l->target = "*";
                        l->target_len = 1;
                } else if (l->target_len == 0) {
                        l->target = "/";
                        l->target_len = 1;
                } else if (l->target[0] == '?') {
                        char with_slash[HEAD_LINE_MAX];
                        with_slash[0] = '/';
                        memcpy(with_slash + 1, l->target, l->target_len);
                        r->status = 400;
                        return head_target(h, with_slash, l->target_len + 1, r->err);
                }
        }
        r->status = 400;
        return head_target(h, l->target, l->target_len, r->err);
}

/* 16 bytes in base64: 22 digits, the last of which has four bits to spare, and "==". */
static bool is_websocket_key(const char *p, size_t n)
{
        if (n != 24 || p[22] != '=' || p[23] != '=' || !strchr("AQgw", p[21]))
                return false;
        for (size_t i = 0; i < 22; i++) {
                bool is_digit = (p[i] >= 'a' && p[i] <= 'z') || (p[i] >= 'A' && p[i] <= 'Z') ||
                                (p[i] >= '0' && p[i] <= '9') || p[i] == '+' || p[i] == '/';
                if (!is_digit)
                        return false;
        }
        return true;
}

static bool is_well_formed_websocket(const struct head *h, const struct h1_fields *f)
{
        if (h->minor != 1 || h->method_len != 3 || memcmp(head_str(h, h->method), "GET", 3) != 0 ||
            h->body != HEAD_BODY_NONE || h->is_options_star)
                return false;
        if (!f->says_upgrade || f->says_close || f->upgrades_n != 1 ||
            !head_same(f->upgrade.p, f->upgrade.n, "websocket"))
                return false;
        const struct field *key = head_find(h, "sec-websocket-key");
        const struct field *version = head_find(h, "sec-websocket-version");
        return key && head_count(h, "sec-websocket-key") == 1 &&
               is_websocket_key(head_str(h, key->value), key->value_len) && version &&
               head_count(h, "sec-websocket-version") == 1 &&
               strcmp(head_str(h, version->value), "13") == 0;
}

/* No server may be talked into another protocol than one we read: what is not a well-formed upgrade
 * to websocket goes on as a plain request (h2c smuggling). */
static void take_upgrade(struct head *h, const struct h1_fields *f)
{
        h->is_websocket = is_well_formed_websocket(h, f);
        head_drop(h, "sec-websocket-extensions");
        if (!h->is_websocket) {
                head_drop(h, "sec-websocket-key");
                head_drop(h, "sec-websocket-version");
                head_drop(h, "sec-websocket-protocol");
        }
}

static int finish(struct head *h, struct line *l, struct h1_fields *f, struct refusal *r)
{
        r->status = 400;
        if (h1_fields_settle(h, f, l->minor, r->err) < 0)
                return -1;
        if (f->hosts_n > 1)
                return refuse(r, 400, "there is more than one Host");
        if (f->hosts_n == 0 && l->minor == 1)
                return refuse(r, 400, "a request has a Host");
        if (f->hosts_n && head_authority(h, f->host.p, f->host.n, r->err) < 0) {
                r->status = 400;
                return err_add(r->err, "the Host of this request");
        }

        h->minor = l->minor;
        h->method = head_put(h, l->method, l->method_len);
        h->method_len = (uint32_t)l->method_len;
        if (take_target(h, l, r) < 0)
                return -1;

        if (f->is_chunked) {
                h->body = HEAD_BODY_STREAM;
        } else if (f->length) {
                h->body = HEAD_BODY_LENGTH;
                h->length = f->length;
        }
        h->has_length = f->has_length;
        h->wants_continue = f->wants_continue && l->minor == 1 && h->body != HEAD_BODY_NONE;
        h->takes_trailers = f->takes_trailers;
        h->is_persistent = !f->says_close && (l->minor == 1 || f->says_keep_alive);
        if (f->upgrades_n || head_find(h, "sec-websocket-extensions") ||
            head_find(h, "sec-websocket-key"))
                take_upgrade(h, f);

        const struct field *type = head_find(h, "content-type");
        if (type) {
                /* Policy would read the body by one and the server by the other. */
                if (head_count(h, "content-type") > 1)
                        return refuse(r, 400, "there is more than one Content-Type");
                h->is_grpc = head_is_grpc_type(head_str(h, type->value), type->value_len);
        }
        return 0;
}

static ssize_t read_request(const char *p, size_t n, struct head *h, struct refusal *r)
{
        const char *at = p, *end = p + n;
        struct line line = {0};
        struct h1_fields fields = {0};

        /* Old programs send one empty line too many after a body. */
        if (n && *at == '\r') {
                int ends = h1_line_end(at, end);
                if (ends < 0)
                        return refuse(r, 400, "this does not begin with a method of HTTP");
                if (ends == 0)
                        return 0;
                at += 2;
        }
        ssize_t used = read_line(at, end, &line, r);
        if (used <= 0)
                return used;
        at += used;
        r->status = 400;
        used = h1_fields_read(at, (size_t)(end - at), h, &fields, &r->status, r->err);
        if (used <= 0)
                return used;
        at += used;
        return finish(h, &line, &fields, r) < 0 ? -1 : at - p;
}

ssize_t h1_request(const char *p, size_t n, struct head *h, int *status, struct err *err)
{
        struct refusal r = {.status = 400, .err = err};
        size_t seen = n < HEAD_BYTES_MAX ? n : HEAD_BYTES_MAX;
        ssize_t used = read_request(p, seen, h, &r);
        if (used == 0 && n >= HEAD_BYTES_MAX)
                used = refuse(&r, 431, "the head of this request is too large");
        if (used <= 0)
                head_clear(h);
        *status = used < 0 ? r.status : 0;
        return used;
}
