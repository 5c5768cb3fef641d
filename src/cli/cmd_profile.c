/* cmd_profile.c - `ostiary profile ls|show|new`: what agents need, as text. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/fdio.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/envelope.h"
#include "cli/out.h"
#include "policy/profile.h"
#include "session/profiles.h"
#include "session/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int list(const struct store *s, bool is_json)
{
        _cleanup_strs_ struct strs names = {0};
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        struct out_table t = {.cols = 3};
        profiles_names(s->config, &names);
        json_open(&j, NULL, '[');
        out_row(&t, "PROFILE", "FROM", "ABOUT");
        for (size_t i = 0; i < names.n; i++) {
                _cleanup_profile_ struct profile p = {0};
                struct err err = {0};
                bool is_builtin = false;
                free(profiles_text(s->config, names.v[i], &is_builtin, NULL));
                bool is_good = profiles_find(s->config, names.v[i], &p, &err) == 0;
                const char *about = !is_good ? err.text : p.about ? p.about : "";
                const char *from = is_builtin ? "built in" : "yours";
                out_row(&t, names.v[i], from, about);
                json_open(&j, NULL, '{');
                json_str(&j, "name", names.v[i]);
                json_bool(&j, "builtin", is_builtin);
                json_str(&j, "about", is_good ? p.about : NULL);
                json_str(&j, "command", is_good ? p.command : NULL);
                json_str(&j, "error", is_good ? NULL : err.text);
                json_close(&j, '}');
        }
        json_close(&j, ']');
        if (is_json) {
                for (size_t i = 0; i < t.rows * t.cols; i++)
                        free(t.cells[i]);
                free(t.cells);
                return out_json("profiles", &b);
        }
        out_table_print(&t);
        return EXIT_OK;
}

static void put_list(struct json *j, const char *key, const struct strs *l)
{
        json_open(j, key, '[');
        for (size_t i = 0; i < l->n; i++)
                json_str(j, NULL, l->v[i]);
        json_close(j, ']');
}

/* show_json(s, name, text, is_builtin): the file as it is, and what it comes to with everything it
 * extends. */
static int show_json(const struct store *s, const char *name, const char *text, bool is_builtin)
{
        struct err err = {0};
        _cleanup_profile_ struct profile p = {0};
        if (profiles_find(s->config, name, &p, &err) < 0)
                return out_error(&err);
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        json_open(&j, NULL, '{');
        json_str(&j, "name", name);
        json_bool(&j, "builtin", is_builtin);
        json_str(&j, "about", p.about);
        json_str(&j, "command", p.command);
        json_str(&j, "install", p.install);
        put_list(&j, "args", &p.args);
        put_list(&j, "resume", &p.resume);
        put_list(&j, "env", &p.env);
        put_list(&j, "pass", &p.pass);
        put_list(&j, "limits", &p.limits);
        put_list(&j, "persist", &p.persist);
        json_open(&j, "binds", '[');
        for (size_t i = 0; i < p.binds_n; i++) {
                json_open(&j, NULL, '{');
                json_str(&j, "path", p.binds[i].path);
                json_str(&j, "mode", p.binds[i].mode);
                json_close(&j, '}');
        }
        json_close(&j, ']');
        put_list(&j, "rules", &p.rules);
        json_str(&j, "text", text);
        json_close(&j, '}');
        return out_json("profile", &b);
}

static int show(const struct store *s, const char *name, bool is_json)
{
        bool is_builtin = false;
        struct err err = {0};
        _cleanup_free_ char *text = profiles_text(s->config, name, &is_builtin, &err);
        if (!text) {
                /* The finder knows the near names; its story is the better one. */
                _cleanup_profile_ struct profile p = {0};
                profiles_find(s->config, name, &p, &err);
                return out_error(&err);
        }
        if (is_json)
                return show_json(s, name, text, is_builtin);
        fputs(text, stdout);
        return EXIT_OK;
}

static int make(const struct store *s, const char *name, const char *from, bool is_json)
{
        struct err err = {0};
        if (!profile_name_ok(name)) {
                _cleanup_free_ char *shown = str_quote(name);
                out_say("\"%s\" cannot be a profile's name: use letters, digits, dashes, dots and "
                        "underscores",
                        shown);
                return EXIT_BAD_USAGE;
        }
        _cleanup_profile_ struct profile base = {0};
        if (profiles_find(s->config, from, &base, &err) < 0)
                return out_error(&err);
        _cleanup_free_ char *dir = str_fmt("%s/profiles", s->config);
        _cleanup_free_ char *path = str_fmt("%s/%s.profile", dir, name);
        _cleanup_free_ char *text =
                str_fmt("extends %s\n"
                        "about   my own %s\n"
                        "\n"
                        "# env     NAME=VALUE            a variable in the box\n"
                        "# bind    ~/path ro             a host path, seen at its own place\n"
                        "# limit   memory=8G time=8h\n"
                        "# persist ~/.config/thing       kept for the next box\n",
                        base.name, base.name);
        for (char *p = dir + 1; *p; p++) {
                if (*p == '/') {
                        *p = 0;
                        mkdir(dir, 0700);
                        *p = '/';
                }
        }
        mkdir(dir, 0700);
        _cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0 && errno == EEXIST) {
                out_say("the profile %s is there already: %s", name, path);
                return EXIT_REFUSED;
        }
        if (fd < 0 || fdio_write_all(fd, text, strlen(text)) < 0) {
                out_say("cannot write %s: %s", path, strerror(errno));
                return EXIT_OURS;
        }
        if (is_json)
                return envelope_words("profile-file", "name", name, "file", path, NULL);
        puts(path);
        return EXIT_OK;
}

static int run(int argc, char **argv)
{
        bool is_json = false;
        const char *from = NULL;
        const struct arg flags[] = {
                ARG_STR(0, "from", &from, "NAME", "new: begin with everything of this profile"),
                ARG_BOOL(0, "json", &is_json, "as JSON"),
                ARG_END,
        };
        struct args a = args_of(&cmd_profile, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 0, 2) < 0)
                return a.exit_code;
        struct err err = {0};
        struct store s;
        if (store_paths(&s, &err) < 0)
                return out_error(&err);
        const char *verb = words.n ? words.v[0] : "ls";
        int code;
        if (strcmp(verb, "ls") == 0 && words.n < 2)
                code = list(&s, is_json);
        else if (strcmp(verb, "show") == 0 && words.n == 2)
                code = show(&s, words.v[1], is_json);
        else if (strcmp(verb, "new") == 0 && words.n == 2)
                code = make(&s, words.v[1], from, is_json);
        else
                code = args_bad(&a, "say ls, show NAME or new NAME");
        store_free(&s);
        return code;
}

const struct cmd cmd_profile = {
        .name = "profile",
        .group = CMD_RULE,
        .args = "ls | show NAME | new NAME [--from NAME] [--json]",
        .summary = "what agents need: list, show, make your own",
        .help = "A profile says what an agent needs, as data: its command and flags, settings to "
                "copy, "
                "variables, limits, what of its home is kept. `new` writes one of your own that "
                "begins "
                "with another and takes precedence over a built-in one of the same name.\n"
                "\n"
                "Examples:\n"
                "  ostiary profile ls\n"
                "  ostiary profile new claude --from claude\n",
        .run = run,
};
