/* sign.c - see sign.h: egress asks for a signature; the keeper judges the request by its own copy
 * of the line, makes the signature and keeps the chains of signed chunks. Called through
 * serve_table.c. It must never say more of a key than a signature does. */
#include "keeper/sign.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "keeper/sigv4.h"
#include "wire/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FIELDS_MAX = 160, TARGET_MAX = 20 << 10, BODY_INLINE_MAX = 56 << 10, URL_LIFE_S = 900 };

/* Chains that are open, each in locked memory, because it holds a derived key. */
struct chain {
        struct chain *next;
        uint32_t id, number;
        struct sigv4_chain sig;
};
struct sign_state {
        struct chain *chains;
        size_t chains_n;
        uint32_t last_id;
};

static void chain_drop(struct sign_state *s, struct chain **at)
{
        struct chain *c = *at;
        *at = c->next;
        s->chains_n--;
        store_drop(c);
}

/* chain_find(k, id): where it hangs, or NULL. One whose secret is gone goes as well: a revoked
 * secret signs nothing any more, also not the rest of an upload. */
static struct chain **chain_find(struct keeper *k, uint32_t id)
{
        for (struct chain **at = k->sign ? &k->sign->chains : NULL; at && *at; at = &(*at)->next) {
                if ((*at)->id != id)
                        continue;
                const struct store_secret *s = store_find(k->store, (*at)->number);
                if (s && s->state == STORE_LIVE)
                        return at;
                chain_drop(k->sign, at);
                break;
        }
        return NULL;
}

/* chain_open(k, number, sig): its id; 0 when there are too many or no memory. */
static uint32_t chain_open(struct keeper *k, uint32_t number, const struct sigv4_chain *sig)
{
        if (!k->sign && !(k->sign = calloc(1, sizeof *k->sign)))
                return 0;
        struct sign_state *s = k->sign;
        struct chain *c = s->chains_n < SIGN_CHAINS_MAX ? store_alloc(sizeof *c) : NULL;
        if (!c)
                return 0;
        if (++s->last_id == 0)
                s->last_id = 1;
        *c = (struct chain){.next = s->chains, .id = s->last_id, .number = number, .sig = *sig};
        s->chains = c;
        s->chains_n++;
        return c->id;
}

void sign_gone(struct keeper *k, uint32_t number)
{
        for (struct chain **at = k->sign ? &k->sign->chains : NULL; at && *at;) {
                if ((*at)->number == number)
                        chain_drop(k->sign, at);
                else
                        at = &(*at)->next;
        }
}

void sign_forget(struct keeper *k)
{
        while (k->sign && k->sign->chains)
                chain_drop(k->sign, &k->sign->chains);
        free(k->sign);
        k->sign = NULL;
}

/* --- a question, read --- */

struct question {
        struct keeper_ask ask;
        char *target;
        struct sigv4_field fields[FIELDS_MAX];
        char *texts[2 * FIELDS_MAX];
        size_t fields_n, texts_n;
        const uint8_t *payload;
        size_t payload_n;
};

static void question_free(struct question *q)
{
        keeper_ask_free(&q->ask);
        free(q->target);
        for (size_t i = 0; i < q->texts_n; i++)
                free(q->texts[i]);
}

static int question_get(struct cur *c, struct question *q)
{
        uint32_t n;
        if (keeper_ask_get(c, &q->ask) < 0 || cur_lstr(c, TARGET_MAX, &q->target) < 0 ||
            q->target[0] != '/' || cur_u32(c, &n) < 0 || n > FIELDS_MAX)
                return -1;
        for (uint32_t i = 0; i < n; i++)
                for (int part = 0; part < 2; part++) {
                        char **text = &q->texts[q->texts_n];
                        if (cur_lstr(c, BODY_INLINE_MAX, text) < 0)
                                return -1;
                        q->texts_n++;
                        if (part == 0)
                                q->fields[i].name = *text;
                        else
                                q->fields[q->fields_n++].value = *text;
                }
        if (keeper_get_bytes(c, BODY_INLINE_MAX, &q->payload, &q->payload_n) < 0 || c->left)
                return -1;
        return 0;
}

/* --- sigv4 --- */

static void keys_free(void *p)
{
        store_drop(p);
}

/* keys_of(s): what was derived from this secret; NULL when there is no memory for it. */
static struct sigv4_keys *keys_of(struct store_secret *s)
{
        if (!s->cache) {
                s->cache = store_alloc(sizeof(struct sigv4_keys));
                if (s->cache)
                        memset(s->cache, 0, sizeof(struct sigv4_keys));
                s->cache_free = keys_free;
        }
        return s->cache;
}

static const char *value_of(const struct store_part *p)
{
        return p && p->value && p->len ? (const char *)p->value : NULL;
}

/* url_life(s): for how long a URL that we sign is good. It is used at once; whoever catches it on
 * its way back should not have it for long, and never longer than the grant. */
static uint64_t url_life(const struct store_secret *s)
{
        uint64_t now_ms = keeper_now_ms(), left_s = URL_LIFE_S;
        if (s->expires_ms && s->expires_ms < now_ms + left_s * 1000)
                left_s = s->expires_ms > now_ms + 1000 ? (s->expires_ms - now_ms) / 1000 : 1;
        return left_s;
}

/* is_about(q): is what will be signed the request that was judged? Whoever has taken egress over
 * could otherwise show one request and have another signed: its method, its host, its path. */
static bool is_about(const struct question *q)
{
        const struct keeper_ask *a = &q->ask;
        size_t n = strcspn(q->target, "?"), hosts_n = 0;
        char host[HOST_TEXT_MAX + 8];
        if (!a->to.method[0] || a->to.method[strspn(a->to.method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_")])
                return false;
        if (n != a->path.len || memcmp(q->target, a->path.text, n) != 0)
                return false;
        if (a->to.port == (a->to.is_tls ? 443 : 80))
                snprintf(host, sizeof host, "%s", a->host.text);
        else
                snprintf(host, sizeof host, "%s:%u", a->host.text, a->to.port);
        for (size_t i = 0; i < q->fields_n; i++) {
                if (strcmp(q->fields[i].name, "host") != 0)
                        continue;
                if (hosts_n++ || strcmp(q->fields[i].value, host) != 0)
                        return false;
        }
        return hosts_n == 1;
}

static int answer(struct keeper *k, const struct question *q, const struct sigv4_made *m,
                  uint32_t chain)
{
        struct buf *b = keeper_message(k, DOOR_SIGNED);
        buf_put_u32(b, q->ask.id);
        buf_put_u32(b, chain);
        buf_put_lstr(b, m->target ? m->target : "");
        buf_put_u32(b, (uint32_t)m->fields_n);
        for (size_t i = 0; i < m->fields_n; i++) {
                buf_put_lstr(b, m->fields[i].name);
                buf_put_lstr(b, m->fields[i].value);
        }
        keeper_ask_yes(k, &q->ask, m->target ? "a presigned URL" : "a signature of AWS");
        return keeper_to_egress(k);
}

static int serve_sigv4(struct keeper *k, struct question *q)
{
        struct keeper_ask *a = &q->ask;
        struct store_secret *s = a->secret;
        const struct rule_secret *line = s->line.secret;
        const struct store_part *id = store_part(s, "id"), *key = store_part(s, "key");
        const struct store_part *token = store_part(s, "token");
        _cleanup_free_ char *payload = NULL;
        struct err err = {0};
        if (!value_of(id) || !value_of(key) || !id->placeholder)
                return keeper_ask_no(k, a, DOOR_NO_VALUE,
                                     "%s has no access key and secret key of AWS", line->name);
        if (!is_about(q))
                return keeper_ask_no(k, a, DOOR_NO_SLOT,
                                     "what is to be signed is not the request that was judged");
        if (q->payload_n > 128 || memchr(q->payload, 0, q->payload_n))
                return -1;
        payload = str_fmt("%.*s", (int)q->payload_n, (const char *)q->payload);

        struct sigv4_ask ask = {.method = a->to.method,
                                .target = q->target,
                                .host = a->host.text,
                                .fields = q->fields,
                                .fields_n = q->fields_n,
                                .payload = payload,
                                .is_tls = a->to.is_tls,
                                .may_inject = line->is_injected};
        struct sigv4_secret secret = {
                .id = value_of(id),
                .key = value_of(key),
                .token = value_of(token),
                .shown_id = id->placeholder,
                .shown_token = token ? token->placeholder : NULL,
                .service = line->service,
                .region = line->region,
                .left_s = url_life(s),
                .keys = keys_of(s),
        };
        struct sigv4_made made;
        uint32_t chain = 0;
        int r;
        if (sigv4_make(&ask, &secret, time(NULL), &made, &err) < 0)
                r = keeper_ask_no(k, a, DOOR_NO_SLOT, "%s", err.text);
        else if (made.has_chunks && !(chain = chain_open(k, s->number, &made.chain)))
                r = keeper_ask_no(k, a, DOOR_NO_LIMIT,
                                  "%d uploads in signed chunks are open already", SIGN_CHAINS_MAX);
        else
                r = answer(k, q, &made, chain);
        sigv4_made_free(&made);
        return r;
}

/* --- hmac --- */

static int serve_hmac(struct keeper *k, struct question *q)
{
        struct keeper_ask *a = &q->ask;
        const struct rule_secret *line = a->secret->line.secret;
        const struct store_part *key = store_part(a->secret, "");
        struct timespec now;
        struct err err = {0};
        char stamp[24];
        _cleanup_buf_ struct buf value = {0};
        if (!value_of(key))
                return keeper_ask_no(k, a, DOOR_NO_VALUE, "%s has no value", line->name);
        if (!is_about(q))
                return keeper_ask_no(k, a, DOOR_NO_SLOT,
                                     "what is to be signed is not the request that was judged");
        clock_gettime(CLOCK_REALTIME, &now);
        struct hmac_ask ask = {
                .method = a->to.method,
                .host = a->host.text,
                .target = q->target,
                .fields = q->fields,
                .fields_n = q->fields_n,
                .body = q->payload,
                .body_n = q->payload_n,
                .now_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000,
        };
        if (hmac_make(line, &ask, key->value, key->len, &value, stamp, &err) < 0)
                return keeper_ask_no(k, a, DOOR_NO_SLOT, "%s", err.text);

        bool has_time = line->time_header && stamp[0];
        struct buf *b = keeper_message(k, DOOR_SIGNED);
        buf_put_u32(b, a->id);
        buf_put_u32(b, 0);
        buf_put_lstr(b, "");
        buf_put_u32(b, has_time ? 2 : 1);
        buf_put_lstr(b, a->form->name);
        buf_put_lstr(b, buf_cstr(&value));
        if (has_time) {
                buf_put_lstr(b, line->time_header);
                buf_put_lstr(b, stamp);
        }
        keeper_ask_yes(k, a, "a signature");
        return keeper_to_egress(k);
}

int sign_serve(struct keeper *k, struct frame *f)
{
        struct question q = {0};
        int r = question_get(&f->body, &q);
        q.ask.what = "sign";
        if (r == 0 && keeper_ask_judge(k, &q.ask, 1u << RULE_AS_SIGV4 | 1u << RULE_AS_HMAC))
                r = q.ask.form->form == RULE_AS_HMAC ? serve_hmac(k, &q) : serve_sigv4(k, &q);
        question_free(&q);
        return r;
}

/* --- chunks --- */

int sign_chunk_serve(struct keeper *k, struct frame *f)
{
        uint32_t id, chain, is_trailer;
        const uint8_t *hash;
        if (cur_u32(&f->body, &id) < 0 || cur_u32(&f->body, &chain) < 0 ||
            cur_u32(&f->body, &is_trailer) < 0 || cur_bytes(&f->body, SIGV4_HASH, &hash) < 0 ||
            f->body.left || is_trailer > 1)
                return -1;
        struct chain **at = chain_find(k, chain), *c = at ? *at : NULL;
        struct buf *b;
        if (!c || (is_trailer && !c->sig.has_trailer)) {
                b = keeper_message(k, DOOR_PLACE_NO);
                buf_put_u32(b, id);
                buf_put_u32(b, c ? DOOR_NO_SLOT : DOOR_NO_REVOKED);
                buf_put_lstr(b, c ? "this upload has no signed trailer"
                                  : "the secret is gone, and the upload with it");
                return keeper_to_egress(k);
        }
        sigv4_chain_next(&c->sig, hash, is_trailer);
        b = keeper_message(k, DOOR_CHUNK_SIGNED);
        buf_put_u32(b, id);
        buf_put_lstr(b, c->sig.last);
        return keeper_to_egress(k);
}

int sign_end_serve(struct keeper *k, struct frame *f)
{
        uint32_t chain;
        if (cur_u32(&f->body, &chain) < 0 || f->body.left)
                return -1;
        struct chain **at = chain_find(k, chain);
        if (at)
                chain_drop(k->sign, at);
        return 0;
}
