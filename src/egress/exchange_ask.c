/* exchange_ask.c - see exchange.h: requests that wait for a person, and everything open that is
 * judged again when the rules change. */
#include "egress/exchange_int.h"

#include "base/str.h"
#include "egress/custody_request.h"

#include <stdlib.h>
#include <string.h>

static void on_unanswered(void *ctx)
{
        struct exchange *x = ctx;
        x->verdict = "ask-no";
        exchange_answer_self(x, 403, x->gate.words, "nobody answered in time", x->gate.cure);
}

void exchange_ask(struct exchange *x)
{
        if (x->door->questions_n >= DOOR_QUESTIONS_MAX) {
                x->verdict = "ask-no";
                exchange_answer_self(x, 403, x->gate.words, "too many questions are open",
                                     x->gate.cure);
                return;
        }
        x->state = X_ASKED;
        exchange_queue_leave(x);
        x->question = ++x->door->question_id;
        x->door->questions_n++;
        x->timer.fn = on_unanswered;
        x->timer.ctx = x;
        loop_timer_set(x->door->loop, &x->timer, DOOR_ASK_MS);
        char *url = gate_url(&x->host, &x->origin, &x->req);
        char *what = str_fmt("%s %s", head_str(&x->req, x->req.method), url);
        const struct field *agent = head_find(&x->req, "user-agent");
        control_question(x->door, x->question, what, x->gate.rule ? x->gate.words : "",
                         x->gate.cure ? x->gate.cure : "",
                         agent ? head_str(&x->req, agent->value) : "");
        free(what);
        free(url);
}

static const char *no_words(enum door_answer answer)
{
        switch (answer) {
        case DOOR_ANSWER_FLOOD:
                return "this box asks too much, so nobody was asked";
        case DOOR_ANSWER_NOBODY:
                return "nobody is attached who could be asked";
        case DOOR_ANSWER_QUIET:
                return "with --quiet nobody is asked";
        case DOOR_ANSWER_NO:
        case DOOR_ANSWER_YES:
                break;
        }
        return "a person said no";
}

void exchange_answered(struct door *d, uint64_t question, enum door_answer answer)
{
        for (struct exchange *x = d->exchanges; x; x = x->next) {
                if (x->question != question)
                        continue;
                exchange_settle(x);
                if (exchange_messages_answered(x, answer == DOOR_ANSWER_YES, no_words(answer)))
                        return;
                loop_timer_stop(&x->timer);
                if (answer == DOOR_ANSWER_YES) {
                        x->was_approved = true;
                        exchange_go(x);
                } else {
                        x->verdict = "ask-no";
                        exchange_answer_self(x, 403, x->gate.words, no_words(answer), x->gate.cure);
                }
                return;
        }
}

/* --- the rules changed ---------------------------------------------------------------------------
 */

static void judge_again(struct exchange *x)
{
        struct gate g;
        gate_judge(x->door, &x->host, &x->origin, &x->req, x->body_state, x->body, &g);
        bool is_ok = g.answer == GATE_PASS || (g.answer == GATE_ASK && x->was_approved) ||
                     (g.answer == GATE_ASK && x->state == X_ASKED);
        gate_free(&x->gate);
        x->gate = g;
        if (is_ok && x->state == X_ASKED && g.answer == GATE_PASS) {
                exchange_settle(x);
                loop_timer_stop(&x->timer);
                exchange_go(x);
        } else if (!is_ok) {
                x->verdict = "deny";
                x->gate.status = 403;
                if (x->has_answer)
                        exchange_cut(x, "cut off because the rules changed");
                else
                        exchange_refuse_by_rule(x);
        }
}

void exchange_policy_changed(struct door *d)
{
        struct exchange *next;
        for (struct exchange *x = d->exchanges; x; x = next) {
                next = x->next;
                if (x->is_dead) /* by what happened to one before it */
                        continue;
                if (x->state == X_ASKED || x->state == X_KEYS || x->state == X_WAIT ||
                    x->state == X_OPEN)
                        judge_again(x);
                else
                        x->gate.rule = NULL;
                exchange_messages_changed(x);
        }
}

void exchange_secret_gone(struct door *d, uint32_t number, const char *sentence)
{
        struct exchange *next;
        for (struct exchange *x = d->exchanges; x; x = next) {
                next = x->next;
                if (x->is_dead || x->state == X_DONE || !x->keys ||
                    !custody_request_shows(x->keys, number))
                        continue;
                x->verdict = "deny";
                exchange_answer_self(x, 403, NULL, sentence, NULL);
        }
}
