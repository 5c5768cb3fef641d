/* cmd_apply.c - `ostiary apply`: chosen changes of a box to the host. Nothing lands that nobody
 * approved; nothing of the host is overwritten that changed meanwhile; everything can be taken
 * back. The choosing is in apply_ask.c and apply_hunks.c, the writing in the workspace room. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/str.h"
#include "cli/apply.h"
#include "cli/args.h"
#include "cli/boxpaths.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "cli/undo_conf.h"
#include "session/pending.h"
#include "session/store.h"
#include "session/undo_refs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* read_yes(a, j, text): "runs-on-build,runs-in-ci". */
static int read_yes(struct args *a, struct apply_job *j, const char *text)
{
        if (!text)
                return 0;
        j->l.has_yes = true;
        if (!*text)
                return 0;
        _cleanup_free_ char *copy = str_dup(text);
        char *rest = copy;
        for (char *word; (word = strsep(&rest, ","));) {
                enum file_class class = file_class_by_name(word);
                if (class < FILE_CLASS_COUNT) {
                        j->l.yes[class] = true;
                        continue;
                }
                const char *names[FILE_CLASS_COUNT];
                for (int i = 0; i < FILE_CLASS_COUNT; i++)
                        names[i] = file_class_name((enum file_class)i);
                const char *near = str_suggest(word, names, FILE_CLASS_COUNT);
                _cleanup_free_ char *shown = str_quote(word);
                return args_bad(a,
                                "there is no class \"%s\"%s%s%s; `ostiary diff --classes` lists "
                                "them",
                                shown, near ? "; did you mean " : "", near ? near : "",
                                near ? "?" : "");
        }
        return 0;
}

static int check(struct args *a, const struct apply_job *j)
{
        if (j->l.is_hunks && j->l.has_yes)
                return args_bad(a, "--hunks asks for each hunk, --yes asks for none; take one");
        if (j->l.is_hunks && j->l.is_dry)
                return args_bad(a, "--hunks and --dry-run exclude each other");
        if (j->l.has_terminal || j->l.has_yes || j->l.is_dry)
                return 0;
        if (j->l.is_hunks)
                return args_bad(a, "--hunks asks, and there is no terminal to ask on");
        return args_bad(a, "apply asks before it writes, and there is no terminal to ask on; "
                           "--yes applies plain changes, --yes=CLASS,... those of a class too, "
                           "--dry-run only tells");
}

/* work(j, p): everything between the command line and the last words. */
static int work(struct apply_job *j, struct boxpaths *p, struct err *err)
{
        _cleanup_close_ int undo_fd = undo_store_open(p->box.store.state, err);
        if (undo_fd < 0)
                return out_error(err);
        if (!j->l.is_dry)
                undo_refs_recover(undo_fd);
        out_wait("looking at what the box changed");
        int rc = 0;
        for (size_t i = 0; rc == 0 && !j->l.is_dry && i < j->l.c->roots.n; i++)
                if (j->l.c->roots.v[i].kind == WS_ROOT_COW && j->l.c->roots.v[i].host_fd >= 0)
                        rc = undo_clean(undo_fd, j->l.c->roots.v[i].host_fd, err);
        if (rc == 0)
                rc = apply_items_find(j, err);
        out_wait(NULL);
        if (rc < 0)
                return out_error(err);
        landing_find(&j->l);
        landing_decide(&j->l);
        if (j->is_3way)
                apply_merge(j, undo_fd);
        if (j->l.is_hunks)
                apply_hunks(j);
        else
                apply_ask(j);
        apply_items_settle(j);
        if (j->l.is_dry)
                return apply_tell(j);
        out_wait("applying");
        landing_begin(&j->l, undo_fd);
        rc = apply_items_run(j, undo_fd, err);
        landing_end(&j->l, undo_fd);
        out_wait(NULL);
        int code = apply_tell(j);
        uint64_t kept = 0;
        for (size_t i = 0; i < j->l.c->roots.n; i++)
                kept += j->l.results[i].kept_bytes;
        if (rc == 0)
                undo_conf_prune_now_and_then(&p->box.store, undo_fd, kept);
        return rc < 0 ? out_error(err) : code;
}

/* afterwards(j, p): what there is to do with the box now. */
static void afterwards(const struct apply_job *j, const struct boxpaths *p)
{
        bool is_done = false;
        for (size_t i = 0; i < j->l.c->roots.n; i++)
                is_done |= j->l.results[i].record_n != 0;
        if (!is_done || j->is_json || j->l.is_dry)
                return;
        if (store_box_is_alive(j->l.c->box_fd))
                out_say("box %s goes on running; what it changes from now on is pending again",
                        j->l.c->id);
        else if (pending_any(&p->box.store, j->l.c->id, NULL) == 0)
                out_say("box %s has nothing pending any more; `ostiary rm %s` removes it",
                        j->l.c->id, j->l.c->id);
}

static int run(int argc, char **argv)
{
        struct apply_job j = {0};
        const char *yes = NULL;
        const struct arg flags[] = {
                ARG_BOOL(0, "hunks", &j.l.is_hunks, "ask for each place that differs"),
                ARG_OPT('y', "yes", &yes, "CLASS,...",
                        "apply plain changes without asking, and those of the classes named"),
                ARG_BOOL(0, "3way", &j.is_3way,
                         "merge text that both sides changed, where a common base is known"),
                ARG_BOOL(0, "all", &j.with_all, "also what is ignored: build output"),
                ARG_BOOL(0, "files", &j.l.is_files,
                         "files alone, also those that the box committed; no commits"),
                ARG_BOOL(0, "dry-run", &j.l.is_dry, "only tell what would be done"),
                ARG_OLD('n', "dry-run"),
                ARG_BOOL(0, "json", &j.is_json, "as JSON"),
                ARG_END,
        };
        struct args a = args_of(&cmd_apply, flags, argc, argv);
        struct err err = {0};
        _cleanup_boxpaths_ struct boxpaths p = {0};
        if (boxpaths_read(&p, &a) < 0)
                return a.exit_code;
        j.l.has_terminal = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
        if (read_yes(&a, &j, yes) != 0 || check(&a, &j) != 0)
                return a.exit_code;
        if (boxpaths_find(&p, &err) < 0)
                return out_error(&err);
        _cleanup_close_ int in_use = store_box_use(&p.box.store, p.box.id, &err);
        if (in_use < 0)
                return out_error(&err);
        _cleanup_box_changes_ struct changes c = {.box_fd = -1, .frozen_fd = -1};
        if (changes_open(&c, &p.box.store, p.box.id, 0, &err) < 0 || changes_gone(&c, &err) < 0 ||
            changes_limit(&c, p.paths.v, p.paths.n, &err) < 0)
                return out_error(&err);
        j.l.c = &c;
        j.l.store = &p.box.store;
        apply_git_asks(&j);
        int code = work(&j, &p, &err);
        if (j.l.results)
                afterwards(&j, &p);
        landing_free(&j.l);
        apply_items_free(&j);
        return code;
}

const struct cmd cmd_apply = {
        .name = "apply",
        .group = CMD_FIRST,
        .args = "[BOX] [PATH...] [--hunks] [--yes[=CLASS,...]] [--3way] [--files] [--dry-run] [--json]",
        .summary = "bring changes of a box to the host",
        .help = "Writes what a box changed to the host's files. Plain changes are one question; "
                "files that somebody runs or obeys without being asked (a git hook, a build "
                "script, CI, an agent's settings: see `ostiary diff --classes`) are asked for "
                "class by class. --yes answers the first question only; --yes=CLASS names the "
                "classes it answers too. Without BOX a box of this workspace is meant: the only "
                "one that holds changes. With PATHs only those land.\n"
                "\n"
                "What you changed on the host since the box started is a conflict: it is shown "
                "and left as it is on both sides. --3way merges text where a common base is known "
                "and both sides changed different places. Devices, sockets, setuid files and "
                "links that lead out of the directory are never applied, nor are stand-ins for "
                "masked secrets. Ignored output stays in the box unless it is named or --all is "
                "given, and an ignored directory stays as a whole.\n"
                "\n"
                "What the box committed is fetched, never copied: its branches, tags and stashes "
                "become refs/ostiary/BOX/heads/NAME and so on, each asked for by the most "
                "dangerous class that it brings, and the branch that you stand on moves with its "
                "files when that is a fast-forward and nothing of yours is in the way. Otherwise "
                "`git merge ostiary/BOX/heads/NAME` brings them in. --files lands the files "
                "without the commits.\n"
                "\n"
                "Each file is replaced in one step, and what it replaces is kept first: `ostiary "
                "undo` takes an apply back. Interrupted at any moment, run it again, or take it "
                "back.\n"
                "\n"
                "The exit status is 0 when all of it is on the host but for what you declined, and "
                "1 when something stayed: a conflict, a refusal, a class that nobody approved, a "
                "branch that does not move, files that wait for a merge.\n"
                "\n"
                "Examples:\n"
                "  ostiary apply amber-3f2a src/\n"
                "  ostiary apply amber-3f2a --yes=runs-on-build,runs-in-ci\n",
        .run = run,
};
