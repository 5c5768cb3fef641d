/* cmd_report.c - `ostiary report`: one page of HTML about a box's run, for people who would rather
 * look than read. The page is whole in itself: no script, no picture, no address of anything. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/fdio.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/boxarg.h"
#include "cli/cmd.h"
#include "cli/envelope.h"
#include "cli/out.h"
#include "cli/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* put_file(path, b, err): by a temporary file and a rename, so that a page is never half there; to
 * a device or a pipe that the user named, straight. */
static int put_file(const char *path, struct buf *b, struct err *err)
{
        struct stat st;
        if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
                return err_set(err, E_INPUT, "%s is a directory; name a file in it", path);
        if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
                _cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);
                if (fd < 0 || fdio_write_all(fd, b->data, b->len) < 0)
                        return err_sys(err, "write %s", path);
                return 0;
        }
        /* A link is written through, as with any other program's -o. */
        _cleanup_free_ char *real = realpath(path, NULL);
        /* It names files, hosts and command lines, as the log does: for its owner alone. */
        return fdio_write_file(AT_FDCWD, real ? real : path, buf_cstr(b), 0600, err);
}

static int run(int argc, char **argv)
{
        const char *to = NULL;
        bool is_json = false;
        const struct arg flags[] = {
                ARG_STR('o', "output", &to, "FILE", "write the page here; - is standard output"),
                ARG_BOOL(0, "json", &is_json, "say as JSON where it is"),
                ARG_END,
        };
        struct args a = args_of(&cmd_report, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 0, 1) < 0)
                return a.exit_code;
        if (!to || !*to)
                return args_bad(&a, "say where the page shall go: -o FILE, or -o - for standard "
                                    "output");
        if (is_json && strcmp(to, "-") == 0)
                return args_bad(&a, "--json and -o - both want standard output");
        struct err err = {0};
        _cleanup_boxarg_ struct boxarg b;
        _cleanup_report_ struct report r = {0};
        if (boxarg_find(&b, words.n ? words.v[0] : NULL, &err) < 0)
                return out_error(&err);
        out_wait("reading the box's story");
        int got = report_gather(&r, &b.store, b.id, &err);
        out_wait(NULL);
        if (got < 0)
                return out_error(&err);
        _cleanup_buf_ struct buf page = {0};
        report_page(&r, &page);
        if (page.is_broken) {
                err_set(&err, E_SYSTEM, "the page became larger than %zu MiB",
                        BUF_DEFAULT_MAX >> 20);
                return out_error(&err);
        }
        if (strcmp(to, "-") == 0)
                return fdio_write_all(STDOUT_FILENO, page.data, page.len) < 0 ? EXIT_OURS : EXIT_OK;
        if (put_file(to, &page, &err) < 0)
                return out_error(&err);
        _cleanup_free_ char *shown = str_quote(to);
        if (is_json)
                return envelope_words("report", "box", b.id, "file", to, NULL);
        out_say("the report of box %s is in %s", b.id, shown);
        return EXIT_OK;
}

const struct cmd cmd_report = {
        .name = "report",
        .group = CMD_RECORD,
        .args = "[BOX] -o FILE [--json]",
        .summary = "one page of HTML about a run: timeline, hosts, processes, changes",
        .help = "Writes one page about BOX (the newest box if none is named) for a browser: how it "
                "ended, what it cost, refusals and alarms, changed files, hosts, processes as a "
                "tree, secrets by name, and the timeline. The page is whole in itself, holds no "
                "script and loads nothing; what the box wrote is text in it and nothing else. A "
                "file of this name is replaced. Long runs are cut, and the page says where the "
                "rest is.\n"
                "\n"
                "Examples:\n"
                "  ostiary report night -o night.html\n"
                "  ostiary report -o - | less\n",
        .run = run,
};
