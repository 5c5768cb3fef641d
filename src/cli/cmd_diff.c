/* cmd_diff.c - `ostiary diff`: what a box changed, before anything of it lands on the host.
 *
 * Reads a box's layers, running or not; wakes none, takes no lock, writes nothing of the user's.
 * Names and contents came out of a box and are made safe for a terminal (cases 76, 80); into a pipe
 * the workspace's part is an exact patch. What the box committed is fetched into a quarantine beside
 * the box (git/fetch.h): the host's git reads nothing else of it. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/fdio.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/boxpaths.h"
#include "cli/cmd.h"
#include "cli/diff.h"
#include "cli/out.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct wishes {
        bool is_stat, is_names, is_json, is_all, is_classes, has_no_pager, has_zeros, has_code,
                is_whole;
        const char *colour;
        uint64_t turn, context;
};

static int put(void *arg, const void *bytes, size_t n)
{
        return pager_put(arg, bytes, n);
}

static int print_classes(struct err *err)
{
        struct store s;
        if (store_paths(&s, err) < 0)
                return out_error(err);
        struct file_classes *t = changes_classes(&s, err);
        store_free(&s);
        if (!t)
                return out_error(err);
        _cleanup_buf_ struct buf b = {0};
        file_class_print(t, &b);
        file_classes_free(t);
        return fdio_write_all(STDOUT_FILENO, b.data, b.len) < 0 ? EXIT_OURS : EXIT_OK;
}

/* check_workspace(c, err): without the host's side there is nothing to compare with. Another
 * directory that is gone is told in its place, and the rest shown. */
static int check_workspace(const struct changes *c, struct err *err)
{
        bool is_gone =
                c->roots.n > 0 && strcmp(c->roots.v[0].name, "ws") == 0 && c->roots.v[0].gone;
        return is_gone ? changes_gone(c, err) : 0;
}

/* has_live(c): is the workspace the host's own directory? */
static bool has_live(const struct changes *c)
{
        for (size_t i = 0; i < c->roots.n; i++)
                if (c->roots.v[i].kind == WS_ROOT_LIVE)
                        return true;
        return false;
}

static int show(struct changes *c, const struct store *store, const struct wishes *w,
                struct err *err)
{
        bool is_tty = isatty(STDOUT_FILENO);
        bool has_colour = strcmp(w->colour, "auto") == 0     ? out_has_colour(STDOUT_FILENO)
                          : strcmp(w->colour, "always") == 0 ? true
                                                             : false;
        struct diff d = {.c = c,
                         .store = store,
                         .form = w->is_json    ? &diff_json
                                 : w->is_stat  ? &diff_stat
                                 : w->is_names ? &diff_names
                                               : &diff_text,
                         .with_all = w->is_all,
                         .has_zeros = w->has_zeros,
                         .pager.is_wanted = is_tty && !w->is_json && !w->has_no_pager};
        d.print = (struct ws_print){.put = put,
                                    .arg = &d.pager,
                                    .is_safe = is_tty || has_colour,
                                    .has_colour = has_colour && !w->is_json,
                                    .is_whole = w->is_whole,
                                    .context = (unsigned)w->context};
        out_wait("looking at what the box changed");
        int rc = diff_run(&d, err);
        if (pager_end(&d.pager) < 0 && rc == 0)
                rc = err_sys(err, "write the diff");
        int code = EXIT_OK;
        if (rc < 0 && !pager_left(&d.pager))
                code = out_error(err);
        else if (d.print.unread_n) {
                out_say("%llu content%s could not be read", (unsigned long long)d.print.unread_n,
                        d.print.unread_n == 1 ? "" : "s");
                code = EXIT_OURS;
        } else if (d.unshown_n) {
                out_say("the commits of %llu ref%s could not be shown",
                        (unsigned long long)d.unshown_n, d.unshown_n == 1 ? "" : "s");
                code = EXIT_OURS;
        } else if (w->has_code && d.shown_n + d.noted_n > 0)
                code = EXIT_NEGATIVE;
        else if (rc == 0 && d.shown_n + d.noted_n == 0 && !w->is_json &&
                 (isatty(STDERR_FILENO) || has_live(c)))
                out_say(has_live(c) ? "box %s works on the host's own directory: what it changed "
                                      "there is in ostiary history"
                                    : "box %s has no pending changes",
                        c->id);
        diff_free(&d);
        return code;
}

static int check_wishes(struct args *a, const struct wishes *w)
{
        static const char *const whens[] = {"auto", "always", "never"};
        bool is_known = false;
        for (size_t i = 0; i < 3; i++)
                is_known |= strcmp(w->colour, whens[i]) == 0;
        if (!is_known)
                return args_bad(a, "--color is auto, always or never, not \"%s\"", w->colour);
        if (w->is_stat + w->is_names + w->is_json > 1)
                return args_bad(a, "--stat, --name-only and --json exclude each other");
        if (w->has_zeros && !w->is_names)
                return args_bad(a, "-z goes with --name-only");
        if (w->has_zeros && isatty(STDOUT_FILENO))
                return args_bad(a, "-z writes names as they are, which is not for a terminal");
        if (w->turn > 1000000 || w->context > 1000000)
                return args_bad(a, "that number is too large");
        return 0;
}

static int run(int argc, char **argv)
{
        struct wishes w = {.colour = "auto", .context = 3};
        const struct arg flags[] = {
                ARG_BOOL(0, "stat", &w.is_stat, "one row per file, with lines added and removed"),
                ARG_BOOL(0, "name-only", &w.is_names, "names alone"),
                ARG_BOOL('z', "null", &w.has_zeros,
                         "with --name-only: names as they are, each ended by a NUL byte"),
                ARG_BOOL(0, "json", &w.is_json, "as JSON"),
                ARG_U64(0, "turn", &w.turn, "N", "only what the N-th turn changed"),
                ARG_U64('U', "unified", &w.context, "N", "lines around a change (default 3)"),
                ARG_BOOL(0, "binary", &w.is_whole,
                         "binary files as git's binary patches instead of their sizes"),
                ARG_BOOL(0, "all", &w.is_all,
                         "also ignored files, patches of commits, the kept part of the home"),
                ARG_BOOL(0, "classes", &w.is_classes, "print the tables of classes and stop"),
                ARG_BOOL(0, "exit-code", &w.has_code, "exit status 1 when there are changes"),
                ARG_BOOL(0, "no-pager", &w.has_no_pager, "no pager on a terminal either"),
                ARG_STR(0, "color", &w.colour, "WHEN", "auto, always or never"),
                ARG_END,
        };
        struct args a = args_of(&cmd_diff, flags, argc, argv);
        struct err err = {0};
        _cleanup_boxpaths_ struct boxpaths p = {0};
        if (boxpaths_read(&p, &a) < 0)
                return a.exit_code;
        if (check_wishes(&a, &w) != 0)
                return a.exit_code;
        if (w.is_classes)
                return print_classes(&err);
        if (boxpaths_find(&p, &err) < 0)
                return out_error(&err);
        _cleanup_box_changes_ struct changes c = {.box_fd = -1, .frozen_fd = -1};
        if (changes_open(&c, &p.box.store, p.box.id, (unsigned)w.turn, &err) < 0 ||
            check_workspace(&c, &err) < 0 || changes_limit(&c, p.paths.v, p.paths.n, &err) < 0)
                return out_error(&err);
        return show(&c, &p.box.store, &w, &err);
}

const struct cmd cmd_diff = {
        .name = "diff",
        .group = CMD_FIRST,
        .args = "[BOX] [PATH...] [--stat|--name-only|--json] [--turn N]",
        .summary = "show what a box changed",
        .help = "Shows what a box changed in its copy-on-write directories, as a unified diff "
                "with renames, modes, links and deletions. The host's files are as they were; "
                "`ostiary apply` brings chosen changes to them. Works while the box runs. Without "
                "BOX a box of this workspace is meant: the only one that holds changes.\n"
                "\n"
                "A file that somebody runs or obeys without being asked (a git hook, an editor's "
                "task, a build script, CI, an agent's settings) is named by its class before its "
                "diff; `ostiary diff --classes` prints the tables, and CLASS GLOB lines in "
                "~/.config/ostiary/classes extend them. Ignored output and what the box keeps in "
                "its home are counted; --all shows them.\n"
                "\n"
                "What the box committed comes first: for each repository the new commits of each "
                "branch, tag and stash, as `git log --stat` tells them (--all: with patches), and "
                "every path in them that somebody runs or obeys, as \"committed: PATH (CLASS)\". "
                "A git directory itself never lands: its index, hooks and configuration stay in "
                "the box.\n"
                "\n"
                "PATH is relative to the current directory if that lies in the workspace, else to "
                "the workspace; ~/PATH is in the box's home. On a terminal, control characters "
                "and invisible ones in the content are shown as \\xNN; in a pipe the content is "
                "exact, and `git apply` and `patch -p1` take the workspace's part (binary files "
                "with --binary, by git). Sections of other "
                "directories have \"| \" before every line. The pager is $OSTIARY_PAGER, "
                "$PAGER or `less -FRX`.\n"
                "\n"
                "The exit status is 0 whether there are changes or not, unless --exit-code is "
                "given.\n"
                "\n"
                "Examples:\n"
                "  ostiary diff amber-3f2a --stat\n"
                "  ostiary diff amber-3f2a src/ | git apply\n",
        .run = run,
};
