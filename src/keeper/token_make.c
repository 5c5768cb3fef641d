/* token_make.c - see token.h: the call that gets a token, composed for egress to carry. */
#include "keeper/token_int.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "keeper/jwt.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct call {
        const char *type;  /* of the body */
        struct buf body;   /* wiped after use */
        struct buf bearer; /* of the call itself; empty: none */
        const char *accept;
};

static void put_form(struct buf *b, const char *name, const void *value, size_t n)
{
        static const char open[] =
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
        const uint8_t *p = value;
        buf_put_fmt(b, "%s%s=", b->len ? "&" : "", name);
        for (size_t i = 0; i < n; i++)
                if (p[i] && strchr(open, p[i]))
                        buf_put_u8(b, p[i]);
                else
                        buf_put_fmt(b, "%%%02X", p[i]);
}

static void put_part(struct buf *b, const char *name, const struct store_secret *s,
                     const char *part)
{
        const struct store_part *p = store_part(s, part);
        if (p)
                put_form(b, name, p->value, p->len);
}

static int make_login(const struct token *t, const struct store_secret *s, struct call *c)
{
        const struct store_part *p = store_part(s, "refresh");
        json_t *o = json_object();
        json_object_set_new(o, "grant_type", json_string("refresh_token"));
        json_object_set_new(o, "refresh_token",
                            p ? json_stringn((char *)p->value, p->len) : json_string(""));
        if (t->client)
                json_object_set_new(o, "client_id", json_string(t->client));
        char *text = json_dumps(o, JSON_COMPACT);
        json_decref(o);
        if (!text)
                return -1;
        buf_put_str(&c->body, text);
        store_drop(text); /* jansson's memory is the store's */
        c->type = "application/json";
        return 0;
}

static int make_oauth(const struct token *t, const struct store_secret *s, struct call *c)
{
        const char *grant = t->has_refresh ? "refresh_token" : "client_credentials";
        c->type = "application/x-www-form-urlencoded";
        put_form(&c->body, "grant_type", grant, strlen(grant));
        if (t->has_refresh)
                put_part(&c->body, "refresh_token", s, "refresh");
        if (t->client)
                put_form(&c->body, "client_id", t->client, strlen(t->client));
        if (t->has_secret)
                put_part(&c->body, "client_secret", s, "secret");
        if (t->scope)
                put_form(&c->body, "scope", t->scope, strlen(t->scope));
        return 0;
}

static char *claims_of(const char *iss, const char *scope, const char *aud, uint64_t from,
                       uint64_t to)
{
        json_t *o = json_object();
        json_object_set_new(o, "iss", json_string(iss));
        if (scope)
                json_object_set_new(o, "scope", json_string(scope));
        if (aud)
                json_object_set_new(o, "aud", json_string(aud));
        json_object_set_new(o, "iat", json_integer((json_int_t)from));
        json_object_set_new(o, "exp", json_integer((json_int_t)to));
        char *text = json_dumps(o, JSON_COMPACT);
        json_decref(o);
        if (!text)
                str_no_memory();
        char *copy = str_dup(text); /* claims are no secret, and jansson's memory is the store's */
        store_drop(text);
        return copy;
}

static int make_gcp(const struct token *t, struct call *c, struct err *err)
{
        static const char grant[] = "urn:ietf:params:oauth:grant-type:jwt-bearer";
        _cleanup_free_ char *aud = token_url(t);
        uint64_t now = token_now_s();
        _cleanup_free_ char *claims = claims_of(t->email, t->scope, aud, now, now + 3600);
        _cleanup_buf_ struct buf jwt = {0};
        if (jwt_sign(t->key, t->kid, claims, &jwt, err) < 0)
                return -1;
        c->type = "application/x-www-form-urlencoded";
        put_form(&c->body, "grant_type", grant, sizeof grant - 1);
        put_form(&c->body, "assertion", jwt.data, jwt.len);
        explicit_bzero(jwt.data, jwt.len);
        return 0;
}

/* make_app(t, s, c, err): the token is for the repositories of the line and no other. The clock of
 * the other side may be behind, so it begins a minute ago. */
static int make_app(const struct token *t, const struct store_secret *s, struct call *c,
                    struct err *err)
{
        const struct rule_secret *r = s->line.secret;
        uint64_t now = token_now_s();
        _cleanup_free_ char *claims = claims_of(r->app, NULL, NULL, now - 60, now + 540);
        if (jwt_sign(t->key, NULL, claims, &c->bearer, err) < 0)
                return -1;
        c->type = "application/json";
        c->accept = "application/vnd.github+json";
        json_t *o = json_object(), *list = json_array();
        for (const char *p = r->repos; p && *p;) {
                size_t n = strcspn(p, ",");
                if (n)
                        json_array_append_new(list, json_stringn(p, n));
                p += n + (p[n] == ',');
        }
        if (json_array_size(list))
                json_object_set(o, "repositories", list);
        char *text = json_dumps(o, JSON_COMPACT);
        buf_put_str(&c->body, text ? text : "{}");
        store_drop(text);
        json_decref(list);
        json_decref(o);
        return 0;
}

static void put_pointers(const struct token *t, struct buf *b)
{
        bool is_app = t->kind == TOKEN_APP;
        const char *const pointers[TOKEN_GOT_N] = {
                [TOKEN_GOT_ACCESS] = is_app ? "/token" : "/access_token",
                [TOKEN_GOT_EXPIRES] = is_app ? "/expires_at" : "/expires_in",
                [TOKEN_GOT_REFRESH] = "/refresh_token",
                [TOKEN_GOT_ERROR] = is_app ? "/message" : "/error",
        };
        buf_put_u32(b, TOKEN_GOT_N);
        for (size_t i = 0; i < TOKEN_GOT_N; i++)
                buf_put_lstr(b, pointers[i]);
}

int token_make_fetch(struct keeper *k, struct token *t, const struct store_secret *s,
                     struct err *err)
{
        struct call c = {.accept = "application/json"};
        int r = -1;
        switch (t->kind) {
        case TOKEN_LOGIN:
                r = make_login(t, s, &c);
                break;
        case TOKEN_OAUTH:
                r = make_oauth(t, s, &c);
                break;
        case TOKEN_GCP:
                r = make_gcp(t, &c, err);
                break;
        case TOKEN_APP:
                r = make_app(t, s, &c, err);
                break;
        }
        if (r == 0) {
                struct buf *b = keeper_message(k, DOOR_FETCH);
                buf_put_u32(b, t->fetch_id);
                buf_put_lstr(b, "POST");
                buf_put_lstr(b, t->host);
                buf_put_u32(b, t->port);
                buf_put_lstr(b, t->target);
                buf_put_u32(b, c.bearer.len ? 4 : 3);
                buf_put_lstr(b, "content-type");
                buf_put_lstr(b, c.type);
                buf_put_lstr(b, "accept");
                buf_put_lstr(b, c.accept);
                buf_put_lstr(b, "user-agent");
                buf_put_lstr(b, "ostiary");
                if (c.bearer.len) {
                        buf_put_lstr(b, "authorization");
                        buf_put_u32(b, (uint32_t)(7 + c.bearer.len));
                        buf_put(b, "Bearer ", 7);
                        buf_put(b, c.bearer.data, c.bearer.len);
                }
                keeper_put_bytes(b, c.body.data, c.body.len);
                put_pointers(t, b);
                if (c.body.is_broken || c.bearer.is_broken)
                        r = err_set(err, E_SYSTEM, "the call for a token is too long");
        } else if (err->code == 0) {
                err_set(err, E_SYSTEM, "the call for a token could not be made");
        }
        if (c.body.data)
                explicit_bzero(c.body.data, c.body.len);
        if (c.bearer.data)
                explicit_bzero(c.bearer.data, c.bearer.len);
        buf_free(&c.body);
        buf_free(&c.bearer);
        return r;
}
