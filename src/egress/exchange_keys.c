/* exchange_keys.c - see exchange.h: a request that may pass, in a box that has secrets: between the
 * gate and an upstream, and on the way of its body. Called by exchange_request.c. A box without
 * secrets goes straight through. */
#include "egress/exchange_int.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "egress/custody_slots.h"
#include "egress/sign.h"

#include <stdlib.h>
#include <string.h>

enum { EARLY_MAX = 64 << 10, MADE_MAX = 8 << 20 };

/* refuse(x, status, why): no rule would change that, so none is offered. */
static void refuse(struct exchange *x, int status, const char *why)
{
        free(x->gate.cure);
        x->gate.cure = NULL;
        x->verdict = "deny";
        exchange_answer_self(x, status, NULL, why, NULL);
}

/* --- the body, as custody lets it through ---------------------------------------------------- */

static bool body_out(void *ctx, const void *p, size_t n)
{
        struct exchange *x = ctx;
        if (x->is_collecting) {
                if (x->state != X_KEYS || x->is_dead ||
                    account_put(&x->door->account, &x->charged, &x->made, p, n))
                        return true;
                if (x->made.is_broken)
                        refuse(x, 413, "its body is too large to be changed");
                else
                        exchange_no_room(x);
                return true;
        }
        return x->is_dead || x->state != X_OPEN || exchange_send_up(x, p, n);
}

static void body_end(void *ctx)
{
        struct exchange *x = ctx;
        if (x->is_dead)
                return;
        if (!x->is_collecting) {
                if (x->state == X_OPEN)
                        exchange_end_up(x);
                return;
        }
        /* All of it is there: it has a length again. */
        x->is_collecting = false;
        x->is_filtered = true;
        if (x->state != X_KEYS) /* it became too large */
                return;
        struct head *h = custody_request_head(x->keys);
        h->body = x->made.len ? HEAD_BODY_LENGTH : HEAD_BODY_NONE;
        h->length = x->made.len;
        h->has_length = true;
        buf_free(&x->early);
        x->early = x->made;
        x->made = (struct buf){0};
        exchange_go_up(x);
}

static void body_bad(void *ctx, int status, const char *why)
{
        struct exchange *x = ctx;
        if (x->is_dead || x->state == X_DONE || x->state == X_LOCAL)
                return;
        if (status == 503)
                exchange_no_room(x);
        else
                refuse(x, status, why);
}

void exchange_wake_client(struct exchange *x)
{
        if (!x->is_dead && x->is_client_paused && !x->is_up_full && x->client) {
                x->is_client_paused = false;
                x->client->resume(x->client_side, x);
        }
}

static void body_idle(void *ctx)
{
        exchange_wake_client(ctx);
}

static const struct custody_body_ops body_ops = {
        .out = body_out, .end = body_end, .bad = body_bad, .idle = body_idle};

/* --- chunks that are signed anew -------------------------------------------------------------- */

static void chunks_out(void *ctx, const void *p, size_t n, const char *why)
{
        struct exchange *x = ctx;
        if (x->is_dead || x->state != X_OPEN)
                return;
        if (!p)
                refuse(x, 403, why);
        else if (!x->up->data(x->up_side, x, p, n))
                x->is_up_full = true;
}

static void chunks_end(void *ctx)
{
        struct exchange *x = ctx;
        if (!x->is_dead && x->state == X_OPEN)
                x->up->end(x->up_side, x, x->trailers);
}

static const struct sign_body_ops chunks_ops = {
        .out = chunks_out, .end = chunks_end, .idle = body_idle};

bool exchange_keys_sign(struct exchange *x, const void *p, size_t n, bool is_end)
{
        if (!account_grow(&x->door->account, &x->charged,
                          sign_more(custody_request_sign(x->keys), n))) {
                exchange_no_room(x);
                return true;
        }
        bool is_room = sign_body(custody_request_sign(x->keys), p, n, is_end, &chunks_ops, x);
        if (!x->is_dead)
                exchange_charge(x);
        return is_room && !x->is_up_full;
}

/* --- frames of a WebSocket -------------------------------------------------------------------- */

static bool frames_out(void *ctx, const void *p, size_t n)
{
        struct exchange *x = ctx;
        return x->is_dead || x->state != X_OPEN || x->up->data(x->up_side, x, p, n);
}

static void frames_bad(void *ctx, int status, const char *why)
{
        struct exchange *x = ctx;
        (void)status;
        if (x->is_dead || x->state != X_OPEN)
                return;
        x->verdict = "deny";
        exchange_close_ws(x, why);
}

static void frames_end(void *ctx)
{
        (void)ctx;
}

static const struct custody_body_ops frames_ops = {
        .out = frames_out, .end = frames_end, .bad = frames_bad, .idle = body_idle};

/* --- before policy is asked -------------------------------------------------------------------- */

static void on_keys(void *, const struct custody_verdict *);

bool exchange_trip(struct exchange *x)
{
        if (x->origin.is_keeper)
                return false;
        x->keys = custody_request_new(x->door, &x->host, &x->origin, &x->req, on_keys, x);
        _cleanup_free_ char *why = x->keys ? custody_request_trip(x->keys) : NULL;
        if (!why)
                return false;
        if (!x->host.len)
                x->host = x->origin.host;
        /* Its body may hold the placeholders of others, whose lines may want more done. */
        x->leak = why;
        why = NULL;
        if (!exchange_watch(x))
                exchange_refuse_leak(x, x->leak);
        return true;
}

/* --- the head -------------------------------------------------------------------------------- */

/* is_short(x): a body that is better changed before it is sent: many servers want its length. */
static bool is_short(const struct exchange *x)
{
        return x->is_end_here ||
               (x->req.body == HEAD_BODY_LENGTH && x->req.length <= BODY_CHANGED_MAX);
}

/* want_body(x): all of it is needed before anything is sent. */
static void want_body(struct exchange *x)
{
        exchange_say_continue(x);
        body_idle(x); /* it may have been told to stop */
}

static void change_body(struct exchange *x)
{
        struct buf early = x->early;
        x->early = (struct buf){0};
        custody_body_feed(x->filter, early.data, early.len);
        if (!x->is_dead && x->state == X_KEYS)
                custody_body_end(x->filter);
        buf_free(&early);
}

static void on_keys(void *ctx, const struct custody_verdict *v)
{
        struct exchange *x = ctx;
        char *why = NULL;
        if (x->is_dead || x->state != X_KEYS)
                return;
        if (v->status) {
                refuse(x, v->status, v->why);
                return;
        }
        x->filter = custody_body_new(x->door, x->keys, &x->host, &x->origin, &x->req, &body_ops, x,
                                     &why);
        if (why) {
                refuse(x, 415, why);
                free(why);
                return;
        }
        if (x->req.is_websocket)
                x->tap = custody_ws_new(x->door, x->keys, &x->host, &x->origin, &x->req,
                                        &frames_ops, x);
        if (!x->filter || !custody_body_has_slots(x->filter) || !is_short(x)) {
                exchange_go_up(x);
                return;
        }
        x->is_collecting = true;
        x->made.max = MADE_MAX;
        if (x->is_end_here)
                change_body(x);
        else
                want_body(x);
}

void exchange_keys(struct exchange *x)
{
        x->is_watch_over = true; /* it is looked through on its way from here on */
        if (x->origin.is_keeper)
                exchange_go_up(x);
        else if (!exchange_token(x))
                exchange_keys_begin(x);
}

void exchange_keys_begin(struct exchange *x)
{
        if (!x->origin.is_keeper)
                scrub_request(x->door, &x->host, x->origin.port,
                              &x->req); /* before anything of it is signed */
        if (!x->keys)
                x->keys = custody_request_new(x->door, &x->host, &x->origin, &x->req, on_keys, x);
        if (!x->keys) {
                exchange_go_up(x);
                return;
        }
        x->state = X_KEYS;
        custody_request_begin(x->keys);
        if (x->is_dead || x->state != X_KEYS || !custody_request_needs_body(x->keys))
                return;
        if (x->is_end_here)
                custody_request_body(x->keys, x->early.data, x->early.len);
        else
                want_body(x);
}

void exchange_again(struct exchange *x)
{
        if (!x->keys) {
                exchange_go_up(x);
                return;
        }
        custody_body_free(x->filter);
        x->filter = NULL;
        custody_request_free(x->keys);
        x->keys = NULL;
        exchange_keys_begin(x);
}

size_t exchange_keys_takes(const struct exchange *x)
{
        return x->is_token || x->token || x->is_collecting ||
                               (x->keys && custody_request_needs_body(x->keys))
                       ? BODY_CHANGED_MAX + EARLY_MAX
                       : EARLY_MAX;
}

void exchange_keys_body(struct exchange *x)
{
        if (x->is_token)
                exchange_token_ask(x);
        else if (x->is_collecting)
                change_body(x);
        else if (x->keys && custody_request_needs_body(x->keys))
                custody_request_body(x->keys, x->early.data, x->early.len);
}

/* trailers_refusal(x): NULL, or why its trailers may not pass; the caller frees. Some servers put
 * trailers among the fields, so a credential of somebody else's is one there too (S2), and none of
 * ours is ever put there. */
static char *trailers_refusal(struct exchange *x)
{
        struct custody_uses none = {0};
        const struct custody *c = custody_of(x->door);
        struct custody_leaks leaks = {0};
        _cleanup_free_ char *where = NULL;
        if (c->placeholders)
                custody_slots_leak(x->door, x->trailers, &none, &leaks);
        for (size_t i = 0; i < leaks.n; i++) {
                char *place = str_fmt("trailer %s", leaks.list[i].where);
                free(leaks.list[i].where);
                leaks.list[i].where = place;
        }
        char *leak = custody_request_rings(x->keys, &leaks);
        if (leak)
                return leak;
        if (!custody_slots_foreign(c, &x->host, x->origin.port, x->trailers, &none, false, &where))
                return NULL;
        return str_fmt("trailer %s is where a credential stands, and none is taken from a trailer; "
                       "send it before the body",
                       where);
}

bool exchange_keys_trailers(struct exchange *x)
{
        _cleanup_free_ char *why = trailers_refusal(x);
        if (why)
                refuse(x, 403, why);
        return why != NULL;
}
