/* secret_files_git.c - what git, gh, curl and pip read: ~/.netrc, ~/.git-credentials, the part of
 * ~/.gitconfig that makes git use them, and gh's hosts.yml. Called by secret_files.c. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/secret_files_int.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whose basic credentials are for git; others' are for machines that git never speaks to. */
static bool is_for_git(const struct session_secret *s)
{
        static const char *const not_git[] = {"docker", "pypi", "npm", "stripe", "twine"};
        for (size_t i = 0; i < sizeof not_git / sizeof *not_git; i++)
                if (secret_files_is(s, not_git[i]))
                        return false;
        return true;
}

/* keep_lines(out, old, is_ours): the lines of a file that are not about one of our hosts. */
static void keep_lines(struct buf *out, const char *old, const struct strs *marks)
{
        while (*old) {
                size_t n = strcspn(old, "\n");
                _cleanup_free_ char *line = str_fmt("%.*s", (int)n, old);
                bool is_ours = n == 0;
                for (size_t i = 0; i < marks->n; i++)
                        is_ours |= strstr(line, marks->v[i]) != NULL;
                if (!is_ours)
                        buf_put_fmt(out, "%s\n", line);
                old += n + (old[n] == '\n');
        }
}

static void percent(struct buf *b, const char *s)
{
        for (; *s; s++) {
                if (isalnum((unsigned char)*s) || strchr("-._~", *s))
                        buf_put_u8(b, (uint8_t)*s);
                else
                        buf_put_fmt(b, "%%%02X", (unsigned char)*s);
        }
}

/* put_file(f, path, marks, lines): our lines after those of others. */
static int put_file(struct secret_files *f, const char *path, const struct strs *marks,
                    struct buf *lines)
{
        if (lines->len == 0)
                return 0;
        _cleanup_free_ char *old = secret_files_old(f, path);
        _cleanup_buf_ struct buf out = {0};
        keep_lines(&out, old, marks);
        buf_put(&out, lines->data, lines->len);
        return secret_files_put(f, path, &out);
}

static bool has_ssh(const struct secret_files *f, const struct host_name *host)
{
        const struct session_secrets *all = &f->plan->secrets;
        for (size_t i = 0; i < all->n; i++)
                for (size_t k = 0; k < all->v[i].line.secret->places_n; k++)
                        if (secret_files_has(&all->v[i], RULE_AS_SSH) &&
                            host_name_equal(&all->v[i].line.secret->places[k].host, host))
                                return true;
        return false;
}

struct git_texts {
        struct buf netrc, credentials, config;
        struct strs machines, origins; /* marks of the lines that are ours */
        struct strs hosts;             /* the first secret of a host counts */
};

static void one_host(const struct secret_files *f, struct git_texts *t,
                     const struct session_secret *s, const struct rule_place *p, const char *value)
{
        char host[300];
        if (!secret_files_host(p, host) || strs_has(&t->hosts, host))
                return;
        strs_add(&t->hosts, host);
        /* netrc knows machines and no ports. */
        strs_addf(&t->machines, "machine %s ", p->host.text);
        buf_put_fmt(&t->netrc, "machine %s login %s password %s\n", p->host.text,
                    secret_files_user(s), value);
        if (!is_for_git(s) || str_starts(host, "api."))
                return;
        strs_addf(&t->origins, "@%s", host);
        buf_put_str(&t->credentials, "https://");
        percent(&t->credentials, secret_files_user(s));
        buf_put_u8(&t->credentials, ':');
        percent(&t->credentials, value);
        buf_put_fmt(&t->credentials, "@%s\n", host);
        buf_put_fmt(&t->config, "[credential \"https://%s\"]\n\thelper = store\n", host);
        if (s->line.secret->is_injected && !has_ssh(f, &p->host))
                buf_put_fmt(&t->config,
                            "[url \"https://%s/\"]\n\tinsteadOf = git@%s:\n\tinsteadOf = "
                            "ssh://git@%s/\n",
                            host, p->host.text, p->host.text);
}

int secret_files_git(struct secret_files *f)
{
        struct git_texts t = {0};
        for (size_t i = 0; i < f->plan->secrets.n; i++) {
                const struct session_secret *s = &f->plan->secrets.v[i];
                const char *value = secret_files_value(s);
                if (!value || !secret_files_has(s, RULE_AS_BASIC))
                        continue;
                for (size_t k = 0; k < s->line.secret->places_n; k++)
                        one_host(f, &t, s, &s->line.secret->places[k], value);
        }
        int r = put_file(f, ".netrc", &t.machines, &t.netrc) < 0 ||
                                put_file(f, ".git-credentials", &t.origins, &t.credentials) < 0 ||
                                secret_files_block(f, ".gitconfig", &t.config) < 0
                        ? -1
                        : 0;
        buf_free(&t.netrc);
        buf_free(&t.credentials);
        buf_free(&t.config);
        strs_free(&t.machines);
        strs_free(&t.origins);
        strs_free(&t.hosts);
        return r;
}

/* gh_host(place, out): the name under which gh keeps a login for that place; "" for none. */
static void gh_host(const struct rule_place *p, char out[300])
{
        out[0] = 0;
        if (!secret_files_host(p, out))
                return;
        if (strcmp(out, "api.github.com") == 0)
                snprintf(out, 300, "github.com");
        else if (str_ends(out, ".githubusercontent.com") || str_ends(out, ".githubcopilot.com") ||
                 str_ends(out, ".github.com") || strcmp(out, "ghcr.io") == 0)
                out[0] = 0;
}

int secret_files_gh(struct secret_files *f)
{
        _cleanup_buf_ struct buf b = {0};
        _cleanup_strs_ struct strs hosts = {0};
        for (size_t i = 0; i < f->plan->secrets.n; i++) {
                const struct session_secret *s = &f->plan->secrets.v[i];
                const char *value = secret_files_value(s);
                char host[300];
                if (!value || !secret_files_is(s, "github") ||
                    (!secret_files_has(s, RULE_AS_BEARER) && !secret_files_has(s, RULE_AS_HEADER)))
                        continue;
                for (size_t k = 0; k < s->line.secret->places_n; k++) {
                        gh_host(&s->line.secret->places[k], host);
                        if (!*host || strs_has(&hosts, host))
                                continue;
                        strs_add(&hosts, host);
                        buf_put_fmt(&b,
                                    "%s:\n    git_protocol: https\n    users:\n        "
                                    "x-access-token:\n            oauth_token: %s\n    "
                                    "oauth_token: %s\n    user: x-access-token\n",
                                    host, value, value);
                }
        }
        if (b.len == 0)
                return 0;
        if (secret_files_put(f, ".config/gh/hosts.yml", &b) < 0)
                return -1;
        /* Without a version gh asks the network who this is before it does anything else. */
        _cleanup_free_ char *old = secret_files_old(f, ".config/gh/config.yml");
        _cleanup_buf_ struct buf config = {0};
        if (*old)
                return 0;
        buf_put_str(&config, "version: \"1\"\ngit_protocol: https\n");
        return secret_files_put(f, ".config/gh/config.yml", &config);
}
