/* fetch.c - see fetch.h. It is the client's side of an exchange, with a buffer where others have a
 * connection. Called by custody_link.c. */
#include "egress/fetch.h"

#include "base/err.h"
#include "base/str.h"
#include "egress/body_int.h"
#include "egress/door.h"
#include "egress/exchange.h"
#include "wire/frame.h"

#include <stdlib.h>
#include <string.h>

enum { FETCH_BODY_MAX = 32 << 10, FETCH_ANSWER_MAX = 64 << 10, FETCH_FIELDS_MAX = 16 };

struct fetch {
        struct door *door;
        struct exchange *x;
        uint32_t id;
        int status;
        struct buf answer;
        char *pointers[FETCH_FIELDS_MAX];
        size_t pointers_n;
        bool is_told;
};

static void free_later(void *p)
{
        struct fetch *f = p;
        for (size_t i = 0; i < f->pointers_n; i++)
                free(f->pointers[i]);
        if (f->answer.data)
                explicit_bzero(f->answer.data, f->answer.len);
        buf_free(&f->answer);
        free(f);
}

static void take_first(void *ctx, const char *value, size_t n)
{
        char **at = ctx;
        if (!*at && !memchr(value, 0, n))
                *at = str_fmt("%.*s", (int)n, value);
}

/* put_fields(f, b): each pointer's value, once the answer could be read. */
static void put_fields(struct fetch *f, struct buf *b)
{
        struct err err = {0};
        struct body_json *j = NULL;
        if (f->answer.len)
                j = body_json_read((const char *)f->answer.data, f->answer.len, &err);
        buf_put_u32(b, (uint32_t)f->pointers_n);
        for (size_t i = 0; i < f->pointers_n; i++) {
                char *value = NULL;
                if (j)
                        body_json_each(j, f->pointers[i], take_first, &value);
                buf_put_u32(b, value != NULL);
                buf_put_lstr(b, value ? value : "");
                if (value)
                        explicit_bzero(value, strlen(value));
                free(value);
        }
        if (j)
                body_json_free(j);
}

/* tell(f, words): the keeper hears of the end, once; ${words} NULL when there is an answer. */
static void tell(struct fetch *f, const char *words)
{
        if (f->is_told)
                return;
        f->is_told = true;
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, f->id);
        buf_put_u32(&b, words ? 0 : (uint32_t)f->status);
        buf_put_lstr(&b, words ? words : "");
        put_fields(f, &b);
        if (frame_send(f->door->keeper_fd, DOOR_FETCHED, &b, NULL, 0) < 0)
                door_fault(f->door, "the process that holds the keys does not listen");
        explicit_bzero(b.data, b.len);
        if (f->x)
                exchange_release(f->x);
        f->x = NULL;
        door_later(f->door, free_later, f);
}

static void on_head(void *side, struct exchange *x, const struct head *h, bool is_end)
{
        struct fetch *f = side;
        (void)x, (void)is_end; /* the end comes as one of its own */
        if (h->status >= 200)
                f->status = h->status;
}

static bool on_data(void *side, struct exchange *x, const void *p, size_t n)
{
        struct fetch *f = side;
        (void)x;
        if (f->answer.len + n <= FETCH_ANSWER_MAX)
                buf_put(&f->answer, p, n);
        else
                f->answer.is_broken = true;
        return true;
}

static void on_end(void *side, struct exchange *x, const struct head *trailers)
{
        struct fetch *f = side;
        (void)x, (void)trailers;
        tell(f, f->answer.is_broken ? "the answer is too long" : NULL);
}

static void on_reset(void *side, struct exchange *x)
{
        (void)x;
        tell(side, "the answer broke off");
}

static void on_nothing(void *side, struct exchange *x)
{
        (void)side, (void)x;
}

static const struct side_ops ops = {.head = on_head,
                                    .data = on_data,
                                    .end = on_end,
                                    .reset = on_reset,
                                    .resume = on_nothing,
                                    .upgraded = on_nothing};

/* get_head(c, o, h, err): method, host, port, target and fields. */
static int get_head(struct cur *c, struct origin *o, struct head *h, struct err *err)
{
        char *text = NULL;
        uint32_t port, n;
        if (cur_lstr(c, 32, &text) < 0)
                return -1;
        h->method_len = (uint32_t)strlen(text);
        h->method = head_put(h, text, h->method_len);
        free(text);
        if (cur_lstr(c, HOST_TEXT_MAX, &text) < 0)
                return -1;
        int r = host_name_parse(text, strlen(text), &o->host, err);
        free(text);
        if (r < 0 || cur_u32(c, &port) < 0 || port == 0 || port > 65535 ||
            cur_lstr(c, HEAD_LINE_MAX, &text) < 0)
                return -1;
        o->port = (uint16_t)port;
        r = head_target(h, text, strlen(text), err);
        free(text);
        h->host = o->host;
        h->port = o->port;
        if (r < 0 || cur_u32(c, &n) < 0 || n > HEAD_FIELDS_MAX)
                return -1;
        while (n-- > 0) {
                char *name = NULL, *value = NULL;
                r = cur_lstr(c, 128, &name) < 0 || cur_lstr(c, HEAD_LINE_MAX, &value) < 0 ||
                                    !head_is_token(name, strlen(name)) ||
                                    !head_is_value(value, strlen(value)) ||
                                    head_add(h, name, strlen(name), value, strlen(value), err) < 0
                            ? -1
                            : 0;
                if (value)
                        explicit_bzero(value, strlen(value));
                free(name);
                free(value);
                if (r < 0)
                        return -1;
        }
        return 0;
}

int fetch_begin(struct door *d, struct cur *c)
{
        struct err err = {0};
        struct origin o = {.is_tls = true, .protocol = "keeper", .is_keeper = true};
        struct head h;
        const uint8_t *body = NULL;
        uint32_t body_n = 0, n = 0;
        struct fetch *f = calloc(1, sizeof *f);
        if (!f)
                str_no_memory();
        f->door = d;
        head_init(&h);
        h.minor = 1;
        h.is_persistent = true;
        int r = cur_u32(c, &f->id) < 0 || get_head(c, &o, &h, &err) < 0 ||
                                cur_u32(c, &body_n) < 0 || body_n > FETCH_BODY_MAX ||
                                cur_bytes(c, body_n, &body) < 0 || cur_u32(c, &n) < 0 ||
                                n > FETCH_FIELDS_MAX
                        ? -1
                        : 0;
        for (; r == 0 && f->pointers_n < n; f->pointers_n++)
                if (cur_lstr(c, 200, &f->pointers[f->pointers_n]) < 0)
                        r = -1;
        if (r < 0) {
                head_free(&h);
                free_later(f);
                return -1;
        }
        h.body = body_n ? HEAD_BODY_LENGTH : HEAD_BODY_NONE;
        h.length = body_n;
        f->x = exchange_new(d, &o, &ops, f);
        exchange_request(f->x, &h, body_n == 0);
        if (body_n && !f->is_told)
                exchange_request_data(f->x, body, body_n);
        if (body_n && !f->is_told)
                exchange_request_end(f->x, NULL);
        return 0;
}
