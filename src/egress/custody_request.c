/* custody_request.c - see custody_request.h: the order of things for one request of a box that has
 * secrets. Called by exchange_request.c. It must never let a request go on in doubt: what the
 * keeper does not give, or what cannot be told apart from a leak, is refused. */
#include "egress/custody_request.h"

#include "base/cur.h"
#include "base/err.h"
#include "base/str.h"
#include "egress/custody_slots.h"
#include "egress/door.h"
#include "egress/scan.h"
#include "egress/sign.h"

#include <stdlib.h>
#include <string.h>

enum { PLACED_MAX = 2 * DOOR_SECRET_MAX, SENTENCE_MAX = 4096, SHOWN_MAX = 16 };

/* One question to the keeper. */
struct asked {
        struct custody_request *q;
        struct keeper_call *call;
};

struct custody_request {
        struct door *door;
        struct host_name host;
        struct origin origin;
        const struct head *in;
        struct head out;
        bool has_out, is_over;
        struct custody_uses uses;
        struct asked asked[CUSTODY_USES_MAX];
        size_t asked_n; /* that are not answered */

        const struct custody_secret *signer; /* whose signature is made anew */
        size_t signer_form;
        struct sign *sign;
        bool is_placed, is_body_here;
        const void *body;
        size_t body_n;

        uint32_t shown[SHOWN_MAX];
        size_t shown_n;
        struct buf names;

        void (*fn)(void *, const struct custody_verdict *);
        void *ctx;
};

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

/* --- what it shows --------------------------------------------------------------------------- */

void custody_request_shown(struct custody_request *q, const struct custody_secret *s)
{
        if (q->shown_n == SHOWN_MAX || custody_request_shows(q, s->number))
                return;
        q->shown[q->shown_n++] = s->number;
        if (q->names.len)
                buf_put_str(&q->names, " ");
        buf_put_str(&q->names, custody_name(s));
        buf_cstr(&q->names);
}

bool custody_request_shows(const struct custody_request *q, uint32_t number)
{
        for (size_t i = 0; i < q->shown_n; i++)
                if (q->shown[i] == number || number == DOOR_SECRET_ALL)
                        return true;
        return false;
}

uint32_t custody_request_first(const struct custody_request *q)
{
        return q->shown_n ? q->shown[0] : 0;
}

const char *custody_request_names(const struct custody_request *q)
{
        return q->names.len ? (const char *)q->names.data : "";
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

char *custody_request_leaks(struct custody_request *q, uint32_t number, const char *where)
{
        char *full = q->origin.is_tls
                             ? str_fmt("%s of a request to %s", where, q->host.text)
                             : str_fmt("%s of a request without TLS to %s", where, q->host.text);
        custody_alarm(q->door, number, full, q->host.text, q->origin.source_port);
        char *words = custody_leak_words(q->door, number, full);
        free(full);
        return words;
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

/* refuse_foreign(q, where): whoever brings a credential of its own hears which one may be used. */
static char *foreign_words(struct custody_request *q, const char *where)
{
        const struct custody_secret *s =
                custody_managed(custody_of(q->door), &q->host, q->origin.port, NULL, NULL);
        const char *name = s ? custody_name(s) : "?";
        return str_fmt("%s holds a credential that this box was not given; on %s the box may show "
                       "secret %s, whose placeholder it has. A person can let the door put it "
                       "there by itself with the word inject on the line of secret %s",
                       where, q->host.text, name, name);
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
        struct asked *a = ctx;
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
        q->asked[i] = (struct asked){.q = q};
        q->asked[i].call = keeper_ask(q->door, DOOR_PLACE, &b, on_placed, &q->asked[i]);
        q->asked_n++;
}

/* --- looking through the head ---------------------------------------------------------------- */

/* signing_form(s): does it sign before anything else? */
static bool signing_form(const struct custody_secret *s)
{
        enum rule_form form = s->line.secret->forms[0].form;
        return form == RULE_AS_SIGV4 || form == RULE_AS_HMAC;
}

/* find_injected_signer(q, place): the first secret whose line signs what nobody has signed. */
static const struct custody_secret *find_injected_signer(const struct custody_request *q,
                                                         const struct custody_place *p)
{
        for (const struct custody_secret *s = custody_of(q->door)->secrets; s; s = s->next)
                if (s->line.secret->is_injected && signing_form(s) &&
                    custody_may_show(s, p->host, p->port, p->is_tls, p->path))
                        return s;
        return NULL;
}

/* look_signed(q, place): a signature that is ours to make anew. False when there is one that was
 * made with another key, and none of ours can take its place. */
static bool look_signed(struct custody_request *q, const struct custody_place *p)
{
        bool is_foreign = false;
        for (const struct custody_secret *s = custody_of(q->door)->secrets; s; s = s->next) {
                if (!custody_may_show(s, p->host, p->port, p->is_tls, p->path))
                        continue;
                for (size_t i = 0; i < s->line.secret->forms_n; i++) {
                        enum rule_form form = s->line.secret->forms[i].form;
                        if (form != RULE_AS_SIGV4 && form != RULE_AS_HMAC)
                                continue;
                        enum sign_found found = sign_look(s, i, q->in);
                        is_foreign |= found == SIGN_FOREIGN;
                        if (found != SIGN_OURS || q->signer)
                                continue;
                        q->signer = s;
                        q->signer_form = i;
                        custody_slots_sign(s, i, q->in, &q->uses);
                }
        }
        if (is_foreign && !q->signer && sign_is_replaceable(q->in))
                return find_injected_signer(q, p) != NULL;
        return q->signer || !is_foreign;
}

static bool has_inject(const struct custody *c, const struct custody_place *p)
{
        for (const struct custody_secret *s = c->secrets; s; s = s->next)
                if (s->line.secret->is_injected &&
                    custody_may_show(s, p->host, p->port, p->is_tls, p->path))
                        return true;
        return false;
}

/* judge(q, place): NULL, or why it is refused. */
static char *judge(struct custody_request *q, const struct custody_place *p)
{
        struct custody *c = custody_of(q->door);
        uint32_t number;
        char *where = NULL, *why;
        if ((number = custody_name_leaks(q->door, &q->host)))
                return custody_request_leaks(q, number, "the name of the host");
        custody_slots_find(c, p, q->in, &q->uses);
        if (!look_signed(q, p))
                return foreign_words(q, "the signature");
        if (custody_slots_leak(q->door, q->in, &q->uses, &number, &where)) {
                why = custody_request_leaks(q, number, where);
                free(where);
                return why;
        }
        bool is_shown = q->uses.n > 0, may_inject = has_inject(c, p);
        if (custody_slots_foreign(c, p->host, p->port, q->in, &q->uses, may_inject, &where) &&
            !may_inject) {
                why = foreign_words(q, where);
                free(where);
                return why;
        }
        free(where);
        if (!is_shown) {
                custody_slots_inject(c, p, q->in, &q->uses);
                q->signer = find_injected_signer(q, p);
        }
        if (q->uses.is_full)
                return str_dup("there are too many credentials in it");
        for (size_t i = 0; i < q->uses.n; i++) {
                const struct custody_secret *s = q->uses.list[i].secret;
                if (s && s->gone)
                        return str_dup(s->gone);
                if (s)
                        custody_request_shown(q, s);
        }
        if (q->signer && q->signer->gone)
                return str_dup(q->signer->gone);
        const char *refusal = q->signer ? sign_refusal(q->signer, q->signer_form, q->in) : NULL;
        if (refusal)
                return str_dup(refusal);
        if (q->signer)
                custody_request_shown(q, q->signer);
        return NULL;
}

void custody_request_begin(struct custody_request *q)
{
        const struct custody_place p = {.host = &q->host,
                                        .port = q->origin.port,
                                        .is_tls = q->origin.is_tls,
                                        .path = &q->in->path};
        char *why = judge(q, &p);
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
