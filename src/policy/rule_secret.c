/* rule_secret.c - the line that says where a secret comes from, to whom it belongs and how it is
 * shown there. Pure: it names a source and never asks it. Called by rule_line.c.
 *
 *   secret NAME from SOURCE at PLACE[,PLACE] as FORM[,FORM] [inject] [OPTION...]
 *
 * The options are rule_secret_opts.c's. */
#include "base/err.h"
#include "base/str.h"
#include "policy/cred_slots.h"
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
        [RULE_FROM_ANY] = {"any", MAYBE},     [RULE_FROM_KEYRING] = {"keyring", MAYBE},
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

const char *rule_source_word(enum rule_source k)
{
        return sources[k].word;
}

const char *rule_form_word(enum rule_form k)
{
        return forms[k].word;
}

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
                return suggest(a,
                               "a source is wanted here: any, env, cmd, file, aws, vault, "
                               "keyring or login",
                               names, SOURCES_N);
        a->s->source = (enum rule_source)k;
        a->i++;
        if (sources[k].arg == NEVER || a->i >= a->w->n || is_word(a, "at") || is_word(a, "as")) {
                if (sources[k].arg != ALWAYS)
                        return 0;
                return wrong(a, k == RULE_FROM_CMD     ? "cmd wants a command, in quotes"
                                : k == RULE_FROM_LOGIN ? "login wants an agent: claude or codex"
                                                       : "file wants a path");
        }
        const char *arg = word(a);
        if (!rule_text_ok(arg) ||
            ((k == RULE_FROM_ENV || k == RULE_FROM_ANY) && !profile_check_env_name(arg)))
                return wrong(a, "this cannot be where a secret comes from");
        if (k == RULE_FROM_FILE && arg[0] != '/' && !str_starts(arg, "~/"))
                return wrong(a, "file wants a path, absolute or below ~/");
        static const char *const logins[] = {"claude", "codex"};
        if (k == RULE_FROM_LOGIN && strcmp(arg, logins[0]) != 0 && strcmp(arg, logins[1]) != 0)
                return suggest(a, "login wants an agent: claude or codex", logins, 2);
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

#define TOKEN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~"

int rule_header_take(const char *s, size_t n, char **name, struct err *err)
{
        if (n == 0 || n > 128)
                return err_set(err, E_INPUT, "the name of a header is wanted here");
        *name = str_fmt("%.*s", (int)n, s);
        if (strspn(*name, TOKEN) != n)
                return err_set(err, E_INPUT, "this is not a name of a header");
        for (char *p = *name; *p; p++)
                if (*p >= 'A' && *p <= 'Z')
                        *p = (char)(*p - 'A' + 'a');
        if (strcmp(*name, "cookie") == 0)
                return err_set(err, E_INPUT, "a cookie has a form of its own: cookie NAME");
        if (cred_slots_is_reflective(*name))
                return err_set(err, E_INPUT,
                               "servers send this header back, so no secret is put there");
        return 0;
}

/* pointer_ok(p): "/a/b~1c", as RFC 6901 writes it; the whole document is no place for a secret. */
static bool pointer_ok(const char *p)
{
        if (*p != '/' || strlen(p) < 2)
                return false;
        for (; *p; p++)
                if ((unsigned char)*p < 0x20 || *p == 0x7f ||
                    (*p == '~' && p[1] != '0' && p[1] != '1'))
                        return false;
        return true;
}

static int name_form(struct at *a, struct rule_secret_form *f, const char *s, size_t n)
{
        if (f->form == RULE_AS_HEADER || f->form == RULE_AS_HMAC)
                return rule_header_take(s, n, &f->name, a->err);
        if (n == 0 || n > 256)
                return wrong(a, "a name is wanted here");
        f->name = str_fmt("%.*s", (int)n, s);
        if (f->form == RULE_AS_JSON || f->form == RULE_AS_WS)
                return pointer_ok(f->name)
                               ? 0
                               : wrong(a, "a JSON pointer is wanted here; it begins with /, such "
                                          "as /auth/token");
        if (strspn(f->name, f->form == RULE_AS_COOKIE ? TOKEN : TOKEN "[]") != n)
                return wrong(a, "this is not a name of a parameter, field or cookie");
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
                                if (a->s->forms_n == RULE_FORMS_MAX)
                                        return wrong(a, "a secret has at most 8 forms");
                                if (k == FORMS_N) {
                                        const char *names[FORMS_N];
                                        for (size_t i = 0; i < FORMS_N; i++)
                                                names[i] = forms[i].word;
                                        return suggest(
                                                a,
                                                "a form is wanted here: bearer, basic, header "
                                                "NAME, query NAME, path, cookie NAME, json "
                                                "/POINTER, form NAME, ws /POINTER, sigv4, hmac "
                                                "HEADER, gcp, github-app, oauth or ssh",
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
        size_t forms_at = a->i;
        if (parse_forms(a) < 0)
                return -1;
        const char *fault = rule_secret_forms_fault(a->s);
        if (fault) {
                a->i = forms_at;
                return wrong(a, fault);
        }
        if (rule_secret_opts(a->w, a->i, a->s, &a->i, a->err) < 0)
                return -1;
        rule_secret_fill(a->s);
        fault = rule_secret_fault(a->s);
        return fault ? wrong(a, fault) : 0;
}

int rule_secret_parse(const struct words *w, struct rule_secret *s, size_t *bad, struct err *err)
{
        struct at a = {.w = w, .s = s, .err = err};
        int code = parse(&a);
        *bad = a.i;
        return code;
}
