/* door_head.c - the head of a message: its limits, its fields, and the two places where a target
 * and an authority become what policy judges. */
#include "base/err.h"
#include "egress/head.h"
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>

static int add(struct head *h, const char *name, const char *value)
{
        return head_add(h, name, strlen(name), value, strlen(value), NULL);
}

static void test_fields(void)
{
        struct head h;
        head_init(&h);
        CHECK("a field is added", add(&h, "X-One", "1") == 0);
        add(&h, "x-two", "");
        add(&h, "X-ONE", "again");
        const struct field *f = head_find(&h, "x-one");
        CHECK("names become small", f && strcmp(head_str(&h, f->name), "x-one") == 0);
        CHECK("the first of a name is found", f && strcmp(head_str(&h, f->value), "1") == 0);
        CHECK("fields of a name are counted", head_count(&h, "x-one") == 2);
        f = head_find(&h, "x-two");
        CHECK("a value may be empty", f && f->value_len == 0 && !*head_str(&h, f->value));
        CHECK("what is not there is not found", !head_find(&h, "x-on") && !head_find(&h, "x-onee"));
        head_drop(&h, "x-one");
        CHECK("all fields of a name are dropped", h.fields_n == 1 && !head_find(&h, "x-one"));

        f = head_find(&h, "x-two");
        head_drop(&h, "x-two");
        add(&h, "x-two", "from the store");
        bool is_same = true;
        for (int i = 0; i < 100; i++) { /* the store grows and moves under what is copied from it */
                f = &h.fields[h.fields_n - 1];
                is_same &= add(&h, head_str(&h, f->name), head_str(&h, f->value)) == 0;
                f = &h.fields[h.fields_n - 1];
                is_same &= strcmp(head_str(&h, f->value), "from the store") == 0;
                uint32_t at = head_put(&h, head_str(&h, f->name), f->name_len);
                is_same &= strcmp(head_str(&h, at), "x-two") == 0;
                at = head_put(&h, "/a/b/c?d", 8);
                is_same &= head_target(&h, head_str(&h, at), 8, NULL) == 0 && h.query_len == 1 &&
                           strcmp(h.path.text, "/a/b/c") == 0;
        }
        CHECK("a head may be filled from itself", is_same);

        struct head to;
        head_move(&to, &h);
        CHECK("a moved head leaves nothing",
              h.fields_n == 0 && !h.store.data && head_find(&to, "x-two"));
        head_clear(&to);
        CHECK("a cleared head keeps its memory",
              to.fields_n == 0 && to.store.data && !to.store.len);
        head_free(&to);
        CHECK("a freed head keeps none", !to.store.data);
}

static void test_limits(void)
{
        struct head h;
        struct err err = {0};
        head_init(&h);
        int bad = 0;
        for (int i = 0; i < HEAD_FIELDS_MAX; i++)
                bad |= add(&h, "a", "b");
        CHECK("128 fields fit", bad == 0);
        CHECK("129 do not", head_add(&h, "a", 1, "b", 1, &err) < 0 && strstr(err.text, "at most"));
        head_clear(&h);

        char *big = malloc(HEAD_LINE_MAX);
        memset(big, 'x', HEAD_LINE_MAX);
        CHECK("a field of 16 KiB fits", head_add(&h, "a", 1, big, HEAD_LINE_MAX - 1, NULL) == 0);
        CHECK("a larger one does not", head_add(&h, "a", 1, big, HEAD_LINE_MAX, NULL) < 0);
        for (int i = 0; i < 2; i++)
                bad |= head_add(&h, "a", 1, big, HEAD_LINE_MAX - 1, NULL);
        CHECK("48 KiB of fields fit", bad == 0);
        CHECK("more than 64 KiB do not",
              head_add(&h, "a", 1, big, HEAD_LINE_MAX - 1, NULL) < 0 && h.fields_n == 3);
        CHECK("offset 0 means nothing", !*head_str(&h, 0));
        uint32_t last = 1;
        for (int i = 0; i < 64 && last; i++)
                last = head_put(&h, big, HEAD_LINE_MAX);
        CHECK("a store has an end", last == 0 && h.store.is_broken);
        head_free(&h);
        free(big);
}

static void test_characters(void)
{
        CHECK("a token",
              head_is_token("Sec-WebSocket-Key", 17) && head_is_token("!#$%&'*+-.^_`|~", 15));
        CHECK("nothing is no token", !head_is_token("", 0));
        int wrong = 0;
        for (int c = 0; c < 256; c++) {
                char s[] = {'a', (char)c, 'b', 0};
                bool is_token = c < 127 && c > 32 && !strchr("()<>@,;:\\\"/[]?={}", c);
                bool is_value = c == '\t' || (c >= 32 && c != 127);
                wrong += head_is_token(s, 3) != is_token;
                wrong += head_is_value(s, 3) != is_value;
                /* at every place of a long value too: it is read eight bytes at a time */
                for (size_t at = 1; at < 30; at++) {
                        char text[31];
                        memset(text, at & 1 ? 'v' : '\xfe', sizeof text);
                        text[at] = (char)c;
                        wrong += head_is_value(text, 31) != is_value;
                }
        }
        check(wrong == 0, "every byte is judged as RFC 9110 does", "%d are not", wrong);
        CHECK("blanks at the ends are no part of a value",
              !head_is_value(" a", 2) && !head_is_value("a\t", 2) && head_is_value("a b", 3) &&
                      head_is_value("", 0));
}

static void test_authority(void)
{
        static const struct {
                const char *in, *host;
                unsigned port;
        } cases[] = {
                {"Example.ORG", "example.org", 0},
                {"example.org.:443", "example.org", 443},
                {"127.0.0.1:65535", "127.0.0.1", 65535},
                {"[::1]", "[::1]", 0},
                {"[FD00::1]:8080", "[fd00::1]", 8080},
                {"", NULL, 0},
                {":80", NULL, 0},
                {"a:", NULL, 0},
                {"a:0", NULL, 0},
                {"a:080", NULL, 0},
                {"a:65536", NULL, 0},
                {"a:+80", NULL, 0},
                {"a:80 ", NULL, 0},
                {"a:80:80", NULL, 0},
                {"a:80@b", NULL, 0},
                {"user@a", NULL, 0},
                {"user:80@a", NULL, 0},
                {"a/b", NULL, 0},
                {"a#b", NULL, 0},
                {"a,b", NULL, 0},
                {"a%2eb", NULL, 0},
                {"::1", NULL, 0},
                {"[::1", NULL, 0},
                {"[::1]x:80", NULL, 0},
                {"[fe80::1%25eth0]", NULL, 0},
                {"2130706433", NULL, 0},
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct head h;
                struct err err = {0};
                head_init(&h);
                int rc = head_authority(&h, cases[i].in, strlen(cases[i].in), &err);
                bool good = cases[i].host ? rc == 0 && !strcmp(h.host.text, cases[i].host) &&
                                                    h.port == cases[i].port
                                          : rc < 0 && err.text[0] && h.host.len == 0;
                check(good, "authority", "\"%s\" became %d %s %u", cases[i].in, rc, h.host.text,
                      h.port);
                head_free(&h);
        }
}

static void test_target(void)
{
        static const struct {
                const char *method, *in, *path, *query;
        } cases[] = {
                {"GET", "/", "/", NULL},
                {"GET", "/a/./b/../c", "/a/c", NULL},
                {"GET", "/a?b=c", "/a", "b=c"},
                {"GET", "/a?", "/a", ""},
                {"GET", "/a?b?c=/../", "/a", "b?c=/../"},
                {"GET", "/%61?%61", "/a", "%61"},
                {"GET", "/\xc3\xa9?\xc3\xa9=1", "/%C3%A9", "%C3%A9=1"},
                {"GET", "/a?{\"x\":1}|\\", "/a", "{\"x\":1}|\\"},
                {"OPTIONS", "*", "/", NULL},
                {"GET", "*", NULL, NULL},
                {"GET", "", NULL, NULL},
                {"GET", "a", NULL, NULL},
                {"GET", "?a", NULL, NULL},
                {"GET", "/a#b", NULL, NULL},
                {"GET", "/a?b#c", NULL, NULL},
                {"GET", "/a b", NULL, NULL},
                {"GET", "/a?b c", NULL, NULL},
                {"GET", "/a?b\tc", NULL, NULL},
                {"GET", "/a?b\x7f", NULL, NULL},
                {"GET", "/%2e%2e\\", NULL, NULL},
                {"GET", "/%00", NULL, NULL},
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct head h;
                struct err err = {0};
                head_init(&h);
                h.method = head_put(&h, cases[i].method, strlen(cases[i].method));
                h.method_len = (uint32_t)strlen(cases[i].method);
                int rc = head_target(&h, cases[i].in, strlen(cases[i].in), &err);
                const char *want = cases[i].query ? cases[i].query : "";
                bool good = cases[i].path
                                    ? rc == 0 && !strcmp(h.path.text, cases[i].path) &&
                                              (h.query != 0) == (cases[i].query != NULL) &&
                                              h.query_len == strlen(want) &&
                                              !memcmp(head_str(&h, h.query), want, h.query_len) &&
                                              h.is_options_star == (cases[i].in[0] == '*')
                                    : rc < 0 && err.text[0];
                check(good, "target", "\"%s\" became %d %s ? %s (%s)", cases[i].in, rc,
                      h.path.text ? h.path.text : "-", head_str(&h, h.query), err.text);
                head_free(&h);
        }
}

static void test_names(void)
{
        static const char *const hop[] = {"Connection",     "keep-alive",          "TE",
                                          "Trailer",        "Transfer-Encoding",   "Upgrade",
                                          "Host",           "Content-Length",      "Expect",
                                          "Proxy-Auth",     "Proxy-Authorization", "HTTP2-Settings",
                                          "content_length", "Transfer_encoding",   "proxy_x"};
        static const char *const end[] = {
                "connections", "content-type", "hosts",
                "t",           "proxy",        "x-te",
                "priority",    "x_y",          "upgrade-insecure-requests"};
        for (size_t i = 0; i < sizeof hop / sizeof *hop; i++)
                check(head_is_hop(hop[i], strlen(hop[i])), "belongs to a connection", "%s", hop[i]);
        for (size_t i = 0; i < sizeof end / sizeof *end; i++)
                check(!head_is_hop(end[i], strlen(end[i])), "goes from end to end", "%s", end[i]);

        static const char *const trails[] = {"grpc-status", "grpc-message",  "etag",
                                             "x-checksum",  "server-timing", "digest",
                                             "origins"};
        static const char *const never[] = {"content-length",
                                            "transfer-encoding",
                                            "host",
                                            "authorization",
                                            "cookie",
                                            "set-cookie",
                                            "content-type",
                                            "content-encoding",
                                            "proxy-authenticate",
                                            "trailer",
                                            "x-forwarded-for",
                                            "if-match",
                                            "range",
                                            "location"};
        for (size_t i = 0; i < sizeof trails / sizeof *trails; i++)
                check(head_may_trail(trails[i], strlen(trails[i])), "may trail", "%s", trails[i]);
        for (size_t i = 0; i < sizeof never / sizeof *never; i++)
                check(!head_may_trail(never[i], strlen(never[i])), "never trails", "%s", never[i]);

        CHECK("gRPC is known by its type",
              head_is_grpc_type("application/grpc", 16) &&
                      head_is_grpc_type("Application/gRPC+proto", 22) &&
                      !head_is_grpc_type("application/grpc-web", 20) &&
                      !head_is_grpc_type("application/json", 16) && !head_is_grpc_type("", 0));
}

int main(void)
{
        test_fields();
        test_limits();
        test_characters();
        test_authority();
        test_target();
        test_names();
        return check_end();
}
