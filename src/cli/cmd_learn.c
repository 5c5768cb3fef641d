/* cmd_learn.c - `ostiary learn`: from what a box was seen to do, the few rules that would let it do
 * just that. What its rules allow already is left out; every line printed is checked against the
 * log before it is shown. */
#include "audit/audit_query.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
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

/* One line to be: a host with a port, and what was seen there. */
struct group {
        char *place;         /* "host" or "host:port" */
        char *kind;          /* of the record: "http", "tcp", "splice" */
        struct strs methods; /* in order of appearance */
        struct strs paths;   /* canonical, as a rule writes them */
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
        const char *method = rule_method_bit(q->method) ? q->method : "*";
        if (!strs_has(&at->methods, method))
                strs_add(&at->methods, method);
        _cleanup_free_ char *line = policy_cure(&denied, q);
        char *words = strchr(line, ' ');
        words = words ? strchr(words + 1, ' ') : NULL;
        const char *path = words ? strchr(words + 1, '/') : NULL;
        path = path ? path : "";
        if (!strs_has(&at->paths, path))
                strs_add(&at->paths, path);
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

static void lines_of(const struct group *g, struct strs *lines)
{
        if (strcmp(g->kind, "http") != 0) {
                strs_addf(lines, "%s %s", g->kind, g->place);
                return;
        }
        _cleanup_free_ char *methods = str_dup("");
        for (size_t i = 0; i < g->methods.n; i++) {
                char *more = str_fmt("%s%s%s", methods, i ? "," : "", g->methods.v[i]);
                free(methods);
                methods = more;
        }
        if (strs_has(&g->methods, "*")) {
                free(methods);
                methods = str_dup("*");
        }
        if (strs_has(&g->paths, "")) { /* a path that no rule can hold: then the host */
                strs_addf(lines, "allow %s %s", methods, g->place);
                return;
        }
        if (g->paths.n <= PATHS_MAX) {
                for (size_t i = 0; i < g->paths.n; i++)
                        strs_addf(lines, "allow %s %s%s", methods, g->place, g->paths.v[i]);
                return;
        }
        size_t n = common(&g->paths);
        if (n <= 1)
                strs_addf(lines, "allow %s %s", methods, g->place);
        else
                strs_addf(lines, "allow %s %s%.*s**", methods, g->place, (int)n, g->paths.v[0]);
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

static int learn(const struct boxarg *b, bool with_refused, struct err *err)
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
        for (size_t i = 0; got == 0 && i < lines.n; i++)
                puts(lines.v[i]);
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
        bool with_refused = false;
        const struct arg flags[] = {
                ARG_BOOL(0, "refused", &with_refused, "also what was refused"),
                ARG_END,
        };
        struct args a = args_of(&cmd_learn, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 0, 1) < 0)
                return a.exit_code;
        struct err err = {0};
        _cleanup_boxarg_ struct boxarg b;
        if (boxarg_find(&b, words.n ? words.v[0] : NULL, &err) < 0 ||
            learn(&b, with_refused, &err) < 0)
                return out_error(&err);
        return EXIT_OK;
}

const struct cmd cmd_learn = {
        .name = "learn",
        .args = "[BOX] [--refused]",
        .summary = "the rules that a box was seen to need",
        .help = "Reads the log of a box and prints the fewest rules that let it do what it did, "
                "leaving out what its rules allow already. Meant for a run with --level learn and "
                "--keep, in which everything passes to public addresses; look the lines over, then "
                "put them into ~/.config/ostiary/policy or a profile.\n"
                "\n"
                "Example:\n"
                "  ostiary run --level learn --keep -n try -- make\n"
                "  ostiary learn try\n",
        .run = run,
};
