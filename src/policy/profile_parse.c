/* profile_parse.c - the profile file, strictly: every line is one of the known words or an error
 * with its line and column. See profile.h for the format.
 *
 * A profile may be the user's own or came from somebody else, so paths below the home are checked
 * for their form here, once, and credentials are refused here, in words. */
#include "policy/profile.h"

#include "base/err.h"
#include "base/str.h"
#include "policy/cred_list.h"
#include "policy/env_list.h"
#include "policy/profile_check.h"
#include "policy/words.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 256 << 10, LINES_MAX = 10000 };

struct at {
        struct profile *p;
        const struct words *w;
        const char *rest; /* the line after its first word, trimmed; not NUL-terminated */
        size_t rest_len;
        const char *line; /* the whole line, trimmed */
        size_t line_len;
        size_t bad;    /* index of the word that is wrong; w->n is the end of the line */
        bool is_first; /* no other line stood before this one */
        struct err *err;
};

static int wrong(struct at *a, size_t word, const char *what)
{
        a->bad = word;
        return err_set(a->err, E_INPUT, "%s", what);
}

static int set_once(struct at *a, char **to, const char *s, size_t len)
{
        if (*to)
                return wrong(a, 0, "this may be said only once");
        if (len == 0)
                return wrong(a, a->w->n, "a text is missing");
        *to = str_fmt("%.*s", (int)len, s);
        return 0;
}

static int on_extends(struct at *a)
{
        if (!a->is_first)
                return wrong(a, 0, "\"extends\" must be the first line");
        if (a->w->n != 2 || !profile_name_ok(a->w->v[1]))
                return wrong(a, 1, "\"extends\" takes one profile name");
        return set_once(a, &a->p->extends, a->w->v[1], strlen(a->w->v[1]));
}

static int on_about(struct at *a)
{
        return set_once(a, &a->p->about, a->rest, a->rest_len);
}

static int on_install(struct at *a)
{
        return set_once(a, &a->p->install, a->rest, a->rest_len);
}

static int on_command(struct at *a)
{
        if (a->w->n != 2 || !*a->w->v[1])
                return wrong(a, a->w->n > 2 ? 2 : 1,
                             "\"command\" takes one name; flags go into "
                             "\"args\"");
        return set_once(a, &a->p->command, a->w->v[1], strlen(a->w->v[1]));
}

static int on_args(struct at *a)
{
        if (a->w->n < 2)
                return wrong(a, 1, "\"args\" wants at least one argument");
        for (size_t i = 1; i < a->w->n; i++)
                strs_add(&a->p->args, a->w->v[i]);
        return 0;
}

static int on_env(struct at *a)
{
        if (a->w->n < 2)
                return wrong(a, 1, "\"env\" wants NAME=VALUE");
        for (size_t i = 1; i < a->w->n; i++) {
                const char *eq = strchr(a->w->v[i], '=');
                if (!eq)
                        return wrong(a, i, "NAME=VALUE is wanted here");
                _cleanup_strs_ struct strs name = {0};
                strs_addf(&name, "%.*s", (int)(eq - a->w->v[i]), a->w->v[i]);
                if (!profile_check_env_name(name.v[0]))
                        return wrong(a, i, "this is not a name of a variable");
                if (env_list_is_credential(name.v[0]) && eq[1])
                        return wrong(a, i,
                                     "this looks like a credential; a profile holds none, "
                                     "use a \"secret\" line");
                strs_set_env(&a->p->env, name.v[0], eq + 1);
        }
        return 0;
}

static int on_pass(struct at *a)
{
        if (a->w->n < 2)
                return wrong(a, 1, "\"pass\" wants the name of a variable");
        for (size_t i = 1; i < a->w->n; i++) {
                if (!profile_check_env_name(a->w->v[i]))
                        return wrong(a, i, "this is not a name of a variable");
                if (env_list_is_credential(a->w->v[i]))
                        return wrong(a, i,
                                     "this looks like a credential or leads to the host's "
                                     "session, and is never passed on; use a \"secret\" line");
                strs_add(&a->p->pass, a->w->v[i]);
        }
        return 0;
}

static int on_limit(struct at *a)
{
        if (a->w->n < 2)
                return wrong(a, 1,
                             "\"limit\" wants memory=, cpu=, pids=, files=, disk=, time=, inotify= "
                             "or door-memory=");
        for (size_t i = 1; i < a->w->n; i++) {
                a->bad = i;
                if (profile_limit_check(a->w->v[i], a->err) < 0)
                        return -1;
                strs_add(&a->p->limits, a->w->v[i]);
        }
        return 0;
}

/* The ${i}th word as a path below the home, without "~/"; NULL when it is none. */
static const char *home_path(struct at *a, size_t i)
{
        const char *why = i < a->w->n ? profile_check_home_path(a->w->v[i])
                                      : "a path that begins with ~/ is missing";
        if (!why)
                return a->w->v[i] + 2;
        wrong(a, i, why);
        return NULL;
}

static int on_resume(struct at *a)
{
        const char *rel = home_path(a, 1);
        if (!rel)
                return -1;
        if (a->w->n < 3)
                return wrong(a, 2, "\"resume\" wants words after the path");
        if (set_once(a, &a->p->resume_path, rel, strlen(rel)) < 0)
                return -1;
        for (size_t i = 2; i < a->w->n; i++)
                strs_add(&a->p->resume, a->w->v[i]);
        return 0;
}

static int on_persist(struct at *a)
{
        if (a->w->n < 2)
                return wrong(a, 1, "a path that begins with ~/ is missing");
        for (size_t i = 1; i < a->w->n; i++) {
                const char *rel = home_path(a, i);
                if (!rel)
                        return -1;
                strs_add(&a->p->persist, rel);
        }
        return 0;
}

static int json_options(struct at *a, struct profile_seed *s)
{
        for (size_t i = 3; i < a->w->n; i++) {
                const char *w = a->w->v[i];
                struct strs *to = NULL;
                if (str_starts(w, "drop="))
                        to = &s->drop;
                else if (str_starts(w, "keep="))
                        to = &s->keep, s->has_keep = true;
                if (to) {
                        for (const char *p = w + 5; *p;) {
                                size_t n = strcspn(p, ",");
                                if (n)
                                        strs_addf(to, "%.*s", (int)n, p);
                                p += n + (p[n] == ',');
                        }
                        continue;
                }
                if (!str_starts(w, "set="))
                        return wrong(a, i,
                                     "drop=KEY,KEY or keep=KEY,KEY or set=/POINTER=VALUE is "
                                     "wanted here");
                if (w[4] != '/' || !strchr(w + 4, '='))
                        return wrong(a, i, "set= wants /POINTER=VALUE");
                strs_add(&s->set, w + 4);
        }
        return 0;
}

static int on_seed(struct at *a)
{
        static const char *const kinds[] = {"copy", "json", "write"};
        const char *kind = a->w->n > 1 ? a->w->v[1] : "";
        size_t k = 0;
        while (k < 3 && strcmp(kinds[k], kind) != 0)
                k++;
        if (k == 3)
                return wrong(a, 1, "\"seed\" is followed by copy, json or write");
        const char *rel = home_path(a, 2);
        if (!rel)
                return -1;
        const char *secret = cred_list_why(rel);
        if (secret && k != PROFILE_SEED_WRITE) {
                a->bad = 2;
                return err_set(a->err, E_REFUSED,
                               "%s holds %s and is never copied into a box; use a \"secret\" line",
                               a->w->v[2], secret);
        }

        struct profile_seed s = {.kind = (enum profile_seed_kind)k, .path = str_dup(rel)};
        struct profile_seed *more = reallocarray(a->p->seeds, a->p->seeds_n + 1, sizeof *more);
        if (!more)
                str_no_memory();
        a->p->seeds = more;
        struct profile_seed *mine = &a->p->seeds[a->p->seeds_n++];
        *mine = s;
        if (k == PROFILE_SEED_JSON)
                return json_options(a, mine);
        if (k == PROFILE_SEED_COPY)
                return a->w->n == 3 ? 0 : wrong(a, 3, "nothing more is expected here");
        if (a->w->n != 4)
                return wrong(a, a->w->n > 4 ? 4 : 3, "one text is wanted here, in quotes");
        mine->text = str_dup(a->w->v[3]);
        return 0;
}

static int on_bind(struct at *a)
{
        const char *path = a->w->n > 1 ? a->w->v[1] : "";
        if (path[0] != '/' && profile_check_home_path(path))
                return wrong(a, 1, "\"bind\" wants an absolute path or one that begins with ~/");
        const char *mode = a->w->n > 2 ? a->w->v[2] : "ro";
        if (strcmp(mode, "ro") != 0 && strcmp(mode, "rw") != 0 && strcmp(mode, "cow") != 0)
                return wrong(a, 2, "ro, rw or cow is wanted here");
        if (a->w->n > 3)
                return wrong(a, 3, "nothing more is expected here");
        struct profile_bind *more = reallocarray(a->p->binds, a->p->binds_n + 1, sizeof *more);
        if (!more)
                str_no_memory();
        a->p->binds = more;
        a->p->binds[a->p->binds_n++] =
                (struct profile_bind){.path = str_dup(path), .mode = str_dup(mode)};
        return 0;
}

static int on_rule(struct at *a)
{
        if (profile_check_rule(a->w, &a->bad, a->err) < 0)
                return -1;
        strs_addf(&a->p->rules, "%.*s", (int)a->line_len, a->line);
        return 0;
}

static const struct {
        const char *word;
        int (*read)(struct at *);
} lines[] = {
        {"extends", on_extends}, {"about", on_about}, {"command", on_command},
        {"install", on_install}, {"args", on_args},   {"env", on_env},
        {"pass", on_pass},       {"limit", on_limit}, {"persist", on_persist},
        {"seed", on_seed},       {"bind", on_bind},   {"allow", on_rule},
        {"deny", on_rule},       {"deny!", on_rule},  {"ask", on_rule},
        {"tcp", on_rule},        {"splice", on_rule}, {"secret", on_rule},
        {"resume", on_resume},
};
enum { LINES_N = sizeof lines / sizeof *lines };

static int one_line(struct at *a)
{
        for (size_t i = 0; i < LINES_N; i++)
                if (strcmp(lines[i].word, a->w->v[0]) == 0)
                        return lines[i].read(a);

        const char *names[LINES_N];
        for (size_t i = 0; i < LINES_N; i++)
                names[i] = lines[i].word;
        const char *near = str_suggest(a->w->v[0], names, LINES_N);
        _cleanup_strs_ struct strs shown = {0};
        char *quoted = str_quote(a->w->v[0]);
        strs_add(&shown, quoted);
        free(quoted);
        a->bad = 0;
        err_set(a->err, E_INPUT, "\"%.40s\" is not a word that a profile knows", shown.v[0]);
        return near ? err_hint(a->err, "did you mean \"%s\"?", near) : -1;
}

/* Trim blanks and a carriage return at both ends. */
static void trim(const char **s, size_t *len)
{
        while (*len && strchr(" \t", **s))
                (*s)++, (*len)--;
        while (*len && strchr(" \t\r", (*s)[*len - 1]))
                (*len)--;
}

int profile_parse(const char *name, const char *text, struct profile *p, struct err *err)
{
        memset(p, 0, sizeof *p);
        p->name = str_dup(name);
        if (strlen(text) > TEXT_MAX) {
                profile_free(p);
                return err_set(err, E_INPUT, "profile %s is larger than %d KiB", name,
                               TEXT_MAX >> 10);
        }
        size_t line_no = 0;
        bool is_first = true;
        for (const char *next = text; *next && line_no < LINES_MAX;) {
                const char *begin = next, *line = next;
                size_t len = strcspn(line, "\n");
                next += len + (line[len] == '\n');
                line_no++;
                trim(&line, &len);

                size_t column = 1;
                size_t indent = (size_t)(line - begin);
                _cleanup_words_ struct words w;
                if (words_split(line, len, &w, &column, err) < 0)
                        goto bad;
                if (w.n == 0)
                        continue;
                struct at a = {.p = p, .w = &w, .line = line, .line_len = len, .err = err};
                a.is_first = is_first;
                a.rest = line + strcspn(line, " \t");
                a.rest_len = a.rest < line + len ? (size_t)(line + len - a.rest) : 0;
                trim(&a.rest, &a.rest_len);
                is_first = false;
                if (one_line(&a) == 0)
                        continue;
                column = w.at[a.bad <= w.n ? a.bad : w.n];
        bad:
                err_add(err, "profile %s, line %zu, column %zu", name, line_no, column + indent);
                profile_free(p);
                return -1;
        }
        return 0;
}
