/* cmd_trust.c - `ostiary trust`: let a project's own rules count, exactly as they are now. They
 * came with a clone, so they can only narrow what a box may reach. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "policy/policy.h"
#include "session/door_trust.h"
#include "session/store.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* tell_json(path, layer): ${layer} NULL: it is not trusted any more. */
static void tell_json(const char *path, const struct policy_layer *layer)
{
        _cleanup_buf_ struct buf out = {0};
        struct json j = json_of(&out);
        json_open(&j, NULL, '{');
        json_str(&j, "file", path);
        json_bool(&j, "trusted", layer != NULL);
        json_open(&j, "lines", '[');
        for (size_t i = 0; layer && i < layer->lines_n; i++) {
                _cleanup_buf_ struct buf b = {0};
                rule_line_print(&layer->lines[i], &b);
                json_str(&j, NULL, buf_cstr(&b));
        }
        json_close(&j, ']');
        json_close(&j, '}');
        out_json("trust", &out);
}

/* tell(path, layer): the lines that count from now on, or that none does. */
static void tell(const char *path, const struct policy_layer *layer)
{
        for (size_t i = 0; layer && i < layer->lines_n; i++) {
                _cleanup_buf_ struct buf b = {0};
                rule_line_print(&layer->lines[i], &b);
                _cleanup_free_ char *shown = str_quote(buf_cstr(&b));
                printf("  %s\n", shown);
        }
        if (layer)
                printf("%s is trusted as it is now: %zu line%s. When it changes it must be trusted "
                       "again.\n",
                       path, layer->lines_n, layer->lines_n == 1 ? "" : "s");
        else
                printf("%s is not trusted any more\n", path);
}

static int trust(const struct store *s, const char *dir, bool is_revoked, bool is_json,
                 struct err *err)
{
        _cleanup_free_ char *real = realpath(dir, NULL);
        if (!real) {
                err_sys(err, "find the directory %s", dir);
                err->code = E_INPUT;
                return -1;
        }
        _cleanup_free_ char *path = str_fmt("%s/.ostiary", real);
        _cleanup_free_ char *text = NULL;
        if (is_revoked) {
                if (door_trust_set(s, path, "", false, err) < 0)
                        return -1;
                (is_json ? tell_json : tell)(path, NULL);
                return 0;
        }
        enum door_trust was = door_trust_read(s, path, &text, err);
        if (was == DOOR_TRUST_BROKEN)
                return -1;
        if (was == DOOR_TRUST_ABSENT)
                return err_set(err, E_INPUT, "there is no file %s", path);
        /* Nobody can judge what cannot be read. */
        _cleanup_policy_layer_ struct policy_layer layer = {0};
        if (policy_layer_parse(POLICY_PROJECT, path, text, strlen(text), &layer, err) < 0)
                return -1;
        if (door_trust_set(s, path, text, true, err) < 0)
                return -1;
        (is_json ? tell_json : tell)(path, &layer);
        return 0;
}

static int run(int argc, char **argv)
{
        bool is_revoked = false, is_json = false;
        const struct arg flags[] = {
                ARG_BOOL(0, "revoke", &is_revoked, "do not trust it any more"),
                ARG_BOOL(0, "json", &is_json, "as JSON"),
                ARG_END,
        };
        struct args a = args_of(&cmd_trust, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 0, 1) < 0)
                return a.exit_code;
        struct err err = {0};
        struct store s;
        if (store_open(&s, &err) < 0)
                return out_error(&err);
        int got = trust(&s, words.n ? words.v[0] : ".", is_revoked, is_json, &err);
        store_free(&s);
        return got < 0 ? out_error(&err) : EXIT_OK;
}

const struct cmd cmd_trust = {
        .name = "trust",
        .group = CMD_RULE,
        .args = "[DIR] [--revoke] [--json]",
        .summary = "let a project's own rules count",
        .help = "A file .ostiary in a workspace came with the project, so its rules count only "
                "after "
                "this command, and only as they are now: when the file changes, it must be trusted "
                "again. Such rules narrow what a box may reach and never widen it. DIR is the "
                "current directory when it is not said. Boxes that run hear of it with `ostiary "
                "policy reload`.\n"
                "\n"
                "Example:\n"
                "  ostiary trust ~/src/project\n",
        .run = run,
};
