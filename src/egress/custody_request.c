/* custody_request.c - see custody_request.h: the order of things for one request of a box that has
 * secrets. Called by exchange_request.c. It must never let a request go on in doubt: what the
 * keeper does not give, or what cannot be told apart from a leak, is refused. */
#include "egress/custody_request_int.h"

#include "base/cur.h"
#include "base/err.h"
#include "base/str.h"
#include "egress/scan.h"
#include "egress/sign.h"

#include <stdlib.h>
#include <string.h>

enum { PLACED_MAX = 2 * DOOR_SECRET_MAX, SENTENCE_MAX = 4096 };

struct custody_request *custody_request_new(struct door *d, const struct host_name *host,
                                            const struct origin *o, const struct head *h,
                                            void (*fn)(void *, const struct custody_verdict *),
                                            void *ctx)
{
        if (!custody_of(d)->secrets)
                return NULL;
        struct custody_request *q = calloc(1, sizeof *q);
        if (!q)
                str_no_memory();
        q->door = d;
        q->host = *host;
        q->origin = *o;
        q->in = h;
        q->fn = fn;
        q->ctx = ctx;
        return q;
}

void custody_request_stop(struct custody_request *q)
{
        q->is_over = true;
        for (size_t i = 0; i < CUSTODY_USES_MAX; i++) {
                keeper_cancel(q->door, q->asked[i].call);
                q->asked[i].call = NULL;
        }
        q->asked_n = 0;
        if (q->sign)
                sign_free(q->sign);
        q->sign = NULL;
}

static void forget_placed(struct custody_request *q)
{
        custody_uses_free(&q->uses);
        if (q->has_out)
                head_free(&q->out);
        q->has_out = false;
}

void custody_request_free(struct custody_request *q)
{
        if (!q)
                return;
        custody_request_stop(q);
        forget_placed(q);
        buf_free(&q->names);
        free(q);
}

void custody_request_is_sent(struct custody_request *q)
{
        forget_placed(q);
}

struct sign *custody_request_sign(const struct custody_request *q)
{
        return q->sign && sign_has_chunks(q->sign) ? q->sign : NULL;
}

struct head *custody_request_head(struct custody_request *q)
{
        struct err err = {0};
        if (!q->has_out) { /* nothing was placed; the copy is for whoever changes it */
                struct custody_uses none = {0};
                custody_slots_write(q->in, &none, &q->out, &err);
                q->has_out = true;
        }
        return &q->out;
}

struct head *custody_request_sent(struct custody_request *q)
{
        return q->has_out ? &q->out : NULL;
}

struct door_toward custody_request_toward(const struct custody_request *q)
{
        return (struct door_toward){.method = head_str(q->in, q->in->method),
                                    .host = q->host.text,
                                    .path = q->in->path.text ? q->in->path.text : "/",
                                    .port = q->origin.port,
                                    .is_tls = q->origin.is_tls};
}

/* --- refusing -------------------------------------------------------------------------------- */

static void finish(struct custody_request *q, int status, char *why)
{
        struct custody_verdict v = {.status = status, .why = why};
        if (status)
                custody_request_stop(q);
        q->is_over = true;
        q->fn(q->ctx, &v);
        free(why);
}

/* is_rung(q, number): was the alarm of this secret rung for this request? It is from now on. */
static bool is_rung(struct custody_request *q, uint32_t number)
{
        for (size_t i = 0; i < q->rung_n; i++)
                if (q->rung[i] == number)
                        return true;
        if (q->rung_n < CUSTODY_LEAKS_MAX)
                q->rung[q->rung_n++] = number;
        return false;
}

char *custody_request_leaks(struct custody_request *q, uint32_t number, const char *where)
{
        char *full = q->origin.is_tls
                             ? str_fmt("%s of a request to %s", where, q->host.text)
                             : str_fmt("%s of a request without TLS to %s", where, q->host.text);
        if (!is_rung(q, number))
                custody_alarm(q->door, number, full, q->host.text, q->origin.source_port);
        char *words = custody_leak_words(q->door, number, full);
        free(full);
        return words;
}

char *custody_request_rings(struct custody_request *q, struct custody_leaks *l)
{
        char *first = NULL;
        for (size_t i = 0; i < l->n; i++) {
                char *words = custody_request_leaks(q, l->list[i].number, l->list[i].where);
                if (!first)
                        first = words;
                else
                        free(words);
        }
        custody_leaks_free(l);
        return first;
}

char *custody_request_hit(struct custody_request *q, const struct scan_hit *hit, const char *where)
{
        struct custody_leaks l = {0};
        custody_leaks_add(&l, hit->tag, where);
        for (uint32_t i = 0; i < hit->others_n; i++)
                custody_leaks_add(&l, hit->others[i], where);
        return custody_request_rings(q, &l);
}

void custody_request_flag(struct custody_request *q, uint32_t number)
{
        struct custody_secret *s = custody_of(q->door)->secrets;
        while (s && s->number != number)
                s = s->next;
        if (!s || s->is_flagged)
                return;
        s->is_flagged = true;
        char *words = str_fmt("the placeholder of secret %s is in a conversation with a model; it "
                              "has no value there and passes",
                              custody_name(s));
        record_put(q->door, &(struct door_record){
                                    .time_us = record_now_us(),
                                    .kind = "alarm",
                                    .verdict = "allow",
                                    .host = q->host.text,
                                    .port = q->origin.port,
                                    .source_port = q->origin.source_port,
                                    .secrets = custody_name(s),
                                    .note = words,
                            });
        free(words);
}

/* --- asking ---------------------------------------------------------------------------------- */

static void on_signed(void *ctx, const char *why)
{
        struct custody_request *q = ctx;
        if (q->is_over)
                return;
        finish(q, why ? 403 : 0, why ? str_dup(why) : NULL);
}

/* try_sign(q): when everything that is signed is there. */
static void try_sign(struct custody_request *q)
{
        if (!q->is_placed || q->sign || q->is_over || custody_request_needs_body(q))
                return;
        q->sign = sign_begin(q->door, q->signer, q->signer_form, custody_request_head(q),
                             q->origin.is_tls, q->body, q->body_n, on_signed, q);
}

/* placed(q): all answers are there; make the head, then have it signed. */
static void placed(struct custody_request *q)
{
        struct err err = {0};
        if (q->uses.n > 0) {
                q->has_out = true;
                if (custody_slots_write(q->in, &q->uses, &q->out, &err) < 0) {
                        finish(q, 403, str_dup(err.text));
                        return;
                }
        }
        q->is_placed = true;
        if (!q->signer)
                finish(q, 0, NULL);
        else
                try_sign(q);
}

bool custody_request_needs_body(const struct custody_request *q)
{
        return q->signer && !q->sign && !q->is_over && !q->is_body_here &&
               sign_needs_body(q->signer, q->signer_form, q->in);
}

void custody_request_body(struct custody_request *q, const void *p, size_t n)
{
        q->is_body_here = true;
        q->body = p;
        q->body_n = n;
        try_sign(q);
}

static void on_placed(void *ctx, uint32_t type, struct cur *body)
{
        struct custody_asked *a = ctx;
        struct custody_request *q = a->q;
        uint32_t no = 0;
        char *text = NULL;
        a->call = NULL;
        q->asked_n--;
        if ((type == DOOR_PLACE_NO && cur_u32(body, &no) < 0) ||
            cur_lstr(body, type == DOOR_PLACED ? PLACED_MAX : SENTENCE_MAX, &text) < 0)
                door_fault(q->door, "the keeper gave an answer that makes no sense");
        if (type == DOOR_PLACE_NO) {
                finish(q, 403, text);
                return;
        }
        q->uses.list[a - q->asked].placed = text;
        if (q->asked_n == 0)
                placed(q);
}

static void ask(struct custody_request *q, size_t i)
{
        const struct custody_use *e = &q->uses.list[i];
        const struct door_toward to = custody_request_toward(q);
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, e->secret->number);
        buf_put_u32(&b, (uint32_t)e->form);
        door_toward_put(&b, &to);
        buf_put_lstr(&b, e->slot);
        q->asked[i] = (struct custody_asked){.q = q};
        q->asked[i].call = keeper_ask(q->door, DOOR_PLACE, &b, on_placed, &q->asked[i]);
        q->asked_n++;
}

void custody_request_begin(struct custody_request *q)
{
        const struct custody_place p = {.host = &q->host,
                                        .port = q->origin.port,
                                        .is_tls = q->origin.is_tls,
                                        .path = &q->in->path};
        char *why = custody_request_judge(q, &p);
        if (why) {
                finish(q, 403, why);
                return;
        }
        for (size_t i = 0; i < q->uses.n; i++)
                if (q->uses.list[i].kind == CUSTODY_PLACE)
                        ask(q, i);
        if (q->asked_n == 0)
                placed(q);
}
