/* cmd_secrets.c - `ostiary secrets`: what a running box may use and never has. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/boxarg.h"
#include "cli/boxsecrets.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "session/start.h"

#include <stdio.h>

static int as_json(const char *box, const struct boxsecrets *all)
{
        _cleanup_buf_ struct buf out = {0};
        struct json j = json_of(&out);
        json_open(&j, NULL, '{');
        json_str(&j, "box", box);
        json_open(&j, "secrets", '[');
        for (size_t i = 0; i < all->n; i++) {
                const struct boxsecret *s = &all->v[i];
                json_open(&j, NULL, '{');
                boxsecrets_json(s->line.secret, &j);
                json_str(&j, "state", s->state);
                json_str(&j, "provider", *s->provider ? s->provider : NULL);
                json_str(&j, "said_by", s->where);
                json_str(&j, "fault", *s->fault ? s->fault : NULL);
                json_close(&j, '}');
        }
        json_close(&j, ']');
        json_close(&j, '}');
        return out_json("secrets", &out);
}

static void as_text(const struct boxsecrets *all)
{
        struct out_table t = {.cols = 6};
        if (all->n == 0) {
                puts("this box has no secrets");
                return;
        }
        out_row(&t, "NAME", "STATE", "FROM", "AS", "BESIDES", "AT");
        for (size_t i = 0; i < all->n; i++) {
                const struct boxsecret *s = &all->v[i];
                const struct rule_secret *line = s->line.secret;
                _cleanup_buf_ struct buf forms = {0}, extras = {0}, places = {0};
                boxsecrets_forms(line, &forms);
                boxsecrets_extras(line, &extras);
                boxsecrets_places(line, &places);
                _cleanup_free_ char *fault = str_quote(s->fault);
                _cleanup_free_ char *at = *fault ? str_fmt("%s; %s", buf_cstr(&places), fault)
                                                 : str_dup(buf_cstr(&places));
                out_row(&t, line->name, s->state, rule_source_word(line->source), buf_cstr(&forms),
                        extras.len ? buf_cstr(&extras) : "-", at);
        }
        out_table_print(&t);
}

static int run(int argc, char **argv)
{
        bool is_json = false;
        const struct arg flags[] = {
                ARG_BOOL(0, "json", &is_json, "as JSON"),
                ARG_END,
        };
        struct args a = args_of(&cmd_secrets, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 0, 1) < 0)
                return a.exit_code;
        struct err err = {0};
        _cleanup_boxarg_ struct boxarg b;
        _cleanup_boxsecrets_ struct boxsecrets all = {0};
        if (boxarg_find(&b, words.n ? words.v[0] : NULL, &err) < 0)
                return out_error(&err);
        _cleanup_close_ int sock = session_connect(&b.store, b.id, &err);
        if (sock < 0 || boxsecrets_ask(sock, &all, &err) < 0)
                return out_error(&err);
        if (is_json)
                return as_json(b.id, &all);
        as_text(&all);
        return EXIT_OK;
}

const struct cmd cmd_secrets = {
        .name = "secrets",
        .group = CMD_SECRET,
        .args = "[BOX] [--json]",
        .summary = "the secrets that a box may use",
        .help = "Prints what a running box may use without having it: each secret's name, its "
                "state (held, expired, revoked, left out), where it comes from, how it is shown, "
                "and to whom. Values and placeholders are not printed; nobody but the box's keeper "
                "has the first. Without BOX it is the newest one.\n"
                "\n"
                "A box gets its secrets when it starts: from --secret NAME@HOST, from an identity "
                "(--as work reads secret and allow lines from ~/.config/ostiary/identities/work), "
                "from your policy, or from its profile. One name is one secret: the first of these "
                "that speaks of it counts. docs/secrets.md has a line for each kind.\n"
                "\n"
                "`ostiary secret` is about the vault, in which values are kept for all boxes.\n"
                "\n"
                "Examples:\n"
                "  ostiary run --secret STRIPE_KEY@api.stripe.com -- ./agent\n"
                "  ostiary secrets amber-3f2a\n",
        .run = run,
};
