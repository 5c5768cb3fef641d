/* git_words.c - see git_words.h. Looks on the host whether a word is a directory there, and where links
 * lead; reads nothing. */
#include "workspace/git_words.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "policy/git_config.h"
#include "workspace/git_host.h"
#include "workspace/git_user.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { WORDS_MAX = 4096, VALUE_WORDS_MAX = 4096 };

void git_words_free(struct git_words *w)
{
        struct strs *all[] = {&w->trees, &w->files, &w->attributes, &w->tops,
                              &w->dirs,  &w->words, &w->tails};
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
                strs_free(all[i]);
}

/* Keys whose value is a line for a shell, or a program. One that is not here may still name a file as
 * its whole value. */
static const char *const commands[] = {
        "core.fsmonitor",
        "core.sshcommand",
        "core.editor",
        "core.pager",
        "core.askpass",
        "core.gitproxy",
        "core.alternaterefscommand",
        "core.virtualfilesystem",
        "filter.*.clean",
        "filter.*.smudge",
        "filter.*.process",
        "diff.external",
        "diff.*.command",
        "diff.*.textconv",
        "difftool.*.cmd",
        "difftool.*.path",
        "merge.*.driver",
        "mergetool.*.cmd",
        "mergetool.*.path",
        "alias.*",
        "alias.*.command",
        "alias.*.*",
        "credential.helper",
        "credential.*.helper",
        "remote.*.uploadpack",
        "remote.*.receivepack",
        "gpg.program",
        "gpg.*.program",
        "gpg.*.defaultkeycommand",
        "sequence.editor",
        "interactive.difffilter",
        "pager.*",
        "man.*.cmd",
        "man.*.path",
        "browser.*.cmd",
        "browser.*.path",
        "instaweb.*",
        "init.templatedir",
        "uploadpack.packobjectshook",
        "tar.*.command",
        "guitool.*.cmd",
        "trailer.*.cmd",
        "trailer.*.command",
        "sendemail.*",
        "sendemail.*.*",
        "imap.tunnel",
        "gc.recentobjectshook",
        "hook.*.command",
        "submodule.*.update",
        "lfs.*.path",
        "lfs.*.args",
        "lfs.*.clean",
        "lfs.*.smudge",
        "annex.*",
        "remote.*.annex-externaltype",
};

/* Files of text that are shown, or places: nothing of them is run or believed. */
static const char *const harmless[] = {
        "core.excludesfile",  "core.worktree",       "commit.template", "blame.ignorerevsfile",
        "mailmap.file",       "diff.orderfile",      "safe.directory",  "maintenance.repo",
        "branch.*.remote",    "branch.*.pushremote", "user.signingkey", "submodule.*.path",
        "submodule.*.active",
};

static bool words_is_of(const char *const *keys, size_t n, const char *key)
{
        for (size_t i = 0; i < n; i++)
                if (git_config_key_is(keys[i], key))
                        return true;
        return false;
}
#define WORDS_IS(keys, key) words_is_of(keys, sizeof(keys) / sizeof *(keys), key)

bool git_words_is_entry(const char *name)
{
        static const char *const entries[] = {"__main__.py", "__init__.py", "index.js",
                                              "index.mjs",   "index.cjs",   "index.ts"};
        for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
                if (strcmp(name, entries[i]) == 0)
                        return true;
        return false;
}

static void words_put(struct git_words *w, struct strs *list, const char *text)
{
        if (!*text || strs_has(list, text))
                return;
        if (list->n < WORDS_MAX)
                strs_add(list, text);
        else
                w->is_over = true;
}

/* words_place(w, list, path): as it is said, and where it leads. */
static void words_place(struct git_words *w, struct strs *list, const char *path)
{
        if (strs_has(list, path))
                return;
        _cleanup_free_ char *real = git_host_real(path);
        words_put(w, list, path);
        words_put(w, list, real);
}

/* One setting that is taken apart. */
struct words {
        struct git_words *to;
        const struct git_user *user;
        const struct strs *bases;
        struct strs *dirs; /* where directories go that it names */
        bool is_loose;     /* plain words count: it is a line for a shell, not one for git */
        bool is_module;    /* the word before was -m */
        size_t n;
};

/* words_tail(text): without . and .. as far as that goes; "" when nothing is left. The caller's. */
static char *words_tail(const char *text)
{
        _cleanup_strs_ struct strs parts = {0};
        _cleanup_buf_ struct buf out = {0};
        _cleanup_free_ char *all = str_dup(text);
        for (char *at = all, *word; (word = strsep(&at, "/"));) {
                if (strcmp(word, "..") == 0 && parts.n > 0)
                        strs_remove(&parts, parts.n - 1);
                else if (*word && strcmp(word, ".") != 0 && strcmp(word, "..") != 0)
                        strs_add(&parts, word);
        }
        for (size_t i = 0; i < parts.n; i++)
                buf_put_fmt(&out, "%s%s", i ? "/" : "", parts.v[i]);
        return str_dup(buf_cstr(&out));
}

static bool words_is_dir(const char *path)
{
        struct stat st;
        return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* words_module(x, text): `python3 -m tools.clean`. */
static void words_module(struct words *x, const char *text)
{
        _cleanup_free_ char *path = str_dup(text);
        for (char *p = path; *p; p++)
                *p = *p == '.' ? '/' : *p;
        for (size_t i = 0; i < x->bases->n; i++) {
                _cleanup_free_ char *file = str_fmt("%s/%s.py", x->bases->v[i], path);
                _cleanup_free_ char *dir = str_fmt("%s/%s", x->bases->v[i], path);
                size_t top = strlen(x->bases->v[i]);
                words_place(x->to, &x->to->files, file);
                /* And the packages above it. */
                for (char *end = dir; end; end = strrchr(dir + top + 1, '/')) {
                        *end = end == dir ? *end : 0;
                        words_place(x->to, &x->to->dirs, dir);
                }
        }
}

/* words_dirs(x, text): where the other words may be meant from: `cd tools && ./x`. */
static void words_dirs(struct words *x, const char *text)
{
        for (size_t i = 0; i < x->bases->n; i++) {
                _cleanup_free_ char *dir = str_fmt("%s/%s", x->bases->v[i], text);
                if (words_is_dir(dir))
                        words_place(x->to, x->dirs, dir);
        }
}

/* words_path(x, text): it has a slash. */
static void words_path(struct words *x, const char *text)
{
        struct git_words *to = x->to;
        _cleanup_free_ char *tail = words_tail(text);
        struct stat st;
        if (!*tail)
                return;
        if (*text == '/') {
                words_place(to, &to->trees, text);
                if (words_is_dir(text))
                        words_place(to, x->dirs, text);
                /* What stood before it may be `$(git rev-parse --show-toplevel)`. */
                if (lstat(text, &st) < 0)
                        words_put(to, &to->tails, tail);
                return;
        }
        for (size_t i = 0; i < x->bases->n; i++) {
                _cleanup_free_ char *full = str_fmt("%s/%s", x->bases->v[i], text);
                words_place(to, &to->trees, full);
        }
        words_dirs(x, text);
        words_put(to, &to->tails, tail);
}

/* words_one(x, text): a piece of the value that may be a path. */
static void words_one(struct words *x, const char *text)
{
        bool is_module = x->is_module;
        x->is_module = strcmp(text, "-m") == 0;
        if (x->n++ > VALUE_WORDS_MAX)
                x->to->is_over = true;
        if (!*text || x->to->is_over)
                return;
        /* A pattern stands for what is in the directory before it. */
        size_t plain = strcspn(text, "*?[");
        if (text[plain]) {
                _cleanup_free_ char *dir = str_fmt("%.*s", (int)plain, text);
                char *slash = strrchr(dir, '/');
                if (slash)
                        slash[1] = 0;
                words_one(x, slash ? dir : "");
                return;
        }
        if (*text == '-' && text[1] && text[1] != '-' && text[2])
                words_one(x, text + 2); /* -Fcfg/ssh */
        if (*text == '$') {             /* $HOME/x */
                const char *rest = strchr(text, '/');
                words_one(x, rest ? rest : "");
                return;
        }
        if (*text == '~') {
                _cleanup_free_ char *full = git_user_path(x->user, text, NULL);
                words_path(x, *full == '/' ? full : text);
        } else if (strchr(text, '/')) {
                words_path(x, text);
        } else if (x->is_loose && strchr(text, '.') && !is_module) {
                words_put(x->to, &x->to->tails, text);
        } else if (x->is_loose) {
                words_put(x->to, &x->to->words, text);
                words_dirs(x, text);
        }
        if (is_module)
                words_module(x, text);
}

/* words_quoted(x, value): in words as a shell makes them, each with what it hides in quotes. */
static void words_quoted(struct words *x, const char *value)
{
        _cleanup_buf_ struct buf word = {0};
        char quote = 0;
        for (const char *p = value;; p++) {
                bool is_end = !*p || (!quote && strchr(" \t\r\n;|&<>()", *p));
                if (is_end) {
                        words_one(x, buf_cstr(&word));
                        word.len = 0;
                } else if (quote ? *p == quote : *p == '"' || *p == '\'') {
                        quote = quote ? 0 : *p;
                } else {
                        p += *p == '\\' && quote != '\'' && p[1];
                        buf_put_u8(&word, (uint8_t)*p);
                }
                if (!*p)
                        return;
        }
}

/* words_runs_dirs(value): is a program in it that runs a directory when it is given one? */
static bool words_runs_dirs(const char *value)
{
        static const char *const programs[] = {"python", "pypy", "node", "deno", "bun", "tsx"};
        for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
                if (strstr(value, programs[i]))
                        return true;
        return false;
}

/* words_split(x, value, by): apart wherever a path may begin or end. */
static void words_split(struct words *x, const char *value, const char *by)
{
        _cleanup_free_ char *all = str_dup(value);
        for (char *at = all, *word; (word = strsep(&at, by));)
                words_one(x, word);
}

/* words_installed(x, value): the program may be a link in a directory of PATH; and git calls
 * `credential.helper = x` by git-credential-x. */
static void words_installed(struct words *x, const char *value)
{
        const char *path = getenv("PATH");
        value += *value == '!';
        _cleanup_free_ char *name =
                str_fmt("%.*s", (int)strcspn(value, " \t\r\n;|&<>()\"'"), value);
        _cleanup_free_ char *all = str_dup(path ? path : "");
        if (!*name || strchr(name, '/'))
                return;
        for (char *at = all, *dir; (dir = strsep(&at, ":"));) {
                struct stat st;
                _cleanup_free_ char *own = str_fmt("%s/%s", dir, name);
                _cleanup_free_ char *helper = str_fmt("%s/git-credential-%s", dir, name);
                if (*dir == '/' && lstat(own, &st) == 0)
                        words_place(x->to, &x->to->files, own);
                if (*dir == '/' && lstat(helper, &st) == 0)
                        words_place(x->to, &x->to->files, helper);
        }
}

/* words_whole(x, list, value): the value is a path. */
static void words_whole(struct words *x, struct strs *list, const char *value)
{
        _cleanup_free_ char *path = git_user_path(x->user, value, NULL);
        if (*path == '/') {
                words_place(x->to, list, path);
                return;
        }
        for (size_t i = 0; i < x->bases->n; i++) {
                _cleanup_free_ char *full = str_fmt("%s/%s", x->bases->v[i], path);
                words_place(x->to, list, full);
        }
}

void git_words_add(struct git_words *w, const struct git_user *u, const struct git_config_entry *e,
                   const struct strs *bases)
{
        struct words x = {.to = w, .user = u, .bases = bases};
        if (!e->value || !*e->value || git_config_is_plain(e) || WORDS_IS(harmless, e->key) ||
            git_user_is_include(e->key) || strcmp(e->key, "core.hookspath") == 0)
                return;
        if (strcmp(e->key, "core.attributesfile") == 0) {
                words_whole(&x, &w->attributes, e->value);
                return;
        }
        words_whole(&x, &w->files, e->value);
        if (!WORDS_IS(commands, e->key))
                return;
        /* An alias that is no line for a shell is one for git: of it only paths count. */
        x.is_loose = !str_starts(e->key, "alias.") || *e->value == '!';
        x.dirs = words_runs_dirs(e->value) ? &w->dirs : &w->tops;
        const char *value = e->value + (*e->value == '!');
        for (size_t i = 0; i < bases->n; i++)
                words_place(w, &w->tops, bases->v[i]);
        words_quoted(&x, value);
        words_split(&x, value, " \t\r\n;|&<>()`\"'{}");
        words_split(&x, value, " \t\r\n;|&<>()`\"'{}=:,@!");
        words_installed(&x, e->value);
}
