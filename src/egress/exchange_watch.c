/* exchange_watch.c - see exchange_int.h: the tripwire for bodies that do not pass. A request that
 * policy refuses or asks about is not answered before its body was looked through: what carries a
 * placeholder is an attempt to get it out, whatever host it names; nobody is asked about it and
 * nobody is advised to open that host. Called by exchange_request.c; a box without secrets never
 * waits here. */
#include "egress/exchange_int.h"

#include "base/cleanup.h"
#include "base/str.h"

#include <stdlib.h>

/* A stream that does not end (gRPC) hears its refusal after so long; the rest is still looked at. */
enum { LOOK_MS = 500 };

static bool on_out(void *ctx, const void *p, size_t n)
{
        (void)ctx;
        (void)p;
        (void)n;
        return true;
}

/* is_settled(x): was it answered meanwhile? */
static bool is_settled(const struct exchange *x)
{
        return x->is_dead || x->state == X_LOCAL || x->state == X_DONE;
}

/* seen(x): its body was looked through to its end, or cannot be. */
static void seen(struct exchange *x)
{
        x->is_watch_over = true;
        if (!x->is_dead && x->state == X_LOOK)
                exchange_judge(x);
}

static void on_end(void *ctx)
{
        seen(ctx);
}

/* on_bad(x, status, why): a body that is broken, which need not be told: it will not pass. One that
 * cannot be told from a leak is refused as one. */
static void on_bad(void *ctx, int status, const char *why)
{
        struct exchange *x = ctx;
        bool is_open = x->state == X_BODY || x->state == X_LOOK || x->state == X_ASKED;
        x->is_watch_over = true;
        if (status == 403 && is_open && !x->is_dead)
                exchange_refuse_leak(x, x->leak ? x->leak : why);
        else
                seen(x);
}

/* on_leak(x, why): the alarm was rung; what follows may hold the placeholders of other secrets. Who
 * was waiting for a person's answer hears now. */
static void on_leak(void *ctx, const char *why)
{
        struct exchange *x = ctx;
        if (!x->leak)
                x->leak = str_dup(why);
        if (!x->is_dead && x->state == X_ASKED)
                exchange_refuse_leak(x, x->leak);
}

static void on_idle(void *ctx)
{
        struct exchange *x = ctx;
        if (!x->is_dead && x->state == X_LOOK && x->is_client_paused && x->client) {
                x->is_client_paused = false;
                x->client->resume(x->client_side, x);
        }
}

static const struct custody_body_ops ops = {
        .out = on_out, .end = on_end, .bad = on_bad, .idle = on_idle, .leak = on_leak};

static void on_timer(void *ctx)
{
        struct exchange *x = ctx;
        if (!x->is_dead && x->state == X_LOOK)
                exchange_judge(x);
}

bool exchange_watch_data(struct exchange *x, const void *p, size_t n)
{
        if (!x->watch || x->is_watch_over || x->is_end_here)
                return true;
        bool is_room = custody_body_feed(x->watch, p, n);
        /* What comes after the answer waits for nobody. */
        x->is_watch_over |= !is_room && is_settled(x);
        return is_room || is_settled(x);
}

void exchange_watch_end(struct exchange *x)
{
        if (!is_settled(x) && x->trailers && exchange_keys_trailers(x))
                return;
        if (!x->is_watch_over)
                custody_body_end(x->watch);
}

void exchange_refuse_head(struct exchange *x, const struct head *h, int status,
                          const char *sentence)
{
        _cleanup_free_ char *leak = custody_bytes_leak(x->door, &x->origin, h->store.data,
                                                       h->store.len, "a head that is refused");
        if (leak)
                exchange_refuse_leak(x, leak);
        else
                exchange_refuse(x, status, sentence);
}

bool exchange_watch(struct exchange *x)
{
        if (x->is_watched || !x->keys || x->req.is_websocket)
                return false;
        x->is_watched = true;
        x->watch = custody_body_watch(x->door, x->keys, &x->host, &x->origin, &x->req, &ops, x);
        if (!x->watch)
                return false;
        if (x->early.len)
                custody_body_feed(x->watch, x->early.data, x->early.len);
        if (x->is_end_here && !is_settled(x))
                exchange_watch_end(x);
        if (is_settled(x))
                return true;
        if (x->is_watch_over)
                return false;
        x->state = X_LOOK;
        x->timer.fn = on_timer;
        x->timer.ctx = x;
        loop_timer_set(x->door->loop, &x->timer, LOOK_MS);
        exchange_say_continue(x);
        return true;
}
