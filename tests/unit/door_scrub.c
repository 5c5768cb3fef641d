/* door_scrub.c - one answer on its way into the box: every coding is undone, in any cuts, and what
 * is broken, cut off or unknown ends it; fields, trailers and WebSocket messages hold placeholders
 * where values were; tokens are found in the bodies that bring them. */
#include "base/buf.h"
#include "base/err.h"
#include "egress/capture.h"
#include "egress/custody.h"
#include "egress/scan.h"
#include "egress/scrub.h"
#include "egress/undo.h"
#include "egress/ws_scrub.h"
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

static const uint8_t key[16] = "0123456789abcdef";
static const char value[] = "sk-fake-Zq9AbCdEfGhIjKlMnOpQrStUvWx";
static const char stand[] = "sk-fake-PlAcEhOlDeR0000000000000000";
static const char plain[] = "before sk-fake-Zq9AbCdEfGhIjKlMnOpQrStUvWx after, and the same again: "
                            "sk-fake-Zq9AbCdEfGhIjKlMnOpQrStUvWx.";
static const char clean[] = "before sk-fake-PlAcEhOlDeR0000000000000000 after, and the same again: "
                            "sk-fake-PlAcEhOlDeR0000000000000000.";
static const uint8_t in_brotli[] = {
        0x1b, 0x69, 0x00, 0x40, 0x14, 0xa1, 0xd2, 0x07, 0xcf, 0x91, 0x0e, 0x64, 0xf3, 0xcd, 0xea,
        0x9d, 0x16, 0x51, 0xe0, 0x90, 0x03, 0xf6, 0xb7, 0x24, 0xa5, 0x40, 0x02, 0xa1, 0x62, 0xd4,
        0x9a, 0x0d, 0x48, 0xc4, 0x53, 0xb9, 0x5c, 0x13, 0x6c, 0x8b, 0xa9, 0x81, 0xf9, 0x81, 0x69,
        0xc9, 0x6b, 0xa9, 0x55, 0x7a, 0x6d, 0x34, 0x66, 0x6b, 0x75, 0x76, 0xef, 0x0c, 0xee, 0xe8,
        0x4d, 0x7e, 0x20, 0xad, 0x8a, 0x78, 0x21, 0xf1, 0x4c, 0x00, 0x41};

static struct scan_set *fingers(void)
{
        struct scan_set *set = scan_set_new(key);
        for (int c = 0; c < SECRET_CODINGS; c++) {
                struct buf b = {0};
                enum secret_coding k = (enum secret_coding)c;
                if (secret_form_put(k, value, strlen(value), &b)) {
                        struct door_finger f = {
                                .coding = (uint8_t)c,
                                .len = (uint32_t)b.len,
                                .hint = secret_finger_hint(b.data + b.len - 8),
                                .tail = secret_siphash(key, b.data + b.len - 8, 8, true),
                                .whole = secret_siphash(key, b.data, b.len,
                                                        secret_form_ignores_case(k))};
                        scan_set_finger(set, 1, &f, stand, strlen(stand));
                }
                buf_free(&b);
        }
        return set;
}

static void put_zlib(struct buf *out, const void *p, size_t n, int bits)
{
        z_stream z = {.next_in = (Bytef *)(uintptr_t)p, .avail_in = (uInt)n};
        deflateInit2(&z, 6, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY);
        uint8_t *to = buf_room(out, n + 1024);
        z.next_out = to;
        z.avail_out = (uInt)(n + 1024);
        deflate(&z, Z_FINISH);
        out->len -= z.avail_out;
        deflateEnd(&z);
}

static void encode(const char *coding, const void *p, size_t n, struct buf *out)
{
        if (strcmp(coding, "gzip") == 0) {
                put_zlib(out, p, n, 16 + MAX_WBITS);
        } else if (strcmp(coding, "members") == 0) {
                put_zlib(out, p, n / 2, 16 + MAX_WBITS);
                put_zlib(out, (const char *)p + n / 2, n - n / 2, 16 + MAX_WBITS);
        } else if (strcmp(coding, "deflate") == 0) {
                put_zlib(out, p, n, MAX_WBITS);
        } else if (strcmp(coding, "raw") == 0) {
                put_zlib(out, p, n, -MAX_WBITS);
        } else if (strcmp(coding, "zstd") == 0) {
                uint8_t *to = buf_room(out, ZSTD_compressBound(n));
                size_t got = ZSTD_compress(to, ZSTD_compressBound(n), p, n, 3);
                out->len -= ZSTD_compressBound(n) - got;
        } else if (strcmp(coding, "br") == 0) {
                buf_put(out, in_brotli, sizeof in_brotli);
        } else if (strcmp(coding, "gzip, zstd") == 0) {
                struct buf one = {0};
                encode("gzip", p, n, &one);
                encode("zstd", one.data, one.len, out);
                buf_free(&one);
        } else {
                buf_put(out, p, n);
        }
}

/* --- an answer and who receives it ----------------------------------------------------------- */

struct end {
        struct scrub *s;
        struct head head;
        struct buf body;
        char *failed;
        bool is_ended, is_slow, has_head, has_trailers;
};

static void on_head(void *ctx, struct head *h, bool is_end)
{
        struct end *e = ctx;
        (void)is_end;
        e->has_head = true;
        head_move(&e->head, h);
}

static bool on_data(void *ctx, const void *p, size_t n)
{
        struct end *e = ctx;
        buf_put(&e->body, p, n);
        return !e->is_slow;
}

static void on_end(void *ctx, struct head *trailers)
{
        struct end *e = ctx;
        e->is_ended = true;
        e->has_trailers = trailers;
}

static void on_fail(void *ctx, int status, const char *sentence)
{
        struct end *e = ctx;
        (void)status;
        e->failed = strdup(sentence);
}

static void on_resume(void *ctx)
{
        (void)ctx;
}

static const struct scrub_ops ops = {
        .head = on_head, .data = on_data, .end = on_end, .fail = on_fail, .resume = on_resume};

static void add(struct head *h, const char *name, const char *text)
{
        head_add(h, name, strlen(name), text, strlen(text), NULL);
}

static void begin(struct door *d, struct end *e, const char *coding)
{
        static struct host_name host;
        struct scrub_for what = {.host = &host, .port = 443, .path = "/"};
        struct head h;
        head_init(&h);
        head_init(&e->head);
        h.status = 200;
        h.body = HEAD_BODY_LENGTH;
        h.length = 7;
        add(&h, "etag", "\"v1\"");
        if (coding)
                add(&h, "content-encoding", coding);
        e->s = scrub_new(d, &what, &ops, e);
        scrub_answer(e->s, &h, false);
        head_free(&h);
}

/* has_part(e, text, n): did that come out? */
static bool has_part(const struct end *e, const char *text, size_t n)
{
        return e->body.len > 0 && memmem(e->body.data, e->body.len, text, n);
}

static void finish(struct end *e)
{
        scrub_free(e->s);
        head_free(&e->head);
        buf_free(&e->body);
        free(e->failed);
        *e = (struct end){0};
}

static void codings(struct door *d)
{
        static const struct {
                const char *name, *coding, *header;
        } all[] = {
                {"identity", "", NULL},
                {"gzip", "gzip", "gzip"},
                {"x-gzip in capitals", "gzip", "X-GZIP"},
                {"two gzip members", "members", "gzip"},
                {"deflate", "deflate", "deflate"},
                {"deflate without its head", "raw", "deflate"},
                {"brotli", "br", "br"},
                {"zstd", "zstd", "zstd"},
                {"one coding in another", "gzip, zstd", "gzip, zstd"},
                {"identity by name", "", "identity"},
        };
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
                struct buf coded = {0};
                encode(all[i].coding, plain, strlen(plain), &coded);
                bool is_good = true;
                for (size_t step = 1; step <= coded.len && is_good; step += 1 + step / 3) {
                        struct end e = {.is_slow = step % 2};
                        begin(d, &e, all[i].header);
                        for (size_t at = 0; at < coded.len; at += step) {
                                scrub_data(e.s, coded.data + at,
                                           coded.len - at < step ? coded.len - at : step);
                                if (at % 3 == 0)
                                        scrub_drained(e.s);
                        }
                        scrub_end(e.s, NULL);
                        for (int k = 0; k < 8 && !e.is_ended; k++)
                                scrub_drained(e.s);
                        is_good = e.is_ended && !e.failed && strcmp(buf_cstr(&e.body), clean) == 0;
                        const struct field *tag = head_find(&e.head, "etag");
                        if (all[i].coding[0])
                                is_good &= !head_find(&e.head, "content-encoding") &&
                                           e.head.body == HEAD_BODY_STREAM && tag &&
                                           strcmp(head_str(&e.head, tag->value), "W/\"v1\"") == 0;
                        else
                                is_good &= e.head.body == HEAD_BODY_LENGTH;
                        finish(&e);
                }
                check(is_good, all[i].name, "it did not come out as it should");
                buf_free(&coded);
        }
}

/* S1: nothing of what cannot be decoded passes. */
static void broken(struct door *d)
{
        static const char *const all[] = {"gzip", "deflate", "br", "zstd"};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
                struct buf coded = {0};
                char name[64];
                encode(all[i], plain, strlen(plain), &coded);
                bool is_good = true;
                for (size_t cut = 1; cut < coded.len; cut++) {
                        struct end e = {0};
                        begin(d, &e, all[i]);
                        scrub_data(e.s, coded.data, cut);
                        scrub_end(e.s, NULL);
                        is_good &= e.failed && !e.is_ended && !has_part(&e, value, 12 + 4);
                        finish(&e);
                }
                snprintf(name, sizeof name, "%s that is cut off", all[i]);
                check(is_good, name, "it passed");
                struct end e = {0};
                begin(d, &e, all[i]);
                scrub_data(e.s, coded.data, coded.len);
                scrub_data(e.s, value, strlen(value));
                scrub_end(e.s, NULL);
                snprintf(name, sizeof name, "%s with something after its end", all[i]);
                check(e.failed && !has_part(&e, value, strlen(value)), name, "it passed");
                finish(&e);
                begin(d, &e, all[i]);
                scrub_data(e.s, plain, strlen(plain));
                scrub_end(e.s, NULL);
                snprintf(name, sizeof name, "what only calls itself %s", all[i]);
                check(e.failed && e.body.len == 0, name, "it passed");
                finish(&e);
                begin(d, &e, all[i]);
                scrub_end(e.s, NULL);
                snprintf(name, sizeof name, "an empty body in %s", all[i]);
                check(e.is_ended && !e.failed, name, "%s", e.failed ? e.failed : "no end");
                finish(&e);
                buf_free(&coded);
        }
        struct end e = {0};
        begin(d, &e, "compress");
        CHECK("an unknown coding", e.failed && !e.has_head);
        finish(&e);
        begin(d, &e, "gzip, gzip, gzip");
        CHECK("three codings", e.failed && !e.has_head);
        finish(&e);
}

/* An event stream that is compressed arrives event by event too. */
static void events(struct door *d)
{
        static const char event[] = "data: {\"n\": 1}\n\n";
        struct end e = {0};
        bool is_good = true;
        z_stream z = {0};
        deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
        begin(d, &e, "gzip");
        for (size_t i = 1; i <= 20; i++) {
                uint8_t out[256];
                z.next_in = (Bytef *)(uintptr_t)event;
                z.avail_in = sizeof event - 1;
                z.next_out = out;
                z.avail_out = sizeof out;
                deflate(&z, Z_SYNC_FLUSH);
                scrub_data(e.s, out, sizeof out - z.avail_out);
                is_good &= e.body.len == i * (sizeof event - 1);
        }
        CHECK("compressed events arrive one by one", is_good && !e.failed);
        deflateEnd(&z);
        finish(&e);
}

/* A gigabyte that came as a megabyte stays outside until somebody reads. */
static void bomb(struct door *d)
{
        struct buf zeros = {0}, coded = {0};
        memset(buf_room(&zeros, 16 << 20), 'a', 16 << 20);
        encode("gzip", zeros.data, zeros.len, &coded);
        struct end e = {.is_slow = true};
        begin(d, &e, "gzip");
        CHECK("a bomb is held up",
              !scrub_data(e.s, coded.data, coded.len) && e.body.len <= 64 << 10);
        scrub_end(e.s, NULL);
        while (!e.is_ended && !e.failed)
                scrub_drained(e.s);
        CHECK("and passes as it is read", e.body.len == zeros.len);
        finish(&e);
        buf_free(&zeros);
        buf_free(&coded);
}

static void heads(const struct scan_set *set)
{
        static const char *const names[] = {"set-cookie", "location", "www-authenticate", "link",
                                            "x-anything"};
        const char *why = NULL;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                struct head h;
                char text[256];
                head_init(&h);
                snprintf(text, sizeof text, "a=%s; Path=/", value);
                add(&h, names[i], text);
                CHECK("a head passes", scrub_head(set, &h, &why) == 0);
                snprintf(text, sizeof text, "a=%s; Path=/", stand);
                check_str(names[i], head_str(&h, h.fields[0].value), text);
                head_free(&h);
        }
        struct head h;
        head_init(&h);
        add(&h, value, "1");
        CHECK("a value as a field's name", scrub_head(set, &h, &why) < 0 && why);
        head_free(&h);
}

static void trailers(struct door *d)
{
        struct end e = {0};
        struct head t;
        begin(d, &e, NULL);
        head_init(&t);
        add(&t, value, "x");
        scrub_end(e.s, &t);
        CHECK("a value as a trailer's name", e.failed && !e.is_ended);
        finish(&e);
        head_free(&t);
}

static void requests(struct door *d)
{
        static const struct {
                const char *name, *field, *text, *want;
        } all[] = {
                {"codings that we know stay", "accept-encoding", "gzip, br;q=0.5",
                 "gzip, br;q=0.5"},
                {"others do not", "accept-encoding", "gzip, dcb, *;q=0.1", "gzip"},
                {"and when none is left", "accept-encoding", "compress", "identity"},
                {"no range stays where a value is shown", "range", "bytes=0-1023", NULL},
                {"nor an open one", "range", "bytes=5-", NULL},
                {"nor by its old name", "request-range", "bytes=7-9", NULL},
        };
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
                struct head h;
                head_init(&h);
                add(&h, all[i].field, all[i].text);
                scrub_request(d, NULL, 443, &h);
                const struct field *f = head_find(&h, all[i].field);
                check_str(all[i].name, f ? head_str(&h, f->value) : NULL, all[i].want);
                head_free(&h);
        }
}

static void put_frame(struct buf *b, uint8_t first, const char *p, size_t n)
{
        buf_put_u8(b, first);
        if (n < 126) {
                buf_put_u8(b, (uint8_t)n);
        } else {
                buf_put_u8(b, 126);
                buf_put_u8(b, (uint8_t)(n >> 8));
                buf_put_u8(b, (uint8_t)n);
        }
        buf_put(b, p, n);
}

/* payloads(frames, out): of data frames only. */
static void payloads(const struct buf *b, struct buf *out, size_t *finals)
{
        for (size_t at = 0; at + 2 <= b->len;) {
                uint8_t first = b->data[at];
                size_t n = b->data[at + 1], head = 2;
                if (n == 126) {
                        n = (size_t)(b->data[at + 2] << 8 | b->data[at + 3]);
                        head = 4;
                }
                if (!(first & 8)) {
                        buf_put(out, b->data + at + head, n);
                        *finals += first >> 7;
                } else if (memmem(b->data + at + head, n, value, strlen(value))) {
                        buf_put_str(out, "A CONTROL FRAME HAS IT");
                }
                at += head + n;
        }
}

static void websocket(const struct scan_set *set)
{
        bool is_good = true;
        for (size_t piece = 1; piece <= strlen(plain) && is_good; piece++)
                for (size_t step = 1; step < 40 && is_good; step += 5) {
                        struct buf in = {0}, out = {0}, got = {0};
                        struct ws_scrub w = {0};
                        size_t finals = 0;
                        for (size_t at = 0; at < strlen(plain); at += piece) {
                                size_t n = strlen(plain) - at;
                                bool is_last = n <= piece;
                                put_frame(&in, (uint8_t)((at ? 0 : 1) | (is_last ? 0x80 : 0)),
                                          plain + at, is_last ? n : piece);
                                put_frame(&in, 0x89, value, strlen(value)); /* a ping between */
                        }
                        for (size_t at = 0; at < in.len; at += step)
                                ws_scrub_feed(&w, set, in.data + at,
                                              in.len - at < step ? in.len - at : step, &out);
                        payloads(&out, &got, &finals);
                        is_good = finals == 1 && strcmp(buf_cstr(&got), clean) == 0;
                        ws_scrub_free(&w);
                        buf_free(&in);
                        buf_free(&out);
                        buf_free(&got);
                }
        CHECK("WebSocket messages in frames of every size", is_good);
        struct buf in = {0}, out = {0};
        struct ws_scrub w = {0};
        put_frame(&in, 0x81, "hello", 5);
        put_frame(&in, 0x81, "", 0);
        put_frame(&in, 0x88, "\x03\xe8", 2);
        ws_scrub_feed(&w, set, in.data, in.len, &out);
        CHECK("messages without a value stay as they are",
              in.len == out.len && memcmp(in.data, out.data, in.len) == 0);
        ws_scrub_free(&w);
        buf_free(&in);
        buf_free(&out);
}

static void tokens(void)
{
        static const struct {
                const char *name, *type, *body;
                size_t n;
                const char *first;
        } all[] = {
                {"JSON", "application/json; charset=utf-8",
                 "{\"access_token\":\"gho_fake00\\u0030001\",\"scope\":\"x\",\"refresh_token\":"
                 "\"ghr_fake000002\"}",
                 2, "gho_fake000001"},
                {"JSON inside JSON", "application/json",
                 "{\"ok\":true,\"authed_user\":{\"access_token\":\"xoxp-fake-1\"}}", 1,
                 "xoxp-fake-1"},
                {"a form", "application/x-www-form-urlencoded",
                 "access_token=gho%5Ffake000001&scope=repo&token_type=bearer", 1, "gho_fake000001"},
                {"XML of STS", "text/xml",
                 "<R><Credentials><AccessKeyId>ASIAFAKEFAKEFAKE</AccessKeyId><SecretAccessKey>fake/"
                 "secret+key00</SecretAccessKey><SessionToken>FakeToken==</SessionToken>"
                 "</Credentials></R>",
                 3, "ASIAFAKEFAKEFAKE"},
                {"an answer without one", "application/json", "{\"error\":\"slow_down\"}", 0, NULL},
                {"a name that no row has", "application/json",
                 "{\"runner\":{\"id\":7},\"encoded_jit\":\"x9Kd02mfLs93jfQ8ZaB1\"}", 1,
                 "x9Kd02mfLs93jfQ8ZaB1"},
                {"a known shape where an identifier stands", "application/json",
                 "{\"id\":\"hvs.CAESIJ93mfLs93jfQ8ZaB1x9Kd02\"}", 1,
                 "hvs.CAESIJ93mfLs93jfQ8ZaB1x9Kd02"},
                {"identifiers", "application/json",
                 "{\"organization\":{\"uuid\":\"3f2504e0-4f89-41d3-9a0c-0305e82c3301\"},\"node_id\":"
                 "\"MDEwOlJlcG9zaXRvcnkxMjk2MjY5\",\"request_id\":\"req_011CSHoEeqs5C35K2UUqR7\"}",
                 0, NULL},
                {"a value in a list of keys", "application/json",
                 "{\"keys\":[{\"keyName\":\"key1\",\"value\":\"q8ZaB1x9Kd02mfLs93jf==\"}]}", 1,
                 "q8ZaB1x9Kd02mfLs93jf=="},
                {"an unknown element of XML", "text/xml",
                 "<R><Made>x9Kd02mfLs93jfQ8ZaB1</Made><RequestId>x9Kd02mfLs93jfQ8ZaB1</RequestId>"
                 "</R>",
                 1, "x9Kd02mfLs93jfQ8ZaB1"},
        };
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
                struct capture c;
                struct err err = {0};
                int r = capture_find(all[i].type, all[i].body, strlen(all[i].body), 0, &c, &err);
                check(r == 0 && c.n == all[i].n, all[i].name, "%zu tokens, %s", c.n, err.text);
                if (c.n > 0)
                        check_str(all[i].name, c.tokens[0].value, all[i].first);
                capture_free(&c);
        }
        struct capture c;
        CHECK("broken JSON", capture_find("", "{\"access_token\":", 16, 0, &c, NULL) < 0);
        capture_free(&c);
        static const char *const bad[] = {
                "{\"note\":\"use x9Kd02mfLs93jfQ8ZaB1 now\"}",
                "{\"x9Kd02mfLs93jfQ8ZaB1\":true}",
                "{\"body\":\"{\\\"k\\\":\\\"x9Kd02mfLs93jfQ8ZaB1\\\"}\"}",
                "{\"url\":\"https://a.test/cb#access_token=short-one\"}",
                "{\"clone_url\":\"https://me:hunter2hunter2@a.test/x\"}",
                "{\"description\":\"-----BEGIN RSA PRIVATE KEY-----\\nabc\"}",
                "<R>x9Kd02mfLs93jfQ8ZaB1<a/></R>",
                "<R a=\"x9Kd02mfLs93jfQ8ZaB1\"/>",
                "<R></R x9Kd02mfLs93jfQ8ZaB1>",
                "<x9Kd02mfLs93jfQ8ZaB1/>",
                "x9Kd02mfLs93jfQ8ZaB1=1&b=2",
                "{\"made\":\"%7B%22k%22%3A%22x9Kd02mfLs93jfQ8ZaB1%22%7D\"}",
                "{\"made\":\"https://a.test/c?sig=x9Kd02mfLs93jfQ8ZaB1\"}",
        };
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                check(capture_find("", bad[i], strlen(bad[i]), 0, &c, NULL) < 0, bad[i],
                      "passes with %zu", c.n);
                capture_free(&c);
        }
        static const struct {
                unsigned how;
                const char *body;
                size_t n;
        } words[] = {
                {CAPTURE_ERROR, "{\"password\":[\"This field is required.\"]}", 0},
                {CAPTURE_ERROR, "{\"token\":\"not-valid-any-more\"}", 0},
                {CAPTURE_ERROR, "{\"access_token\":\"x9Kd02mfLs93jfQ8ZaB1\"}", 1},
                {CAPTURE_ERROR | CAPTURE_ALL, "{\"errors\":[\"permission denied\"]}", 0},
                {0, "{\"tokens\":[\"function\",\"constructor\",\"document\"]}", 0},
                {0, "{\"tokens\":[\"function\",\"x9Kd02mfLs93jfQ8ZaB1\"]}", 1},
                {0, "{\"access_token\":\"word-by-word\"}", 1},
                {0, "{\"token\":\"3f2504e0-4f89-41d3-9a0c-0305e82c3301\"}", 1},
                {0, "{\"sha\":\"3da541559918a808c2402bba5012f6c60b27661c\"}", 0},
                {0, "{\"picture\":\"https://a.test/u/x9Kd02mfLs93jfQ8ZaB1=s96\"}", 0},
                {0,
                 "<R><AssumeRolePolicyDocument>%7B%22Federated%22%3A%22oidc%2Fid%2F"
                 "D539D4633E53DE1B71E2A09C%22%7D</AssumeRolePolicyDocument></R>",
                 0},
                {CAPTURE_ID,
                 "{\"id\":\"101W_juydrDRByB7fUdRyE2JQ\",\"userId\":\"00ubgaSARVOQDIOXMORI\"}", 1},
                {0, "{\"id\":\"101W_juydrDRByB7fUdRyE2JQ\"}", 0},
                {0, "true", 0},
                {0, "null\n", 0},
                {0, "OK", 0},
        };
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
                int r = capture_find("", words[i].body, strlen(words[i].body), words[i].how, &c,
                                     NULL);
                check(r == 0 && c.n == words[i].n, words[i].body, "%d, %zu tokens", r, c.n);
                capture_free(&c);
        }
        static const char wrapped[] =
                "{\"data\":{\"word\":\"correct horse\",\"id\":\"plain-name\"}}";
        CHECK("where every text is a secret",
              capture_find("", wrapped, sizeof wrapped - 1, CAPTURE_ALL, &c, NULL) == 0 &&
                      c.n == 1);
        capture_free(&c);
        struct buf long_one = {0};
        buf_put_str(&long_one, "{\"token\":\"");
        for (int i = 0; i < 20000; i++)
                buf_put_u8(&long_one, (uint8_t)('a' + i % 26));
        buf_put_str(&long_one, "\"}");
        CHECK("a token that the keeper would not take ends the answer and not the keeper",
              capture_find("", (const char *)long_one.data, long_one.len, 0, &c, NULL) < 0);
        capture_free(&c);
        buf_free(&long_one);
        struct buf b = {0};
        capture_put(CAPTURE_FORM, "a+b/c", &b);
        check_str("a placeholder in a form", buf_cstr(&b), "a%2Bb%2Fc");
        buf_free(&b);
}

int main(void)
{
        struct door *d = calloc(1, sizeof *d);
        struct scan_set *set = fingers();
        custody_of(d)->values = set;
        codings(d);
        broken(d);
        events(d);
        bomb(d);
        heads(set);
        trailers(d);
        requests(d);
        websocket(set);
        tokens();
        scan_set_free(set);
        free(d->custody);
        free(d);
        return check_end();
}
