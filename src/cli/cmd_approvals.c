/* cmd_approvals.c - `ostiary approvals`, `approve` and `refuse`: requests that wait for a person's
 * answer, from any terminal. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/boxarg.h"
#include "cli/boxrules.h"
#include "cli/cmd.h"
#include "cli/envelope.h"
#include "cli/out.h"
#include "session/start.h"
#include "wire/msg.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct waiting {
        struct out_table *table; /* or */
        struct json *json;
        size_t n;
};

static void show(struct waiting *w, const char *box, uint64_t id, uint32_t left, const char *what,
                 const char *rule, const char *line, const char *manager)
{
        _cleanup_free_ char *name = str_fmt("%s/%" PRIu64, box, id);
        w->n++;
        if (w->json) {
                json_open(w->json, NULL, '{');
                json_str(w->json, "id", name);
                json_str(w->json, "box", box);
                json_u64(w->json, "seconds_left", left);
                json_str(w->json, "what", what);
                json_str(w->json, "rule", *rule ? rule : NULL);
                json_str(w->json, "allow", *line ? line : NULL);
                json_bool(w->json, "every_box", *manager != 0);
                json_close(w->json, '}');
                return;
        }
        char age[16];
        if (w->n == 1)
                out_row(w->table, "ID", "LEFT", "WHAT");
        _cleanup_free_ char *quoted = str_quote(what);
        _cleanup_free_ char *shown =
                str_fmt("%s%s", quoted, *manager ? " (--always: in every box)" : "");
        out_row(w->table, name, out_age((long)left, age), shown);
}

static int list_box(const struct store *store, const char *id, struct waiting *w, struct err *err)
{
        static struct frame f;
        _cleanup_close_ int sock = session_connect(store, id, err);
        if (sock < 0)
                return -1;
        if (boxrules_ask(sock, MSG_APPROVALS, NULL, MSG_APPROVALS_ARE, &f, err) < 0)
                return -1;
        uint32_t n = 0;
        cur_u32(&f.body, &n);
        for (uint32_t i = 0; i < n; i++) {
                uint64_t q;
                uint32_t left;
                _cleanup_free_ char *what = NULL, *rule = NULL, *line = NULL, *manager = NULL;
                if (cur_u64(&f.body, &q) < 0 || cur_u32(&f.body, &left) < 0 ||
                    cur_lstr(&f.body, 1 << 16, &what) < 0 ||
                    cur_lstr(&f.body, 1 << 16, &rule) < 0 ||
                    cur_lstr(&f.body, 1 << 16, &line) < 0 ||
                    cur_lstr(&f.body, 1 << 16, &manager) < 0)
                        break;
                show(w, id, q, left, what, rule, line, manager);
        }
        frame_release(&f);
        return 0;
}

static int list_all(const struct store *store, struct waiting *w, struct err *err)
{
        struct box_meta *all;
        size_t n;
        if (store_list(store, &all, &n, err) < 0)
                return -1;
        for (size_t i = 0; i < n; i++) {
                struct err unheard = {0}; /* a box that ends just now asks nothing */
                if (all[i].state == BOX_RUNNING || all[i].state == BOX_PAUSED)
                        list_box(store, all[i].id, w, &unheard);
        }
        store_list_free(all, n);
        return 0;
}

static int approvals(int argc, char **argv)
{
        bool is_json = false;
        const struct arg flags[] = {
                ARG_BOOL(0, "json", &is_json, "as JSON"),
                ARG_END,
        };
        struct args a = args_of(&cmd_approvals, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 0, 1) < 0)
                return a.exit_code;
        struct err err = {0};
        struct out_table t = {.cols = 3};
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        struct waiting w = {.table = &t, .json = is_json ? &j : NULL};
        if (is_json)
                json_open(&j, NULL, '[');
        int got;
        struct boxarg box = {0};
        if (words.n) {
                got = boxarg_find(&box, words.v[0], &err);
                got = got < 0 ? -1 : list_box(&box.store, box.id, &w, &err);
        } else {
                got = store_open(&box.store, &err);
                got = got < 0 ? -1 : list_all(&box.store, &w, &err);
        }
        boxarg_free(&box);
        if (got < 0)
                return out_error(&err);
        if (is_json) {
                json_close(&j, ']');
                return out_json("approvals", &b);
        }
        if (w.n)
                out_table_print(&t);
        else
                out_say("nothing waits for an answer");
        return EXIT_OK;
}

/* answer(cmd, is_yes, ...): ID is BOX/NUMBER, as approvals and the box's notice write it. */
static int answer(const struct cmd *cmd, bool is_yes, int argc, char **argv)
{
        static struct frame f;
        bool is_kept = false, is_json = false;
        const struct arg keep[] = {
                ARG_BOOL(0, "always", &is_kept, "add the rule too, so that it is not asked again"),
                ARG_BOOL(0, "json", &is_json, "as JSON"),
                ARG_END,
        };
        const struct arg none[] = {ARG_BOOL(0, "json", &is_json, "as JSON"), ARG_END};
        struct args a = args_of(cmd, is_yes ? keep : none, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 1, 1) < 0)
                return a.exit_code;
        char *slash = strrchr(words.v[0], '/');
        uint64_t id;
        if (!slash || str_u64(slash + 1, &id) < 0)
                return args_bad(&a, "an ID looks like amber-3f2a/1 (ostiary approvals lists them)");
        *slash = 0;
        struct err err = {0};
        _cleanup_boxarg_ struct boxarg b;
        if (boxarg_find(&b, words.v[0], &err) < 0)
                return out_error(&err);
        _cleanup_close_ int sock = session_connect(&b.store, b.id, &err);
        if (sock < 0)
                return out_error(&err);
        _cleanup_buf_ struct buf body = {0};
        buf_put_u64(&body, id);
        buf_put_u32(&body, is_yes);
        buf_put_u32(&body, is_kept);
        if (boxrules_ask(sock, MSG_APPROVE, &body, MSG_DONE, &f, &err) < 0)
                return out_error(&err);
        frame_release(&f);
        _cleanup_free_ char *name = str_fmt("%s/%" PRIu64, b.id, id);
        if (is_json)
                return envelope_words("answer", "id", name, "box", b.id, "answer",
                                      is_yes ? "approved" : "refused", NULL);
        puts(name);
        return EXIT_OK;
}

static int approve(int argc, char **argv)
{
        return answer(&cmd_approve, true, argc, argv);
}

static int refuse(int argc, char **argv)
{
        return answer(&cmd_refuse, false, argc, argv);
}

const struct cmd cmd_approvals = {
        .name = "approvals",
        .group = CMD_RULE,
        .args = "[BOX] [--json]",
        .summary = "requests that wait for your answer",
        .help = "A request that an ask rule speaks of waits, and so does one that no rule speaks "
                "of "
                "at level easy while you are attached. When nobody answers in time it is refused.\n"
                "\n"
                "Example:\n"
                "  ostiary approvals\n"
                "  ostiary approve amber-3f2a/1\n",
        .run = approvals,
};

const struct cmd cmd_approve = {
        .name = "approve",
        .group = CMD_RULE,
        .args = "ID [--always] [--json]",
        .summary = "let a waiting request pass",
        .help = "ID is what `ostiary approvals` lists. With --always the box also gets the rule "
                "that "
                "allows it from now on; for a package manager, where the list says so, every box "
                "does.\n"
                "\n"
                "Example:\n"
                "  ostiary approve amber-3f2a/1\n",
        .run = approve,
};

const struct cmd cmd_refuse = {
        .name = "refuse",
        .group = CMD_RULE,
        .args = "ID [--json]",
        .summary = "refuse a waiting request",
        .help = "ID is what `ostiary approvals` lists.\n"
                "\n"
                "Example:\n"
                "  ostiary refuse amber-3f2a/1\n",
        .run = refuse,
};
