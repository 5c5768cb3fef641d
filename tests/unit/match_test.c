/* match_test.c - one rule against one request: yes in every reading, in some, or not at all. */
#include "base/err.h"
#include "policy/match.h"
#include "policy/path_canon.h"
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>

/* "METHOD host[:port]/path[?query]", with https and port 443 unless said. */
static const char *const answers[] = {
        [MATCH_NO] = "no",   [MATCH_LOOSE] = "loose",           [MATCH_SOME] = "some",
        [MATCH_ALL] = "all", [MATCH_NEEDS_BODY] = "needs body", [MATCH_UNREADABLE] = "unreadable"};

struct fields {
        const char *name, *values[4];
};

static void each(void *ctx, enum rule_where where, const char *name, bool is_loose,
                 request_visit *visit, void *to)
{
        const struct fields *f = ctx;
        (void)where, (void)is_loose;
        if (strcmp(f->name, name) == 0)
                for (size_t i = 0; i < 4 && f->values[i]; i++)
                        visit(to, f->values[i], strlen(f->values[i]));
}

static enum match ask(const char *rule, struct request q, const char *host, const char *path)
{
        struct rule_line l;
        struct err err = {0};
        struct host_name h;
        size_t column;
        _cleanup_path_canon_ struct path_canon p = {0};
        if (rule_line_parse(rule, strlen(rule), &l, &column, &err) != 1 ||
            host_name_parse(host, strlen(host), &h, &err) < 0 ||
            path_canon_parse(path, strlen(path), &p, &err) < 0) {
                printf("not ok %s: %s\n", rule, err.text);
                exit(1);
        }
        q.host = &h;
        q.path = &p;
        if (!q.method)
                q.method = "GET";
        if (!q.port)
                q.port = 443;
        enum match got = match_rule(&l.rule, &q);
        rule_line_free(&l);
        return got;
}

static const struct {
        const char *rule, *method, *host, *path;
        unsigned port;
        enum request_kind kind;
        enum match want;
} cases[] = {
        {"allow GET a.org", "GET", "a.org", "/x", 443, REQUEST_HTTP, MATCH_ALL},
        {"allow GET a.org", "GET", "A.ORG.", "/x", 80, REQUEST_HTTP, MATCH_ALL},
        {"allow GET a.org", "GET", "a.org", "/x", 8080, REQUEST_HTTP, MATCH_NO},
        {"allow GET a.org:8080", "GET", "a.org", "/x", 8080, REQUEST_HTTP, MATCH_ALL},
        {"allow GET a.org:8080", "GET", "a.org", "/x", 443, REQUEST_HTTP, MATCH_NO},
        {"allow GET a.org:*", "GET", "a.org", "/x", 9, REQUEST_HTTP, MATCH_ALL},
        {"deny * a.org", "GET", "a.org", "/x", 9, REQUEST_HTTP, MATCH_ALL},
        {"allow GET a.org", "HEAD", "a.org", "/x", 443, REQUEST_HTTP, MATCH_NO},
        {"allow GET a.org", "get", "a.org", "/x", 443, REQUEST_HTTP, MATCH_NO},
        {"allow GET,POST a.org", "POST", "a.org", "/x", 443, REQUEST_HTTP, MATCH_ALL},
        {"allow * a.org", "FROB", "a.org", "/x", 443, REQUEST_HTTP, MATCH_ALL},
        {"allow GET a.org", "FROB", "a.org", "/x", 443, REQUEST_HTTP, MATCH_NO},
        {"allow * *.example.org", "GET", "a.example.org", "/", 443, REQUEST_HTTP, MATCH_ALL},
        {"allow * *.example.org", "GET", "b.a.example.org", "/", 443, REQUEST_HTTP, MATCH_ALL},
        {"allow * *.example.org", "GET", "example.org", "/", 443, REQUEST_HTTP, MATCH_NO},
        {"allow * *.example.org", "GET", "evil-example.org", "/", 443, REQUEST_HTTP, MATCH_NO},
        {"allow * *.example.org", "GET", "a.example.org.evil.com", "/", 443, REQUEST_HTTP,
         MATCH_NO},
        {"deny * *", "GET", "1.2.3.4", "/", 1, REQUEST_HTTP, MATCH_ALL},
        {"allow * 10.0.0.5", "GET", "10.0.0.5", "/", 443, REQUEST_HTTP, MATCH_ALL},
        {"allow * [fd00::1]", "GET", "[FD00:0::1]", "/", 443, REQUEST_HTTP, MATCH_ALL},
        {"allow * a.org/pub/**", "GET", "a.org", "/pub/x", 443, REQUEST_HTTP, MATCH_ALL},
        {"allow * a.org/pub/**", "GET", "a.org", "/pub/../x", 443, REQUEST_HTTP, MATCH_NO},
        {"allow * a.org/pub/*", "GET", "a.org", "/pub/x%2fy", 443, REQUEST_HTTP, MATCH_SOME},
        {"deny * a.org/adm/**", "GET", "a.org", "//adm/x", 443, REQUEST_HTTP, MATCH_SOME},
        /* What passes unread. */
        {"tcp a.org:22", "", "a.org", "/", 22, REQUEST_TCP, MATCH_ALL},
        {"tcp a.org:22", "", "a.org", "/", 23, REQUEST_TCP, MATCH_NO},
        {"tcp a.org:443", "GET", "a.org", "/", 443, REQUEST_HTTP, MATCH_NO},
        {"tcp a.org:443", "", "a.org", "/", 443, REQUEST_SPLICE, MATCH_NO},
        {"splice a.org", "", "a.org", "/", 443, REQUEST_SPLICE, MATCH_ALL},
        {"splice a.org", "GET", "a.org", "/", 443, REQUEST_HTTP, MATCH_NO},
        {"allow * a.org", "", "a.org", "/", 443, REQUEST_TCP, MATCH_NO},
        {"allow * a.org", "", "a.org", "/", 443, REQUEST_SPLICE, MATCH_NO},
        {"deny * a.org", "", "a.org", "/", 22, REQUEST_TCP, MATCH_ALL},
        {"deny POST a.org", "", "a.org", "/", 443, REQUEST_SPLICE, MATCH_SOME},
        {"deny * a.org/x", "", "a.org", "/", 443, REQUEST_TCP, MATCH_SOME},
        {"deny * a.org h:x=1", "", "a.org", "/", 443, REQUEST_TCP, MATCH_SOME},
};

static void test_cases(void)
{
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                char name[160];
                snprintf(name, sizeof name, "%s on %s %s:%u%s", cases[i].rule, cases[i].method,
                         cases[i].host, cases[i].port, cases[i].path);
                struct request q = {.kind = cases[i].kind,
                                    .method = cases[i].method,
                                    .port = (uint16_t)cases[i].port};
                enum match got = ask(cases[i].rule, q, cases[i].host, cases[i].path);
                check_str(name, answers[got], answers[cases[i].want]);
        }
}

static const struct {
        const char *rule, *query;
        enum match want;
} queries[] = {
        {"deny * a.org q:x=1", NULL, MATCH_NO},
        {"deny * a.org q:x=1", "", MATCH_NO},
        {"deny * a.org q:x=1", "x=1", MATCH_ALL},
        {"deny * a.org q:x=1", "a=0&x=1&b", MATCH_ALL},
        {"deny * a.org q:x=1", "%78=%31", MATCH_ALL},
        {"deny * a.org q:x=1", "x=2", MATCH_NO},
        {"deny * a.org q:x=1", "x=2&x=1", MATCH_SOME},
        {"deny * a.org q:x=", "x", MATCH_ALL},
        {"deny * a.org q:x=a*c", "x=a+b%26c", MATCH_ALL},
        {"deny * a.org q:x=1", "y=0;x=1", MATCH_SOME},
        {"deny * a.org q:x=1", "x=%3", MATCH_SOME},
        {"deny * a.org q:x=1 q:y=2", "x=1&y=2", MATCH_ALL},
        {"deny * a.org q:x=1 q:y=2", "x=1&y=3", MATCH_NO},
};

static void test_queries(void)
{
        for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
                char name[128];
                snprintf(name, sizeof name, "%s on ?%s", queries[i].rule,
                         queries[i].query ? queries[i].query : "(none)");
                struct request q = {.query = queries[i].query};
                q.query_len = q.query ? strlen(q.query) : 0;
                check_str(name, answers[ask(queries[i].rule, q, "a.org", "/")],
                          answers[queries[i].want]);
        }
}

static void test_headers(void)
{
        const struct request_header h[] = {
                {"x-mode", "safe", 4}, {"x-mode", "wild", 4}, {"accept", "a/b", 3}};
        struct request q = {.headers = h, .headers_n = 3};
        CHECK("a header, whatever the case of its name in the rule",
              ask("allow * a.org h:Accept=a/*", q, "a.org", "/") == MATCH_ALL);
        CHECK("a header that is there twice with two values",
              ask("allow * a.org h:x-mode=safe", q, "a.org", "/") == MATCH_SOME);
        CHECK("a header that is missing",
              ask("allow * a.org h:x-other=*", q, "a.org", "/") == MATCH_NO);
}

static void test_bodies(void)
{
        struct fields f = {"/method", {"tools/call", NULL}};
        struct fields two = {"/method", {"tools/call", "tools/list", NULL}};
        const char *rule = "deny POST a.org json:/method=tools/call";
        struct request q = {.method = "POST", .body = REQUEST_BODY_UNREAD, .body_each = each};
        CHECK("a body that was not read is asked for",
              ask(rule, q, "a.org", "/") == MATCH_NEEDS_BODY);
        CHECK("but not when the rest says no already",
              ask("deny POST a.org json:/a=1 h:x=1", q, "a.org", "/") == MATCH_NO &&
                      ask(rule, q, "b.org", "/") == MATCH_NO);
        q.body = REQUEST_BODY_UNREADABLE;
        CHECK("a body that cannot be read", ask(rule, q, "a.org", "/") == MATCH_UNREADABLE);
        q.body = REQUEST_BODY_NONE;
        CHECK("no body has no fields", ask(rule, q, "a.org", "/") == MATCH_NO);
        q.body = REQUEST_BODY_IDLE;
        CHECK("a push without refs is no reason to refuse, and none against a grant",
              ask("deny POST a.org form:ref=x", q, "a.org", "/") == MATCH_NO &&
                      ask("allow POST a.org form:ref=x", q, "a.org", "/") == MATCH_ALL &&
                      ask("allow POST a.org json:/ref=x", q, "a.org", "/") == MATCH_NO);
        q.body = REQUEST_BODY_READ;
        q.body_ctx = &f;
        CHECK("a field that fits", ask(rule, q, "a.org", "/") == MATCH_ALL);
        CHECK("a field that does not",
              ask("deny POST a.org json:/method=x", q, "a.org", "/") == MATCH_NO);
        q.body_ctx = &two;
        CHECK("one of two", ask(rule, q, "a.org", "/") == MATCH_SOME);
}

static void test_secrets(void)
{
        static const char line[] = "secret X from env at a.org,b.org:8443/v1/** as bearer";
        static const struct {
                const char *host, *path;
                unsigned port;
                bool is_tls, want;
        } at[] = {
                {"a.org", "/", 443, true, true},         {"a.org", "/", 443, false, false},
                {"a.org", "/", 80, false, false},        {"a.org", "/", 80, true, false},
                {"x.a.org", "/", 443, true, false},      {"b.org", "/v1/x", 8443, true, true},
                {"b.org", "/v1/x", 443, true, false},    {"b.org", "/v2", 8443, true, false},
                {"b.org", "/v1%2Fx", 8443, true, false},
        };
        struct rule_line l;
        size_t column;
        bool is_good = rule_line_parse(line, sizeof line - 1, &l, &column, NULL) == 1;
        for (size_t i = 0; is_good && i < sizeof at / sizeof *at; i++) {
                struct host_name h;
                _cleanup_path_canon_ struct path_canon p = {0};
                host_name_parse(at[i].host, strlen(at[i].host), &h, NULL);
                path_canon_parse(at[i].path, strlen(at[i].path), &p, NULL);
                is_good = match_secret(l.secret, &h, (uint16_t)at[i].port, at[i].is_tls, &p) ==
                          at[i].want;
        }
        rule_line_free(&l);
        CHECK("a secret is shown only at its place, over TLS, in every reading", is_good);

        static const char plain[] = "secret X from env at a.org,b.org:8080 as bearer plain";
        struct host_name a, b;
        _cleanup_path_canon_ struct path_canon root = {0};
        host_name_parse("a.org", 5, &a, NULL);
        host_name_parse("b.org", 5, &b, NULL);
        path_canon_parse("/", 1, &root, NULL);
        is_good = rule_line_parse(plain, sizeof plain - 1, &l, &column, NULL) == 1 &&
                  match_secret(l.secret, &a, 80, false, &root) &&
                  match_secret(l.secret, &a, 443, true, &root) &&
                  match_secret(l.secret, &b, 8080, false, &root) &&
                  !match_secret(l.secret, &a, 443, false, &root) &&
                  !match_secret(l.secret, &a, 80, true, &root) &&
                  !match_secret(l.secret, &b, 80, false, &root);
        rule_line_free(&l);
        CHECK("plain shows it without TLS too, at the ports that belong to it", is_good);
}

int main(void)
{
        test_secrets();
        test_cases();
        test_queries();
        test_headers();
        test_bodies();
        return check_end();
}
