/* cmd_audit.c - `ostiary audit verify`: is the log of a box what its writer wrote? Reads, and
 * changes nothing. */
#include "audit/verify.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/json.h"
#include "cli/args.h"
#include "cli/boxarg.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "session/settle.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_json(const char *id, const struct audit_verdict *v)
{
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        json_open(&j, NULL, '{');
        json_str(&j, "box", id);
        json_bool(&j, "log", v->is_there);
        json_bool(&j, "whole", v->is_whole);
        json_u64(&j, "records", v->records);
        json_u64(&j, "torn", v->torn_n);
        json_str(&j, "last", v->records ? v->hash : NULL);
        json_str(&j, "fault", v->is_whole ? NULL : v->fault);
        json_u64(&j, "line", v->line);
        json_close(&j, '}');
        out_json("audit", &b);
}

static void print_text(const char *id, const struct audit_verdict *v)
{
        if (!v->is_there)
                printf("box %s has no log\n", id);
        else if (!v->is_whole)
                printf("broken: %s\n", v->fault);
        else
                printf("%" PRIu64 " records of box %s, each holding the one before; the last is "
                       "the one that the head tells of\n",
                       v->records, id);
        if (v->torn_n)
                printf("%" PRIu64 " line%s cut off when the writer was killed, and marked so\n",
                       v->torn_n, v->torn_n == 1 ? " was" : "s were");
        if (v->records)
                printf("last: %s\n", v->hash);
}

static int run(int argc, char **argv)
{
        bool is_json = false;
        const struct arg flags[] = {
                ARG_BOOL(0, "json", &is_json, "as one JSON object"),
                ARG_END,
        };
        struct args a = args_of(&cmd_audit, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 1, 2) < 0)
                return a.exit_code;
        if (strcmp(words.v[0], "verify") != 0)
                return args_bad(&a, "\"%s\" is nothing that can be done with a log; verify is",
                                words.v[0]);
        struct err err = {0};
        _cleanup_boxarg_ struct boxarg b;
        struct box_meta m = {0};
        if (boxarg_find(&b, words.n > 1 ? words.v[1] : NULL, &err) < 0 ||
            boxarg_meta(&b, &m, &err) < 0)
                return out_error(&err);
        bool is_living = box_state_is_alive(m.state);
        box_meta_free(&m);
        _cleanup_close_ int dir = store_box_dir(&b.store, b.id, &err);
        session_settle(&b.store, b.id);
        struct audit_verdict v;
        if (dir < 0 || audit_verify(dir, is_living, &v, &err) < 0)
                return out_error(&err);
        if (is_json)
                print_json(b.id, &v);
        else
                print_text(b.id, &v);
        return v.is_whole ? EXIT_OK : EXIT_NEGATIVE;
}

const struct cmd cmd_audit = {
        .name = "audit",
        .group = CMD_RECORD,
        .args = "verify [BOX] [--json]",
        .summary = "say whether a box's log was changed or cut",
        .help = "Every line of a box's log (ostiary log) holds the hash of the line before it, and "
                "where the log ends is kept outside of it. `audit verify` reads both for BOX (the "
                "newest box if none is named) and says where a line was changed, added or removed, "
                "also at the end; then it ends with status 1. It cannot find a change by somebody "
                "who wrote log and head anew: keep the hash that it prints somewhere else for "
                "that.\n"
                "\n"
                "What is recorded is chosen with --audit of run, create and shell: off, default, "
                "files or all.\n"
                "\n"
                "Example:\n"
                "  ostiary audit verify night\n",
        .run = run,
};
