/* toolchain_test.c - commands and PATH in every layout that people have, built in a scratch home.
 */
#include "base/err.h"
#include "base/str.h"
#include "session/toolchain.h"
#include "session/toolchain_int.h"
#include "unit/check.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char home[] = "/tmp/ostiary-tools.XXXXXX";

static char *at(const char *rel)
{
        static char slots[16][512];
        static unsigned next;
        char *s = slots[next++ % 16];
        snprintf(s, sizeof slots[0], "%s%s%s", home, *rel ? "/" : "", rel);
        return s;
}

static void dirs_of(const char *path)
{
        char copy[512];
        snprintf(copy, sizeof copy, "%s", path);
        for (char *p = copy + 1; (p = strchr(p, '/')); p++) {
                *p = 0;
                mkdir(copy, 0755);
                *p = '/';
        }
}

static void put(const char *rel, const char *text)
{
        char *path = at(rel);
        dirs_of(path);
        FILE *f = fopen(path, "w");
        if (f) {
                fputs(text, f);
                fclose(f);
        }
        chmod(path, 0755);
}

static void lnk(const char *rel, const char *to)
{
        char *path = at(rel);
        dirs_of(path);
        if (symlink(to, path) < 0)
                perror(path);
}

static int rm_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
        (void)st, (void)flag, (void)ftw;
        return remove(path);
}

static const struct toolchain_item *item(const struct toolchain_set *s, const char *path)
{
        for (size_t i = 0; i < s->items_n; i++)
                if (strcmp(s->items[i].path, path) == 0)
                        return &s->items[i];
        return NULL;
}

static bool is_tree(const struct toolchain_set *s, const char *rel)
{
        const struct toolchain_item *it = item(s, at(rel));
        return it && it->kind == TOOLCHAIN_TREE;
}

static bool is_link(const struct toolchain_set *s, const char *rel)
{
        const struct toolchain_item *it = item(s, at(rel));
        return it && it->kind == TOOLCHAIN_LINK;
}

static bool is_file(const struct toolchain_set *s, const char *rel)
{
        const struct toolchain_item *it = item(s, at(rel));
        return it && it->kind == TOOLCHAIN_FILE;
}

static void show(const struct toolchain_set *s)
{
        for (size_t i = 0; i < s->items_n; i++)
                printf("# %d %s (%s)\n", (int)s->items[i].kind, s->items[i].path, s->items[i].why);
        for (size_t i = 0; i < s->path.n; i++)
                printf("# PATH %s\n", s->path.v[i]);
}

/* Resolve ${word} with a PATH of "REL:/usr/bin:/bin"; the set is the caller's. */
static int run(const char *path_rel, const char *word, struct toolchain_set *s, struct err *err)
{
        char path[2048];
        snprintf(path, sizeof path, "%s%s/usr/bin:/bin", path_rel ? at(path_rel) : "",
                 path_rel ? ":" : "");
        struct toolchain_query q = {.path_env = path, .home = home};
        memset(s, 0, sizeof *s);
        toolchain_path(&q, s, err);
        return toolchain_resolve(&q, word, s, err);
}

#define LAYOUT(name, path_rel, word, cond)                                                         \
        do {                                                                                       \
                struct toolchain_set s;                                                            \
                struct err err = {0};                                                              \
                int r = run(path_rel, word, &s, &err);                                             \
                if (!CHECK(name, r == 0 && (cond))) {                                              \
                        printf("# %s\n", err.text);                                                \
                        show(&s);                                                                  \
                }                                                                                  \
                toolchain_free(&s);                                                                \
        } while (0)

static void build(void)
{
        /* nvm with a global package */
        put(".nvm/versions/node/v20.1.0/bin/node", "ELF");
        put(".nvm/versions/node/v20.1.0/lib/node_modules/agent/cli.js", "#!/usr/bin/env node\n");
        lnk(".nvm/versions/node/v20.1.0/bin/agent", "../lib/node_modules/agent/cli.js");
        put(".nvm/alias/default", "20");

        /* npm with a prefix of its own, node from nvm */
        put("prefix/lib/node_modules/tool/x.js", "#!/usr/bin/env -S node --flag\n");
        lnk("prefix/bin/tool", "../lib/node_modules/tool/x.js");

        /* fnm: PATH names a link that the shell made */
        put(".local/share/fnm/node-versions/v22/installation/bin/node22", "ELF");
        lnk("run/multishell_1", at(".local/share/fnm/node-versions/v22/installation"));

        /* volta, pyenv, rustup */
        put(".volta/bin/volta-shim", "ELF");
        lnk(".volta/bin/yarnx", "volta-shim");
        put(".pyenv/libexec/pyenv", "#!/usr/bin/env bash\n");
        put(".pyenv/shims/pyx", "#!/usr/bin/env bash\nexec \"x\"\n");
        put(".cargo/bin/rustup", "ELF");
        lnk(".cargo/bin/cargo", "rustup");
        put(".cargo/credentials.toml", "token");
        put(".rustup/toolchains/stable/bin/cargo", "ELF");
        put(".rustup/settings.toml", "x");

        /* uv tool on a uv python, linked from ~/.local/bin */
        put(".local/share/uv/python/cpython-3.12.1/bin/python3.12", "ELF");
        put(".local/share/uv/tools/aider-chat/pyvenv.cfg", "home = /nowhere\n");
        lnk(".local/share/uv/tools/aider-chat/bin/python",
            at(".local/share/uv/python/cpython-3.12.1/bin/python3.12"));
        char shebang[600];
        snprintf(shebang, sizeof shebang, "#!%s\n",
                 at(".local/share/uv/tools/aider-chat/bin/python"));
        put(".local/share/uv/tools/aider-chat/bin/aider", shebang);
        lnk(".local/bin/aider", at(".local/share/uv/tools/aider-chat/bin/aider"));

        /* pipx, whose interpreter line was too long for the kernel */
        put(".local/share/pipx/venvs/httpie/pyvenv.cfg", "home = /usr/bin\n");
        lnk(".local/share/pipx/venvs/httpie/bin/python", "/usr/bin/env");
        snprintf(shebang, sizeof shebang, "#!/bin/sh\n'''exec' \"%s\" \"$0\" \"$@\"\n' '''\n",
                 at(".local/share/pipx/venvs/httpie/bin/python"));
        put(".local/share/pipx/venvs/httpie/bin/http", shebang);
        lnk(".local/bin/http", at(".local/share/pipx/venvs/httpie/bin/http"));

        /* a venv made with copies, on pyenv */
        put(".pyenv/versions/3.11/bin/python3", "ELF");
        char cfg[600];
        snprintf(cfg, sizeof cfg, "home = %s\nversion = 3\n", at(".pyenv/versions/3.11/bin"));
        put("envs/mine/pyvenv.cfg", cfg);
        put("envs/mine/bin/python", "ELF");
        put("envs/linked/pyvenv.cfg", cfg);
        lnk("envs/linked/bin/python", at(".pyenv/versions/3.11/bin/python3"));
        put("envs/mine/bin/pytool", "#!/usr/bin/env python\n");

        /* agents that install themselves, and programs by themselves */
        put(".local/share/claude/versions/2.1", "ELF");
        lnk(".local/bin/claude", at(".local/share/claude/versions/2.1"));
        snprintf(shebang, sizeof shebang, "#!/bin/bash\nexec \"%s\" \"$@\"\n",
                 at(".claude/local/node_modules/.bin/claude-local"));
        put(".claude/local/claude-local", shebang);
        put(".claude/local/node_modules/.bin/claude-local", "ELF");
        put(".claude/.credentials.json", "{}");
        put(".local/bin/kiro-cli", "ELF");
        put(".local/bin/kiro-cli-chat", "ELF");
        put(".local/bin/kiro", "ELF");
        put(".fly/bin/flyctl", "ELF");
        put(".fly/config.yml", "token");
        put("apps/thing-1.2/bin/thing", "ELF");
        put("apps/thing-1.2/lib/libthing.so", "ELF");
        put("Downloads/single", "ELF");
        put(".ssh/evil", "ELF");
        put("bin/sneaky", "#!/bin/sh\nexec $HOME/.ssh/evil\n");
        put("src/dev/package.json", "{}");
        put("src/dev/cli.js", "#!/usr/bin/env node\n");
        lnk("bin/devtool", "../src/dev/cli.js");

        /* moved elsewhere by a link, as people do when a disk is full */
        put("disk/sdkman/candidates/java/21/bin/java21", "ELF");
        lnk("disk/sdkman/candidates/java/current", "21");
        lnk(".sdkman", at("disk/sdkman"));

        put("go/bin/gopls", "ELF");
        put(".local/share/mise/installs/ruby/3.3/bin/ruby33", "ELF");
        lnk(".local/share/mise/installs/ruby/latest", "3.3");
        put(".local/share/mise/shims/ruby33", "ELF");
        put("plain", "not executable");
        chmod(at("plain"), 0644);
}

static void test_layouts(void)
{
        LAYOUT("a command below /usr needs nothing", NULL, "true", s.items_n == 0);
        LAYOUT("nvm: the version's directory and no other", ".nvm/versions/node/v20.1.0/bin",
               "agent", s.items_n == 1 && is_tree(&s, ".nvm/versions/node/v20.1.0"));
        LAYOUT("fnm: the shell's link on PATH becomes the directory itself", "run/multishell_1/bin",
               "node22",
               is_tree(&s, ".local/share/fnm/node-versions/v22") &&
                       strcmp(s.exe,
                              at(".local/share/fnm/node-versions/v22/installation/bin/node22")) ==
                               0 &&
                       strs_has(&s.path,
                                at(".local/share/fnm/node-versions/v22/installation/bin")));
        LAYOUT("volta: shims with their images", ".volta/bin", "yarnx", is_tree(&s, ".volta"));
        LAYOUT("pyenv: shims with their versions", ".pyenv/shims", "pyx", is_tree(&s, ".pyenv"));
        LAYOUT("rustup: programs and toolchains, no credentials", ".cargo/bin", "cargo",
               is_tree(&s, ".cargo/bin") && is_tree(&s, ".rustup/toolchains") &&
                       is_file(&s, ".rustup/settings.toml") && s.items_n == 3 &&
                       strcmp(s.exe, at(".cargo/bin/cargo")) == 0);
        LAYOUT("uv: the tool, its python, the link to it", ".local/bin", "aider",
               is_tree(&s, ".local/share/uv/tools/aider-chat") &&
                       is_tree(&s, ".local/share/uv/python/cpython-3.12.1") &&
                       is_link(&s, ".local/bin/aider") && s.items_n == 3);
        LAYOUT("pipx: the venv of the tool only", ".local/bin", "http",
               is_tree(&s, ".local/share/pipx/venvs/httpie") && is_link(&s, ".local/bin/http") &&
                       s.items_n == 2);
        LAYOUT("a venv brings the python it was made from", "envs/mine/bin", "pytool",
               is_tree(&s, "envs/mine") && is_tree(&s, ".pyenv"));
        LAYOUT("a venv's python called by its path", NULL, at("envs/linked/bin/python"),
               is_tree(&s, "envs/linked") && is_tree(&s, ".pyenv"));
        LAYOUT("claude's own installer: versions and the link", ".local/bin", "claude",
               is_tree(&s, ".local/share/claude/versions") && is_link(&s, ".local/bin/claude") &&
                       s.items_n == 2);
        LAYOUT("claude's local install, without its credentials", ".claude/local", "claude-local",
               is_tree(&s, ".claude/local") && s.items_n == 1);
        LAYOUT("a program by itself brings those of its name", ".local/bin", "kiro-cli",
               is_file(&s, ".local/bin/kiro-cli") && is_file(&s, ".local/bin/kiro-cli-chat") &&
                       s.items_n == 2);
        LAYOUT("a folder of programs, not the settings beside it", ".fly/bin", "flyctl",
               is_tree(&s, ".fly/bin") && s.items_n == 1);
        LAYOUT("a package with bin and lib", "apps/thing-1.2/bin", "thing",
               is_tree(&s, "apps/thing-1.2") && s.items_n == 1);
        LAYOUT("a program in Downloads is shown alone", "Downloads", "single",
               is_file(&s, "Downloads/single") && s.items_n == 1 &&
                       strcmp(s.path.v[0], at("Downloads")) == 0);
        LAYOUT("a package under development", "bin", "devtool",
               is_tree(&s, "src/dev") && is_link(&s, "bin/devtool"));
        LAYOUT("a wrapper cannot lead to keys", "bin", "sneaky",
               is_file(&s, "bin/sneaky") && s.items_n == 1);
        LAYOUT("a toolchain behind a link", ".sdkman/candidates/java/current/bin", "java21",
               is_tree(&s, "disk/sdkman/candidates") && is_link(&s, ".sdkman"));
        LAYOUT("go programs", "go/bin", "gopls",
               is_tree(&s, "go/bin") && strs_get_env(&s.env, "GOBIN"));
        LAYOUT("mise: installs take the place of shims", ".local/share/mise/shims", "true",
               strs_has(&s.path, at(".local/share/mise/installs/ruby/3.3/bin")));
}

static void test_prefix(void)
{
        char path[1024];
        snprintf(path, sizeof path, "%s:%s:relative::/usr/bin:/nonexistent/bin:%s",
                 at("prefix/bin"), at(".nvm/versions/node/v20.1.0/bin"), at("Downloads"));
        struct toolchain_query q = {.path_env = path, .home = home};
        struct toolchain_set s = {0};
        struct err err = {0};
        toolchain_path(&q, &s, &err);
        int r = toolchain_resolve(&q, "tool", &s, &err);
        if (!CHECK("npm prefix: programs and packages, node from nvm",
                   r == 0 && is_tree(&s, "prefix/bin") && is_tree(&s, "prefix/lib/node_modules") &&
                           is_tree(&s, ".nvm/versions/node/v20.1.0") && s.items_n == 3))
                show(&s);
        char want[2048], *got = toolchain_path_env(&s);
        snprintf(want, sizeof want, "%s:%s:/usr/bin:/usr/local/bin:/bin", at("prefix/bin"),
                 at(".nvm/versions/node/v20.1.0/bin"));
        CHECK("PATH keeps its order and only what is visible", strcmp(got, want) == 0);
        CHECK("what is left out of PATH has a reason", s.left_out.n == 4);
        free(got);
        toolchain_free(&s);
}

static void test_elsewhere(void)
{
        /* Not below the home: /srv/tools/now -> v1 and the like. */
        char home2[600], path[600];
        snprintf(home2, sizeof home2, "%s", at("house"));
        snprintf(path, sizeof path, "%s:/usr/bin", at("srv/now/bin"));
        put("srv/v1/bin/thing-1", "ELF");
        put("srv/v1/lib/x", "");
        lnk("srv/v1/bin/thing", "thing-1");
        lnk("srv/now", "v1");
        struct toolchain_query q = {.path_env = path, .home = home2};
        struct toolchain_set s = {0};
        struct err err = {0};
        toolchain_path(&q, &s, &err);
        int r = toolchain_resolve(&q, "thing", &s, &err);
        if (!CHECK("what is reached through a link elsewhere is executed by its own name",
                   r == 0 && is_tree(&s, "srv/v1") && s.is_moved &&
                           strcmp(s.exe, at("srv/v1/bin/thing-1")) == 0))
                printf("# %s %s\n", err.text, s.exe), show(&s);
        toolchain_free(&s);
}

static void test_workspace(void)
{
        char work[600], text[700];
        snprintf(work, sizeof work, "%s", at("work"));
        struct toolchain_query q = {.path_env = "/usr/bin:/bin", .home = home, .workspace = work};
        struct toolchain_set s = {0};
        struct err err = {0};

        snprintf(text, sizeof text, "home = %s\n", at(".pyenv/versions/3.11/bin"));
        put("work/.venv/pyvenv.cfg", text);
        lnk("work/.venv/bin/python", at(".local/share/uv/python/cpython-3.12.1/bin/python3.12"));
        toolchain_path(&q, &s, &err);
        if (!CHECK("a venv in the project brings its python from known toolchains",
                   is_tree(&s, ".local/share/uv/python/cpython-3.12.1") && is_tree(&s, ".pyenv") &&
                           s.items_n == 2))
                show(&s);
        toolchain_free(&s);
        unlink(at("work/.venv/pyvenv.cfg"));

        /* The same ways used by somebody who wants to see files of the user. */
        put("private/package.json", "{}");
        put("private/letter", "ELF");
        snprintf(text, sizeof text, "#!%s\nexec %s\n", at("private/letter"),
                 at("Downloads/single"));
        put("work/run", text);
        snprintf(text, sizeof text, "#!/bin/sh\nexec %s\n", at("private/letter"));
        put("work/run2", text);
        lnk("work/run3", at("private/letter"));
        snprintf(text, sizeof text, "home = %s\n", at("apps/thing-1.2/bin"));
        put("work/venv/pyvenv.cfg", text);
        put("apps/thing-1.2/bin/python3", "ELF");
        lnk("work/venv/bin/python", at("private/letter"));
        toolchain_path(&q, &s, &err);
        (void)toolchain_resolve(&q, "./run", &s, &err);
        (void)toolchain_resolve(&q, "./run2", &s, &err);
        int r = toolchain_resolve(&q, "./run3", &s, &err);
        size_t shown = 0;
        for (size_t i = 0; i < s.items_n; i++)
                shown += s.items[i].kind != TOOLCHAIN_LINK;
        if (!CHECK("files of a clone cannot name what is shown of the home",
                   shown == 0 && r < 0 && err.code == E_REFUSED))
                show(&s);
        toolchain_free(&s);
}

static void test_refusals(void)
{
        struct toolchain_set s;
        struct err err = {0};
        CHECK("a missing command says so, and how to install it",
              run(NULL, "opencode", &s, &err) < 0 && err.code == E_NOCMD &&
                      strstr(err.text, "is not on your PATH") && strstr(err.text, "npm install"));
        toolchain_free(&s);
        CHECK("a command that may not be executed says so",
              run(NULL, at("plain"), &s, &err) < 0 && err.code == E_NOEXEC);
        toolchain_free(&s);
        CHECK("a program among keys is refused",
              run(NULL, at(".ssh/evil"), &s, &err) < 0 && err.code == E_REFUSED && s.items_n == 0);
        toolchain_free(&s);

        struct toolchain_query q = {.path_env = "", .home = home};
        struct toolchain_finder f;
        memset(&s, 0, sizeof s);
        toolchain_finder_open(&f, &q, &s);
        static const char *const never[] = {"",
                                            ".local",
                                            ".local/share",
                                            ".config",
                                            ".ssh",
                                            ".ssh/x",
                                            ".aws",
                                            ".cargo",
                                            ".claude",
                                            ".config/gcloud/x",
                                            ".local/share/ostiary/x"};
        bool all = true;
        for (size_t i = 0; i < sizeof never / sizeof *never; i++)
                all &= toolchain_refused(&f, at(never[i])) != NULL;
        CHECK("no directory that holds keys or our state is ever shown",
              all && toolchain_refused(&f, "/") && toolchain_refused(&f, "/tmp") &&
                      toolchain_refused(&f, "/home") && toolchain_refused(&f, "/run/user/1/x") &&
                      !toolchain_refused(&f, at(".nvm/versions")));
        toolchain_finder_close(&f);

        /* A variable cannot widen it. */
        char var[600];
        snprintf(var, sizeof var, "PYENV_ROOT=%s", home);
        char *env[] = {var, NULL};
        char path[600];
        snprintf(path, sizeof path, "%s", at("Downloads"));
        q = (struct toolchain_query){.path_env = path, .home = home, .env = env};
        toolchain_path(&q, &s, &err);
        CHECK("a variable that names the home shows nothing", s.items_n == 0);
        toolchain_free(&s);
}

static void test_scripts(void)
{
        static const struct {
                const char *head, *interpreter, *word;
        } heads[] = {
                {"#!/bin/sh\n", "/bin/sh", NULL},
                {"#! /usr/bin/env node\n", "/usr/bin/env", "node"},
                {"#!/usr/bin/env -S FOO=1 deno run\n", "/usr/bin/env", "deno"},
                {"#!/usr/bin/env -Sdeno run\n", "/usr/bin/env", "deno"},
                {"#!/usr/bin/python3 -I\r\n", "/usr/bin/python3", NULL},
                {"#!node\n", NULL, NULL},
                {"\177ELF", NULL, NULL},
                {"#!", NULL, NULL},
                {"#!/usr/bin/env\n", "/usr/bin/env", NULL},
        };
        bool all = true;
        for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
                struct toolchain_script s;
                toolchain_script_parse(heads[i].head, strlen(heads[i].head), "/h", &s);
                bool same = (!s.interpreter == !heads[i].interpreter) &&
                            (!s.interpreter || strcmp(s.interpreter, heads[i].interpreter) == 0) &&
                            (!s.word == !heads[i].word) &&
                            (!s.word || strcmp(s.word, heads[i].word) == 0);
                if (!same)
                        printf("# %zu: %s %s\n", i, s.interpreter, s.word);
                all &= same;
                toolchain_script_free(&s);
        }
        CHECK("the first line of a script is read as the kernel and env read it", all);
}

int main(void)
{
        if (!mkdtemp(home))
                return 1;
        build();
        test_layouts();
        test_prefix();
        test_elsewhere();
        test_workspace();
        test_refusals();
        test_scripts();
        nftw(home, rm_one, 16, FTW_DEPTH | FTW_PHYS);
        return check_end();
}
