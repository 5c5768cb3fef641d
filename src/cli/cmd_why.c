/* cmd_why.c - `ostiary why`: which line of a box's rules decides about a request; without a
 * request, what became of the last one that was refused. */
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
#include "cli/policy_check.h"
#include "cli/policy_request.h"
#include "session/settle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_quoted(const char *before, const char *s)
{
        _cleanup_free_ char *shown = str_quote(s);
        if (*s)
                printf("%s%s\n", before, shown);
}

/* The newest refusal of a box; its words came out of the box. */
struct refusal {
        char *time, *method, *host, *path, *rule, *note, *cure;
        unsigned port;
        bool is_there;
};

static void refusal_free(struct refusal *f)
{
        free(f->time);
        free(f->method);
        free(f->host);
        free(f->path);
        free(f->rule);
        free(f->note);
        free(f->cure);
        *f = (struct refusal){0};
}

static void refusal_print(const struct boxarg *b, const struct refusal *f)
{
        _cleanup_free_ char *what = str_fmt("%s  %s%s%s:%u%s", f->time, f->method,
                                            *f->method ? " " : "", f->host, f->port, f->path);
        print_quoted("", what);
        print_quoted("  ", f->rule);
        print_quoted("  ", f->note);
        _cleanup_free_ char *shown = str_quote(f->cure);
        if (*f->cure && !strchr(shown, '\''))
                printf("This would allow it:\n  ostiary allow %s '%s'\n", b->id,
                       str_starts(shown, "allow ") ? shown + 6 : shown);
}

/* refusal_json(b, f): one object; null for a box that was refused nothing. */
static int refusal_json(const struct boxarg *b, const struct refusal *f)
{
        _cleanup_buf_ struct buf out = {0};
        struct json j = json_of(&out);
        if (!f->is_there) {
                json_str(&j, NULL, NULL);
                return out_json("refusal", &out);
        }
        json_open(&j, NULL, '{');
        json_str(&j, "box", b->id);
        json_str(&j, "time", f->time);
        json_str(&j, "verdict", "deny");
        json_str(&j, "method", *f->method ? f->method : NULL);
        json_str(&j, "host", f->host);
        json_u64(&j, "port", f->port);
        json_str(&j, "path", *f->path ? f->path : NULL);
        json_str(&j, "rule", *f->rule ? f->rule : NULL);
        json_str(&j, "words", *f->note ? f->note : NULL);
        json_str(&j, "allow", *f->cure ? f->cure : NULL);
        json_close(&j, '}');
        return out_json("refusal", &out);
}

/* last_refused(b, is_json): the newest refusal in the log. */
static int last_refused(const struct boxarg *b, bool is_json)
{
        struct err err = {0};
        struct audit_log log = {.fd = -1};
        struct audit_record r;
        _cleanup_close_ int dir = store_box_dir(&b->store, b->id, &err);
        session_settle(&b->store, b->id);
        if (dir < 0 || audit_log_open(&log, dir, &err) < 0)
                return out_error(&err);
        struct refusal f = {0};
        int got;
        while ((got = audit_log_next(&log, &r, &err)) > 0) {
                if (!audit_record_is_refused(&r))
                        continue;
                refusal_free(&f);
                f = (struct refusal){.time = str_dup(r.time),
                                     .method = str_dup(r.method),
                                     .host = str_dup(r.host),
                                     .path = str_dup(r.path),
                                     .rule = str_dup(r.rule),
                                     .note = str_dup(r.note),
                                     .cure = str_dup(r.cure),
                                     .port = (unsigned)r.port,
                                     .is_there = true};
        }
        audit_log_close(&log);
        int code = f.is_there ? EXIT_NEGATIVE : EXIT_OK;
        if (got < 0)
                code = out_error(&err);
        else if (is_json)
                refusal_json(b, &f);
        else if (f.is_there)
                refusal_print(b, &f);
        else
                out_say("box %s was refused nothing", b->id);
        refusal_free(&f);
        return code;
}

static int run(int argc, char **argv)
{
        bool is_json = false;
        const char *data = NULL;
        _cleanup_strs_ struct strs headers = {0}, words = {0};
        const struct arg flags[] = {
                ARG_LIST(0, "header", &headers, "'NAME: VALUE'", "a header of the request"),
                ARG_STR(0, "data", &data, "TEXT", "its body: JSON or a form"),
                ARG_BOOL(0, "json", &is_json, "as JSON"),
                ARG_END,
        };
        struct args a = args_of(&cmd_why, flags, argc, argv);
        if (args_only(&a, &words, 1, 3) < 0)
                return a.exit_code;
        struct err err = {0};
        struct policy_request r = {0};
        _cleanup_free_ char *request =
                words.n == 1 ? NULL
                             : str_fmt("%s%s%s", words.v[1], words.n > 2 ? " " : "",
                                       words.n > 2 ? words.v[2] : "");
        if (request && policy_request_make(request, &headers, data, &r, &err) < 0)
                return args_bad(&a, "%s", err.text);
        _cleanup_boxarg_ struct boxarg b;
        _cleanup_boxrules_ struct boxrules rules = {0};
        int code;
        if (boxarg_find(&b, words.v[0], &err) < 0) {
                code = out_error(&err);
        } else if (!request) {
                code = last_refused(&b, is_json);
        } else if (boxrules_get(&b, &rules, &err) < 0) {
                code = out_error(&err);
        } else {
                struct policy_check_how how = {
                        .is_json = is_json, .box = b.id, .level = rules.level};
                code = policy_check(&rules.policy, &how, &r);
        }
        if (request)
                policy_request_free(&r);
        return code;
}

const struct cmd cmd_why = {
        .name = "why",
        .group = CMD_RULE,
        .args = "BOX ['METHOD URL'] [flags]",
        .summary = "which rule of a box decides about a request",
        .help = "Says which line decides, and for a refusal the command that would allow it. "
                "Without "
                "a request it tells of the last one that the box was refused. The exit status is 0 "
                "when the request would pass, 1 when not.\n"
                "\n"
                "Examples:\n"
                "  ostiary why amber-3f2a 'POST https://api.github.com/graphql'\n"
                "  ostiary why amber-3f2a\n",
        .run = run,
};
