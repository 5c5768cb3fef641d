/* cmd_ps.c - `ostiary ps`: the boxes of this user. Truth about life comes from the store's locks.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/boxjson.h"
#include "cli/boxpick.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "session/live.h"
#include "session/pending.h"
#include "session/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static bool is_alive(const struct box_meta *m)
{
        return box_state_is_alive(m->state);
}

/* state(m): "running", "exited 3", "dead", with what it holds. */
static char *state(const struct store *store, const struct box_meta *m)
{
        const char *more = !is_alive(m) && pending_holds(store, m) ? ", changes" : "";
        if (m->state == BOX_EXITED)
                return str_fmt("exited %d%s", m->exit_code, more);
        return str_fmt("%s%s", box_state_name(m->state), more);
}

/* place(s, m): the workspace; of a live one also what was taken away from it. */
static char *place(const struct store *s, const struct box_meta *m)
{
        _cleanup_free_ char *path = out_path(m->workspace);
        uint64_t taken = live_quarantined(s, m->id);
        _cleanup_free_ char *where = taken ? str_fmt("%s (%s%" PRIu64 " in quarantine)", path,
                                                     m->is_live ? "live, " : "", taken)
                                           : str_fmt("%s%s", path, m->is_live ? " (live)" : "");
        return str_quote(where);
}

static void print_table(const struct store *store, const struct box_meta *all, size_t n,
                        bool is_all)
{
        struct out_table t = {.cols = 6};
        time_t now = time(NULL);
        size_t hidden = 0;
        out_row(&t, "BOX", "STATE", "AGE", "PROFILE", "WORKSPACE", "COMMAND");
        for (size_t i = 0; i < n; i++) {
                const struct box_meta *m = &all[i];
                if (!is_all && !is_alive(m)) {
                        hidden++;
                        continue;
                }
                char age[16];
                _cleanup_free_ char *where = place(store, m);
                _cleanup_free_ char *command = str_quote(m->command);
                _cleanup_free_ char *s = state(store, m);
                out_row(&t, m->id, s, out_age((long)(now - m->created_us / 1000000), age),
                        *m->profile ? m->profile : "-", *where ? where : "-",
                        *command ? command : "(waits)");
        }
        out_table_print(&t);
        if (hidden)
                out_say("%zu more %s ended and %s kept (ostiary ps -a)", hidden,
                        hidden == 1 ? "box" : "boxes", hidden == 1 ? "is" : "are");
}

static int print_json(const struct store *store, const struct box_meta *all, size_t n, bool is_all)
{
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        json_open(&j, NULL, '[');
        for (size_t i = 0; i < n; i++) {
                const struct box_meta *m = &all[i];
                if (!is_all && !is_alive(m))
                        continue;
                boxjson_put(&j, store, m);
        }
        json_close(&j, ']');
        return out_json("boxes", &b);
}

/* keep_fitting(s, pick, all, &n): only those that the filters speak of, in place. */
static void keep_fitting(const struct store *s, const struct boxpick *pick, struct box_meta *all,
                         size_t *n)
{
        size_t kept = 0;
        for (size_t i = 0; i < *n; i++) {
                if (boxpick_fits(pick, s, &all[i]))
                        all[kept++] = all[i];
                else
                        box_meta_free(&all[i]);
        }
        *n = kept;
}

static int run(int argc, char **argv)
{
        bool is_all = false, is_json = false, is_short = false;
        _cleanup_boxpick_ struct boxpick pick = {0};
        const struct arg flags[] = {
                ARG_BOOL('a', "all", &is_all, "also boxes that have ended"),
                BOXPICK_FILTER(&pick),
                ARG_BOOL('q', "quiet", &is_short, "names only"),
                ARG_BOOL(0, "json", &is_json, "as JSON"),
                ARG_END,
        };
        struct args a = args_of(&cmd_ps, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 0, 0) < 0)
                return a.exit_code;
        if (boxpick_check(&pick, &a) < 0)
                return a.exit_code;
        /* Who asks for a state or an age means every box that has it. */
        is_all = is_all || pick.filters.n;
        if (is_json && is_short)
                return args_bad(&a, "--quiet and --json exclude each other");
        struct err err = {0};
        struct store s;
        struct box_meta *all = NULL;
        size_t n = 0;
        if (store_open(&s, &err) < 0)
                return out_error(&err);
        int code = EXIT_OK;
        int got = store_list(&s, &all, &n, &err);
        if (got == 0)
                keep_fitting(&s, &pick, all, &n);
        if (got < 0)
                code = out_error(&err);
        else if (is_json)
                code = print_json(&s, all, n, is_all);
        else if (!is_short)
                print_table(&s, all, n, is_all);
        for (size_t i = 0; is_short && i < n; i++)
                if (is_all || is_alive(&all[i]))
                        puts(all[i].id);
        store_list_free(all, n);
        store_free(&s);
        return code;
}

const struct cmd cmd_ps = {
        .name = "ps",
        .group = CMD_FIRST,
        .args = "[-a] [--filter KEY=VALUE] [--json]",
        .summary = "list boxes",
        .help = "Lists the boxes that run; with -a also those that have ended and were kept, "
                "because "
                "they hold changes or were asked for. \"dead\" is a box whose supervisor was "
                "killed; "
                "`ostiary gc` removes it if it holds nothing.\n"
                "\n"
                "Example:\n"
                "  ostiary ps -a\n"
                "  ostiary ps --filter state=exited --filter older=7d\n",
        .run = run,
};
