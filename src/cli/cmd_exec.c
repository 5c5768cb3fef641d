/* cmd_exec.c - `ostiary exec`: one more command in a box that is there. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/boxarg.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "cli/runargs.h"
#include "cli/term.h"
#include "wire/frame.h"
#include "wire/msg.h"

#include <stdlib.h>
#include <string.h>

enum { TRIES = 50 };

/* ask(sock, spawn): send the request. */
static int ask(int sock, const struct msg_spawn *spawn, struct err *err)
{
        _cleanup_buf_ struct buf b = {0};
        msg_spawn_put(&b, spawn);
        if (frame_send(sock, MSG_EXEC, &b, NULL, 0) < 0)
                return err_sys(err, "ask the box's supervisor");
        return 0;
}

static int exec(const char *box, struct msg_spawn *spawn, struct stream *s)
{
        struct err err = {0};
        _cleanup_boxarg_ struct boxarg b;
        if (boxarg_find(&b, box, &err) < 0)
                return out_error(&err);
        _cleanup_close_ int sock = -1;
        int tries = 0;
        do {
                close_fd(&sock);
                sock = boxarg_connect(&b, &err);
                if (sock < 0 || ask(sock, spawn, &err) < 0)
                        return out_error(&err);
        } while (boxarg_is_asleep(&b, sock) && ++tries < TRIES);
        s->id = b.id;
        return stream_run(s, take_fd(&sock));
}

/* fill(spawn, s, tty): terminal or pipes, and the terminal's name, which the box's own environment
 * does not know. */
static void fill(struct msg_spawn *spawn, struct stream *s, int tty)
{
        static const char *const names[] = {"TERM", "COLORTERM"};
        spawn->is_tty = tty >= 0 ? tty : term_is_ours();
        spawn->has_stdin = !term_is_background(STDIN_FILENO);
        term_size(&spawn->cols, &spawn->rows);
        for (size_t i = 0; spawn->is_tty && i < 2; i++) {
                const char *v = getenv(names[i]);
                if (v && !strs_get_env(&spawn->env, names[i]))
                        strs_set_env(&spawn->env, names[i], v);
        }
        s->is_tty = spawn->is_tty && isatty(STDIN_FILENO);
        s->has_stdin = spawn->has_stdin;
}

static int run(int argc, char **argv)
{
        struct msg_spawn spawn = {0};
        struct stream s = {0};
        const char *cwd = NULL, *terminal = NULL, *key = NULL;
        _cleanup_strs_ struct strs env = {0};
        int tty = -1;
        bool is_interactive = false;
        const struct arg flags[] = {
                ARG_INT('t', "tty", &tty, 1, "give the command a terminal"),
                ARG_INT('T', "no-tty", &tty, 0, "give it pipes, also on a terminal"),
                ARG_BOOL('i', "interactive", &is_interactive, NULL),
                ARG_LIST('e', "env", &env, "NAME[=VALUE]", "set a variable, or pass on your own"),
                ARG_STR('C', "cwd", &cwd, "DIR", "where in the box it starts"),
                ARG_OLD('w', "cwd"),
                ARG_STR(0, "workdir", &cwd, "DIR", NULL),
                ARG_BOOL('q', "quiet", &s.is_quiet,
                         "no line when detaching, no notices and no questions"),
                ARG_STR(0, "terminal", &terminal, "POLICY",
                        "strict, normal or raw (see: help run)"),
                ARG_STR(0, "detach-key", &key, "KEY", "the key before d that detaches, or none"),
                ARG_END,
        };
        struct args a = args_of(&cmd_exec, flags, argc, argv);
        char *box = args_next(&a);
        if (a.is_over)
                return a.exit_code;
        char *word = box ? args_next(&a) : NULL;
        if (a.is_over)
                return a.exit_code;
        if (word)
                strs_add(&spawn.argv, word);
        for (char **w = args_rest(&a); *w; w++)
                strs_add(&spawn.argv, *w);
        if (spawn.argv.n == 0)
                return args_bad(&a, "say what to run: ostiary exec BOX -- COMMAND");
        if (runargs_env(&a, &env, &spawn.env) < 0 || runargs_stream(&a, &s, terminal, key) < 0)
                return a.exit_code;
        spawn.cwd = str_dup(cwd ? cwd : "");
        fill(&spawn, &s, tty);
        int code = exec(box, &spawn, &s);
        msg_spawn_free(&spawn);
        return code;
}

const struct cmd cmd_exec = {
        .name = "exec",
        .group = CMD_FIRST,
        .args = "BOX [flags] [--] COMMAND...",
        .summary = "run one more command in a box",
        .help = "Runs COMMAND in BOX, behind the same walls. Output and errors stay apart and are "
                "streamed; input is passed on; the exit code is the command's. On a terminal it "
                "gets a "
                "terminal, unless -T. A box that ended and was kept is woken for it.\n"
                "\n"
                "Examples:\n"
                "  ostiary exec amber-3f2a -- git status\n"
                "  tar c src | ostiary exec amber-3f2a -- tar x\n",
        .run = run,
};
