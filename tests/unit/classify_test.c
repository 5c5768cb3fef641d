/* classify_test.c - changes judged by the shape of the directories around them, by what they hold,
 * and by what the repository's own settings point to (cases 60 to 63). Two plain directories stand
 * for before and after. */
#include "base/err.h"
#include "policy/file_class.h"
#include "unit/check.h"
#include "workspace/classify.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[] = "/tmp/ostiary-classify.XXXXXX";

static void put(const char *side, const char *path, const char *text)
{
        char full[512];
        snprintf(full, sizeof full, "%s/%s/%s", top, side, path);
        for (char *p = full + strlen(top) + 1; (p = strchr(p, '/')); p++) {
                *p = '\0';
                mkdir(full, 0755);
                *p = '/';
        }
        if (full[strlen(full) - 1] == '/')
                return;
        FILE *f = fopen(full, "we");
        if (!f)
                abort();
        fputs(text, f);
        fclose(f);
}

static void both(const char *path, const char *text)
{
        put("a", path, text);
        put("b", path, text);
}

static enum ws_kind kind_of(const struct ws_view *v, const char *path, struct ws_node *n)
{
        struct err err = {0};
        if (ws_view_look(v, path, n, &err) < 0)
                abort();
        return n->kind;
}

static struct ws_root root;

static void is(const char *path, enum file_class class, const char *why)
{
        struct classify *c = classify_new(&root, NULL);
        struct ws_change change = {.root = &root, .path = (char *)(uintptr_t)path};
        kind_of(&root.before, path, &change.before);
        kind_of(&root.after, path, &change.after);
        change.what = change.before.kind == WS_NONE  ? WS_ADDED
                      : change.after.kind == WS_NONE ? WS_DELETED
                                                     : WS_MODIFIED;
        classify_change(c, &change);
        check(change.class.class == class && (!why || strstr(change.class.why, why)), path,
              "is %s (%s), wanted %s (%s)", file_class_name(change.class.class), change.class.why,
              file_class_name(class), why ? why : "");
        classify_free(c);
}

static void make_trees(void)
{
        static const char tame[] = "[core]\n bare = false\n";
        char full[512];
        /* an ordinary repository */
        both(".git/HEAD", "ref: x\n");
        both(".git/objects/", "");
        both(".git/refs/", "");
        put("a", ".git/config",
            "[core]\n bare = false\n hooksPath = tools/hooks\n"
            "[include]\n path = ../shared.cfg\n");
        put("b", ".git/config",
            "[core]\n bare = false\n hooksPath = tools/hooks\n"
            "[include]\n path = ../shared.cfg\n[user]\n name = x\n");
        put("b", "tools/hooks/pre-commit", "x");
        put("b", "tools/other", "x");
        put("b", "shared.cfg", "[alias]\n x = !id\n");
        put("b", ".git/hooks/pre-commit", "x");
        put("b", ".git/config.worktree", "[core]\n fsmonitor = x\n");
        /* a bare repository that appears whole (case 62) */
        put("b", "docs/bare/HEAD", "ref: x\n");
        put("b", "docs/bare/objects/", "");
        put("b", "docs/bare/refs/", "");
        put("b", "docs/bare/config", "[core]\n bare = true\n fsmonitor = x\n");
        put("b", "docs/bare/hooks/post-checkout", "x");
        put("b", "docs/bare/description", "x");
        put("b", "docs/bare/hooks/a.sample", "x");
        /* one that was there; its HEAD goes, its hooks change */
        put("a", "old/HEAD", "ref: x\n");
        both("old/objects/", "");
        both("old/refs/", "");
        put("a", "old/hooks/pre-push", "x");
        put("b", "old/hooks/pre-push", "y");
        put("b", "old/config", tame);
        /* one by commondir */
        put("b", "wt/HEAD", "x");
        put("b", "wt/commondir", "/elsewhere");
        put("b", "wt/config", "[alias]\n x = !id\n");
        /* what only sounds like one */
        put("b", "src/hooks/useThing.ts", "x");
        put("b", "src/config", "[core]\n fsmonitor = x\n");
        put("b", "app/HEAD", "x");
        put("b", "app/config", "x");
        /* a new clone below, as git makes it */
        put("b", "sub/.git/HEAD", "ref: x\n");
        put("b", "sub/.git/objects/", "");
        put("b", "sub/.git/refs/", "");
        put("b", "sub/.git/config", tame);
        put("b", "mod/.git", "gitdir: ../.git/modules/mod\n");
        put("b", ".git/modules/mod/HEAD", "x");
        put("b", ".git/modules/mod/config", "[core]\n worktree = ../../../mod\n");
        /* content */
        put("b", ".gitattributes", "* text=auto\n");
        put("b", "x/.gitattributes", "*.c filter=evil\n");
        put("b", ".gitmodules", "[submodule \"m\"]\n path = m\n url = https://x/y\n");
        put("b", "y/.gitmodules", "[submodule \"m\"]\n branch = main\n");
        put("b", ".vscode/tasks.json", "{}");
        put("a", "gone/.envrc", "x");
        snprintf(full, sizeof full, "%s/b/lnk", top);
        mkdir(full, 0755);
        snprintf(full, sizeof full, "%s/b/lnk/.gitattributes", top);
        if (symlink("../x", full) < 0)
                abort();
        snprintf(full, sizeof full, "%s/b/lnk/.git", top);
        if (symlink("../sub/.git", full) < 0)
                abort();
        snprintf(full, sizeof full, "%s/b/.idea", top);
        if (symlink("lib", full) < 0)
                abort();
}

/* As a live workspace is judged: there is no before, and it changes meanwhile. */
static void test_meanwhile(int dir_fd, char *dir)
{
        struct ws_root now = {.kind = WS_ROOT_LIVE, .host = dir, .host_fd = dir_fd};
        struct file_class_verdict v;
        const struct strs *configs = NULL;
        const struct git_words *run = NULL;
        ws_view_add(&now.after, dir_fd, false);
        struct classify *c = classify_new(&now, NULL);
        const struct strs *hooks = classify_named(c, &configs, &run);
        check(strs_has(hooks, "tools/hooks"), "hooks that settings name", "are not among %zu",
              hooks->n);
        check(strs_has(configs, "shared.cfg"), "configuration that settings name",
              "is not among %zu", configs->n);
        classify_path(c, "late/HEAD", WS_FILE, &v);
        check(!classify_makes_git(&v), "control: a HEAD alone", "is %s", v.why);
        put("b", "late/objects/", "");
        put("b", "late/refs/", "");
        put("b", "late/HEAD", "ref: refs/heads/x");
        classify_forget(c);
        classify_path(c, "late/HEAD", WS_FILE, &v);
        check(classify_makes_git(&v), "a directory that becomes a git directory", "is %s", v.why);
        classify_path(c, ".git/HEAD", WS_FILE, &v);
        check(!classify_makes_git(&v), "one that is called .git was one before", "is %s", v.why);
        classify_free(c);
        ws_view_free(&now.after);
}

/* A hooks directory of every repository, and settings that lie in the workspace: dotfiles. */
static void test_user(void)
{
        char path[128];
        is("my/hooks/pre-commit", FILE_PLAIN, NULL);
        is("dots/git-settings", FILE_PLAIN, NULL);
        put("home", "text",
            "[core]\n hooksPath = my/hooks\n[include]\n path = ~/../b/dots/included\n"
            "[includeIf \"gitdir:~/\"]\n path = ../b/dots/mine\n");
        snprintf(path, sizeof path, "%s/home", top);
        setenv("HOME", path, 1);
        snprintf(path, sizeof path, "%s/home/.gitconfig", top);
        if (symlink("text", path) < 0)
                abort();
        is("my/hooks/pre-commit", FILE_RUNS_ON_COMMIT, "core.hooksPath");
        is("my/other", FILE_PLAIN, NULL);
        is("dots/included", FILE_RUNS_ON_COMMIT, "core.pager");
        is("dots/mine", FILE_RUNS_ON_COMMIT, "core.pager");
        is("dots/git-settings", FILE_PLAIN, NULL);
        if (unlink(path) < 0 || symlink("../b/dots/git-settings", path) < 0)
                abort();
        is("dots/git-settings", FILE_RUNS_ON_COMMIT, "core.pager");
        setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
        is("dots/git-settings", FILE_PLAIN, NULL);
        unsetenv("GIT_CONFIG_GLOBAL");
        setenv("HOME", "/nonexistent", 1);
}

int main(void)
{
        char dir[64];
        if (!mkdtemp(top))
                return 1;
        setenv("HOME", "/nonexistent", 1);
        unsetenv("GIT_CONFIG_GLOBAL");
        unsetenv("XDG_CONFIG_HOME");
        put("b", "my/hooks/pre-commit", "#!/bin/sh\n");
        put("b", "my/other", "x");
        for (size_t i = 0; i < 3; i++)
                put("b",
                    (const char *const[]){"dots/included", "dots/mine", "dots/git-settings"}[i],
                    "[core]\n pager = run-me\n");
        make_trees();
        snprintf(dir, sizeof dir, "%s/a", top);
        int a = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        snprintf(dir, sizeof dir, "%s/b", top);
        int b = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        root = (struct ws_root){.name = (char *)(uintptr_t) "ws", .host = dir, .host_fd = a};
        ws_view_add(&root.before, a, false);
        ws_view_add(&root.after, b, false);

        test_user();
        is(".git/config", FILE_PLAIN, "");
        is(".git/config.worktree", FILE_RUNS_ON_COMMIT, "core.fsmonitor");
        is(".git/hooks/pre-commit", FILE_RUNS_ON_COMMIT, "hook");
        is(".git/hooks", FILE_PLAIN, NULL);
        is("tools/hooks/pre-commit", FILE_RUNS_ON_COMMIT, "core.hooksPath");
        is("tools/hooks", FILE_PLAIN, NULL);
        is("tools/other", FILE_PLAIN, NULL);
        is("shared.cfg", FILE_RUNS_ON_COMMIT, "alias.x");
        is("docs/bare/HEAD", FILE_RUNS_ON_COMMIT, "git directory");
        is("docs/bare/objects", FILE_RUNS_ON_COMMIT, "git directory");
        is("docs/bare/config", FILE_RUNS_ON_COMMIT, "core.");
        is("docs/bare/hooks/post-checkout", FILE_RUNS_ON_COMMIT, "hook");
        is("docs/bare/hooks/a.sample", FILE_PLAIN, NULL);
        is("docs/bare/description", FILE_PLAIN, NULL);
        is("docs/bare", FILE_PLAIN, NULL);
        is("old/hooks/pre-push", FILE_RUNS_ON_COMMIT, "hook");
        is("old/config", FILE_PLAIN, NULL);
        is("wt/config", FILE_RUNS_ON_COMMIT, "alias.x");
        is("wt/commondir", FILE_RUNS_ON_COMMIT, NULL);
        is("src/hooks/useThing.ts", FILE_PLAIN, NULL);
        is("src/config", FILE_PLAIN, NULL);
        /* one part more than HEAD is enough: a later apply could bring the rest */
        is("app/HEAD", FILE_RUNS_ON_COMMIT, "git directory");
        is("app/config", FILE_RUNS_ON_COMMIT, NULL);
        is("sub/.git/HEAD", FILE_PLAIN, NULL);
        is("sub/.git/config", FILE_PLAIN, NULL);
        is("sub/.git", FILE_PLAIN, NULL);
        is("mod/.git", FILE_RUNS_ON_COMMIT, "pointer");
        is(".git/modules/mod/HEAD", FILE_PLAIN, NULL);
        is(".git/modules/mod/config", FILE_RUNS_ON_COMMIT, "core.worktree");
        is(".gitattributes", FILE_PLAIN, NULL);
        is("x/.gitattributes", FILE_RUNS_ON_COMMIT, "filter=evil");
        is(".gitmodules", FILE_RUNS_ON_COMMIT, "submodule.m.");
        is("y/.gitmodules", FILE_PLAIN, NULL);
        is(".vscode/tasks.json", FILE_RUNS_ON_OPEN, NULL);
        is(".vscode", FILE_PLAIN, NULL);
        is("gone/.envrc", FILE_RUNS_ON_OPEN, NULL);
        is("lnk/.gitattributes", FILE_RUNS_ON_COMMIT, NULL);
        is("lnk/.git", FILE_RUNS_ON_COMMIT, NULL);
        is(".idea", FILE_RUNS_ON_OPEN, NULL);

        test_meanwhile(b, dir);

        /* a root that is a git directory itself, as one that lies outside of the workspace */
        struct ws_root whole = root;
        int ga = openat(a, ".git", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int gb = openat(b, ".git", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        root.before = root.after = (struct ws_view){0};
        ws_view_add(&root.before, ga, false);
        ws_view_add(&root.after, gb, false);
        is("hooks/pre-commit", FILE_RUNS_ON_COMMIT, "hook");
        is("config.worktree", FILE_RUNS_ON_COMMIT, "core.fsmonitor");
        is("config", FILE_PLAIN, NULL);
        is("HEAD", FILE_PLAIN, NULL);
        is("modules/mod/config", FILE_RUNS_ON_COMMIT, NULL);
        ws_view_free(&root.before);
        ws_view_free(&root.after);
        ws_view_free(&whole.before);
        ws_view_free(&whole.after);
        close(ga);
        close(gb);
        close(a);
        close(b);
        char cmd[128];
        snprintf(cmd, sizeof cmd, "rm -rf %s", top);
        return system(cmd) == 0 ? check_end() : 1;
}
