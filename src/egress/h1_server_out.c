/* h1_server_out.c - HTTP/1 with a program in the box: answers out, as an exchange brings them. See
 * h1_server_int.h. Whatever cannot be written without doubt ends the connection. */
#include "egress/h1_server_int.h"

#include "base/buf.h"

static void out_head(void *side, struct exchange *x, const struct head *h, bool is_end)
{
        struct h1_server *s = side;
        _cleanup_buf_ struct buf b = {0};
        if (h->status < 200 && h->status != 101) {
                if (s->minor >= 1) {
                        h1_put_answer(&b, h, s->minor, true);
                        conn_gather(s->conn, b.data, b.len);
                }
                return;
        }
        bool is_unbounded = h->body == HEAD_BODY_STREAM || h->body == HEAD_BODY_CLOSE;
        s->is_answer_chunked = h1_answer_is_chunked(h, s->minor);
        s->is_answer_to_close = is_unbounded && s->minor == 0 && !is_end;
        /* A request that was not read to its end leaves bytes that nobody must take for the next.
         */
        if (s->is_answer_to_close || (s->state != H1_READ_NOTHING && h->status != 101))
                s->is_persistent = false;
        /* Others wait for a place: this one says that it ends, instead of being ended while its
         * client uses it again. */
        if (s->door->is_full && h->status != 101)
                s->is_persistent = false;
        if (h->status == 101)
                s->is_answer_chunked = s->is_answer_to_close = false;
        h1_put_answer(&b, h, s->minor, s->is_persistent);
        (void)x;
        if (b.is_broken) { /* a field that must not be written: hang up rather than guess */
                h1_server_close_now(s);
                return;
        }
        conn_gather(s->conn, b.data, b.len);
}

static bool out_data(void *side, struct exchange *x, const void *p, size_t n)
{
        struct h1_server *s = side;
        (void)x;
        return h1_send_data(s->conn, s->is_answer_chunked, p, n);
}

/* next_request(s): the exchange is over; the connection goes on or ends. */
static void next_request(struct h1_server *s)
{
        struct exchange *x = s->x;
        s->x = NULL;
        exchange_release(x);
        if (!s->is_persistent || s->state != H1_READ_NOTHING) {
                h1_server_close_soon(s);
                return;
        }
        s->state = H1_READ_HEAD;
        s->is_paused = false; /* what was full was the upstream that is gone */
        s->is_answer_chunked = s->is_answer_to_close = false;
        loop_timer_set(s->door->loop, &s->timer, DOOR_IDLE_MS);
        idle_used(s->door, &s->idle);
        conn_want_read(s->conn, true);
        if (s->in.len > 0 && !s->is_pumping)
                h1_server_pump(s);
}

static void out_end(void *side, struct exchange *x, const struct head *trailers)
{
        struct h1_server *s = side;
        (void)x;
        if (s->state == H1_READ_FRAMES) {
                h1_server_close_soon(s);
                return;
        }
        if (s->is_answer_chunked)
                h1_send_last(s->conn, trailers);
        next_request(s);
}

static void out_reset(void *side, struct exchange *x)
{
        (void)x;
        h1_server_close_now(side);
}

static void out_resume(void *side, struct exchange *x)
{
        struct h1_server *s = side;
        (void)x;
        s->is_paused = false;
        conn_want_read(s->conn, true);
        if (!s->is_pumping)
                h1_server_pump(s);
}

static void out_upgraded(void *side, struct exchange *x)
{
        struct h1_server *s = side;
        (void)x;
        s->state = H1_READ_FRAMES;
        conn_want_read(s->conn, true);
        if (!s->is_pumping)
                h1_server_pump(s);
}

const struct side_ops h1_server_side = {
        .head = out_head,
        .data = out_data,
        .end = out_end,
        .reset = out_reset,
        .resume = out_resume,
        .upgraded = out_upgraded,
};
