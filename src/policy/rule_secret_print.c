/* rule_secret_print.c - a secret line back into its canonical text, and its release. Pure; what is
 * printed is what rule_secret.c reads. */
#include "base/buf.h"
#include "base/str.h"
#include "policy/rule_int.h"

#include <stdlib.h>
#include <string.h>

const char *const rule_leaks[RULE_LEAKS_N] = {
        [RULE_LEAK_ALARM] = "alarm",
        [RULE_LEAK_PAUSE] = "pause",
        [RULE_LEAK_REVOKE] = "revoke",
        [RULE_LEAK_KILL] = "kill",
};

/* The options that are texts, in the order in which they are printed. */
#define AT(f) offsetof(struct rule_secret, f)
static const struct {
        const char *name;
        size_t at;
} texts[] = {
        {"service", AT(service)}, {"region", AT(region)},
        {"user", AT(user)},       {"message", AT(message)},
        {"hash", AT(hash)},       {"encoding", AT(encoding)},
        {"prefix", AT(prefix)},   {"time-header", AT(time_header)},
        {"app", AT(app)},         {"installation", AT(installation)},
        {"repos", AT(repos)},     {"token", AT(token)},
};
enum { TEXTS_N = sizeof texts / sizeof *texts };

static char *text_of(const struct rule_secret *s, size_t i)
{
        char *v;
        memcpy(&v, (const char *)s + texts[i].at, sizeof v);
        return v;
}

void rule_secret_free(struct rule_secret *s)
{
        free(s->name);
        free(s->source_arg);
        for (size_t i = 0; i < s->places_n; i++)
                rule_place_free(&s->places[i]);
        for (size_t i = 0; i < s->forms_n; i++)
                free(s->forms[i].name);
        for (size_t i = 0; i < TEXTS_N; i++)
                free(text_of(s, i));
        free(s);
}

static void put_places(const struct rule_secret *s, struct buf *b)
{
        _cleanup_buf_ struct buf list = {0};
        for (size_t i = 0; i < s->places_n; i++) {
                buf_put_str(&list, i ? "," : "");
                rule_place_print(&s->places[i], &list);
        }
        rule_put_word(b, buf_cstr(&list));
}

static void put_forms(const struct rule_secret *s, struct buf *b)
{
        for (size_t i = 0; i < s->forms_n; i++) {
                buf_put_str(b, i ? "," : "");
                buf_put_str(b, rule_form_word(s->forms[i].form));
                if (s->forms[i].name) {
                        buf_put_str(b, " ");
                        rule_put_word(b, s->forms[i].name);
                }
        }
}

void rule_secret_print(const struct rule_secret *s, struct buf *b)
{
        buf_put_fmt(b, "secret %s from %s", s->name, rule_source_word(s->source));
        if (s->source_arg) {
                buf_put_str(b, " ");
                rule_put_word(b, s->source_arg);
        }
        buf_put_str(b, " at ");
        put_places(s, b);
        buf_put_str(b, " as ");
        put_forms(s, b);
        if (s->is_injected)
                buf_put_str(b, " inject");
        if (s->is_plain)
                buf_put_str(b, " plain");
        if (s->ttl_s)
                buf_put_fmt(b, " ttl=%lu", (unsigned long)s->ttl_s);
        if (s->refresh_s)
                buf_put_fmt(b, " refresh=%lu", (unsigned long)s->refresh_s);
        if (s->leak != RULE_LEAK_ALARM)
                buf_put_fmt(b, " leak=%s", rule_leaks[s->leak]);
        for (size_t i = 0; i < TEXTS_N; i++) {
                if (!text_of(s, i))
                        continue;
                char *word = str_fmt("%s=%s", texts[i].name, text_of(s, i));
                buf_put_str(b, " ");
                rule_put_word(b, word);
                free(word);
        }
}
