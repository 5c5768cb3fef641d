/* cmd_rotate.c - `ostiary rotate`: a running box uses a fresh value of a secret, and sees no
 * difference. A value from standard input goes through a pipe to the keeper and is wiped here; it
 * is never an argument. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/fdio.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/boxarg.h"
#include "cli/boxrules.h"
#include "cli/cmd.h"
#include "cli/ended.h"
#include "cli/envelope.h"
#include "cli/out.h"
#include "session/source.h"
#include "session/start.h"
#include "wire/msg.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* read_value(err): standard input to its end, as the reading end of a pipe; -1 with a story. */
static int read_value(struct err *err)
{
        struct buf b = {.max = DOOR_SECRET_MAX + 1};
        int r = fdio_read_all(STDIN_FILENO, &b, DOOR_SECRET_MAX);
        if (r < 0 && errno == EFBIG)
                err_set(err, E_INPUT, "the new value is longer than %d KiB", DOOR_SECRET_MAX >> 10);
        else if (r < 0)
                err_sys(err, "read the new value");
        else if (b.len == 0)
                r = err_set(err, E_INPUT, "standard input is empty, and no key is");
        if (r == 0)
                return source_pipe_of(&b, err); /* wipes it */
        if (b.data)
                explicit_bzero(b.data, b.cap);
        buf_free(&b);
        return -1;
}

/* rotate(sock, name, value_fd, err): as boxrules_ask, with a descriptor. */
static int rotate(int sock, const char *name, int value_fd, struct err *err)
{
        static struct frame f;
        _cleanup_buf_ struct buf body = {0};
        buf_put_lstr(&body, name);
        if (frame_send(sock, MSG_ROTATE, &body, &value_fd, value_fd >= 0) < 0)
                return err_sys(err, "ask the supervisor of the box");
        for (;;) {
                if (frame_recv(sock, &f, false) <= 0)
                        return err_set(err, E_SYSTEM, "the box ended before it answered");
                uint32_t type = f.type;
                if (type == MSG_FAILED)
                        ended_failure(&f.body, err);
                frame_release(&f);
                if (type == MSG_DONE || type == MSG_FAILED)
                        return type == MSG_DONE ? 0 : -1;
        }
}

static int run(int argc, char **argv)
{
        bool is_json = false;
        const struct arg flags[] = {ARG_BOOL(0, "json", &is_json, "as JSON"), ARG_END};
        struct args a = args_of(&cmd_rotate, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 2, 3) < 0)
                return a.exit_code;
        bool is_stdin = words.n == 3;
        if (is_stdin && strcmp(words.v[2], "-") != 0)
                return args_bad(&a, "a value is never an argument, where every program can see it; "
                                    "give it on standard input, with - in its place");
        struct err err = {0};
        _cleanup_boxarg_ struct boxarg b;
        if (boxarg_find(&b, words.v[0], &err) < 0)
                return out_error(&err);
        _cleanup_close_ int sock = session_connect(&b.store, b.id, &err);
        if (sock < 0)
                return out_error(&err);
        _cleanup_close_ int value = is_stdin ? read_value(&err) : -1;
        if (is_stdin && value < 0)
                return out_error(&err);
        out_wait("waiting for the source of the secret");
        int r = rotate(sock, words.v[1], value, &err);
        out_wait(NULL);
        if (r < 0)
                return out_error(&err);
        if (is_json)
                return envelope_words("rotated", "box", b.id, "name", words.v[1], NULL);
        _cleanup_free_ char *shown = str_quote(words.v[1]);
        printf("%s: %s has a fresh value\n", b.id, shown);
        return EXIT_OK;
}

const struct cmd cmd_rotate = {
        .name = "rotate",
        .group = CMD_SECRET,
        .args = "BOX NAME [-] [--json]",
        .summary = "give a running box a fresh value of a secret",
        .help = "Asks the secret's source again (the command, the file, the vault) and hands what "
                "it says to the box's keeper; with - the new value is read from standard input. "
                "The box sees no difference: its placeholder stays the same, and the next request "
                "uses the new value. When the value is no good, the one before stays.\n"
                "\n"
                "Examples:\n"
                "  ostiary rotate amber-3f2a GITHUB_TOKEN\n"
                "  pass show stripe | ostiary rotate amber-3f2a STRIPE_KEY -\n",
        .run = run,
};
