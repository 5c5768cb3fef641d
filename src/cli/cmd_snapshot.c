/* cmd_snapshot.c - `ostiary snapshot`: keep what a box holds now under a name. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/boxarg.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "session/snapshots.h"

#include <stdio.h>
#include <stdlib.h>

static int print_json(const char *name, const char *box, const struct snapshot_taken *t,
                      uint64_t took_us)
{
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        json_open(&j, NULL, '{');
        json_str(&j, "name", name);
        json_str(&j, "box", box);
        json_bool(&j, "copied", t->is_copied);
        json_u64(&j, "stood_still_us", t->still_us);
        json_u64(&j, "took_us", took_us);
        json_u64(&j, "layers", t->stack.n);
        json_close(&j, '}');
        return out_json("snapshot", &b);
}

static int take(const char *box, const char *wanted, bool is_json)
{
        struct err err = {0};
        struct snapshot_taken t = {0};
        _cleanup_boxarg_ struct boxarg b;
        if (boxarg_find(&b, box, &err) < 0)
                return out_error(&err);
        _cleanup_free_ char *name = wanted ? str_dup(wanted) : snapshots_free_name(&b.store, b.id);
        out_wait("keeping what the box holds");
        uint64_t t0 = snapshots_clock();
        int r = snapshots_take(&b.store, b.id, name, "snapshot", name, &t, &err);
        uint64_t took_us = snapshots_clock() - t0;
        out_wait(NULL);
        if (r < 0)
                return out_error(&err);
        int code = EXIT_OK;
        if (is_json)
                code = print_json(name, b.id, &t, took_us);
        else
                puts(name);
        if (t.is_copied && !is_json)
                out_say("box %s stood still for %.1f ms while its layers were copied, and goes on",
                        b.id, (double)t.still_us / 1000);
        struct box_meta m = {0};
        if (boxarg_meta(&b, &m, NULL) == 0 && m.is_live)
                out_say("box %s writes to its workspace itself (--live), which is not in the "
                        "snapshot; its home is",
                        b.id);
        box_meta_free(&m);
        stack_free(&t.stack);
        return code;
}

static int run(int argc, char **argv)
{
        bool is_json = false;
        const struct arg flags[] = {ARG_BOOL(0, "json", &is_json, "as JSON"), ARG_END};
        struct args a = args_of(&cmd_snapshot, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 1, 2) < 0)
                return a.exit_code;
        return take(words.v[0], words.n > 1 ? words.v[1] : NULL, is_json);
}

const struct cmd cmd_snapshot = {
        .name = "snapshot",
        .group = CMD_BOX,
        .args = "BOX [NAME] [--json]",
        .summary = "keep what a box holds now, to start others from it",
        .help = "Keeps the layers of BOX, workspace and home, under NAME (or BOX-1, BOX-2...), and "
                "prints the name. Where no command runs, the layers are frozen: that takes no time "
                "and no space, whatever their size, and the box sleeps until somebody uses it. A "
                "busy box stands still while what it wrote since the last snapshot is copied. "
                "Secrets are never in a snapshot.\n"
                "\n"
                "Example:\n"
                "  ostiary snapshot amber-3f2a before-refactoring\n"
                "  ostiary run --from before-refactoring -- make test\n",
        .run = run,
};
