/* rule_secret.c - the line that says where a secret comes from, to whom it belongs and how it is
 * shown there. Pure: it names a source and never asks it. Called by rule_line.c.
 *
 *   secret NAME from SOURCE at PLACE[,PLACE] as FORM[,FORM] [inject] [ttl=8h] */
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/profile_check.h"
#include "policy/rule_int.h"
#include "policy/words.h"

#include <stdlib.h>
#include <string.h>

enum need { NEVER, MAYBE, ALWAYS };

static const struct {
        const char *word;
        enum need arg;
} sources[] = {
        [RULE_FROM_ENV] = {"env", MAYBE},     [RULE_FROM_CMD] = {"cmd", ALWAYS},
        [RULE_FROM_FILE] = {"file", ALWAYS},  [RULE_FROM_AWS] = {"aws", MAYBE},
        [RULE_FROM_VAULT] = {"vault", MAYBE}, [RULE_FROM_LOGIN] = {"login", ALWAYS},
};
enum { SOURCES_N = sizeof sources / sizeof *sources };

static const struct {
        const char *word;
        bool takes_name;
} forms[] = {
        [RULE_AS_BEARER] = {"bearer", false},
        [RULE_AS_BASIC] = {"basic", false},
        [RULE_AS_HEADER] = {"header", true},
        [RULE_AS_QUERY] = {"query", true},
        [RULE_AS_PATH] = {"path", false},
        [RULE_AS_COOKIE] = {"cookie", true},
        [RULE_AS_JSON] = {"json", true},
        [RULE_AS_FORM] = {"form", true},
        [RULE_AS_WS] = {"ws", true},
        [RULE_AS_SIGV4] = {"sigv4", false},
        [RULE_AS_HMAC] = {"hmac", true},
        [RULE_AS_GCP] = {"gcp", false},
        [RULE_AS_GITHUB_APP] = {"github-app", false},
        [RULE_AS_OAUTH] = {"oauth", false},
        [RULE_AS_SSH] = {"ssh", false},
};
enum { FORMS_N = sizeof forms / sizeof *forms };

struct at {
        const struct words *w;
        struct rule_secret *s;
        size_t i; /* the word we stand on */
        struct err *err;
};

static const char *word(const struct at *a)
{
        return a->i < a->w->n ? a->w->v[a->i] : "";
}

static bool is_word(const struct at *a, const char *s)
{
        return a->i < a->w->n && strcmp(a->w->v[a->i], s) == 0;
}

static int wrong(struct at *a, const char *what)
{
        return err_set(a->err, E_INPUT, "%s", what);
}

static int suggest(struct at *a, const char *what, const char *const *names, size_t n)
{
        const char *near = str_suggest(word(a), names, n);
        wrong(a, what);
        return near ? err_hint(a->err, "did you mean \"%s\"?", near) : -1;
}

static int parse_source(struct at *a)
{
        const char *names[SOURCES_N];
        size_t k = SOURCES_N;
        for (size_t i = 0; i < SOURCES_N; i++) {
                names[i] = sources[i].word;
                if (is_word(a, names[i]))
                        k = i;
        }
        if (k == SOURCES_N)
                return suggest(a, "a source is wanted here: env, cmd, file, aws or vault", names,
                               SOURCES_N);
        a->s->source = (enum rule_source)k;
        a->i++;
        if (sources[k].arg == NEVER || a->i >= a->w->n || is_word(a, "at") || is_word(a, "as")) {
                if (sources[k].arg != ALWAYS)
                        return 0;
                return wrong(a, k == RULE_FROM_CMD ? "cmd wants a command, in quotes"
                                                   : "file wants a path");
        }
        const char *arg = word(a);
        if (!rule_text_ok(arg) || (k == RULE_FROM_ENV && !profile_check_env_name(arg)))
                return wrong(a, "this cannot be where a secret comes from");
        if (k == RULE_FROM_FILE && arg[0] != '/' && !str_starts(arg, "~/"))
                return wrong(a, "file wants a path, absolute or below ~/");
        a->s->source_arg = str_dup(arg);
        a->i++;
        return 0;
}

static int parse_places(struct at *a)
{
        for (const char *s = word(a);;) {
                size_t n = strcspn(s, ",");
                if (a->s->places_n == RULE_PLACES_MAX)
                        return wrong(a, "a secret has at most 16 places");
                if (rule_place_parse(s, n, true, &a->s->places[a->s->places_n], a->err) < 0)
                        return err_add(a->err, "hosts, separated by commas, are wanted here");
                a->s->places_n++;
                if (!s[n])
                        break;
                s += n + 1;
        }
        a->i++;
        return 0;
}

static int name_form(struct at *a, struct rule_secret_form *f, const char *s, size_t n)
{
        static const char token[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                    "!#$%&'*+-.^_`|~";
        if (n == 0 || n > 128)
                return wrong(a, "a name is wanted here");
        f->name = str_fmt("%.*s", (int)n, s);
        if (strspn(f->name, token) != n)
                return wrong(a, "this is not a name of a header, parameter or cookie");
        for (char *p = f->name; f->form == RULE_AS_HEADER && *p; p++)
                if (*p >= 'A' && *p <= 'Z')
                        *p = (char)(*p - 'A' + 'a');
        return 0;
}

/* FORM[,FORM], where some forms are followed by a name: "header x-api-key,bearer". */
static int parse_forms(struct at *a)
{
        struct rule_secret_form *open = NULL; /* the form that still wants its name */
        for (bool more = true; more && a->i < a->w->n; a->i++) {
                const char *s = word(a);
                for (more = false;;) {
                        size_t n = strcspn(s, ",");
                        if (open) {
                                if (name_form(a, open, s, n) < 0)
                                        return -1;
                                open = NULL;
                        } else {
                                size_t k = 0;
                                while (k < FORMS_N && (strlen(forms[k].word) != n ||
                                                       strncmp(forms[k].word, s, n) != 0))
                                        k++;
                                if (k == FORMS_N || a->s->forms_n == RULE_FORMS_MAX) {
                                        const char *names[FORMS_N];
                                        for (size_t i = 0; i < FORMS_N; i++)
                                                names[i] = forms[i].word;
                                        return suggest(
                                                a,
                                                "a form is wanted here: bearer, basic, header "
                                                "NAME, query NAME, cookie NAME or sigv4",
                                                names, FORMS_N);
                                }
                                struct rule_secret_form *f = &a->s->forms[a->s->forms_n++];
                                f->form = (enum rule_form)k;
                                open = forms[k].takes_name ? f : NULL;
                        }
                        if (!s[n])
                                break;
                        s += n + 1;
                }
                more = open != NULL;
        }
        if (open)
                return wrong(a, "the name of the header, parameter or cookie is missing");
        return 0;
}

static int parse_rest(struct at *a)
{
        for (; a->i < a->w->n; a->i++) {
                const char *s = word(a);
                char **text = str_starts(s, "service=")  ? &a->s->service
                              : str_starts(s, "region=") ? &a->s->region
                              : str_starts(s, "user=")   ? &a->s->user
                                                         : NULL;
                if (strcmp(s, "inject") == 0 && !a->s->is_injected) {
                        a->s->is_injected = true;
                } else if (str_starts(s, "ttl=") && !a->s->ttl_s) {
                        if (str_duration(s + 4, &a->s->ttl_s) < 0 || !a->s->ttl_s)
                                return wrong(a, "ttl= wants a time, such as ttl=8h");
                } else if (text && !*text && rule_text_ok(strchr(s, '=') + 1)) {
                        *text = str_dup(strchr(s, '=') + 1);
                } else {
                        const char *const names[] = {"inject", "ttl", "service", "region", "user"};
                        return suggest(a,
                                       "inject, ttl=, service=, region= or user= may follow here, "
                                       "each once",
                                       names, sizeof names / sizeof *names);
                }
        }
        return 0;
}

static int parse(struct at *a)
{
        a->i = 1;
        if (!profile_check_env_name(word(a)))
                return wrong(a, "\"secret\" wants a NAME");
        a->s->name = str_dup(word(a));
        a->i++;
        if (!is_word(a, "from"))
                return wrong(a, "\"from SOURCE\" is wanted here");
        a->i++;
        if (parse_source(a) < 0)
                return -1;
        if (!is_word(a, "at") || a->i + 1 >= a->w->n) {
                if (!is_word(a, "as") && a->i + 1 < a->w->n)
                        return wrong(a, "\"at HOST\" is wanted here");
                a->i = a->w->n;
                return wrong(a, "\"at HOST\" is missing: a secret belongs to a host");
        }
        a->i++;
        if (parse_places(a) < 0)
                return -1;
        if (!is_word(a, "as") || a->i + 1 >= a->w->n) {
                a->i = a->w->n;
                return wrong(a, "\"as FORM\" is missing, such as: as bearer");
        }
        a->i++;
        if (parse_forms(a) < 0)
                return -1;
        return parse_rest(a);
}

int rule_secret_parse(const struct words *w, struct rule_secret *s, size_t *bad, struct err *err)
{
        struct at a = {.w = w, .s = s, .err = err};
        int code = parse(&a);
        *bad = a.i;
        return code;
}

void rule_secret_free(struct rule_secret *s)
{
        free(s->name);
        free(s->source_arg);
        for (size_t i = 0; i < s->places_n; i++)
                rule_place_free(&s->places[i]);
        for (size_t i = 0; i < s->forms_n; i++)
                free(s->forms[i].name);
        free(s->service);
        free(s->region);
        free(s->user);
        free(s);
}

static void put_option(struct buf *b, const char *name, const char *value)
{
        if (!value)
                return;
        char *word_ = str_fmt("%s=%s", name, value);
        buf_put_str(b, " ");
        rule_put_word(b, word_);
        free(word_);
}

void rule_secret_print(const struct rule_secret *s, struct buf *b)
{
        buf_put_fmt(b, "secret %s from %s", s->name, sources[s->source].word);
        if (s->source_arg) {
                buf_put_str(b, " ");
                rule_put_word(b, s->source_arg);
        }
        buf_put_str(b, " at ");
        _cleanup_buf_ struct buf list = {0};
        for (size_t i = 0; i < s->places_n; i++) {
                buf_put_str(&list, i ? "," : "");
                rule_place_print(&s->places[i], &list);
        }
        rule_put_word(b, buf_cstr(&list));
        buf_put_str(b, " as ");
        for (size_t i = 0; i < s->forms_n; i++) {
                buf_put_str(b, i ? "," : "");
                buf_put_str(b, forms[s->forms[i].form].word);
                if (s->forms[i].name) {
                        buf_put_str(b, " ");
                        rule_put_word(b, s->forms[i].name);
                }
        }
        if (s->is_injected)
                buf_put_str(b, " inject");
        if (s->ttl_s)
                buf_put_fmt(b, " ttl=%lu", (unsigned long)s->ttl_s);
        put_option(b, "service", s->service);
        put_option(b, "region", s->region);
        put_option(b, "user", s->user);
}
