/* story_filter.c - see story_filter.h. */
#include "session/story_filter.h"

#include "audit/audit_query.h"
#include "base/err.h"
#include "base/str.h"
#include "session/story.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const group_names[STORY_GROUP_COUNT] = {
        [STORY_PROCESS] = "process", [STORY_REQUEST] = "request", [STORY_SOCKET] = "socket",
        [STORY_CALL] = "call",       [STORY_FILES] = "file",      [STORY_SECRET] = "secret",
        [STORY_ALARM] = "alarm",     [STORY_BOX] = "box",         [STORY_REVIEW] = "review",
        [STORY_OTHER] = "other",
};

static const struct {
        const char *kind;
        enum story_group group;
} kinds[] = {
        {"exec", STORY_PROCESS},   {"exit", STORY_PROCESS}, {"kill", STORY_PROCESS},
        {"http", STORY_REQUEST},   {"tcp", STORY_REQUEST},  {"splice", STORY_REQUEST},
        {"dns", STORY_REQUEST},    {"tls", STORY_REQUEST},  {"ssh", STORY_REQUEST},
        {"connect", STORY_SOCKET}, {"bind", STORY_SOCKET},  {"listen", STORY_SOCKET},
        {"call", STORY_CALL},      {"open", STORY_FILES},   {"change", STORY_FILES},
        {"secret", STORY_SECRET},  {"alarm", STORY_ALARM},  {"box", STORY_BOX},
        {"door", STORY_BOX},       {"rule", STORY_BOX},     {"apply", STORY_REVIEW},
        {"undo", STORY_REVIEW},    {"live", STORY_REVIEW},
};
enum { KINDS_N = sizeof kinds / sizeof *kinds };

/* What may be asked for besides a kind. */
static const char *const more_words[] = {"process", "request", "socket", "file",
                                         "review",  "other",   "denied", "approval"};
enum { MORE_N = sizeof more_words / sizeof *more_words };

const char *story_group_name(enum story_group g)
{
        return g < STORY_GROUP_COUNT ? group_names[g] : "other";
}

enum story_group story_group_of(const char *kind)
{
        for (size_t i = 0; i < KINDS_N; i++)
                if (strcmp(kind, kinds[i].kind) == 0)
                        return kinds[i].group;
        return STORY_OTHER;
}

const char *story_filter_kind_name(size_t i)
{
        return i < KINDS_N ? kinds[i].kind : i < KINDS_N + MORE_N ? more_words[i - KINDS_N] : NULL;
}

void story_filter_init(struct story_filter *f)
{
        *f = (struct story_filter){.since_us = INT64_MIN, .until_us = INT64_MAX};
}

void story_filter_free(struct story_filter *f)
{
        strs_free(&f->kinds);
}

/* --- kinds ------------------------------------------------------------------------------------ */

static bool is_kind_word(const char *word)
{
        const char *name;
        for (size_t i = 0; (name = story_filter_kind_name(i)); i++)
                if (strcmp(word, name) == 0)
                        return true;
        return false;
}

/* singular(word): "requests" and "processes" are meant as they are meant. In place. */
static void singular(char *word)
{
        size_t n = strlen(word);
        if (is_kind_word(word) || n < 2 || word[n - 1] != 's')
                return;
        word[n - 1] = 0;
        if (!is_kind_word(word) && n > 2 && word[n - 2] == 'e')
                word[n - 2] = 0;
}

static int add_kind(struct story_filter *f, const char *text, size_t n, struct err *err)
{
        const char *names[KINDS_N + MORE_N];
        char word[32];
        if (n >= sizeof word)
                return err_set(err, E_USAGE, "%.*s is no kind of event", 40, text);
        memcpy(word, text, n);
        word[n] = 0;
        singular(word);
        if (strcmp(word, "denial") == 0)
                memcpy(word, "denied", sizeof "denied");
        if (is_kind_word(word)) {
                strs_add(&f->kinds, word);
                return 0;
        }
        for (size_t i = 0; i < KINDS_N + MORE_N; i++)
                names[i] = story_filter_kind_name(i);
        const char *near = str_suggest(word, names, KINDS_N + MORE_N);
        char *shown = str_quote(word);
        if (near)
                err_set(err, E_USAGE, "\"%s\" is no kind of event; did you mean %s?", shown, near);
        else
                err_set(err, E_USAGE,
                        "\"%s\" is no kind of event; there are process (exec, exit, kill), request "
                        "(http, tcp, splice, dns, tls, ssh), socket (connect, bind, listen), file "
                        "(open, change), call, secret, alarm, box, review (apply, undo, live), "
                        "denied, approval",
                        shown);
        free(shown);
        return -1;
}

int story_filter_kinds(struct story_filter *f, const char *words, struct err *err)
{
        for (;;) {
                size_t n = strcspn(words, ",");
                if (n == 0)
                        return err_set(err, E_USAGE,
                                       "a kind of event is missing; write exec or "
                                       "request,change");
                if (add_kind(f, words, n, err) < 0)
                        return -1;
                if (!words[n])
                        return 0;
                words += n + 1;
        }
}

/* wants_kind(f, kind, r): ${r} may be NULL: no record. */
static bool wants_kind(const struct story_filter *f, const char *kind, const struct audit_record *r)
{
        if (f->kinds.n == 0 || strs_has(&f->kinds, kind))
                return true;
        if (strs_has(&f->kinds, story_group_name(story_group_of(kind))))
                return true;
        if (!r)
                return false;
        return (strs_has(&f->kinds, "denied") && audit_record_is_refused(r)) ||
               (strs_has(&f->kinds, "approval") && str_starts(r->verdict, "ask-"));
}

/* --- names ------------------------------------------------------------------------------------ */

bool story_name_matches(const char *pattern, const char *text)
{
        const char *star = NULL, *from = NULL;
        while (*text) {
                if (*pattern == '*') {
                        star = ++pattern;
                        from = text;
                } else if (*pattern == *text || *pattern == '?') {
                        pattern++;
                        text++;
                } else if (star) {
                        pattern = star;
                        text = ++from;
                } else {
                        return false;
                }
        }
        while (*pattern == '*')
                pattern++;
        return *pattern == 0;
}

static bool is_pattern(const char *s)
{
        return strpbrk(s, "*?") != NULL;
}

static const char *base_of(const char *path)
{
        const char *slash = strrchr(path, '/');
        return slash ? slash + 1 : path;
}

static bool wants_process(const struct story_filter *f, const struct audit_record *r)
{
        if (f->pid && r->pid != f->pid)
                return false;
        if (!f->process)
                return true;
        const char *want = f->process;
        if (strchr(want, '/'))
                return story_name_matches(want, r->exe) || story_name_matches(want, r->path);
        bool is_exec = strcmp(r->kind, "exec") == 0;
        return (*r->exe && story_name_matches(want, base_of(r->exe))) ||
               (is_exec && story_name_matches(want, base_of(r->path)));
}

/* is_at(want, address): "192.0.2.7:443" or "[::1]:443", with or without the port. */
static bool is_at(const char *want, const char *address)
{
        if (*address == '[')
                address++;
        size_t n = strlen(want);
        return strncmp(address, want, n) == 0 &&
               (address[n] == 0 || address[n] == ':' || address[n] == ']');
}

static bool wants_host(const struct story_filter *f, const struct audit_record *r)
{
        const char *want = f->host;
        if (!want)
                return true;
        if (is_pattern(want))
                return (*r->host && story_name_matches(want, r->host)) ||
                       (*r->address && story_name_matches(want, r->address));
        size_t n = strlen(r->host), m = strlen(want);
        if (n >= m && strcasecmp(r->host + n - m, want) == 0 &&
            (n == m || r->host[n - m - 1] == '.'))
                return true;
        return *r->address && is_at(want, r->address);
}

/* path_fits(want, path): ${path} is ${want} or lies below it. A ${want} that does not begin at the
 * root may begin at any component. */
static bool path_fits(const char *want, const char *path)
{
        bool is_free = want[0] != '/' && want[0] != '~';
        while (str_starts(want, "./"))
                want += 2;
        size_t n = strlen(want);
        while (n > 1 && want[n - 1] == '/')
                n--;
        if (n == 0 || strcmp(want, ".") == 0)
                return true;
        for (const char *p = path;;) {
                if (is_pattern(want) ? story_name_matches(want, p)
                                     : strncmp(p, want, n) == 0 &&
                                               (p[n] == 0 || p[n] == '/' || want[n - 1] == '/'))
                        return true;
                if (!is_free)
                        return false;
                p = strchr(p, '/');
                if (!p)
                        return false;
                p++;
        }
}

bool story_filter_path(const struct story_filter *f, const char *name)
{
        if (!f->path || path_fits(f->path, name))
                return true;
        if (f->path[0] != '/' || !f->workspace || name[0] == '/' || name[0] == '~')
                return false;
        char *whole = str_fmt("%s/%s", f->workspace, name);
        bool is_fit = path_fits(f->path, whole);
        free(whole);
        return is_fit;
}

/* --- events ----------------------------------------------------------------------------------- */

bool story_filter_time(const struct story_filter *f, int64_t us)
{
        return us >= f->since_us && us <= f->until_us;
}

bool story_filter_record(const struct story_filter *f, const struct audit_record *r)
{
        if (f->is_denied && !audit_record_is_refused(r))
                return false;
        return wants_kind(f, r->kind, r) && wants_process(f, r) && wants_host(f, r) &&
               (!f->path || (*r->path && path_fits(f->path, r->path)));
}

/* Nobody knows which process or host a change belongs to: it passes only when none is asked for. */
static bool is_of_anybody(const struct story_filter *f)
{
        return !f->is_denied && !f->pid && !f->process && !f->host;
}

bool story_filter_change(const struct story_filter *f, const struct story_change *c)
{
        return story_filter_wants_changes(f) &&
               (story_filter_path(f, c->name) || (c->from && story_filter_path(f, c->from)));
}

bool story_filter_undo(const struct story_filter *f, const struct story_undo *u)
{
        return is_of_anybody(f) && wants_kind(f, u->what, NULL);
}

bool story_filter_wants_changes(const struct story_filter *f)
{
        return is_of_anybody(f) && wants_kind(f, "change", NULL);
}

bool story_filter_wants_undos(const struct story_filter *f)
{
        return is_of_anybody(f) && (wants_kind(f, "apply", NULL) || wants_kind(f, "undo", NULL) ||
                                    wants_kind(f, "live", NULL));
}
