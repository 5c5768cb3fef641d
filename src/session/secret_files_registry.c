/* secret_files_registry.c - what package managers read: ~/.npmrc, ~/.docker/config.json, ~/.pypirc.
 * pip reads ~/.netrc (secret_files_git.c). Called by secret_files.c. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/secret_files_int.h"

#include <jansson.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

typedef bool fits(const struct session_secret *, const char *host);

static bool is_npm(const struct session_secret *s, const char *host)
{
        if (!secret_files_has(s, RULE_AS_BEARER))
                return false;
        return secret_files_is(s, "npm") || str_starts(host, "registry.") ||
               str_starts(host, "npm.") || strcasestr(s->line.secret->name, "npm") ||
               strcasestr(s->line.secret->name, "node_auth");
}

static bool is_docker(const struct session_secret *s, const char *host)
{
        static const char *const ends[] = {"docker.io",   "ghcr.io", "quay.io",       ".pkg.dev",
                                           ".azurecr.io", "gcr.io",  ".amazonaws.com"};
        if (!secret_files_has(s, RULE_AS_BASIC))
                return false;
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
                if (str_ends(host, ends[i]))
                        return true;
        return secret_files_is(s, "docker") || strcasestr(s->line.secret->name, "docker") ||
               strcasestr(s->line.secret->name, "registry");
}

/* each(f, fits, put, to): every host of every secret that fits, once. */
static void each(const struct secret_files *f, fits *is, struct buf *out,
                 void (*put)(struct buf *, const struct session_secret *, const char *host,
                             const char *value))
{
        _cleanup_strs_ struct strs hosts = {0};
        for (size_t i = 0; i < f->plan->secrets.n; i++) {
                const struct session_secret *s = &f->plan->secrets.v[i];
                const char *value = secret_files_value(s);
                char host[300];
                for (size_t k = 0; value && k < s->line.secret->places_n; k++) {
                        if (!secret_files_host(&s->line.secret->places[k], host) || !is(s, host) ||
                            strs_has(&hosts, host))
                                continue;
                        strs_add(&hosts, host);
                        put(out, s, host, value);
                }
        }
}

static void put_npm(struct buf *b, const struct session_secret *s, const char *host,
                    const char *value)
{
        (void)s;
        buf_put_fmt(b, "//%s/:_authToken=%s\n", host, value);
}

/* HOST, a newline, base64 of user and placeholder, a newline. */
static void put_docker(struct buf *b, const struct session_secret *s, const char *host,
                       const char *value)
{
        _cleanup_free_ char *pair = str_fmt("%s:%s", secret_files_user(s), value);
        size_t n = strlen(pair);
        _cleanup_free_ char *coded = malloc(n / 3 * 4 + 8);
        if (!coded)
                str_no_memory();
        EVP_EncodeBlock((unsigned char *)coded, (const unsigned char *)pair, (int)n);
        /* Docker's own registry goes by an old name in this file. */
        buf_put_fmt(b, "%s\n%s\n",
                    str_ends(host, "docker.io") ? "https://index.docker.io/v1/" : host, coded);
}

static int docker(struct secret_files *f)
{
        static const char path[] = ".docker/config.json";
        _cleanup_buf_ struct buf pairs = {0};
        each(f, is_docker, &pairs, put_docker);
        if (pairs.len == 0)
                return 0;
        _cleanup_free_ char *old = secret_files_old(f, path);
        json_t *root = json_loads(old, 0, NULL);
        if (!json_is_object(root)) {
                json_decref(root);
                root = json_object();
        }
        json_t *auths = json_object_get(root, "auths");
        if (!json_is_object(auths)) {
                json_object_set_new(root, "auths", json_object());
                auths = json_object_get(root, "auths");
        }
        char *at = (char *)(uintptr_t)buf_cstr(&pairs);
        for (char *host, *coded; (host = strsep(&at, "\n")) && (coded = strsep(&at, "\n"));)
                json_object_set_new(auths, host, json_pack("{s:s}", "auth", coded));
        _cleanup_free_ char *text = json_dumps(root, JSON_INDENT(2));
        json_decref(root);
        _cleanup_buf_ struct buf out = {0};
        buf_put_fmt(&out, "%s\n", text ? text : "{}");
        return secret_files_put(f, path, &out);
}

static int pypi(struct secret_files *f)
{
        _cleanup_buf_ struct buf b = {0};
        for (size_t i = 0; i < f->plan->secrets.n && b.len == 0; i++) {
                const struct session_secret *s = &f->plan->secrets.v[i];
                const char *value = secret_files_value(s);
                if (!value || !secret_files_has(s, RULE_AS_BASIC) ||
                    (!secret_files_is(s, "pypi") && !strcasestr(s->line.secret->name, "pypi") &&
                     !strcasestr(s->line.secret->name, "twine")))
                        continue;
                for (size_t k = 0; k < s->line.secret->places_n; k++) {
                        char host[300];
                        if (!secret_files_host(&s->line.secret->places[k], host))
                                continue;
                        /* Uploading programs know the address of the index that they take for
                         * granted. */
                        bool is_public = str_starts(host, "upload.");
                        buf_put_fmt(&b, "[%s]\n", is_public ? "pypi" : host);
                        if (!is_public)
                                buf_put_fmt(&b, "repository = https://%s/\n", host);
                        buf_put_fmt(&b, "username = %s\npassword = %s\n", secret_files_user(s),
                                    value);
                }
        }
        return b.len ? secret_files_put(f, ".pypirc", &b) : 0;
}

int secret_files_registry(struct secret_files *f)
{
        _cleanup_buf_ struct buf npm = {0};
        each(f, is_npm, &npm, put_npm);
        return secret_files_block(f, ".npmrc", &npm) < 0 || docker(f) < 0 || pypi(f) < 0 ? -1 : 0;
}
