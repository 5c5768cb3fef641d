/* cmd_forward.c - `ostiary forward`: a port of a running box on the host's loopback, as long as the
 * command runs (or, with -d, as long as the box). The bytes pass through the box's relay, never
 * through this process. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/boxarg.h"
#include "cli/cmd.h"
#include "cli/ended.h"
#include "cli/out.h"
#include "session/publish.h"
#include "session/start.h"
#include "wire/frame.h"
#include "wire/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* spec(word): PORT[:HOSTPORT] turned around, as publish_parse wants it. */
static int spec(const char *word, char **to, struct err *err)
{
        struct publish p;
        const char *colon = strchr(word, ':');
        size_t n = colon ? (size_t)(colon - word) : strlen(word);
        *to = colon ? str_fmt("%s:%.*s", colon + 1, (int)n, word) : str_dup(word);
        if (strspn(word, "0123456789:") == strlen(word) && publish_parse(*to, &p, err) == 0)
                return 0;
        _cleanup_free_ char *shown = str_quote(word);
        return err_set(err, E_USAGE, "\"%s\" is no PORT or PORT:HOSTPORT, like 3000 or 3000:8080",
                       shown);
}

/* hear(sock, err): the answer to one MSG_PUBLISH, printed. */
static int hear(int sock, struct json *j, struct err *err)
{
        static struct frame f;
        _cleanup_free_ char *at = NULL;
        uint32_t port;
        for (;;) {
                if (frame_recv(sock, &f, false) <= 0)
                        return err_set(err, E_SYSTEM, "the box ended");
                uint32_t type = f.type;
                int r = -1;
                if (type == MSG_FAILED)
                        ended_failure(&f.body, err);
                else if (type == MSG_PUBLISHED &&
                         (cur_lstr(&f.body, 64, &at) < 0 || cur_u32(&f.body, &port) < 0))
                        err_set(err, E_PROTO, "the supervisor's answer makes no sense");
                else
                        r = 0;
                frame_release(&f);
                if (r < 0)
                        return -1;
                if (type == MSG_PUBLISHED)
                        break;
        }
        if (!j) {
                printf("%u at %s\n", port, at);
                fflush(stdout);
                return 0;
        }
        json_open(j, NULL, '{');
        json_u64(j, "port", port);
        json_str(j, "at", at);
        json_close(j, '}');
        return 0;
}

static int forward(int sock, const struct strs *specs, bool is_held, struct json *j,
                   struct err *err)
{
        for (size_t i = 0; i < specs->n; i++) {
                _cleanup_buf_ struct buf b = {0};
                buf_put_lstr(&b, specs->v[i]);
                buf_put_u32(&b, is_held);
                if (frame_send(sock, MSG_PUBLISH, &b, NULL, 0) < 0)
                        return err_sys(err, "ask the box's supervisor");
                if (hear(sock, j, err) < 0)
                        return -1;
        }
        return 0;
}

/* wait_end(sock): until the supervisor hangs up; Ctrl-C ends us, and the ports with us. */
static void wait_end(int sock)
{
        static struct frame f;
        while (frame_recv(sock, &f, false) > 0) {
                _cleanup_free_ char *words = NULL;
                if (f.type == MSG_NOTICE && cur_lstr(&f.body, 4096, &words) == 0)
                        ended_notice(false, words);
                frame_release(&f);
        }
}

static int run(int argc, char **argv)
{
        bool is_detached = false, is_json = false;
        const struct arg flags[] = {
                ARG_BOOL('d', "detach", &is_detached,
                         "return at once; it lasts until the box ends"),
                ARG_BOOL(0, "json", &is_json, "with -d: where, as JSON"),
                ARG_END,
        };
        struct args a = args_of(&cmd_forward, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0}, specs = {0};
        struct err err = {0};
        if (args_only(&a, &words, 2, 33) < 0)
                return a.exit_code;
        for (size_t i = 1; i < words.n; i++) {
                _cleanup_free_ char *to = NULL;
                if (spec(words.v[i], &to, &err) < 0)
                        return args_bad(&a, "%s", err.text);
                strs_add(&specs, to);
        }
        if (is_json && !is_detached)
                return args_bad(&a, "--json goes with -d, which returns at once");
        _cleanup_buf_ struct buf out = {0};
        struct json j = json_of(&out);
        json_open(&j, NULL, '[');
        _cleanup_boxarg_ struct boxarg b;
        if (boxarg_find(&b, words.v[0], &err) < 0)
                return out_error(&err);
        _cleanup_close_ int sock = session_connect(&b.store, b.id, &err);
        if (sock < 0 || forward(sock, &specs, !is_detached, is_json ? &j : NULL, &err) < 0)
                return out_error(&err);
        json_close(&j, ']');
        if (is_json)
                return out_json("published", &out);
        if (is_detached)
                return EXIT_OK;
        out_say("forwarding until Ctrl-C or the end of box %s", b.id);
        wait_end(sock);
        out_say("box %s has ended", b.id);
        return EXIT_OK;
}

const struct cmd cmd_forward = {
        .name = "forward",
        .group = CMD_BOX,
        .args = "BOX PORT[:HOSTPORT]... [-d] [--json]",
        .summary = "reach a server in a box from the host",
        .help = "Makes PORT of BOX reachable at HOSTPORT of 127.0.0.1 (the same number if none is "
                "given; a free one when that is taken, or for 0), prints where, and goes on until "
                "Ctrl-C. Only programs on this machine reach it. Whatever speaks over TCP passes: "
                "HTTP, HTTP/2, WebSocket.\n"
                "\n"
                "Examples:\n"
                "  ostiary forward amber-3f2a 3000\n"
                "  ostiary forward -d amber-3f2a 5432:15432\n",
        .run = run,
};
