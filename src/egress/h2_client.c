/* h2_client.c - an HTTP/2 connection to an origin, shared by many exchanges (upstream.h). Called by
 * upstream.c; must never tell an exchange that it may try again when the origin may have begun to
 * act on it. */
#include "base/err.h"
#include "base/str.h"
#include "egress/h2_common.h"
#include "egress/upstream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct client {
        struct upstream *upstream;
        struct h2 *h2;
        bool is_leaving; /* GOAWAY came, or it is over: nothing new */
        bool is_gone;    /* upstream_gone was called */
        bool has_answered;
};

/* is_sure(c): does the origin speak HTTP/2? ALPN says so; without TLS only its first frame does, and
 * nothing is sent before: another server would take it for a request of HTTP/1. */
static bool is_sure(const struct client *c)
{
        return c->h2->is_greeted || upstream_is_tls(c->upstream);
}

static void let_go(struct h2_stream *s, bool may_retry, const char *why)
{
        struct exchange *x = s->x;
        s->x = NULL;
        if (x)
                exchange_fail(x, may_retry, why);
}

/* --- what an exchange asks --- */

/* nghttp2 never hears of this stream: it is closed in the next round. */
static void unborn(struct h2_stream *s)
{
        s->is_unborn = s->h2->has_work = true;
        h2_later(s->h2);
}

static void side_head(void *side, struct exchange *x, const struct head *h, bool is_end)
{
        struct h2_stream *s = side;
        struct client *c = s->h2->owner;
        nghttp2_data_provider source;
        struct h2_out o;
        (void)x;
        h2_out_request(&o, h, upstream_is_tls(c->upstream));
        if (!is_end)
                source = h2_stream_source(s);
        s->is_out_ended = is_end;
        int32_t id =
                nghttp2_submit_request(s->h2->session, NULL, o.nv, o.n, is_end ? NULL : &source, s);
        h2_out_free(&o);
        if (id < 0)
                unborn(s);
        else
                s->id = id;
        h2_later(s->h2);
}

static void side_reset(void *side, struct exchange *x)
{
        struct h2_stream *s = side;
        (void)x;
        s->x = NULL;
        if (s->id)
                h2_stream_reset(s, NGHTTP2_CANCEL);
        else
                unborn(s);
}

static void side_upgraded(void *side, struct exchange *x)
{
        (void)side, (void)x; /* WebSockets go to origins by HTTP/1 only */
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

/* The answer is whole: whatever is left of the request has lost its meaning. */
static void finish(struct h2_stream *s)
{
        s->x = NULL;
        if (!s->is_out_ended)
                h2_stream_reset(s, NGHTTP2_CANCEL);
}

static void on_end(struct h2_stream *s, struct head *trailers)
{
        struct exchange *x = s->x;
        finish(s);
        exchange_answer_end(x, trailers);
}

static void on_head(struct h2_stream *s, bool is_end)
{
        struct err err = {0};
        struct client *c = s->h2->owner;
        struct exchange *x = s->x;
        if (!x)
                return;
        if (h2_in_answer(&s->in, exchange_is_head_request(x), is_end, &err) < 0) {
                let_go(s, false, err.text);
                h2_stream_reset(s, NGHTTP2_PROTOCOL_ERROR);
                return;
        }
        s->is_head_done = s->in.head.status >= 200;
        c->has_answered = true;
        exchange_answer(x, &s->in.head, is_end);
        if (is_end && s->x) /* unless the exchange gave us up from inside */
                on_end(s, NULL);
}

static bool on_data(struct h2_stream *s, const void *p, size_t n)
{
        return exchange_answer_data(s->x, p, n);
}

static void on_closed(struct h2_stream *s, uint32_t code)
{
        const struct client *c = s->h2->owner;
        char why[160];
        if (!s->x)
                return;
        /* What was never sent or was refused was not looked at; that goes for streams after a
         * GOAWAY too. A connection that had answered before and dies may have been closed before
         * our request reached the other end. */
        bool may_retry = s->is_unsent || code == NGHTTP2_REFUSED_STREAM ||
                         (s->h2->is_over && c->has_answered);
        if (s->h2->is_over)
                snprintf(why, sizeof why, "the connection to the server ended: %s", s->h2->why);
        else if (code == NGHTTP2_NO_ERROR)
                snprintf(why, sizeof why, "the server closed the stream before its answer ended");
        else
                snprintf(why, sizeof why, "the server reset the stream (%s)",
                         nghttp2_http2_strerror(code));
        let_go(s, may_retry && !s->is_head_done, why);
}

static void on_gone(struct h2 *h, const char *why)
{
        struct client *c = h->owner;
        (void)why;
        c->is_leaving = true;
        if (!c->is_gone) {
                c->is_gone = true;
                if (!is_sure(c))
                        upstream_is_h1(c->upstream);
                upstream_gone(c->upstream);
        }
}

static void on_changed(struct h2 *h)
{
        struct client *c = h->owner;
        if (!nghttp2_session_check_request_allowed(h->session))
                c->is_leaving = true;
        if (!c->is_leaving)
                upstream_free_room(c->upstream);
        else if (!h->streams)
                on_gone(h, NULL);
}

static const struct h2_ops h2_ops = {
        .head = on_head,
        .data = on_data,
        .end = on_end,
        .closed = on_closed,
        .changed = on_changed,
        .gone = on_gone,
};

/* --- what upstream.c asks --- */

static void *client_begin(struct upstream *u, struct conn *conn)
{
        struct client *c = calloc(1, sizeof *c);
        if (!c)
                str_no_memory();
        c->upstream = u;
        c->h2 = h2_new(upstream_door(u), conn, false, &h2_ops, c);
        return c;
}

static bool client_has_room(void *engine)
{
        struct client *c = engine;
        uint32_t peer = nghttp2_session_get_remote_settings(
                c->h2->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
        size_t max = peer < H2_STREAMS_MAX ? peer : H2_STREAMS_MAX;
        return !c->is_leaving && !c->h2->is_over && !c->h2->why && is_sure(c) &&
               c->h2->streams_n < max && nghttp2_session_check_request_allowed(c->h2->session);
}

static bool client_is_quiet(void *engine)
{
        const struct client *c = engine;
        return is_sure(c) && !c->h2->streams;
}

static void client_take(void *engine, struct exchange *x)
{
        struct client *c = engine;
        struct h2_stream *s = h2_stream_new(c->h2, 0);
        s->x = x;
        exchange_attach(x, &side_ops, s);
}

static void client_free(void *engine)
{
        struct client *c = engine;
        struct h2 *h = c->h2;
        c->is_leaving = c->is_gone = true;
        if (h->streams)
                h2_close_all(h, NGHTTP2_CANCEL);
        h2_free(h);
        free(c);
}

const struct upstream_ops h2_upstream = {
        .protocol = "h2",
        .begin = client_begin,
        .has_room = client_has_room,
        .is_quiet = client_is_quiet,
        .take = client_take,
        .free = client_free,
};
