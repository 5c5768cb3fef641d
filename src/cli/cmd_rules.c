/* cmd_rules.c - `ostiary rules`: what is in force for a box, layer by layer, in the order in which
 * it is asked. */
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
#include "session/door_policy.h"

#include <stdio.h>
#include <stdlib.h>

static int as_json(const struct boxarg *b, const struct boxrules *r)
{
        _cleanup_buf_ struct buf out = {0};
        struct json j = json_of(&out);
        json_open(&j, NULL, '{');
        json_str(&j, "box", b->id);
        json_bool(&j, "running", r->is_running);
        json_str(&j, "level", door_policy_level_word(r->level));
        json_u64(&j, "generation", r->generation);
        json_open(&j, "rules", '[');
        for (size_t k = 0; k < r->policy.layers_n; k++) {
                const struct policy_layer *l = &r->policy.layers[k];
                for (size_t i = 0; i < l->lines_n; i++) {
                        _cleanup_buf_ struct buf line = {0};
                        rule_line_print(&l->lines[i], &line);
                        json_open(&j, NULL, '{');
                        json_str(&j, "layer", l->name);
                        json_u64(&j, "line", l->lines[i].line_no);
                        json_str(&j, "rule", buf_cstr(&line));
                        json_close(&j, '}');
                }
        }
        json_close(&j, ']');
        json_close(&j, '}');
        return out_json("rules", &out);
}

static void as_text(const struct boxrules *r)
{
        static const char *const rest[] = {
                [DOOR_STRICT] = "strict: everything else is refused",
                [DOOR_EASY] = "easy: the rest is asked about, and refused when nobody is attached",
                [DOOR_LEARN] = "learn: everything else passes to public addresses and is recorded",
        };
        for (size_t k = 0; k < r->policy.layers_n; k++) {
                const struct policy_layer *l = &r->policy.layers[k];
                _cleanup_free_ char *name = str_quote(l->name);
                puts(out_bold(name));
                for (size_t i = 0; i < l->lines_n; i++) {
                        _cleanup_buf_ struct buf line = {0};
                        rule_line_print(&l->lines[i], &line);
                        _cleanup_free_ char *shown = str_quote(buf_cstr(&line));
                        if (l->lines[i].line_no)
                                printf("%5zu  %s\n", l->lines[i].line_no, shown);
                        else
                                printf("       %s\n", shown);
                }
        }
        printf("%s\n       %s\n", out_bold("level"), rest[r->level <= DOOR_LEARN ? r->level : 0]);
}

static int run(int argc, char **argv)
{
        bool is_json = false;
        const struct arg flags[] = {
                ARG_BOOL(0, "json", &is_json, "as JSON"),
                ARG_END,
        };
        struct args a = args_of(&cmd_rules, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 0, 1) < 0)
                return a.exit_code;
        struct err err = {0};
        _cleanup_boxarg_ struct boxarg b;
        _cleanup_boxrules_ struct boxrules r = {0};
        if (boxarg_find(&b, words.n ? words.v[0] : NULL, &err) < 0 ||
            boxrules_get(&b, &r, &err) < 0)
                return out_error(&err);
        if (is_json)
                return as_json(&b, &r);
        as_text(&r);
        return EXIT_OK;
}

const struct cmd cmd_rules = {
        .name = "rules",
        .group = CMD_RULE,
        .args = "[BOX] [--json]",
        .summary = "the rules that are in force for a box",
        .help = "Prints every layer in the order in which it is asked: what was said while the box "
                "runs, flags, the project's file, yours, the profile's, packages, the system's. "
                "The "
                "first line that fits decides, except that every deny! comes before all others. "
                "Without BOX it is the newest one.\n"
                "\n"
                "Example:\n"
                "  ostiary rules amber-3f2a\n",
        .run = run,
};
