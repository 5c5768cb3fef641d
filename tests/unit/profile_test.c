/* profile_test.c - the profile parser, the lists it leans on, and every profile that is built in.
 */
#include "base/err.h"
#include "base/str.h"
#include "policy/cred_list.h"
#include "policy/env_list.h"
#include "policy/etc_list.h"
#include "policy/profile.h"
#include "policy/profile_builtin.h"
#include "session/profiles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int failed;

static void say(bool is_good, const char *name, const char *why)
{
        if (is_good)
                printf("ok %s\n", name);
        else
                printf("not ok %s: %s\n", name, why);
        failed += !is_good;
}

static const char whole[] = "# a comment\n"
                            "extends base\n"
                            "about   Some agent # not a comment\n"
                            "command agent\n"
                            "args    --yes 'two words' # a comment\n"
                            "resume  ~/.a/talks go --on\n"
                            "env     A=1 B=\"x y\"\n"
                            "pass    FOO_MODEL FOO_BASE\n"
                            "limit   memory=8G cpu=0.5\r\n"
                            "persist ~/.a/b\n"
                            "seed    copy ~/.a/c\n"
                            "seed json ~/.a/s.json drop=k,/l/m keep=n set=/x/y=true\n"
                            "seed write ~/.rc \"a\\n%HOME%\\\\\"\n"
                            "bind    ~/.config/nvim ro\n"
                            "allow   GET,HEAD api.github.com/repos/**\n"
                            "secret  X_KEY from cmd 'gh auth token' at a.b,c.d as bearer inject";

static void test_whole(void)
{
        struct err err = {0};
        struct profile p;
        if (profile_parse("t", whole, &p, &err) < 0) {
                say(false, "a profile with every word is read", err.text);
                return;
        }
        bool good = strcmp(p.extends, "base") == 0 &&
                    strcmp(p.about, "Some agent # not a comment") == 0 && p.args.n == 2 &&
                    strcmp(p.args.v[1], "two words") == 0 && p.resume.n == 2 &&
                    strcmp(p.resume.v[1], "--on") == 0 && strcmp(p.resume_path, ".a/talks") == 0 &&
                    strcmp(strs_get_env(&p.env, "B"), "x y") == 0 && p.pass.n == 2 &&
                    p.limits.n == 2 && strcmp(p.limits.v[1], "cpu=0.5") == 0 &&
                    strcmp(p.persist.v[0], ".a/b") == 0 && p.seeds_n == 3 &&
                    strcmp(p.seeds[0].path, ".a/c") == 0 && p.seeds[1].drop.n == 2 &&
                    p.seeds[1].keep.n == 1 && strcmp(p.seeds[1].set.v[0], "/x/y=true") == 0 &&
                    strcmp(p.seeds[2].text, "a\n%HOME%\\") == 0 && p.binds_n == 1 &&
                    p.rules.n == 2 && str_starts(p.rules.v[0], "allow   GET");
        say(good, "a profile with every word is read", "a field is wrong");
        profile_free(&p);
}

/* Every bad line, where the fault is, and a part of what is said about it. */
static const struct {
        const char *text, *place, *words;
} bad[] = {
        {"comand x", "line 1, column 1", "did you mean \"command\"?"},
        {"about x\n\n  frobnicate", "line 3, column 3", "not a word"},
        {"about x\nabout y", "line 2, column 1", "only once"},
        {"command x\nextends y", "line 2, column 1", "first line"},
        {"command a b", "line 1, column 11", "args"},
        {"limit memry=1G", "line 1, column 7", "did you mean \"memory\"?"},
        {"limit memory=0", "line 1, column 7", "memory wants"},
        {"limit memory=lots", "line 1, column 7", "memory wants"},
        {"limit cpu=1.2345", "line 1, column 7", "cpu wants"},
        {"limit cpu=0.0", "line 1, column 7", "cpu wants"},
        {"limit time=8y", "line 1, column 7", "time wants"},
        {"persist /etc", "line 1, column 9", "begins with ~/"},
        {"persist ~/../x", "line 1, column 9", ".."},
        {"persist ~/a//b", "line 1, column 9", "empty part"},
        {"persist ~/", "line 1, column 9", "~/"},
        {"seed copy ~/.ssh/id_rsa", "line 1, column 11", "never copied"},
        {"seed copy ~/.claude/.credentials.json", "line 1, column 11", "never copied"},
        {"seed json ~/.codex/auth.json", "line 1, column 11", "never copied"},
        {"seed steal ~/x", "line 1, column 6", "copy, json or write"},
        {"seed json ~/x pop=1", "line 1, column 15", "drop="},
        {"seed json ~/x set=a=1", "line 1, column 15", "POINTER"},
        {"seed write ~/x a b", "line 1, column 18", "in quotes"},
        {"seed write ~/x \"a\\q\"", "line 1, column 16", "only"},
        {"seed write ~/x \"abc", "line 1, column 16", "never closed"},
        {"pass GITHUB_TOKEN", "line 1, column 6", "credential"},
        {"pass SSH_AUTH_SOCK", "line 1, column 6", "credential"},
        {"pass 1A", "line 1, column 6", "not a name"},
        {"pass *", "line 1, column 6", "not a name"},
        {"env OPENAI_API_KEY=sk-x", "line 1, column 5", "credential"},
        {"env A", "line 1, column 5", "NAME=VALUE"},
        {"bind x ro", "line 1, column 6", "absolute"},
        {"bind ~/x rwx", "line 1, column 10", "ro, rw or cow"},
        {"allow get a.b", "line 1, column 7", "methods"},
        {"allow *", "line 1, column 8", "HOST"},
        {"allow * -a.b", "line 1, column 9", "HOST"},
        {"allow * a.b c", "line 1, column 13", "option"},
        {"tcp db", "line 1, column 5", "HOST:PORT"},
        {"secret X from env as bearer", "line 1, column 28", "at HOST"},
        {"secret X from env at a b", "line 1, column 25", "as FORM"},
        {"args a\001b", "line 1, column 7", "control character"},
};

static void test_bad(void)
{
        size_t wrong = 0;
        char why[512] = "";
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                struct err err = {0};
                struct profile p;
                bool read = profile_parse("t", bad[i].text, &p, &err) == 0;
                if (read)
                        profile_free(&p);
                if (!read && strstr(err.text, bad[i].place) && strstr(err.text, bad[i].words))
                        continue;
                snprintf(why, sizeof why, "\"%s\" gave \"%.300s\"", bad[i].text,
                         read ? "no error" : err.text);
                wrong++;
        }
        say(wrong == 0, "a fault is named with line, column and a cure", why);
}

static void test_builtins(void)
{
        static const char *const wanted[] = {"aider",    "claude", "codex", "copilot",
                                             "default",  "gemini", "goose", "kiro",
                                             "opencode", "pi",     "shell"};
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
                struct err err = {0};
                struct profile p = {0};
                char name[64];
                snprintf(name, sizeof name, "the profile %s is good", wanted[i]);
                if (profiles_find(NULL, wanted[i], &p, &err) < 0) {
                        say(false, name, err.text);
                        continue;
                }
                bool has_memory = false;
                for (size_t k = 0; k < p.limits.n; k++) {
                        uint64_t n;
                        if (str_starts(p.limits.v[k], "memory=") &&
                            str_size(p.limits.v[k] + 7, &n) == 0 && n >= (uint64_t)4 << 30)
                                has_memory = true;
                }
                bool is_agent =
                        strcmp(wanted[i], "default") != 0 && strcmp(wanted[i], "shell") != 0;
                say(has_memory && p.about &&
                            (!is_agent || (p.command && p.install && p.rules.n > 0)),
                    name, "memory of at least 4G, a command, hosts or how to install is missing");
                profile_free(&p);
        }
}

static void test_user(void)
{
        char dir[] = "/tmp/ostiary-profile.XXXXXX";
        if (!mkdtemp(dir)) {
                say(false, "a user's profile goes before a built-in one", "mkdtemp");
                return;
        }
        char path[128];
        snprintf(path, sizeof path, "%s/profiles", dir);
        mkdir(path, 0700);
        static const char *const files[][2] = {
                {"claude", "extends claude\nargs --mine\nlimit memory=16G\n"},
                {"loop", "extends pool\n"},
                {"pool", "extends loop\n"},
        };
        for (size_t i = 0; i < 3; i++) {
                snprintf(path, sizeof path, "%s/profiles/%s.profile", dir, files[i][0]);
                FILE *f = fopen(path, "w");
                if (f) {
                        fputs(files[i][1], f);
                        fclose(f);
                }
        }
        struct err err = {0};
        struct profile p = {0};
        int got = profiles_find(dir, "claude", &p, &err);
        say(got == 0 && p.args.n == 2 && strcmp(p.args.v[1], "--mine") == 0 &&
                    strcmp(p.limits.v[p.limits.n - 1], "memory=16G") == 0 && p.seeds_n > 3,
            "a user's profile goes before a built-in one and may extend it", err.text);
        profile_free(&p);
        say(profiles_find(dir, "loop", &p, &err) < 0 && strstr(err.text, "extend each other"),
            "profiles that extend each other are refused", err.text);
        say(profiles_find(dir, "cluade", &p, &err) < 0 &&
                    strstr(err.text, "did you mean \"claude\"") && err.code == E_ABSENT,
            "an unknown profile gets a suggestion", err.text);
        say(profiles_find(dir, "../../etc/passwd", &p, &err) < 0 && err.code == E_ABSENT,
            "a profile's name is no path", err.text);
        for (size_t i = 0; i < 3; i++) {
                snprintf(path, sizeof path, "%s/profiles/%s.profile", dir, files[i][0]);
                unlink(path);
        }
        snprintf(path, sizeof path, "%s/profiles", dir);
        rmdir(path);
        rmdir(dir);
}

static void test_lists(void)
{
        static const char *const never[] = {
                "shadow",
                "shadow-",
                "gshadow",
                "sudoers",
                "sudoers.d/x",
                "fstab",
                "crypttab",
                "machine-id",
                "ssh/sshd_config",
                "krb5.keytab",
                "hosts",
                "passwd",
                "group",
                "resolv.conf",
                "hostname",
                "apt/auth.conf",
                "docker/daemon.json",
                "kubernetes/admin.conf",
                "environment",
                "NetworkManager/x",
                "wpa_supplicant/x",
                "ostiary/policy",
                "ssl/private/x.key",
                "pki/tls/private/x",
                "npmrc",
                "pip.conf",
                "wgetrc",
                "security/x",
                "pam.d/x",
                "cron.d/x",
                "maven/settings.xml",
                "netrc",
                "gitconfig",
                "letsencrypt/x",
                "subuid",
        };
        const char *open = NULL;
        for (size_t i = 0; i < sizeof never / sizeof *never; i++)
                if (etc_list_allows(never[i]))
                        open = never[i];
        say(!open, "nothing private is in the list of /etc", open ? open : "");
        say(etc_list_allows("ssl/certs/ca.pem") && etc_list_allows("ld.so.cache") &&
                    etc_list_allows("java-17-openjdk/x/y") && etc_list_allows("python3.11"),
            "what programs need is in the list of /etc", "one is missing");
        bool sorted = true;
        for (size_t i = 1; etc_list[i].name; i++)
                sorted &= strcmp(etc_list[i - 1].name, etc_list[i].name) < 0;
        say(sorted, "the list of /etc is in order", "it is not");

        say(env_list_allows("TERM") && env_list_allows("LC_ALL") && !env_list_allows("PATH") &&
                    !env_list_allows("TERMINAL") && !env_list_allows("OPENAI_API_KEY"),
            "the environment is a named list", "one is wrong");
        bool apart = true;
        for (size_t i = 0; env_list[i].name; i++)
                apart &= !env_list_is_credential(env_list[i].name);
        say(apart, "no name on the list is a credential's", "one is");
        say(cred_list_why(".claude/.credentials.json") && cred_list_why("x/.AWS/config") &&
                    cred_list_why(".env.local") && !cred_list_why(".claude/agents/tester.md"),
            "credential files are known by name", "one is wrong");
}

static void test_fill(void)
{
        char *s = profile_fill("%HOME%/a %WORKSPACE% 100% %HOM%", "/h", "/w");
        say(strcmp(s, "/h/a /w 100% %HOM%") == 0, "marks are replaced, other % stay", s);
        free(s);
}

int main(void)
{
        test_whole();
        test_bad();
        test_builtins();
        test_user();
        test_lists();
        test_fill();
        return failed != 0;
}
