/* token.c - see token.h: when a token is fetched, who waits for it, and what follows. */
#include "keeper/token_int.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "wire/frame.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
        PARKED_MAX = 64,    /* questions that wait for one token */
        MARGIN_S = 300,     /* a token this close to its end is fetched anew */
        AGAIN_MS = 5000,    /* after a failure the endpoint is left alone for so long */
        GIVE_UP_MS = 60000, /* an answer that does not come */
        LIFE_S = 3600,      /* of a token whose endpoint does not say */
        BODY_MAX_BYTES = 32 << 10,
};

uint64_t token_now_s(void)
{
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        return (uint64_t)t.tv_sec;
}

struct token *token_of(struct keeper *k, const struct store_secret *s)
{
        if (!k->token && !(k->token = calloc(1, sizeof *k->token)))
                str_no_memory();
        for (struct token *t = k->token->tokens; t; t = t->next)
                if (t->number == s->number)
                        return t;
        struct token *t = calloc(1, sizeof *t);
        if (!t)
                str_no_memory();
        t->number = s->number;
        t->next = k->token->tokens;
        k->token->tokens = t;
        return t;
}

bool token_is_fresh(const struct token *t)
{
        uint64_t margin = t->life_s && t->life_s / 2 < MARGIN_S ? t->life_s / 2 : MARGIN_S;
        return t->expires_s > token_now_s() + margin;
}

bool token_is(const struct store_secret *s)
{
        const struct rule_secret *r = s->line.secret;
        for (size_t i = 0; i < r->forms_n; i++)
                if (r->forms[i].form == RULE_AS_GCP || r->forms[i].form == RULE_AS_GITHUB_APP ||
                    r->forms[i].form == RULE_AS_OAUTH)
                        return true;
        return r->source == RULE_FROM_LOGIN;
}

/* unlock(k, t): there is nothing to keep; others may have their turn. */
static int unlock(struct keeper *k, struct token *t)
{
        if (!t->is_locked)
                return 0;
        t->is_locked = false;
        struct buf *b = keeper_message(k, DOOR_ROTATED);
        buf_put_u32(b, t->number);
        keeper_put_bytes(b, "", 0);
        return keeper_to_supervisor(k);
}

/* token_serve_parked(k, t): everybody who waited asks again, and is answered now. */
int token_serve_parked(struct keeper *k, struct token *t)
{
        static struct frame f;
        struct token_parked *p = t->parked, *next;
        int r = unlock(k, t);
        t->step = TOKEN_IDLE;
        t->parked = NULL;
        t->parked_n = 0;
        for (; p; p = next) {
                next = p->next;
                f.type = p->type;
                f.fds_n = 0;
                f.body = cur_of(p->body, p->n);
                if (r == 0)
                        r = p->again(k, &f);
                free(p);
        }
        return r;
}

static int fail(struct keeper *k, struct token *t, const char *why)
{
        t->failed_ms = keeper_now_ms();
        snprintf(t->why, sizeof t->why, "%.299s", why);
        return token_serve_parked(k, t);
}

static int fetch(struct keeper *k, struct token *t)
{
        struct err err = {0};
        struct store_secret *s = store_find(k->store, t->number);
        if (!s || s->state != STORE_LIVE)
                return fail(k, t, "the secret is gone");
        t->step = TOKEN_FETCHING;
        t->fetch_id = ++k->token->fetch_id;
        t->began_ms = keeper_now_ms();
        if (token_make_fetch(k, t, s, &err) < 0)
                return fail(k, t, err.text);
        return keeper_to_egress(k);
}

/* begin(k, t, s): a refresh token that others use too is looked at again where the host keeps it,
 * under its lock, because using an old one can end the whole login. */
static int begin(struct keeper *k, struct token *t, const struct store_secret *s)
{
        enum rule_source from = s->line.secret->source;
        bool is_shared =
                t->kind == TOKEN_LOGIN || (t->kind == TOKEN_OAUTH && t->has_refresh &&
                                           (from == RULE_FROM_FILE || from == RULE_FROM_VAULT));
        if (!is_shared)
                return fetch(k, t);
        t->step = TOKEN_HOST;
        t->is_locked = true;
        t->began_ms = keeper_now_ms();
        buf_put_u32(keeper_message(k, DOOR_REFRESH), t->number);
        return keeper_to_supervisor(k);
}

int token_loaded(struct keeper *k, struct token *t)
{
        if (t->step != TOKEN_HOST)
                return 0;
        return token_is_fresh(t) ? token_serve_parked(k, t) : fetch(k, t);
}

static void park(struct token *t, uint32_t type, struct cur body, keeper_handler *again)
{
        struct token_parked *p = malloc(sizeof *p + body.left), **at = &t->parked;
        if (!p)
                str_no_memory();
        *p = (struct token_parked){.again = again, .type = type, .n = body.left};
        memcpy(p->body, body.p, body.left);
        while (*at)
                at = &(*at)->next;
        *at = p;
        t->parked_n++;
}

enum token_state_now token_want(struct keeper *k, struct store_secret *s, uint32_t type,
                                struct cur body, keeper_handler *again, struct err *err)
{
        struct token *t = token_of(k, s);
        uint64_t now = keeper_now_ms();
        if (token_is_fresh(t))
                return TOKEN_FRESH;
        if (t->step != TOKEN_IDLE && now - t->began_ms > GIVE_UP_MS)
                t->step = TOKEN_IDLE; /* its answer was lost with an upstream; begin anew */
        if (t->step == TOKEN_IDLE && t->failed_ms && now - t->failed_ms < AGAIN_MS) {
                err_set(err, E_SYSTEM, "%s", t->why);
                return TOKEN_FAILED;
        }
        if (t->parked_n >= PARKED_MAX) {
                err_set(err, E_SYSTEM, "too many requests wait for a token of %s",
                        s->line.secret->name);
                return TOKEN_FAILED;
        }
        park(t, type, body, again);
        if (t->step == TOKEN_IDLE && begin(k, t, s) < 0) {
                err_set(err, E_SYSTEM, "a token of %s cannot be fetched", s->line.secret->name);
                return TOKEN_FAILED;
        }
        return TOKEN_PARKED;
}

/* --- what comes back ---------------------------------------------------------------------------
 */

static struct token *by_fetch(struct keeper *k, uint32_t id)
{
        for (struct token *t = k->token ? k->token->tokens : NULL; t; t = t->next)
                if (t->step == TOKEN_FETCHING && t->fetch_id == id)
                        return t;
        return NULL;
}

static const char *value_of(const struct store_secret *s, const char *name)
{
        const struct store_part *p = store_part(s, name);
        return p ? (const char *)p->value : NULL;
}

/* rotated(k, t, s): kept by the host before anybody uses it. */
static int rotated(struct keeper *k, struct token *t, const struct store_secret *s)
{
        t->step = TOKEN_KEEPING;
        return token_keep(k, t, value_of(s, "access"), value_of(s, "refresh"),
                          value_of(s, "secret"));
}

/* take(k, t, s, got, err): a new access token, and perhaps a new refresh token. */
static int take(struct keeper *k, struct token *t, struct store_secret *s, char *const *got,
                bool *has_new_refresh, struct err *err)
{
        const char *access = got[TOKEN_GOT_ACCESS], *refresh = got[TOKEN_GOT_REFRESH];
        const char *name = s->line.secret->name;
        if (value_check(name, (const uint8_t *)access, strlen(access), err) < 0 ||
            store_set(k->store, s, "access", (const uint8_t *)access, strlen(access), STORE_SHAPED,
                      err) < 0)
                return -1;
        uint64_t life = got[TOKEN_GOT_EXPIRES] ? strtoull(got[TOKEN_GOT_EXPIRES], NULL, 10) : 0;
        /* GitHub gives a point in time ("2026-..."), always an hour away. */
        t->life_s = life >= 1 && life <= 366 * 86400 && t->kind != TOKEN_APP ? life : LIFE_S;
        t->expires_s = token_now_s() + t->life_s;
        const struct store_part *old = store_part(s, "refresh");
        *has_new_refresh =
                refresh && *refresh && t->has_refresh &&
                !(old && old->len == strlen(refresh) && memcmp(old->value, refresh, old->len) == 0);
        if (*has_new_refresh &&
            (value_check(name, (const uint8_t *)refresh, strlen(refresh), err) < 0 ||
             store_set(k->store, s, "refresh", (const uint8_t *)refresh, strlen(refresh),
                       t->kind == TOKEN_LOGIN ? STORE_SHAPED : STORE_OPEN, err) < 0))
                return -1;
        return keeper_fingers(k, s);
}

static int use(struct keeper *k, struct token *t, uint32_t status, const char *words,
               char *const *got)
{
        struct err err = {0};
        struct store_secret *s = store_find(k->store, t->number);
        bool has_new_refresh = false;
        if (!s || s->state != STORE_LIVE)
                return token_give_back(k, t, got);
        if (status / 100 != 2 || !got[TOKEN_GOT_ACCESS]) {
                const char *said = got[TOKEN_GOT_ERROR];
                _cleanup_free_ char *why =
                        status ? str_fmt("%s did not give a token for %s: it answered %u%s%.100s; "
                                         "a "
                                         "rule has to allow POST %s%s",
                                         t->host, s->line.secret->name, status, said ? ", " : "",
                                         said ? said : "", t->host, t->target)
                               : str_fmt("%s did not give a token for %s: %.200s", t->host,
                                         s->line.secret->name, words);
                return fail(k, t, why);
        }
        if (take(k, t, s, got, &has_new_refresh, &err) < 0)
                return fail(k, t, err.text);
        t->failed_ms = 0;
        if (t->kind == TOKEN_LOGIN || has_new_refresh)
                return rotated(k, t, s);
        return token_serve_parked(k, t);
}

int token_fetched(struct keeper *k, struct frame *f)
{
        uint32_t id, status, n, is_there;
        char *words = NULL, *got[TOKEN_GOT_N] = {0};
        int r = cur_u32(&f->body, &id) < 0 || cur_u32(&f->body, &status) < 0 ||
                                cur_lstr(&f->body, 1000, &words) < 0 || cur_u32(&f->body, &n) < 0 ||
                                n != TOKEN_GOT_N
                        ? -1
                        : 0;
        for (size_t i = 0; r == 0 && i < TOKEN_GOT_N; i++) {
                if (cur_u32(&f->body, &is_there) < 0 ||
                    cur_lstr(&f->body, DOOR_SECRET_MAX, &got[i]) < 0)
                        r = -1;
                else if (!is_there) {
                        free(got[i]);
                        got[i] = NULL;
                }
        }
        struct token *t = r == 0 ? by_fetch(k, id) : NULL;
        if (t)
                r = use(k, t, status, words, got);
        for (size_t i = 0; i < TOKEN_GOT_N; i++) {
                if (got[i])
                        explicit_bzero(got[i], strlen(got[i]));
                free(got[i]);
        }
        free(words);
        return r;
}

int token_kept(struct keeper *k, struct frame *f)
{
        uint32_t number, is_ok;
        if (cur_u32(&f->body, &number) < 0 || cur_u32(&f->body, &is_ok) < 0)
                return -1;
        struct store_secret *s = store_find(k->store, number);
        struct token *t = s ? token_of(k, s) : NULL;
        if (!t || t->step != TOKEN_KEEPING)
                return 0;
        /* It is good even where it could not be written down; the user has been told by then. */
        return token_serve_parked(k, t);
}

/* --- a call of the box to the token endpoint ---------------------------------------------------
 */

static bool is_ours(const struct token *t, const struct store_secret *s, const uint8_t *body,
                    size_t n)
{
        if (t->kind == TOKEN_GCP)
                return memmem(body, n, "assertion", 9) != NULL;
        for (size_t i = 0; i < s->parts_n; i++) {
                const char *p = s->parts[i].placeholder;
                if (p && memmem(body, n, p, strlen(p)))
                        return true;
        }
        return false;
}

static int answer_call(struct keeper *k, const struct keeper_ask *a, const struct token *t)
{
        const struct store_secret *s = a->secret;
        const struct store_part *access = store_part(s, "access"),
                                *refresh = store_part(s, "refresh");
        json_t *o = json_object();
        json_object_set_new(o, "access_token", json_string(access ? access->placeholder : ""));
        json_object_set_new(o, "token_type", json_string("Bearer"));
        json_object_set_new(o, "expires_in",
                            json_integer((json_int_t)(t->expires_s - token_now_s())));
        if (refresh && refresh->placeholder)
                json_object_set_new(o, "refresh_token", json_string(refresh->placeholder));
        if (t->scope)
                json_object_set_new(o, "scope", json_string(t->scope));
        char *text = json_dumps(o, JSON_COMPACT);
        json_decref(o);
        struct buf *b = keeper_message(k, DOOR_TOKEN_OK);
        buf_put_u32(b, a->id);
        buf_put_lstr(b, text ? text : "{}");
        store_drop(text);
        keeper_ask_yes(k, a, "the token call was answered here");
        return keeper_to_egress(k);
}

int token_call(struct keeper *k, struct frame *f)
{
        _cleanup_keeper_ask_ struct keeper_ask a = {.what = "token"};
        const struct cur whole = f->body;
        const uint8_t *body;
        size_t n;
        struct err err = {0};
        if (keeper_ask_get(&f->body, &a) < 0 ||
            keeper_get_bytes(&f->body, BODY_MAX_BYTES, &body, &n) < 0)
                return -1;
        int sent;
        a.secret = store_find(k->store, a.number);
        if (!a.secret || !token_is(a.secret))
                return keeper_ask_no(k, &a, DOOR_NO_GRANT, "there is no such token endpoint");
        if (keeper_ask_is_held(k, &a, &sent))
                return sent;
        struct token *t = token_of(k, a.secret);
        if (a.secret->state != STORE_LIVE)
                return keeper_ask_no(k, &a, DOOR_NO_REVOKED, "%s was revoked",
                                     a.secret->line.secret->name);
        if (!a.to.is_tls || !t->host || strcmp(a.to.host, t->host) != 0 || a.to.port != t->port ||
            strcmp(a.to.path, t->target) != 0 || !is_ours(t, a.secret, body, n))
                return keeper_ask_no(k, &a, DOOR_NO_SLOT, "nothing in it is ours");
        switch (token_want(k, a.secret, DOOR_TOKEN, whole, token_call, &err)) {
        case TOKEN_PARKED:
                return 0;
        case TOKEN_FAILED:
                return keeper_ask_no(k, &a, DOOR_NO_VALUE, "%s", err.text);
        case TOKEN_FRESH:
                break;
        }
        return answer_call(k, &a, t);
}
