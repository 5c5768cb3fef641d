/* sup_secrets_reload.c - the secret lines of a policy that was read again while the box runs: a
 * line that is gone is revoked at once, a changed one is in force for the next request, a new one
 * gets a placeholder. What a running box cannot be given is said in a sentence. Called by
 * sup_rules.c when the rules of the same reading are in force. See sup_secrets.h. It must never
 * leave a wider line in force without saying so. */
#include "session/sup_secrets.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "session/secret_kept.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One reload that waits for sources, for the keeper, or until something is revoked. */
struct sup_reload {
        struct client *client; /* NULL: nobody listens (any more) */
        uint64_t generation;
        size_t waiting_n;
};

/* What is made of the value, and so of the box's side of it. */
enum kind { KIND_PLAIN, KIND_AWS, KIND_TOKEN, KIND_SSH };

static enum kind kind_of(const struct rule_secret *r)
{
        enum kind k = r->source == RULE_FROM_LOGIN ? KIND_TOKEN
                      : r->source == RULE_FROM_AWS ? KIND_AWS
                                                   : KIND_PLAIN;
        for (size_t i = 0; i < r->forms_n; i++) {
                enum rule_form f = r->forms[i].form;
                if (f == RULE_AS_SSH)
                        return KIND_SSH;
                if (f == RULE_AS_GCP || f == RULE_AS_GITHUB_APP || f == RULE_AS_OAUTH)
                        k = KIND_TOKEN;
                else if (f == RULE_AS_SIGV4 && k == KIND_PLAIN)
                        k = KIND_AWS;
        }
        return k;
}

static bool has_form(const struct rule_secret *r, enum rule_form form)
{
        for (size_t i = 0; i < r->forms_n; i++)
                if (r->forms[i].form == form)
                        return true;
        return false;
}

static bool is_same_source(const struct rule_secret *a, const struct rule_secret *b)
{
        const char *x = a->source_arg ? a->source_arg : "", *y = b->source_arg ? b->source_arg : "";
        return a->source == b->source && strcmp(x, y) == 0;
}

/* --- telling -----------------------------------------------------------------------------------
 */

static __attribute__((format(printf, 3, 4))) void say(const struct sup_secrets *all,
                                                      const char *name, const char *fmt, ...)
{
        struct client *c = all->reload ? all->reload->client : NULL;
        va_list ap;
        va_start(ap, fmt);
        _cleanup_free_ char *words = str_vfmt(fmt, ap);
        va_end(ap);
        _cleanup_free_ char *line = str_fmt("secret %s: %s", name, words);
        _cleanup_buf_ struct buf b = {0};
        buf_put_lstr(&b, line);
        if (c)
                client_send(c, MSG_NOTICE, b.data, b.len);
}

/* step(all): one less to wait for; whoever asked hears when it was the last. */
static void step(struct sup_secrets *all)
{
        struct sup_reload *r = all->reload;
        if (!r || --r->waiting_n > 0)
                return;
        _cleanup_buf_ struct buf b = {0};
        buf_put_u64(&b, r->generation);
        all->reload = NULL;
        if (r->client)
                client_send(r->client, MSG_DONE, b.data, b.len);
        free(r);
}

static void wait_for(struct sup_secret *x)
{
        x->is_reloaded = true;
        x->all->reload->waiting_n++;
}

void sup_secrets_reload_forget(struct client *c)
{
        struct sup_secrets *all = c->sup->secrets;
        if (all && all->reload && all->reload->client == c)
                all->reload->client = NULL; /* what was asked for is done all the same */
}

void sup_secrets_reload_end(struct sup_secrets *all)
{
        struct sup_reload *r = all->reload;
        struct err err = {0};
        if (!r)
                return;
        all->reload = NULL;
        err_set(&err, E_SYSTEM, "the box's keys are gone before all of it was done");
        if (r->client)
                client_send_failed(r->client, &err);
        free(r);
        for (size_t i = 0; i < all->n; i++)
                all->v[i].is_reloaded = false;
}

/* --- what comes of it --------------------------------------------------------------------------
 */

/* keep_placeholders(all): for the next life of the box. */
static void keep_placeholders(const struct sup_secrets *all)
{
        struct err err = {0};
        if (secret_kept_write(all->sup->dir_fd, &all->sup->plan->secrets, &err) < 0)
                sup_tell(all->sup, err.text);
}

void sup_secrets_reloaded(struct sup_secret *x, const struct err *err)
{
        struct sup_secrets *all = x->all;
        const char *name = x->secret->line.secret->name;
        bool is_new = x->state == SUP_SECRET_ASKED;
        x->is_reloaded = false;
        if (x->state == SUP_SECRET_REVOKED) {
                say(all, name, "revoked, because its line is gone");
        } else if (err && is_new) {
                x->state = SUP_SECRET_LEFT_OUT;
                say(all, name, "not taken in: %s", err->text);
        } else if (err) {
                rule_line_free(&x->secret->line);
                x->secret->line = x->was;
                x->was = (struct rule_line){0};
                say(all, x->secret->line.secret->name,
                    "its line was not taken, and the one before stays: %s", err->text);
        } else if (is_new) {
                x->is_late = true;
                keep_placeholders(all);
                say(all, name,
                    "taken in; what runs in the box already has no placeholder for it, what "
                    "ostiary exec starts from now on finds it as $%s",
                    session_secret_part(x->secret, "id") ? "AWS_SECRET_ACCESS_KEY" : name);
        } else {
                if (x->was.secret->ttl_s != x->secret->line.secret->ttl_s)
                        x->since_ms = loop_now(all->sup->loop);
                say(all, name, "its new line is in force");
        }
        rule_line_free(&x->was);
        x->was = (struct rule_line){0};
        step(all);
}

void sup_secrets_env(struct sup *s, struct strs *env)
{
        struct sup_secrets *all = s->secrets;
        bool has_aws = strs_get_env(&s->plan->box.env, "AWS_ACCESS_KEY_ID") != NULL;
        struct strs late = {0};
        for (size_t i = 0; all && i < all->n; i++)
                if (all->v[i].is_late)
                        sup_secrets_put_env(all->v[i].secret, &late, &has_aws);
        for (size_t i = 0; i < late.n; i++) {
                size_t n = strcspn(late.v[i], "=");
                _cleanup_free_ char *name = str_fmt("%.*s", (int)n, late.v[i]);
                if (!strs_get_env(env, name)) /* who says --env means it */
                        strs_add(env, late.v[i]);
        }
        strs_free(&late);
}

/* --- lines that are gone, changed, new ---------------------------------------------------------
 */

static void take_away(struct sup_secret *x)
{
        struct sup *s = x->all->sup;
        wait_for(x);
        sup_secrets_revoke(s, x->secret->number, NULL);
        if (x->is_reloaded && !s->door->roles[SUP_KEEPER].pid)
                sup_secrets_reloaded(x, NULL); /* nobody holds it */
}

/* ask(x): its source; commands of a box that began without any have the plainest environment. */
static void ask(struct sup_secret *x)
{
        struct sup_secrets *all = x->all;
        if (all->sup->plan->secrets.env.n == 0) {
                strs_set_env(&all->plain_env, "HOME", all->sup->plan->box.home);
                strs_set_env(&all->plain_env, "PATH", "/usr/local/bin:/usr/bin:/bin");
                x->source.env = &all->plain_env;
        }
        wait_for(x);
        sup_secrets_ask(x);
}

static void change(struct sup_secret *x, struct session_secret *fresh)
{
        struct sup_secrets *all = x->all;
        const struct rule_secret *old = x->secret->line.secret, *new = fresh->line.secret;
        enum kind kind = kind_of(new);
        struct err err = {0};
        const char *stays = "the line before stays; ostiary revoke ends it";
        bool is_line_only = kind == KIND_PLAIN && is_same_source(old, new);
        if (x->state == SUP_SECRET_REVOKED) {
                say(all, new->name, "it was revoked in this box and stays so; start another box");
                return;
        }
        if (x->is_busy) {
                say(all, new->name, "it gets a fresh value just now, so %s; reload again", stays);
                return;
        }
        if (kind != kind_of(old) || kind == KIND_SSH) {
                say(all, new->name,
                    "a box gets a key of this kind only when it starts, so %s, or start another "
                    "box",
                    stays);
                return;
        }
        if (!is_line_only && new->source == RULE_FROM_ENV) {
                say(all, new->name,
                    "a variable of the shell that started the box cannot be asked again, so %s",
                    stays);
                return;
        }
        x->was = x->secret->line;
        x->secret->line = fresh->line;
        fresh->line = (struct rule_line){0};
        free(x->secret->where);
        x->secret->where = take_ptr(&fresh->where);
        if (!is_line_only) {
                ask(x);
                return;
        }
        wait_for(x);
        x->is_busy = true;
        if (sup_secrets_give(x, -1, &err) < 0)
                sup_secrets_settled(x, &err);
}

/* cannot_add(all, fresh): why a running box cannot be given it, or NULL; the caller frees. */
static char *cannot_add(const struct sup_secrets *all, const struct session_secret *fresh)
{
        struct sup *s = all->sup;
        const struct rule_secret *r = fresh->line.secret;
        struct err err = {0};
        if (s->door->state == SUP_DOOR_NONE || s->door->state == SUP_DOOR_SHUT)
                return str_dup("the box has no network");
        if (all->n == DOOR_SECRETS_MAX)
                return str_fmt("a box can have at most %d secrets", (int)DOOR_SECRETS_MAX);
        if (kind_of(r) == KIND_SSH || r->source == RULE_FROM_LOGIN || has_form(r, RULE_AS_GCP))
                return str_dup("it stands in a file or socket of the box, which is made when the "
                               "box starts; start another box");
        if (r->source == RULE_FROM_ENV)
                return str_dup("a variable can be read only by the shell that starts a box; keep "
                               "it in the vault (ostiary secret set), or start another box");
        if (source_is_there(fresh, s->plan->box.home, &err) < 0 ||
            source_clock(r, time(NULL), &err) < 0 ||
            (!s->door->roles[SUP_KEEPER].pid && sup_door_keeper(s, &err) < 0))
                return str_dup(err.text);
        return NULL;
}

static void add(struct sup_secrets *all, struct session_secret *fresh)
{
        struct session_secrets *plan = &all->sup->plan->secrets;
        if (fresh->line.secret->source == RULE_FROM_ANY) /* the shell with its variables is gone */
                fresh->line.secret->source = RULE_FROM_VAULT;
        _cleanup_free_ char *why = cannot_add(all, fresh);
        if (why) {
                if (!fresh->is_optional || fresh->is_general) /* a profile's may be there */
                        say(all, fresh->line.secret->name, "not taken in: %s", why);
                return;
        }
        struct session_secret *v = reallocarray(plan->v, plan->n + 1, sizeof *v);
        if (!v)
                str_no_memory();
        plan->v = v;
        for (size_t i = 0; i < all->n; i++)
                all->v[i].secret = all->v[i].source.secret = &v[i];
        v[plan->n] = *fresh;
        v[plan->n].number = (uint32_t)plan->n + 1;
        *fresh = (struct session_secret){.value_fd = -1};
        ask(sup_secrets_add(all, &v[plan->n++]));
}

/* add_again(x, fresh): one that could not be had when it was first asked for. */
static void add_again(struct sup_secret *x, struct session_secret *fresh)
{
        if ((fresh->is_optional && !fresh->is_general) ||
            fresh->line.secret->source == RULE_FROM_ENV)
                return;
        rule_line_free(&x->secret->line);
        x->secret->line = fresh->line;
        fresh->line = (struct rule_line){0};
        x->state = SUP_SECRET_ASKED;
        ask(x);
}

static struct session_secret *find(struct session_secrets *all, const char *name)
{
        for (size_t i = 0; i < all->n; i++)
                if (all->v[i].line.secret && strcmp(all->v[i].line.secret->name, name) == 0)
                        return &all->v[i];
        return NULL;
}

void sup_secrets_reload(struct sup *s, struct session_secrets *fresh, struct client *c,
                        uint64_t generation)
{
        struct sup_secrets *all = sup_secrets_of(s);
        size_t had = all->n;
        struct sup_reload *r = calloc(1, sizeof *r);
        if (!r)
                str_no_memory();
        /* One more than it waits for, so that it is not over before everything was begun. */
        *r = (struct sup_reload){.client = c, .generation = generation, .waiting_n = 1};
        if (all->reload) {
                struct sup_reload *other = all->reload;
                all->reload = r;
                if (fresh->n || all->n)
                        say(all, "lines",
                            "not looked at: another reload waits for its secrets; "
                            "reload again");
                step(all);
                all->reload = other;
                return;
        }
        all->reload = r;
        all->is_up = true;
        for (size_t i = 0; i < had && all->reload; i++) { /* what goes goes first */
                struct sup_secret *x = &all->v[i];
                if (x->state == SUP_SECRET_HELD && !find(fresh, x->secret->line.secret->name))
                        take_away(x);
        }
        for (size_t i = 0; i < had && all->reload; i++) {
                struct sup_secret *x = &all->v[i];
                struct session_secret *f = find(fresh, x->secret->line.secret->name);
                if (f && f->line.secret->source == RULE_FROM_ANY) /* as it was found at the start */
                        f->line.secret->source =
                                x->secret->took ? x->secret->line.secret->source : RULE_FROM_VAULT;
                if (f && x->state == SUP_SECRET_LEFT_OUT)
                        add_again(x, f);
                else if (f && !rule_line_equal(&x->secret->line, &f->line))
                        change(x, f);
                if (f)
                        session_secret_free(f);
        }
        for (size_t i = 0; i < fresh->n && all->reload; i++)
                if (fresh->v[i].line.secret)
                        add(all, &fresh->v[i]);
        step(all);
}
