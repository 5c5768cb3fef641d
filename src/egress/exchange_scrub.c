/* exchange_scrub.c - see exchange.h: between an exchange and the scrubber of its answer. What the
 * origin sends goes in at exchange_answer.c and comes out here, for the client. */
#include "egress/exchange_int.h"

#include "base/str.h"

#include <string.h>

static bool is_gone(const struct exchange *x)
{
        return x->is_dead || x->state != X_OPEN;
}

static void on_head(void *ctx, struct head *h, bool is_end)
{
        struct exchange *x = ctx;
        if (is_gone(x))
                return;
        x->has_answer = true;
        x->client->head(x->client_side, x, h, is_end);
}

static bool on_data(void *ctx, const void *p, size_t n)
{
        struct exchange *x = ctx;
        return is_gone(x) || x->client->data(x->client_side, x, p, n);
}

static void on_end(void *ctx, struct head *trailers)
{
        struct exchange *x = ctx;
        if (!is_gone(x))
                exchange_answer_done(x, trailers);
}

static void on_fail(void *ctx, const char *sentence)
{
        struct exchange *x = ctx;
        if (is_gone(x))
                return;
        x->verdict = "error";
        exchange_answer_self(x, 502, NULL, sentence, NULL);
}

static void on_resume(void *ctx)
{
        struct exchange *x = ctx;
        if (!is_gone(x) && x->up)
                x->up->resume(x->up_side, x);
}

const struct scan_set *exchange_values(struct exchange *x)
{
        return x->origin.is_keeper ? NULL : scrub_values_at(x->door, &x->host, x->origin.port);
}

struct scrub *exchange_scrub(struct exchange *x)
{
        static const struct scrub_ops ops = {.head = on_head,
                                             .data = on_data,
                                             .end = on_end,
                                             .fail = on_fail,
                                             .resume = on_resume};
        struct scrub_for what = {.host = &x->host,
                                 .port = x->origin.port,
                                 .path = x->req.path.text ? x->req.path.text : "",
                                 .number = x->keys ? custody_request_first(x->keys) : 0,
                                 .is_to_head = exchange_is_head_request(x)};
        if (!x->scrub)
                x->scrub = scrub_new(x->door, &what, &ops, x);
        return x->scrub;
}
