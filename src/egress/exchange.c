/* exchange.c - see exchange.h: the life of an exchange, its record, and the answers that the door
 * gives itself.
 *
 * Engines call in and are called back from inside, and either may end the exchange from there. So
 * it is only marked dead then, and freed between two rounds of the loop; every function of these
 * files looks at is_dead after it has called out. */
#include "egress/exchange_int.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "egress/refuse.h"
#include "egress/scan.h"
#include "egress/sign.h"
#include "egress/token_call.h"
#include "egress/upstream.h"

#include <stdlib.h>
#include <string.h>

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
        d->exchanges_n++;
        exchange_charge(x);
        return x;
}

const struct head *exchange_request_head(const struct exchange *x)
{
        return &x->req;
}

const char *exchange_secrets(const struct exchange *x)
{
        return x->keys ? custody_request_names(x->keys) : "";
}

bool exchange_is_head_request(const struct exchange *x)
{
        return strcmp(head_str(&x->req, x->req.method), "HEAD") == 0;
}

bool exchange_is_h2(const struct exchange *x)
{
        return strcmp(x->origin.protocol, "h2") == 0;
}

/* --- the end --------------------------------------------------------------------------------- */

void exchange_record(struct exchange *x)
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
                                    .secrets = exchange_secrets(x),
                                    .note = x->note,
                                    .cure = x->gate.cure,
                            });
        free(path);
}

void exchange_note(struct exchange *x, const char *words)
{
        free(x->note);
        x->note = str_dup(words);
}

void exchange_settle(struct exchange *x)
{
        if (x->question) {
                control_settled(x->door, x->question);
                x->door->questions_n--;
                x->question = 0;
        }
}

/* exchange_leave_upstream(x): whatever it had to do with one is over. */
void exchange_leave_upstream(struct exchange *x)
{
        const struct side_ops *up = x->up;
        x->up = NULL;
        exchange_messages_stop(x);
        if (up)
                up->reset(x->up_side, x);
        else if (x->state == X_WAIT)
                upstream_forget(x->door, x);
        if (x->keys)
                custody_request_stop(x->keys);
        scrub_stop(x->scrub);
}

void exchange_frames(struct exchange *x)
{
        for (uint64_t n = x->ws ? websocket_steps(x->ws) : 0; n > 0; n--)
                work_step(&x->door->work, 0);
        exchange_charge(x);
}

void exchange_charge(struct exchange *x)
{
        size_t heads = x->req.store.cap + (x->trailers ? x->trailers->store.cap : 0);
        size_t n = x->early.cap + x->made.cap;
        if (x->keys) /* what is sent is a copy */
                heads += sizeof x->req + x->req.store.cap;
        if (x->ws)
                n += websocket_held(x->ws);
        if (x->keys && custody_request_sign(x->keys))
                n += sign_held(custody_request_sign(x->keys));
        account_set(&x->door->account, &x->charged, sizeof *x + heads + n);
}

size_t exchange_held(const struct exchange *x)
{
        return x->charged + (x->scrub ? scrub_held(x->scrub) : 0);
}

static void free_later(void *p)
{
        struct exchange *x = p;
        account_set(&x->door->account, &x->charged, 0);
        head_free(&x->req);
        if (x->trailers)
                head_free(x->trailers);
        free(x->trailers);
        buf_free(&x->early);
        if (x->made.data)
                explicit_bzero(x->made.data, x->made.cap);
        buf_free(&x->made);
        custody_body_free(x->filter);
        custody_ws_free(x->tap);
        exchange_messages_free(x->messages);
        custody_body_free(x->watch);
        free(x->leak);
        custody_request_free(x->keys);
        body_free(x->body);
        gate_free(&x->gate);
        websocket_free(x->ws);
        scrub_free(x->scrub);
        scan_set_free(x->values);
        free(x->note);
        free(x);
}

void exchange_release(struct exchange *x)
{
        if (x->is_dead)
                return;
        x->is_dead = true;
        x->client = NULL;
        exchange_settle(x);
        token_call_cancel(x->token);
        x->token = NULL;
        work_drop(&x->door->work, &x->reading);
        exchange_queue_leave(x);
        custody_body_stop(x->filter);
        custody_body_stop(x->watch);
        exchange_let_go(x);
        x->door->exchanges_n--;
        exchange_leave_upstream(x);
        if (x->state != X_DONE && x->state != X_NEW && !x->note)
                exchange_note(x, "the program in the box hung up");
        if (x->state != X_NEW)
                exchange_record(x);
        loop_timer_stop(&x->timer);
        *x->prev = x->next;
        if (x->next)
                x->next->prev = x->prev;
        door_later(x->door, free_later, x);
}

void exchange_cut(struct exchange *x, const char *words)
{
        exchange_note(x, words);
        exchange_leave_upstream(x);
        x->state = X_DONE;
        exchange_record(x);
        if (x->client)
                x->client->reset(x->client_side, x);
}

/* --- answers of our own ------------------------------------------------------------------------
 */

/* own_words(x, why): a sentence of ours may quote an origin (the names of its certificate), so it is
 * scrubbed like its answers, for the box and for the log. The caller frees; NULL when it is NULL. */
static char *own_words(struct exchange *x, const char *why)
{
        const struct scan_set *values = why ? exchange_values(x) : NULL;
        struct scan s = {0};
        _cleanup_buf_ struct buf out = {0};
        if (!values)
                return why ? str_dup(why) : NULL;
        scan_feed(&s, values, why, strlen(why), true, &out, NULL);
        scan_free(&s);
        return str_dup(buf_cstr(&out));
}

void exchange_answer_self(struct exchange *x, int status, const char *words, const char *why,
                          const char *cure)
{
        _cleanup_free_ char *own = own_words(x, why);
        why = own;
        if (x->has_answer) {
                exchange_cut(x, why ? why : words);
                return;
        }
        exchange_settle(x);
        work_drop(&x->door->work, &x->reading);
        exchange_queue_leave(x);
        exchange_leave_upstream(x);
        x->state = X_LOCAL;
        x->has_answer = true;
        x->status = status;
        buf_free(&x->early);
        exchange_charge(x);
        if (!x->body)
                exchange_let_go(x);
        char *url = gate_url(&x->host, &x->origin, &x->req);
        char *what = str_fmt(
                "%s %s", x->req.method ? head_str(&x->req, x->req.method) : "a request to", url);
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
                exchange_note(x, why);
        exchange_record(x);
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

void exchange_refuse_by_rule(struct exchange *x)
{
        x->verdict = "deny";
        exchange_answer_self(x, x->gate.status, x->gate.words, x->gate.why, x->gate.cure);
}

void exchange_refuse_leak(struct exchange *x, const char *sentence)
{
        if (!x->host.len)
                x->host = x->origin.host;
        /* Nobody is told how to open the way to where it was going. */
        gate_free(&x->gate);
        x->gate.words = str_dup("denied by the tripwire");
        x->verdict = "deny";
        exchange_answer_self(x, 403, NULL, sentence, NULL);
}

void exchange_refuse(struct exchange *x, int status, const char *sentence)
{
        x->host = x->origin.host;
        bool is_short = status == 503; /* that is no question of rules */
        if (is_short)
                x->verdict = "error";
        if (is_short || custody_is_alarmed(x->door, x->host.text)) {
                exchange_answer_self(x, status, NULL, sentence, NULL);
                return;
        }
        /* What is no HTTP, on a port that is not HTTP's, passes by a rule of its own kind. */
        if (!x->origin.is_tls && x->origin.port != 80 && x->origin.port != 443 && !x->gate.cure)
                x->gate.cure = gate_tcp_cure(&x->host, x->origin.port);
        exchange_answer_self(x, status, NULL, sentence, x->gate.cure);
}

static void on_idle(void *ctx)
{
        struct exchange *x = ctx;
        x->verdict = "error";
        exchange_answer_self(x, 504, NULL, "nothing came for too long", NULL);
}

void exchange_no_room(struct exchange *x)
{
        x->verdict = "error";
        exchange_answer_self(x, 503, NULL, ACCOUNT_FULL, NULL);
}

void exchange_touch(struct exchange *x)
{
        x->timer.fn = on_idle;
        x->timer.ctx = x;
        loop_timer_set(x->door->loop, &x->timer, DOOR_STREAM_IDLE_MS);
}
