/* cmd_stop.c - `ostiary stop` and `ostiary rm`: end boxes, and delete what they hold. */
#include "cli/boxend.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/apply.h"
#include "cli/args.h"
#include "cli/boxarg.h"
#include "cli/boxpick.h"
#include "cli/cmd.h"
#include "cli/envelope.h"
#include "cli/out.h"
#include "session/fetched.h"
#include "session/pending.h"
#include "session/snapshots.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What is done to each box, and how it is told. */
struct deed {
        const char *kind; /* of the document: "stopped", "removed" */
        int (*act)(struct boxarg *, const void *, struct err *);
        const void *ctx;
        bool is_json;
};

/* each(ids, d): do it to every box; one fault does not spare the others. */
static int each(const struct strs *ids, const struct deed *d)
{
        int code = EXIT_OK;
        _cleanup_buf_ struct buf out = {0};
        struct json j = json_of(&out);
        json_open(&j, NULL, '[');
        for (size_t i = 0; i < ids->n; i++) {
                struct err err = {0};
                struct boxarg b;
                if (boxarg_find(&b, ids->v[i], &err) < 0 || d->act(&b, d->ctx, &err) < 0)
                        code = out_error(&err);
                else if (d->is_json)
                        json_str(&j, NULL, b.id);
                else
                        puts(b.id);
                boxarg_free(&b);
        }
        json_close(&j, ']');
        if (d->is_json)
                out_json(d->kind, &out);
        return code;
}

/* The boxes that a line means. */
struct chosen {
        struct strs ids;
        bool is_wide; /* it may mean boxes that were not named */
};

static void chosen_free(struct chosen *c)
{
        strs_free(&c->ids);
}
#define _cleanup_chosen_ __attribute__((cleanup(chosen_free)))

/* choose(a, pick, c): read the line, and look. 0, or the exit code; --help has one too, so whether to
 * go on is a->is_over. */
static int choose(struct args *a, const struct boxpick *pick, struct chosen *c)
{
        struct err err = {0};
        struct store s;
        _cleanup_strs_ struct strs words = {0};
        if (args_only(a, &words, 0, 10000) < 0 || boxpick_check(pick, a) < 0)
                return a->exit_code;
        c->is_wide = boxpick_is_wide(pick, &words);
        if (words.n == 0 && !c->is_wide)
                return args_bad(a, "say which boxes: names, a pattern like 'try-*', --filter or "
                                   "--all");
        if (pick->is_all && words.n)
                return args_bad(a, "--all and names contradict each other");
        if (store_open(&s, &err) < 0)
                return out_error(&err);
        int got = boxpick_ids(pick, &words, &s, &c->ids, &err);
        store_free(&s);
        return got < 0 ? out_error(&err) : 0;
}

static bool is_running(const char *id)
{
        struct boxarg b;
        struct box_meta m = {0};
        bool is_it = boxarg_find(&b, id, NULL) == 0 && boxarg_meta(&b, &m, NULL) == 0 &&
                     box_state_is_alive(m.state);
        box_meta_free(&m);
        boxarg_free(&b);
        return is_it;
}

/* keep_running(ids, is_wanted): leave out those that run, or those that do not. How many went. */
static size_t keep_running(struct strs *ids, bool is_wanted)
{
        size_t left_n = 0;
        for (size_t i = ids->n; i-- > 0;) {
                if (is_running(ids->v[i]) == is_wanted)
                        continue;
                strs_remove(ids, i);
                left_n++;
        }
        return left_n;
}

static int stop_one(struct boxarg *b, const void *ctx, struct err *err)
{
        out_wait("waiting for the box to end");
        int r = boxend_stop(&b->store, b->id, *(const uint64_t *)ctx, err);
        out_wait(NULL);
        return r;
}

static int stop(int argc, char **argv)
{
        uint64_t seconds = 10;
        bool is_json = false;
        _cleanup_boxpick_ struct boxpick pick = {0};
        const struct arg flags[] = {
                ARG_DURATION(0, "time", &seconds, "TIME",
                             "how long it may take to end by itself (default: 10s)"),
                ARG_OLD('t', "time"),
                ARG_BOOL('a', "all", &pick.is_all, "every box that runs"),
                BOXPICK_FILTER(&pick),
                ARG_BOOL(0, "json", &is_json, "as JSON"),
                ARG_END,
        };
        struct args a = args_of(&cmd_stop, flags, argc, argv);
        _cleanup_chosen_ struct chosen c = {0};
        int code = choose(&a, &pick, &c);
        if (code != 0 || a.is_over)
                return code;
        if (c.is_wide)
                keep_running(&c.ids, true);
        const struct deed d = {
                .kind = "stopped", .act = stop_one, .ctx = &seconds, .is_json = is_json};
        return each(&c.ids, &d);
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
        if (r < 0 && !is_forced && err->code == E_REFUSED && err->sys != EBUSY)
                err_hint(err, "or: ostiary rm --force %s", b->id);
        return r;
}

/* unreviewed_repos(b, repos): those below ignored directories, which nobody sees who does not look. */
static void unreviewed_repos(const struct boxarg *b, struct out_names *repos)
{
        _cleanup_strs_ struct strs found = {0};
        pending_repos(&b->store, b->id, &found);
        for (size_t i = 0; i < found.n; i++) {
                _cleanup_free_ char *shown = str_quote(found.v[i]);
                out_names_add(repos, shown);
        }
}

/* unreviewed(ids, names, repos, with_alive): those that hold work which nobody applied; a box that runs
 * may, and is left out where it stays anyway. */
static size_t unreviewed(const struct strs *ids, struct out_names *names, struct out_names *repos,
                         bool with_alive)
{
        for (size_t i = 0; i < ids->n; i++) {
                struct boxarg b;
                struct box_meta m = {0};
                if (boxarg_find(&b, ids->v[i], NULL) == 0 && boxarg_meta(&b, &m, NULL) == 0 &&
                    (box_state_is_alive(m.state) ? with_alive : pending_holds(&b.store, &m))) {
                        out_names_add(names, b.id);
                        unreviewed_repos(&b, repos);
                }
                box_meta_free(&m);
                boxarg_free(&b);
        }
        return names->n;
}

/* confirm(ids, with_alive): may work be deleted that was not reviewed? On a terminal the user is
 * asked; without one nothing of the line is done. 0, or the exit code. */
static int confirm(const struct strs *ids, bool with_alive)
{
        struct out_names names = {0}, repos = {0};
        bool has_terminal = isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && !envelope_is_on();
        int code = 0;
        if (unreviewed(ids, &names, &repos, with_alive)) {
                _cleanup_free_ char *list = out_names_words(&names);
                _cleanup_free_ char *own = out_names_words(&repos);
                _cleanup_free_ char *words =
                        str_fmt("%llu of %zu box%s hold%s work that was not applied (%s)%s%s",
                                (unsigned long long)names.n, ids->n, ids->n == 1 ? "" : "es",
                                names.n == 1 ? "s" : "", list,
                                repos.n ? ", and commits in repositories of its own below ignored "
                                          "directories: "
                                        : "",
                                own);
                _cleanup_free_ char *question = str_fmt("%s. Delete it for good? [y/N]", words);
                _cleanup_free_ char *sentence =
                        str_fmt("%s: nothing was deleted; ostiary diff BOX shows it, --yes deletes "
                                "it",
                                words);
                if (!has_terminal)
                        code = out_fault(EXIT_BAD_USAGE, sentence);
                else if (apply_answer(question, "ny") != 'y')
                        code = EXIT_NEGATIVE;
        }
        strs_free(&names.v);
        strs_free(&repos.v);
        return code;
}

/* remove_chosen(ids, w, is_json): and what only they used. */
static int remove_chosen(const struct strs *ids, const struct rm_wishes *w, bool is_json)
{
        const struct deed d = {.kind = "removed", .act = rm_one, .ctx = w, .is_json = is_json};
        int code = each(ids, &d);
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

static int rm(int argc, char **argv)
{
        struct rm_wishes w = {0};
        bool is_json = false, is_yes = false;
        _cleanup_boxpick_ struct boxpick pick = {0};
        const struct arg flags[] = {
                ARG_BOOL('f', "force", &w.is_forced, "end the box first if it runs"),
                ARG_BOOL(0, "refs", &w.with_refs, "also the refs/ostiary/BOX that apply made"),
                ARG_BOOL('a', "all", &pick.is_all, "every box that has ended; with -f every box"),
                BOXPICK_FILTER(&pick),
                ARG_BOOL('y', "yes", &is_yes, "also work that was not applied, without asking"),
                ARG_BOOL(0, "json", &is_json, "as JSON"),
                ARG_END,
        };
        struct args a = args_of(&cmd_rm, flags, argc, argv);
        _cleanup_chosen_ struct chosen c = {0};
        int code = choose(&a, &pick, &c);
        if (code != 0 || a.is_over)
                return code;
        size_t left_n = c.is_wide && !w.is_forced ? keep_running(&c.ids, false) : 0;
        if (left_n)
                out_say("%zu box%s that run%s stay%s (--force ends and deletes them)", left_n,
                        left_n == 1 ? "" : "es", left_n == 1 ? "s" : "", left_n == 1 ? "s" : "");
        /* --force with names is an answer; with a pattern nobody has seen which boxes it means. */
        bool is_answered = is_yes || (w.is_forced && !c.is_wide);
        if (!is_answered && (code = confirm(&c.ids, w.is_forced)) != 0)
                return code;
        return remove_chosen(&c.ids, &w, is_json);
}

const struct cmd cmd_stop = {
        .name = "stop",
        .group = CMD_FIRST,
        .args = "BOX... | --all | --filter KEY=VALUE [--time TIME] [--json]",
        .summary = "end boxes",
        .help = "Asks everything in the box to end (SIGTERM), and kills it after TIME. What the "
                "box wrote "
                "is kept if there is something. BOX may be a pattern, in quotes.\n"
                "\n"
                "Example:\n"
                "  ostiary stop amber-3f2a\n"
                "  ostiary stop --filter agent=claude\n",
        .run = stop,
};

const struct cmd cmd_rm = {
        .name = "rm",
        .group = CMD_FIRST,
        .args = "BOX... | --all | --filter KEY=VALUE [--force] [--yes] [--refs] [--json]",
        .summary = "delete boxes and what they hold",
        .help = "Deletes boxes that have ended, with everything they wrote that was not taken "
                "out. Commits that apply fetched stay in your repository, as refs/ostiary/BOX; "
                "--refs removes those refs too.\n"
                "\n"
                "BOX may be a pattern, in quotes. Before work is deleted that was not applied you "
                "are asked, on a terminal; without one nothing is deleted unless --yes is given, "
                "or --force with the box's name. Boxes that run stay, unless --force.\n"
                "\n"
                "Example:\n"
                "  ostiary rm amber-3f2a\n"
                "  ostiary rm 'try-*' --yes\n"
                "  ostiary rm --filter older=7d --filter changes=no\n",
        .run = rm,
};
