/* gitdirs_test.c - linked worktrees and submodules as git makes them, and pointers that lie. */
#include "base/err.h"
#include "base/str.h"
#include "base/strs.h"
#include "session/gitconf.h"
#include "session/gitdirs.h"
#include "unit/check.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char top[] = "/tmp/ostiary-gitdirs.XXXXXX";

static char *at(const char *rel)
{
        static char slots[16][512];
        static unsigned next;
        char *s = slots[next++ % 16];
        snprintf(s, sizeof slots[0], "%s%s%s", top, *rel ? "/" : "", rel);
        return s;
}

static void put(const char *rel, const char *text)
{
        char *path = at(rel);
        for (char *p = path + 1; (p = strchr(p, '/')); p++) {
                *p = 0;
                mkdir(path, 0755);
                *p = '/';
        }
        FILE *f = fopen(path, "w");
        if (f) {
                fputs(text, f);
                fclose(f);
        }
}

/* Run a line of shell in the scratch directory with git kept away from the user's settings. */
static bool sh(const char *line)
{
        char all[1024];
        snprintf(all, sizeof all,
                 "cd '%s' && export HOME='%s' GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a "
                 "GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b && %s",
                 top, top, line);
        int status = system(all);
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int rm_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
        (void)st, (void)flag, (void)ftw;
        return remove(path);
}

/* The one directory found for ${rel}, or "" for none, or the reason behind "-". */
static const char *found(const char *rel)
{
        static char text[1100];
        struct strs dirs = {0}, notes = {0};
        struct err err = {0};
        if (gitdirs_find(at(rel), at("home"), &dirs, &notes, &err) < 0)
                snprintf(text, sizeof text, "!%s", err.text);
        else if (dirs.n > 1)
                snprintf(text, sizeof text, "!%zu directories", dirs.n);
        else if (dirs.n == 1)
                snprintf(text, sizeof text, "%s", dirs.v[0] + strlen(top) + 1);
        else if (notes.n)
                snprintf(text, sizeof text, "-%s", strchr(notes.v[0], '\n') + 1);
        else
                text[0] = 0;
        strs_free(&dirs);
        strs_free(&notes);
        return text;
}

static void test_real(void)
{
        if (!sh("git init -q main && cd main && git commit -q --allow-empty -m x && "
                "git worktree add -q ../tree 2>/dev/null")) {
                puts("skip worktrees as git makes them: git cannot be run here");
                return;
        }
        CHECK("a plain repository needs nothing", strcmp(found("main"), "") == 0);
        CHECK("a linked worktree needs the common directory",
              strcmp(found("tree"), "main/.git") == 0);

        bool made =
                sh("git init -q lib && (cd lib && git commit -q --allow-empty -m x) && cd main && "
                   "git -c protocol.file.allow=always submodule --quiet add ../lib sub "
                   ">/dev/null 2>&1");
        CHECK("a submodule opened by itself needs its module directory",
              made && strcmp(found("main/sub"), "main/.git/modules/sub") == 0);
        CHECK("the repository around it needs nothing", strcmp(found("main"), "") == 0);

        made = sh("git clone -q --shared main borrowed 2>/dev/null");
        CHECK("borrowed objects are said",
              made && str_starts(found("borrowed"), "-the repository borrows"));
        sh("mv tree moved");
        CHECK("a worktree that was moved is not believed",
              str_starts(found("moved"), "-the workspace's .git names it"));
}

static void test_lies(void)
{
        mkdir(at("home"), 0755);
        put("home/.git/HEAD", "ref: x\n");
        mkdir(at("home/.git/objects"), 0755);
        mkdir(at("home/.git/refs"), 0755);
        put("home/.git/config", "[core]\n\tbare = false\n");
        char text[700];

        snprintf(text, sizeof text, "gitdir: %s\n", at("home/.git"));
        put("clone/.git", text);
        CHECK("a pointer to somebody else's repository is refused (case 62)",
              str_starts(found("clone"), "-the workspace's .git names it"));

        put("clone2/.git", "gitdir: ../home/.ssh\n");
        mkdir(at("home/.ssh"), 0700);
        CHECK("a pointer to a directory that is no repository is refused (case 62)",
              str_starts(found("clone2"), "-the workspace's .git names it"));

        /* commondir leads away from the directory that points back */
        put("clone3/.git", "gitdir: ../fake/worktrees/x\n");
        put("fake/worktrees/x/commondir", "../../../home/.git\n");
        snprintf(text, sizeof text, "%s\n", at("clone3/.git"));
        put("fake/worktrees/x/gitdir", text);
        put("fake/worktrees/x/HEAD", "x\n");
        CHECK("a common directory that does not hold the worktree is refused (case 62)",
              str_starts(found("clone3"), "-the workspace's .git names it"));

        put("clone4/.git", "gitdir: nowhere\n");
        CHECK("a pointer to nothing is refused", str_starts(found("clone4"), "-it points to"));
        put("clone5/.git", "hello\n");
        CHECK("a .git that is no pointer is refused",
              str_starts(found("clone5"), "-it is not a pointer"));
        mkdir(at("clone6"), 0755);
        if (symlink("../home/.git", at("clone6/.git")) < 0)
                perror("symlink");
        CHECK("a .git that is a link is refused", str_starts(found("clone6"), "-it is neither"));
        CHECK("no .git at all needs nothing", strcmp(found("home/.ssh"), "") == 0);

        /* A repository that is the whole home directory and points back is still too much. */
        put("home/HEAD", "ref: x\n");
        mkdir(at("home/objects"), 0755);
        mkdir(at("home/refs"), 0755);
        put("home/config", "[core]\n\tworktree = ../clone7\n");
        put("clone7/.git", "gitdir: ../home\n");
        CHECK("the home directory is refused even if it points back",
              str_starts(found("clone7"), "-it is or holds your home"));
}

static void test_conf(void)
{
        static const struct {
                const char *text, *want;
        } cases[] = {
                {"[core]\nworktree = ../x\n", "../x"},
                {"[CORE]\n\tWorkTree=a\n", "a"},
                {"[core]\nworktree = \"a b\" ; c\n", "a b"},
                {"[core]\nworktree = a # c\n[core]\nworktree = b\n", "b"},
                {"[core \"x\"]\nworktree = a\n", NULL},
                {"[user]\nworktree = a\n", NULL},
                {"[core] worktree = a\n", "a"},
                {"[core]\nworktree = a\\\nb\n", "ab"},
                {"[core]\nworktree\n", NULL},
                {"[core", NULL},
                {"worktree = x", NULL},
                {"", NULL},
        };
        bool all = true;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                char *got = gitconf_get(cases[i].text, "core", "worktree");
                bool same = (!got == !cases[i].want) && (!got || strcmp(got, cases[i].want) == 0);
                if (!same)
                        printf("# %zu gave %s\n", i, got ? got : "nothing");
                all &= same;
                free(got);
        }
        CHECK("a git configuration is read as git reads it", all);
}

int main(void)
{
        if (!mkdtemp(top))
                return 1;
        test_real();
        test_lies();
        test_conf();
        nftw(top, rm_one, 16, FTW_DEPTH | FTW_PHYS);
        return check_end();
}
