/* rule_line.c - one line of policy, from its first word on: verdict, methods, place; bind and limit
 * lines; taking a line apart again. See rule.h. Pure; called for files, profiles, flags and run
 * time, all of which thereby read the same language. */
#include "base/err.h"
#include "base/str.h"
#include "policy/profile.h"
#include "policy/profile_check.h"
#include "policy/rule_int.h"
#include "policy/words.h"

#include <stdlib.h>
#include <string.h>

static const char *const verdicts[] = {"allow", "deny", "deny!", "ask", "tcp", "splice"};

/* CONNECT, TRACE and TRACK are missing: they never pass the door. */
const char *const rule_methods[] = {
        "GET",
        "HEAD",
        "POST",
        "PUT",
        "PATCH",
        "DELETE",
        "OPTIONS",
        "QUERY",
        "PROPFIND",
        "PROPPATCH",
        "MKCOL",
        "COPY",
        "MOVE",
        "LOCK",
        "UNLOCK",
        "ACL",
        "REPORT",
        "SEARCH",
        "MERGE",
        "CHECKIN",
        "CHECKOUT",
        "UNCHECKOUT",
        "UPDATE",
        "LABEL",
        "MKACTIVITY",
        "MKWORKSPACE",
        "MKCALENDAR",
        "VERSION-CONTROL",
        "BASELINE-CONTROL",
        "BIND",
        "UNBIND",
        "REBIND",
        "LINK",
        "UNLINK",
        "ORDERPATCH",
        "MKREDIRECTREF",
        "UPDATEREDIRECTREF",
        "PURGE",
        NULL,
};
_Static_assert(sizeof rule_methods / sizeof *rule_methods < 64, "methods are bits of one word");

const char *rule_verdict_word(enum rule_verdict v)
{
        return verdicts[v];
}

bool rule_is_grant(enum rule_verdict v)
{
        return v != RULE_DENY && v != RULE_DENY_HARD;
}

static uint64_t method_bit(const char *s, size_t len)
{
        for (size_t i = 0; rule_methods[i]; i++)
                if (strlen(rule_methods[i]) == len && memcmp(rule_methods[i], s, len) == 0)
                        return (uint64_t)1 << i;
        return 0;
}

uint64_t rule_method_bit(const char *method)
{
        return method_bit(method, strlen(method));
}

static int parse_methods(const char *s, uint64_t *out, struct err *err)
{
        if (strcmp(s, "*") == 0) {
                *out = RULE_METHODS_ALL;
                return 0;
        }
        *out = 0;
        for (;;) {
                size_t n = strcspn(s, ",");
                uint64_t bit = method_bit(s, n);
                if (!bit) {
                        char word[24];
                        size_t i = 0;
                        for (; i < n && i < sizeof word - 1; i++)
                                word[i] = s[i] >= 'a' && s[i] <= 'z' ? (char)(s[i] - 32) : s[i];
                        word[i] = 0;
                        size_t known = 0;
                        while (rule_methods[known])
                                known++;
                        const char *near = str_suggest(word, rule_methods, known);
                        err_set(err, E_INPUT,
                                "methods are wanted here: GET,HEAD or * for all of them");
                        return near ? err_hint(err, "did you mean %s?", near) : -1;
                }
                *out |= bit;
                if (!s[n])
                        return 0;
                s += n + 1;
        }
}

static int wrong(size_t *bad, size_t at, struct err *err, const char *what)
{
        *bad = at;
        return err_set(err, E_INPUT, "%s", what);
}

static int parse_rule(const struct words *w, enum rule_verdict verdict, struct rule *r, size_t *bad,
                      struct err *err)
{
        bool is_blind = verdict == RULE_TCP || verdict == RULE_SPLICE;
        size_t at = 1;
        r->verdict = verdict;
        if (!is_blind) {
                *bad = at;
                if (parse_methods(at < w->n ? w->v[at] : "", &r->methods, err) < 0)
                        return -1;
                at++;
        }
        const char *form = verdict == RULE_TCP ? "HOST:PORT"
                           : is_blind          ? "HOST[:PORT]"
                                               : "HOST[:PORT][/PATH]";
        *bad = at;
        if (at >= w->n)
                return err_set(err, E_INPUT, "%s is wanted here", form);
        if (rule_place_parse(w->v[at], strlen(w->v[at]), rule_is_grant(verdict), &r->place, err) <
            0)
                return err_add(err, "%s is wanted here", form);
        if (is_blind && r->place.has_path)
                return err_set(err, E_INPUT,
                               "%s is wanted here: bytes that pass unread have no path", form);
        if (verdict == RULE_TCP && r->place.port <= 0)
                return err_set(err, E_INPUT, "%s is wanted here: name the port", form);
        return rule_opts_parse(w, at + 1, r, bad, err);
}

static int parse_bind(const struct words *w, struct rule_bind *b, size_t *bad, struct err *err)
{
        const char *path = w->n > 1 ? w->v[1] : "";
        const char *mode = w->n > 2 ? w->v[2] : "ro";
        if (!rule_text_ok(path) || (path[0] != '/' && profile_check_home_path(path)))
                return wrong(bad, 1, err,
                             "\"bind\" wants an absolute path or one that begins with ~/");
        if (strcmp(mode, "ro") != 0 && strcmp(mode, "rw") != 0 && strcmp(mode, "cow") != 0)
                return wrong(bad, 2, err, "ro, rw or cow is wanted here");
        if (w->n > 3)
                return wrong(bad, 3, err, "nothing more is expected here");
        b->path = str_dup(path);
        b->mode = str_dup(mode);
        return 0;
}

static int parse_limit(const struct words *w, struct strs *limits, size_t *bad, struct err *err)
{
        if (w->n < 2)
                return wrong(bad, 1, err, "\"limit\" wants KEY=VALUE, such as memory=4G");
        for (size_t i = 1; i < w->n; i++) {
                *bad = i;
                if (profile_limit_check(w->v[i], err) < 0)
                        return -1;
                strs_add(limits, w->v[i]);
        }
        return 0;
}

static int unknown(const char *word, struct err *err)
{
        const char *const names[] = {"allow",  "deny",   "deny!", "ask",  "tcp",
                                     "splice", "secret", "bind",  "limit"};
        const char *near = str_suggest(word, names, sizeof names / sizeof *names);
        char *shown = str_quote(word);
        err_set(err, E_INPUT, "a line does not begin with \"%.40s\"", shown);
        free(shown);
        if (near)
                return err_hint(err, "did you mean \"%s\"?", near);
        return err_hint(err, "known: allow deny deny! ask tcp splice secret bind limit");
}

static int parse(const struct words *w, struct rule_line *l, size_t *bad, struct err *err)
{
        *bad = 0;
        for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
                if (strcmp(w->v[0], verdicts[i]) == 0)
                        return parse_rule(w, (enum rule_verdict)i, &l->rule, bad, err);
        if (strcmp(w->v[0], "secret") == 0) {
                l->kind = RULE_LINE_SECRET;
                l->secret = calloc(1, sizeof *l->secret);
                if (!l->secret)
                        str_no_memory();
                return rule_secret_parse(w, l->secret, bad, err);
        }
        if (strcmp(w->v[0], "bind") == 0) {
                l->kind = RULE_LINE_BIND;
                return parse_bind(w, &l->bind, bad, err);
        }
        if (strcmp(w->v[0], "limit") == 0) {
                l->kind = RULE_LINE_LIMIT;
                return parse_limit(w, &l->limits, bad, err);
        }
        return unknown(w->v[0], err);
}

int rule_line_of_words(const struct words *w, struct rule_line *l, size_t *bad, struct err *err)
{
        memset(l, 0, sizeof *l);
        if (parse(w, l, bad, err) == 0)
                return 0;
        rule_line_free(l);
        return -1;
}

int rule_line_parse(const char *text, size_t len, struct rule_line *l, size_t *column,
                    struct err *err)
{
        memset(l, 0, sizeof *l);
        const char *nul = memchr(text, 0, len);
        if (nul) {
                /* Words are C strings; a NUL would hide the rest of one. */
                *column = (size_t)(nul - text) + 1;
                return err_set(err, E_INPUT, "a NUL byte stands here");
        }
        if (len && text[len - 1] == '\r')
                len--;
        _cleanup_words_ struct words w;
        if (words_split(text, len, &w, column, err) < 0)
                return -1;
        if (w.n == 0)
                return 0;
        size_t bad = 0;
        if (rule_line_of_words(&w, l, &bad, err) == 0)
                return 1;
        *column = w.at[bad <= w.n ? bad : w.n];
        return -1;
}

static void rule_free(struct rule *r)
{
        rule_place_free(&r->place);
        for (size_t i = 0; i < r->conds_n; i++) {
                free(r->conds[i].name);
                glob_free(&r->conds[i].value);
        }
        free(r->conds);
        free(r->ca);
        free(r->reason);
}

void rule_line_free(struct rule_line *l)
{
        switch (l->kind) {
        case RULE_LINE_RULE:
                rule_free(&l->rule);
                break;
        case RULE_LINE_SECRET:
                if (l->secret)
                        rule_secret_free(l->secret);
                break;
        case RULE_LINE_BIND:
                free(l->bind.path);
                free(l->bind.mode);
                break;
        case RULE_LINE_LIMIT:
                strs_free(&l->limits);
                break;
        }
        memset(l, 0, sizeof *l);
}
