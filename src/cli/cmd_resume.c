/* cmd_resume.c - `ostiary resume`: a kept box goes on, with its own command or another. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/str.h"
#include "cli/banner.h"
#include "cli/boxarg.h"
#include "cli/boxjson.h"
#include "cli/boxrules.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "cli/runargs.h"
#include "cli/stream.h"
#include "cli/term.h"
#include "session/start.h"
#include "wire/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* is_paused(b): does the box live, and stand still? */
static bool is_paused(const struct boxarg *b)
{
        struct box_meta m = {0};
        _cleanup_close_ int dir = store_box_dir(&b->store, b->id, NULL);
        bool is = dir >= 0 && store_meta_read(dir, b->id, &m, NULL) == 0 && m.state == BOX_PAUSED;
        box_meta_free(&m);
        return is;
}

/* go_on(b, how, err): what stood still goes on; nothing else is started. */
static int go_on(const struct boxarg *b, const struct session_opts *how, struct err *err)
{
        static struct frame f;
        if (how->once.n || how->extra_args.n)
                return err_set(
                        err, E_REFUSED,
                        "box %s is paused: ostiary resume %s lets it go on, ostiary exec %s -- "
                        "COMMAND runs something beside",
                        b->id, b->id, b->id);
        _cleanup_close_ int sock = session_connect(&b->store, b->id, err);
        if (sock < 0 || boxrules_ask(sock, MSG_CONTINUE, NULL, MSG_DONE, &f, err) < 0)
                return -1;
        frame_release(&f);
        out_say("box %s goes on (ostiary attach %s joins it)", b->id, b->id);
        return 0;
}

/* resume(b, word, how, s, is_detached): ${s} points into ${b} afterwards. */
static int resume(struct boxarg *b, const char *word, struct session_opts *how, struct stream *s,
                  bool is_detached, bool is_json)
{
        struct err err = {0};
        int sock = -1;
        if (boxarg_find(b, word, &err) < 0)
                return out_error(&err);
        if (is_paused(b)) {
                if (go_on(b, how, &err) < 0)
                        return out_error(&err);
                return is_json ? boxjson_made(&b->store, b->id, true) : EXIT_OK;
        }
        if (session_resume(&b->store, b->id, how, &sock, &err) < 0)
                return out_error(&err);
        s->id = b->id;
        if (!is_detached) {
                s->on_started = banner_before;
                int code = stream_run(s, sock);
                banner_after(s);
                return code;
        }
        struct msg_started started;
        int got = stream_started(sock, &started, &err);
        close(sock);
        if (got == 0)
                banner_before(s, &started);
        msg_started_free(&started);
        if (got < 0)
                return out_error(&err);
        return boxjson_made(&b->store, b->id, is_json);
}

/* read_words(how, word, rest): a command for this time; or, since no command begins with a dash, what
 * is said to the box's agent. */
static void read_words(struct session_opts *how, const char *word, char **rest)
{
        const char *first = word ? word : rest[0];
        how->is_once_agent = first && first[0] == '-';
        struct strs *to = how->is_once_agent ? &how->extra_args : &how->once;
        if (word)
                strs_add(to, word);
        for (; *rest; rest++)
                strs_add(to, *rest);
}

static int run(int argc, char **argv)
{
        struct session_opts how = {0};
        struct stream s = {0};
        const char *terminal = NULL, *key = NULL;
        bool is_detached = false, is_json = false, is_interactive = false;
        int tty = -1;
        const struct arg flags[] = {
                ARG_BOOL('d', "detach", &is_detached, "do not attach; print the box's name"),
                ARG_BOOL(0, "json", &is_json, "with -d: the box as JSON"),
                ARG_BOOL('i', "interactive", &is_interactive, NULL),
                ARG_INT('t', "tty", &tty, 1, "give the command a terminal"),
                ARG_INT('T', "no-tty", &tty, 0, "give it pipes, also on a terminal"),
                ARG_BOOL('q', "quiet", &s.is_quiet,
                         "no line about the box before and after, no notices and no questions"),
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
        if (is_json && !is_detached)
                return args_bad(&a, "--json goes with -d: otherwise the output is the command's "
                                    "own");
        read_words(&how, word, args_rest(&a));
        if (runargs_stream(&a, &s, terminal, key) < 0)
                return a.exit_code;
        how.is_tty = tty >= 0 ? tty : term_is_ours();
        how.is_quiet = s.is_quiet;
        how.has_stdin = !is_detached && !term_is_background(STDIN_FILENO);
        term_size(&how.cols, &how.rows);
        s.is_tty = how.is_tty && isatty(STDIN_FILENO) && !is_detached;
        s.has_stdin = how.has_stdin;
        struct boxarg b;
        int code = resume(&b, box, &how, &s, is_detached, is_json);
        boxarg_free(&b);
        session_opts_free(&how);
        return code;
}

const struct cmd cmd_resume = {
        .name = "resume",
        .group = CMD_BOX,
        .args = "BOX [flags] [--] [COMMAND...]",
        .summary = "let a box that has ended or is paused go on",
        .help = "Starts a kept box again over everything it holds: its own command, or COMMAND this "
                "time. An agent goes on with the conversation that it had, where its profile knows "
                "how; what was said to it at first is not said again, and words that begin with a "
                "dash are said to it now. Flags, rules and secrets are those the box was started "
                "with. A box that is paused (leak=pause, --on-door-fault pause) goes on where it "
                "stood.\n"
                "\n"
                "Example:\n"
                "  ostiary resume amber-3f2a\n"
                "  ostiary resume amber-3f2a -- --continue -p \"and the tests\"\n"
                "  ostiary resume amber-3f2a -- make test\n",
        .run = run,
};
