/* cmd_learn.c - `ostiary learn`: from what a box was seen to do, the few rules that would let it do
 * just that. What its rules allow already is left out; every line printed is checked against the
 * log before it is shown. */
#include "audit/audit_query.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/boxarg.h"
#include "cli/boxrules.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "policy/path_canon.h"
#include "policy/policy.h"
#include "session/settle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATHS_MAX = 4 }; /* more of one host become one line with a ** */

/* Lines to be: a host with a port, and what was seen there: each path with its own methods. */
struct group {
        char *place;         /* "host" or "host:port" */
        char *kind;          /* of the record: "http", "tcp", "splice" */
        struct strs paths;   /* canonical, as a rule writes them; in order of appearance */
        struct strs methods; /* of the path at the same place: "GET,POST", in rule.h's order */
};

struct groups {
        struct group *v;
        size_t n;
};

static struct group *group_of(struct groups *g, const char *place, const char *kind)
{
        for (size_t i = 0; i < g->n; i++)
                if (strcmp(g->v[i].place, place) == 0 && strcmp(g->v[i].kind, kind) == 0)
                        return &g->v[i];
        struct group *v = reallocarray(g->v, g->n + 1, sizeof *v);
        if (!v)
                str_no_memory();
        g->v = v;
        v[g->n] = (struct group){.place = str_dup(place), .kind = str_dup(kind)};
        return &v[g->n++];
}

static void groups_free(struct groups *g)
{
        for (size_t i = 0; i < g->n; i++) {
                free(g->v[i].place);
                free(g->v[i].kind);
                strs_free(&g->v[i].methods);
                strs_free(&g->v[i].paths);
        }
        free(g->v);
}

/* A request as the log has it, for policy. */
struct seen {
        struct host_name host;
        struct path_canon path;
        struct request request;
};

static int seen_make(const struct audit_use *u, struct seen *s)
{
        *s = (struct seen){0};
        if (host_name_parse(u->host, strlen(u->host), &s->host, NULL) < 0 || u->port > 65535)
                return -1;
        s->request = (struct request){.host = &s->host, .port = (uint16_t)u->port};
        if (strcmp(u->kind, "tcp") == 0) {
                s->request.kind = REQUEST_TCP;
                return 0;
        }
        if (strcmp(u->kind, "splice") == 0) {
                s->request.kind = REQUEST_SPLICE;
                return 0;
        }
        const char *path = *u->path == '/' ? u->path : "/";
        if (strcmp(u->kind, "http") != 0 || !*u->method ||
            path_canon_parse(path, strcspn(path, "?"), &s->path, NULL) < 0)
                return -1;
        s->request.method = u->method;
        s->request.path = &s->path;
        return 0;
}

static bool is_allowed(const struct policy *p, const struct request *q)
{
        struct policy_decision d;
        policy_decide(p, q, &d);
        return d.verdict != POLICY_DENY;
}

/* has_method(list, method): "GET,POST" has POST. */
static bool has_method(const char *list, const char *method)
{
        size_t n = strlen(method);
        for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
                if (strcspn(p, ",") == n && memcmp(p, method, n) == 0)
                        return true;
        return false;
}

/* add_method(g, path, method): lists are kept sorted, so that equal ones are equal texts. */
static void add_method(struct group *g, const char *path, const char *method)
{
        size_t i = 0;
        while (i < g->paths.n && strcmp(g->paths.v[i], path) != 0)
                i++;
        if (i == g->paths.n) {
                strs_add(&g->paths, path);
                strs_add(&g->methods, method);
                return;
        }
        char *old = g->methods.v[i];
        if (has_method(old, method) || strcmp(old, "*") == 0)
                return;
        _cleanup_buf_ struct buf b = {0};
        if (strcmp(method, "*") == 0) {
                buf_put_str(&b, "*");
        } else {
                bool is_put = false;
                for (const char *p = old; *p; p += strcspn(p, ","), p += *p == ',') {
                        int n = (int)strcspn(p, ",");
                        if (!is_put && strncmp(method, p, (size_t)n) < 0) {
                                buf_put_fmt(&b, "%s%s", b.len ? "," : "", method);
                                is_put = true;
                        }
                        buf_put_fmt(&b, "%s%.*s", b.len ? "," : "", n, p);
                }
                if (!is_put)
                        buf_put_fmt(&b, "%s%s", b.len ? "," : "", method);
        }
        free(old);
        g->methods.v[i] = str_dup(buf_cstr(&b));
}

/* put(g, s, kind): remember it under its place. policy_cure writes the path as a rule has it. */
static void put(struct groups *g, const struct seen *s, const char *kind)
{
        const struct policy_decision denied = {.verdict = POLICY_DENY};
        const struct request *q = &s->request;
        bool is_usual = q->port == 443 || q->port == 80;
        _cleanup_free_ char *place = is_usual && q->kind != REQUEST_TCP
                                             ? str_dup(s->host.text)
                                             : str_fmt("%s:%u", s->host.text, q->port);
        struct group *at = group_of(g, place, kind);
        if (q->kind != REQUEST_HTTP)
                return;
        _cleanup_free_ char *line = policy_cure(&denied, q);
        char *words = strchr(line, ' ');
        words = words ? strchr(words + 1, ' ') : NULL;
        const char *path = words ? strchr(words + 1, '/') : NULL;
        add_method(at, path ? path : "", rule_method_bit(q->method) ? q->method : "*");
}

/* common(paths): the longest beginning of whole segments that all have, with its slash. */
static size_t common(const struct strs *paths)
{
        size_t n = strlen(paths->v[0]);
        for (size_t i = 1; i < paths->n; i++) {
                size_t k = 0;
                while (k < n && paths->v[i][k] == paths->v[0][k])
                        k++;
                n = k;
        }
        while (n > 0 && paths->v[0][n - 1] != '/')
                n--;
        return n;
}

/* lines_alike(place, methods, paths, lines): for paths with the same methods. */
static void lines_alike(const char *place, const char *methods, const struct strs *paths,
                        struct strs *lines)
{
        size_t n = 0;
        if (strs_has(paths, "")) { /* a path that no rule can hold: then the host */
                strs_addf(lines, "allow %s %s", methods, place);
        } else if (paths->n <= PATHS_MAX) {
                for (size_t i = 0; i < paths->n; i++)
                        strs_addf(lines, "allow %s %s%s", methods, place, paths->v[i]);
        } else if ((n = common(paths)) > 1) {
                strs_addf(lines, "allow %s %s%.*s**", methods, place, (int)n, paths->v[0]);
        } else {
                strs_addf(lines, "allow %s %s", methods, place);
        }
}

static void lines_of(const struct group *g, struct strs *lines)
{
        if (strcmp(g->kind, "http") != 0) {
                strs_addf(lines, "%s %s", g->kind, g->place);
                return;
        }
        /* Paths that were asked for in the same ways share a line, or a few. */
        for (size_t i = 0; i < g->paths.n; i++) {
                _cleanup_strs_ struct strs alike = {0};
                const char *methods = g->methods.v[i];
                bool is_first = true;
                for (size_t k = 0; k < g->paths.n; k++) {
                        if (strcmp(g->methods.v[k], methods) != 0)
                                continue;
                        is_first = is_first && k >= i;
                        strs_add(&alike, g->paths.v[k]);
                }
                if (is_first)
                        lines_alike(g->place, methods, &alike, lines);
        }
}

/* check(uses, lines, rules, err): do these lines, before the box's own, let through what was seen?
 */
static int check(const struct audit_uses *uses, const struct strs *lines, struct boxrules *rules,
                 size_t *missed, struct err *err)
{
        _cleanup_policy_layer_ struct policy_layer layer = {.rank = POLICY_RUN_TIME,
                                                            .name = str_dup("learnt")};
        for (size_t i = 0; i < lines->n; i++)
                if (policy_layer_add(&layer, lines->v[i], err) < 0)
                        return -1;
        policy_put(&rules->policy, &layer);
        for (size_t i = 0; i < uses->n; i++) {
                struct seen s;
                if (seen_make(&uses->v[i], &s) == 0 && !is_allowed(&rules->policy, &s.request))
                        ++*missed;
                path_canon_free(&s.path);
        }
        return 0;
}

/* is_failed(u): what the box wanted and never got though it was let through: the rules above let it try
 * again, and whoever reads them should know that they were never seen to work. */
static bool is_failed(const struct audit_use *u)
{
        return u->failed_n >= u->n;
}

static void say_failed(const struct audit_uses *uses)
{
        enum { SHOWN_MAX = 10 };
        size_t n = 0;
        for (size_t i = 0; i < uses->n; i++) {
                const struct audit_use *u = &uses->v[i];
                if (!is_failed(u))
                        continue;
                _cleanup_free_ char *path = str_quote(u->path), *why = str_quote(u->why);
                if (n++ < SHOWN_MAX)
                        printf("# never worked: %s%s%s:%u%s (%s)\n", u->method,
                               *u->method ? " " : "", u->host, u->port, path, why);
        }
        if (n > SHOWN_MAX)
                printf("# and %zu more\n", n - SHOWN_MAX);
}

static void json_failed(struct json *j, const struct audit_uses *uses)
{
        json_open(j, "never_worked", '[');
        for (size_t i = 0; i < uses->n; i++) {
                const struct audit_use *u = &uses->v[i];
                if (!is_failed(u))
                        continue;
                json_open(j, NULL, '{');
                json_str(j, "kind", u->kind);
                json_str(j, "method", u->method);
                json_str(j, "host", u->host);
                json_u64(j, "port", u->port);
                json_str(j, "path", u->path);
                json_u64(j, "times", u->failed_n);
                json_str(j, "why", u->why);
                json_close(j, '}');
        }
        json_close(j, ']');
}

/* tell(id, lines, uses, missed, is_json): the rules, what never worked, and how many kinds of request
 * they do not reach. */
static void tell(const char *id, const struct strs *lines, const struct audit_uses *uses,
                 size_t missed, bool is_json)
{
        if (!is_json) {
                for (size_t i = 0; i < lines->n; i++)
                        puts(lines->v[i]);
                say_failed(uses);
                return;
        }
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        json_open(&j, NULL, '{');
        json_str(&j, "box", id);
        json_open(&j, "rules", '[');
        for (size_t i = 0; i < lines->n; i++)
                json_str(&j, NULL, lines->v[i]);
        json_close(&j, ']');
        json_failed(&j, uses);
        json_u64(&j, "still_refused", missed);
        json_close(&j, '}');
        out_json("learned", &b);
}

static int learn(const struct boxarg *b, bool with_refused, bool is_json, struct err *err)
{
        _cleanup_boxrules_ struct boxrules rules = {0};
        _cleanup_close_ int dir = store_box_dir(&b->store, b->id, err);
        struct audit_uses uses = {0};
        struct groups groups = {0};
        _cleanup_strs_ struct strs lines = {0};
        session_settle(&b->store, b->id);
        if (dir < 0 || boxrules_get(b, &rules, err) < 0 ||
            audit_log_uses(dir, with_refused, &uses, err) < 0)
                return -1;
        for (size_t i = 0; i < uses.n; i++) {
                struct seen s;
                if (seen_make(&uses.v[i], &s) == 0 && !is_allowed(&rules.policy, &s.request))
                        put(&groups, &s, uses.v[i].kind);
                path_canon_free(&s.path);
        }
        for (size_t i = 0; i < groups.n; i++)
                lines_of(&groups.v[i], &lines);
        size_t missed = 0;
        int got = check(&uses, &lines, &rules, &missed, err);
        if (got == 0)
                tell(b->id, &lines, &uses, missed, is_json);
        if (got == 0 && lines.n == 0)
                out_say("box %s did nothing that its rules do not allow already", b->id);
        if (got == 0 && missed)
                out_say("%zu kinds of request are still refused: a deny! or a rule about their "
                        "content speaks of them",
                        missed);
        if (got == 0 && uses.n == AUDIT_USES_MAX)
                out_say("the log holds more than can be looked at; these rules may not be all");
        groups_free(&groups);
        audit_uses_free(&uses);
        return got;
}

static int run(int argc, char **argv)
{
        bool with_refused = false, is_json = false;
        const struct arg flags[] = {
                ARG_BOOL(0, "refused", &with_refused, "also what was refused"),
                ARG_BOOL(0, "json", &is_json, "as JSON"),
                ARG_END,
        };
        struct args a = args_of(&cmd_learn, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 0, 1) < 0)
                return a.exit_code;
        struct err err = {0};
        _cleanup_boxarg_ struct boxarg b;
        if (boxarg_find(&b, words.n ? words.v[0] : NULL, &err) < 0 ||
            learn(&b, with_refused, is_json, &err) < 0)
                return out_error(&err);
        return EXIT_OK;
}

const struct cmd cmd_learn = {
        .name = "learn",
        .group = CMD_RULE,
        .args = "[BOX] [--refused] [--json]",
        .summary = "the rules that a box was seen to need",
        .help = "Reads the log of a box and prints the fewest rules that let it do what it did, "
                "leaving out what its rules allow already. Methods stay with the paths that they "
                "were used on. What was let through and never worked is listed as a comment, with "
                "the reason. Meant for a run with --level learn and "
                "--keep, in which everything passes to public addresses; look the lines over, then "
                "put them into ~/.config/ostiary/policy or a profile.\n"
                "\n"
                "Example:\n"
                "  ostiary run --level learn --keep -n try -- make\n"
                "  ostiary learn try\n",
        .run = run,
};
