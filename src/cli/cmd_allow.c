/* cmd_allow.c - `ostiary allow` and `ostiary deny`: change what a box may reach while it runs. In
 * force when the command returns, on open connections too. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/boxarg.h"
#include "cli/boxrules.h"
#include "cli/cmd.h"
#include "cli/envelope.h"
#include "cli/out.h"
#include "policy/policy.h"
#include "session/door_policy.h"

#include <stdio.h>
#include <stdlib.h>

static int change(const struct cmd *cmd, int argc, char **argv)
{
        bool is_undone = false, is_json = false;
        const struct arg flags[] = {
                ARG_BOOL(0, "undo", &is_undone, "take back a rule that was added so"),
                ARG_BOOL(0, "json", &is_json, "as JSON"),
                ARG_END,
        };
        struct args a = args_of(cmd, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 2, 64) < 0)
                return a.exit_code;
        struct err err = {0};
        _cleanup_free_ char *rule = str_dup(words.v[1]);
        for (size_t i = 2; i < words.n; i++) { /* somebody forgot the quotes */
                char *more = str_fmt("%s %s", rule, words.v[i]);
                free(rule);
                rule = more;
        }
        _cleanup_free_ char *line = door_policy_line(cmd->name, rule, &err);
        if (!line)
                return out_error(&err);
        /* Read here as well, so that a slip is told as one and with the line that was read. */
        _cleanup_policy_layer_ struct policy_layer one = {.rank = POLICY_RUN_TIME,
                                                          .name = str_dup("the rule")};
        if (policy_layer_add(&one, line, &err) < 0) {
                err_add(&err, "read \"%s\"", line);
                err.code = E_USAGE;
                return out_error(&err);
        }
        _cleanup_boxarg_ struct boxarg b;
        if (boxarg_find(&b, words.v[0], &err) < 0 ||
            boxrules_change(&b, !is_undone, line, &err) < 0)
                return out_error(&err);
        if (is_json)
                return envelope_words("rule", "box", b.id, "rule", line, "change",
                                      is_undone ? "taken-back" : "added", NULL);
        _cleanup_free_ char *shown = str_quote(line);
        printf("%s: %s%s\n", b.id, is_undone ? "taken back: " : "", shown);
        return EXIT_OK;
}

static int allow(int argc, char **argv)
{
        return change(&cmd_allow, argc, argv);
}

static int deny(int argc, char **argv)
{
        return change(&cmd_deny, argc, argv);
}

const struct cmd cmd_allow = {
        .name = "allow",
        .group = CMD_FIRST,
        .args = "BOX RULE [--undo] [--json]",
        .summary = "let a box reach something, while it runs",
        .help = "RULE is METHODS HOST[:PORT][/PATH] and options, or a host alone for all methods, "
                "or "
                "a line with its own verdict: 'tcp db.internal:5432', 'splice HOST', 'ask POST "
                "HOST'. Rules said while the box runs go before all others, the newest first; only "
                "a deny! stands above them. When the command returns, the rule is in force, also "
                "on "
                "connections that are open. docs/policy.md teaches the rule line.\n"
                "\n"
                "Examples:\n"
                "  ostiary allow amber-3f2a 'GET api.github.com/repos/**'\n"
                "  ostiary allow amber-3f2a registry.example.org\n"
                "  ostiary allow --undo amber-3f2a registry.example.org\n",
        .run = allow,
};

const struct cmd cmd_deny = {
        .name = "deny",
        .group = CMD_RULE,
        .args = "BOX RULE [--undo] [--json]",
        .summary = "refuse a box something, while it runs",
        .help = "The same as `ostiary allow` the other way round. Connections that the rule speaks "
                "of end.\n"
                "\n"
                "Examples:\n"
                "  ostiary deny amber-3f2a 'POST api.github.com/**'\n"
                "  ostiary deny amber-3f2a '* *'\n",
        .run = deny,
};
