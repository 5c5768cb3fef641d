/* rule_secret_opts.c - the words behind the forms of a secret line, as one table: what each is
 * called, which forms may have it, and who reads it; then whether the line as a whole makes sense.
 * Pure; called by rule_secret.c. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/host_name.h"
#include "policy/rule_int.h"
#include "policy/words.h"

#include <stdlib.h>
#include <string.h>

#define AS(f) (1u << RULE_AS_##f)
/* The value is a key that makes signatures, and is itself never shown. */
#define SIGNERS (AS(SIGV4) | AS(HMAC) | AS(SSH))
/* It fetches tokens. They are bearers, and may be shown in other forms besides. */
#define FETCHERS    (AS(GCP) | AS(GITHUB_APP) | AS(OAUTH))
#define TOKEN_FORMS (AS(BEARER) | AS(BASIC) | AS(HEADER) | AS(QUERY) | AS(COOKIE))
/* What cannot be added to a request that does not have it already. */
#define NOT_INJECTED (AS(PATH) | AS(JSON) | AS(FORM) | AS(WS) | AS(SSH))
#define ANY          (~0u)

static unsigned forms_of(const struct rule_secret *s)
{
        unsigned all = 0;
        for (size_t i = 0; i < s->forms_n; i++)
                all |= 1u << s->forms[i].form;
        return all;
}

static int wrong(struct err *err, const char *what)
{
        return err_set(err, E_INPUT, "%s", what);
}

/* one_of(err, v, names, n, what): the index of ${v}, or -1. */
static int one_of(struct err *err, const char *v, const char *const *names, size_t n,
                  const char *what)
{
        for (size_t i = 0; i < n; i++)
                if (strcmp(names[i], v) == 0)
                        return (int)i;
        const char *near = str_suggest(v, names, n);
        wrong(err, what);
        return near ? err_hint(err, "did you mean \"%s\"?", near) : -1;
}

static int on_inject(struct rule_secret *s, const char *v, struct err *err)
{
        (void)v;
        if (!(forms_of(s) & ~NOT_INJECTED))
                return wrong(err, forms_of(s) & AS(SSH)
                                          ? "a key of ssh signs only what is asked of its agent: "
                                            "there is nothing to inject it into"
                                          : "inject wants a form that can be added to a request: "
                                            "bearer, basic, header, query, cookie or a signature");
        s->is_injected = true;
        return 0;
}

static int on_plain(struct rule_secret *s, const char *v, struct err *err)
{
        (void)v;
        (void)err;
        s->is_plain = true;
        return 0;
}

static int on_ttl(struct rule_secret *s, const char *v, struct err *err)
{
        if (str_duration(v, &s->ttl_s) < 0 || !s->ttl_s)
                return wrong(err, "ttl= wants a time, such as ttl=8h");
        return 0;
}

static int on_refresh(struct rule_secret *s, const char *v, struct err *err)
{
        if (s->source == RULE_FROM_ENV || s->source == RULE_FROM_ANY)
                return wrong(err, "a variable does not change: refresh= is for cmd, file, aws, "
                                  "vault and keyring");
        if (s->source == RULE_FROM_LOGIN)
                return wrong(err,
                             "a login is refreshed when it must be: refresh= is for cmd, file, "
                             "aws, vault and keyring");
        if (str_duration(v, &s->refresh_s) < 0 || !s->refresh_s)
                return wrong(err, "refresh= wants a time, such as refresh=30m");
        return 0;
}

static int on_leak(struct rule_secret *s, const char *v, struct err *err)
{
        int k = one_of(err, v, rule_leaks, RULE_LEAKS_N,
                       "leak= wants alarm, pause, revoke or kill");
        if (k < 0)
                return -1;
        s->leak = (enum rule_leak)k;
        return 0;
}

static int keep(char **to, const char *v)
{
        *to = str_dup(v);
        return 0;
}

/* a word of letters, digits and ${more} */
static int keep_word(char **to, const char *v, const char *more, struct err *err, const char *what)
{
        for (const char *p = v; *p; p++)
                if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                      (*p >= '0' && *p <= '9') || strchr(more, *p)))
                        return wrong(err, what);
        return *v && strlen(v) <= 1024 ? keep(to, v) : wrong(err, what);
}

static int on_service(struct rule_secret *s, const char *v, struct err *err)
{
        return keep_word(&s->service, v, "-_.", err,
                         "service= wants a name as it stands in signatures, such as service=s3");
}

static int on_region(struct rule_secret *s, const char *v, struct err *err)
{
        return keep_word(&s->region, v, "-_.", err,
                         "region= wants a name as it stands in signatures, such as "
                         "region=eu-west-1");
}

static int on_user(struct rule_secret *s, const char *v, struct err *err)
{
        if (!rule_text_ok(v) || strchr(v, ':')) /* a colon would move the border (ATTACKS S7) */
                return wrong(err, "user= wants a name without a colon");
        return keep(&s->user, v);
}

static const char *const fields[] = {"method", "host",        "path", "query",  "target",
                                     "body",   "body_sha256", "time", "time_ms"};

/* field_at(s): the length of the {field} at ${s}, 0 when it is none that we know. */
static size_t field_at(const char *s)
{
        size_t n = strcspn(s, "}");
        if (s[n] && n > 8 && str_starts(s, "{header:"))
                return n + 1;
        for (size_t i = 0; i < sizeof fields / sizeof *fields && s[n]; i++)
                if (strlen(fields[i]) == n - 1 && strncmp(fields[i], s + 1, n - 1) == 0)
                        return n + 1;
        return 0;
}

static int on_message(struct rule_secret *s, const char *v, struct err *err)
{
        bool has_field = false;
        for (const char *p = v; *p; p++) {
                if ((unsigned char)*p < 0x20 && *p != '\n' && *p != '\t')
                        return wrong(err, "message= may have no control characters but \\n, \\t");
                if (*p != '{')
                        continue;
                size_t n = field_at(p);
                if (!n) {
                        wrong(err, "message= has a field that is not known");
                        return err_hint(err, "known: {method} {host} {path} {query} {target} "
                                             "{body} {body_sha256} {time} {time_ms} {header:NAME}");
                }
                has_field = true;
                p += n - 1;
        }
        if (!has_field || strlen(v) > 1024)
                return wrong(err, "message= wants a text with fields, such as "
                                  "message=\"{method}\\n{path}\\n{body}\"");
        return keep(&s->message, v);
}

static int on_hash(struct rule_secret *s, const char *v, struct err *err)
{
        static const char *const names[] = {"sha256", "sha512", "sha1"};
        return one_of(err, v, names, 3, "hash= wants sha256, sha512 or sha1") < 0
                       ? -1
                       : keep(&s->hash, v);
}

static int on_encoding(struct rule_secret *s, const char *v, struct err *err)
{
        static const char *const names[] = {"hex", "base64"};
        return one_of(err, v, names, 2, "encoding= wants hex or base64") < 0
                       ? -1
                       : keep(&s->encoding, v);
}

static int on_prefix(struct rule_secret *s, const char *v, struct err *err)
{
        if (!rule_text_ok(v))
                return wrong(err, "prefix= wants what stands before the signature, such as "
                                  "prefix=\"sha256=\"");
        return keep(&s->prefix, v);
}

static int on_time_header(struct rule_secret *s, const char *v, struct err *err)
{
        return rule_header_take(v, strlen(v), &s->time_header, err);
}

static int on_app(struct rule_secret *s, const char *v, struct err *err)
{
        return keep_word(&s->app, v, ".-_", err, "app= wants the id of the app or client");
}

static int on_installation(struct rule_secret *s, const char *v, struct err *err)
{
        uint64_t n;
        if (str_u64(v, &n) < 0 || !n)
                return wrong(err, "installation= wants the number that stands at the end of the "
                                  "address of the app's settings");
        return keep(&s->installation, v);
}

static int on_repos(struct rule_secret *s, const char *v, struct err *err)
{
        static const char what[] = "repos= wants names of repositories without their owner, "
                                   "separated by commas";
        size_t n = strlen(v);
        if (!n || v[0] == ',' || v[n - 1] == ',' || strstr(v, ",,"))
                return wrong(err, what);
        return keep_word(&s->repos, v, ".-_,", err, what);
}

static int on_token(struct rule_secret *s, const char *v, struct err *err)
{
        struct host_name h;
        static const char what[] = "token= wants the address of the token endpoint, such as "
                                   "token=https://login.example.org/oauth/token";
        if (!rule_text_ok(v) || !str_starts(v, "https://") || strpbrk(v, " #@?\\"))
                return wrong(err, what);
        const char *host = v + 8;
        size_t n = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/");
        uint64_t port = 443;
        size_t end = strcspn(host, "/");
        if (n > end || (n < end && host[n] != ':') || !host[end])
                return wrong(err, what);
        if (n < end) {
                _cleanup_free_ char *digits = str_fmt("%.*s", (int)(end - n - 1), host + n + 1);
                if (str_u64(digits, &port) < 0 || !port || port > UINT16_MAX)
                        return wrong(err, what);
        }
        if (host_name_parse(host, n, &h, err) < 0)
                return err_add(err, "%s", what);
        return keep(&s->token, v);
}

static const struct {
        const char *name;
        bool has_value;
        unsigned forms;   /* that may have it */
        bool is_of_login; /* a login may have it too */
        const char *whose;
        int (*on)(struct rule_secret *, const char *, struct err *);
} options[] = {
        {"inject", false, ANY, false, "", on_inject},
        {"plain", false, ANY & ~AS(SSH), false, "forms of HTTP", on_plain},
        {"ttl", true, ANY, false, "", on_ttl},
        {"refresh", true, ANY, false, "", on_refresh},
        {"leak", true, ANY, false, "", on_leak},
        {"service", true, AS(SIGV4), false, "sigv4", on_service},
        {"region", true, AS(SIGV4), false, "sigv4", on_region},
        {"user", true, AS(BASIC) | AS(GITHUB_APP), false, "basic", on_user},
        {"message", true, AS(HMAC), false, "hmac", on_message},
        {"hash", true, AS(HMAC), false, "hmac", on_hash},
        {"encoding", true, AS(HMAC), false, "hmac", on_encoding},
        {"prefix", true, AS(HMAC), false, "hmac", on_prefix},
        {"time-header", true, AS(HMAC), false, "hmac", on_time_header},
        {"app", true, AS(GITHUB_APP) | AS(OAUTH), true, "github-app, oauth and logins", on_app},
        {"installation", true, AS(GITHUB_APP), false, "github-app", on_installation},
        {"repos", true, AS(GITHUB_APP), false, "github-app", on_repos},
        {"token", true, AS(OAUTH) | AS(GCP), true, "oauth, gcp and logins", on_token},
};
enum { OPTIONS_N = sizeof options / sizeof *options };

static int unknown(const char *word, struct err *err)
{
        const char *names[OPTIONS_N];
        for (size_t i = 0; i < OPTIONS_N; i++)
                names[i] = options[i].name;
        _cleanup_free_ char *bare = str_fmt("%.*s", (int)strcspn(word, "="), word);
        const char *near = str_suggest(bare, names, OPTIONS_N);
        wrong(err, "inject, plain, ttl=, refresh=, leak= or an option of its form may follow here");
        return near ? err_hint(err, "did you mean \"%s\"?", near) : -1;
}

int rule_secret_opts(const struct words *w, size_t at, struct rule_secret *s, size_t *bad,
                     struct err *err)
{
        uint32_t seen = 0;
        for (*bad = at; *bad < w->n; ++*bad) {
                const char *word = w->v[*bad];
                size_t n = strcspn(word, "="), k = 0;
                while (k < OPTIONS_N &&
                       (strlen(options[k].name) != n || strncmp(options[k].name, word, n) != 0 ||
                        options[k].has_value != (word[n] == '=')))
                        k++;
                if (k == OPTIONS_N)
                        return unknown(word, err);
                if (seen & 1u << k)
                        return err_set(err, E_INPUT, "%s may be said only once", options[k].name);
                seen |= 1u << k;
                if (!(forms_of(s) & options[k].forms) &&
                    !(options[k].is_of_login && s->source == RULE_FROM_LOGIN))
                        return err_set(err, E_INPUT, "%s is only for %s", options[k].name,
                                       options[k].whose);
                if (options[k].on(s, options[k].has_value ? word + n + 1 : "", err) < 0)
                        return -1;
        }
        return 0;
}

const char *rule_secret_fault(const struct rule_secret *s)
{
        unsigned all = forms_of(s);
        if (all & AS(HMAC) && !s->message)
                return "hmac wants to know what is signed, such as "
                       "message=\"{method}\\n{path}\\n{body}\"";
        if (all & AS(GITHUB_APP) && (!s->app || !s->installation))
                return "github-app wants app=ID and installation=NUMBER";
        if (all & AS(OAUTH) && !s->token)
                return "oauth wants the token endpoint, such as "
                       "token=https://login.example.org/oauth/token";
        return NULL;
}

const char *rule_secret_forms_fault(const struct rule_secret *s)
{
        unsigned all = forms_of(s), fetchers = all & FETCHERS;
        if (all & SIGNERS && s->forms_n > 1)
                return "a key that makes signatures has one form alone, because it is never shown "
                       "itself";
        if (fetchers && (fetchers & (fetchers - 1) || all & ~(FETCHERS | TOKEN_FORMS)))
                return "beside gcp, github-app or oauth, of which there is one, tokens are shown "
                       "as "
                       "bearer, basic, header, query or cookie";
        if (s->source == RULE_FROM_AWS && all != AS(SIGV4))
                return "keys of AWS are shown by their signatures only: as sigv4";
        if (s->source == RULE_FROM_LOGIN && all & ~TOKEN_FORMS)
                return "a login is shown as bearer, basic, header, query or cookie";
        for (size_t i = 0; i < s->forms_n; i++)
                for (size_t k = 0; k < i; k++)
                        if (s->forms[i].form == s->forms[k].form &&
                            (!s->forms[i].name || strcmp(s->forms[i].name, s->forms[k].name) == 0))
                                return "a form may be said only once";
        return NULL;
}

void rule_secret_fill(struct rule_secret *s)
{
        static const struct {
                const char *agent, *token, *app;
        } logins[] = {
                {"claude", "https://platform.claude.com/v1/oauth/token",
                 "9d1c250a-e61b-44d9-88ed-5944d1962f5e"},
                {"codex", "https://auth.openai.com/oauth/token", "app_EMoamEEZ73f0CkXaXp7hrann"},
        };
        for (size_t i = 0; s->source == RULE_FROM_LOGIN && i < 2; i++) {
                if (strcmp(logins[i].agent, s->source_arg) != 0)
                        continue;
                if (!s->token)
                        s->token = str_dup(logins[i].token);
                if (!s->app)
                        s->app = str_dup(logins[i].app);
        }
}
