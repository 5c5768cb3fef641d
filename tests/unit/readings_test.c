/* readings_test.c - a refusal holds in every spelling that a common server takes for the same, a
 * grant only in its own; and the number of readings has an end. */
#include "base/err.h"
#include "policy/fold.h"
#include "policy/glob.h"
#include "policy/match.h"
#include "policy/path_canon.h"
#include "policy/readings.h"
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>

static size_t put_utf8(uint32_t c, char *out)
{
        size_t more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        out[0] = (char)((more ? (0xf0 << (3 - more)) & 0xff : 0) | (c >> (6 * more)));
        for (size_t i = 1; i <= more; i++)
                out[i] = (char)(0x80 | ((c >> (6 * (more - i))) & 0x3f));
        return more + 1;
}

static void test_fold(void)
{
        static const struct {
                const char *in, *out;
        } rows[] = {
                {"Private", "private"},
                {"ｐｒｉｖａｔｅ", "private"},
                {"ⓟⓡⓘⓥⓐⓣⓔ", "private"},
                {"𝐩𝓻𝕚𝖛𝚊𝗍𝑒", "private"},
                {"ﬁle", "file"},
                {"pr\u00adiv\u200bate", "private"},
                {"privat\u00e9", "private"},
                {"PRIVATE\u0301", "private"},
                {"\u212aelvin \u017f", "kelvin s"},
                {"\u0130", "i"},
                {"ß", "ss"},
                {"Ж", "ж"},
                {"．．／", "../"},
                {"\xff\x80"
                 "A",
                 "\xff\x80"
                 "a"},
                {"日本", "日本"},
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char out[256];
                size_t n = fold_text(rows[i].in, strlen(rows[i].in), out);
                out[n] = 0;
                check_str(rows[i].in, out, rows[i].out);
        }
        size_t bad = 0, grown = 0;
        for (uint32_t c = 1; c < 0x110000; c++) {
                char in[4], once[32], twice[256];
                if (c >= 0xd800 && c < 0xe000)
                        continue;
                size_t n = put_utf8(c, in), a = fold_text(in, n, once);
                size_t b = fold_text(once, a, twice);
                bad += a != b || memcmp(once, twice, a) != 0;
                grown += a > n * FOLD_GROWTH;
        }
        check(bad == 0, "folding twice is folding once", "%zu code points differ", bad);
        check(grown == 0, "no code point grows beyond the bound", "%zu do", grown);
}

static enum match ask(const char *rule, const char *method, const char *target,
                      const struct request_header *headers, size_t headers_n)
{
        struct rule_line l;
        struct err err = {0};
        struct host_name h;
        size_t column, n = strcspn(target, "?");
        _cleanup_path_canon_ struct path_canon p = {0};
        if (rule_line_parse(rule, strlen(rule), &l, &column, &err) != 1)
                return MATCH_UNREADABLE;
        if (host_name_parse("a.org", 5, &h, &err) < 0 ||
            path_canon_parse(target, n, &p, &err) < 0) {
                rule_line_free(&l);
                return MATCH_UNREADABLE; /* such a path is a 400 */
        }
        struct request q = {.method = method,
                            .host = &h,
                            .port = 443,
                            .path = &p,
                            .query = target[n] ? target + n + 1 : NULL,
                            .query_len = target[n] ? strlen(target) - n - 1 : 0,
                            .headers = headers,
                            .headers_n = headers_n};
        enum match got = match_rule(&l.rule, &q);
        rule_line_free(&l);
        return got;
}

/* What a refusal of /private/ (and its kin) must hit, and what no grant may. */
static const struct {
        const char *place, *target;
} hits[] = {
        {"/private/**", "/PRIVATE/x"},
        {"/private/**", "/Private/x"},
        {"/Private/**", "/private/x"},
        {"/private/**", "/private./x"},
        {"/private/**", "/private.../x"},
        {"/private/**", "/private%20/x"},
        {"/private/**", "/private%20./x"},
        {"/private/**", "/private%C2%A0/x"},
        {"/private/**", "/private::$DATA/x"},
        {"/private/**", "/private:$i30:$INDEX_ALLOCATION/x"},
        {"/private/**", "/private::%24DATA/x"},
        {"/private/**", "/private::$data./x"},
        {"/private/**", "/ｐｒｉｖａｔｅ/x"},
        {"/private/**", "/%EF%BC%B0rivate/x"},
        {"/private/**", "/%25EF%25BC%25B0rivate/x"},
        {"/private/**", "/ⓟrivate/x"},
        {"/private/**", "/privat%C3%A9/x"},
        {"/private/**", "/pri%E2%80%8Bvate/x"},
        {"/private/**", "/private;v=1/x"},
        {"/private/**", "/PRIVATE;v=1/x"},
        {"/private/**", "/private%EF%BC%9Bv=1/x"},
        {"/private/**", "/PRIVATE%2Fx"},
        {"/private/**", "/PRIVATE%252Fx"},
        {"/private/**", "/private%EF%BC%8Fx"},
        {"/private/**", "/private%EF%BC%BCx"},
        {"/private/**", "/private%E2%88%95x"},
        {"/private/**", "//PRIVATE//x"},
        {"/private/**", "/.../private/x"},
        {"/private/**", "/%20/PRIVATE/x"},
        {"/private/**", "/%2550RIVATE/x"},
        {"/private/**", "/%25u0070rivate/x"},
        {"/private/**", "/%25uFF50rivate/x"},
        {"/private/**", "/%EF%BC%8570rivate/x"},
        {"/secret.txt", "/SECRET.TXT"},
        {"/secret.txt", "/secret.txt."},
        {"/secret.txt", "/secret.txt/"},
        {"/secret.txt", "/secret.txt::$DATA"},
        {"/secret.txt", "/secret.txt%20"},
        {"/a/*/b", "/A//B"},
        {"/%C3%84rger/*", "/%C3%A4rger/x"},
        {"/%C3%84rger/*", "/A%CC%88rger/x"},
        {" q:Action=Terminate*", "/?action=TerminateInstances"},
        {" q:Action=Terminate*", "/?Action[]=TerminateInstances"},
        {" q:Action=Terminate*", "/?Action[0]=TerminateInstances"},
        {" q:Action=Terminate*", "/?Action%5B%5D=TerminateInstances"},
        {" q:Action=Terminate*", "/?%41ction=terminateInstances"},
        {" q:Action=Terminate*", "/?Action=%20TerminateInstances"},
        {" q:Action=Terminate*", "/?Action=%2554erminateInstances"},
        {" q:Action=Terminate*", "/?%2541ction=TerminateInstances"},
        {" q:Action=Terminate*", "/?Action%00x=TerminateInstances"},
        {" q:Action=Terminate*", "/?+Action=TerminateInstances"},
        {" q:a.b=1", "/?a_b=1"},
        {" q:Action=Terminate*", "/?ａction=TerminateInstances"},
        {" form:Action=Terminate*", "/?Action=TerminateInstances"},
        {" form:Action=Terminate*", "/?action[]=TerminateInstances"},
        {" form:Action=Terminate*", "/?Action]=TerminateInstances"},
        {" form:Action=Terminate*", "/?]Action=TerminateInstances"},
        {" form:Action=Terminate*", "/?[Action=TerminateInstances"},
        {" form:Action=Terminate*", "/?%5BAction%5D=TerminateInstances"},
        {" form:Action=Terminate*", "/?%255BAction%255D=TerminateInstances"},
        {" form:Action=Terminate*", "/?Action]x=TerminateInstances"},
        {" form:user_id=evil*", "/?user[id=evil"},
        {" form:user_id=evil*", "/?user%5Bid=evil"},
        {" form:user.id=evil*", "/?user[id=evil"},
        {" form:user[role]=admin*", "/?user[role]x=admin"},
        {" form:user[role]=admin*", "/?user[role][]=admin"},
        {" form:user[role]=admin*", "/?[user][role]=admin"},
        {" form:user[role]=admin*", "/?user[role=admin"},
        {" body:graphql=mutation*", "/?[query]=mutation{a}"},
        {" body:graphql=mutation*", "/?query]=mutation{a}"},
        {"/secret.txt", "/secret.txt%3Fx"},
        {"/secret.txt", "/secret.txt%253Fx"},
        {"/secret.txt", "/secret.txt%23/x"},
        {"/secret.txt", "//SECRET.TXT%3F/x"},
        {"/private/**", "//host/private/x"},
        {"/private/**", "/%2Fhost/private/x"},
        {"/private/**", "/%5Chost/PRIVATE/x"},
};

static void test_hits(void)
{
        char deny[128], asks[128], allow[128], name[256];
        for (size_t i = 0; i < sizeof hits / sizeof *hits; i++) {
                snprintf(deny, sizeof deny, "deny * a.org%s", hits[i].place);
                snprintf(asks, sizeof asks, "ask * a.org%s", hits[i].place);
                snprintf(allow, sizeof allow, "allow * a.org%s", hits[i].place);
                snprintf(name, sizeof name, "%s holds for %s", deny, hits[i].target);
                enum match d = ask(deny, "GET", hits[i].target, NULL, 0);
                check(d != MATCH_NO, name, "it does not");
                enum match k = ask(asks, "GET", hits[i].target, NULL, 0);
                snprintf(name, sizeof name, "%s too", asks);
                check(k != MATCH_NO, name, "it does not");
                enum match g = ask(allow, "GET", hits[i].target, NULL, 0);
                snprintf(name, sizeof name, "%s does not", allow);
                check(g != MATCH_ALL && g != MATCH_LOOSE, name, "it does");
        }
}

/* Other places stay other places. */
static const struct {
        const char *place, *target;
} misses[] = {
        {"/private/**", "/privately/x"},
        {"/private/**", "/public/private/x"},
        {"/private/**", "/private"},
        {"/v1/models/x", "/v1/models/x:generateContent"},
        {"/a.b", "/ab"},
        {"/a", "/a/b"},
        {"/a%20b", "/ab"},
        {" q:Action=Terminate*", "/?Actions=TerminateInstances"},
        {" q:Action=Terminate*", "/?Action=DescribeInstances"},
        {" q:Action=Terminate*", "/?x[Action]=TerminateInstances"},
        {" q:user[role]=admin*", "/?user[roles]=admin"},
        {" q:user[role]=admin*", "/?user=admin"},
        {" q:user_id=evil*", "/?user[id]=evil"},
        {"/secret.txt", "/x%3F/secret.txt"},
        {"/private/**", "/x//host/private/y"},
};

static void test_misses(void)
{
        char deny[128], name[256];
        for (size_t i = 0; i < sizeof misses / sizeof *misses; i++) {
                snprintf(deny, sizeof deny, "deny * a.org%s", misses[i].place);
                snprintf(name, sizeof name, "%s is not about %s", deny, misses[i].target);
                check(ask(deny, "GET", misses[i].target, NULL, 0) == MATCH_NO, name, "it is");
        }
}

static void test_dots(void)
{
        static const char *const bad[] = {"/pub/．．/private/x",
                                          "/pub/%E2%80%A5/x",
                                          "/pub/..%20/x",
                                          "/pub/.%20/x",
                                          "/pub/..%20;v/x",
                                          "/pub/%25E2%2580%25A5/x",
                                          "/pub%EF%BC%BC..%EF%BC%BCx",
                                          "/pub/..::$DATA/x",
                                          "/pub/%25u002e%25u002e/x"};
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                struct path_canon p;
                char name[128];
                snprintf(name, sizeof name, "%s climbs for somebody, so it is refused", bad[i]);
                int got = path_canon_parse(bad[i], strlen(bad[i]), &p, NULL);
                check(got < 0, name, "it was accepted");
                if (got == 0)
                        path_canon_free(&p);
        }
        struct path_canon p;
        CHECK("dots that are a name are one",
              path_canon_parse("/a.b/.well-known/x..y/...", 25, &p, NULL) == 0);
        path_canon_free(&p);
}

static void test_headers(void)
{
        const struct request_header h[] = {{"x_mode", "Wild", 4}, {"x-list", "a, wild ,b", 10}};
        CHECK("a header with an underscore and another case",
              ask("deny * a.org h:x-mode=wild", "GET", "/", h, 1) == MATCH_LOOSE);
        CHECK("a value in a list",
              ask("deny * a.org h:x-list=wild", "GET", "/", h, 2) == MATCH_LOOSE);
        CHECK("not by a grant",
              ask("allow * a.org h:x-list=wild", "GET", "/", h, 2) == MATCH_NO &&
                      ask("allow * a.org h:x-mode=*", "GET", "/", h, 1) == MATCH_NO);
        CHECK("a method in small letters",
              ask("deny DELETE a.org", "delete", "/", NULL, 0) == MATCH_ALL &&
                      ask("allow DELETE a.org", "delete", "/", NULL, 0) == MATCH_NO);
}

static bool tally(void *ctx, const char *s, size_t n)
{
        size_t *seen = ctx;
        seen[0]++;
        seen[1] += n;
        return s[0] == '/' && n > 0;
}

static void test_bounds(void)
{
        size_t seen[2] = {0, 0};
        bool is_all = readings_path("/plain/path", 11, tally, seen);
        check(is_all && seen[0] == 1, "a plain path has one reading", "it has %zu", seen[0]);
        static const char odd[] = "/A;x\001b\\c./d //e::$data/%41%2f%3b";
        seen[0] = seen[1] = 0;
        is_all = readings_path(odd, sizeof odd - 1, tally, seen);
        check(is_all && seen[0] > 16 && seen[0] <= READINGS_MAX, "an odd one has many, not more",
              "it has %zu", seen[0]);
        char *large = malloc(PATH_MAX_LEN);
        for (size_t i = 0; i < PATH_MAX_LEN; i++)
                large[i] = odd[i % (sizeof odd - 1)];
        seen[0] = seen[1] = 0;
        is_all = readings_path(large, PATH_MAX_LEN, tally, seen);
        check(!is_all && seen[1] <= READINGS_BYTES_MAX, "and a long one says that it was too much",
              "%zu readings, %zu bytes", seen[0], seen[1]);
        /* Undoing %25 one layer at a time took a step for each pair of bytes. */
        memcpy(large, "/%", 2);
        for (size_t i = 2; i < PATH_MAX_LEN; i++)
                large[i] = i & 1 ? '5' : '2';
        seen[0] = seen[1] = 0;
        CHECK("a thousand layers of encoding are undone at once",
              readings_path(large, PATH_MAX_LEN, tally, seen) && seen[0] == 2);
        free(large);
}

int main(void)
{
        test_fold();
        test_hits();
        test_misses();
        test_dots();
        test_headers();
        test_bounds();
        return check_end();
}
