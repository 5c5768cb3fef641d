/* secret_spec.c - see secret_spec.h. The pieces are put into a line's words, and the parser of
 * lines judges them; here it must never guess where a secret belongs. */
#include "policy/secret_spec.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/profile_check.h"
#include "policy/rule_int.h"

#include <stdlib.h>
#include <string.h>

enum { SPEC_MAX = 8192 };

struct spec {
        char *name;
        const char *source; /* behind "=", or NULL */
        const char *places; /* behind "@", or NULL */
        const char *forms;  /* behind ":", or NULL */
        size_t source_n, places_n, forms_n;
        bool is_injected, is_plain;
};

/* is_form(s, n): does a form begin here? */
static bool is_form(const char *s, const char *end)
{
        for (int k = RULE_AS_BEARER; k <= RULE_AS_SSH; k++) {
                const char *word = rule_form_word((enum rule_form)k);
                size_t n = strlen(word);
                if ((size_t)(end - s) >= n && strncmp(s, word, n) == 0 &&
                    (s + n == end || s[n] == ':' || s[n] == ','))
                        return true;
        }
        return false;
}

static bool cut_end(const char *s, size_t *n, const char *end)
{
        size_t k = strlen(end);
        if (*n < k || strncmp(s + *n - k, end, k) != 0)
                return false;
        *n -= k;
        return true;
}

/* split(text, s): what stands where. */
static void split(const char *text, struct spec *s)
{
        size_t n = strlen(text);
        for (bool more = true; more;) {
                bool is_inject = cut_end(text, &n, "+inject");
                bool is_plain = !is_inject && cut_end(text, &n, "+plain");
                s->is_injected |= is_inject;
                s->is_plain |= is_plain;
                more = is_inject || is_plain;
        }
        const char *end = text + n;
        const char *at = memrchr(text, '@', n);
        const char *head_end = at ? at : end;
        const char *eq = memchr(text, '=', (size_t)(head_end - text));
        const char *name_end = eq ? eq : head_end;
        s->name = str_fmt("%.*s", (int)(name_end - text), text);
        if (eq) {
                s->source = eq + 1;
                s->source_n = (size_t)(head_end - s->source);
        }
        if (!at)
                return;
        s->places = at + 1;
        s->places_n = (size_t)(end - s->places);
        for (const char *p = s->places; p < end; p++) {
                if (*p != ':' || !is_form(p + 1, end))
                        continue;
                s->places_n = (size_t)(p - s->places);
                s->forms = p + 1;
                s->forms_n = (size_t)(end - s->forms);
                break;
        }
}

static int put_source(const struct spec *s, struct buf *b, struct err *err)
{
        static const char *const words[] = {"env",   "vault", "file",   "aws",
                                            "login", "any",   "keyring"};
        if (!s->source) {
                bool is_aws = s->forms && s->forms_n == 5 && strncmp(s->forms, "sigv4", 5) == 0 &&
                              strcmp(s->name, "AWS") == 0;
                buf_put_str(b, is_aws ? " from aws" : " from any");
                return 0;
        }
        const char *colon = memchr(s->source, ':', s->source_n);
        size_t n = colon ? (size_t)(colon - s->source) : s->source_n;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
                if (strlen(words[i]) != n || strncmp(words[i], s->source, n) != 0)
                        continue;
                buf_put_fmt(b, " from %s", words[i]);
                if (colon) {
                        _cleanup_free_ char *arg =
                                str_fmt("%.*s", (int)(s->source_n - n - 1), colon + 1);
                        buf_put_str(b, " ");
                        rule_put_word(b, arg);
                }
                return 0;
        }
        /* It may be the value itself, so it is not repeated. */
        return err_set(
                err, E_USAGE,
                "behind the \"=\" of secret %s stands a source: env, vault, keyring, "
                "file:PATH, aws or login:AGENT, and never a value (set it with: ostiary secret set %s)",
                s->name, s->name);
}

/* put_forms(s, b): "header:x-foo,bearer" as "header x-foo,bearer". */
static void put_forms(const struct spec *s, struct buf *b)
{
        bool is_name = false; /* the rest, up to the comma, is a name and may hold colons */
        buf_put_str(b, " as ");
        for (size_t i = 0; i < s->forms_n; i++) {
                char c = s->forms[i];
                buf_put_u8(b, c == ':' && !is_name ? ' ' : (uint8_t)c);
                is_name = c == ':' || (is_name && c != ',');
        }
}

/* usual_forms(s): how the first of its places wants to see it. */
static const char *usual_forms(const struct spec *s)
{
        size_t n = 0;
        while (n < s->places_n && !strchr(":/,", s->places[n]))
                n++;
        _cleanup_free_ char *host = str_fmt("%.*s", (int)n, s->places);
        return secret_known_forms(str_starts(host, "*.") ? host + 2 : host, s->name);
}

static int nowhere(const struct spec *s, struct err *err)
{
        const char *near = secret_known_near(s->name);
        err_set(err, E_USAGE, "where does secret %s belong? Say it as %s@HOST", s->name, s->name);
        return near ? err_hint(err, "or did you mean \"%s\", whose place is known?", near) : -1;
}

static int put_line(const struct spec *s, struct buf *b, struct err *err)
{
        if (!profile_check_env_name(s->name))
                return err_set(err, E_USAGE,
                               "a secret begins with a NAME of letters, digits and _, as in "
                               "NAME@HOST");
        const struct secret_known *known = s->places ? NULL : secret_known_name(s->name);
        if (!s->places && !known)
                return nowhere(s, err);
        buf_put_fmt(b, "secret %s", s->name);
        if (put_source(s, b, err) < 0)
                return -1;
        buf_put_str(b, " at ");
        if (known)
                buf_put_fmt(b, "%s as %s", known->places, known->forms);
        else
                buf_put(b, s->places, s->places_n);
        if (s->forms)
                put_forms(s, b);
        else if (!known)
                buf_put_fmt(b, " as %s", usual_forms(s));
        buf_put_str(b, s->is_injected ? " inject" : "");
        buf_put_str(b, s->is_plain ? " plain" : "");
        return 0;
}

/* canonical(text, n, name, err): as the parser of lines reads it; the caller frees. */
static char *canonical(const char *text, size_t n, const char *name, struct err *err)
{
        struct rule_line line;
        size_t column;
        _cleanup_buf_ struct buf b = {0};
        if (rule_line_parse(text, n, &line, &column, err) != 1) {
                err_add(err, "secret %s", name);
                return NULL;
        }
        rule_line_print(&line, &b);
        rule_line_free(&line);
        return str_dup(buf_cstr(&b));
}

char *secret_spec_line(const char *text, struct err *err)
{
        size_t n = strcspn(text, " \t");
        _cleanup_buf_ struct buf b = {0};
        if (strlen(text) > SPEC_MAX) {
                err_set(err, E_USAGE, "this is too long for a secret");
                return NULL;
        }
        if (text[n]) {
                /* In full, from the name on. Everything before "from" is a name, so nothing is
                 * repeated that may be a value. */
                _cleanup_free_ char *name = str_fmt("%.*s", (int)n, text);
                buf_put_fmt(&b, "secret %s", text);
                return canonical(buf_cstr(&b), b.len, profile_check_env_name(name) ? name : "line",
                                 err);
        }
        struct spec s = {0};
        split(text, &s);
        char *line = NULL;
        if (put_line(&s, &b, err) == 0)
                line = canonical(buf_cstr(&b), b.len, s.name, err);
        free(s.name);
        return line;
}
