/* token_load.c - see token.h: what the source of a token gave, taken apart. No value of it stays
 * here: parts live in the store, keys in OpenSSL's locked memory. */
#include "keeper/token_int.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "keeper/jwt.h"

#include <jansson.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <stdlib.h>
#include <string.h>

static void set_text(char **at, const char *text)
{
        free(*at);
        *at = text ? str_dup(text) : NULL;
}

/* endpoint(t, url, err): "https://host[:port]/path". */
static int endpoint(struct token *t, const char *url, struct err *err)
{
        struct host_name host;
        if (!url || !str_starts(url, "https://"))
                return err_set(err, E_INPUT, "its token endpoint has to be an https:// address");
        const char *rest = url + 8;
        size_t n = strcspn(rest, ":/?#");
        if (host_name_parse(rest, n, &host, err) < 0)
                return -1;
        t->port = 443;
        rest += n;
        if (*rest == ':') {
                char *end;
                unsigned long port = strtoul(rest + 1, &end, 10);
                if (port == 0 || port > 65535)
                        return err_set(err, E_INPUT, "its token endpoint has no such port");
                t->port = (uint16_t)port;
                rest = end;
        }
        if (*rest && *rest != '/')
                return err_set(err, E_INPUT, "its token endpoint has to have a path");
        set_text(&t->host, host.text);
        set_text(&t->target, *rest ? rest : "/");
        return 0;
}

char *token_url(const struct token *t)
{
        return t->port == 443 ? str_fmt("https://%s%s", t->host, t->target)
                              : str_fmt("https://%s:%u%s", t->host, t->port, t->target);
}

/* stand_in_token(k, s, prefix, n, err): before the first exchange the part "access" has a value
 * that nobody ever issued, so that it can have a placeholder of the usual shape. */
static int stand_in_token(struct keeper *k, struct store_secret *s, const char *prefix, size_t n,
                          struct err *err)
{
        static const char letters[] =
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        char text[256];
        uint8_t random[256];
        if (store_part(s, "access"))
                return 0;
        size_t at = strlen(prefix);
        memcpy(text, prefix, at);
        if (RAND_bytes(random, sizeof random) != 1)
                return err_set(err, E_SYSTEM, "there are no random numbers");
        for (; at < n; at++)
                text[at] = letters[random[at] % 62];
        return store_set(k->store, s, "access", (const uint8_t *)text, n, STORE_SHAPED, err);
}

static const char *text_of(json_t *o, const char *name)
{
        return json_string_value(json_object_get(o, name));
}

static int set_part(struct keeper *k, struct store_secret *s, const char *part, const char *value,
                    enum store_stand_in how, struct err *err)
{
        size_t n = value ? strlen(value) : 0;
        if (!value)
                return err_set(err, E_INPUT, "it holds no %s token", part);
        if (value_check(s->line.secret->name, (const uint8_t *)value, n, err) < 0)
                return -1;
        return store_set(k->store, s, part, (const uint8_t *)value, n, how, err);
}

/* expiry_of(token): what a JWT says of itself. Of any other the end is not known: then it is good
 * until somebody says no. */
static uint64_t expiry_of(const char *token)
{
        const char *dot = token ? strchr(token, '.') : NULL,
                   *end = dot ? strchr(dot + 1, '.') : NULL;
        uint64_t when = UINT64_MAX;
        size_t n = end ? (size_t)(end - dot - 1) : 0;
        char text[4096];
        uint8_t raw[sizeof text];
        if (n == 0 || n + 4 > sizeof text)
                return when;
        for (size_t i = 0; i < n; i++)
                text[i] = dot[1 + i] == '-' ? '+' : dot[1 + i] == '_' ? '/' : dot[1 + i];
        while (n % 4)
                text[n++] = '=';
        int got = EVP_DecodeBlock(raw, (uint8_t *)text, (int)n);
        json_t *claims =
                got > 0 ? json_loadb((char *)raw, (size_t)got, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
        json_int_t exp = json_integer_value(json_object_get(claims, "exp"));
        if (exp > 0)
                when = (uint64_t)exp;
        json_decref(claims);
        return when;
}

static int load_login(struct keeper *k, struct token *t, struct store_secret *s, json_t *o,
                      struct err *err)
{
        t->kind = TOKEN_LOGIN;
        t->has_refresh = true;
        t->expires_s = (uint64_t)json_integer_value(json_object_get(o, "expires"));
        t->life_s = 0;
        if (t->expires_s == 0)
                t->expires_s = expiry_of(text_of(o, "access"));
        set_text(&t->client, s->line.secret->app);
        if (set_part(k, s, "access", text_of(o, "access"), STORE_SHAPED, err) < 0 ||
            set_part(k, s, "refresh", text_of(o, "refresh"), STORE_SHAPED, err) < 0)
                return -1;
        return endpoint(t, s->line.secret->token, err);
}

static int load_oauth(struct keeper *k, struct token *t, struct store_secret *s, json_t *o,
                      const char *plain, struct err *err)
{
        const char *secret = text_of(o, "client_secret"), *client = text_of(o, "client_id");
        const char *refresh = text_of(o, "refresh_token");
        refresh = refresh ? refresh : text_of(o, "refresh") ? text_of(o, "refresh") : plain;
        t->kind = TOKEN_OAUTH;
        t->has_refresh = refresh != NULL;
        t->has_secret = secret != NULL;
        set_text(&t->client, client ? client : s->line.secret->app);
        set_text(&t->scope, text_of(o, "scope"));
        if (!refresh && !(secret && t->client))
                return err_set(err, E_INPUT,
                               "it has to be a refresh token, or JSON with refresh_token, or with "
                               "client_id and client_secret");
        if ((refresh && set_part(k, s, "refresh", refresh, STORE_OPEN, err) < 0) ||
            (secret && set_part(k, s, "secret", secret, STORE_OPEN, err) < 0) ||
            stand_in_token(k, s, "", 48, err) < 0)
                return -1;
        return endpoint(t, s->line.secret->token, err);
}

/* fake_account(t, o, out, err): the box's service account: the same names, and a key that was made
 * a moment ago and belongs to nobody. */
static int fake_account(const struct token *t, json_t *o, char **out, struct err *err)
{
        static const char *const same[] = {"type",
                                           "project_id",
                                           "client_email",
                                           "client_id",
                                           "auth_uri",
                                           "auth_provider_x509_cert_url",
                                           "client_x509_cert_url",
                                           "universe_domain"};
        EVP_PKEY *key = EVP_RSA_gen(2048);
        BIO *b = BIO_new(BIO_s_mem());
        json_t *fake = json_object();
        uint8_t random[20];
        char id[41], *pem;
        int r = -1;
        if (key && b && PEM_write_bio_PKCS8PrivateKey(b, key, NULL, NULL, 0, NULL, NULL) &&
            RAND_bytes(random, sizeof random) == 1) {
                long n = BIO_get_mem_data(b, &pem);
                for (size_t i = 0; i < sizeof random; i++)
                        snprintf(id + 2 * i, 3, "%02x", random[i]);
                for (size_t i = 0; i < sizeof same / sizeof *same; i++)
                        if (json_object_get(o, same[i]))
                                json_object_set(fake, same[i], json_object_get(o, same[i]));
                json_object_set_new(fake, "private_key_id", json_string(id));
                json_object_set_new(fake, "private_key", json_stringn(pem, (size_t)n));
                _cleanup_free_ char *uri = token_url(t);
                json_object_set_new(fake, "token_uri", json_string(uri));
                char *text = json_dumps(fake, JSON_INDENT(2));
                *out = text ? str_dup(text) : NULL;
                store_drop(text);
                r = *out ? 0 : -1;
        }
        json_decref(fake);
        BIO_free(b);
        EVP_PKEY_free(key);
        return r < 0 ? err_set(err, E_SYSTEM, "no key could be made for the box") : 0;
}

static int load_gcp(struct keeper *k, struct token *t, struct store_secret *s, json_t *o,
                    struct err *err)
{
        const char *pem = text_of(o, "private_key"), *email = text_of(o, "client_email");
        const char *uri = text_of(o, "token_uri");
        if (!pem || !email)
                return err_set(
                        err, E_INPUT,
                        "it is not a service account: it has no private_key and client_email");
        t->kind = TOKEN_GCP;
        EVP_PKEY *key = jwt_key(pem, strlen(pem), err);
        if (!key || endpoint(t, uri ? uri : "https://oauth2.googleapis.com/token", err) < 0) {
                EVP_PKEY_free(key);
                return -1;
        }
        EVP_PKEY_free(t->key);
        t->key = key;
        set_text(&t->email, email);
        set_text(&t->kid, text_of(o, "private_key_id"));
        set_text(&t->scope, "https://www.googleapis.com/auth/cloud-platform");
        if (stand_in_token(k, s, "ya29.", 120, err) < 0)
                return -1;
        if (store_part(s, "account"))
                return 0; /* the box keeps the account it was given */
        _cleanup_free_ char *fake = NULL;
        if (fake_account(t, o, &fake, err) < 0 ||
            store_set(k->store, s, "account", (const uint8_t *)email, strlen(email), STORE_OPEN,
                      err) < 0)
                return -1;
        for (size_t i = 0; i < s->parts_n; i++)
                if (strcmp(s->parts[i].name, "account") == 0) {
                        s->parts[i].placeholder = str_dup(fake);
                        s->parts[i].is_open = true;
                }
        return 0;
}

static int load_app(struct keeper *k, struct token *t, struct store_secret *s, const uint8_t *value,
                    size_t n, struct err *err)
{
        const struct rule_secret *r = s->line.secret;
        t->kind = TOKEN_APP;
        EVP_PKEY *key = jwt_key(value, n, err);
        if (!key)
                return -1;
        EVP_PKEY_free(t->key);
        t->key = key;
        for (const char *p = r->installation; p && *p; p++)
                if (*p < '0' || *p > '9')
                        return err_set(err, E_INPUT, "installation= is a number");
        /* Where the app's own API is: at the first place that is one host. */
        for (size_t i = 0; i < r->places_n; i++) {
                const struct rule_place *at = &r->places[i];
                if (at->host_kind != RULE_HOST_EXACT || str_starts(at->host.text, "github."))
                        continue;
                set_text(&t->host, at->host.text);
                t->port = at->port > 0 ? (uint16_t)at->port : 443;
                break;
        }
        if (!t->host) {
                t->host = str_dup("api.github.com");
                t->port = 443;
        }
        free(t->target);
        t->target = str_fmt("/app/installations/%s/access_tokens", r->installation);
        return stand_in_token(k, s, "ghs_", 40, err);
}

char *token_line(struct keeper *k, const struct store_secret *s)
{
        if (!token_is(s) || s->line.secret->token || s->state != STORE_LIVE)
                return NULL;
        const struct token *t = token_of(k, s);
        if (t->kind != TOKEN_GCP || !t->host)
                return NULL;
        _cleanup_free_ char *url = token_url(t);
        return str_fmt("%s token=%s", s->line_text, url);
}

int token_load(struct keeper *k, struct store_secret *s, const uint8_t *value, size_t n,
               struct err *err)
{
        struct token *t = token_of(k, s);
        const struct rule_secret *r = s->line.secret;
        enum rule_form form = r->forms[0].form;
        for (size_t i = 1; i < r->forms_n && form != RULE_AS_GCP && form != RULE_AS_GITHUB_APP &&
                           form != RULE_AS_OAUTH;
             i++)
                form = r->forms[i].form;
        int code;
        if (form == RULE_AS_GITHUB_APP && r->source != RULE_FROM_LOGIN) {
                code = load_app(k, t, s, value, n, err);
        } else {
                /* jansson's memory is the store's (keeper.c): locked, and wiped when it is freed.
                 */
                json_error_t why;
                json_t *o = json_loadb((const char *)value, n, JSON_REJECT_DUPLICATES, &why);
                char plain[2048] = "";
                bool is_plain = !o && form == RULE_AS_OAUTH && n < sizeof plain && value[0] != '{';
                if (is_plain)
                        memcpy(plain, value, n);
                plain[strcspn(plain, "\r\n")] = 0;
                if (!json_is_object(o) && !is_plain)
                        code = err_set(err, E_INPUT, "it is not JSON");
                else if (r->source == RULE_FROM_LOGIN)
                        code = load_login(k, t, s, o, err);
                else if (form == RULE_AS_GCP)
                        code = load_gcp(k, t, s, o, err);
                else
                        code = load_oauth(k, t, s, o, is_plain ? plain : NULL, err);
                explicit_bzero(plain, sizeof plain);
                json_decref(o);
        }
        if (code < 0)
                return err_add(err, "the value of %s cannot be used", r->name);
        return token_loaded(k, t);
}
