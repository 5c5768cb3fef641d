/* cmd_explain.c - `ostiary explain`: the box that `run` would start, without starting it. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/str.h"
#include "box/seccomp.h"
#include "cli/cmd.h"
#include "cli/explain.h"
#include "cli/out.h"
#include "cli/runargs.h"
#include "session/live.h"
#include "session/secret_mask.h"
#include "session/start.h"

#include <stdio.h>

static int explain(struct runargs *r, bool is_json)
{
        struct err err = {0};
        struct session_plan plan = {0};
        /* Without a command it is the box that `create` would make. */
        if (r->opts.argv.n == 0 && !r->opts.profile)
                r->opts.is_waiting = true;
        int made = session_plan_make(&r->opts, &r->store, "ID", &plan, &err);
        if (made < 0 && err.code == E_NOCMD && r->opts.profile) {
                /* The agent is not installed here; the box around it can be told all the same. */
                out_say("note: %s", err.text);
                r->opts.is_waiting = true;
                made = session_plan_make(&r->opts, &r->store, "ID", &plan, &err);
        }
        if (made < 0 || plan_secrets_find(&plan, true, &err) < 0)
                return out_error(&err);
        session_plan_tell_door(&plan);
        if (!r->opts.is_unmasked)
                secret_mask_tell(&plan);
        if (live_tell(&plan, &r->store, &err) < 0) {
                session_plan_free(&plan);
                return out_error(&err);
        }
        int code = EXIT_OK;
        if (is_json)
                code = explain_json(&plan);
        else
                explain_text(&plan);
        session_plan_free(&plan);
        return code;
}

/* print_seccomp(is_json): the filter's own table. */
static void print_seccomp(bool is_json)
{
        if (!is_json) {
                box_seccomp_print(stdout, false);
                return;
        }
        _cleanup_free_ char *text = NULL;
        size_t len = 0;
        FILE *f = open_memstream(&text, &len);
        if (!f)
                str_no_memory();
        box_seccomp_print(f, true);
        fclose(f);
        _cleanup_buf_ struct buf b = {0};
        while (len && text[len - 1] == '\n')
                len--;
        buf_put(&b, text, len);
        out_json("seccomp", &b);
}

static int run(int argc, char **argv)
{
        bool is_json = false, is_seccomp = false;
        const struct arg more[] = {
                ARG_BOOL(0, "seccomp", &is_seccomp, "print the system-call filter instead"),
                ARG_BOOL(0, "json", &is_json, "as JSON"),
                ARG_END,
        };
        struct runargs r;
        runargs_init(&r, &cmd_explain, RUNARGS_PLAN, more, argc, argv);
        int code = EXIT_OK;
        if (runargs_parse(&r) < 0)
                code = r.args.exit_code;
        else if (is_seccomp)
                print_seccomp(is_json);
        else
                code = explain(&r, is_json);
        runargs_free(&r);
        return code;
}

const struct cmd cmd_explain = {
        .name = "explain",
        .group = CMD_RECORD,
        .args = "[AGENT | --profile NAME] [flags] [--] [COMMAND...]",
        .summary = "what would be in the box, and why",
        .help = "Takes the words of `ostiary run` and prints the whole plan of that box without "
                "starting "
                "it: every mount, limit, rule and namespace, the names of the variables, and what "
                "was "
                "left out and why.\n"
                "\n"
                "Examples:\n"
                "  ostiary explain claude\n"
                "  ostiary explain --seccomp\n",
        .run = run,
};
