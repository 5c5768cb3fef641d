/* cmd_ports.c - `ostiary ports`: which ports programs in a box listen on, and where they can be
 * reached on the host. The first is read from the kernel's own table of the box's network, so a
 * program in the box cannot lie about it. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/fdio.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/boxarg.h"
#include "cli/cmd.h"
#include "cli/ended.h"
#include "cli/out.h"
#include "session/start.h"
#include "wire/frame.h"
#include "wire/msg.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORTS_MAX = 512, TABLE_MAX = 16 << 20, LISTENING = 0x0a };

struct row {
        uint32_t port;
        char in_box[INET6_ADDRSTRLEN + 2]; /* "" when nothing listens */
        struct strs at;                    /* where it is published */
};

struct rows {
        struct row v[PORTS_MAX];
        size_t n;
};

static struct row *row_add(struct rows *r, uint32_t port)
{
        if (r->n == PORTS_MAX)
                return NULL;
        struct row *at = &r->v[r->n++];
        *at = (struct row){.port = port};
        return at;
}

/* listening(line, row): one line of /proc/PID/net/tcp or tcp6. */
static bool listening(const char *line, bool is_v6, struct row *to)
{
        char addr[33];
        unsigned port, state;
        if (sscanf(line, " %*u: %32[0-9A-F]:%4x %*32[0-9A-F]:%*4x %2x", addr, &port, &state) != 3 ||
            state != LISTENING || strlen(addr) != (is_v6 ? 32 : 8))
                return false;
        uint32_t words[4] = {0};
        for (int i = 0; i < (is_v6 ? 4 : 1); i++)
                sscanf(addr + 8 * i, "%8x", &words[i]); /* each in the machine's own order */
        to->port = port;
        inet_ntop(is_v6 ? AF_INET6 : AF_INET, words, to->in_box, sizeof to->in_box);
        return true;
}

static void read_table(pid_t pid, const char *name, struct rows *rows)
{
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/net/%s", pid, name);
        _cleanup_free_ char *text = fdio_read_file(AT_FDCWD, path, TABLE_MAX, NULL);
        for (char *line = text, *end; line && *line; line = end) {
                struct row r = {.port = 0};
                end = strchrnul(line, '\n');
                if (*end)
                        *end++ = 0;
                if (!listening(line, strcmp(name, "tcp6") == 0, &r))
                        continue;
                struct row *to = row_add(rows, r.port);
                if (to)
                        *to = r;
        }
}

/* mark(rows, port, at): where it is published; told with the first listener of the port. */
static void mark(struct rows *rows, uint32_t port, const char *at)
{
        struct row *r = NULL;
        for (size_t i = 0; i < rows->n && !r; i++)
                if (rows->v[i].port == port)
                        r = &rows->v[i];
        if (!r)
                r = row_add(rows, port);
        if (r)
                strs_add(&r->at, at);
}

static int ask(int sock, struct rows *rows, struct err *err)
{
        static struct frame f;
        uint32_t pid, n, port;
        if (frame_send(sock, MSG_PORTS, NULL, NULL, 0) < 0)
                return err_sys(err, "ask the box's supervisor");
        do {
                if (frame_recv(sock, &f, false) <= 0)
                        return err_set(err, E_SYSTEM, "the box ended");
                if (f.type == MSG_FAILED) {
                        ended_failure(&f.body, err);
                        return -1;
                }
        } while (f.type != MSG_PORTS_ARE);
        if (cur_u32(&f.body, &pid) < 0 || cur_u32(&f.body, &n) < 0)
                return err_set(err, E_PROTO, "the supervisor's answer makes no sense");
        read_table((pid_t)pid, "tcp", rows);
        read_table((pid_t)pid, "tcp6", rows);
        for (uint32_t i = 0; i < n; i++) {
                _cleanup_free_ char *at = NULL;
                if (cur_lstr(&f.body, 64, &at) < 0 || cur_u32(&f.body, &port) < 0)
                        break;
                mark(rows, port, at);
        }
        return 0;
}

static int by_port(const void *a, const void *b)
{
        const struct row *x = a, *y = b;
        return x->port < y->port ? -1 : x->port > y->port;
}

static int print_json(const struct rows *rows)
{
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        json_open(&j, NULL, '[');
        for (size_t i = 0; i < rows->n; i++) {
                const struct row *r = &rows->v[i];
                json_open(&j, NULL, '{');
                json_u64(&j, "port", r->port);
                json_str(&j, "listens", r->in_box[0] ? r->in_box : NULL);
                json_open(&j, "at", '[');
                for (size_t k = 0; k < r->at.n; k++)
                        json_str(&j, NULL, r->at.v[k]);
                json_close(&j, ']');
                json_close(&j, '}');
        }
        json_close(&j, ']');
        return out_json("ports", &b);
}

static int print_table(const struct rows *rows, const char *id)
{
        struct out_table t = {.cols = 3};
        out_row(&t, "PORT", "LISTENS ON", "ON THE HOST");
        for (size_t i = 0; i < rows->n; i++) {
                const struct row *r = &rows->v[i];
                char port[8];
                _cleanup_buf_ struct buf at = {0};
                for (size_t k = 0; k < r->at.n; k++)
                        buf_put_fmt(&at, "%s%s", k ? ", " : "", r->at.v[k]);
                if (!r->at.n)
                        buf_put_fmt(&at, "- (ostiary forward %s %u)", id, r->port);
                snprintf(port, sizeof port, "%u", r->port);
                out_row(&t, port, r->in_box[0] ? r->in_box : "nothing yet", buf_cstr(&at));
        }
        out_table_print(&t);
        return EXIT_OK;
}

static int run(int argc, char **argv)
{
        static struct rows rows;
        bool is_json = false;
        const struct arg flags[] = {ARG_BOOL(0, "json", &is_json, "as JSON"), ARG_END};
        struct args a = args_of(&cmd_ports, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        struct err err = {0};
        if (args_only(&a, &words, 0, 1) < 0)
                return a.exit_code;
        _cleanup_boxarg_ struct boxarg b;
        if (boxarg_find(&b, words.n ? words.v[0] : NULL, &err) < 0)
                return out_error(&err);
        _cleanup_close_ int sock = session_connect(&b.store, b.id, &err);
        if (sock < 0 || ask(sock, &rows, &err) < 0)
                return out_error(&err);
        qsort(rows.v, rows.n, sizeof *rows.v, by_port);
        return is_json ? print_json(&rows) : print_table(&rows, b.id);
}

const struct cmd cmd_ports = {
        .name = "ports",
        .group = CMD_BOX,
        .args = "[BOX] [--json]",
        .summary = "ports that a box listens on, and where they are",
        .help = "Lists the TCP ports that programs in BOX (the newest box if none is named) listen "
                "on, and where each can be reached on the host: by --publish or ostiary forward.\n"
                "\n"
                "Example:\n"
                "  ostiary ports amber-3f2a\n",
        .run = run,
};
