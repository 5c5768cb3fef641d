/* git_names_test.c - what a box prints becomes an id, a name of a ref, a path or a setting, or is
 * refused; and a class follows the links of a tree. No git is run. */
#include "git/config_list.h"
#include "git/graph.h"
#include "git/links.h"
#include "git/names.h"
#include "git/raw.h"
#include "unit/check.h"

#include <stdlib.h>

#define ID "0123456789abcdef0123456789abcdef01234567"
#define NO "0000000000000000000000000000000000000000"

static void ids(void)
{
        char id[GIT_ID_MAX + 1];
        CHECK("an id has 40 digits", git_names_id(ID, 40, 40, id) && strcmp(id, ID) == 0);
        CHECK("39 digits are none", !git_names_id(ID, 39, 40, id));
        CHECK("of another hash it is none", !git_names_id(ID, 40, 64, id));
        CHECK("capital letters are none",
              !git_names_id("0123456789ABCDEF0123456789abcdef01234567", 40, 40, id));
        CHECK("a NUL is no digit", !git_names_id("0123456789abcdef\0"
                                                 "123456789abcdef01234567",
                                                 40, 40, id));
        CHECK("an empty one is none", !git_names_id("", 0, 0, id));
}

static void names(void)
{
        static const char *const good[] = {"refs/heads/main",     "refs/heads/a/b",
                                           "refs/tags/v1.0",      "refs/heads/@x",
                                           "refs/heads/x@y",      "refs/heads/lock",
                                           "refs/heads/\xc3\xa9", "refs/ostiary/b/stash/0",
                                           "refs/heads/a.lockx",  "refs/heads/{x}"};
        static const char *const bad[] = {"",
                                          "main",
                                          "refs",
                                          "refs/",
                                          "refs/heads/",
                                          "refs//heads",
                                          "/refs/heads/x",
                                          "refs/heads/x/",
                                          "refs/heads/..",
                                          "refs/heads/a..b",
                                          "refs/heads/../../x",
                                          "refs/heads/.x",
                                          "refs/heads/x.",
                                          "refs/heads/x./y",
                                          "refs/heads/x.lock",
                                          "refs/heads/x.lock/y",
                                          "refs/heads/x.LOCK",
                                          "refs/heads/-x",
                                          "refs/heads/--upload-pack=x",
                                          "refs/heads/@",
                                          "refs/heads/a@{1}",
                                          "refs/heads/a b",
                                          "refs/heads/a\tb",
                                          "refs/heads/a\nb",
                                          "refs/heads/a\x1b[2J",
                                          "refs/heads/a\x7f",
                                          "refs/heads/a~1",
                                          "refs/heads/a^",
                                          "refs/heads/a:b",
                                          "refs/heads/a?",
                                          "refs/heads/a*",
                                          "refs/heads/a[",
                                          "refs/heads/a\\b"};
        for (size_t i = 0; i < sizeof good / sizeof *good; i++)
                check(git_names_is_good(good[i]), "a good name is taken", "%s", good[i]);
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                check(!git_names_is_good(bad[i]), "a bad name is refused", "%s", bad[i]);
        char longest[1200] = "refs/heads/";
        memset(longest + 11, 'a', 250);
        CHECK("a name that fits no file is refused", !git_names_is_good(longest));
        for (size_t i = 11; i < 1000; i += 2)
                memcpy(longest + i, "a/", 3);
        longest[1000] = 'a';
        CHECK("a very long name is refused", !git_names_is_good(longest));
}

static void lists(void)
{
        struct git_tips t = {0};
        const char two[] = ID " refs/heads/z\n" ID " refs/heads/a b\n";
        CHECK("a list of refs is read",
              git_names_parse(two, sizeof two - 1, 40, &t) == 0 && t.n == 2);
        CHECK("a ref is found by its name", git_tips_find(&t, "refs/heads/z") != NULL);
        CHECK("another one is not", git_tips_find(&t, "refs/heads/y") == NULL);
        git_tips_free(&t);
        const char *const bad[] = {"x\n",
                                   ID "\n",
                                   ID " \n",
                                   ID "  x",
                                   ID "\trefs/heads/x\n",
                                   ID " refs/a\n\n",
                                   "ref: refs/heads/main\n"};
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                bool is_none = git_names_parse(bad[i], strlen(bad[i]), 40, &t) < 0;
                /* A blank before the name makes an odd name, which is refused as one. */
                check(is_none || (t.n == 1 && !git_names_is_good(t.v[0].name)),
                      "what is no list of refs is refused", "%s", bad[i]);
                git_tips_free(&t);
        }
        struct strs ids_found = {0};
        CHECK("a list of ids is read",
              git_names_ids(ID "\n" ID "\n", 82, 40, &ids_found) == 0 && ids_found.n == 2);
        strs_free(&ids_found);
        CHECK("a word between them is refused",
              git_names_ids(ID "\nfatal\n", 47, 40, &ids_found) < 0);
        strs_free(&ids_found);
}

/* raws(text, n): how many entries; -1 when it makes no sense. */
static int raws(const char *text, size_t len)
{
        char *copy = malloc(len + 1), *at = copy;
        struct git_raw r;
        int n = 0, got;
        memcpy(copy, text, len);
        copy[len] = 0;
        while ((got = git_raw_next(&at, copy + len, 40, &r)) > 0)
                n++;
        n = got < 0 ? -1 : n;
        free(copy);
        return n;
}
#define RAWS(text) raws(text, sizeof text - 1)

static void entries(void)
{
        CHECK("an entry is read", RAWS(":100644 100755 " ID " " ID " M\0a/b\0") == 1);
        CHECK("two are",
              RAWS(":000000 100644 " NO " " ID " A\0a\0:100644 000000 " ID " " NO " D\0b\0") == 2);
        CHECK("a merge has a column for each parent",
              RAWS("::000000 000000 100644 " NO " " NO " " ID " AA\0d\0") == 1);
        CHECK("a column is missing", RAWS("::000000 100644 " NO " " ID " AA\0d\0") == -1);
        CHECK("a path that climbs", RAWS(":100644 100755 " ID " " ID " M\0../b\0") == -1);
        CHECK("a path in the middle that climbs",
              RAWS(":100644 100755 " ID " " ID " M\0a/../b\0") == -1);
        CHECK("an absolute path", RAWS(":100644 100755 " ID " " ID " M\0/b\0") == -1);
        CHECK("an empty path", RAWS(":100644 100755 " ID " " ID " M\0\0") == -1);
        CHECK("a path without an end", RAWS(":100644 100755 " ID " " ID " M\0a") == -1);
        CHECK("a mode that is none", RAWS(":100644 10075x " ID " " ID " M\0a\0") == -1);
        CHECK("an id that is none", RAWS(":100644 100755 " ID " xx M\0a\0") == -1);
        CHECK("a letter that is none", RAWS(":100644 100755 " ID " " ID " X\0a\0") == -1);
        CHECK("cut short", RAWS(":100644 1007") == -1);
}

static void settings(void)
{
        struct git_config_list l = {0};
        const char text[] = "core.bare\nfalse\0user.name\na\nb\0branch.x.y.z\n\0core.x\0";
        CHECK("settings are read",
              git_config_list_parse(text, sizeof text - 1, &l) == 0 && l.n == 4);
        CHECK("a value may have lines", git_config_list_has(&l, "user.name", "a\nb"));
        CHECK("no value is true", git_config_list_has(&l, "core.x", "true"));
        CHECK("they are counted", git_config_list_count(&l, "core.bare") == 1);
        git_config_list_free(&l);
        CHECK("a key that is an option is refused", git_config_list_parse("-c.x\ny\0", 7, &l) < 0);
        git_config_list_free(&l);
        CHECK("half of a list is refused", git_config_list_parse("a.b\nc", 5, &l) < 0);
        git_config_list_free(&l);
}

static enum file_class through(struct git_links *l, const char *path)
{
        struct file_class_verdict v = {0};
        file_class_of(NULL, path, &v);
        git_links_class(l, NULL, path, false, &v);
        return v.class;
}

static void links(void)
{
        struct git_links l = {0};
        git_links_add(&l, ".vscode", "conf", "/ws");
        git_links_add(&l, "a/Makefile", "../b/./rules", "/ws");
        git_links_add(&l, ".envrc", "/ws/env/main", "/ws");
        git_links_add(&l, "up", "../../etc", "/ws");
        git_links_add(&l, ".idea", "loop1", "/ws");
        git_links_add(&l, "loop1", "loop2", "/ws");
        git_links_add(&l, "loop2", "loop1", "/ws");
        git_links_add(&l, "dir", "real", "/ws");
        git_links_add(&l, "GNUmakefile", "dir/x", "/ws");
        CHECK("a file in a directory that a classed link leads to",
              through(&l, "conf/tasks.json") == FILE_RUNS_ON_OPEN);
        CHECK("a file that a classed link names", through(&l, "b/rules") == FILE_RUNS_ON_BUILD);
        CHECK("an absolute link into the tree", through(&l, "env/main") != FILE_PLAIN);
        CHECK("a link through another one", through(&l, "real/x") == FILE_RUNS_ON_BUILD);
        CHECK("a neighbour is plain", through(&l, "conf2/tasks.txt") == FILE_PLAIN);
        CHECK("what no link leads to is plain", through(&l, "b/c") == FILE_PLAIN);
        CHECK("links in a circle come to an end", through(&l, "loop1/x") != FILE_CLASS_COUNT);
        git_links_add(&l, "turn", "b/../c", "/ws");
        CHECK("a link that turns round makes nothing plain", through(&l, "b/c") != FILE_PLAIN);
        git_links_free(&l);
}

static void leads(void)
{
        struct file_class_verdict v = {0};
        CHECK("a link in place of a directory of a row",
              file_class_leads(NULL, "sub/.github", &v) && v.class != FILE_PLAIN);
        CHECK("a link that no row begins with", !file_class_leads(NULL, "zebra", &v));
}

static void commits(void)
{
        struct git_node c = {0};
        const char text[] = "tree " ID "\nauthor A B <a@b> 1700000000 +0100\ncommitter x <y> 1 "
                            "+0000\ngpgsig a\n author evil <e> 5\n\n\nsubject\nbody\n";
        graph_commit(text, sizeof text - 1, &c);
        check_str("the author of a commit", c.author, "A B <a@b>");
        check_str("its subject", c.subject, "subject");
        CHECK("its date", c.when_s == 1700000000);
        free(c.author);
        free(c.subject);
        c = (struct git_node){0};
        graph_commit("author", 6, &c);
        check_str("half a commit has no subject", c.subject, "");
        free(c.author);
        free(c.subject);
}

int main(void)
{
        ids();
        names();
        lists();
        entries();
        settings();
        links();
        leads();
        commits();
        return check_end();
}
