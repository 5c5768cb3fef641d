/* cmd_policy.c - `ostiary policy check`: which line would decide about a request, and why; or
 * whether a file of rules can be read. Enforces nothing and changes nothing. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/fdio.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/boxarg.h"
#include "cli/boxrules.h"
#include "cli/cmd.h"
#include "cli/ended.h"
#include "cli/envelope.h"
#include "cli/out.h"
#include "cli/policy_check.h"
#include "cli/policy_request.h"
#include "policy/policy.h"
#include "policy/profile.h"
#include "session/profiles.h"
#include "session/start.h"
#include "session/store.h"
#include "wire/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20 };

static const char system_file[] = "/etc/ostiary/policy";

/* ${path} as a layer; one that does not exist is none, unless it was asked for by name. */
static int add_file(struct policy *p, enum policy_rank rank, const char *name, const char *path,
                    bool is_wanted, struct err *err)
{
        if (!is_wanted && access(path, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR))
                return 0;
        _cleanup_free_ char *text = fdio_read_file(AT_FDCWD, path, FILE_MAX, err);
        if (!text)
                return -1;
        struct policy_layer layer;
        if (policy_layer_parse(rank, name, text, strlen(text), &layer, err) < 0)
                return -1;
        policy_put(p, &layer);
        return 0;
}

static int add_profile(struct policy *p, const struct store *s, const char *name, struct err *err)
{
        _cleanup_profile_ struct profile profile = {0};
        if (profiles_find(s->config, name, &profile, err) < 0)
                return -1;
        _cleanup_policy_layer_ struct policy_layer layer = {.rank = POLICY_PROFILE,
                                                            .name = str_fmt("profile %s", name)};
        for (size_t i = 0; i < profile.rules.n; i++)
                if (policy_layer_add(&layer, profile.rules.v[i], err) < 0)
                        return -1;
        policy_put(p, &layer);
        return 0;
}

static int load(struct policy *p, const struct strs *files, const char *profile, struct err *err)
{
        struct store s;
        for (size_t i = 0; i < files->n; i++)
                if (add_file(p, POLICY_USER, files->v[i], files->v[i], true, err) < 0)
                        return -1;
        if (store_paths(&s, err) < 0)
                return -1;
        _cleanup_free_ char *own = str_fmt("%s/policy", s.config);
        int code = add_file(p, POLICY_USER, "user policy", own, false, err);
        if (code == 0)
                code = add_file(p, POLICY_SYSTEM, "system policy", system_file, false, err);
        if (code == 0 && profile)
                code = add_profile(p, &s, profile, err);
        store_free(&s);
        return code;
}

/* A wildcard that hands something to strangers' names is legal and seldom meant. */
static void warn_place(const struct policy_layer *layer, const struct rule_line *l,
                       const struct rule_place *place)
{
        if (place->is_shared)
                out_say("warning: %s:%zu: *.%s covers names that belong to many different people",
                        layer->name, l->line_no, place->host.text);
}

static void warn_layer(const struct policy_layer *layer)
{
        for (size_t i = 0; i < layer->lines_n; i++) {
                const struct rule_line *l = &layer->lines[i];
                if (l->kind == RULE_LINE_RULE)
                        warn_place(layer, l, &l->rule.place);
                for (size_t k = 0; l->kind == RULE_LINE_SECRET && k < l->secret->places_n; k++)
                        warn_place(layer, l, &l->secret->places[k]);
        }
}

static int check_files(const struct strs *files, bool is_json)
{
        struct err err = {0};
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        int code = EXIT_OK;
        json_open(&j, NULL, '[');
        for (size_t i = 0; i < files->n; i++) {
                _cleanup_policy_ struct policy p = {0};
                bool is_good = add_file(&p, POLICY_USER, files->v[i], files->v[i], true, &err) == 0;
                size_t n = is_good ? p.layers[0].lines_n : 0;
                json_open(&j, NULL, '{');
                json_str(&j, "file", files->v[i]);
                json_bool(&j, "good", is_good);
                json_u64(&j, "lines", n);
                json_str(&j, "error", is_good ? NULL : err.text);
                json_close(&j, '}');
                if (!is_good) {
                        code = EXIT_NEGATIVE;
                        if (!is_json)
                                out_error(&err);
                        continue;
                }
                if (is_json)
                        continue;
                warn_layer(&p.layers[0]);
                printf("%s is good: %zu line%s\n", files->v[i], n, n == 1 ? "" : "s");
        }
        json_close(&j, ']');
        if (is_json)
                out_json("policy-files", &b);
        return code;
}

static int check_rules(const struct strs *files, const char *profile,
                       const struct policy_request *r, bool is_json)
{
        struct err err = {0};
        struct policy_check_how how = {.is_json = is_json};
        _cleanup_policy_ struct policy p = {0};
        return load(&p, files, profile, &err) < 0 ? out_error(&err) : policy_check(&p, &how, r);
}

static int check_box(const char *box, const struct policy_request *r, bool is_json)
{
        struct err err = {0};
        _cleanup_boxarg_ struct boxarg b;
        _cleanup_boxrules_ struct boxrules rules = {0};
        if (boxarg_find(&b, box, &err) < 0 || boxrules_get(&b, &rules, &err) < 0)
                return out_error(&err);
        struct policy_check_how how = {.is_json = is_json, .box = b.id, .level = rules.level};
        return policy_check(&rules.policy, &how, r);
}

/* hear_reload(sock, err): until it is in force. What became of each secret line that is not as
 * before is told on the way. */
static int hear_reload(int sock, struct err *err)
{
        static struct frame f;
        for (;;) {
                if (frame_recv(sock, &f, false) <= 0)
                        return err_set(err, E_SYSTEM, "the box ended before it answered");
                uint32_t type = f.type;
                _cleanup_free_ char *words = NULL;
                if (type == MSG_FAILED)
                        ended_failure(&f.body, err);
                else if (type == MSG_NOTICE && cur_lstr(&f.body, 8192, &words) == 0)
                        ended_notice(false, words);
                frame_release(&f);
                if (type == MSG_DONE || type == MSG_FAILED)
                        return type == MSG_DONE ? 0 : -1;
        }
}

/* reload(box): its supervisor reads the files again; what cannot be read changes nothing. */
static int reload(const char *box, bool is_json)
{
        struct err err = {0};
        _cleanup_boxarg_ struct boxarg b;
        if (boxarg_find(&b, box, &err) < 0)
                return out_error(&err);
        _cleanup_close_ int sock = session_connect(&b.store, b.id, &err);
        if (sock < 0)
                return out_error(&err);
        if (frame_send(sock, MSG_RELOAD, NULL, NULL, 0) < 0)
                err_sys(&err, "ask the supervisor of the box");
        if (err.code || hear_reload(sock, &err) < 0)
                return out_error(&err);
        if (is_json)
                return envelope_words("reloaded", "box", b.id, NULL);
        puts(b.id);
        return EXIT_OK;
}

static int run(int argc, char **argv)
{
        bool is_json = false;
        const char *profile = NULL, *data = NULL, *box = NULL;
        _cleanup_strs_ struct strs files = {0}, headers = {0}, words = {0};
        const struct arg flags[] = {
                ARG_LIST(0, "policy", &files, "FILE", "rules that go before your own; repeatable"),
                ARG_STR(0, "profile", &profile, "NAME", "with the rules of this profile"),
                ARG_STR(0, "box", &box, "BOX", "by the rules of this box, as they are now"),
                ARG_LIST(0, "header", &headers, "'NAME: VALUE'", "a header of the request"),
                ARG_STR(0, "data", &data, "TEXT", "its body: JSON or a form"),
                ARG_BOOL(0, "json", &is_json, "as JSON"),
                ARG_END,
        };
        struct args a = args_of(&cmd_policy, flags, argc, argv);
        if (args_only(&a, &words, 1, 3) < 0)
                return a.exit_code;
        if (strcmp(words.v[0], "reload") == 0 && words.n == 2)
                return reload(words.v[1], is_json);
        if (strcmp(words.v[0], "check") != 0)
                return args_bad(&a, "say check and a request, such as: ostiary policy check "
                                    "'GET https://api.github.com/', or reload and a box");
        if (box && (files.n || profile))
                return args_bad(&a, "--box has rules of its own: leave out --policy and --profile");
        if (words.n == 1 && files.n == 0)
                return args_bad(&a, "say which request, or which file with --policy");
        if (words.n == 1)
                return check_files(&files, is_json);

        struct err err = {0};
        struct policy_request r;
        _cleanup_free_ char *request = str_fmt("%s%s%s", words.v[1], words.n > 2 ? " " : "",
                                               words.n > 2 ? words.v[2] : "");
        if (policy_request_make(request, &headers, data, &r, &err) < 0)
                return args_bad(&a, "%s", err.text);
        int code = box ? check_box(box, &r, is_json) : check_rules(&files, profile, &r, is_json);
        policy_request_free(&r);
        return code;
}

const struct cmd cmd_policy = {
        .name = "policy",
        .group = CMD_RULE,
        .args = "check ['METHOD URL'] [flags] | reload BOX",
        .summary = "which rule would decide about a request, and why",
        .help = "Says which line of the rules decides about a request, and for a refusal the line "
                "that would allow it. The rules are those of /etc/ostiary/policy and "
                "~/.config/ostiary/policy, and of the files and the profile that are named. With "
                "--policy and no request it only reads the files. The exit status is 0 when the "
                "request is allowed (or the files are good), 1 when not.\n"
                "\n"
                "reload makes a running box read its files of rules again. A file that is broken "
                "or gone changes nothing. A secret whose line is gone is revoked, a changed line "
                "counts for the next request, a new secret is in the environment of what ostiary "
                "exec starts from then on; what a running box cannot be given is said.\n"
                "\n"
                "Examples:\n"
                "  ostiary policy check 'POST https://api.github.com/graphql' --profile copilot\n"
                "  ostiary policy check --policy my.policy\n"
                "  ostiary policy reload amber-3f2a\n",
        .run = run,
};
