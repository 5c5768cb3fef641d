/* cmd_stop.c - `ostiary stop` and `ostiary rm`: end boxes, and delete what they hold. */
#include "cli/boxend.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/boxarg.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "session/fetched.h"
#include "session/snapshots.h"

#include <stdio.h>
#include <stdlib.h>

/* each(words, act, ctx): do it to every box named; one fault does not spare the others. */
static int each(const struct strs *words, int (*act)(struct boxarg *, const void *, struct err *),
                const void *ctx)
{
        int code = EXIT_OK;
        for (size_t i = 0; i < words->n; i++) {
                struct err err = {0};
                struct boxarg b;
                if (boxarg_find(&b, words->v[i], &err) < 0 || act(&b, ctx, &err) < 0)
                        code = out_error(&err);
                boxarg_free(&b);
        }
        return code;
}

static int stop_one(struct boxarg *b, const void *ctx, struct err *err)
{
        out_wait("waiting for the box to end");
        int r = boxend_stop(&b->store, b->id, *(const uint64_t *)ctx, err);
        out_wait(NULL);
        if (r == 0)
                puts(b->id);
        return r;
}

static int stop(int argc, char **argv)
{
        uint64_t seconds = 10;
        const struct arg flags[] = {
                ARG_DURATION('t', "time", &seconds, "TIME",
                             "how long it may take to end by itself (default: 10s)"),
                ARG_END,
        };
        struct args a = args_of(&cmd_stop, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 1, 10000) < 0)
                return a.exit_code;
        return each(&words, stop_one, &seconds);
}

/* was_killed(b): then its supervisor could not delete its control group. */
static bool was_killed(const struct boxarg *b)
{
        struct box_meta m = {0};
        bool is_dead = boxarg_meta(b, &m, NULL) == 0 && m.state == BOX_DEAD;
        box_meta_free(&m);
        return is_dead;
}

struct rm_wishes {
        bool is_forced, with_refs;
};

/* drop_refs(b): --refs: what applies of this box put below refs/ostiary. */
static int drop_refs(const struct boxarg *b, struct err *err)
{
        _cleanup_close_ int dir = store_box_dir(&b->store, b->id, err);
        return dir < 0 ? -1 : fetched_drop(dir, err);
}

static int rm_one(struct boxarg *b, const void *ctx, struct err *err)
{
        const struct rm_wishes *w = ctx;
        bool is_forced = w->is_forced;
        if (is_forced && boxend_stop(&b->store, b->id, 0, err) < 0 && err->code != E_ABSENT)
                return -1;
        bool has_group = was_killed(b);
        if (w->with_refs && drop_refs(b, err) < 0)
                return -1;
        out_wait("removing the box's files");
        int r = store_remove(&b->store, b->id, err);
        out_wait(NULL);
        if (r < 0 && is_forced && err->code == E_ABSENT)
                r = 0; /* it held nothing, and so removed itself when it was ended */
        if (r == 0 && has_group)
                boxend_sweep_groups(&b->store);
        if (r == 0)
                puts(b->id);
        else if (!is_forced && err->code == E_REFUSED)
                err_hint(err, "or: ostiary rm --force %s", b->id);
        return r;
}

static int rm(int argc, char **argv)
{
        struct rm_wishes w = {0};
        const struct arg flags[] = {
                ARG_BOOL('f', "force", &w.is_forced, "end the box first if it runs"),
                ARG_BOOL(0, "refs", &w.with_refs, "also the refs/ostiary/BOX that apply made"),
                ARG_END,
        };
        struct args a = args_of(&cmd_rm, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 1, 10000) < 0)
                return a.exit_code;
        int code = each(&words, rm_one, &w);
        struct err err = {0};
        struct store s;
        if (store_open(&s, &err) < 0)
                return out_error(&err);
        out_wait("removing layers that nobody uses any more");
        int swept = snapshots_gc(&s, NULL, NULL, &err);
        out_wait(NULL);
        store_free(&s);
        if (swept < 0)
                out_error(&err); /* the boxes are gone all the same */
        return code;
}

const struct cmd cmd_stop = {
        .name = "stop",
        .args = "BOX... [--time TIME]",
        .summary = "end boxes",
        .help = "Asks everything in the box to end (SIGTERM), and kills it after TIME. What the "
                "box wrote "
                "is kept if there is something.\n"
                "\n"
                "Example:\n"
                "  ostiary stop amber-3f2a\n",
        .run = stop,
};

const struct cmd cmd_rm = {
        .name = "rm",
        .args = "BOX... [--force] [--refs]",
        .summary = "delete boxes and what they hold",
        .help = "Deletes boxes that have ended, with everything they wrote that was not taken "
                "out. Commits that apply fetched stay in your repository, as refs/ostiary/BOX; "
                "--refs removes those refs too.\n"
                "\n"
                "Example:\n"
                "  ostiary rm amber-3f2a\n",
        .run = rm,
};
