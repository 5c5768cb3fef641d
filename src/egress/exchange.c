/* exchange.c - see exchange.h. The way of one request: gate, perhaps its body, perhaps a question,
 * upstream, answer, record.
 *
 * Engines call in and are called back from inside, and either may end the exchange from there. So it
 * is only marked dead then, and freed between two rounds of the loop; every function here looks at
 * is_dead after it has called out. */
#include "egress/exchange.h"

#include "base/str.h"
#include "egress/body.h"
#include "egress/door.h"
#include "egress/gate.h"
#include "egress/refuse.h"
#include "egress/upstream.h"
#include "egress/websocket.h"

#include <stdlib.h>
#include <string.h>

enum { EARLY_MAX = 64 << 10, RETRIES_MAX = 4, INTERIMS_MAX = 1000 };

enum state {
        X_NEW,
        X_BODY,  /* a rule wants the body before it decides */
        X_ASKED, /* a person is asked */
        X_WAIT,  /* for an upstream */
        X_OPEN,
        X_LOCAL, /* the door answers itself */
        X_DONE,
};

struct exchange {
        struct door *door;
        struct exchange *next, **prev;
        struct origin origin;
        const struct side_ops *client, *up;
        void *client_side, *up_side;
        enum state state;
        bool is_dead, is_recorded;

        struct head req;
        struct host_name host; /* the one it is for */
        struct head *trailers; /* of the request, until they can be sent */
        struct buf early;      /* of its body, until it can be sent */
        struct body *body;     /* once it has been read for policy */
        enum request_body body_state;
        bool is_end_here, is_end_sent; /* the request's */
        bool is_client_paused;         /* it was told to stop sending */
        uint8_t retries_n;
        bool has_answer, was_approved, sent_continue;
        unsigned interims_n; /* 1xx answers so far */

        struct gate gate;
        uint64_t question;
        struct loop_timer timer;
        struct websocket *ws;

        /* for the record */
        uint64_t began_us, wait_us, bytes_up, bytes_down;
        int status;
        const char *verdict;
        char *note;
        char address[64];
};

struct exchange *exchange_new(struct door *d, const struct origin *o, const struct side_ops *ops,
                              void *side)
{
        struct exchange *x = calloc(1, sizeof *x);
        if (!x)
                str_no_memory();
        x->door = d;
        x->origin = *o;
        x->client = ops;
        x->client_side = side;
        x->began_us = record_now_us();
        x->verdict = "deny";
        x->next = d->exchanges;
        x->prev = &d->exchanges;
        if (x->next)
                x->next->prev = &x->next;
        d->exchanges = x;
        return x;
}

const struct head *exchange_request_head(const struct exchange *x)
{
        return &x->req;
}

bool exchange_is_head_request(const struct exchange *x)
{
        return strcmp(head_str(&x->req, x->req.method), "HEAD") == 0;
}

/* --- the end --------------------------------------------------------------------------------- */

static void record(struct exchange *x)
{
        if (x->is_recorded)
                return;
        x->is_recorded = true;
        char *path = gate_path(&x->req);
        uint64_t now = record_now_us();
        record_put(x->door, &(struct door_record){
                                    .time_us = x->began_us,
                                    .kind = "http",
                                    .verdict = x->verdict,
                                    .rule = x->gate.words,
                                    .protocol = x->req.is_websocket ? "ws" : x->origin.protocol,
                                    .host = x->host.text,
                                    .port = x->origin.port,
                                    .address = x->address,
                                    .method = head_str(&x->req, x->req.method),
                                    .path = path,
                                    .status = (uint32_t)x->status,
                                    .bytes_up = x->bytes_up,
                                    .bytes_down = x->bytes_down,
                                    .wait_us = x->wait_us,
                                    .total_us = now > x->began_us ? now - x->began_us : 0,
                                    .source_port = x->origin.source_port,
                                    .note = x->note,
                                    .cure = x->gate.cure,
                            });
        free(path);
}

static void note(struct exchange *x, const char *words)
{
        free(x->note);
        x->note = str_dup(words);
}

static void settle(struct exchange *x)
{
        if (x->question) {
                control_settled(x->door, x->question);
                x->door->questions_n--;
                x->question = 0;
        }
}

/* leave_upstream(x): whatever it had to do with one is over. */
static void leave_upstream(struct exchange *x)
{
        const struct side_ops *up = x->up;
        x->up = NULL;
        if (up)
                up->reset(x->up_side, x);
        else if (x->state == X_WAIT)
                upstream_forget(x->door, x);
}

static void free_later(void *p)
{
        struct exchange *x = p;
        head_free(&x->req);
        if (x->trailers)
                head_free(x->trailers);
        free(x->trailers);
        buf_free(&x->early);
        body_free(x->body);
        gate_free(&x->gate);
        websocket_free(x->ws);
        free(x->note);
        free(x);
}

void exchange_release(struct exchange *x)
{
        if (x->is_dead)
                return;
        x->is_dead = true;
        x->client = NULL;
        settle(x);
        leave_upstream(x);
        if (x->state != X_DONE && x->state != X_NEW && !x->note)
                note(x, "the program in the box hung up");
        if (x->state != X_NEW)
                record(x);
        loop_timer_stop(&x->timer);
        *x->prev = x->next;
        if (x->next)
                x->next->prev = x->prev;
        door_later(x->door, free_later, x);
}

void exchange_cut(struct exchange *x, const char *words)
{
        note(x, words);
        leave_upstream(x);
        x->state = X_DONE;
        record(x);
        if (x->client)
                x->client->reset(x->client_side, x);
}

/* --- answers of our own ------------------------------------------------------------------------ */

static void answer_self(struct exchange *x, int status, const char *words, const char *why,
                        const char *cure)
{
        if (x->has_answer) {
                exchange_cut(x, why ? why : words);
                return;
        }
        settle(x);
        leave_upstream(x);
        x->state = X_LOCAL;
        x->has_answer = true;
        x->status = status;
        buf_free(&x->early);
        char *url = gate_url(&x->host, &x->origin, &x->req);
        char *what = str_fmt("%s %s", x->req.method ? head_str(&x->req, x->req.method) : "a request to",
                             url);
        struct refusal r = {.status = status,
                            .what = what,
                            .words = words,
                            .why = why,
                            .cure = cure,
                            .box = x->door->box_id};
        struct head h;
        _cleanup_buf_ struct buf body = {0};
        head_init(&h);
        refuse_answer(&r, x->req.method ? &x->req : NULL, &h, &body);
        if (!x->note && why)
                note(x, why);
        record(x);
        bool has_body = body.len > 0 && !exchange_is_head_request(x);
        x->client->head(x->client_side, x, &h, !has_body);
        if (has_body && !x->is_dead)
                x->client->data(x->client_side, x, body.data, body.len);
        x->state = X_DONE;
        if (!x->is_dead)
                x->client->end(x->client_side, x, NULL);
        head_free(&h);
        free(what);
        free(url);
}

static void refuse(struct exchange *x)
{
        x->verdict = "deny";
        answer_self(x, x->gate.status, x->gate.words, x->gate.why, x->gate.cure);
}

void exchange_refuse(struct exchange *x, int status, const char *sentence)
{
        x->host = x->origin.host;
        answer_self(x, status, NULL, sentence, NULL);
}

static void upstream_trouble(struct exchange *x, const char *sentence)
{
        x->verdict = "error";
        answer_self(x, 502, NULL, sentence, NULL);
}

/* --- toward the upstream ----------------------------------------------------------------------- */

static void on_idle(void *ctx)
{
        struct exchange *x = ctx;
        x->verdict = "error";
        answer_self(x, 504, NULL, "nothing came for too long", NULL);
}

static void touch(struct exchange *x)
{
        x->timer.fn = on_idle;
        x->timer.ctx = x;
        loop_timer_set(x->door->loop, &x->timer, DOOR_STREAM_IDLE_MS);
}

/* say_continue(x): the client holds its body back until it hears that it is wanted. */
static void say_continue(struct exchange *x)
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

static void go(struct exchange *x)
{
        char words[256];
        if (!allowance_take(x->door, x->gate.rule, &x->host, words)) {
                x->verdict = "deny";
                answer_self(x, 429, x->gate.words, words, NULL);
                return;
        }
        x->verdict = x->was_approved ? "ask-yes" : "allow";
        x->state = X_WAIT;
        touch(x);
        say_continue(x);
        if (!x->is_dead)
                upstream_get(x->door, x, &x->host, x->origin.port, x->origin.is_tls, x->gate.rule);
}

static void on_unanswered(void *ctx)
{
        struct exchange *x = ctx;
        x->verdict = "ask-no";
        answer_self(x, 403, x->gate.words, "nobody answered in time", x->gate.cure);
}

static void ask(struct exchange *x)
{
        if (x->door->questions_n >= DOOR_QUESTIONS_MAX) {
                x->verdict = "ask-no";
                answer_self(x, 403, x->gate.words, "too many questions are open", x->gate.cure);
                return;
        }
        x->state = X_ASKED;
        x->question = ++x->door->question_id;
        x->door->questions_n++;
        x->timer.fn = on_unanswered;
        x->timer.ctx = x;
        loop_timer_set(x->door->loop, &x->timer, DOOR_ASK_MS);
        char *url = gate_url(&x->host, &x->origin, &x->req);
        char *what = str_fmt("%s %s", head_str(&x->req, x->req.method), url);
        control_question(x->door, x->question, what, x->gate.rule ? x->gate.words : "",
                         x->gate.cure ? x->gate.cure : "");
        free(what);
        free(url);
}

void exchange_answered(struct door *d, uint64_t question, bool yes)
{
        for (struct exchange *x = d->exchanges; x; x = x->next) {
                if (x->question != question)
                        continue;
                settle(x);
                loop_timer_stop(&x->timer);
                if (yes) {
                        x->was_approved = true;
                        go(x);
                } else {
                        x->verdict = "ask-no";
                        answer_self(x, 403, x->gate.words, "a person said no, or nobody is there to answer",
                                    x->gate.cure);
                }
                return;
        }
}

static void judge(struct exchange *x)
{
        gate_free(&x->gate);
        gate_judge(x->door, &x->host, &x->origin, &x->req, x->body_state, x->body, &x->gate);
        switch (x->gate.answer) {
        case GATE_REFUSE:
                refuse(x);
                break;
        case GATE_PASS:
                go(x);
                break;
        case GATE_ASK:
                ask(x);
                break;
        case GATE_NEEDS_BODY:
                x->state = X_BODY;
                touch(x);
                say_continue(x);
                break;
        }
}

/* body_is_here(x): all of it, or as much as we are willing to hold. */
static void body_is_here(struct exchange *x, bool is_too_large)
{
        const struct field *type = head_find(&x->req, "content-type");
        const struct field *coding = head_find(&x->req, "content-encoding");
        x->body_state = REQUEST_BODY_UNREADABLE;
        if (!is_too_large && head_count(&x->req, "content-type") <= 1 &&
            head_count(&x->req, "content-encoding") <= 1) {
                x->body = body_read(type ? head_str(&x->req, type->value) : "",
                                    coding ? head_str(&x->req, coding->value) : "", x->early.data,
                                    x->early.len);
                x->body_state = body_state(x->body);
        }
        judge(x);
}

void exchange_request(struct exchange *x, struct head *h, bool is_end)
{
        const char *why = NULL;
        x->req = *h;
        head_init(h);
        x->is_end_here = is_end;
        x->body_state = is_end || x->req.is_websocket ? REQUEST_BODY_NONE : REQUEST_BODY_UNREAD;
        x->state = X_BODY;
        if (!gate_names(&x->origin, &x->req, &x->host, &why)) {
                x->gate.words = str_dup("denied because names disagree");
                answer_self(x, 421, x->gate.words, why, NULL);
                return;
        }
        /* What is forwarded is what was judged. */
        x->req.host = x->host;
        x->req.port = x->origin.port;
        judge(x);
}

/* pass_up(x, p, n): bytes of the request's body to the upstream. False when it is full. */
static bool pass_up(struct exchange *x, const void *p, size_t n)
{
        x->bytes_up += n;
        touch(x);
        if (!allowance_bytes(x->door, x->gate.rule, n)) {
                answer_self(x, 429, x->gate.words, "the rule's bytes= are used up", NULL);
                return true;
        }
        if (x->ws)
                return websocket_up(x->ws, x, x->up, x->up_side, p, n);
        return x->up->data(x->up_side, x, p, n);
}

bool exchange_request_data(struct exchange *x, const void *p, size_t n)
{
        bool is_room = true;
        if (x->is_dead)
                return true;
        switch (x->state) {
        case X_OPEN:
                is_room = pass_up(x, p, n);
                break;
        case X_BODY:
                buf_put(&x->early, p, n);
                if (x->early.len > BODY_MAX)
                        body_is_here(x, true);
                break;
        case X_ASKED:
        case X_WAIT:
                buf_put(&x->early, p, n);
                is_room = x->early.len < EARLY_MAX;
                break;
        case X_NEW:
        case X_LOCAL:
        case X_DONE: /* an answer is on its way; what still comes is of no use */
                break;
        }
        x->is_client_paused = !is_room && !x->is_dead;
        return is_room;
}

static void end_up(struct exchange *x)
{
        x->is_end_sent = true;
        x->up->end(x->up_side, x, x->trailers);
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
                *x->trailers = *trailers;
                head_init(trailers);
        }
        if (x->state == X_BODY)
                body_is_here(x, false);
        else if (x->state == X_OPEN)
                end_up(x);
}

void exchange_attach(struct exchange *x, const struct side_ops *ops, void *side)
{
        x->up = ops;
        x->up_side = side;
        x->state = X_OPEN;
        /* A body that was read whole has a length now, whatever it came as. */
        bool is_end = x->is_end_here && x->early.len == 0 && !x->trailers;
        if (x->req.is_websocket && !x->ws)
                x->ws = websocket_new(&x->req);
        x->up->head(x->up_side, x, &x->req, is_end);
        x->is_end_sent = is_end;
        if (x->is_dead || x->state != X_OPEN)
                return;
        bool is_room = true;
        if (x->early.len > 0) {
                struct buf early = x->early;
                x->early = (struct buf){0};
                is_room = pass_up(x, early.data, early.len);
                buf_free(&early);
        }
        if (x->is_dead || x->state != X_OPEN)
                return;
        if (x->is_end_here && !x->is_end_sent)
                end_up(x);
        if (is_room && x->is_client_paused && !x->is_dead && x->client) {
                x->is_client_paused = false;
                x->client->resume(x->client_side, x);
        }
}

/* --- from the upstream ------------------------------------------------------------------------- */

void exchange_address(struct exchange *x, const char *address)
{
        strncpy(x->address, address, sizeof x->address - 1);
}

/* pass_interim(x, h): of the 1xx answers only early hints are worth passing on. */
static void pass_interim(struct exchange *x, struct head *h)
{
        if (h->status == 103)
                x->client->head(x->client_side, x, h, false);
        head_free(h);
        head_init(h);
}

void exchange_answer(struct exchange *x, struct head *h, bool is_end)
{
        if (x->is_dead || x->state != X_OPEN)
                return;
        touch(x);
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
        x->has_answer = true;
        x->status = h->status;
        x->wait_us = record_now_us() - x->began_us;
        if (is_upgrade)
                websocket_answer(x->ws, h);
        head_drop(h, "alt-svc"); /* there is no other service that it could use */
        if (h->body == HEAD_BODY_CLOSE) /* how it ends is the other engine's own business */
                h->body = HEAD_BODY_STREAM;
        x->client->head(x->client_side, x, h, is_end && !is_upgrade);
        head_free(h);
        head_init(h);
        if (is_upgrade && !x->is_dead) {
                x->client->upgraded(x->client_side, x);
                if (!x->is_dead && x->up)
                        x->up->upgraded(x->up_side, x);
        } else if (x->ws) {
                websocket_free(x->ws); /* the origin said no; what follows is an ordinary answer */
                x->ws = NULL;
        }
}

bool exchange_answer_data(struct exchange *x, const void *p, size_t n)
{
        if (x->is_dead || x->state != X_OPEN)
                return true;
        x->bytes_down += n;
        touch(x);
        if (!allowance_bytes(x->door, x->gate.rule, n)) {
                exchange_cut(x, "the rule's bytes= are used up");
                return true;
        }
        if (x->ws)
                return websocket_down(x->ws, x, x->client, x->client_side, p, n);
        return x->client->data(x->client_side, x, p, n);
}

void exchange_answer_end(struct exchange *x, struct head *trailers)
{
        x->up = NULL;
        if (x->is_dead || x->state != X_OPEN)
                return;
        x->state = X_DONE;
        record(x);
        x->client->end(x->client_side, x, trailers && trailers->fields_n > 0 ? trailers : NULL);
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
                x->state = X_WAIT;
                upstream_get(x->door, x, &x->host, x->origin.port, x->origin.is_tls, x->gate.rule);
                return;
        }
        x->state = X_OPEN; /* so that nothing is forgotten twice */
        x->verdict = "error";
        if (x->has_answer)
                exchange_cut(x, sentence);
        else
                answer_self(x, 502, NULL, sentence, NULL);
}

void exchange_drained(struct exchange *x, void *side)
{
        if (x->is_dead)
                return;
        if (side == x->client_side && x->up) {
                x->up->resume(x->up_side, x);
        } else if (side != x->client_side && x->client && x->is_client_paused) {
                x->is_client_paused = false;
                x->client->resume(x->client_side, x);
        }
}

/* --- the rules changed --------------------------------------------------------------------------- */

static void judge_again(struct exchange *x)
{
        struct gate g;
        gate_judge(x->door, &x->host, &x->origin, &x->req, x->body_state, x->body, &g);
        bool is_ok = g.answer == GATE_PASS || (g.answer == GATE_ASK && x->was_approved) ||
                     (g.answer == GATE_ASK && x->state == X_ASKED);
        gate_free(&x->gate);
        x->gate = g;
        if (is_ok && x->state == X_ASKED && g.answer == GATE_PASS) {
                settle(x);
                loop_timer_stop(&x->timer);
                go(x);
        } else if (!is_ok) {
                x->verdict = "deny";
                x->gate.status = 403;
                if (x->has_answer)
                        exchange_cut(x, "cut off because the rules changed");
                else
                        refuse(x);
        }
}

void exchange_policy_changed(struct door *d)
{
        struct exchange *next;
        for (struct exchange *x = d->exchanges; x; x = next) {
                next = x->next;
                if (x->is_dead) /* by what happened to one before it */
                        continue;
                if (x->state == X_ASKED || x->state == X_WAIT || x->state == X_OPEN)
                        judge_again(x);
                else
                        x->gate.rule = NULL;
        }
}
