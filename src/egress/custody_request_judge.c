/* custody_request_judge.c - see custody_request.h: what a request's head shows, and whether it may:
 * slots with placeholders, signatures to be made anew, placeholders that have no business there,
 * credentials of somebody else, secrets that are put in unasked. Asks nobody. It must never let
 * pass what cannot be told apart from a leak. */
#include "egress/custody_request_int.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "egress/sign.h"

#include <stdlib.h>

/* --- what it shows --------------------------------------------------------------------------- */

void custody_request_shown(struct custody_request *q, const struct custody_secret *s)
{
        if (q->shown_n == CUSTODY_SHOWN_MAX || custody_request_shows(q, s->number))
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

/* --- looking through the head ---------------------------------------------------------------- */

/* foreign_words(q, where): whoever brings a credential of its own hears which one may be used. */
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

/* head_leaks(q): the sentence when a placeholder stands outside the slots that were found. */
static char *head_leaks(struct custody_request *q)
{
        struct custody *c = custody_of(q->door);
        uint32_t numbers[CUSTODY_LEAKS_MAX];
        struct custody_leaks l = {0};
        if (q->is_tripped && q->trip_generation == c->generation)
                return NULL;
        size_t named = q->host.kind == HOST_NAME
                               ? custody_text_all(q->door, q->host.text, q->host.len, numbers)
                               : 0;
        for (size_t i = 0; i < named; i++)
                custody_leaks_add(&l, numbers[i], "the name of the host");
        if (c->placeholders)
                custody_slots_leak(q->door, q->in, &q->uses, &l);
        return custody_request_rings(q, &l);
}

char *custody_request_trip(struct custody_request *q)
{
        struct custody *c = custody_of(q->door);
        const struct custody_place p = {.host = &q->host,
                                        .port = q->origin.port,
                                        .is_tls = q->origin.is_tls,
                                        .path = &q->in->path};
        custody_slots_find(c, &p, q->in, &q->uses);
        look_signed(q, &p);
        char *why = head_leaks(q);
        /* Who waits for a person, or for a body, is judged anew afterwards. */
        custody_uses_free(&q->uses);
        q->signer = NULL;
        q->is_tripped = !why;
        q->trip_generation = c->generation;
        return why;
}

char *custody_request_judge(struct custody_request *q, const struct custody_place *p)
{
        struct custody *c = custody_of(q->door);
        char *where = NULL, *why;
        custody_slots_find(c, p, q->in, &q->uses);
        bool is_ours = look_signed(q, p);
        if ((why = head_leaks(q)))
                return why;
        if (!is_ours)
                return foreign_words(q, "the signature");
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
