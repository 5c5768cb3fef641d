/* h1_server.c - HTTP/1 with a program in the box: requests in, one after the other, answers out.
 *
 * The next request is not even parsed before the answer to the one before has been written, so
 * pipelining needs no queue and nothing of it can be mixed up. */
#include "egress/h1_server_int.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "egress/custody.h"

#include <stdlib.h>
#include <string.h>

/* So many requests in one round: what each leaves behind is freed only between two rounds. */
enum { BURST = 32, AGAIN_MS = 1000 };
#define UNREAD "bytes that are no request"

static void free_later(void *p)
{
        struct h1_server *s = p;
        head_free(&s->head);
        h1_chunks_free(&s->chunks);
        buf_free(&s->in);
        free(s);
}

static void server_end(struct h1_server *s)
{
        if (s->is_over)
                return;
        s->is_over = true;
        loop_timer_stop(&s->timer);
        idle_end(s->door, &s->idle);
        account_set(&s->door->account, &s->charged, 0);
        s->door->conns_held -= sizeof *s;
        struct exchange *x = s->x;
        s->x = NULL;
        if (x)
                exchange_release(x);
        else if (s->in.len > 0) /* it never became a request, and may have been meant to leak */
                free(custody_bytes_leak(s->door, &s->origin, s->in.data, s->in.len, UNREAD));
        accept_ended(s->door);
        door_later(s->door, free_later, s);
}

void h1_server_close_now(struct h1_server *s)
{
        conn_free(s->conn);
        server_end(s);
}

void h1_server_close_soon(struct h1_server *s)
{
        conn_finish_free(s->conn);
        server_end(s);
}

static void refuse(struct h1_server *, int status, const char *sentence);

static void on_timer(void *ctx)
{
        struct h1_server *s = ctx;
        if (!s->is_head_begun)
                h1_server_close_soon(s); /* nothing was asked for minutes */
        else if (!conn_is_silent(s->conn))
                loop_timer_set(s->door->loop, &s->timer, AGAIN_MS); /* we did not come to it yet */
        else
                refuse(s, 408, "the head of the request did not come to its end within 10 s");
}

/* --- requests -----------------------------------------------------------------------------------
 */

/* refuse(s, status, sentence): what came is no request. */
static void refuse(struct h1_server *s, int status, const char *sentence)
{
        s->is_persistent = false;
        s->minor = 1;
        s->is_head_begun = false;
        idle_end(s->door, &s->idle);
        if (!s->x)
                s->x = exchange_new(s->door, &s->origin, &h1_server_side, s);
        _cleanup_free_ char *leak =
                custody_bytes_leak(s->door, &s->origin, s->in.data, s->in.len, UNREAD);
        if (leak)
                exchange_refuse_leak(s->x, leak);
        else
                exchange_refuse(s->x, status, sentence);
}

static void begin_request(struct h1_server *s)
{
        struct head *h = &s->head;
        s->burst++;
        idle_end(s->door, &s->idle);
        s->minor = h->minor;
        s->is_persistent = h->is_persistent;
        s->left = h->length;
        s->state = h->body == HEAD_BODY_LENGTH && h->length > 0 ? H1_READ_LENGTH
                   : h->body == HEAD_BODY_STREAM                ? H1_READ_CHUNKS
                                                                : H1_READ_NOTHING;
        loop_timer_stop(&s->timer);
        s->x = exchange_new(s->door, &s->origin, &h1_server_side, s);
        exchange_request(s->x, h, s->state == H1_READ_NOTHING && !h->is_websocket);
}

/* read_head(s): 1 when a request began, 0 when more is needed, -1 when it was refused. */
static int read_head(struct h1_server *s)
{
        struct err err = {0};
        int status = 400;
        if (s->in.len == 0)
                return 0;
        head_free(&s->head);
        ssize_t r = h1_request((const char *)s->in.data, s->in.len, &s->head, &status, &err);
        if (r <= 0)
                head_free(&s->head); /* a part of a head has a store of its own by then */
        if (r == 0) {
                if (!s->is_head_begun) /* once: a byte now and then does not make it longer */
                        loop_timer_set(s->door->loop, &s->timer, DOOR_HEAD_MS);
                s->is_head_begun = true;
                return 0;
        }
        s->is_head_begun = false;
        if (r < 0) {
                refuse(s, status, err.text);
                return -1;
        }
        buf_drop(&s->in, (size_t)r);
        begin_request(s);
        return 1;
}

/* read_body(s): pass on what is here; false when there is nothing more to do now. */
static bool read_body(struct h1_server *s)
{
        struct err err = {0};
        const char *data = NULL;
        size_t n = 0, used = 0;
        if (s->in.len == 0)
                return false;
        if (s->state == H1_READ_LENGTH) {
                data = (const char *)s->in.data;
                used = n = s->left < s->in.len ? (size_t)s->left : s->in.len;
                s->left -= n;
        } else if (s->state == H1_READ_CHUNKS) {
                if (!account_grow(&s->door->account, &s->charged,
                                  h1_chunks_more(&s->chunks, s->in.len))) {
                        refuse(s, 503, ACCOUNT_FULL);
                        return false;
                }
                ssize_t r = h1_chunks_feed(&s->chunks, (const char *)s->in.data, s->in.len, &data,
                                           &n, &err);
                if (r < 0) {
                        refuse(s, 400, err.text);
                        return false;
                }
                used = (size_t)r;
        } else {
                data = (const char *)s->in.data;
                used = n = s->in.len;
        }
        bool is_end = (s->state == H1_READ_LENGTH && s->left == 0) ||
                      (s->state == H1_READ_CHUNKS && s->chunks.is_done);
        if (n > 0 && !exchange_request_data(s->x, data, n) && !s->is_over) {
                s->is_paused = true;
                conn_want_read(s->conn, false);
        }
        if (s->is_over || !s->x)
                return !s->is_over && s->state == H1_READ_HEAD;
        buf_drop(&s->in, used);
        if (!is_end)
                return used > 0 && !s->is_paused;
        struct head trailers;
        head_init(&trailers);
        bool is_bad =
                s->state == H1_READ_CHUNKS && h1_chunks_trailers(&s->chunks, &trailers, &err) < 0;
        h1_chunks_free(&s->chunks);
        s->chunks = (struct h1_chunks){0};
        if (is_bad) {
                refuse(s, 400, err.text);
        } else {
                s->state = H1_READ_NOTHING;
                exchange_request_end(s->x, &trailers);
        }
        head_free(&trailers);
        return !s->is_over;
}

/* is_enough(s): whoever does not read our answers gets no more of them; others have a turn too. */
static bool is_enough(const struct h1_server *s)
{
        return conn_is_full(s->conn) || s->burst >= BURST;
}

void h1_server_pump(struct h1_server *s)
{
        bool is_more = true;
        s->is_pumping = true;
        while (is_more && !s->is_over && !s->is_paused) {
                switch (s->state) {
                case H1_READ_HEAD:
                        is_more = !is_enough(s) && read_head(s) > 0;
                        break;
                case H1_READ_LENGTH:
                case H1_READ_CHUNKS:
                case H1_READ_FRAMES:
                        is_more = read_body(s);
                        break;
                case H1_READ_NOTHING:
                        is_more = false;
                        break;
                }
        }
        s->is_pumping = false;
        if (!s->is_over && s->state == H1_READ_HEAD && s->burst >= BURST) {
                conn_want_read(s->conn, false);
                conn_later(s->conn);
        }
        if (s->in.len == 0 && s->in.cap > CONN_LOW)
                buf_free(&s->in);
        if (!s->is_over)
                account_set(&s->door->account, &s->charged,
                            sizeof *s + s->in.cap + s->chunks.trailer.cap);
}

/* may_wait(s): a client that has ended its side may still want its answer; most have gone. Nothing
 * large is held for it, and nothing at all where memory is short. */
static bool may_wait(const struct h1_server *s)
{
        enum { LARGE = 64 << 10 };
        return exchange_held(s->x) <= LARGE && !account_is_tight(&s->door->account);
}

static void on_readable(void *ctx)
{
        struct h1_server *s = ctx;
        char *p = s->door->scratch;
        s->burst = 0;
        for (;;) {
                ssize_t r = conn_read(s->conn, p, CONN_READ);
                if (r < 0)
                        return;
                if (r == 0) {
                        if (s->x && s->state == H1_READ_FRAMES)
                                exchange_request_end(s->x, NULL);
                        else if (s->x && s->state == H1_READ_NOTHING && may_wait(s))
                                conn_want_read(s->conn, false); /* it still waits for its answer */
                        else if (s->x)
                                h1_server_close_now(s);
                        else
                                h1_server_close_soon(s);
                        return;
                }
                if (!account_put(&s->door->account, &s->charged, &s->in, p, (size_t)r)) {
                        refuse(s, 503, ACCOUNT_FULL);
                        return;
                }
                /* While an answer is awaited only a little is read ahead. */
                bool is_waiting = s->state == H1_READ_NOTHING;
                if (is_waiting && s->in.len >= CONN_LOW) {
                        conn_want_read(s->conn, false);
                        return;
                }
                if (is_waiting)
                        continue;
                h1_server_pump(s);
                if (!s->is_over && s->state == H1_READ_HEAD && is_enough(s))
                        conn_want_read(s->conn, false);
                else if (!s->is_over && !s->is_paused)
                        continue;
                return;
        }
}

static void go_on(void *ctx)
{
        struct h1_server *s = ctx;
        s->burst = 0;
        if (s->x || s->is_over || conn_is_full(s->conn))
                return;
        conn_want_read(s->conn, true);
        h1_server_pump(s);
}

static void on_drained(void *ctx)
{
        struct h1_server *s = ctx;
        if (s->x)
                exchange_drained(s->x, s);
        else
                go_on(s);
}

static void on_closed(void *ctx, const char *why)
{
        (void)why;
        h1_server_close_now(ctx);
}

/* on_crowded(s): somebody else needs its place. */
static bool on_crowded(void *ctx)
{
        struct h1_server *s = ctx;
        if (s->is_head_begun || conn_queued(s->conn) > 0 || !conn_is_silent(s->conn))
                return false;
        h1_server_close_soon(s);
        return true;
}

void h1_server_begin(struct door *d, struct conn *c, const struct origin *o, const void *early,
                     size_t early_n)
{
        static const struct conn_ops ops = {.readable = on_readable,
                                            .drained = on_drained,
                                            .closed = on_closed,
                                            .later = go_on};
        struct h1_server *s = calloc(1, sizeof *s);
        if (!s)
                str_no_memory();
        *s = (struct h1_server){.door = d,
                                .conn = c,
                                .origin = *o,
                                .minor = 1,
                                .idle = {.fn = on_crowded, .ctx = s},
                                .timer = {.fn = on_timer, .ctx = s}};
        head_init(&s->head);
        buf_put(&s->in, early, early_n);
        loop_timer_set(d->loop, &s->timer, DOOR_IDLE_MS);
        account_set(&d->account, &s->charged, sizeof *s + s->in.cap);
        d->conns_held += sizeof *s;
        idle_fresh(d, &s->idle);
        conn_take_over(c, &ops, s);
}
