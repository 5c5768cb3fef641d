/* vault_find.c - see vault_find.h. Readers of a handful of small files, each of which takes what it
 * understands and passes over the rest: the files are the user's own, and nothing is changed in
 * them. Called by vault_import.c. */
#include "keeper/vault_find.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "policy/cred_list.h"
#include "policy/secret_shape.h"
#include "policy/secret_spec.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#define AWS_GRANT "at *.amazonaws.com as sigv4"

enum { FILE_MAX = 256 << 10 };

void vault_finds_free(struct vault_finds *f)
{
        for (size_t i = 0; i < f->n; i++)
                sodium_free(f->v[i].value);
        f->n = 0;
}

void vault_find_add(struct vault_finds *f, const char *name, const char *from, const char *grant,
                    const char *value, size_t n)
{
        struct vault_found *one = &f->v[f->n];
        if (f->n == VAULT_FOUND_MAX || vault_value_check(value, n, NULL) < 0 || value[0] == '$')
                return;
        memset(one, 0, sizeof *one);
        snprintf(one->name, sizeof one->name, "%s", name);
        for (char *p = one->name; *p; p++)
                if (!isalnum((unsigned char)*p) || *p & 0x80)
                        *p = '_';
        for (size_t i = 0; i < f->n; i++)
                if (strcmp(f->v[i].name, one->name) == 0)
                        return;
        if (!(one->value = sodium_malloc(n)))
                return;
        memcpy(one->value, value, n);
        one->value_len = n;
        snprintf(one->from, sizeof one->from, "%s", from);
        snprintf(one->grant, sizeof one->grant, "%s", grant);
        f->n++;
}

static const char *env_value(char *const *env, const char *name)
{
        size_t n = strlen(name);
        for (; *env; env++)
                if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
                        return *env + n + 1;
        return NULL;
}

/* find_env_aws(f, env): three variables are one secret; a session's are over soon. */
static void find_env_aws(struct vault_finds *f, char *const *env)
{
        const char *id = env_value(env, "AWS_ACCESS_KEY_ID"),
                   *key = env_value(env, "AWS_SECRET_ACCESS_KEY"),
                   *token = env_value(env, "AWS_SESSION_TOKEN");
        if (!id || !key || (token && *token))
                return;
        _cleanup_free_ char *value = str_fmt("%s\n%s", id, key);
        vault_find_add(f, "AWS", "your environment", AWS_GRANT, value, strlen(value));
        sodium_memzero(value, strlen(value));
}

/* One variable: of a name that everybody uses, or with a secret's name and a provider's shape. */
static void find_env_one(struct vault_finds *f, const char *name, const char *value)
{
        const struct secret_known *known = secret_known_name(name);
        const char *shape = secret_shape_name(value, strlen(value));
        const char *host = shape ? secret_shape_host(shape) : NULL;
        _cleanup_free_ char *grant = NULL;
        if (strncmp(name, "AWS_", 4) == 0)
                return;
        if (known)
                grant = str_fmt("at %s as %s", known->places, known->forms);
        else if (host && cred_list_is_secret_key(name))
                grant = str_fmt("at %s as %s", host, secret_known_forms(host, name));
        if (grant)
                vault_find_add(f, name, "your environment", grant, value, strlen(value));
}

void vault_find_env(struct vault_finds *f, char *const *env)
{
        for (char *const *e = env; *e; e++) {
                const char *eq = strchr(*e, '=');
                char name[VAULT_NAME_MAX + 1];
                if (!eq || eq == *e || eq - *e > VAULT_NAME_MAX)
                        continue;
                snprintf(name, sizeof name, "%.*s", (int)(eq - *e), *e);
                find_env_one(f, name, eq + 1);
        }
        find_env_aws(f, env);
}

/* read_text(home_fd, path): a small file in locked memory, terminated; NULL when there is none. */
static char *read_text(int home_fd, const char *path)
{
        _cleanup_close_ int fd =
                openat(home_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        char *text = fd < 0 ? NULL : sodium_malloc(FILE_MAX + 1);
        size_t len = 0;
        ssize_t got;
        while (text && len < FILE_MAX && (got = read(fd, text + len, FILE_MAX - len)) != 0) {
                if (got < 0 && errno != EINTR)
                        break;
                if (got > 0)
                        len += (size_t)got;
        }
        if (text)
                text[len] = 0;
        return text;
}

/* next_line(&at): the next line without white space around it, cut in place; NULL at the end. */
static char *next_line(char **at)
{
        char *s = *at;
        if (!*s)
                return NULL;
        size_t n = strcspn(s, "\n");
        *at = s + n + (s[n] != 0);
        s[n] = 0;
        while (isspace((unsigned char)*s))
                s++;
        for (n = strlen(s); n && isspace((unsigned char)s[n - 1]);)
                s[--n] = 0;
        return s;
}

/* after(line, key): what stands behind KEY and "=" or ":" in it, or NULL. */
static char *after(char *line, const char *key, char sign)
{
        size_t n = strlen(key);
        if (strncmp(line, key, n) != 0)
                return NULL;
        char *p = line + n + strspn(line + n, " \t");
        if (*p != sign)
                return NULL;
        return p + 1 + strspn(p + 1, " \t");
}

static void flush_aws(struct vault_finds *f, const char *profile, const char *id, const char *key)
{
        char name[96], from[128];
        if (!*profile || !*id || !*key || strncmp(id, "ASIA", 4) == 0)
                return; /* a session's keys are over before they are used */
        _cleanup_free_ char *value = str_fmt("%s\n%s", id, key);
        snprintf(name, sizeof name, "AWS_%s", profile);
        snprintf(from, sizeof from, "~/.aws/credentials, profile %s", profile);
        vault_find_add(f, name, from, AWS_GRANT, value, strlen(value));
        sodium_memzero(value, strlen(value));
}

static void find_aws(struct vault_finds *f, char *text)
{
        char profile[64] = "", id[160] = "", key[160] = "";
        for (char *line, *v; (line = next_line(&text));) {
                if (line[0] == '[') {
                        flush_aws(f, profile, id, key);
                        id[0] = key[0] = 0;
                        snprintf(profile, sizeof profile, "%.*s", (int)strcspn(line + 1, "]"),
                                 line + 1);
                } else if ((v = after(line, "aws_access_key_id", '='))) {
                        snprintf(id, sizeof id, "%s", v);
                } else if ((v = after(line, "aws_secret_access_key", '='))) {
                        snprintf(key, sizeof key, "%s", v);
                }
        }
        flush_aws(f, profile, id, key);
        sodium_memzero(key, sizeof key);
}

static void find_netrc(struct vault_finds *f, char *text)
{
        static const char space[] = " \t\r\n";
        char host[128] = "", user[128] = "", *save = NULL;
        for (char *w = strtok_r(text, space, &save); w; w = strtok_r(NULL, space, &save)) {
                char *v = strcmp(w, "machine") == 0 || strcmp(w, "login") == 0 ||
                                          strcmp(w, "password") == 0
                                  ? strtok_r(NULL, space, &save)
                                  : NULL;
                if (!v) {
                        if (strcmp(w, "default") == 0 || strcmp(w, "macdef") == 0)
                                host[0] = 0;
                } else if (w[0] == 'm') {
                        snprintf(host, sizeof host, "%s", v);
                        user[0] = 0;
                } else if (w[0] == 'l') {
                        snprintf(user, sizeof user, "%s", v);
                } else if (host[0]) {
                        _cleanup_free_ char *name = str_fmt("NETRC_%s", host);
                        _cleanup_free_ char *from = str_fmt("~/.netrc, machine %s", host);
                        _cleanup_free_ char *grant =
                                user[0] ? str_fmt("at %s as basic user=%s", host, user)
                                        : str_fmt("at %s as basic", host);
                        vault_find_add(f, name, from, grant, v, strlen(v));
                }
        }
}

static void find_gh(struct vault_finds *f, char *text)
{
        char host[128] = "";
        while (*text) {
                bool is_top = *text != ' ' && *text != '\t';
                char *line = next_line(&text), *v;
                if (!line)
                        break;
                size_t n = strlen(line);
                if (is_top && n > 1 && n < sizeof host && line[n - 1] == ':') {
                        snprintf(host, sizeof host, "%.*s", (int)n - 1, line);
                } else if (host[0] && (v = after(line, "oauth_token", ':'))) {
                        bool is_public = strcmp(host, "github.com") == 0;
                        _cleanup_free_ char *name =
                                is_public ? str_dup("GH_TOKEN") : str_fmt("GH_TOKEN_%s", host);
                        _cleanup_free_ char *from = str_fmt("gh's login at %s", host);
                        _cleanup_free_ char *grant =
                                is_public ? str_dup("at github.com,api.github.com as basic,bearer")
                                          : str_fmt("at %s as bearer,basic", host);
                        vault_find_add(f, name, from, grant, v, strlen(v));
                }
        }
}

static void find_npm(struct vault_finds *f, char *text)
{
        for (char *line; (line = next_line(&text));) {
                char *mark = strstr(line, ":_authToken");
                char *v = mark ? after(mark, ":_authToken", '=') : NULL;
                if (!v || strncmp(line, "//", 2) != 0 || *v == '$' || *v == '"')
                        continue;
                _cleanup_free_ char *host = str_fmt("%.*s", (int)strcspn(line + 2, "/:"), line + 2);
                _cleanup_free_ char *name = str_fmt("NPM_%s", host);
                _cleanup_free_ char *from = str_fmt("~/.npmrc, registry %s", host);
                _cleanup_free_ char *grant = str_fmt("at %s as bearer", host);
                vault_find_add(f, name, from, grant, v, strlen(v));
        }
}

static void find_docker(struct vault_finds *f, char *text)
{
        json_t *root = json_loads(text, 0, NULL), *one;
        const char *key;
        json_object_foreach(json_object_get(root, "auths"), key, one)
        {
                const char *auth = json_string_value(json_object_get(one, "auth"));
                char plain[4096];
                size_t n = 0;
                if (!auth ||
                    sodium_base642bin((uint8_t *)plain, sizeof plain - 1, auth, strlen(auth), "\n",
                                      &n, NULL, sodium_base64_VARIANT_ORIGINAL) != 0)
                        continue;
                plain[n] = 0;
                char *password = strchr(plain, ':');
                const char *host = strncmp(key, "https://", 8) == 0 ? key + 8 : key;
                if (password) {
                        *password++ = 0;
                        _cleanup_free_ char *at = str_fmt("%.*s", (int)strcspn(host, "/"), host);
                        _cleanup_free_ char *name = str_fmt("DOCKER_%s", at);
                        _cleanup_free_ char *from = str_fmt("~/.docker/config.json, %s", at);
                        _cleanup_free_ char *grant = str_fmt("at %s as basic user=%s", at, plain);
                        vault_find_add(f, name, from, grant, password, strlen(password));
                }
                sodium_memzero(plain, sizeof plain);
        }
        json_decref(root);
}

void vault_find_files(struct vault_finds *f, int home_fd)
{
        static const struct {
                const char *path;
                void (*find)(struct vault_finds *, char *text);
        } files[] = {
                {".aws/credentials", find_aws},       {".netrc", find_netrc},
                {".config/gh/hosts.yml", find_gh},    {".npmrc", find_npm},
                {".docker/config.json", find_docker},
        };
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
                char *text = read_text(home_fd, files[i].path);
                if (text)
                        files[i].find(f, text);
                sodium_free(text);
        }
}
