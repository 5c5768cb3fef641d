/* secrets.c - the list of a box's secrets as data, and what of the caller goes with it: values of
 * variables in pipes, and the few variables that commands need. See secrets.h. Called before the
 * supervisor is forked; must never keep a value anywhere but in a pipe. */
#include "session/secrets.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "session/sup_ssh.h"
#include "session/vault_key.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern char **environ;

/* What password managers and the like look at. A name that ends in _ stands for all that begin so.
 */
static const char *const wanted[] = {
        /* the user */
        "HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "LC_", "TZ", "TMPDIR", "XDG_",
        /* agents and prompts outside of this terminal */
        "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "GPG_TTY", "GPG_AGENT_INFO", "GNUPGHOME",
        "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "PINENTRY_USER_DATA", "CREDENTIALS_DIRECTORY",
        /* stores and tools */
        "PASSWORD_STORE_", "OP_", "BW_", "BITWARDENCLI_APPDATA_DIR", "LPASS_", "GOPASS_", "SOPS_",
        "AGE_", "VAULT_", "INFISICAL_", "DOPPLER_", "KRB5CCNAME", "GH_", "GITHUB_TOKEN", "GLAB_",
        "AWS_", "AZURE_", "CLOUDSDK_", "GOOGLE_APPLICATION_CREDENTIALS", "KUBECONFIG", "DOCKER_",
        /* the way out, for those that ask a server */
        "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
        "all_proxy", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "OSTIARY_"};

const char *session_secret_part(const struct session_secret *s, const char *name)
{
        for (size_t i = 0; i < s->parts_n; i++)
                if (strcmp(s->parts[i].name, name) == 0)
                        return s->parts[i].placeholder;
        return NULL;
}

const char *session_secret_asked(const struct session_secret *s)
{
        const struct rule_secret *r = s->line.secret;
        return r->source_arg ? r->source_arg : r->name;
}

static bool is_wanted(const char *pair)
{
        size_t len = strcspn(pair, "=");
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
                size_t n = strlen(wanted[i]);
                if (wanted[i][n - 1] == '_' ? strncmp(pair, wanted[i], n) == 0
                                            : len == n && strncmp(pair, wanted[i], n) == 0)
                        return true;
        }
        return false;
}

/* capture_env(s, err): the value of one variable, in a pipe that holds all of it. */
static int capture_env(struct session_secret *s, struct err *err)
{
        const char *name = session_secret_asked(s), *value = getenv(name);
        int pair[2];
        if (!value)
                return err_set(err, E_INPUT, "secret %s (%s): the variable %s is not set here",
                               s->line.secret->name, s->where, name);
        /* A pipe takes 64 KiB without a reader. */
        if (strlen(value) > DOOR_SECRET_MAX)
                return err_set(err, E_INPUT,
                               "secret %s (%s): the variable %s holds more than %d KiB, and no key "
                               "is that long",
                               s->line.secret->name, s->where, name, DOOR_SECRET_MAX >> 10);
        if (pipe2(pair, O_CLOEXEC) < 0)
                return err_sys(err, "make a pipe");
        int r = fdio_write_all(pair[1], value, strlen(value));
        if (r < 0)
                err_sys(err, "pass the variable %s on", name);
        close(pair[1]);
        s->value_fd = pair[0];
        return r;
}

static int capture_vault(struct session_secret *s, const char *data_dir, struct err *err)
{
        s->value_fd = vault_key_get(data_dir, session_secret_asked(s), err);
        if (s->value_fd >= 0)
                return 0;
        if (s->took)
                err_add(err, "the variable %s is %s here, and the vault was asked",
                        session_secret_asked(s),
                        getenv(session_secret_asked(s)) ? "empty" : "not set");
        return err_add(err, "secret %s (%s)", s->line.secret->name, s->where);
}

void session_secrets_drop(struct session_secrets *all, size_t at)
{
        session_secret_free(&all->v[at]);
        memmove(&all->v[at], &all->v[at + 1], (all->n - at - 1) * sizeof *all->v);
        all->n--;
        for (size_t i = at; i < all->n; i++)
                all->v[i].number = (uint32_t)i + 1;
}

void session_secrets_leave_out(struct session_secrets *all, size_t at, const struct err *err)
{
        const struct session_secret *s = &all->v[at];
        if (s->is_general) {
                _cleanup_free_ char *words = str_fmt("secret %s (%s) is left out: %s",
                                                     s->line.secret->name, s->where, err->text);
                strs_add(&all->left_out, words);
        }
        session_secrets_drop(all, at);
}

/* capture_one(s, data_dir, err): what only the caller has. */
static int capture_one(struct session_secret *s, const char *data_dir, struct err *err)
{
        enum rule_source source = s->line.secret->source;
        return source == RULE_FROM_ENV     ? capture_env(s, err)
               : source == RULE_FROM_VAULT ? capture_vault(s, data_dir, err)
                                           : 0;
}

int session_secrets_capture(struct session_secrets *all, const char *data_dir, struct err *err)
{
        if (all->n == 0)
                return 0;
        const char *agent = getenv("SSH_AUTH_SOCK");
        bool needs_env = false, needs_agent = false;
        for (size_t i = 0; i < all->n; i++) {
                enum rule_source source = all->v[i].line.secret->source;
                struct err missing = {0};
                if (capture_one(&all->v[i], data_dir, &missing) < 0) {
                        if (!all->v[i].is_optional) {
                                *err = missing;
                                return -1;
                        }
                        session_secrets_leave_out(all, i--, &missing);
                        continue;
                }
                needs_env = needs_env || source == RULE_FROM_CMD || source == RULE_FROM_AWS ||
                            source == RULE_FROM_VAULT || source == RULE_FROM_KEYRING;
                needs_agent = needs_agent || sup_ssh_is(all->v[i].line.secret);
        }
        for (char **e = environ; needs_env && e && *e; e++)
                if (is_wanted(*e))
                        strs_add(&all->env, *e);
        /* The private half of a key of ssh may be the user's own agent's. */
        if (needs_agent && !needs_env && agent)
                strs_set_env(&all->env, "SSH_AUTH_SOCK", agent);
        return 0;
}

void session_secrets_hide(struct session_secrets *all)
{
        size_t len = 0, at = 0;
        for (size_t i = 0; i < all->env.n; i++)
                len += strlen(all->env.v[i]) + 1;
        if (len == 0)
                return;
        char *room = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        bool is_hidden = room != MAP_FAILED && madvise(room, len, MADV_WIPEONFORK) == 0;
        if (room != MAP_FAILED)
                madvise(room, len, MADV_DONTDUMP);
        for (size_t i = 0; i < all->env.n; i++) {
                char *s = all->env.v[i];
                size_t n = strlen(s) + 1;
                if (is_hidden)
                        memcpy(room + at, s, n);
                explicit_bzero(s, n);
                free(s);
                all->env.v[i] = room + at;
                at += n;
        }
        /* Rather commands without an environment than a box with ours. */
        if (!is_hidden)
                all->env.n = 0, all->env.v[0] = NULL;
}

void session_secrets_close(struct session_secrets *all)
{
        for (size_t i = 0; i < all->n; i++)
                close_fd(&all->v[i].value_fd);
}

void session_secret_free(struct session_secret *s)
{
        rule_line_free(&s->line);
        free(s->where);
        close_fd(&s->value_fd);
        free(s->provider);
        for (size_t i = 0; i < s->parts_n; i++) {
                free(s->parts[i].name);
                free(s->parts[i].placeholder);
        }
        *s = (struct session_secret){.value_fd = -1};
}

void session_secrets_free(struct session_secrets *all)
{
        for (size_t i = 0; i < all->n; i++)
                session_secret_free(&all->v[i]);
        free(all->v);
        for (size_t i = 0; i < all->env.n; i++)
                explicit_bzero(all->env.v[i], strlen(all->env.v[i]));
        strs_free(&all->env);
        strs_free(&all->left_out);
        *all = (struct session_secrets){0};
}
