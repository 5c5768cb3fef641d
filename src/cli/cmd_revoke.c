/* cmd_revoke.c - `ostiary revoke`: from now on a box cannot use a secret any more. When the command
 * returns, the keeper has wiped it and what was open with it is cut. */
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
#include "cli/out.h"
#include "session/start.h"
#include "wire/msg.h"

#include <inttypes.h>
#include <stdio.h>

/* take_back(sock, name, &n, err): "" for all. */
static int take_back(int sock, const char *name, uint64_t *n, struct err *err)
{
        static struct frame f;
        _cleanup_buf_ struct buf body = {0};
        buf_put_lstr(&body, name);
        if (boxrules_ask(sock, MSG_REVOKE, &body, MSG_DONE, &f, err) < 0)
                return -1;
        int r = cur_u64(&f.body, n);
        frame_release(&f);
        return r < 0 ? err_set(err, E_PROTO, "the supervisor's answer makes no sense") : 0;
}

/* tell_json(id, words, n): ${words} are the box and the names, none for all. */
static int tell_json(const char *id, const struct strs *words, uint64_t n)
{
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        json_open(&j, NULL, '{');
        json_str(&j, "box", id);
        json_u64(&j, "revoked", n);
        json_open(&j, "names", '[');
        for (size_t i = 1; i < words->n; i++)
                json_str(&j, NULL, words->v[i]);
        json_close(&j, ']');
        json_close(&j, '}');
        return out_json("revoked", &b);
}

/* take_all(sock, id, words, is_json, &n, err): each that is named, or all of them; people hear of
 * each when it is gone, also when a later one fails. */
static int take_all(int sock, const char *id, const struct strs *words, bool is_json, uint64_t *n,
                    struct err *err)
{
        if (words->n == 1) {
                if (take_back(sock, "", n, err) < 0)
                        return -1;
                if (!is_json)
                        printf("%s: all revoked (%" PRIu64 ")\n", id, *n);
                return 0;
        }
        for (size_t i = 1; i < words->n; i++) {
                uint64_t one;
                if (take_back(sock, words->v[i], &one, err) < 0)
                        return -1;
                _cleanup_free_ char *shown = str_quote(words->v[i]);
                if (!is_json)
                        printf("%s: %s revoked\n", id, shown);
        }
        *n = words->n - 1;
        return 0;
}

static int run(int argc, char **argv)
{
        bool is_all = false, is_json = false;
        const struct arg flags[] = {
                ARG_BOOL(0, "all", &is_all, "every secret of the box, also tokens born in it"),
                ARG_BOOL(0, "json", &is_json, "as JSON"),
                ARG_END,
        };
        struct args a = args_of(&cmd_revoke, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 1, 64) < 0)
                return a.exit_code;
        if (is_all == (words.n > 1))
                return args_bad(&a, is_all ? "--all and a name contradict each other"
                                           : "say which: the name of a secret, or --all");
        struct err err = {0};
        _cleanup_boxarg_ struct boxarg b;
        if (boxarg_find(&b, words.v[0], &err) < 0)
                return out_error(&err);
        _cleanup_close_ int sock = session_connect(&b.store, b.id, &err);
        if (sock < 0)
                return out_error(&err);
        uint64_t n = 0;
        if (take_all(sock, b.id, &words, is_json, &n, &err) < 0)
                return out_error(&err);
        return is_json ? tell_json(b.id, &words, n) : EXIT_OK;
}

const struct cmd cmd_revoke = {
        .name = "revoke",
        .group = CMD_SECRET,
        .args = "BOX NAME... | BOX --all [--json]",
        .summary = "take a secret back from a running box",
        .help = "When the command returns, nothing in the box can use the secret any more: the "
                "keeper has wiped it, requests and streams that were shown it are cut, and the "
                "next request fails with a reason, also on a connection that is open. It is for "
                "good: start another box to grant it again. Other boxes and the source are not "
                "touched.\n"
                "\n"
                "Examples:\n"
                "  ostiary revoke amber-3f2a GITHUB_TOKEN\n"
                "  ostiary revoke amber-3f2a --all\n",
        .run = run,
};
