/* exchange_messages.c - see exchange_int.h: the messages of a WebSocket's client, held against the
 * rules that look into bodies. Each is judged as the body of the request that opened the WebSocket;
 * one that may not pass ends it. Where no rule asks for bodies nothing is held. */
#include "egress/exchange_int.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "egress/ws.h"
#include "egress/ws_hold.h"

#include <stdlib.h>

struct exchange_messages {
        struct exchange *x;
        struct ws_hold hold;
        struct body *body; /* of the message that is held, once it is whole */
        struct work_job reading;
        struct loop_timer timer;  /* of a question */
        bool is_known, is_wanted; /* does a rule look into messages? */
        bool is_asked;
        bool is_end;    /* the client has ended; the origin hears so after the message */
        size_t charged; /* for what it holds */
        size_t held_n;  /* its part of door.held_n */
        char *words;    /* of the question */
        char *cure;
};

static bool is_open(const struct exchange *x)
{
        return !x->is_dead && x->state == X_OPEN && x->up;
}

/* charge(m): what it holds, for the account and for the limit of all that is held. */
static void charge(struct exchange_messages *m)
{
        size_t n = ws_hold_size(&m->hold);
        m->x->door->held_n += n - m->held_n;
        m->held_n = n;
        account_set(&m->x->door->account, &m->charged, sizeof *m + n);
}

static bool passes(void *ctx, const void *p, size_t n)
{
        struct exchange_messages *m = ctx;
        struct exchange *x = m->x;
        if (!is_open(x))
                return true;
        return x->tap ? custody_ws_feed(x->tap, p, n) : x->up->data(x->up_side, x, p, n);
}

/* wants(m): would the answer to the request depend on a body, if it had one? */
static bool wants(void *ctx)
{
        struct exchange_messages *m = ctx;
        struct exchange *x = m->x;
        if (!m->is_known) {
                struct gate g;
                gate_judge(x->door, &x->host, &x->origin, &x->req, REQUEST_BODY_UNREAD, NULL, &g);
                m->is_wanted = g.answer == GATE_NEEDS_BODY;
                m->is_known = true;
                gate_free(&g);
        }
        return m->is_wanted;
}

static const struct ws_hold_ops hold_ops = {.wants = wants, .out = passes};

/* forget(m): the message was judged. */
static void forget(struct exchange_messages *m)
{
        body_free(m->body);
        m->body = NULL;
        m->is_asked = false;
        loop_timer_stop(&m->timer);
        free(m->words);
        free(m->cure);
        m->words = m->cure = NULL;
}

void exchange_close_ws(struct exchange *x, const char *why)
{
        _cleanup_buf_ struct buf b = {0};
        if (!is_open(x))
                return;
        if (!x->ws || !websocket_is_between(x->ws)) {
                exchange_cut(x, why);
                return;
        }
        ws_put_close(&b, 1008, why, false);
        x->client->data(x->client_side, x, b.data, b.len);
        if (x->is_dead)
                return;
        exchange_note(x, why);
        exchange_leave_upstream(x);
        exchange_answer_done(x, NULL); /* not cut: what was said has to arrive */
}

/* refuse(m, verdict, words, why, cure): the end of the WebSocket. What carries a placeholder is an
 * attempt to get it out, whatever rule it meets. Takes nothing over. */
static void refuse(struct exchange_messages *m, const char *verdict, const char *words,
                   const char *why, const char *cure)
{
        struct exchange *x = m->x;
        _cleanup_free_ char *leak = custody_bytes_leak(x->door, &x->origin, m->hold.message.data,
                                                       m->hold.message.len, "a WebSocket message");
        _cleanup_free_ char *said = words ? str_fmt("a WebSocket message was %s%s%s", words,
                                                    why ? ": " : "", why ? why : "")
                                          : str_dup(why);
        struct gate g = {.words = str_dup(leak    ? "denied by the tripwire"
                                          : words ? words
                                                  : ""),
                         .cure = cure && !leak ? str_dup(cure) : NULL};
        exchange_settle(x);
        gate_free(&x->gate);
        x->gate = g;
        x->verdict = leak ? "deny" : verdict;
        exchange_close_ws(x, leak ? leak : said);
}

/* go_on(m): what was held passes, and what came after it. */
static void judge(struct exchange_messages *);
static void look(struct exchange_messages *);

static bool release(struct exchange_messages *m)
{
        forget(m);
        bool is_room = ws_hold_release(&m->hold, BODY_MAX, &hold_ops, m);
        charge(m);
        return is_room;
}

static void go_on(struct exchange_messages *m)
{
        struct exchange *x = m->x;
        bool is_room = release(m);
        if (is_open(x))
                look(m);
        if (!is_open(x) || m->hold.is_whole)
                return;
        if (m->is_end)
                exchange_end_up(x);
        else if (is_room)
                exchange_wake_client(x);
}

static void on_unanswered(void *ctx)
{
        struct exchange_messages *m = ctx;
        refuse(m, "ask-no", m->words, "nobody answered in time", m->cure);
}

/* ask(m, g): a person is asked about this message; the WebSocket waits. */
static void ask(struct exchange_messages *m, const struct gate *g)
{
        struct exchange *x = m->x;
        if (m->is_asked)
                return;
        if (x->door->questions_n >= DOOR_QUESTIONS_MAX) {
                refuse(m, "ask-no", g->words, "too many questions are open", g->cure);
                return;
        }
        m->is_asked = true;
        m->words = str_dup(g->words);
        m->cure = g->cure ? str_dup(g->cure) : NULL;
        x->question = ++x->door->question_id;
        x->door->questions_n++;
        m->timer.fn = on_unanswered;
        m->timer.ctx = m;
        loop_timer_set(x->door->loop, &m->timer, DOOR_ASK_MS);
        _cleanup_free_ char *url = gate_url(&x->host, &x->origin, &x->req);
        _cleanup_free_ char *what = str_fmt("a message over WebSocket %s", url);
        control_question(x->door, x->question, what, g->words, g->cure ? g->cure : "", "");
}

/* is_about_bodies(r): a question about the WebSocket itself was answered when it was opened. */
static bool is_about_bodies(const struct rule *r)
{
        for (size_t i = 0; r && i < r->conds_n; i++)
                if (r->conds[i].where != RULE_HEADER && r->conds[i].where != RULE_QUERY)
                        return true;
        return false;
}

/* verdict(m): 1: it passes; 0: it waits for a person, or the WebSocket is over. */
static bool verdict(struct exchange_messages *m)
{
        struct exchange *x = m->x;
        struct gate g;
        gate_judge(x->door, &x->host, &x->origin, &x->req, body_state(m->body), m->body, &g);
        bool is_ask = g.answer == GATE_ASK && is_about_bodies(g.rule);
        bool is_good = g.answer == GATE_PASS || (g.answer == GATE_ASK && !is_ask);
        if (is_ask)
                ask(m, &g);
        else if (!is_good)
                refuse(m, "deny", g.words, g.why, g.cure);
        gate_free(&g);
        return is_good;
}

static void judge(struct exchange_messages *m)
{
        if (verdict(m)) {
                exchange_settle(m->x);
                go_on(m);
        }
}

static void read_on(void *ctx)
{
        struct exchange_messages *m = ctx;
        struct exchange *x = m->x;
        if (!is_open(x))
                return;
        bool is_read = body_step(m->body);
        if ((is_read && body_is_short(m->body)) || x->door->held_n > EXCHANGE_HELD_MAX)
                refuse(m, "error", NULL, ACCOUNT_FULL, NULL);
        else if (is_read)
                judge(m);
        else
                work_again(&x->door->work, &m->reading);
}

/* look(m): a message that has become whole is read. In a turn of its own: messages may be many. */
static void look(struct exchange_messages *m)
{
        struct exchange *x = m->x;
        charge(m);
        if (m->hold.is_whole && !m->body) {
                m->body = body_message(m->hold.is_text, m->hold.message.data,
                                       m->hold.message.len + m->hold.is_longer, &x->door->work,
                                       &x->door->account);
                m->reading = (struct work_job){.fn = read_on, .ctx = m};
                work_again(&x->door->work, &m->reading);
        } else if (x->door->held_n > EXCHANGE_HELD_MAX) {
                refuse(m, "error", NULL, ACCOUNT_FULL, NULL);
        }
}

/* --- what the rest of an exchange calls ------------------------------------------------------- */

static bool messages_data(void *side, struct exchange *x, const void *p, size_t n)
{
        (void)side;
        if (!x->messages) {
                x->messages = calloc(1, sizeof *x->messages);
                if (!x->messages)
                        str_no_memory();
                x->messages->x = x;
        }
        struct exchange_messages *m = x->messages;
        if (!account_grow(&x->door->account, &m->charged, ws_hold_more(&m->hold, n))) {
                refuse(m, "error", NULL, ACCOUNT_FULL, NULL);
                return true;
        }
        bool is_room = ws_hold_feed(&m->hold, BODY_MAX, p, n, &hold_ops, m);
        if (is_open(x))
                look(m);
        return !is_open(x) || (is_room && !m->hold.is_whole);
}

const struct side_ops exchange_messages_side = {.data = messages_data};

bool exchange_messages_end(struct exchange *x)
{
        if (!x->messages || !x->messages->hold.is_whole)
                return false;
        x->messages->is_end = true;
        return true;
}

bool exchange_messages_answered(struct exchange *x, bool is_yes, const char *why)
{
        struct exchange_messages *m = x->messages;
        if (!m || !m->is_asked)
                return false;
        if (!is_open(x))
                return true;
        if (is_yes) {
                x->verdict = "ask-yes";
                go_on(m);
        } else {
                refuse(m, "ask-no", m->words, why, m->cure);
        }
        return true;
}

void exchange_messages_changed(struct exchange *x)
{
        struct exchange_messages *m = x->messages;
        if (!m || !is_open(x))
                return;
        m->is_known = false;
        if (m->is_asked)
                judge(m);
}

void exchange_messages_stop(struct exchange *x)
{
        struct exchange_messages *m = x->messages;
        if (!m)
                return;
        work_drop(&x->door->work, &m->reading);
        loop_timer_stop(&m->timer);
        x->door->held_n -= m->held_n;
        m->held_n = 0;
}

void exchange_messages_free(struct exchange_messages *m)
{
        if (!m)
                return;
        forget(m);
        ws_hold_free(&m->hold);
        account_set(&m->x->door->account, &m->charged, 0);
        free(m);
}
