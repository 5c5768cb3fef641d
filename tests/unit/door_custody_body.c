/* door_custody_body.c - slots in bodies: JSON and forms read as they come, cut at every place. */
#include "base/buf.h"
#include "base/err.h"
#include "egress/custody_body_slots.h"
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>

static const char *const pointers[] = {"/auth/token", "/list/1/key", "/a~1b/c~0d"};
static const char placeholder[] = "fake-placeholder-0001";

/* What came out, with [which] where a slot was taken. */
struct got {
        struct buf out;
        bool takes; /* what equals the placeholder */
        bool is_json;
};

static void on_pass(void *ctx, const void *p, size_t n)
{
        struct got *g = ctx;
        buf_put(&g->out, p, n);
}

static bool on_slot(void *ctx, size_t which, const char *text, size_t n)
{
        struct got *g = ctx;
        if (!g->takes || n != strlen(placeholder) || memcmp(text, placeholder, n) != 0)
                return false;
        buf_put_fmt(&g->out, "[%zu]%s", which, g->is_json ? "\"" : "");
        return true;
}

/* run(is_json, text, step, g): in pieces of ${step}. 0, or -1 when it was refused. */
static int run(bool is_json, const char *text, size_t step, struct got *g)
{
        const struct custody_sink sink = {.pass = on_pass, .slot = on_slot, .ctx = g};
        struct err err = {0};
        size_t n = strlen(text);
        int r = 0;
        g->out.len = 0;
        g->takes = true;
        g->is_json = is_json;
        struct custody_json *j = custody_json_new(pointers, 3, 64, &sink);
        static const char *const names[] = {"token", "a key"};
        struct custody_form *f = custody_form_new(names, 2, 64, &sink);
        for (size_t at = 0; at < n && r == 0;) {
                size_t part = n - at < step ? n - at : step;
                ssize_t used = is_json ? custody_json_feed(j, text + at, part, &err)
                                       : custody_form_feed(f, text + at, part, &err);
                r = used < 0 ? -1 : 0;
                at += used < 0 ? 0 : (size_t)used;
        }
        if (r == 0)
                r = is_json ? custody_json_end(j, &err) : custody_form_end(f, &err);
        custody_json_free(j);
        custody_form_free(f);
        return r < 0 ? -1 : 0;
}

/* expect(name, is_json, text, want): the same however it is cut; NULL: refused. */
static void expect(const char *name, bool is_json, const char *text, const char *want)
{
        struct got g = {0};
        for (size_t step = 1; step <= strlen(text) + 1; step++) {
                int r = run(is_json, text, step, &g);
                const char *out = buf_cstr(&g.out);
                bool is_good = want ? r == 0 && strcmp(out, want) == 0 : r < 0;
                if (!is_good || step > strlen(text)) {
                        check(is_good, name, "in pieces of %zu: %d %s", step, r, out);
                        break;
                }
        }
        buf_free(&g.out);
}

#define PH "fake-placeholder-0001"

static void test_json(void)
{
        expect("the value at a pointer", true, "{\"auth\":{\"token\":\"" PH "\"}}",
               "{\"auth\":{\"token\":\"[0]\"}}");
        expect("among others", true,
               " { \"x\" : [1, -2.5e3, true], \"auth\" : { \"a\":null, \"token\" : \"" PH
               "\" , \"z\":{}}}\r\n",
               " { \"x\" : [1, -2.5e3, true], \"auth\" : { \"a\":null, \"token\" : \"[0]\" , "
               "\"z\":{}}}\r\n");
        expect("an element of an array", true, "{\"list\":[{\"key\":1},{\"key\":\"" PH "\"}]}",
               "{\"list\":[{\"key\":1},{\"key\":\"[1]\"}]}");
        expect("not the other element", true, "{\"list\":[{\"key\":\"" PH "\"}]}",
               "{\"list\":[{\"key\":\"" PH "\"}]}");
        expect("escapes in a pointer", true, "{\"a/b\":{\"c~d\":\"" PH "\"}}",
               "{\"a/b\":{\"c~d\":\"[2]\"}}");
        expect("escapes in a key and in the value", true,
               "{\"\\u0061uth\":{\"t\\u006fken\":\"\\u0066ake-placeholder-0001\"}}",
               "{\"\\u0061uth\":{\"t\\u006fken\":\"[0]\"}}");
        expect("another value stays", true, "{\"auth\":{\"token\":\"something else\"}}",
               "{\"auth\":{\"token\":\"something else\"}}");
        expect("a long one too", true,
               "{\"auth\":{\"token\":\"" PH PH PH PH PH PH PH PH PH PH PH PH PH PH PH PH PH PH PH PH
               "\"}}",
               "{\"auth\":{\"token\":\"" PH PH PH PH PH PH PH PH PH PH PH PH PH PH PH PH PH PH PH PH
               "\"}}");
        expect("too deep for the pointer", true, "{\"x\":{\"auth\":{\"token\":\"" PH "\"}}}",
               "{\"x\":{\"auth\":{\"token\":\"" PH "\"}}}");
        expect("not deep enough", true, "{\"auth\":\"" PH "\"}", "{\"auth\":\"" PH "\"}");
        expect("the container is no string", true, "{\"auth\":{\"token\":{\"token\":\"" PH "\"}}}",
               "{\"auth\":{\"token\":{\"token\":\"" PH "\"}}}");
        expect("a second object does not count on", true,
               "{\"b\":{\"token\":\"x\"},\"auth\":{\"token\":\"" PH "\"}}",
               "{\"b\":{\"token\":\"x\"},\"auth\":{\"token\":\"[0]\"}}");
        expect("text beyond ASCII", true,
               "{\"auth\":{\"n\":\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"}}",
               "{\"auth\":{\"n\":\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"}}");
        expect("a number alone", true, "12", "12");
        expect("an empty array", true, "[]", "[]");
}

static void test_refused(void)
{
        static const char *const bad[] = {
                "{\"auth\":{\"token\":\"a\",\"token\":\"" PH "\"}}",
                "{\"auth\":{\"token\":\"a\"},\"auth\":{}}",
                "{\"auth\":{\"token\":\"a\"},\"\\u0061uth\":{\"token\":\"" PH "\"}}",
                "{\"auth\":{\"token\":\"" PH "\"}",
                "{\"a\":1}}",
                "{\"a\":1} x",
                "{a:1}",
                "{\"a\" 1}",
                "{\"a\":1,}",
                "[1,]",
                "[1 2]",
                "[01]",
                "[1.]",
                "[tru]",
                "[nulll]",
                "[\"a\nb\"]",
                "[\"\\x\"]",
                "[\"\\u12g4\"]",
                "[\"\\ud800\"]",
                "[\"\\udc00\"]",
                "[\"\\ud800x\"]",
                "[\"\x80\"]",
                "[\"\xc3\"]",
                "[\"\xc0\xaf\"]",
                "\"abc",
                "",
        };
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                expect(bad[i][0] ? bad[i] : "(nothing)", true, bad[i], NULL);
        char deep[300];
        memset(deep, '[', 200);
        deep[200] = '\0';
        expect("too deep", true, deep, NULL);
}

static void test_form(void)
{
        expect("a field", false, "a=1&token=" PH "&b=2", "a=1&token=[0]&b=2");
        expect("the last field", false, "a=1&token=" PH, "a=1&token=[0]");
        expect("the only field", false, "token=" PH, "token=[0]");
        expect("an encoded name", false, "a%20key=" PH "&a+key=" PH, "a%20key=[1]&a+key=[1]");
        expect("an encoded value", false, "token=%66ake%2dplaceholder-0001", "token=[0]");
        expect("another field", false, "tokens=" PH "&x=token=" PH, "tokens=" PH "&x=token=" PH);
        expect("a name without a value", false, "token&" PH, "token&" PH);
        expect("another value", false, "token=&token=a%2", "token=&token=a%2");
        expect("twice", false, "token=" PH "&token=" PH, "token=[0]&token=[0]");
}

int main(void)
{
        test_json();
        test_refused();
        test_form();
        return check_end();
}
