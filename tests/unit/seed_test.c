/* seed_test.c - a home for the box: settings without secrets, within bounds, never through a link.
 */
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "base/strs.h"
#include "policy/profile.h"
#include "session/profiles.h"
#include "session/seed.h"
#include "unit/check.h"

#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[] = "/tmp/ostiary-seed.XXXXXX";

static char *at(const char *dir, const char *rel)
{
        static char slots[8][512];
        static unsigned next;
        char *s = slots[next++ % 8];
        snprintf(s, sizeof slots[0], "%s/%s%s%s", top, dir, *rel ? "/" : "", rel);
        return s;
}

static void put(const char *rel, const char *text)
{
        char *path = at("host", rel);
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

static char *got(const char *rel)
{
        return fdio_read_file(AT_FDCWD, at("box", rel), 1 << 20, NULL);
}

static bool has(const char *rel, const char *text)
{
        char *s = got(rel);
        bool yes = s && strstr(s, text);
        free(s);
        return yes;
}

static bool absent(const char *rel)
{
        return access(at("box", rel), F_OK) != 0;
}

static int rm_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
        (void)st, (void)flag, (void)ftw;
        return remove(path);
}

static void build(void)
{
        put(".gitconfig", "# mine\n[user]\n\tname = \"A \\\"B\\\" C\" ; comment\n\temail=a@b.c\n"
                          "[credential]\n\thelper = !steal\n[alias]\n\tx = !sh\n"
                          "[user \"work\"]\n\tname = wrong\n");
        put(".config/git/config", "[user]\nname = Old\n[init]\n  defaultbranch = trunk\n");
        put(".claude.json",
            "{\"theme\":\"dark\",\"oauthAccount\":{\"x\":1},\"primaryApiKey\":\"sk-ant-x\","
            "\"projects\":{\"/secret\":{}},\"verbose\":true}");
        put(".claude/settings.json",
            "{\"model\":\"opus\",\"apiKeyHelper\":\"/bin/"
            "keys\",\"env\":{\"ANTHROPIC_API_KEY\":\"sk\"},"
            "\"hooks\":{},\"attribution\":{\"note\":\"x\",\"apiKey\":\"sk-deep\"}}");
        put(".claude/.credentials.json", "{\"token\":\"sk\"}");
        put(".claude/CLAUDE.md", "be nice");
        put(".claude/agents/a.md", "agent");
        put(".claude/skills/s/run.sh", "#!/bin/sh\n");
        chmod(at("host", ".claude/skills/s/run.sh"), 0755);
        put(".claude/skills/s/.env", "KEY=1");
        put(".claude/skills/s/credentials.json", "{}");
        put("dots/cmd.md", "linked");
        mkdir(at("host", ".claude/commands"), 0755);
        if (symlink("../../dots/cmd.md", at("host", ".claude/commands/ok.md")) < 0 ||
            symlink("/etc/passwd", at("host", ".claude/commands/out.md")) < 0 ||
            symlink(".", at("host", ".claude/commands/loop")) < 0 ||
            mkfifo(at("host", ".claude/commands/fifo"), 0600) < 0)
                perror("build");
        put(".gemini/settings.json", "not json");
}

static void test_claude(struct seed_into *into)
{
        struct err err = {0};
        struct profile p = {0};
        struct strs notes = {0};
        int r = profiles_find(NULL, "claude", &p, &err);
        if (r == 0)
                r = seed_home(into, &p, &notes, &err);
        if (!CHECK("claude's home is seeded", r == 0))
                printf("# %s\n", err.text);

        CHECK("settings that are listed are kept",
              has(".claude.json", "\"theme\": \"dark\"") && has(".claude/settings.json", "opus"));
        CHECK("keys, accounts, helpers and other projects stay outside",
              !has(".claude.json", "sk-ant") && !has(".claude.json", "oauthAccount") &&
                      !has(".claude.json", "/secret") &&
                      !has(".claude/settings.json", "apiKeyHelper") &&
                      !has(".claude/settings.json", "\"env\"") &&
                      !has(".claude/settings.json", "sk-deep"));
        CHECK("credential files are never copied",
              absent(".claude/.credentials.json") && absent(".claude/skills/s/.env") &&
                      absent(".claude/skills/s/credentials.json"));
        char *text = got(".claude.json");
        json_t *j = text ? json_loads(text, 0, NULL) : NULL;
        json_t *project = json_object_get(json_object_get(j, "projects"), into->workspace);
        CHECK("first-run dialogs are acknowledged for this workspace",
              json_is_true(json_object_get(project, "hasTrustDialogAccepted")) &&
                      json_is_true(json_object_get(j, "hasCompletedOnboarding")) &&
                      json_is_true(json_object_get(j, "bypassPermissionsModeAccepted")));
        json_decref(j);
        free(text);
        struct stat st;
        CHECK("instructions are copied, programs stay programs",
              has(".claude/CLAUDE.md", "be nice") && has(".claude/agents/a.md", "agent") &&
                      stat(at("box", ".claude/skills/s/run.sh"), &st) == 0 &&
                      (st.st_mode & 0777) == 0700 &&
                      stat(at("box", ".claude/CLAUDE.md"), &st) == 0 &&
                      (st.st_mode & 0777) == 0600);
        CHECK("links are followed inside the home and not outside",
              has(".claude/commands/ok.md", "linked") && absent(".claude/commands/out.md") &&
                      absent(".claude/commands/fifo"));
        CHECK("what was left out is named", notes.n >= 4);
        CHECK("git knows name, e-mail and branch and nothing else",
              has(".gitconfig", "name = \"A \\\"B\\\" C\"") && has(".gitconfig", "a@b.c") &&
                      has(".gitconfig", "defaultBranch = \"trunk\"") &&
                      !has(".gitconfig", "steal") && !has(".gitconfig", "alias") &&
                      !has(".gitconfig", "wrong"));
        strs_free(&notes);
        profile_free(&p);
}

static void test_others(struct seed_into *into)
{
        static const char *const names[] = {"codex",   "gemini", "opencode", "pi",    "aider",
                                            "copilot", "kiro",   "goose",    "shell", "default"};
        bool all = true;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                struct err err = {0};
                struct profile p = {0};
                struct strs notes = {0};
                if (profiles_find(NULL, names[i], &p, &err) < 0 ||
                    seed_home(into, &p, &notes, &err) < 0) {
                        printf("# %s: %s\n", names[i], err.text);
                        all = false;
                }
                strs_free(&notes);
                profile_free(&p);
        }
        CHECK("every profile seeds a home", all);
        CHECK("a workspace with quotes in its name stays one value",
              has(".codex/config.toml", "[projects.\"/w/a\\\"b\"]") &&
                      has(".gemini/trustedFolders.json", "\"/w/a\\\"b\": \"TRUST_FOLDER\"") &&
                      has(".copilot/config.json", "\"/w/a\\\"b\""));
        CHECK("broken settings of the host are replaced",
              has(".gemini/settings.json", "folderTrust"));
}

static void test_hostile(struct seed_into *into)
{
        /* A box that ran before left links where seeds go. */
        struct err err = {0};
        unlink(at("box", ".gitconfig"));
        put("victim", "untouched");
        if (symlink(at("host", "victim"), at("box", ".gitconfig")) < 0)
                perror("symlink");
        struct profile p = {0};
        profile_parse("t", "seed write ~/.x/y \"text\"\n", &p, &err);
        int r = seed_home(into, &p, NULL, &err);
        char *victim = fdio_read_file(AT_FDCWD, at("host", "victim"), 100, NULL);
        CHECK("a planted link is replaced, not followed",
              r == 0 && victim && strcmp(victim, "untouched") == 0);
        free(victim);

        unlink(at("box", ".x/y"));
        rmdir(at("box", ".x"));
        if (symlink(at("host", ""), at("box", ".x")) < 0)
                perror("symlink");
        CHECK("a planted directory link is refused",
              seed_home(into, &p, NULL, &err) < 0 && access(at("host", "y"), F_OK) != 0);
        unlink(at("box", ".x"));
        profile_free(&p);
}

static void test_links(struct seed_into *into)
{
        struct strs links = {0};
        strs_addf(&links, "../share/claude/versions/1\n%s/.local/bin/claude", into->host_home);
        strs_add(&links, "x\n/somewhere/else");
        struct err err = {0};
        char link[64] = "";
        int r = seed_links(into, &links, &err);
        ssize_t n = readlink(at("box", ".local/bin/claude"), link, sizeof link - 1);
        CHECK("links to tools are made in the home",
              r == 0 && n > 0 && strcmp(link, "../share/claude/versions/1") == 0);
        strs_free(&links);
}

int main(void)
{
        if (!mkdtemp(top))
                return 1;
        mkdir(at("host", ""), 0755);
        mkdir(at("box", ""), 0700);
        build();
        struct seed_into into = {
                .home_fd = open(at("box", ""), O_PATH | O_DIRECTORY | O_CLOEXEC),
                .host_home = str_dup(at("host", "")),
                .workspace = "/w/a\"b",
                .owner = geteuid(),
                .group = getegid(),
        };
        test_claude(&into);
        test_others(&into);
        test_hostile(&into);
        test_links(&into);
        close(into.home_fd);
        free((char *)into.host_home);
        nftw(top, rm_one, 16, FTW_DEPTH | FTW_PHYS);
        return check_end();
}
