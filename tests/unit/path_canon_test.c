/* path_canon_test.c - a path has one canonical form, that form is stable, and no spelling dodges a
 * pattern (case E4). */
#include "base/err.h"
#include "policy/glob.h"
#include "policy/path_canon.h"
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>

static const struct {
        const char *in, *out;
} good[] = {
        {"/", "/"},
        {"/a/b", "/a/b"},
        {"/a/./b", "/a/b"},
        {"/a/../b", "/b"},
        {"/a/%2e%2e/b", "/b"},
        {"/a/%2E./b", "/b"},
        {"/a/.%2e", "/"},
        {"/../../etc", "/etc"},
        {"/a/b/..", "/a/"},
        {"/a/.", "/a/"},
        {"/%61bc", "/abc"},
        {"/%7euser", "/~user"},
        {"/a%2fb", "/a%2Fb"},
        {"/a%2Bb+c", "/a%2Bb+c"},
        {"/a//b", "/a//b"},
        {"/a//../b", "/a/b"},
        {"/a;v=1/b", "/a;v=1/b"},
        {"/a%3bv", "/a%3Bv"},
        {"/a b", NULL},
        {"/a%20b", "/a%20b"},
        {"/a\"<>|b", "/a%22%3C%3E%7Cb"},
        {"/b\xc3\xbc", "/b%C3%BC"},
        {"/b%c3%bc", "/b%C3%BC"},
        {"/100%25", "/100%25"},
        {"/a...b/...", "/a...b/..."},
        {"/@scope%2fname", "/@scope%2Fname"},
        {"", NULL},
        {"a", NULL},
        {"*", NULL},
        {"/a?b", NULL},
        {"/a#b", NULL},
        {"/a\\b", NULL},
        {"/a%5cb", NULL},
        {"/a%00b", NULL},
        {"/a%0d%0ab", NULL},
        {"/a\tb", NULL},
        {"/a%7f", NULL},
        {"/a%", NULL},
        {"/a%2", NULL},
        {"/a%2g", NULL},
        {"/a%u002f", NULL},
        {"/a%c0%afb", NULL},
        {"/a%c0%ae%c0%ae/b", NULL},
        {"/a\xff", NULL},
        {"/a%ed%a0%80", NULL},
        {"/a%2f..%2fb", NULL},
        {"/a/..%2fb", NULL},
        {"/a/%2e%2e%2fb", NULL},
        {"/a/..;/b", NULL},
        {"/a/..;x=1/b", NULL},
        {"/a/.;/b", NULL},
        {"/a/..%3b/b", NULL},
        {"/a/%252e%252e/b", NULL},
        {"/a/%25252e%25252e/b", NULL},
        {"/a%252f..%252fb", NULL},
        {"/a%2500", NULL},
        {"/a%255cb", NULL},
        {"/a%25c0%25af", NULL},
};

static void test_forms(void)
{
        for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
                struct err err = {0};
                _cleanup_path_canon_ struct path_canon p = {0};
                int got = path_canon_parse(good[i].in, strlen(good[i].in), &p, &err);
                if (!good[i].out) {
                        check(got < 0 && !p.text && err.text[0], good[i].in, "was accepted as %s",
                              p.text ? p.text : "");
                        continue;
                }
                check(got == 0 && strcmp(p.text, good[i].out) == 0 && strlen(p.text) == p.len,
                      good[i].in, "became %s (%s)", p.text ? p.text : "", err.text);
        }
        struct path_canon p;
        CHECK("a NUL byte is refused", path_canon_parse("/a\0b", 4, &p, NULL) < 0);
        char *large = malloc(PATH_MAX_LEN + 1);
        memset(large, '/', PATH_MAX_LEN + 1);
        CHECK("a path has an end", path_canon_parse(large, PATH_MAX_LEN + 1, &p, NULL) < 0);
        free(large);
}

/* Pieces that matter, in all orders up to four: what is accepted is stable. */
static void test_stable(void)
{
        static const char *const parts[] = {"/",   "a",      "..",  ".",     "%2f", "%2e", ";",
                                            "%3B", "%25",    "%61", "%252f", "*",   ",",   "%2A",
                                            "'",   "%C3%BC", "2f",  "//",    "%",   "+"};
        enum { N = sizeof parts / sizeof *parts };
        size_t bad = 0, accepted = 0;
        char worst[64] = "";
        for (size_t n = 0; n < (size_t)N * N * N * N; n++) {
                char s[64] = "/";
                for (size_t k = n, i = 0; i < 4; i++, k /= N)
                        strcat(s, parts[k % N]);
                _cleanup_path_canon_ struct path_canon p = {0}, q = {0};
                if (path_canon_parse(s, strlen(s), &p, NULL) < 0)
                        continue;
                accepted++;
                if (path_canon_parse(p.text, p.len, &q, NULL) == 0 && strcmp(p.text, q.text) == 0 &&
                    p.plain_len == q.plain_len && memcmp(p.plain, q.plain, p.plain_len) == 0)
                        continue;
                bad++;
                strcpy(worst, s);
        }
        check(bad == 0 && accepted > 1000, "a canonical path is its own canonical form",
              "%zu of %zu are not, such as %s", bad, accepted, worst);
}

struct tally {
        const struct glob *g;
        size_t seen, fit;
};

static bool count(void *ctx, const char *text, size_t len)
{
        struct tally *t = ctx;
        t->seen++;
        t->fit += glob_matches(t->g, text, len);
        return true;
}

/* 'n' in no reading, 's' in some, 'a' in all. */
static const struct {
        const char *glob, *path;
        char want;
} fits[] = {
        {"/admin/**", "/admin/x", 'a'},
        {"/admin/**", "/admin", 'n'},
        {"/admin/**", "/admin/", 'a'},
        {"/admin/**", "/x/../admin/y", 'a'},
        {"/admin/**", "/%61dmin/y", 'a'},
        {"/admin/**", "//admin/y", 's'},
        {"/admin/**", "/admin%2fy", 's'},
        {"/admin/**", "/admin;x/y", 's'},
        {"/admin/**", "/admin%252fy", 's'},
        {"/admin/**", "/;x/admin/y", 's'},
        {"/admin/**", "/;x%2fadmin/y", 's'},
        {"/admin/**", "/%2fadmin/y", 's'},
        {"/admin/**", "/public/y", 'n'},
        {"/public/**", "/public/a%2fb", 'a'},
        {"/public/**", "/public/a;b//c", 'a'},
        {"/a/*", "/a/b", 'a'},
        {"/a/*", "/a/b/c", 'n'},
        {"/a/*", "/a/b%2fc", 's'},
        {"/a/*/c", "/a/b/c", 'a'},
        {"/a/*/c", "/a/b/b/c", 'n'},
        {"/a/**/c", "/a/b/b/c", 'a'},
        {"/@scope%2F*", "/@scope%2fname", 'a'},
        {"/@scope%2f*", "/@scope/name", 'a'},
        {"/@scope%2F*", "/@scope%2fname%2fx", 's'},
        {"/x%2Ay", "/x*y", 'a'},
        {"/x%2Ay", "/xzy", 'n'},
        {"/x!y", "/x%21y", 'a'},
        {"/x%21y", "/x!y", 'a'},
        {"/*.git/info/refs", "/repo.git/info/refs", 'a'},
        {"/**/*a*b*", "/q/r/xaxb", 'a'},
        {"/**", "/", 'a'},
        {"/", "/", 'a'},
        {"/", "/a", 'n'},
};

static void test_fits(void)
{
        for (size_t i = 0; i < sizeof fits / sizeof *fits; i++) {
                struct err err = {0};
                struct glob g;
                _cleanup_path_canon_ struct path_canon p = {0};
                char name[128];
                snprintf(name, sizeof name, "E4: %s on %s", fits[i].glob, fits[i].path);
                if (glob_parse(GLOB_PATH, fits[i].glob, strlen(fits[i].glob), &g, &err) < 0 ||
                    path_canon_parse(fits[i].path, strlen(fits[i].path), &p, &err) < 0) {
                        check(false, name, "%s", err.text);
                        continue;
                }
                struct tally t = {.g = &g};
                path_canon_each(&p, count, &t);
                char got = t.fit == 0 ? 'n' : t.fit == t.seen ? 'a' : 's';
                check(got == fits[i].want, name, "%zu of %zu readings", t.fit, t.seen);
                glob_free(&g);
        }
}

static void test_slow(void)
{
        /* Exponential in a matcher that tries all ways; here it is a product. */
        char pattern[512] = "/", *text = malloc(PATH_MAX_LEN);
        for (int i = 0; i < 60; i++)
                strcat(pattern, "**a*a");
        memset(text, 'a', PATH_MAX_LEN);
        text[0] = '/';
        text[PATH_MAX_LEN - 1] = 'b';
        struct glob g;
        CHECK("a pattern made to be slow is not",
              glob_parse(GLOB_PATH, pattern, strlen(pattern), &g, NULL) == 0 &&
                      !glob_matches(&g, text, PATH_MAX_LEN));
        glob_free(&g);
        free(text);
        CHECK("patterns that cannot be meant are refused",
              glob_parse(GLOB_PATH, "/a***", 5, &g, NULL) < 0 &&
                      glob_parse(GLOB_PATH, "/a/../b", 7, &g, NULL) < 0 &&
                      glob_parse(GLOB_PATH, "/a/%2e%2e", 9, &g, NULL) < 0 &&
                      glob_parse(GLOB_PATH, "a", 1, &g, NULL) < 0 &&
                      glob_parse(GLOB_PATH, "/a%0a", 5, &g, NULL) < 0 &&
                      glob_parse(GLOB_VALUE, "a\nb", 3, &g, NULL) < 0);
}

int main(void)
{
        test_forms();
        test_stable();
        test_fits();
        test_slow();
        return check_end();
}
