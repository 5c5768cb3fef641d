/* policy_index_test.c - policies made at random: with the index every verdict is the one without
 * it, and dial never refuses what egress would allow. Then single cases of dial's question. */
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/path_canon.h"
#include "policy/policy.h"
#include "policy/policy_dial.h"
#include "policy/policy_index.h"
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t seed = 88172645463325252ull;

static size_t below(size_t n)
{
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        return (size_t)(seed >> 11) % n;
}

#define PICK(list) list[below(sizeof list / sizeof *list)]

static const char *const hosts[] = {
        "a.example.org",     "b.example.org", "example.org", "x.a.example.org", "evil-example.org",
        "y.x.a.example.org", "git.internal",  "10.0.0.1",    "[fd00::1]",       "db.internal",
        "internal",          "c.example.net", "192.168.1.5", "example.net",
};
static const char *const grants[] = {"a.example.org", "*.example.org", "*.a.example.org",
                                     "example.org",   "git.internal",  "*.internal",
                                     "10.0.0.1",      "[fd00::1]",     "c.example.net",
                                     "*.example.net", "192.168.1.5",   "x.a.example.org"};
static const char *const methods[] = {"*", "GET", "POST", "GET,HEAD"};
static const char *const ports[] = {"", ":443", ":8080", ":*"};
static const char *const paths[] = {"", "/**", "/a/*", "/b"};
static const char *const options[] = {"", "", "", " to=127.0.0.1:99", " h:x-k=v", " json:/a=b"};
static const char *const verdicts[] = {"allow", "allow", "deny", "ask",   "allow",
                                       "allow", "deny!", "tcp",  "splice"};

static void put_line(struct buf *b, enum policy_rank rank)
{
        const char *v = PICK(verdicts);
        bool is_deny = v[0] == 'd';
        const char *host = is_deny && below(10) == 0 ? "*" : PICK(grants);
        if (v[0] == 't') {
                buf_put_fmt(b, "tcp %s%s\n", host, below(2) ? ":5432" : ":443");
                return;
        }
        if (v[0] == 's') {
                buf_put_fmt(b, "splice %s%s\n", host, PICK(ports));
                return;
        }
        const char *option = PICK(options);
        if (is_deny || rank == POLICY_PROJECT)
                option = option[0] && option[1] == 't' ? "" : option;
        buf_put_fmt(b, "%s %s %s%s%s%s\n", v, PICK(methods), host, PICK(ports), PICK(paths),
                    option);
}

static void make(struct policy *p)
{
        for (size_t k = below(5); k-- > 0;) {
                _cleanup_buf_ struct buf b = {0};
                struct policy_layer l;
                struct err err = {0};
                enum policy_rank rank = (enum policy_rank)below(5);
                for (size_t i = below(12); i-- > 0;)
                        put_line(&b, rank);
                if (policy_layer_parse(rank, "random", buf_cstr(&b), b.len, &l, &err) < 0) {
                        printf("not ok random policy: %s\n%s", err.text, buf_cstr(&b));
                        exit(1);
                }
                policy_put(p, &l);
        }
}

static bool same(const struct policy_decision *a, const struct policy_decision *b)
{
        return a->verdict == b->verdict && a->why == b->why && a->layer == b->layer &&
               a->line == b->line;
}

static void random_policies(void)
{
        size_t differ = 0, unsound = 0, granted = 0, denied = 0, dials = 0;
        for (int round = 0; round < 3000; round++) {
                _cleanup_policy_ struct policy p = {0};
                make(&p);
                policy_index_make(&p);
                for (int i = 0; i < 30; i++) {
                        static const char *const url_paths[] = {"/", "/a/b", "/b", "/a//b", "/c;x"};
                        static const uint16_t url_ports[] = {443, 80, 8080, 5432};
                        static const char *const verbs[] = {"GET", "POST", "BREW"};
                        struct host_name h;
                        _cleanup_path_canon_ struct path_canon path = {0};
                        const char *host = PICK(hosts), *text = PICK(url_paths);
                        host_name_parse(host, strlen(host), &h, NULL);
                        path_canon_parse(text, strlen(text), &path, NULL);
                        struct request_header head = {"x-k", below(2) ? "v" : "w", 1};
                        struct request q = {.kind = (enum request_kind)below(3),
                                            .host = &h,
                                            .port = PICK(url_ports),
                                            .method = PICK(verbs),
                                            .path = &path,
                                            .headers = &head,
                                            .headers_n = below(2),
                                            .body = (enum request_body)below(3)};
                        struct policy linear = {p.layers, p.layers_n, NULL};
                        struct policy_decision a, b, da, db;
                        policy_decide(&p, &q, &a);
                        policy_decide(&linear, &q, &b);
                        policy_may_dial(&p, q.kind, &h, q.port, &da);
                        policy_may_dial(&linear, q.kind, &h, q.port, &db);
                        differ += !same(&a, &b) || !same(&da, &db);
                        /* What depends on the body may still be refused whatever the body is. */
                        unsound += a.verdict != POLICY_DENY && a.verdict != POLICY_NEEDS_BODY &&
                                   da.verdict == POLICY_DENY;
                        unsound += a.why == POLICY_BY_DEFAULT && da.verdict == POLICY_DENY &&
                                   da.why != POLICY_BY_DEFAULT;
                        granted += a.verdict != POLICY_DENY;
                        denied += a.verdict == POLICY_DENY;
                        dials += da.verdict != POLICY_DENY;
                }
        }
        check(differ == 0, "with the index every verdict is the same", "%zu differ", differ);
        check(unsound == 0, "dial never refuses what egress allows", "%zu cases", unsound);
        check(granted > 2000 && denied > 5000 && dials > granted,
              "the random policies grant and refuse", "%zu granted, %zu denied, %zu dials", granted,
              denied, dials);
}

static void many_rules(void)
{
        _cleanup_policy_ struct policy p = {0};
        _cleanup_buf_ struct buf b = {0};
        struct policy_layer l;
        for (int i = 0; i < 10000; i++)
                buf_put_fmt(&b, "allow GET host%d.example.org/**\n", i);
        if (policy_layer_parse(POLICY_USER, "user", buf_cstr(&b), b.len, &l, NULL) < 0)
                exit(1);
        policy_put(&p, &l);
        struct host_name h;
        struct path_canon path = {0};
        host_name_parse("host9999.example.org", 20, &h, NULL);
        path_canon_parse("/x", 2, &path, NULL);
        struct request q = {.host = &h, .port = 443, .method = "GET", .path = &path};
        struct policy_decision d;
        double us[2];
        for (int way = 0; way < 2; way++) {
                struct timespec a, z;
                int n = way ? 100000 : 200;
                if (way)
                        policy_index_make(&p);
                clock_gettime(CLOCK_MONOTONIC, &a);
                for (int i = 0; i < n; i++)
                        policy_decide(&p, &q, &d);
                clock_gettime(CLOCK_MONOTONIC, &z);
                us[way] = ((double)(z.tv_sec - a.tv_sec) * 1e9 + (double)(z.tv_nsec - a.tv_nsec)) /
                          n / 1000;
        }
        CHECK("the last of ten thousand rules is found", d.line && d.line->line_no == 10000);
        printf("# 10,000 rules: %.2f us without, %.2f us with the index\n", us[0], us[1]);
        path_canon_free(&path);
}

/* may("rules", "http|tcp|splice host:port"): "allow", "deny", "default", or "to ADDR:PORT". */
static const char *may(const char *rules, const char *what)
{
        static char out[300];
        _cleanup_policy_ struct policy p = {0};
        struct policy_layer l;
        struct err err = {0};
        char kind[16], host[128];
        unsigned port;
        struct host_name h;
        struct policy_decision d;
        if (policy_layer_parse(POLICY_USER, "user", rules, strlen(rules), &l, &err) < 0)
                return "broken";
        policy_put(&p, &l);
        policy_index_make(&p);
        if (sscanf(what, "%15s %127s %u", kind, host, &port) != 3 ||
            host_name_parse(host, strlen(host), &h, &err) < 0)
                return "broken";
        policy_may_dial(&p,
                        kind[0] == 't'   ? REQUEST_TCP
                        : kind[0] == 's' ? REQUEST_SPLICE
                                         : REQUEST_HTTP,
                        &h, (uint16_t)port, &d);
        if (d.verdict == POLICY_DENY)
                return d.why == POLICY_BY_DEFAULT ? "default" : "deny";
        if (!d.line->rule.to.len)
                return "grant";
        snprintf(out, sizeof out, "to %s:%u", d.line->rule.to.text, d.line->rule.to_port);
        return out;
}

static void questions(void)
{
        static const struct {
                const char *name, *rules, *what, *want;
        } cases[] = {
                {"nothing is granted by nothing", "", "http a.example 443", "default"},
                {"a grant of one path is a reason to connect", "allow GET a.example/x",
                 "http a.example 443", "grant"},
                {"a question is one too", "ask * a.example", "http a.example 443", "grant"},
                {"another port is not", "allow GET a.example", "http a.example 8443", "default"},
                {"a lookalike is not", "allow * *.a.example", "http xa.example 443", "default"},
                {"a grant to read is none to pass unread", "allow * a.example", "tcp a.example 443",
                 "default"},
                {"nor the other way round", "tcp a.example:443", "http a.example 443", "default"},
                {"deny! stands above", "allow * a.example\ndeny! * *.example", "http a.example 443",
                 "deny"},
                {"deny! of one path does not", "allow * a.example\ndeny! * a.example/x",
                 "http a.example 443", "grant"},
                {"deny! of one path ends unread bytes", "tcp a.example:443\ndeny! * a.example/x",
                 "tcp a.example 443", "deny"},
                {"a refusal before the grant", "deny * a.example\nallow * a.example",
                 "http a.example 443", "deny"},
                {"a refusal of one method before it", "deny POST a.example\nallow * a.example",
                 "http a.example 443", "grant"},
                {"an address is granted only where it is written", "allow * 10.0.0.1",
                 "http 10.0.0.1 443", "grant"},
                {"a name's rule grants no address", "allow * a.example to=10.0.0.1",
                 "http 10.0.0.1 443", "default"},
                {"to= comes along", "allow * a.example to=10.0.0.1:81", "http a.example 443",
                 "to 10.0.0.1:81"},
                {"to= of a later line holds for the host",
                 "allow POST a.example/x\nallow GET a.example to=10.0.0.1:81", "http a.example 443",
                 "to 10.0.0.1:81"},
                {"but not when the first speaks of everything",
                 "allow * a.example\nallow GET a.example to=10.0.0.1:81", "http a.example 443",
                 "grant"},
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
                check_str(cases[i].name, may(cases[i].rules, cases[i].what), cases[i].want);
}

int main(void)
{
        random_policies();
        many_rules();
        questions();
        return check_end();
}
