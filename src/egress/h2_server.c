/* h2_server.c - requests of the box over HTTP/2: each stream becomes an exchange. See h2_server.h.
 * Called by guest.c; must never decide anything about a request but whether it can be read. */
#include "egress/h2_server.h"

#include "base/err.h"
#include "base/loop.h"
#include "base/str.h"
#include "egress/door.h"
#include "egress/h2_common.h"
#include "egress/idle.h"

#include <stdlib.h>
#include <string.h>

struct h2_server {
        struct door *door;
        struct h2 *h2;
        struct origin origin;
        struct loop_timer timer, linger;
        struct idle idle; /* while it has no streams */
        bool was_asked;
};

/* --- what an exchange asks --- */

static void side_head(void *side, struct exchange *x, const struct head *h, bool is_end)
{
        struct h2_stream *s = side;
        nghttp2_session *session = s->h2->session;
        struct h2_out o;
        int r;
        (void)x;
        if (s->is_reset)
                return;
        h2_out_answer(&o, h);
        if (h->status < 200 && h->status != 101) {
                r = nghttp2_submit_headers(session, NGHTTP2_FLAG_NONE, s->id, NULL, o.nv, o.n,
                                           NULL);
        } else if (is_end) {
                s->is_out_begun = s->is_out_ended = true;
                r = nghttp2_submit_response(session, s->id, o.nv, o.n, NULL);
        } else {
                nghttp2_data_provider source = h2_stream_source(s);
                r = nghttp2_submit_response(session, s->id, o.nv, o.n, &source);
        }
        h2_out_free(&o);
        if (r != 0)
                h2_stream_reset(s, NGHTTP2_INTERNAL_ERROR);
        h2_later(s->h2);
}

static void side_reset(void *side, struct exchange *x)
{
        (void)x;
        h2_stream_reset(side, NGHTTP2_INTERNAL_ERROR);
}

static void side_upgraded(void *side, struct exchange *x)
{
        (void)side, (void)x; /* the head said so, and DATA are frames from the beginning */
}

static const struct side_ops side_ops = {
        .head = side_head,
        .data = h2_stream_data,
        .end = h2_stream_end,
        .reset = side_reset,
        .resume = h2_stream_resume,
        .upgraded = side_upgraded,
};

/* --- what a stream brings --- */

static void on_head(struct h2_stream *s, bool is_end)
{
        struct h2_server *e = s->h2->owner;
        struct err err = {0};
        int status = 400;
        s->is_head_done = true;
        if (e->door->exchanges_n >= e->door->conns_max) {
                h2_stream_reset(s, NGHTTP2_REFUSED_STREAM);
                return;
        }
        s->x = exchange_new(e->door, &e->origin, &side_ops, s);
        if (h2_in_request(&s->in, e->origin.is_tls, is_end, &status, &err) < 0)
                exchange_refuse_head(s->x, &s->in.head, status, err.text);
        else
                exchange_request(s->x, &s->in.head, is_end);
}

static bool on_data(struct h2_stream *s, const void *p, size_t n)
{
        return exchange_request_data(s->x, p, n);
}

static void on_end(struct h2_stream *s, struct head *trailers)
{
        exchange_request_end(s->x, trailers);
}

static void on_closed(struct h2_stream *s, uint32_t code)
{
        (void)code;
        if (s->x)
                exchange_release(s->x);
        s->x = NULL;
}

/* Time limits: for a head that does not come to its end, and for a connection without streams. What
 * happens on streams is the exchange's to watch. */
static void on_changed(struct h2 *h)
{
        struct h2_server *e = h->owner;
        bool waits_for_head = false, is_lingering = false;
        for (struct h2_stream *s = h->streams; s; s = s->next) {
                waits_for_head |= !s->is_head_done;
                is_lingering |= s->is_lingering;
        }
        e->was_asked |= h->streams != NULL;
        if (h->streams)
                idle_end(e->door, &e->idle);
        else if (e->was_asked)
                idle_used(e->door, &e->idle);
        if (is_lingering && !e->linger.prev)
                loop_timer_set(e->door->loop, &e->linger, H2_LINGER_MS);
        if (waits_for_head)
                loop_timer_set(e->door->loop, &e->timer, DOOR_HEAD_MS);
        else if (!h->streams)
                loop_timer_set(e->door->loop, &e->timer, DOOR_IDLE_MS);
        else
                loop_timer_stop(&e->timer);
}

static void on_gone(struct h2 *h, const char *why)
{
        struct h2_server *e = h->owner;
        (void)why;
        loop_timer_stop(&e->timer);
        loop_timer_stop(&e->linger);
        idle_end(e->door, &e->idle);
        accept_ended(e->door);
        h2_free(h);
        free(e);
}

static const struct h2_ops h2_ops = {
        .head = on_head,
        .data = on_data,
        .end = on_end,
        .closed = on_closed,
        .changed = on_changed,
        .gone = on_gone,
};

static void on_timer(void *ctx)
{
        struct h2_server *e = ctx;
        nghttp2_session_terminate_session(e->h2->session, NGHTTP2_NO_ERROR);
        e->h2->why = "nothing was asked for a long time";
        h2_later(e->h2);
}

/* on_crowded(e): somebody else needs its place. */
static bool on_crowded(void *ctx)
{
        struct h2_server *e = ctx;
        if (conn_queued(e->h2->conn) > 0 || !conn_is_silent(e->h2->conn))
                return false;
        on_timer(e);
        return true;
}

static void on_linger(void *ctx)
{
        struct h2_server *e = ctx;
        for (struct h2_stream *s = e->h2->streams; s; s = s->next)
                if (s->is_lingering)
                        h2_stream_reset(s, NGHTTP2_NO_ERROR);
}

struct h2_server *h2_server_new(struct door *d, struct conn *c, const struct origin *origin,
                                const void *early, size_t early_n)
{
        struct h2_server *e = calloc(1, sizeof *e);
        if (!e)
                str_no_memory();
        e->door = d;
        e->origin = *origin;
        e->timer = (struct loop_timer){.fn = on_timer, .ctx = e};
        e->linger = (struct loop_timer){.fn = on_linger, .ctx = e};
        e->idle = (struct idle){.fn = on_crowded, .ctx = e};
        e->h2 = h2_new(d, c, true, &h2_ops, e);
        loop_timer_set(d->loop, &e->timer, DOOR_IDLE_MS);
        idle_fresh(d, &e->idle);
        if (early_n)
                h2_feed(e->h2, early, early_n);
        return e;
}
