/* cmd_resume.c - `ostiary resume`: a kept box goes on, with its own command or another. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/str.h"
#include "cli/banner.h"
#include "cli/boxarg.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "cli/runargs.h"
#include "cli/stream.h"
#include "cli/term.h"
#include "session/start.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* resume(b, word, how, s, is_detached): ${s} points into ${b} afterwards. */
static int resume(struct boxarg *b, const char *word, struct session_opts *how, struct stream *s,
                  bool is_detached)
{
        struct err err = {0};
        int sock = -1;
        if (boxarg_find(b, word, &err) < 0 ||
            session_resume(&b->store, b->id, how, &sock, &err) < 0)
                return out_error(&err);
        s->id = b->id;
        if (!is_detached) {
                s->on_started = banner_before;
                s->ctx = &b->store;
                int code = stream_run(s, sock);
                banner_after(s);
                return code;
        }
        int got = stream_started(sock, &err);
        close(sock);
        if (got < 0)
                return out_error(&err);
        banner_before(s, &b->store);
        puts(b->id);
        return EXIT_OK;
}

static int run(int argc, char **argv)
{
        struct session_opts how = {0};
        struct stream s = {0};
        const char *terminal = NULL, *key = NULL;
        bool is_detached = false;
        int tty = -1;
        const struct arg flags[] = {
                ARG_BOOL('d', "detach", &is_detached, "do not attach; print the box's name"),
                ARG_INT('t', "tty", &tty, 1, "give the command a terminal"),
                ARG_INT('T', "no-tty", &tty, 0, "give it pipes, also on a terminal"),
                ARG_BOOL('q', "quiet", &s.is_quiet, "no line about the box before and after"),
                ARG_STR(0, "terminal", &terminal, "POLICY",
                        "strict, normal or raw (see: help run)"),
                ARG_STR(0, "detach-key", &key, "KEY", "the key before d that detaches, or none"),
                ARG_END,
        };
        struct args a = args_of(&cmd_resume, flags, argc, argv);
        char *box = args_next(&a);
        char *word = box && !a.is_over ? args_next(&a) : NULL;
        if (a.is_over)
                return a.exit_code;
        if (!box)
                return args_bad(&a, "say which box: ostiary resume BOX (ostiary ps -a lists them)");
        if (word)
                strs_add(&how.once, word);
        for (char **w = args_rest(&a); *w; w++)
                strs_add(&how.once, *w);
        if (runargs_stream(&a, &s, terminal, key) < 0)
                return a.exit_code;
        how.is_tty = tty >= 0 ? tty : term_is_ours();
        how.is_quiet = s.is_quiet;
        how.has_stdin = !is_detached && !term_is_background(STDIN_FILENO);
        term_size(&how.cols, &how.rows);
        s.is_tty = how.is_tty && isatty(STDIN_FILENO) && !is_detached;
        s.has_stdin = how.has_stdin;
        struct boxarg b;
        int code = resume(&b, box, &how, &s, is_detached);
        boxarg_free(&b);
        session_opts_free(&how);
        return code;
}

const struct cmd cmd_resume = {
        .name = "resume",
        .args = "BOX [flags] [--] [COMMAND...]",
        .summary = "let a box that has ended go on",
        .help = "Starts a kept box again over everything it holds: its own command (the agent), or "
                "COMMAND this time. Flags, rules and secrets are those it was started with.\n"
                "\n"
                "Example:\n"
                "  ostiary resume amber-3f2a\n"
                "  ostiary resume amber-3f2a -- make test\n",
        .run = run,
};
