/* policy_test.c - layers in their order, doubt settled against the request, a project that can only
 * take away, and the words and the cure of a refusal. */
#include "base/err.h"
#include "base/str.h"
#include "policy/path_canon.h"
#include "policy/policy.h"
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>

static void add(struct policy *p, enum policy_rank rank, const char *name, const char *text)
{
        struct err err = {0};
        struct policy_layer l;
        if (policy_layer_parse(rank, name, text, strlen(text), &l, &err) < 0) {
                printf("not ok %s: %s\n", name, err.text);
                exit(1);
        }
        policy_put(p, &l);
}

struct got {
        struct policy_decision d;
        char *words, *cure;
};

/* "METHOD host[:port]/path", or "tcp host:port". */
static struct got decide(const struct policy *p, const char *url, enum request_body body)
{
        char method[16], rest[512];
        struct host_name h;
        struct err err = {0};
        _cleanup_path_canon_ struct path_canon path = {0};
        sscanf(url, "%15s %511s", method, rest);
        size_t host = strcspn(rest, ":/");
        unsigned port = rest[host] == ':' ? (unsigned)atoi(rest + host + 1) : 443;
        const char *slash = strchr(rest, '/');
        if (!slash)
                slash = "/";
        if (host_name_parse(rest, host, &h, &err) < 0 ||
            path_canon_parse(slash, strlen(slash), &path, &err) < 0) {
                printf("not ok %s: %s\n", url, err.text);
                exit(1);
        }
        struct request q = {
                .host = &h, .port = (uint16_t)port, .method = method, .path = &path, .body = body};
        if (strcmp(method, "tcp") == 0)
                q.kind = REQUEST_TCP;
        if (strcmp(method, "splice") == 0)
                q.kind = REQUEST_SPLICE;
        struct got g;
        policy_decide(p, &q, &g.d);
        g.words = policy_words(&g.d);
        g.cure = policy_cure(&g.d, &q);

        /* A cure that does not cure is worse than none: say it at run time and ask again. */
        if (g.cure) {
                struct policy cured = {0};
                struct policy_layer l = {.rank = POLICY_RUN_TIME, .name = str_dup("cure")};
                struct policy_decision d;
                if (policy_layer_add(&l, g.cure, &err) == 0) {
                        policy_put(&cured, &l);
                        struct policy both = {.layers =
                                                      calloc(p->layers_n + 1, sizeof *both.layers),
                                              .layers_n = p->layers_n + 1};
                        both.layers[0] = cured.layers[0];
                        if (p->layers_n)
                                memcpy(both.layers + 1, p->layers, p->layers_n * sizeof *p->layers);
                        policy_decide(&both, &q, &d);
                        free(both.layers);
                        check(d.verdict != POLICY_DENY, "the cure cures", "%s for %s", g.cure, url);
                } else {
                        check(false, "the cure is a rule", "%s: %s", g.cure, err.text);
                        policy_layer_free(&l);
                }
                policy_free(&cured);
        }
        return g;
}

static void expect(const struct policy *p, const char *url, const char *words, const char *cure)
{
        struct got g = decide(p, url, REQUEST_BODY_NONE);
        check_str(url, g.words, words);
        if (cure)
                check_str("its cure", g.cure, *cure ? cure : NULL);
        free(g.words);
        free(g.cure);
}

static void test_empty(void)
{
        struct policy p = {0};
        expect(&p, "GET a.org/", "denied by default", "allow GET a.org/");
        expect(&p, "tcp a.org:22", "denied by default", "tcp a.org:22");
        add(&p, POLICY_USER, "user policy", "");
        add(&p, POLICY_SYSTEM, "system policy", "# nothing\n\n");
        expect(&p, "GET a.org/", "denied by default", NULL);
        check(p.layers_n == 2, "84, E11: an empty policy denies everything", "layers");
        policy_free(&p);
}

static void test_order(void)
{
        struct policy p = {0};
        add(&p, POLICY_SYSTEM, "system policy", "deny! * evil.org\nallow * sys.org\n");
        add(&p, POLICY_PROFILE, "profile x", "allow * api.org\nallow * evil.org\nallow * b.org");
        add(&p, POLICY_USER, "user policy",
            "# one\n"
            "allow GET b.org/pub/**\n"
            "deny * b.org\n"
            "ask POST api.org\n"
            "tcp db.org:5432\n"
            "splice pin.org\n");
        add(&p, POLICY_RUN_TIME, "run time", "allow * evil.org\nallow DELETE b.org");
        expect(&p, "GET evil.org/", "denied by system policy:1", "");
        expect(&p, "GET api.org/", "allowed by profile x:1", "");
        expect(&p, "POST api.org/", "asks, because of user policy:4", "");
        expect(&p, "GET b.org/pub/x", "allowed by user policy:2", "");
        expect(&p, "GET b.org/x", "denied by user policy:3", "allow GET b.org/x");
        expect(&p, "DELETE b.org/x", "allowed by run time:2", "");
        expect(&p, "GET sys.org/", "allowed by system policy:2", "");
        expect(&p, "GET other.org:8443/a*b", "denied by default", "allow GET other.org:8443/a%2Ab");
        expect(&p, "FROB other.org/x", "denied by default", "allow * other.org/x");
        expect(&p, "tcp db.org:5432", "passed on unread, allowed by user policy:5", "");
        expect(&p, "tcp db.org:22", "denied by default", "tcp db.org:22");
        expect(&p, "splice pin.org", "passed on undeciphered, allowed by user policy:6", "");
        expect(&p, "splice b.org", "denied by user policy:3", "splice b.org");
        policy_free(&p);
}

static void test_doubt(void)
{
        struct policy p = {0};
        add(&p, POLICY_USER, "user policy",
            "deny * a.org/admin/**\n"
            "ask * a.org/ask/**\n"
            "allow * a.org/pub/*\n"
            "allow GET a.org/all/**\n"
            "deny POST a.org/mcp json:/method=tools/call\n"
            "allow POST a.org/mcp\n");
        expect(&p, "GET a.org//admin/x",
               "denied by user policy:1, which speaks of one way in which this request can be read",
               NULL);
        expect(&p, "GET a.org/admin;v=1/x",
               "denied by user policy:1, which speaks of one way in which this request can be read",
               NULL);
        expect(&p, "GET a.org/x%2f..%2e/y", "denied by default", NULL);
        expect(&p, "GET a.org/ask%2fx",
               "denied by user policy:2, which speaks of one way in which this request can be read",
               NULL);
        expect(&p, "GET a.org/pub/x", "allowed by user policy:3", NULL);
        expect(&p, "GET a.org/pub/x%2fy", "denied by default", "allow GET a.org");
        expect(&p, "GET a.org/all/x%2fy//z;q", "allowed by user policy:4", NULL);
        struct got g = decide(&p, "POST a.org/mcp", REQUEST_BODY_UNREAD);
        check(g.d.verdict == POLICY_NEEDS_BODY, "a body is asked for before it is judged", "%s",
              g.words);
        free(g.words);
        free(g.cure);
        g = decide(&p, "POST a.org/mcp", REQUEST_BODY_UNREADABLE);
        check_str(
                "a body that cannot be read is refused", g.words,
                "denied by user policy:5, which looks into the body, and the body cannot be read");
        free(g.words);
        free(g.cure);
        expect(&p, "POST a.org/mcp", "allowed by user policy:6", NULL);
        policy_free(&p);
}

static void test_project(void)
{
        struct policy p = {0};
        add(&p, POLICY_USER, "user policy", "allow * a.org\nallow * b.org\nallow * c.org/x\n");
        add(&p, POLICY_PROJECT, "project policy",
            "allow * new.org\n"
            "allow GET a.org/ok\n"
            "ask * a.org\n"
            "deny * b.org\n"
            "ask * c.org\n"
            "tcp new.org:22\n");
        expect(&p, "GET new.org/", "denied by default", NULL);
        expect(&p, "tcp new.org:22", "denied by default", NULL);
        expect(&p, "GET a.org/ok", "allowed by user policy:1", NULL);
        expect(&p, "GET a.org/other", "asks, because of project policy:3", NULL);
        expect(&p, "GET b.org/", "denied by project policy:4", NULL);
        expect(&p, "GET c.org/x", "asks, because of project policy:5", NULL);
        expect(&p, "GET c.org/y", "denied by default", NULL);
        policy_free(&p);

        static const char *const never[] = {"secret X from env at a.org as bearer",
                                            "bind ~/x",
                                            "allow * a.org to=10.0.0.1",
                                            "allow * a.org ca=/x",
                                            "secret X from cmd 'id' at a.org as bearer",
                                            "secret X from file ~/x at a.org as bearer"};
        for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
                struct err err = {0};
                struct policy_layer l;
                int got = policy_layer_parse(POLICY_PROJECT, "project policy", never[i],
                                             strlen(never[i]), &l, &err);
                check(got < 0 && strstr(err.text, "a project's file may not") &&
                              strstr(err.text, "project policy, line 1, column"),
                      never[i], "%s", got < 0 ? err.text : "was taken from a project");
        }
}

static void test_whole(void)
{
        struct err err = {0};
        struct policy_layer l;
        const char *text = "allow * a.org\n\nallow * b.org\r\n  deny * c.org\nalow * d.org\n";
        CHECK("E12: a broken file is refused whole",
              policy_layer_parse(POLICY_USER, "user policy", text, strlen(text), &l, &err) < 0 &&
                      l.lines_n == 0 && !l.lines);
        check_str(
                "and says where", err.text,
                "user policy, line 5, column 1: a line does not begin with \"alow\" (did you mean "
                "\"allow\"?)");
        struct policy_layer run = {.rank = POLICY_RUN_TIME, .name = str_dup("run time")};
        CHECK("a line at run time is added or changes nothing",
              policy_layer_add(&run, "allow * a.org", &err) == 0 && run.lines_n == 1 &&
                      policy_layer_add(&run, "allow * *.com", &err) < 0 && run.lines_n == 1 &&
                      policy_layer_add(&run, "deny * a\nallow * b", &err) < 0 && run.lines_n == 1);
        policy_layer_free(&run);
        CHECK("a NUL does not hide the rest of a file",
              policy_layer_parse(POLICY_USER, "u", "deny * a\0\nallow * b", 19, &l, &err) < 0);
}

int main(void)
{
        test_empty();
        test_order();
        test_doubt();
        test_project();
        test_whole();
        return check_end();
}
