/* serve_ask.c - judging what egress asks for. Whoever has taken egress over may ask for anything,
 * so nothing that it says is believed: host and path are parsed again, and the secret's own line is
 * asked (case S6, S9). A refusal is an answer and a line of the log; it never says a value. */
#include "keeper/keeper_int.h"

#include "base/err.h"
#include "base/str.h"
#include "keeper/token.h"
#include "policy/cred_slots.h"
#include "policy/match.h"
#include "wire/frame.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int keeper_ask_get(struct cur *c, struct keeper_ask *a)
{
        if (cur_u32(c, &a->id) < 0 || cur_u32(c, &a->number) < 0 || cur_u32(c, &a->form_at) < 0 ||
            door_toward_get(c, &a->to, &a->strings) < 0)
                return -1;
        return 0;
}

void keeper_ask_free(struct keeper_ask *a)
{
        buf_free(&a->strings);
        path_canon_free(&a->path);
}

static const char *name_of(const struct keeper_ask *a)
{
        return a->secret ? a->secret->line.secret->name : "";
}

/* "STRIPE_KEY at api.stripe.com": whose line decided. */
static char *rule_of(const struct keeper_ask *a)
{
        if (!a->secret)
                return str_dup("");
        _cleanup_buf_ struct buf b = {0};
        const struct rule_secret *s = a->secret->line.secret;
        buf_put_fmt(&b, "secret %s at ", s->name);
        for (size_t i = 0; i < s->places_n; i++) {
                buf_put_str(&b, i ? "," : "");
                rule_place_print(&s->places[i], &b);
        }
        return str_dup(buf_cstr(&b));
}

static void record(struct keeper *k, const struct keeper_ask *a, const char *verdict,
                   const char *note)
{
        char *rule = rule_of(a);
        keeper_record(k, &(struct door_record){.verdict = verdict,
                                               .rule = rule,
                                               .host = a->to.host,
                                               .port = a->to.port,
                                               .method = a->to.method,
                                               .path = a->to.path,
                                               .secrets = name_of(a),
                                               .note = note});
        free(rule);
}

void keeper_ask_yes(struct keeper *k, const struct keeper_ask *a, const char *note)
{
        record(k, a, "allow", note);
}

int keeper_ask_no(struct keeper *k, struct keeper_ask *a, enum door_no why, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        char *text = str_vfmt(fmt, ap);
        va_end(ap);
        struct buf *b = keeper_message(k, DOOR_PLACE_NO);
        buf_put_u32(b, a->id);
        buf_put_u32(b, why);
        buf_put_lstr(b, text);
        int r = keeper_to_egress(k);
        record(k, a, "deny", text);
        free(text);
        return r;
}

/* The line as the user wrote it about where and how; the answer to "why not?". */
static void refuse_place(struct keeper *k, struct keeper_ask *a)
{
        char *rule = rule_of(a);
        const struct rule_secret *s = a->secret->line.secret;
        if (!a->to.is_tls && !s->is_plain)
                keeper_ask_no(k, a, DOOR_NO_GRANT,
                              "%s is only shown over TLS; \"plain\" at the end of its line would "
                              "allow it without",
                              s->name);
        else
                keeper_ask_no(k, a, DOOR_NO_GRANT, "%s may not be shown to %s port %u%s: it is %s",
                              s->name, a->host.text, a->to.port, a->path.text, rule);
        free(rule);
}

/* A token is fetched when it is wanted. */
static bool is_there(const struct store_secret *x)
{
        if (token_is(x))
                return true;
        for (size_t i = 0; i < x->parts_n; i++)
                if (x->parts[i].value)
                        return true;
        return false;
}

/* judge_state(k, a): is there anything to show at all? */
static bool judge_state(struct keeper *k, struct keeper_ask *a)
{
        struct store_secret *x = a->secret;
        if (x->expires_ms && x->state == STORE_LIVE && keeper_now_ms() >= x->expires_ms)
                keeper_expire(k);
        if (x->state == STORE_REVOKED)
                keeper_ask_no(k, a, DOOR_NO_REVOKED, "%s was revoked", name_of(a));
        else if (x->state == STORE_EXPIRED)
                keeper_ask_no(k, a, DOOR_NO_EXPIRED,
                              "%s has expired: its line gives it a ttl= of %lu seconds", name_of(a),
                              (unsigned long)x->line.secret->ttl_s);
        else if (!is_there(x))
                keeper_ask_no(k, a, DOOR_NO_VALUE, "there is no value for %s", name_of(a));
        return x->state == STORE_LIVE && is_there(x);
}

int serve_hold(struct keeper *k, struct frame *f)
{
        uint32_t is_held;
        if (cur_u32(&f->body, &is_held) < 0 || f->body.left)
                return -1;
        k->is_held = is_held;
        return 0;
}

bool keeper_ask_is_held(struct keeper *k, struct keeper_ask *a, int *sent)
{
        if (k->is_held)
                *sent = keeper_ask_no(k, a, DOOR_NO_LIMIT,
                                      "the box is paused: nothing is shown or signed until "
                                      "`ostiary resume`");
        return k->is_held;
}

bool keeper_ask_judge(struct keeper *k, struct keeper_ask *a, unsigned forms)
{
        int sent;
        a->secret = store_find(k->store, a->number);
        if (keeper_ask_is_held(k, a, &sent))
                return false;
        if (!a->secret) {
                keeper_ask_no(k, a, DOOR_NO_GRANT, "there is no such secret");
                return false;
        }
        const struct rule_secret *s = a->secret->line.secret;
        if (!judge_state(k, a))
                return false;
        if (a->form_at >= s->forms_n || !(forms & (1u << s->forms[a->form_at].form))) {
                keeper_ask_no(k, a, DOOR_NO_GRANT, "the line of %s does not name this form",
                              s->name);
                return false;
        }
        a->form = &s->forms[a->form_at];
        /* Case S3: what servers send back is no place for a secret, whatever a line says. */
        if (a->form->form == RULE_AS_HEADER && cred_slots_is_reflective(a->form->name)) {
                keeper_ask_no(k, a, DOOR_NO_GRANT,
                              "%s is never put into the header %s, because servers send it back",
                              s->name, a->form->name);
                return false;
        }
        struct err err = {0};
        if (host_name_parse(a->to.host, strlen(a->to.host), &a->host, &err) < 0 ||
            path_canon_parse(a->to.path, strlen(a->to.path), &a->path, &err) < 0) {
                keeper_ask_no(k, a, DOOR_NO_GRANT, "%s", err.text);
                return false;
        }
        if (!match_secret(s, &a->host, a->to.port, a->to.is_tls, &a->path)) {
                refuse_place(k, a);
                return false;
        }
        a->secret->used_ms = keeper_now_ms();
        return true;
}
