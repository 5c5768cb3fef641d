/* rules_test.c - where a box's rules come from: files that are broken, projects that are not
 * trusted, package managers' configuration, flags; and what was said while the box ran. */
#include "base/beneath.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/sha256.h"
#include "base/str.h"
#include "session/door_packages.h"
#include "session/door_policy.h"
#include "session/door_rules.h"
#include "session/door_trust.h"
#include "session/opts.h"
#include "session/packages.h"
#include "session/store.h"
#include "unit/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int root;

static void put(const char *path, const char *text)
{
        char dir[256];
        snprintf(dir, sizeof dir, "%s", path);
        char *slash = strrchr(dir, '/');
        if (slash) {
                *slash = 0;
                int fd = beneath_mkdirs(root, dir, 0700, NULL);
                if (fd >= 0)
                        close(fd);
        }
        fdio_write_file(root, path, text, 0600, NULL);
}

static struct session_opts opts;
static struct store store;
static struct strs profile_rules;
static struct door_policy_from from;

static const struct door_layer *layer(const struct door_policy *p, const char *name)
{
        for (size_t i = 0; i < p->layers_n; i++)
                if (strcmp(p->layers[i].name, name) == 0)
                        return &p->layers[i];
        return NULL;
}

static void lines(void)
{
        static const struct {
                const char *verb, *words, *want;
        } cases[] = {
                {"allow", "GET example.org/x", "allow GET example.org/x"},
                {"allow", "example.org", "allow * example.org"},
                {"allow", "example.org rate=1/s", "allow * example.org rate=1/s"},
                {"allow", "* *.example.org", "allow * *.example.org"},
                {"allow", "tcp db:5432", "tcp db:5432"},
                {"allow", "ask POST example.org", "ask POST example.org"},
                {"deny", "deny! * example.org", "deny! * example.org"},
                {"deny", "* *", "deny * *"},
                {"deny", "POST example.org", "deny POST example.org"},
                {"deny", "allow * example.org", NULL},
                {"allow", "deny * example.org", NULL},
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct err err = {0};
                char *got = door_policy_line(cases[i].verb, cases[i].words, &err);
                check_str(cases[i].words, got, cases[i].want);
                free(got);
        }
}

static void files(void)
{
        struct err err = {0};
        struct door_policy p;
        check(door_policy_collect(&from, &p, &err) == 0, "nothing at all is a policy", "%s",
              err.text);
        CHECK("its level is easy", p.level == DOOR_EASY);
        CHECK("the profile is a layer", layer(&p, "profile test") != NULL);
        door_policy_free(&p);

        put("config/policy", "# mine\n\ndeny! * gist.github.com\nallow GET example.org\n");
        door_policy_collect(&from, &p, &err);
        const struct door_layer *user = layer(&p, "user policy");
        CHECK("the user's file counts", user && user->rank == POLICY_USER && user->has_lines);
        char words[256];
        struct rule_line grant;
        size_t column;
        rule_line_parse("allow GET gist.github.com/x", 27, &grant, &column, NULL);
        CHECK("a deny! makes a grant useless", door_policy_is_blocked(&p, &grant.rule, words));
        check_str("and is named", words, "user policy:3");
        rule_line_free(&grant);
        rule_line_parse("allow GET example.org/x", 23, &grant, &column, NULL);
        CHECK("another grant it does not", !door_policy_is_blocked(&p, &grant.rule, words));
        rule_line_free(&grant);
        door_policy_free(&p);

        static const struct {
                const char *name, *text, *words;
        } broken[] = {
                {"a typo", "allow GET example.org\nalow * example.net\n", "line 2, column 1"},
                {"an unknown option", "allow GET example.org rat=1/s\n", "line 1, column 23"},
                {"a wildcard above a suffix", "allow * *.co.uk\n", "line 1, column 9"},
                {"a file cut in the middle", "allow GET example.org\nallow GE", "line 2"},
                {"a missing ca= file", "allow * example.org ca=~/no.pem\n", "line 1: ca=~/no.pem"},
        };
        for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
                put("config/policy", broken[i].text);
                bool is_refused = door_policy_collect(&from, &p, &err) < 0;
                check(is_refused && strstr(err.text, broken[i].words) &&
                              strstr(err.text, "user policy") && p.layers_n == 0,
                      broken[i].name, "%s", err.text);
                door_policy_free(&p);
        }
        put("home/no.pem", "no certificate");
        put("config/policy", "allow * example.org ca=~/no.pem\n");
        check(door_policy_collect(&from, &p, &err) < 0 && strstr(err.text, "no certificate"),
              "a ca= file without a certificate", "%s", err.text);
        unlinkat(root, "config/policy", 0);

        strs_add(&opts.policy, "/nonexistent/policy");
        CHECK("a file that was asked for must be there",
              door_policy_collect(&from, &p, &err) < 0 && strstr(err.text, "/nonexistent/policy"));
        strs_free(&opts.policy);
}

static const struct packages none;

static void flags(void)
{
        struct err err = {0};
        struct door_policy p;
        uint16_t *ports;
        strs_add(&opts.allow, "GET example.org:8443");
        strs_add(&opts.allow, "tcp db.internal:5432");
        strs_add(&opts.deny, "POST example.org");
        opts.level = str_dup("strict");
        check(door_policy_collect(&from, &p, &err) == 0, "flags are rules", "%s", err.text);
        CHECK("the level is told", p.level == DOOR_STRICT);
        CHECK("--deny goes first", p.layers_n >= 2 && !strcmp(p.layers[0].name, "--deny") &&
                                           !strcmp(p.layers[1].name, "--allow") &&
                                           p.layers[0].rank == POLICY_RUN_TIME);
        door_policy_packages(&p, from.home, &none);
        CHECK("strict has no packages", !layer(&p, "packages"));
        size_t n = door_policy_ports(&p, &ports);
        CHECK("ports that rules name are opened",
              n == 4 && ports[0] == 80 && ports[1] == 443 && ports[2] == 5432 && ports[3] == 8443);
        free(ports);
        CHECK("hosts are counted once", door_policy_hosts(&p) == 3);
        door_policy_free(&p);
        strs_add(&opts.allow, "GTE example.org");
        CHECK("a flag with a typo is bad usage", door_policy_collect(&from, &p, &err) < 0 &&
                                                         err.code == E_USAGE &&
                                                         strstr(err.text, "column"));
        strs_free(&opts.allow);
        strs_free(&opts.deny);
        free(opts.level);
        opts.level = str_dup("lax");
        CHECK("an unknown level is bad usage",
              door_policy_collect(&from, &p, &err) < 0 && err.code == E_USAGE);
        free(opts.level);
        opts.level = NULL;
}

static void trust(const char *dir)
{
        struct err err = {0};
        struct door_policy p;
        char *path = str_fmt("%s/proj/.ostiary", dir), *text = NULL;
        put("proj/.ostiary", "deny * example.org\n");
        door_policy_collect(&from, &p, &err);
        CHECK("a project's file does not count unasked", !layer(&p, "project .ostiary"));
        bool is_told = false;
        for (size_t i = 0; i < p.notes.n; i++)
                is_told |= strstr(p.notes.v[i], "ostiary trust") != NULL;
        CHECK("and that is told", is_told);
        door_policy_free(&p);

        CHECK("not trusted", door_trust_read(&store, path, &text, &err) == DOOR_TRUST_NO);
        check(door_trust_set(&store, path, text, true, &err) == 0, "trusted now", "%s", err.text);
        free(text);
        CHECK("and later", door_trust_read(&store, path, &text, &err) == DOOR_TRUST_YES);
        free(text);
        door_policy_collect(&from, &p, &err);
        CHECK("then it counts", layer(&p, "project .ostiary") &&
                                        layer(&p, "project .ostiary")->rank == POLICY_PROJECT);
        door_policy_free(&p);

        put("proj/.ostiary", "deny * example.org \n");
        CHECK("any change undoes it", door_trust_read(&store, path, &text, &err) == DOOR_TRUST_NO);
        free(text);
        put("proj/.ostiary", "allow * example.org to=10.0.0.1\n");
        door_trust_read(&store, path, &text, &err);
        door_trust_set(&store, path, text, true, &err);
        free(text);
        CHECK("what a project may not say is an error even when trusted",
              door_policy_collect(&from, &p, &err) < 0 && strstr(err.text, "to="));
        put("proj/.ostiary", "");
        unlinkat(root, "proj/.ostiary", 0);
        char *link = str_fmt("%s/config/x", dir);
        if (symlink(link, path) == 0)
                CHECK("not through a link",
                      door_trust_read(&store, path, &text, &err) == DOOR_TRUST_ABSENT);
        unlinkat(root, "proj/.ostiary", 0);
        free(link);
        free(path);

        char hex[SHA256_HEX_LEN + 1];
        sha256_hex("abc", 3, hex);
        check_str("the hash is SHA-256", hex,
                  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void packages(void)
{
        struct strs found = {0}, notes = {0};
        put("home/.npmrc", "registry=https://user:pa@ss@npm.example.org:8443/repo/\n"
                           "@scope:registry = http://scope.example.org/\n"
                           "//npm.example.org/:_authToken=https://not.example.org\n"
                           "# registry=https://comment.example.org/\n");
        put("home/.config/pip/pip.conf", "[global]\nindex-url = https://pip.example.org/simple\n"
                                         "proxy = https://proxy.example.org\n"
                                         "extra-index-url = https://PIP.example.org:443/more\n");
        put("home/.cargo/config.toml",
            "[source.x]\nregistry = \"sparse+https://cargo.example.org/index/\"\n");
        put("home/.config/go/env",
            "GOPROXY=https://go.example.org,https://go2.example.org|direct\n");
        put("proj/.npmrc", "registry=https://evil.example.org/\n");
        door_packages_find(from.home, &found, &notes);
        CHECK("npm, with port and without password",
              strs_has(&found, "allow GET,HEAD npm.example.org:8443"));
        CHECK("a scope of npm", strs_has(&found, "allow GET,HEAD scope.example.org"));
        CHECK("pip, both indexes", strs_has(&found, "allow GET,HEAD pip.example.org"));
        CHECK("cargo", strs_has(&found, "allow GET,HEAD cargo.example.org"));
        CHECK("go, every proxy", strs_has(&found, "allow GET,HEAD go.example.org") &&
                                         strs_has(&found, "allow GET,HEAD go2.example.org"));
        bool has_other = false;
        for (size_t i = 0; i < found.n; i++)
                has_other |= strstr(found.v[i], "evil") || strstr(found.v[i], "comment") ||
                             strstr(found.v[i], "proxy.example") || strstr(found.v[i], "not.ex");
        CHECK("no project's, no comment, no other key", !has_other);
        strs_free(&found);
        strs_free(&notes);

        struct door_policy p;
        struct err err = {0};
        door_policy_collect(&from, &p, &err);
        door_policy_packages(&p, from.home, &none);
        const struct door_layer *l = layer(&p, "packages");
        CHECK("they are a layer of the profile's rank",
              l && l->rank == POLICY_PROFILE && strstr(l->text, "pip.example.org"));
        door_policy_free(&p);
}

static void check_line(const char *what, const char *want)
{
        char *got = packages_line(what), name[200];
        snprintf(name, sizeof name, "of \"%s\" is kept: %s", what, want ? want : "nothing");
        CHECK(name, want ? got && strcmp(got, want) == 0 : !got);
        free(got);
}

/* What a person's answer about a package manager is kept as. */
static void package_lines(void)
{
        check_line("GET https://files.example.org/a/b?u=https://other.example.org/",
                   "allow GET,HEAD files.example.org");
        check_line("HEAD http://files.example.org:8080/", "allow GET,HEAD files.example.org:8080");
        check_line("POST https://files.example.org/", NULL);
        check_line("GETTY https://files.example.org/", NULL);
        check_line("G https://files.example.org/", NULL);
        check_line("GET https://192.0.2.1/a", NULL);
        check_line("GET https://[2001:db8::1]/a", NULL);
        check_line("GET ftp://files.example.org/", NULL);
        check_line("a message over WebSocket https://files.example.org/", NULL);
        check_line("", NULL);
        CHECK("the agent of a manager",
              strcmp(packages_asker("uv/0.9 {}"), "uv") == 0 &&
                      strcmp(packages_asker("Bun/1.4"), "bun") == 0 &&
                      strcmp(packages_asker("npm/10 node/20"), "npm") == 0);
        CHECK("and of nobody",
              !packages_asker("curl/8") && !packages_asker("") && !packages_asker("x npm/10"));
}

static void journal(void)
{
        struct strs rules = {0};
        door_rules_note(root, true, "allow * a.example.org", NULL);
        door_rules_note(root, true, "deny * b.example.org", NULL);
        door_rules_note(root, true, "allow * a.example.org", NULL);
        door_rules_note(root, true, "allow * c.example.org", NULL);
        door_rules_note(root, false, "allow * c.example.org", NULL);
        int fd = openat(root, "rules", O_WRONLY | O_APPEND | O_CLOEXEC);
        if (fd < 0 || fdio_write_all(fd, "+allow * torn", 13) < 0)
                CHECK("the journal can be torn", false);
        close(fd);
        CHECK("the journal is read", door_rules_load(root, &rules, NULL) == 0);
        CHECK("each once, the newest first, nothing torn",
              rules.n == 2 && !strcmp(rules.v[0], "allow * a.example.org") &&
                      !strcmp(rules.v[1], "deny * b.example.org"));
        CHECK("what is not there cannot be taken back",
              !door_rules_apply(&rules, false, "allow * c.example.org"));
        strs_free(&rules);

        struct err err = {0};
        CHECK("a journal that cannot be read is no empty one",
              unlinkat(root, "rules", 0) == 0 && mkdirat(root, "rules", 0700) == 0 &&
                      door_rules_load(root, &rules, &err) < 0 &&
                      strstr(err.text, "read the rules that were added to the box"));
        CHECK("one that is not there is", unlinkat(root, "rules", AT_REMOVEDIR) == 0 &&
                                                  door_rules_load(root, &rules, &err) == 0 &&
                                                  rules.n == 0);
}

int main(void)
{
        char dir[] = "/tmp/rules-test.XXXXXX";
        if (!mkdtemp(dir))
                return 1;
        root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        store = (struct store){.state = str_fmt("%s/state", dir),
                               .data = str_fmt("%s/data", dir),
                               .config = str_fmt("%s/config", dir)};
        put("data/x", "");
        put("proj/x", "");
        put("home/x", "");
        strs_add(&profile_rules, "allow * api.example.org");
        from = (struct door_policy_from){.opts = &opts,
                                         .store = &store,
                                         .home = str_fmt("%s/home", dir),
                                         .workspace = str_fmt("%s/proj", dir),
                                         .profile = "test",
                                         .profile_rules = &profile_rules};
        lines();
        files();
        flags();
        trust(dir);
        packages();
        package_lines();
        journal();
        beneath_remove_tree(AT_FDCWD, dir, NULL);
        return check_end();
}
