/* exchange_scrub.c - see exchange.h: between an exchange and the scrubber of its answer. What the
 * origin sends goes in at exchange_answer.c and comes out here, for the client. */
#include "egress/exchange_int.h"

#include "base/str.h"
#include "policy/override.h"

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

static void on_fail(void *ctx, int status, const char *sentence)
{
        struct exchange *x = ctx;
        if (is_gone(x))
                return;
        x->verdict = "error";
        exchange_answer_self(x, status, NULL, sentence, NULL);
}

static void on_resume(void *ctx)
{
        struct exchange *x = ctx;
        if (!is_gone(x) && x->up)
                x->up->resume(x->up_side, x);
}

const struct scan_set *exchange_values(struct exchange *x)
{
        if (x->origin.is_keeper || !scrub_is_needed(x->door, &x->host, x->origin.port))
                return NULL;
        if (!x->values)
                x->values = custody_values_at(custody_of(x->door), &x->at, &x->host);
        return x->values;
}

/* is_moved(h): does a header of the request replace its path at some servers, or make a lender of
 * any? Vault wraps what it is asked for in a token. */
static bool is_moved(const struct head *h)
{
        for (size_t i = 0; i < h->fields_n; i++)
                if (override_moves(head_str(h, h->fields[i].name)) ||
                    strcmp(head_str(h, h->fields[i].name), "x-vault-wrap-ttl") == 0)
                        return true;
        return false;
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
                                 .query = x->req.query ? head_str(&x->req, x->req.query) : NULL,
                                 .query_len = x->req.query_len,
                                 .number = x->keys ? custody_request_first(x->keys) : 0,
                                 .is_to_head = exchange_is_head_request(x)};
        if (!x->scrub) {
                what.is_moved = is_moved(&x->req);
                x->scrub = scrub_new(x->door, &what, &ops, x);
        }
        return x->scrub;
}
