/* h1_client.c - HTTP/1 with an origin: one exchange at a time on a connection, which goes back to
 * the pool only after a request and an answer that were both whole and well framed, and only if the
 * origin has surely read the request to its end: what it left unread it takes for the next request,
 * whose answer would then be another's (case E5). */
#include "egress/upstream.h"

#include "base/err.h"
#include "base/str.h"
#include "egress/conn.h"
#include "egress/door.h"
#include "egress/h1.h"

#include <stdlib.h>
#include <string.h>

enum state {
        IDLE,
        WANT_HEAD,
        READ_LENGTH,
        READ_CHUNKS,
        READ_TO_CLOSE,
        READ_FRAMES, /* WebSocket */
        OVER,
};

struct h1_client {
        struct upstream *up;
        struct door *door;
        struct conn *conn;
        struct exchange *x;
        enum state state;
        struct buf in; /* the beginning of a head */
        size_t charged;
        uint64_t left;
        struct h1_chunks chunks;
        bool is_chunked_up, is_sent, is_persistent, was_used, is_paused, is_pumping;
        bool is_doubtful;       /* its request has a body that the origin may not have read */
        struct h1_suspect seen; /* of that body */
};

static void client_free(void *engine)
{
        struct h1_client *c = engine;
        conn_free(c->conn);
        buf_free(&c->in);
        account_set(&c->door->account, &c->charged, 0);
        h1_chunks_free(&c->chunks);
        free(c);
}

/* over(c): this connection serves nobody any more. */
static void over(struct h1_client *c)
{
        c->state = OVER;
        c->x = NULL;
        conn_want_read(c->conn, false);
        upstream_gone(c->up);
}

static void fail(struct h1_client *c, bool may_retry, const char *why)
{
        struct exchange *x = c->x;
        over(c);
        if (x)
                exchange_fail(x, may_retry, why);
}

/* is_short(c, more): the account has no room for what the origin sends; this one exchange ends. */
static bool is_short(struct h1_client *c, size_t more)
{
        struct exchange *x = c->x;
        if (account_grow(&c->door->account, &c->charged, more))
                return false;
        over(c);
        if (x)
                exchange_fail_short(x);
        return true;
}

/* --- requests ------------------------------------------------------------------------------------
 */

/* has_usual_body(h): a method whose body servers read because they want it. Others are known to
 * leave it where it is. */
static bool has_usual_body(const struct head *h)
{
        static const char *const methods[] = {"POST",     "PUT",       "PATCH",  "QUERY",
                                              "PROPFIND", "PROPPATCH", "REPORT", "SEARCH"};
        for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
                if (strcmp(head_str(h, h->method), methods[i]) == 0)
                        return true;
        return false;
}

static void out_head(void *side, struct exchange *x, const struct head *h, bool is_end)
{
        struct h1_client *c = side;
        _cleanup_buf_ struct buf b = {0};
        (void)x;
        h1_put_request(&b, h, upstream_is_tls(c->up));
        if (b.is_broken) {
                fail(c, false, "the request cannot be written as HTTP/1");
                return;
        }
        c->is_chunked_up = h->body == HEAD_BODY_STREAM && !h->is_websocket;
        c->is_sent = is_end;
        bool has_body = c->is_chunked_up || (h->body == HEAD_BODY_LENGTH && h->length > 0);
        c->is_doubtful = has_body && !has_usual_body(h);
        c->seen = (struct h1_suspect){0};
        conn_gather(c->conn, b.data, b.len);
        if (h->has_secrets) {
                conn_wipe(c->conn);
                explicit_bzero(b.data, b.len);
        }
        /* A request whose end is known only now, and which has none, still has its framing. */
        if (is_end && c->is_chunked_up)
                conn_gather(c->conn, "0\r\n\r\n", 5);
}

static bool out_data(void *side, struct exchange *x, const void *p, size_t n)
{
        struct h1_client *c = side;
        (void)x;
        if (!c->is_doubtful && c->state != READ_FRAMES)
                c->is_doubtful = h1_suspect(&c->seen, p, n);
        return h1_send_data(c->conn, c->is_chunked_up && c->state != READ_FRAMES, p, n);
}

static void out_end(void *side, struct exchange *x, const struct head *trailers)
{
        struct h1_client *c = side;
        (void)x;
        c->is_sent = true;
        if (c->state == READ_FRAMES)
                conn_finish(c->conn);
        else if (c->is_chunked_up)
                h1_send_last(c->conn, trailers);
}

static void out_reset(void *side, struct exchange *x)
{
        (void)x;
        over(side);
}

static void use(struct h1_client *, const char *, size_t);

static void out_resume(void *side, struct exchange *x)
{
        struct h1_client *c = side;
        (void)x;
        if (!c->is_paused)
                return;
        c->is_paused = false;
        conn_want_read(c->conn, true);
        if (!c->is_pumping && c->in.len > 0) {
                struct buf b = c->in;
                c->in = (struct buf){0};
                use(c, (const char *)b.data, b.len);
                buf_free(&b);
        }
}

static void out_upgraded(void *side, struct exchange *x)
{
        struct h1_client *c = side;
        (void)x;
        c->state = READ_FRAMES;
}

static const struct side_ops side = {
        .head = out_head,
        .data = out_data,
        .end = out_end,
        .reset = out_reset,
        .resume = out_resume,
        .upgraded = out_upgraded,
};

/* --- answers
 * -------------------------------------------------------------------------------------- */

/* finish(c, trailers, is_all): the answer is whole; ${is_all}: and nothing came after it, which
 * would be taken for the answer to the next request. */
static void finish(struct h1_client *c, struct head *trailers, bool is_all)
{
        struct exchange *x = c->x;
        bool is_reusable = c->is_persistent && c->is_sent && is_all && !c->is_doubtful;
        c->x = NULL;
        c->was_used = true;
        if (is_reusable) {
                c->state = IDLE;
                c->is_paused = false; /* whoever was full has all of it now */
                conn_want_read(c->conn, true);
        } else {
                over(c);
        }
        exchange_answer_end(x, trailers);
        if (is_reusable && c->state == IDLE && !c->x)
                upstream_free_room(c->up);
}

/* use_head(c, p, n): how many bytes were used; 0 when it is not whole, -1 when the engine is done.
 */
static ssize_t use_head(struct h1_client *c, const char *p, size_t n)
{
        struct head h;
        struct err err = {0};
        head_init(&h);
        ssize_t r = h1_answer(p, n, exchange_is_head_request(c->x), &h, &err);
        if (r > 0) {
                bool is_final = h.status >= 200 || h.status == 101;
                enum head_body body = h.body;
                uint64_t length = h.length;
                bool is_end =
                        is_final &&
                        (body == HEAD_BODY_NONE || (body == HEAD_BODY_LENGTH && length == 0)) &&
                        h.status != 101;
                if (is_final) {
                        /* An answer before the request was out: who knows what it is to. */
                        bool is_early = !c->is_sent || conn_queued(c->conn) > 0;
                        c->is_persistent = h.is_persistent && body != HEAD_BODY_CLOSE && !is_early;
                        c->left = length;
                        c->state = body == HEAD_BODY_LENGTH   ? READ_LENGTH
                                   : body == HEAD_BODY_STREAM ? READ_CHUNKS
                                                              : READ_TO_CLOSE;
                }
                exchange_answer(c->x, &h, is_end);
                if (is_end && c->state != OVER && c->x)
                        finish(c, NULL, (size_t)r == n);
        } else if (r < 0) {
                char *words = str_fmt("the origin's answer is no HTTP: %s", err.text);
                fail(c, false, words);
                free(words);
        }
        head_free(&h);
        return r;
}

static ssize_t use_body(struct h1_client *c, const char *p, size_t n)
{
        struct err err = {0};
        const char *data = p;
        size_t data_n = n;
        ssize_t used;
        if (c->state == READ_LENGTH) {
                data_n = c->left < n ? (size_t)c->left : n;
                c->left -= data_n;
                used = (ssize_t)data_n;
        } else if (c->state == READ_CHUNKS) {
                data_n = 0;
                if (is_short(c, h1_chunks_more(&c->chunks, n)))
                        return -1;
                used = h1_chunks_feed(&c->chunks, p, n, &data, &data_n, &err);
                if (used < 0) {
                        fail(c, false, err.text);
                        return -1;
                }
        } else {
                used = (ssize_t)n;
        }
        if (data_n > 0 && !exchange_answer_data(c->x, data, data_n) && c->state != OVER) {
                c->is_paused = true;
                conn_want_read(c->conn, false);
        }
        if (c->state == OVER)
                return -1;
        if (c->state == READ_LENGTH && c->left == 0) {
                finish(c, NULL, (size_t)used == n);
        } else if (c->state == READ_CHUNKS && c->chunks.is_done) {
                struct head trailers;
                head_init(&trailers);
                int r = h1_chunks_trailers(&c->chunks, &trailers, &err);
                h1_chunks_free(&c->chunks);
                c->chunks = (struct h1_chunks){0};
                if (r < 0)
                        fail(c, false, err.text);
                else
                        finish(c, &trailers, (size_t)used == n);
                head_free(&trailers);
        }
        return used;
}

/* use(c, p, n): bytes of the origin; what cannot be used yet is kept. */
static void use(struct h1_client *c, const char *p, size_t n)
{
        c->is_pumping = true;
        while (n > 0 && !c->is_paused && c->state != OVER) {
                if (c->state == IDLE) { /* it speaks without being asked */
                        over(c);
                        break;
                }
                ssize_t used = c->state == WANT_HEAD ? use_head(c, p, n) : use_body(c, p, n);
                if (used <= 0)
                        break;
                p += used;
                n -= (size_t)used;
        }
        c->is_pumping = false;
        if (n > 0 && c->state != OVER && !is_short(c, buf_more(&c->in, n)))
                buf_put(&c->in, p, n);
        account_set(&c->door->account, &c->charged, sizeof *c + c->in.cap + c->chunks.trailer.cap);
}

static void at_end(struct h1_client *c)
{
        if (c->state == READ_TO_CLOSE || c->state == READ_FRAMES) {
                bool is_cut = conn_was_cut(c->conn);
                if (is_cut && c->state == READ_TO_CLOSE)
                        fail(c, false, "the origin's answer was cut off");
                else
                        finish(c, NULL, false);
        } else if (c->x) {
                fail(c, c->was_used && c->state == WANT_HEAD && c->in.len == 0,
                     c->state == WANT_HEAD ? "the origin hung up without an answer"
                                           : "the origin hung up in the middle of its answer");
        } else {
                over(c);
        }
}

static void on_readable(void *ctx)
{
        struct h1_client *c = ctx;
        while (c->state != OVER && !c->is_paused) {
                char *p = c->door->scratch;
                ssize_t r = conn_read(c->conn, p, CONN_READ);
                if (r < 0)
                        return;
                if (r == 0) {
                        at_end(c);
                        return;
                }
                if (c->in.len == 0) {
                        use(c, p, (size_t)r);
                } else if (!is_short(c, buf_more(&c->in, (size_t)r))) {
                        struct buf b = c->in;
                        c->in = (struct buf){0};
                        buf_put(&b, p, (size_t)r);
                        use(c, (const char *)b.data, b.len);
                        buf_free(&b);
                }
        }
}

static void on_drained(void *ctx)
{
        struct h1_client *c = ctx;
        if (c->x)
                exchange_drained(c->x, c);
}

static void on_closed(void *ctx, const char *why)
{
        struct h1_client *c = ctx;
        char *words = str_fmt("the connection to the origin failed: %s", why);
        fail(c, c->was_used && c->state == WANT_HEAD && c->in.len == 0, words);
        free(words);
}

static void *begin(struct upstream *up, struct conn *conn)
{
        static const struct conn_ops ops = {
                .readable = on_readable, .drained = on_drained, .closed = on_closed};
        struct h1_client *c = calloc(1, sizeof *c);
        if (!c)
                str_no_memory();
        *c = (struct h1_client){.up = up, .door = upstream_door(up), .conn = conn};
        conn_take_over(conn, &ops, c);
        return c;
}

static bool has_room(void *engine)
{
        const struct h1_client *c = engine;
        return c->state == IDLE;
}

/* is_clean(engine): nothing came since the last answer, which would be taken for the next one. */
static bool is_clean(void *engine)
{
        const struct h1_client *c = engine;
        return !c->was_used || conn_is_silent(c->conn);
}

static void take(void *engine, struct exchange *x)
{
        struct h1_client *c = engine;
        c->x = x;
        c->state = WANT_HEAD;
        c->is_paused = false;
        exchange_attach(x, &side, c);
}

const struct upstream_ops h1_upstream = {
        .protocol = "http/1.1",
        .begin = begin,
        .has_room = has_room,
        .is_quiet = has_room,
        .is_clean = is_clean,
        .take = take,
        .free = client_free,
};
