/* cmd_probe.c - `ostiary probe`: start a box and attack its walls from inside.
 *
 * This half lays out what the attempts look for (a canary, listeners, a descriptor, a variable),
 * starts the box with this very program in it, and judges the answers. A wall that does not answer
 * is open. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/fdio.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/ended.h"
#include "cli/out.h"
#include "cli/probe.h"
#include "cli/probe_bait.h"
#include "session/start.h"
#include "session/toolchain.h"
#include "wire/frame.h"
#include "wire/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WALLS_MAX = 64, SAID_MAX = 1 << 16 };

struct verdicts {
        bool has[WALLS_MAX], is_open[WALLS_MAX];
        char words[WALLS_MAX][160];
        bool is_workspace_good;
};

/* listen_to(sock, said, err): collect what the inner half prints until it ends. */
static int listen_to(int sock, struct buf *said, struct err *err)
{
        static struct frame f;
        for (;;) {
                int r = frame_recv(sock, &f, false);
                if (r <= 0)
                        return err_set(err, E_SYSTEM, "the box's supervisor ended without a word");
                uint32_t type = f.type;
                if (type == MSG_FAILED)
                        ended_failure(&f.body, err);
                else if (type == MSG_STDOUT && said->len < SAID_MAX)
                        buf_put(said, f.body.p, f.body.left);
                else if (type == MSG_STDERR)
                        fdio_write_all(STDERR_FILENO, f.body.p, f.body.left);
                frame_release(&f);
                if (type == MSG_FAILED)
                        return -1;
                if (type == MSG_ENDED)
                        return 0;
        }
}

static void judge(struct buf *said, struct verdicts *v)
{
        _cleanup_free_ char *text = str_dup(buf_cstr(said));
        for (char *at = text, *line; (line = strsep(&at, "\n"));) {
                char *name = strsep(&line, "\t");
                char *state = strsep(&line, "\t");
                uint64_t i;
                if (!name || !state || !line)
                        continue;
                if (strcmp(name, "workspace") == 0)
                        v->is_workspace_good = strcmp(state, "good") == 0;
                if (str_u64(name, &i) < 0 || i >= WALLS_MAX || v->has[i])
                        continue;
                _cleanup_free_ char *shown = str_quote(line);
                v->has[i] = true;
                v->is_open[i] = strcmp(state, "shut") != 0;
                snprintf(v->words[i], sizeof v->words[i], "%s", shown);
        }
}

static void one(struct json *j, bool is_json, const char *name, bool is_open, const char *words)
{
        if (is_json) {
                json_open(j, NULL, '{');
                json_str(j, "wall", name);
                json_bool(j, "open", is_open);
                json_str(j, "words", words);
                json_close(j, '}');
        } else {
                printf("%s  %-38s  %s\n", out_mark(is_open ? OUT_BAD : OUT_GOOD), name, words);
        }
}

static int report(const struct verdicts *v, bool is_host_same, bool is_json)
{
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        size_t open_n = 0, n = 0;
        json_open(&j, NULL, '[');
        one(&j, is_json, "edit the project inside", !v->is_workspace_good,
            v->is_workspace_good ? "works" : "does not work");
        one(&j, is_json, "change the project on the host", !is_host_same,
            is_host_same ? "it is as it was" : "the host's file was changed");
        open_n += !v->is_workspace_good + !is_host_same;
        for (; probe_walls[n].name; n++) {
                bool is_open = !v->has[n] || v->is_open[n];
                open_n += is_open;
                one(&j, is_json, probe_walls[n].name, is_open,
                    v->has[n] ? v->words[n] : "no answer came");
        }
        json_close(&j, ']');
        if (is_json)
                out_json("probe", &b);
        else if (open_n)
                printf("\n%zu of %zu are OPEN. Do not trust a box on this machine.\n", open_n,
                       n + 2);
        else
                printf("\nAll %zu hold.\n", n + 2);
        return open_n ? EXIT_NEGATIVE : EXIT_OK;
}

static int probe(bool is_json, struct err *err)
{
        struct session_opts opts = {.is_removed = true};
        struct store store;
        struct probe_bait bait;
        _cleanup_free_ char *id = NULL;
        _cleanup_buf_ struct buf said = {0};
        static struct verdicts v;
        int sock = -1, code = -1;
        if (store_open(&store, err) < 0)
                return -1;
        if (probe_bait_lay(&bait, &store, err) == 0) {
                opts.workspace = str_dup(bait.workspace);
                strs_add(&opts.argv, bait.exe);
                strs_add(&opts.argv, "probe-inside");
                for (size_t i = 0; i < bait.args.n; i++)
                        strs_add(&opts.argv, bait.args.v[i]);
                if (!toolchain_is_visible(bait.exe))
                        session_opts_bind(&opts, bait.exe, "ro");
                out_wait("attacking the box");
                if (session_run(&opts, &store, &id, &sock, err) == 0 &&
                    listen_to(sock, &said, err) == 0) {
                        out_wait(NULL);
                        judge(&said, &v);
                        code = report(&v, probe_bait_is_whole(&bait), is_json);
                }
                out_wait(NULL);
        }
        close_fd(&sock);
        probe_bait_clear(&bait);
        session_opts_free(&opts);
        store_free(&store);
        return code;
}

static int run(int argc, char **argv)
{
        bool is_json = false;
        const struct arg flags[] = {ARG_BOOL(0, "json", &is_json, "as JSON"), ARG_END};
        struct args a = args_of(&cmd_probe, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 0, 0) < 0)
                return a.exit_code;
        struct err err = {0};
        int code = probe(is_json, &err);
        return code < 0 ? out_error(&err) : code;
}

const struct cmd cmd_probe = {
        .name = "probe",
        .group = CMD_RECORD,
        .args = "[--json]",
        .summary = "start a box and attack its walls from inside",
        .help = "Starts a box on an empty project, runs this program in it and tries to get out: "
                "files, "
                "processes, sockets, the network, devices, system calls. One line per wall; the "
                "exit code "
                "is 1 when one is open. Every attempt is harmless even where it succeeds.\n"
                "\n"
                "Example:\n"
                "  ostiary probe\n",
        .run = run,
};
