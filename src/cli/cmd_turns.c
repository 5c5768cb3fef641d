/* cmd_turns.c - `ostiary turns`: the turns of a box made with --turns. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/boxarg.h"
#include "cli/cmd.h"
#include "cli/envelope.h"
#include "cli/out.h"
#include "session/frozen.h"
#include "workspace/stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool is_turn(const struct stack_entry *e)
{
        return strcmp(e->kind, "turn") == 0;
}

/* print_json(s, open): ${open} is the command of a turn that is not over, or NULL. */
static int print_json(const struct stack *s, const char *open)
{
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        unsigned n = 0;
        json_open(&j, NULL, '[');
        for (size_t i = 0; i < s->n; i++) {
                if (!is_turn(&s->v[i]))
                        continue;
                json_open(&j, NULL, '{');
                json_u64(&j, "turn", ++n);
                json_str(&j, "command", s->v[i].label);
                envelope_time(&j, "ended", (int64_t)s->v[i].when_s * 1000000);
                json_str(&j, "layer", s->v[i].id);
                json_close(&j, '}');
        }
        if (open) {
                json_open(&j, NULL, '{');
                json_u64(&j, "turn", ++n);
                json_str(&j, "command", open);
                json_str(&j, "ended", NULL);
                json_str(&j, "layer", NULL);
                json_close(&j, '}');
        }
        json_close(&j, ']');
        return out_json("turns", &b);
}

/* print_table(s, open): returns how many turns there are. */
static unsigned print_table(const struct stack *s, const char *open)
{
        struct out_table t = {.cols = 3};
        unsigned n = 0;
        out_row(&t, "TURN", "AGE", "COMMAND");
        for (size_t i = 0; i < s->n; i++) {
                char number[16], age[16];
                if (!is_turn(&s->v[i]))
                        continue;
                snprintf(number, sizeof number, "%u", ++n);
                _cleanup_free_ char *label = str_quote(s->v[i].label);
                out_row(&t, number, out_age((long)(time(NULL) - s->v[i].when_s), age), label);
        }
        if (open) {
                char number[16];
                snprintf(number, sizeof number, "%u", ++n);
                out_row(&t, number, "open", open);
        }
        out_table_print(&t);
        return n;
}

static int run(int argc, char **argv)
{
        bool is_json = false;
        const struct arg flags[] = {ARG_BOOL(0, "json", &is_json, "as JSON"), ARG_END};
        struct args a = args_of(&cmd_turns, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 0, 1) < 0)
                return a.exit_code;
        struct err err = {0};
        _cleanup_boxarg_ struct boxarg b;
        _cleanup_stack_ struct stack s = {0};
        if (boxarg_find(&b, words.n ? words.v[0] : NULL, &err) < 0)
                return out_error(&err);
        _cleanup_close_ int dir = store_box_dir(&b.store, b.id, &err);
        if (dir < 0 || stack_read(dir, "stack", &s, &err) < 0)
                return out_error(&err);
        /* What the stack lists is read first: a turn that ends in between is then in neither, so it is
         * looked for once more. */
        _cleanup_free_ char *open = frozen_turn_open(dir);
        if (!open) {
                stack_free(&s);
                if (stack_read(dir, "stack", &s, &err) < 0)
                        return out_error(&err);
        }
        if (is_json)
                return print_json(&s, open);
        if (print_table(&s, open) == 0)
                out_say("box %s has no turns: it was made without --turns, or no command changed "
                        "anything yet",
                        b.id);
        if (open)
                out_say("turn \"open\" is not over: its command runs, or what it changed is being kept "
                        "apart");
        return EXIT_OK;
}

const struct cmd cmd_turns = {
        .name = "turns",
        .group = CMD_BOX,
        .args = "[BOX] [--json]",
        .summary = "list the turns of a box",
        .help = "A box made with --turns keeps what each command changed apart. Lists the turns "
                "that changed something, oldest first; one that is not over is the last, with \"open\" "
                "for its age. `ostiary diff --turn N BOX` shows one, "
                "`ostiary undo --turn N BOX` takes one back.\n"
                "\n"
                "Example:\n"
                "  box=$(ostiary create --turns)\n"
                "  ostiary exec $box -- make\n"
                "  ostiary turns $box\n",
        .run = run,
};
