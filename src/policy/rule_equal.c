/* rule_equal.c - whether two lines say the same, field by field and not by their text, so that it
 * can be used to prove the printer. Pure. */
#include "policy/rule.h"

#include <string.h>

static bool same_text(const char *a, const char *b)
{
        return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_host(const struct host_name *a, const struct host_name *b)
{
        return a->len == b->len && (a->len == 0 || host_name_equal(a, b));
}

static bool same_place(const struct rule_place *a, const struct rule_place *b)
{
        return a->host_kind == b->host_kind && same_host(&a->host, &b->host) &&
               a->port == b->port && a->has_path == b->has_path && glob_equal(&a->path, &b->path) &&
               a->is_shared == b->is_shared;
}

static bool same_rule(const struct rule *a, const struct rule *b)
{
        if (a->verdict != b->verdict || a->methods != b->methods ||
            !same_place(&a->place, &b->place) || a->conds_n != b->conds_n)
                return false;
        for (size_t i = 0; i < a->conds_n; i++)
                if (a->conds[i].where != b->conds[i].where ||
                    strcmp(a->conds[i].name, b->conds[i].name) != 0 ||
                    !glob_equal(&a->conds[i].value, &b->conds[i].value))
                        return false;
        return a->rate_n == b->rate_n && a->rate_per_s == b->rate_per_s && a->bytes == b->bytes &&
               a->hosts == b->hosts && same_host(&a->to, &b->to) && a->to_port == b->to_port &&
               same_text(a->ca, b->ca) && same_text(a->reason, b->reason);
}

static bool same_secret(const struct rule_secret *a, const struct rule_secret *b)
{
        if (!same_text(a->name, b->name) || a->source != b->source ||
            !same_text(a->source_arg, b->source_arg) || a->places_n != b->places_n ||
            a->forms_n != b->forms_n)
                return false;
        for (size_t i = 0; i < a->places_n; i++)
                if (!same_place(&a->places[i], &b->places[i]))
                        return false;
        for (size_t i = 0; i < a->forms_n; i++)
                if (a->forms[i].form != b->forms[i].form ||
                    !same_text(a->forms[i].name, b->forms[i].name))
                        return false;
        return a->is_injected == b->is_injected && a->is_plain == b->is_plain &&
               a->ttl_s == b->ttl_s && a->refresh_s == b->refresh_s && a->leak == b->leak &&
               same_text(a->service, b->service) && same_text(a->region, b->region) &&
               same_text(a->user, b->user) && same_text(a->message, b->message) &&
               same_text(a->hash, b->hash) && same_text(a->encoding, b->encoding) &&
               same_text(a->prefix, b->prefix) && same_text(a->time_header, b->time_header) &&
               same_text(a->app, b->app) && same_text(a->installation, b->installation) &&
               same_text(a->repos, b->repos) && same_text(a->token, b->token);
}

static bool same_strs(const struct strs *a, const struct strs *b)
{
        if (a->n != b->n)
                return false;
        for (size_t i = 0; i < a->n; i++)
                if (strcmp(a->v[i], b->v[i]) != 0)
                        return false;
        return true;
}

bool rule_line_equal(const struct rule_line *a, const struct rule_line *b)
{
        if (a->kind != b->kind)
                return false;
        switch (a->kind) {
        case RULE_LINE_RULE:
                return same_rule(&a->rule, &b->rule);
        case RULE_LINE_SECRET:
                return same_secret(a->secret, b->secret);
        case RULE_LINE_BIND:
                return same_text(a->bind.path, b->bind.path) &&
                       same_text(a->bind.mode, b->bind.mode);
        case RULE_LINE_LIMIT:
                return same_strs(&a->limits, &b->limits);
        }
        return false;
}
