/* custody_body_make.c - see custody_body.h: which coding a body has, which slots are declared in
 * it, and what that means for the head that goes in front of it. A body that cannot be read is
 * refused here, before anything of it leaves. */
#include "egress/custody_body_int.h"

#include "base/err.h"
#include "base/str.h"
#include "policy/cred_slots.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SCHEME_MAX = 32 }; /* "Bearer " before a placeholder */

static enum rule_form form_of_type(const struct head *h)
{
        const struct field *f = head_find(h, "content-type");
        const char *s = f ? head_str(h, f->value) : "";
        size_t n = strcspn(s, "; \t");
        if ((n == 16 && strncasecmp(s, "application/json", n) == 0) ||
            (n == 9 && strncasecmp(s, "text/json", n) == 0) ||
            (n > 5 && strncasecmp(s + n - 5, "+json", 5) == 0))
                return RULE_AS_JSON;
        if (n == 33 && strncasecmp(s, "application/x-www-form-urlencoded", n) == 0)
                return RULE_AS_FORM;
        return RULE_AS_SSH; /* which no body has */
}

static void find_slots(struct custody_body *b, enum rule_form kind, const struct host_name *host,
                       const struct origin *o, const struct head *h)
{
        size_t longest = 0;
        for (const struct custody_secret *s = custody_of(b->door)->secrets; s; s = s->next) {
                if (!custody_may_show(s, host, o->port, o->is_tls, &h->path))
                        continue;
                for (size_t i = 0; i < s->line.secret->forms_n; i++) {
                        const struct rule_secret_form *f = &s->line.secret->forms[i];
                        if (f->form != kind || b->slots_n == CUSTODY_BODY_SLOTS_MAX)
                                continue;
                        b->slots[b->slots_n] = (struct slot){s, i};
                        b->names[b->slots_n++] = f->name;
                        for (size_t k = 0; k < s->parts_n; k++)
                                if (strlen(s->parts[k].placeholder) > longest)
                                        longest = strlen(s->parts[k].placeholder);
                }
        }
        if (b->slots_n == 0)
                return;
        b->sink = (struct custody_sink){
                .pass = custody_body_pass, .slot = custody_body_slot, .ctx = b};
        if (kind != RULE_AS_FORM)
                b->json = custody_json_new(b->names, b->slots_n, longest + SCHEME_MAX, &b->sink);
        else
                b->form = custody_form_new(b->names, b->slots_n, longest, &b->sink);
}

static struct custody_body *make(struct door *d, struct custody_request *q,
                                 const struct host_name *host, const struct custody_body_ops *ops,
                                 void *ctx)
{
        struct custody_body *b = calloc(1, sizeof *b);
        if (!b)
                str_no_memory();
        *b = (struct custody_body){.door = d,
                                   .q = q,
                                   .ops = ops,
                                   .ctx = ctx,
                                   .where = "the body",
                                   .timer = {.fn = custody_body_quiet, .ctx = b},
                                   .job = {.fn = custody_body_turn, .ctx = b},
                                   .is_model = cred_slots_is_model_host(host)};
        custody_body_charge(b);
        return b;
}

/* unread(h): gRPC compresses message by message, with lengths of the compressed ones in between;
 * clients do so only when they are told to. */
static const char *unread(const struct head *h)
{
        const struct field *f = h->is_grpc ? head_find(h, "grpc-encoding") : NULL;
        bool is_coded = f && strcasecmp(head_str(h, f->value), "identity") != 0;
        if (is_coded)
                return "messages of gRPC that are compressed cannot be read here; turn the "
                       "client's "
                       "compression off";
        return head_count(h, "content-encoding") > 1 ? "it has two codings" : NULL;
}

/* look_inside(b, h): also into what is packed in it. JSON and forms are text. */
static void look_inside(struct custody_body *b, const struct head *h)
{
        if (!b->slots_n && !h->is_grpc)
                b->pack = pack_new(door_work(b->door), &b->door->account);
}

struct custody_body *custody_body_new(struct door *d, struct custody_request *q,
                                      const struct host_name *host, const struct origin *o,
                                      const struct head *h, const struct custody_body_ops *ops,
                                      void *ctx, char **why)
{
        struct err err = {0};
        const struct field *f = head_find(h, "content-encoding");
        *why = NULL;
        if (h->body == HEAD_BODY_NONE || !custody_of(d)->placeholders)
                return NULL;
        struct undo *u = NULL;
        const char *bad = unread(h);
        if (!bad && f && undo_new(head_str(h, f->value), door_work(d), &d->account, &u, &err) < 0)
                bad = err.text;
        if (bad) {
                *why = str_fmt("its body cannot be looked through for secrets: %s", bad);
                return NULL;
        }
        struct custody_body *b = make(d, q, host, ops, ctx);
        b->undo = u;
        find_slots(b, form_of_type(h), host, o, h);
        look_inside(b, h);
        if (b->slots_n) {
                struct head *out = custody_request_head(q);
                out->body = HEAD_BODY_STREAM;
                out->has_length = false;
                if (u)
                        head_drop(out, "content-encoding");
                head_drop(out, "content-md5"); /* of a body that nobody will see */
                head_drop(out, "digest");
                head_drop(out, "content-digest");
        }
        return b;
}

struct custody_body *custody_body_watch(struct door *d, struct custody_request *q,
                                        const struct host_name *host, const struct origin *o,
                                        const struct head *h, const struct custody_body_ops *ops,
                                        void *ctx)
{
        struct err err = {0};
        const struct field *f = head_find(h, "content-encoding");
        struct undo *u = NULL;
        if (h->body == HEAD_BODY_NONE || !custody_of(d)->placeholders || unread(h) ||
            (f && undo_new(head_str(h, f->value), door_work(d), &d->account, &u, &err) < 0))
                return NULL;
        struct custody_body *b = make(d, q, host, ops, ctx);
        b->undo = u;
        b->is_watch = true;
        find_slots(b, form_of_type(h), host, o, h);
        look_inside(b, h);
        return b;
}

struct custody_body *custody_body_message(struct door *d, struct custody_request *q,
                                          const struct host_name *host, const struct origin *o,
                                          const struct head *h, const struct custody_body_ops *ops,
                                          void *ctx)
{
        struct custody_body *b = make(d, q, host, ops, ctx);
        b->where = "a WebSocket message";
        find_slots(b, RULE_AS_WS, host, o, h);
        return b;
}

bool custody_body_has_slots(const struct custody_body *b)
{
        return b->slots_n > 0;
}

void custody_body_stop(struct custody_body *b)
{
        if (!b)
                return;
        b->is_over = true;
        loop_timer_stop(&b->timer);
        work_drop(door_work(b->door), &b->job);
        keeper_cancel(b->door, b->call);
        b->call = NULL;
}

void custody_body_free(struct custody_body *b)
{
        if (!b)
                return;
        custody_body_stop(b);
        undo_free(b->undo);
        pack_free(b->pack);
        scan_free(&b->scan);
        buf_free(&b->tail);
        custody_json_free(b->json);
        custody_form_free(b->form);
        buf_free(&b->lag);
        buf_free(&b->waiting);
        buf_free(&b->pend);
        account_set(&b->door->account, &b->charged, 0);
        free(b);
}
