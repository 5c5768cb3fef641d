/* cmd_fork.c - `ostiary fork`: more boxes that begin where this one is now. */
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
#include "session/frozen.h"
#include "session/snapshots.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { FORKS_MAX = 1000 };

/* make_boxes(b, s, n, prefix, ids, err): all, or none. */
static int make_boxes(struct boxarg *b, const struct snapshot *s, uint64_t n, const char *prefix,
                      struct strs *ids, struct err *err)
{
        for (uint64_t i = 1; i <= n; i++) {
                _cleanup_free_ char *name = NULL, *id = NULL;
                if (prefix)
                        name = n == 1 ? str_dup(prefix) : str_fmt("%s-%" PRIu64, prefix, i);
                if (snapshots_box(&b->store, s, name, &id, err) < 0) {
                        for (size_t k = 0; k < ids->n; k++)
                                store_remove(&b->store, ids->v[k], NULL);
                        return -1;
                }
                strs_add(ids, id);
        }
        return 0;
}

static int fork_box(struct boxarg *b, uint64_t n, const char *prefix, struct strs *ids,
                    struct snapshot_taken *t, struct err *err)
{
        _cleanup_free_ char *label = str_fmt("fork of %s", b->id);
        _cleanup_close_ int frozen = frozen_open(&b->store, err);
        _cleanup_close_ int hold = frozen < 0 ? -1 : stack_hold(frozen, false, err);
        if (hold < 0 || snapshots_take(&b->store, b->id, NULL, "fork", label, t, err) < 0)
                return -1;
        _cleanup_close_ int dir = store_box_dir(&b->store, b->id, err);
        _cleanup_snapshot_ struct snapshot s = {0};
        if (dir < 0 || snapshots_of_box(&b->store, b->id, dir, &t->stack, &s, err) < 0)
                return -1;
        return make_boxes(b, &s, n, prefix, ids, err);
}

static int print(const struct strs *ids, const char *parent, const struct snapshot_taken *t,
                 uint64_t took_us, bool is_json)
{
        if (!is_json) {
                for (size_t i = 0; i < ids->n; i++)
                        puts(ids->v[i]);
                if (t->is_copied)
                        out_say("box %s stood still for %.1f ms while its layers were copied, and "
                                "goes on",
                                parent, (double)t->still_us / 1000);
                return EXIT_OK;
        }
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        json_open(&j, NULL, '{');
        json_str(&j, "of", parent);
        json_bool(&j, "copied", t->is_copied);
        json_u64(&j, "stood_still_us", t->still_us);
        json_u64(&j, "took_us", took_us);
        json_open(&j, "boxes", '[');
        for (size_t i = 0; i < ids->n; i++)
                json_str(&j, NULL, ids->v[i]);
        json_close(&j, ']');
        json_close(&j, '}');
        return out_json("fork", &b);
}

static int run(int argc, char **argv)
{
        bool is_json = false;
        uint64_t n = 1;
        const char *prefix = NULL;
        const struct arg flags[] = {
                ARG_U64(0, "number", &n, "N", "how many (default: 1)"),
                ARG_OLD('n', "number"),
                ARG_STR(0, "name", &prefix, "PREFIX",
                        "their names: PREFIX for one, else PREFIX-1, PREFIX-2... (default: made "
                        "up)"),
                ARG_BOOL(0, "json", &is_json, "as JSON"),
                ARG_END,
        };
        struct args a = args_of(&cmd_fork, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0}, ids = {0};
        if (args_only(&a, &words, 1, 1) < 0)
                return a.exit_code;
        if (n < 1 || n > FORKS_MAX)
                return args_bad(&a, "--number wants a number from 1 to %d", FORKS_MAX);
        struct err err = {0};
        struct snapshot_taken t = {0};
        _cleanup_boxarg_ struct boxarg b;
        int code = EXIT_OK;
        if (boxarg_find(&b, words.v[0], &err) < 0)
                return out_error(&err);
        out_wait("keeping what the box holds");
        uint64_t t0 = snapshots_clock();
        int r = fork_box(&b, n, prefix, &ids, &t, &err);
        uint64_t took_us = snapshots_clock() - t0;
        out_wait(NULL);
        code = r < 0 ? out_error(&err) : print(&ids, b.id, &t, took_us, is_json);
        stack_free(&t.stack);
        return code;
}

const struct cmd cmd_fork = {
        .name = "fork",
        .group = CMD_BOX,
        .args = "BOX [--number N] [--name PREFIX] [--json]",
        .summary = "make more boxes that begin where this one is",
        .help = "Makes N boxes that hold what BOX holds now, workspace and home, and goes on from "
                "there each by itself; BOX goes on too. They share what they have in common, so "
                "this takes no time and no space where no command runs in BOX (see `ostiary help "
                "snapshot`). They sleep until `ostiary exec` or `ostiary resume`. Placeholders "
                "that "
                "the agent wrote down in BOX work in them.\n"
                "\n"
                "Example:\n"
                "  for box in $(ostiary fork amber-3f2a --number 3); do\n"
                "          ostiary exec $box -- ./try-something &\n"
                "  done\n",
        .run = run,
};
