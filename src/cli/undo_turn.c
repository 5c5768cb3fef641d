/* undo_turn.c - see undo_turn.h. Called by cmd_undo.c. Paths came out of a box and are quoted. */
#include "cli/undo_turn.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/boxarg.h"
#include "cli/boxhere.h"
#include "cli/out.h"
#include "session/turns.h"
#include "workspace/stack.h"

#include <stdio.h>
#include <string.h>

enum { TOLD_MAX = 200 };

struct told {
        struct json *json;
        bool is_dry;
        size_t gone_n, kept_n;
};

static void on_path(void *arg, const char *layer, const char *path, bool is_kept)
{
        struct told *t = arg;
        size_t n = is_kept ? ++t->kept_n : ++t->gone_n;
        if (t->json) {
                json_open(t->json, NULL, '{');
                json_str(t->json, "layer", layer);
                json_str(t->json, "path", path);
                json_str(t->json, "fate", is_kept ? "left" : "done");
                json_str(t->json, "words",
                         is_kept     ? "a later turn changed it too"
                         : t->is_dry ? "would be taken back"
                                     : "taken back");
                json_close(t->json, '}');
                return;
        }
        if (n > TOLD_MAX)
                return;
        _cleanup_free_ char *whole =
                strcmp(layer, "ws") == 0 ? str_dup(path) : str_fmt("%s: %s", layer, path);
        _cleanup_free_ char *shown = str_quote(whole);
        if (is_kept)
                out_say("%s is left as it is: a later turn changed it too", shown);
        else
                printf("back     %s\n", shown);
}

int undo_turn(const char *box, uint64_t n, bool is_dry, bool is_json)
{
        struct err err = {0};
        _cleanup_boxarg_ struct boxarg b;
        _cleanup_buf_ struct buf out = {.max = (size_t)1 << 30};
        struct json j = json_of(&out);
        struct told t = {.json = is_json ? &j : NULL, .is_dry = is_dry};
        const struct stack_back how = {
                .is_dry = is_dry, .whole = "home", .on_path = on_path, .arg = &t};
        if ((box ? boxarg_find(&b, box, &err) : boxhere_find(&b, &err)) < 0)
                return out_error(&err);
        if (n == 0 || n > UINT32_MAX) {
                err_set(&err, E_USAGE, "turns are counted from 1");
                return out_error(&err);
        }
        if (is_json)
                json_open(&j, NULL, '[');
        if (turns_undo(&b.store, b.id, (unsigned)n, &how, &err) < 0)
                return out_error(&err);
        if (is_json) {
                json_close(&j, ']');
                int code = out_json("undo-turn", &out);
                return code ? code : t.kept_n ? EXIT_NEGATIVE : EXIT_OK;
        }
        if (t.gone_n > TOLD_MAX || t.kept_n > TOLD_MAX)
                out_say("and more");
        out_say("%s %zu path%s of turn %u in box %s; %zu %s left",
                is_dry ? "would take back" : "took back", t.gone_n, t.gone_n == 1 ? "" : "s",
                (unsigned)n, b.id, t.kept_n, t.kept_n == 1 ? "is" : "are");
        return t.kept_n ? EXIT_NEGATIVE : EXIT_OK;
}
