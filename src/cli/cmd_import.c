/* cmd_import.c - `ostiary import`: settings of another tool as lines of policy, or as a profile of
 * one's own. Everything is read before anything is written; a file that is there is not replaced. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/fdio.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/import.h"
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
#include <unistd.h>

enum { FILE_MAX = 1 << 20 };

static const struct import_format *const formats[] = {&import_srt, &import_nono};
enum { FORMATS_N = 2 };

struct wishes {
        const char *to, *profile, *base;
        bool is_json;
};

static void put_lines(struct buf *b, const char *head, const char *before, const struct strs *l)
{
        if (l->n)
                buf_put_str(b, head);
        for (size_t i = 0; i < l->n; i++)
                buf_put_fmt(b, "%s%s\n", before, l->v[i]);
}

/* text_of(im, f, w, b): the file. Lines that only a profile has are told as left over in a policy. */
static void text_of(const struct import *im, const struct import_format *f, const struct wishes *w,
                    struct buf *b)
{
        if (w->profile) {
                /* The rest of the line, as it is: nothing in it may be read as something else. */
                _cleanup_free_ char *about = str_dup(im->about ? im->about : "my own");
                for (char *p = about; *p; p++)
                        if ((unsigned char)*p < ' ' || strchr("\"'#\\", *p))
                                *p = ' ';
                buf_put_fmt(b, "extends %s\nabout   %s\n", w->base, about);
                put_lines(b, "", "", &im->profile);
        }
        buf_put_fmt(b, "# from %s\n", f->what);
        put_lines(b, "", "", &im->denies);
        put_lines(b, "", "", &im->rules);
        if (!w->profile)
                put_lines(b, "# only a profile holds these (--profile NAME):\n", "#   ",
                          &im->profile);
        put_lines(b, "# true of every box:\n", "#   ", &im->held);
        put_lines(b, "# not carried over:\n", "#   ", &im->left);
}

/* check_profile(text, w, err): what is written must be readable as what it is. */
static int check_profile(const char *text, const struct wishes *w, struct err *err)
{
        _cleanup_profile_ struct profile p = {0};
        return profile_parse(w->profile, text, &p, err);
}

/* write_new(path, text, err): never over a file that is there. */
static int write_new(const char *path, const char *text, struct err *err)
{
        _cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0 && errno == EEXIST)
                return err_set(err, E_REFUSED, "%s is there already (remove it, or name another)",
                               path);
        if (fd < 0)
                return err_sys(err, "write %s", path);
        if (fdio_write_all(fd, text, strlen(text)) == 0)
                return 0;
        err_sys(err, "write %s", path);
        unlink(path);
        return -1;
}

/* profile_path(w, err): where a profile of that name lies; its directory is made. */
static char *profile_path(const struct wishes *w, struct err *err)
{
        struct store s;
        if (store_paths(&s, err) < 0)
                return NULL;
        char *path = str_fmt("%s/profiles/%s.profile", s.config, w->profile);
        for (char *p = path + 1; *p; p++) {
                if (*p != '/')
                        continue;
                *p = 0;
                mkdir(path, 0700);
                *p = '/';
        }
        store_free(&s);
        return path;
}

static void put_list(struct json *j, const char *key, const struct strs *l)
{
        json_open(j, key, '[');
        for (size_t i = 0; i < l->n; i++)
                json_str(j, NULL, l->v[i]);
        json_close(j, ']');
}

static void tell_json(const struct import *im, const struct import_format *f, const char *path)
{
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        json_open(&j, NULL, '{');
        json_str(&j, "format", f->name);
        json_str(&j, "file", path);
        json_open(&j, "rules", '[');
        for (size_t i = 0; i < im->denies.n; i++)
                json_str(&j, NULL, im->denies.v[i]);
        for (size_t i = 0; i < im->rules.n; i++)
                json_str(&j, NULL, im->rules.v[i]);
        json_close(&j, ']');
        put_list(&j, "profile", &im->profile);
        put_list(&j, "held", &im->held);
        put_list(&j, "left", &im->left);
        json_close(&j, '}');
        out_json("imported", &b);
}

/* place(w, text, err): write it where it is wanted. The path, the caller's; NULL for stdout. */
static int place(const struct wishes *w, const char *text, char **path, struct err *err)
{
        if (!w->profile && !w->to) {
                if (!w->is_json)
                        fputs(text, stdout);
                return 0;
        }
        if (w->profile && check_profile(text, w, err) < 0)
                return -1;
        *path = w->profile ? profile_path(w, err) : str_dup(w->to);
        return *path ? write_new(*path, text, err) : -1;
}

static int import(const struct import_format *f, const char *file, const struct wishes *w)
{
        struct err err = {0};
        _cleanup_import_ struct import im = {0};
        _cleanup_free_ char *path = NULL, *shown = str_quote(file);
        _cleanup_free_ char *text = fdio_read_file(
                AT_FDCWD, strcmp(file, "-") == 0 ? "/dev/stdin" : file, FILE_MAX, &err);
        if (!text) {
                err.code = E_INPUT;
                return out_error(&err);
        }
        if (import_read(f, text, &im, &err) < 0) {
                err_add(&err, "%s", shown);
                return out_error(&err);
        }
        _cleanup_buf_ struct buf b = {0};
        text_of(&im, f, w, &b);
        if (place(w, buf_cstr(&b), &path, &err) < 0)
                return out_error(&err);
        if (w->is_json)
                tell_json(&im, f, path);
        else if (path)
                puts(path);
        size_t left_n = im.left.n + (w->profile ? 0 : im.profile.n);
        for (size_t i = 0; i < im.left.n; i++)
                out_say("not carried over: %s", im.left.v[i]);
        if (!w->profile && im.profile.n)
                out_say("%zu line%s about paths and variables need%s a profile: --profile NAME",
                        im.profile.n, im.profile.n == 1 ? "" : "s", im.profile.n == 1 ? "s" : "");
        return left_n ? EXIT_NEGATIVE : EXIT_OK;
}

static int run(int argc, char **argv)
{
        struct wishes w = {.base = "default"};
        const struct arg flags[] = {
                ARG_STR('o', "output", &w.to, "FILE",
                        "write the lines of policy here instead of printing them"),
                ARG_STR(0, "profile", &w.profile, "NAME",
                        "make a profile of your own instead, with paths and variables"),
                ARG_STR(0, "from", &w.base, "NAME",
                        "with --profile: begin with everything of this one (default: default)"),
                ARG_BOOL(0, "json", &w.is_json, "as JSON"),
                ARG_END,
        };
        struct args a = args_of(&cmd_import, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 2, 2) < 0)
                return a.exit_code;
        if (w.to && w.profile)
                return args_bad(&a, "-o and --profile contradict each other");
        if (w.profile && !profile_name_ok(w.profile))
                return args_bad(&a, "a profile's name has letters, digits, dashes, dots and "
                                    "underscores");
        for (size_t i = 0; i < FORMATS_N; i++)
                if (strcmp(words.v[0], formats[i]->name) == 0)
                        return import(formats[i], words.v[1], &w);
        _cleanup_free_ char *shown = str_quote(words.v[0]);
        return args_bad(&a, "srt and nono can be imported, not \"%s\"", shown);
}

const struct cmd cmd_import = {
        .name = "import",
        .group = CMD_RULE,
        .args = "srt|nono FILE [-o FILE | --profile NAME] [--json]",
        .summary = "settings of srt or nono, as rules",
        .help = "Reads the settings of srt (~/.srt-settings.json) or a profile of nono and prints "
                "lines of policy that mean the same: hosts, refusals, keys as secrets. With "
                "--profile it writes a profile of your own, which holds paths and variables too. "
                "What cannot be carried over is named, in the file and on standard error, and the "
                "exit status is 1. A key that is not known stops everything: nothing is written. "
                "FILE may be -, for standard input.\n"
                "\n"
                "Examples:\n"
                "  ostiary import srt ~/.srt-settings.json -o my.policy\n"
                "  ostiary import nono claude.json --profile mine\n",
        .run = run,
};
