/* cmd_attach.c - `ostiary attach`: come back to the main command of a box. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "cli/banner.h"
#include "cli/boxarg.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "cli/runargs.h"
#include "cli/term.h"
#include "session/start.h"
#include "wire/frame.h"
#include "wire/msg.h"

#include <stdlib.h>

/* ask(b, s): connect and attach. Has the box's main command a terminal? Its options know. */
static int ask(struct boxarg *b, struct stream *s, struct err *err)
{
        struct session_opts opts;
        _cleanup_close_ int dir = store_box_dir(&b->store, b->id, err);
        if (dir < 0 || session_opts_load(&opts, dir, err) < 0)
                return -1;
        s->is_tty = opts.is_tty && term_is_ours();
        s->has_stdin = !term_is_background(STDIN_FILENO) && (opts.is_tty || opts.has_stdin);
        session_opts_free(&opts);

        _cleanup_close_ int sock = session_connect(&b->store, b->id, err);
        if (sock < 0 && err->code == E_ABSENT)
                return err_set(err, E_ABSENT,
                               "box %s is not running (ostiary logs %s shows what it wrote, "
                               "ostiary exec %s -- COMMAND wakes it)",
                               b->id, b->id, b->id);
        if (sock < 0)
                return -1;
        _cleanup_buf_ struct buf body = {0};
        uint32_t cols = 0, rows = 0;
        if (s->is_tty)
                term_size(&cols, &rows);
        buf_put_u32(&body, cols);
        buf_put_u32(&body, rows);
        if (frame_send(sock, MSG_ATTACH, &body, NULL, 0) < 0)
                return err_sys(err, "ask the box's supervisor");
        return take_fd(&sock);
}

static int run(int argc, char **argv)
{
        struct stream s = {0};
        struct err err = {0};
        const char *terminal = NULL, *key = NULL;
        const struct arg flags[] = {
                ARG_BOOL('q', "quiet", &s.is_quiet,
                         "no line when leaving, no notices and no questions"),
                ARG_STR(0, "terminal", &terminal, "POLICY",
                        "strict, normal or raw (see: help run)"),
                ARG_STR(0, "detach-key", &key, "KEY", "the key before d that detaches, or none"),
                ARG_END,
        };
        struct args a = args_of(&cmd_attach, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 0, 1) < 0 || runargs_stream(&a, &s, terminal, key) < 0)
                return a.exit_code;
        _cleanup_boxarg_ struct boxarg b;
        if (boxarg_find(&b, words.n ? words.v[0] : NULL, &err) < 0)
                return out_error(&err);
        s.id = b.id;
        int sock = ask(&b, &s, &err);
        if (sock < 0)
                return out_error(&err);
        int code = stream_run(&s, sock);
        banner_after(&s);
        return code;
}

const struct cmd cmd_attach = {
        .name = "attach",
        .group = CMD_BOX,
        .args = "[BOX] [flags]",
        .summary = "come back to a box's command",
        .help = "Attaches this terminal to the command that BOX was started with (the newest box "
                "if none "
                "is named). Ctrl-] d leaves again; so does closing the terminal.\n"
                "\n"
                "Example:\n"
                "  ostiary run -d -n night codex\n"
                "  ostiary attach night\n",
        .run = run,
};
