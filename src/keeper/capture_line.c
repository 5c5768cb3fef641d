/* capture_line.c - the line of a token that came with an answer: a copy of the line of the secret
 * with which it was got, with other forms, and a place more. Called by capture.c. Egress parses the
 * same text, so what cannot be parsed again is refused here. */
#include "keeper/keeper_int.h"

#include "base/err.h"
#include "base/str.h"
#include "policy/token_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* name_of(parent, name): GITHUB_TOKEN and "access_token" make GITHUB_TOKEN_ACCESS_TOKEN. */
static char *name_of(const char *parent, const char *name, size_t n)
{
        char *all = str_fmt("%.80s_%.*s", parent, (int)n, name);
        for (char *p = all + strlen(all) - n; *p; p++) {
                if (*p >= 'a' && *p <= 'z')
                        *p = (char)(*p - 32);
                else if (!(*p >= 'A' && *p <= 'Z') && !(*p >= '0' && *p <= '9'))
                        *p = '_';
        }
        return all;
}

/* add_place(s, host): where it came from, unless all of that is a place already. */
static int add_place(struct rule_secret *s, const struct host_name *host, struct err *err)
{
        int32_t port = RULE_PORT_USUAL;
        for (size_t i = 0; i < s->places_n; i++) {
                const struct rule_place *p = &s->places[i];
                bool is_it = p->host_kind == RULE_HOST_EXACT ? host_name_equal(&p->host, host)
                                                             : host_name_is_below(host, &p->host);
                if (is_it && !p->has_path)
                        return 0;
                if (is_it && p->port > 0)
                        port = p->port;
        }
        if (s->places_n == RULE_PLACES_MAX)
                return 0;
        char text[HOST_TEXT_MAX + 16];
        int n = snprintf(text, sizeof text, port > 0 ? "%s:%d" : "%s", host->text, (int)port);
        if (rule_place_parse(text, (size_t)n, true, &s->places[s->places_n], err) < 0)
                return -1;
        s->places_n++;
        return 0;
}

static void add_form(struct rule_secret *s, enum rule_form form, char *name)
{
        if (s->forms_n < RULE_FORMS_MAX)
                s->forms[s->forms_n++] = (struct rule_secret_form){.form = form, .name = name};
        else
                free(name);
}

/* Tokens that have a header of their own, by the name under which they come. */
static const struct {
        const char *name, *header;
} headers[] = {
        {"client_token", "x-vault-token"}, /* Vault's logins */
        {"raw_key", "x-api-key"},          /* Anthropic's login makes a key */
};

static void add_header(struct rule_secret *s, const char *name, size_t n)
{
        for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
                if (strlen(headers[i].name) == n && strncasecmp(headers[i].name, name, n) == 0)
                        add_form(s, RULE_AS_HEADER, str_dup(headers[i].header));
}

/* has_form(s, form): does it have this form already? */
static bool has_form(const struct rule_secret *s, const struct rule_secret_form *f)
{
        for (size_t i = 0; i < s->forms_n; i++)
                if (s->forms[i].form == f->form && s->forms[i].name && f->name &&
                    strcasecmp(s->forms[i].name, f->name) == 0)
                        return true;
        return false;
}

/* set_forms(s, name, is_aws): as a bearer, under its own name in a body (that is how a refresh
 * token goes back), in its own header, and in the named places where the other secret is shown. */
static void set_forms(struct rule_secret *s, const char *name, size_t n, bool is_aws)
{
        struct rule_secret_form old[RULE_FORMS_MAX];
        size_t old_n = s->forms_n;
        memcpy(old, s->forms, sizeof old);
        memset(s->forms, 0, sizeof s->forms);
        s->forms_n = 0;
        if (is_aws) {
                add_form(s, RULE_AS_SIGV4, NULL);
        } else {
                add_form(s, RULE_AS_BEARER, NULL);
                add_form(s, RULE_AS_BASIC, NULL);
                add_form(s, RULE_AS_JSON, str_fmt("/%.*s", (int)n, name));
                add_form(s, RULE_AS_FORM, str_fmt("%.*s", (int)n, name));
                add_header(s, name, n);
        }
        for (size_t i = 0; i < old_n; i++) {
                enum rule_form f = old[i].form;
                bool is_kept = f == RULE_AS_HEADER || f == RULE_AS_QUERY || f == RULE_AS_COOKIE ||
                               f == RULE_AS_WS;
                if (is_kept && !is_aws && !has_form(s, &old[i]))
                        add_form(s, f, old[i].name);
                else
                        free(old[i].name);
        }
}

static void clear(char **text)
{
        free(*text);
        *text = NULL;
}

/* strip(s, is_aws): what spoke of the other secret alone. */
static void strip(struct rule_secret *s, bool is_aws)
{
        char **const all[] = {&s->source_arg, &s->user,   &s->message,     &s->hash,
                              &s->encoding,   &s->prefix, &s->time_header, &s->app,
                              &s->repos,      &s->token,  &s->installation};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
                clear(all[i]);
        if (!is_aws) {
                clear(&s->service);
                clear(&s->region);
        }
        s->source = RULE_FROM_ENV;
        s->is_injected = false;
        s->ttl_s = s->refresh_s = 0;
}

static int parse(const char *text, struct rule_line *line, struct err *err)
{
        size_t column;
        return rule_line_parse(text, strlen(text), line, &column, err) == 1 ? 0 : -1;
}

int capture_line(const struct store_secret *parent, const struct host_name *host, const char *name,
                 size_t n, bool is_aws, struct rule_line *line, struct err *err)
{
        _cleanup_rule_line_ struct rule_line draft = {.kind = RULE_LINE_LIMIT};
        const char *places = token_places(host);
        char *plain =
                str_fmt("secret CAPTURED from env at %s as bearer", places ? places : host->text);
        int r = parse(parent ? parent->line_text : plain, &draft, err);
        free(plain);
        if (r < 0)
                return -1;
        struct rule_secret *s = draft.secret;
        char *full = is_aws ? name_of(s->name, "AWS", 3) : name_of(s->name, name, n);
        free(s->name);
        s->name = full;
        strip(s, is_aws);
        set_forms(s, name, n, is_aws);
        if (add_place(s, host, err) < 0)
                return -1;
        _cleanup_buf_ struct buf text = {0};
        rule_line_print(&draft, &text);
        return parse(buf_cstr(&text), line, err);
}
