/* exchange_answer.c - see exchange.h: an answer on its way to the box, or why there is none. */
#include "egress/exchange_int.h"

#include "base/str.h"

#include <string.h>

/* An origin that says goodbye after 1000 requests sends up to 128 back each time: with four tries
 * one in 30,000 requests was unlucky every time. */
enum { RETRIES_MAX = 16, INTERIMS_MAX = 1000, HINTS_MAX = 8 };

static void upstream_trouble(struct exchange *x, const char *sentence)
{
        x->verdict = "error";
        exchange_answer_self(x, 502, NULL, sentence, NULL);
}

void exchange_address(struct exchange *x, const char *address)
{
        strncpy(x->address, address, sizeof x->address - 1);
}

/* pass_interim(x, h): of the 1xx answers only early hints are worth passing on, and not many: they
 * are queued whether the client reads or not. */
static void pass_interim(struct exchange *x, struct head *h)
{
        const char *why;
        const struct scan_set *values = exchange_values(x);
        if (h->status == 103 && x->interims_n <= HINTS_MAX &&
            (!values || scrub_head(values, h, &why) == 0))
                x->client->head(x->client_side, x, h, false);
        head_free(h);
        head_init(h);
}

/* upgrade(x): from now on both ends send frames; what the client sent before goes first. */
static void upgrade(struct exchange *x)
{
        x->is_upgraded = true;
        x->up->upgraded(x->up_side, x);
        bool is_room = exchange_send_early(x);
        if (!x->is_dead && x->state == X_OPEN)
                x->client->upgraded(x->client_side, x);
        if (is_room && x->is_client_paused && !x->is_dead) {
                x->is_client_paused = false;
                x->client->resume(x->client_side, x);
        }
}

void exchange_answer(struct exchange *x, struct head *h, bool is_end)
{
        if (x->is_dead || x->state != X_OPEN)
                return;
        exchange_touch(x);
        if (h->status < 200 && h->status != 101) {
                if (++x->interims_n > INTERIMS_MAX)
                        upstream_trouble(x, "the origin sends interim answers without end");
                else
                        pass_interim(x, h);
                return;
        }
        const char *why = NULL;
        if ((h->status == 101 || (x->ws && h->status == 200)) &&
            (!x->ws || !websocket_agreed(x->ws, h, &why))) {
                upstream_trouble(x, why ? why : "the origin switched protocols unasked");
                return;
        }
        bool is_upgrade = h->status == 101;
        const struct scan_set *values = exchange_values(x);
        if (is_upgrade && values && scrub_head(values, h, &why) < 0) {
                upstream_trouble(x, why);
                return;
        }
        x->status = h->status;
        x->wait_us = record_now_us() - x->began_us;
        if (is_upgrade)
                websocket_answer(x->ws, h);
        head_drop(h, "alt-svc");        /* there is no other service that it could use */
        if (h->body == HEAD_BODY_CLOSE) /* how it ends is the other engine's own business */
                h->body = HEAD_BODY_STREAM;
        if (!is_upgrade && x->ws) {
                websocket_free(x->ws); /* the origin said no; what follows is an ordinary answer */
                x->ws = NULL;
        }
        if (values && !is_upgrade) {
                scrub_answer(exchange_scrub(x), h, is_end);
        } else {
                x->has_answer = true;
                x->client->head(x->client_side, x, h, is_end && !is_upgrade);
        }
        head_free(h);
        head_init(h);
        if (is_upgrade && !x->is_dead && x->up) {
                upgrade(x);
        }
}

bool exchange_answer_data(struct exchange *x, const void *p, size_t n)
{
        if (x->is_dead || x->state != X_OPEN)
                return true;
        x->bytes_down += n;
        exchange_touch(x);
        work_step(&x->door->work, 0);
        if (!allowance_bytes(x->door, x->gate.rule, n)) {
                exchange_cut(x, "the rule's bytes= are used up");
                return true;
        }
        if (x->ws) {
                if (!account_grow(&x->door->account, &x->charged, websocket_more(x->ws, n))) {
                        x->verdict = "error";
                        exchange_cut(x, ACCOUNT_FULL);
                        return true;
                }
                bool is_room = websocket_down(x->ws, x, x->client, x->client_side, p, n,
                                              exchange_values(x));
                exchange_frames(x);
                return is_room;
        }
        if (x->scrub)
                return scrub_data(x->scrub, p, n);
        return x->client->data(x->client_side, x, p, n);
}

void exchange_answer_done(struct exchange *x, struct head *trailers)
{
        x->state = X_DONE;
        exchange_record(x);
        x->client->end(x->client_side, x, trailers);
}

void exchange_answer_end(struct exchange *x, struct head *trailers)
{
        x->up = NULL;
        if (x->is_dead || x->state != X_OPEN)
                return;
        if (x->scrub)
                scrub_end(x->scrub, trailers);
        else
                exchange_answer_done(x, trailers && trailers->fields_n > 0 ? trailers : NULL);
        if (trailers) {
                head_free(trailers);
                head_init(trailers);
        }
}

/* is_repeatable(x): nothing is lost or done twice if the request is sent again. */
static bool is_repeatable(const struct exchange *x)
{
        static const char *const safe[] = {"GET", "HEAD", "OPTIONS"};
        const char *m = head_str(&x->req, x->req.method);
        if (x->req.body != HEAD_BODY_NONE || !x->is_end_here || x->has_answer)
                return false;
        for (size_t i = 0; i < sizeof safe / sizeof *safe; i++)
                if (strcmp(m, safe[i]) == 0)
                        return true;
        return false;
}

void exchange_fail(struct exchange *x, bool may_retry, const char *sentence)
{
        x->up = NULL;
        if (x->is_dead || (x->state != X_OPEN && x->state != X_WAIT))
                return;
        if (may_retry && x->retries_n < RETRIES_MAX && is_repeatable(x)) {
                x->retries_n++; /* a busy origin may say goodbye on one connection after another */
                exchange_again(x);
                return;
        }
        x->state = X_OPEN; /* so that nothing is forgotten twice */
        x->verdict = "error";
        if (x->has_answer)
                exchange_cut(x, sentence);
        else
                exchange_answer_self(x, 502, NULL, sentence, NULL);
}

void exchange_fail_short(struct exchange *x)
{
        x->up = NULL;
        if (x->is_dead || (x->state != X_OPEN && x->state != X_WAIT))
                return;
        x->state = X_OPEN;
        exchange_no_room(x);
}

void exchange_drained(struct exchange *x, void *side)
{
        if (x->is_dead)
                return;
        if (side == x->client_side && x->scrub && !scrub_drained(x->scrub))
                return;
        if (side != x->client_side)
                x->is_up_full = false;
        if (side != x->client_side && x->filter && !x->is_filtered &&
            !custody_body_drained(x->filter))
                return; /* it tells when it has room */
        if (side == x->client_side && x->up) {
                x->up->resume(x->up_side, x);
        } else if (side != x->client_side && x->client && x->is_client_paused) {
                x->is_client_paused = false;
                x->client->resume(x->client_side, x);
        }
}
