/* door_body.c - a body as policy sees it: what each pointer and field finds, and what is refused as
 * unreadable. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "egress/body.h"
#include "policy/path_canon.h"
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define JSON  "application/json"
#define FORM  "application/x-www-form-urlencoded"
#define PARTS "multipart/form-data; boundary=b"
#define PART  "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--b--"
#define GIT   "application/x-git-receive-pack-request"

static void add(void *ctx, const char *value, size_t len)
{
        struct buf *b = ctx;
        if (!value) {
                buf_put_str(b, "<dark>");
                return;
        }
        buf_put_u8(b, '<');
        buf_put(b, value, len);
        buf_put_u8(b, '>');
}

static const struct {
        const char *type, *text;
        enum rule_where where;
        const char *name, *want; /* NULL: unreadable */
} cases[] = {
        {JSON, "{\"a\":\"b\"}", RULE_JSON, "/a", "<b>"},
        {JSON, " {\"a\" : {\"b\":[1, 2,{\"c\":null}]}}\t", RULE_JSON, "/a/b/2/c", "<null>"},
        {JSON, "{\"a\": {\"b\" : [1, \"x\\u0079\"] }}", RULE_JSON, "/a", "<{\"b\":[1,\"xy\"]}>"},
        {JSON, "{\"a\":12345678901234567890123}", RULE_JSON, "/a", "<12345678901234567890123>"},
        {JSON, "{\"a\":1e2}", RULE_JSON, "/a", "<1e2><100>"},
        {JSON, "{\"a\":1.5}", RULE_JSON, "/a", "<1.5>"},
        {JSON, "{\"a\":1e999}", RULE_JSON, "/a", "<1e999>"},
        {JSON, "{\"a\":-0.0}", RULE_JSON, "/a", "<-0.0><0>"},
        {JSON, "{\"a\":true}", RULE_JSON, "/b", ""},
        {JSON, "{\"a\":true}", RULE_JSON, "/a/b", ""},
        {JSON, "{\"a/b\":1,\"c~d\":2}", RULE_JSON, "/a~1b", "<1>"},
        {JSON, "{\"a/b\":1,\"c~d\":2}", RULE_JSON, "/c~0d", "<2>"},
        {JSON, "{\"\":1}", RULE_JSON, "/", "<1>"},
        {JSON, "{\"\\u006dethod\":\"tools\\/call\"}", RULE_JSON, "/method", "<tools/call>"},
        {JSON, "{\"Method\":\"x\"}", RULE_JSON, "/method", "<x><>"},
        {JSON, "{\"method\":\"x\",\"METHOD\":\"y\"}", RULE_JSON, "/method", "<x><y><>"},
        {JSON, "{\"to\xc5\xbf\":1}", RULE_JSON, "/tos", "<1><>"},
        {JSON, "{\"\\u212a\":1}", RULE_JSON, "/k", "<1><>"},
        {JSON, "[{\"m\":\"a\"},{\"m\":\"b\"}]", RULE_JSON, "/m", "<a><b>"},
        {JSON, "[{\"m\":\"a\"},{\"m\":\"b\"}]", RULE_JSON, "/1/m", "<b>"},
        {JSON, "[10,11]", RULE_JSON, "/01", ""},
        {JSON, "\"\\ud83d\\ude00\"", RULE_JSON, "", "<\xf0\x9f\x98\x80>"},
        {JSON, "{\"q\":\"a\\n\\\"\\u0001\"}", RULE_JSON, "", "<{\"q\":\"a\\n\\\"\\u0001\"}>"},
        {"application/vnd.api+json; charset=UTF-8", "{\"a\":1}", RULE_JSON, "/a", "<1>"},
        {"Application/JSON ;v=1", "{\"a\":1}", RULE_JSON, "/a", "<1>"},
        {"application/json; charset=utf-16", "{\"a\":1}", RULE_JSON, "/a", NULL},
        {JSON, "{\"a\":1,\"a\":2}", RULE_JSON, "/a", NULL},
        {JSON, "{\"x\":{\"a\":1,\"b\":0,\"\\u0061\":2}}", RULE_JSON, "/a", NULL},
        {JSON, "{\"a\":1} x", RULE_JSON, "/a", NULL},
        {JSON, "{\"a\":1}{\"a\":2}", RULE_JSON, "/a", NULL},
        {JSON, "\xef\xbb\xbf{\"a\":1}", RULE_JSON, "/a", NULL},
        {JSON, "{\"a\":01}", RULE_JSON, "/a", NULL},
        {JSON, "{\"a\":+1}", RULE_JSON, "/a", NULL},
        {JSON, "{\"a\":.5}", RULE_JSON, "/a", NULL},
        {JSON, "{\"a\":1.}", RULE_JSON, "/a", NULL},
        {JSON, "{\"a\":NaN}", RULE_JSON, "/a", NULL},
        {JSON, "{\"a\":'b'}", RULE_JSON, "/a", NULL},
        {JSON, "{a:1}", RULE_JSON, "/a", NULL},
        {JSON, "{\"a\":1,}", RULE_JSON, "/a", NULL},
        {JSON, "[1,,2]", RULE_JSON, "/0", NULL},
        {JSON, "{\"a\":1/*x*/}", RULE_JSON, "/a", NULL},
        {JSON, "{\"a\":\"\xff\"}", RULE_JSON, "/a", NULL},
        {JSON, "{\"a\":\"\xc0\xaf\"}", RULE_JSON, "/a", NULL},
        {JSON, "{\"a\":\"\xed\xa0\x80\"}", RULE_JSON, "/a", NULL},
        {JSON, "{\"a\":\"\\ud800\"}", RULE_JSON, "/a", NULL},
        {JSON, "{\"a\":\"\\udc00\\ud800\"}", RULE_JSON, "/a", NULL},
        {JSON, "{\"a\":\"\\u0000\"}", RULE_JSON, "/a", NULL},
        {JSON, "{\"a\":\"\\x41\"}", RULE_JSON, "/a", NULL},
        {JSON, "{\"a\":\"\t\"}", RULE_JSON, "/a", NULL},
        {JSON, "{\"a\":\"b", RULE_JSON, "/a", NULL},
        {JSON, "{\"a\"", RULE_JSON, "/a", NULL},
        {JSON, " ", RULE_JSON, "/a", NULL},
        {JSON, "Action=Terminate", RULE_FORM, "Action", NULL},
        {JSON, "\"&Action=Terminate&\"", RULE_FORM, "Action", "<Terminate><>"},
        {JSON, "{\"a\":1}", RULE_FORM, "a", ""},
        {FORM, "Action=Run&Id=1", RULE_FORM, "Action", "<Run>"},
        {FORM, "Action=Run&Action=Stop", RULE_FORM, "Action", "<Run><Stop>"},
        {FORM, "%41ction=a+b%26", RULE_FORM, "Action", "<a b&>"},
        {FORM, "Action=Run;Action=Stop", RULE_FORM, "Action", NULL},
        {FORM, "Action=%zz", RULE_FORM, "Action", NULL},
        {FORM, "a=1", RULE_JSON, "/a", "<dark>"},
        {PARTS, PART, RULE_JSON, "/a", "<dark>"},
        {"text/plain", "// x\n{\"a\":1}", RULE_JSON, "/a", "<dark>"},
        {"text/xml", "<a>x</a>", RULE_BODY, "xml/a", "<x>"},
        {JSON, "{\"a\":1}", RULE_BODY, "xml/a", "<dark>"},
        {FORM, "a=1", RULE_BODY, "xml/a", "<dark>"},
        {PARTS, PART, RULE_BODY, "xml/a", "<dark>"},
        {FORM, "query=mutation{a}", RULE_BODY, "graphql", "<dark>"},
        {PARTS, PART, RULE_BODY, "graphql", "<dark>"},
        {JSON, "{\"query\":\"{a}\",\"variables\":{\"id\":1}}", RULE_BODY, "graphql", "<query a>"},
        {JSON, "{\"query\":\"{a}\",\"id\":\"1\"}", RULE_BODY, "graphql", "<query a><dark>"},
        {JSON, "{\"query\":\"{a}\",\"extensions\":{}}", RULE_BODY, "graphql", "<query a>"},
        {JSON, "{\"query\":\"{a}\",\"extensions\":{\"persistedQuery\":{}}}", RULE_BODY, "graphql",
         "<query a><dark>"},
        {FORM, "{\"a\":\"x\"}", RULE_JSON, "/a", "<x><>"},
        {FORM, " [{\"a\":1,\"a\":2}]", RULE_JSON, "/a", NULL},
        {"application/octet-stream", "{\"a\":1}", RULE_JSON, "/a", NULL},
        {"", "{\"a\":1}", RULE_JSON, "/a", NULL},
        {"multipart/form-data; boundary=x", "--x--", RULE_FORM, "a", NULL},
        {"application/json, text/plain", "{\"a\":1}", RULE_JSON, "/a", NULL},
};

static const struct {
        const char *text;
        enum rule_where where;
        const char *name, *want; /* NULL: unreadable */
} messages[] = {
        {"{\"a\":\"b\"}", RULE_JSON, "/a", "<b>"},
        {"ping", RULE_JSON, "/a", ""},
        {"42[\"x\"]", RULE_JSON, "/0", "<dark>"},
        {"{\"a\":1,\"a\":2}", RULE_JSON, "/a", "<dark>"},
        {"{\"a\":1,\"a\":2}", RULE_BODY, "text", "<{\"a\":1,\"a\":2}>"},
        {"hello {you}", RULE_BODY, "text", "<hello {you}>"},
        {"hello", RULE_BODY, "xml/a", ""},
        {"<a>x</a>", RULE_BODY, "xml/a", "<x>"},
        {"{\"payload\":{\"query\":\"mutation{a}\"}}", RULE_BODY, "graphql", "<mutation a>"},
        {"{\"type\":\"ping\"}", RULE_BODY, "graphql", ""},
        {"{\"type\":\"subscribe\"}", RULE_BODY, "graphql", "<dark>"},
        {"{\"type\":\"ping\",\"Type\":\"subscribe\"}", RULE_BODY, "graphql", "<dark>"},
        {"[{\"query\":\"{a}\"},{\"id\":1}]", RULE_BODY, "graphql", "<query a><dark>"},
        {"\xef\xbb\xbf{}", RULE_JSON, "/a", NULL},
        {"\xff", RULE_BODY, "text", NULL},
};

static void check_messages(void)
{
        for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
                const char *text = messages[i].text;
                struct body *b = body_message(true, text, strlen(text), NULL, NULL);
                _cleanup_buf_ struct buf got = {0};
                while (!body_step(b))
                        ;
                body_each(b, messages[i].where, messages[i].name, false, add, &got);
                if (messages[i].want)
                        check_str(text, buf_cstr(&got), messages[i].want);
                else
                        check(body_state(b) == REQUEST_BODY_UNREADABLE && got.len == 0, text,
                              "it was read");
                body_free(b);
        }
        struct body *b = body_message(false, "{}", 2, NULL, NULL);
        check(body_step(b) && body_state(b) == REQUEST_BODY_UNREADABLE, "binary is not read",
              "it was");
        body_free(b);
}

/* A batch may hide a query that the server keeps beside one that is written out. */
static void check_batch(void)
{
        static const char text[] = "[{\"query\":\"{a}\"},{\"extensions\":{}}]";
        struct body *b = body_read(JSON, "", text, strlen(text));
        _cleanup_buf_ struct buf got = {0};
        body_each(b, RULE_BODY, "graphql", false, add, &got);
        check_str("a batch with a query that the server keeps", buf_cstr(&got), "<query a><dark>");
        body_free(b);
}

static void check_cases(void)
{
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct body *b = body_read(cases[i].type, "", cases[i].text, strlen(cases[i].text));
                _cleanup_buf_ struct buf got = {0};
                bool is_read = body_state(b) == REQUEST_BODY_READ;
                body_each(b, cases[i].where, cases[i].name, false, add, &got);
                if (cases[i].want && is_read)
                        check_str(cases[i].text, buf_cstr(&got), cases[i].want);
                else
                        check(!cases[i].want && !is_read && got.len == 0 && body_why(b)[0],
                              cases[i].text, "is_read %d, why \"%s\"", is_read, body_why(b));
                body_free(b);
        }
}

static enum request_body state_of(const char *type, const char *coding, const void *p, size_t n)
{
        struct body *b = body_read(type, coding, p, n);
        enum request_body s = body_state(b);
        body_free(b);
        return s;
}

static void deflated(const void *p, size_t n, int bits, struct buf *out)
{
        z_stream z = {.next_in = (Bytef *)(uintptr_t)p, .avail_in = (uInt)n};
        deflateInit2(&z, 9, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY);
        size_t room = n + 1024;
        z.next_out = buf_room(out, room);
        z.avail_out = (uInt)room;
        deflate(&z, Z_FINISH);
        out->len -= z.avail_out;
        deflateEnd(&z);
}

static void check_codings(void)
{
        static const char text[] = "{\"a\":\"b\"}";
        /* the same text, stored */
        static const char br[] = "\x0f\x04\x80{\"a\":\"b\"}\x03";
        const size_t n = sizeof text - 1;
        _cleanup_buf_ struct buf gz = {0}, zl = {0}, raw = {0}, twice = {0}, bomb = {0};
        deflated(text, n, 31, &gz);
        deflated(text, n, 15, &zl);
        deflated(text, n, -15, &raw);
        deflated(gz.data, gz.len, 31, &twice);
        char zs[256];
        size_t zs_n = ZSTD_compress(zs, sizeof zs, text, n, 3);
        CHECK("gzip", state_of(JSON, "gzip", gz.data, gz.len) == REQUEST_BODY_READ);
        CHECK("GZip in other letters",
              state_of(JSON, " GZip ", gz.data, gz.len) == REQUEST_BODY_READ);
        CHECK("deflate", state_of(JSON, "deflate", zl.data, zl.len) == REQUEST_BODY_READ);
        CHECK("brotli", state_of(JSON, "br", br, sizeof br - 1) == REQUEST_BODY_READ);
        CHECK("zstd", state_of(JSON, "zstd", zs, zs_n) == REQUEST_BODY_READ);
        CHECK("gzip twice",
              state_of(JSON, "gzip, gzip", twice.data, twice.len) == REQUEST_BODY_READ);
        CHECK("identity", state_of(JSON, "identity", text, n) == REQUEST_BODY_READ);
        CHECK("three codings",
              state_of(JSON, "gzip,gzip,gzip", twice.data, twice.len) == REQUEST_BODY_UNREADABLE);
        CHECK("raw deflate is refused",
              state_of(JSON, "deflate", raw.data, raw.len) == REQUEST_BODY_UNREADABLE);
        CHECK("an unknown coding is refused",
              state_of(JSON, "compress", text, n) == REQUEST_BODY_UNREADABLE);
        CHECK("a coding that does not apply is refused",
              state_of(JSON, "gzip", text, n) == REQUEST_BODY_UNREADABLE);
        CHECK("gzip cut off",
              state_of(JSON, "gzip", gz.data, gz.len - 3) == REQUEST_BODY_UNREADABLE);
        CHECK("zstd cut off", state_of(JSON, "zstd", zs, zs_n - 2) == REQUEST_BODY_UNREADABLE);
        CHECK("brotli cut off", state_of(JSON, "br", br, sizeof br - 2) == REQUEST_BODY_UNREADABLE);
        size_t one = gz.len;
        _cleanup_free_ uint8_t *copy = malloc(one);
        memcpy(copy, gz.data, one);
        buf_put(&gz, copy, one);
        CHECK("a second gzip member is refused",
              state_of(JSON, "gzip", gz.data, gz.len) == REQUEST_BODY_UNREADABLE);
        size_t big_n = (size_t)BODY_MAX + 1;
        _cleanup_free_ char *big = malloc(big_n);
        memset(big, ' ', big_n);
        memcpy(big, "{\"a\":1}", 7);
        deflated(big, BODY_MAX - 1024, 31, &bomb);
        CHECK("a bomb is refused",
              state_of(JSON, "gzip", bomb.data, bomb.len) == REQUEST_BODY_UNREADABLE);
        CHECK("a body over the limit is refused",
              state_of(JSON, "", big, BODY_MAX + 1) == REQUEST_BODY_UNREADABLE);
        CHECK("a body at the limit is read",
              state_of(JSON, "", big, BODY_MAX) == REQUEST_BODY_READ);
        memset(big, '[', BODY_MAX);
        CHECK("depth is bounded", state_of(JSON, "", big, BODY_MAX) == REQUEST_BODY_UNREADABLE);
        for (size_t i = 0; i + 1 < BODY_MAX; i += 2)
                memcpy(big + i, i ? "0," : "[0", 2);
        CHECK("the number of values is bounded",
              state_of(JSON, "", big, BODY_MAX) == REQUEST_BODY_UNREADABLE);
        CHECK("no body is none", state_of(JSON, "", "", 0) == REQUEST_BODY_NONE);
}

#define OLD "1111111111111111111111111111111111111111"
#define NEW "2222222222222222222222222222222222222222"

static void pkt(struct buf *b, const char *p, size_t n)
{
        buf_put_fmt(b, "%04x", (unsigned)(n + 4));
        buf_put(b, p, n);
}

static void check_git(const char *name, const struct buf *push, const char *field, const char *want)
{
        struct body *b = body_read(GIT, "", push->data, push->len);
        _cleanup_buf_ struct buf got = {0};
        body_each(b, RULE_FORM, field, false, add, &got);
        if (want)
                check_str(name, buf_cstr(&got), want);
        else
                check(body_state(b) == REQUEST_BODY_UNREADABLE, name, "it was read");
        body_free(b);
}

static bool fits(const char *type, const char *text)
{
        struct path_canon p = {0};
        path_canon_parse(text, strlen(text), &p, NULL);
        bool is_fit = body_fits_path(type, &p);
        path_canon_free(&p);
        return is_fit;
}

static void check_paths(void)
{
        CHECK("a push goes to where pushes go", fits(GIT, "/a.git/git-receive-pack"));
        CHECK("a push goes nowhere else", !fits(GIT, "/api") && !fits(GIT, "/git-receive-pack/x"));
        CHECK("a form does not go there", !fits(FORM, "/a.git/git-receive-pack") &&
                                                  !fits(FORM, "/a.git/git-receive-pack;x") &&
                                                  !fits(FORM, "/a.git/git-receive-pack/") &&
                                                  !fits("", "/a.git%2Fgit-receive-pack"));
        CHECK("a form goes elsewhere", fits(FORM, "/api") && fits(JSON, "/") && fits("", "/x"));
}

static void check_pushes(void)
{
        static const char one[] = OLD " " NEW " refs/heads/a\0report-status push-options";
        static const char two[] = OLD " " NEW " refs/heads/b\n";
        static const char plain[] = OLD " " NEW " refs/heads/main\0 report-status-v2 agent=git/2";
        _cleanup_buf_ struct buf push = {0}, options = {0}, cert = {0}, junk = {0}, cut = {0};
        pkt(&push, plain, sizeof plain - 1);
        pkt(&push, two, sizeof two - 1);
        buf_put_str(&push, "0000PACK\1\2\3");
        CHECK("a flush alone asks for nothing", state_of(GIT, "", "0000", 4) == REQUEST_BODY_IDLE);
        CHECK("a pack may be cut off", body_has_tail(GIT, "") && !body_has_tail(GIT, "gzip"));
        CHECK("nothing else may", !body_has_tail(JSON, "") && !body_has_tail("", ""));
        check_git("refs of a push", &push, "ref", "<refs/heads/main><refs/heads/b>");
        check_git("new ids of a push", &push, "new", "<" NEW "><" NEW ">");
        check_git("old ids of a push", &push, "old", "<" OLD "><" OLD ">");
        pkt(&options, one, sizeof one - 1);
        buf_put_str(&options, "0000000aci.xyz0000PACK");
        check_git("a push with options", &options, "ref", "<refs/heads/a>");
        pkt(&cert, "push-cert\0x", 11);
        buf_put_str(&cert, "0000");
        check_git("a push certificate is refused", &cert, "ref", NULL);
        pkt(&junk, plain, sizeof plain - 1);
        buf_put_str(&junk, "0000");
        pkt(&junk, two, sizeof two - 1);
        check_git("commands after the flush are refused", &junk, "ref", NULL);
        pkt(&cut, plain, sizeof plain - 1);
        check_git("commands without a flush are refused", &cut, "ref", NULL);
}

int main(void)
{
        check_cases();
        check_messages();
        check_batch();
        check_codings();
        check_pushes();
        check_paths();
        return check_end();
}
