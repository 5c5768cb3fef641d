/* cmd_history.c - `ostiary history`: what was applied and taken back, newest first. Reads only. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/envelope.h"
#include "cli/out.h"
#include "cli/undo_find.h"
#include "session/store.h"
#include "workspace/undo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct shown {
        const char *dir; /* only records of this directory, one above or one below; or NULL */
        struct out_table table;
        struct json *json;
        size_t n;
};

static const char *state_of(const struct undo_record *r)
{
        if (r->is_undone)
                return "undone";
        if (!r->is_done)
                return strcmp(r->what, "live") == 0 ? "open" : "interrupted";
        return r->undone_by ? "partly undone" : "";
}

static void show_json(struct shown *s, const struct undo_record *r)
{
        struct json *j = s->json;
        json_open(j, NULL, '{');
        json_u64(j, "number", r->n);
        envelope_time(j, "when", r->when_us);
        json_str(j, "what", r->what);
        json_str(j, "box", *r->box ? r->box : NULL);
        json_u64(j, "files", r->entries_n);
        json_str(j, "root", r->root);
        json_bool(j, "done", r->is_done);
        json_bool(j, "undone", r->is_undone);
        if (r->undone_by)
                json_u64(j, "undone_by", r->undone_by);
        if (r->of)
                json_u64(j, "of", r->of);
        json_close(j, '}');
}

static int show(void *ctx, const struct undo_record *r)
{
        struct shown *s = ctx;
        if (s->dir && !str_is_beneath(s->dir, r->root) && !str_is_beneath(r->root, s->dir))
                return 0;
        s->n++;
        if (s->json) {
                show_json(s, r);
                return 0;
        }
        char number[24], files[24], when[32] = "?", what[48];
        struct tm tm;
        time_t t = (time_t)(r->when_us / 1000000);
        if (localtime_r(&t, &tm))
                strftime(when, sizeof when, "%Y-%m-%d %H:%M", &tm);
        snprintf(number, sizeof number, "%" PRIu64, r->n);
        snprintf(files, sizeof files, "%zu", r->entries_n);
        if (r->of)
                snprintf(what, sizeof what, "%.8s %" PRIu64, r->what, r->of);
        else
                snprintf(what, sizeof what, "%.20s", r->what);
        _cleanup_free_ char *path = out_path(r->root), *quoted = str_quote(path);
        _cleanup_free_ char *box = str_quote(r->box), *kind = str_quote(what);
        if (s->n == 1)
                out_row(&s->table, "N", "WHEN", "WHAT", "BOX", "FILES", "STATE", "DIRECTORY");
        out_row(&s->table, number, when, kind, *box ? box : "-", files,
                *state_of(r) ? state_of(r) : "-", quoted);
        return 0;
}

static int run(int argc, char **argv)
{
        bool is_json = false;
        const struct arg flags[] = {ARG_BOOL(0, "json", &is_json, "as JSON"), ARG_END};
        struct args a = args_of(&cmd_history, flags, argc, argv);
        struct err err = {0};
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 0, 1) < 0)
                return a.exit_code;
        struct store s;
        if (store_open(&s, &err) < 0)
                return out_error(&err);
        _cleanup_close_ int undo_fd = undo_store_open(s.state, &err);
        _cleanup_free_ char *dir = words.n && undo_fd >= 0 ? undo_path(words.v[0], &err) : NULL;
        store_free(&s);
        if (undo_fd < 0 || (words.n && !dir))
                return out_error(&err);
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        struct shown shown = {.dir = dir, .table = {.cols = 7}, .json = is_json ? &j : NULL};
        if (is_json)
                json_open(&j, NULL, '[');
        if (undo_list(undo_fd, true, show, &shown, &err) < 0)
                return out_error(&err);
        if (is_json) {
                json_close(&j, ']');
                return out_json("history", &b);
        }
        if (shown.n)
                out_table_print(&shown.table);
        else
                out_say("nothing was applied%s", dir ? " there" : " yet");
        return EXIT_OK;
}

const struct cmd cmd_history = {
        .name = "history",
        .group = CMD_RECORD,
        .args = "[DIR] [--json]",
        .summary = "list what was applied and taken back",
        .help = "Lists the records that `ostiary undo` can take back, newest first: what was done, "
                "when, from which box, how many files, and in which directory. \"interrupted\" "
                "means that it was killed or stopped by a full disk: apply again, or undo it.\n"
                "\n"
                "Example:\n"
                "  ostiary history .\n",
        .run = run,
};
