/* exchange_request.c - see exchange.h: a request on its way to the origin: the gate, perhaps its
 * body, then an upstream. */
#include "egress/exchange_int.h"

#include "base/str.h"
#include "egress/upstream.h"

#include <stdlib.h>
#include <string.h>

enum { EARLY_MAX = 64 << 10 };

/* keep(x, p, n): bytes that cannot be passed on yet. All requests of the box together have a limit,
 * because the memory is the host's. False: the account has no room. */
static bool keep(struct exchange *x, const void *p, size_t n)
{
        if (!account_put(&x->door->account, &x->charged, &x->early, p, n))
                return false;
        x->held_n += n;
        x->door->held_n += n;
        return true;
}

void exchange_let_go(struct exchange *x)
{
        x->door->held_n -= x->held_n;
        x->held_n = 0;
}

void exchange_say_continue(struct exchange *x)
{
        if (!x->req.wants_continue || x->sent_continue || x->is_end_here)
                return;
        x->sent_continue = true;
        struct head h;
        head_init(&h);
        h.status = 100;
        x->client->head(x->client_side, x, &h, false);
        head_free(&h);
}

void exchange_go(struct exchange *x)
{
        char words[256];
        if (!allowance_take(x->door, x->gate.rule, &x->host, words)) {
                x->verdict = "deny";
                exchange_answer_self(x, 429, x->gate.words, words, NULL);
                return;
        }
        x->verdict = x->was_approved ? "ask-yes" : "allow";
        exchange_touch(x);
        exchange_keys(x);
}

void exchange_go_up(struct exchange *x)
{
        x->state = X_WAIT;
        exchange_say_continue(x);
        if (!x->is_dead)
                upstream_get(x->door, x, &x->host, x->origin.port, x->origin.is_tls, x->gate.rule);
}

/* is_watched(x): its body is looked through first, or was and held a placeholder. */
static bool is_watched(struct exchange *x)
{
        if (exchange_watch(x))
                return true;
        if (x->leak)
                exchange_refuse_leak(x, x->leak);
        return x->leak != NULL;
}

void exchange_judge(struct exchange *x)
{
        if (x->leak) {
                exchange_refuse_leak(x, x->leak);
                return;
        }
        gate_free(&x->gate);
        gate_judge(x->door, &x->host, &x->origin, &x->req, x->body_state, x->body, &x->gate);
        if (custody_is_alarmed(x->door, x->host.text)) {
                free(x->gate.cure);
                x->gate.cure = NULL;
        }
        switch (x->gate.answer) {
        case GATE_REFUSE:
                if (!is_watched(x))
                        exchange_refuse_by_rule(x);
                break;
        case GATE_PASS:
                exchange_go(x);
                break;
        case GATE_ASK:
                if (!is_watched(x))
                        exchange_ask(x);
                break;
        case GATE_NEEDS_BODY:
                x->state = X_BODY;
                exchange_touch(x);
                exchange_say_continue(x);
                break;
        }
}

/* body_is_read(x): or cannot be. */
static void body_is_read(struct exchange *x)
{
        x->is_reading = false;
        if (!x->body || !body_is_short(x->body)) {
                exchange_judge(x);
        } else if (exchange_queue_last(x)) {
                body_free(x->body);
                x->body = NULL;
        } else {
                exchange_no_room(x);
        }
}

/* read_body(x): as much of it as fits into a turn. */
static void read_body(void *ctx)
{
        struct exchange *x = ctx;
        if (!body_step(x->body)) {
                work_again(&x->door->work, &x->reading);
                return;
        }
        if (x->is_cut)
                body_cut(x->body);
        x->body_state = body_state(x->body);
        body_is_read(x);
}

/* body_is_here(x): all of it, or as much as we are willing to hold. */
static void body_is_here(struct exchange *x, bool is_too_large)
{
        const struct field *f = head_find(&x->req, "content-type");
        const char *type = f ? head_str(&x->req, f->value) : "";
        f = head_find(&x->req, "content-encoding");
        const char *coding = f ? head_str(&x->req, f->value) : "";
        if (x->is_reading)
                return;
        x->is_reading = true;
        x->body_state = REQUEST_BODY_UNREADABLE;
        if (!body_fits_path(type, &x->req.path) || head_count(&x->req, "content-type") > 1 ||
            head_count(&x->req, "content-encoding") > 1) {
                body_is_read(x);
                return;
        }
        x->is_cut = is_too_large && !body_has_tail(type, coding);
        x->body = body_begin(type, coding, x->early.data, is_too_large ? BODY_MAX : x->early.len,
                             &x->door->work, &x->door->account);
        x->reading = (struct work_job){.fn = read_body, .ctx = x};
        read_body(x);
}

void exchange_read_on(struct exchange *x)
{
        bool is_all = x->is_end_here;
        exchange_wake_client(x);
        if (is_all && !x->is_dead && x->state == X_BODY)
                body_is_here(x, x->early.len > BODY_MAX);
}

void exchange_request(struct exchange *x, struct head *h, bool is_end)
{
        const char *why = NULL;
        head_move(&x->req, h);
        x->is_end_here = is_end;
        x->body_state = is_end || x->req.is_websocket ? REQUEST_BODY_NONE : REQUEST_BODY_UNREAD;
        x->state = X_BODY;
        bool is_named = gate_names(&x->origin, &x->req, &x->host, &why);
        if (exchange_trip(x))
                return;
        if (!is_named) {
                x->gate.words = str_dup("denied because names disagree");
                exchange_answer_self(x, 421, x->gate.words, why, NULL);
                return;
        }
        /* What is forwarded is what was judged. */
        x->req.host = x->host;
        x->req.port = x->origin.port;
        if (account_is_full(&x->door->account)) {
                x->door->account.refused++;
                exchange_no_room(x);
        } else {
                exchange_judge(x);
        }
}

bool exchange_send_up(struct exchange *x, const void *p, size_t n)
{
        if (x->keys && custody_request_sign(x->keys))
                return exchange_keys_sign(x, p, n, false);
        if (x->ws) {
                bool is_room = websocket_up(x->ws, x, &exchange_messages_side, NULL, p, n);
                exchange_frames(x);
                return is_room;
        }
        return x->up->data(x->up_side, x, p, n);
}

/* pass_up(x, p, n): bytes of the request's body to the upstream. False when it is full. */
static bool pass_up(struct exchange *x, const void *p, size_t n)
{
        x->bytes_up += n;
        exchange_touch(x);
        work_step(&x->door->work, 0);
        if (!allowance_bytes(x->door, x->gate.rule, n)) {
                exchange_answer_self(x, 429, x->gate.words, "the rule's bytes= are used up", NULL);
                return true;
        }
        if (x->filter && !x->is_filtered)
                return custody_body_feed(x->filter, p, n);
        return exchange_send_up(x, p, n);
}

/* must_keep(state): is the body of a request held back in this state? */
static bool must_keep(enum state state)
{
        return state == X_BODY || state == X_LOOK || state == X_ASKED || state == X_KEYS ||
               state == X_WAIT;
}

bool exchange_request_data(struct exchange *x, const void *p, size_t n)
{
        bool is_room = true;
        if (x->is_dead)
                return true;
        enum state state = x->state;
        if (state == X_OPEN && x->req.is_websocket && !x->is_upgraded) {
                if (x->has_answer) /* the origin said no: these are no frames to anybody */
                        return true;
                state = X_WAIT; /* before the origin agrees it would take them for requests */
        }
        if (must_keep(state) && !keep(x, p, n)) {
                exchange_no_room(x);
                return true;
        }
        switch (state) {
        case X_OPEN:
                is_room = pass_up(x, p, n);
                break;
        case X_BODY:
                if (x->early.len > BODY_MAX)
                        body_is_here(x, true);
                else if (x->door->held_n > EXCHANGE_HELD_MAX)
                        exchange_answer_self(x, 503, NULL,
                                             "too many bodies are being read for rules at once",
                                             NULL);
                is_room = x->state != X_BODY || (!x->is_reading && exchange_queue(x));
                break;
        case X_LOOK:
                is_room = exchange_watch_data(x, p, n);
                if (x->state == X_LOOK &&
                    (x->early.len > BODY_CHANGED_MAX || x->door->held_n > EXCHANGE_HELD_MAX))
                        exchange_judge(x);
                break;
        case X_ASKED:
        case X_KEYS:
        case X_WAIT:
                if (state == X_ASKED)
                        exchange_watch_data(x, p, n);
                size_t most = state == X_KEYS ? exchange_keys_takes(x) : EARLY_MAX;
                is_room = x->early.len < most && x->door->held_n < EXCHANGE_HELD_MAX;
                if (most > EARLY_MAX && !is_room)
                        exchange_answer_self(x, 413, NULL,
                                             "its body is too large to be signed or changed", NULL);
                break;
        case X_NEW:
                break;
        case X_LOCAL:
        case X_DONE: /* an answer is on its way; what still comes is of no use but to the tripwire */
                exchange_watch_data(x, p, n);
                break;
        }
        x->is_client_paused = !is_room && !x->is_dead;
        return is_room;
}

void exchange_end_up(struct exchange *x)
{
        if (exchange_messages_end(x))
                return;
        if (x->keys && custody_request_sign(x->keys)) {
                exchange_keys_sign(x, NULL, 0, true);
                return;
        }
        x->up->end(x->up_side, x, x->trailers);
}

static void end_up(struct exchange *x)
{
        x->is_end_sent = true;
        if (x->trailers && x->keys && exchange_keys_trailers(x))
                return;
        if (x->filter && !x->is_filtered)
                custody_body_end(x->filter);
        else
                exchange_end_up(x);
}

void exchange_request_end(struct exchange *x, struct head *trailers)
{
        if (x->is_dead || x->is_end_here)
                return;
        x->is_end_here = true;
        if (trailers && trailers->fields_n > 0) {
                x->trailers = malloc(sizeof *x->trailers);
                if (!x->trailers)
                        str_no_memory();
                head_move(x->trailers, trailers);
        }
        if (x->watch && !x->is_watch_over)
                exchange_watch_end(x);
        else if (x->state == X_BODY && !x->is_waiting)
                body_is_here(x, false);
        else if (x->state == X_KEYS)
                exchange_keys_body(x);
        else if (x->state == X_OPEN && x->is_upgraded == x->req.is_websocket)
                end_up(x);
}

bool exchange_send_early(struct exchange *x)
{
        bool is_room = true;
        if (!x->body) /* which is as large and stays */
                exchange_let_go(x);
        if (x->early.len > 0) {
                struct buf early = x->early;
                x->early = (struct buf){0};
                exchange_charge(x);
                is_room = pass_up(x, early.data, early.len);
                if (x->is_filtered) /* secrets were written into it */
                        explicit_bzero(early.data, early.len);
                buf_free(&early);
        }
        exchange_queue_leave(x);
        if (x->is_dead || x->state != X_OPEN)
                return false;
        if (x->is_end_here && !x->is_end_sent)
                end_up(x);
        return is_room;
}

void exchange_attach(struct exchange *x, const struct side_ops *ops, void *side)
{
        x->up = ops;
        x->up_side = side;
        x->state = X_OPEN;
        /* A body that was read whole has a length now, whatever it came as. */
        bool is_end = x->is_end_here && x->early.len == 0 && !x->trailers && !x->req.is_websocket;
        struct head *h = x->keys ? custody_request_sent(x->keys) : NULL;
        if (!h)
                h = &x->req;
        if (x->req.is_websocket && !x->ws)
                x->ws = websocket_new(h);
        x->up->head(x->up_side, x, h, is_end);
        x->is_end_sent = is_end;
        if (x->is_dead || x->state != X_OPEN)
                return;
        if (x->keys) /* whoever sends it again asks the keeper again */
                custody_request_is_sent(x->keys);
        if (x->req.is_websocket)
                return;
        if (exchange_send_early(x) && x->is_client_paused && !x->is_dead && x->client) {
                x->is_client_paused = false;
                x->client->resume(x->client_side, x);
        }
}
