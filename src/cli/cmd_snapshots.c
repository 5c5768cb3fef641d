/* cmd_snapshots.c - `ostiary snapshots`: list them with sizes that add up, and remove some. */
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
#include "session/snapshots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct list {
        struct snapshot *v;
        size_t n;
        struct snapshot_layer *layers;
        size_t layers_n;
};

static void print_table(const struct list *l)
{
        struct out_table t = {.cols = 7};
        time_t now = time(NULL);
        out_row(&t, "SNAPSHOT", "BOX", "AGE", "LAYERS", "SIZE", "OWN", "WORKSPACE");
        for (size_t i = 0; i < l->n; i++) {
                const struct snapshot *s = &l->v[i];
                char age[16], layers[24], size[16], own[16];
                uint64_t alone, all = snapshots_size(&s->stack, l->layers, l->layers_n, &alone);
                _cleanup_free_ char *path = out_path(s->workspace), *place = str_quote(path);
                snprintf(layers, sizeof layers, "%zu", s->stack.n);
                out_row(&t, s->name, *s->box ? s->box : "(damaged)",
                        out_age((long)(now - s->made), age), layers, str_size_words(all, size),
                        str_size_words(alone, own), *place ? place : "-");
        }
        out_table_print(&t);
}

static int print_json(const struct list *l)
{
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        json_open(&j, NULL, '[');
        for (size_t i = 0; i < l->n; i++) {
                const struct snapshot *s = &l->v[i];
                uint64_t own, all = snapshots_size(&s->stack, l->layers, l->layers_n, &own);
                json_open(&j, NULL, '{');
                json_str(&j, "name", s->name);
                json_str(&j, "box", s->box);
                envelope_time(&j, "made", (int64_t)s->made * 1000000);
                json_str(&j, "profile", s->profile);
                json_str(&j, "workspace", s->workspace);
                json_bool(&j, "live", s->is_live);
                json_u64(&j, "bytes", all);
                json_u64(&j, "own_bytes", own);
                json_u64(&j, "shared_bytes", all - own);
                json_open(&j, "layers", '[');
                for (size_t k = 0; k < s->stack.n; k++)
                        json_str(&j, NULL, s->stack.v[k].id);
                json_close(&j, ']');
                json_close(&j, '}');
        }
        json_close(&j, ']');
        return out_json("snapshots", &b);
}

static int list(bool is_json, bool is_short)
{
        struct err err = {0};
        struct store s;
        struct list l = {0};
        int code = EXIT_OK;
        if (store_open(&s, &err) < 0)
                return out_error(&err);
        if (!is_short)
                out_wait("adding up sizes");
        int r = snapshots_list(&s, &l.v, &l.n, &err);
        if (r == 0 && !is_short)
                r = snapshots_layers(&s, &l.layers, &l.layers_n, &err);
        out_wait(NULL);
        if (r < 0)
                code = out_error(&err);
        else if (is_json)
                code = print_json(&l);
        else if (!is_short)
                print_table(&l);
        for (size_t i = 0; is_short && i < l.n; i++)
                puts(l.v[i].name);
        snapshots_list_free(l.v, l.n);
        free(l.layers);
        store_free(&s);
        return code;
}

static int remove_all(const struct strs *names, bool is_json)
{
        struct err err = {0};
        struct store s;
        int code = EXIT_OK;
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        if (store_open(&s, &err) < 0)
                return out_error(&err);
        json_open(&j, NULL, '[');
        for (size_t i = 0; i < names->n; i++) {
                err = (struct err){0};
                if (snapshots_remove(&s, names->v[i], &err) < 0)
                        code = out_error(&err);
                else if (is_json)
                        json_str(&j, NULL, names->v[i]);
                else
                        puts(names->v[i]);
        }
        json_close(&j, ']');
        if (is_json)
                out_json("removed", &b);
        err = (struct err){0};
        out_wait("removing layers that nobody uses any more");
        if (snapshots_gc(&s, NULL, NULL, &err) < 0)
                code = out_error(&err);
        out_wait(NULL);
        store_free(&s);
        return code;
}

static int run(int argc, char **argv)
{
        bool is_json = false, is_short = false;
        const struct arg flags[] = {
                ARG_BOOL('q', "quiet", &is_short, "names only"),
                ARG_BOOL(0, "json", &is_json, "as JSON"),
                ARG_END,
        };
        struct args a = args_of(&cmd_snapshots, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 0, 10000) < 0)
                return a.exit_code;
        if (is_json && is_short)
                return args_bad(&a, "--quiet and --json exclude each other");
        if (words.n == 0)
                return list(is_json, is_short);
        if (strcmp(words.v[0], "rm") != 0 && strcmp(words.v[0], "ls") != 0) {
                _cleanup_free_ char *shown = str_quote(words.v[0]);
                return args_bad(&a, "snapshots knows ls and rm, not \"%s\"", shown);
        }
        bool is_rm = strcmp(words.v[0], "rm") == 0;
        strs_remove(&words, 0);
        if (is_rm && words.n == 0)
                return args_bad(&a, "say which: ostiary snapshots rm NAME...");
        if (!is_rm && words.n)
                return args_bad(&a, "ls takes no names");
        return is_rm ? remove_all(&words, is_json) : list(is_json, is_short);
}

const struct cmd cmd_snapshots = {
        .name = "snapshots",
        .group = CMD_BOX,
        .args = "[ls | rm NAME...] [--json]",
        .summary = "list and remove snapshots",
        .help = "Lists what `ostiary snapshot` kept. SIZE is what its layers take on the disk; OWN "
                "is the part that no other snapshot or box uses, and that removing it would free. "
                "Boxes that were made from a snapshot do not need it any more.\n"
                "\n"
                "Example:\n"
                "  ostiary snapshots\n"
                "  ostiary snapshots rm before-refactoring\n",
        .run = run,
};
