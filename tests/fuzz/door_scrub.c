/* door_scrub.c - any bytes as the body of an answer in any coding, in two cuts: both end alike, the
 * same comes out, and no value is in it; the same bytes as WebSocket frames, as a head and as an
 * answer that brings tokens. */
#include "base/buf.h"
#include "egress/capture.h"
#include "egress/custody.h"
#include "egress/scan.h"
#include "egress/scrub.h"
#include "egress/ws.h"
#include "egress/ws_scrub.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t key[16] = "0123456789abcdef";
static const char value[] = "aab%a&#b-fake";
static const char stand[] = "0000000000000";

struct end {
        struct buf body;
        bool is_ended, has_failed;
};

static void on_head(void *ctx, struct head *h, bool is_end)
{
        (void)ctx;
        (void)h;
        (void)is_end;
}

static bool on_data(void *ctx, const void *p, size_t n)
{
        struct end *e = ctx;
        if (e->is_ended || e->has_failed)
                abort();
        buf_put(&e->body, p, n);
        return n % 3 != 0;
}

static void on_end(void *ctx, struct head *trailers)
{
        (void)trailers;
        ((struct end *)ctx)->is_ended = true;
}

static void on_fail(void *ctx, int status, const char *sentence)
{
        (void)sentence, (void)status;
        ((struct end *)ctx)->has_failed = true;
}

static void on_resume(void *ctx)
{
        (void)ctx;
}

static struct door *door(void)
{
        static struct door *d;
        if (d)
                return d;
        d = calloc(1, sizeof *d);
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
        custody_of(d)->values = set;
        return d;
}

static void answer(uint8_t how, const uint8_t *p, size_t n, size_t step, struct end *e)
{
        static const struct scrub_ops ops = {.head = on_head,
                                             .data = on_data,
                                             .end = on_end,
                                             .fail = on_fail,
                                             .resume = on_resume};
        static const char *const codings[] = {"",     "gzip",       "deflate",  "br",
                                              "zstd", "gzip, gzip", "br, zstd", "identity"};
        static struct host_name host;
        struct scrub_for what = {.host = &host, .port = 443, .path = "/"};
        const char *coding = codings[how & 7];
        struct head h;
        head_init(&h);
        h.status = 200;
        h.body = HEAD_BODY_STREAM;
        if (coding[0])
                head_add(&h, "content-encoding", 16, coding, strlen(coding), NULL);
        if (how & 64)
                head_add(&h, "content-type", 12, "application/grpc", 16, NULL);
        struct scrub *s = scrub_new(door(), &what, &ops, e);
        scrub_answer(s, &h, false);
        for (size_t at = 0; at < n; at += step) {
                scrub_data(s, p + at, n - at < step ? n - at : step);
                scrub_drained(s);
        }
        scrub_end(s, NULL);
        for (int i = 0; i < 10000 && !e->is_ended && !e->has_failed; i++)
                scrub_drained(s);
        scrub_free(s);
        head_free(&h);
        if (e->body.len && memmem(e->body.data, e->body.len, value, strlen(value)))
                abort();
}

static void frames(const uint8_t *p, size_t n, size_t step)
{
        const struct scan_set *set = custody_of(door())->values;
        struct ws ws = {0}, again = {0};
        struct ws_scrub a = {0}, b = {0};
        struct buf in = {0}, one = {0}, two = {0}, out = {0};
        if (ws_feed(&ws, p, n, &in, NULL) == 0) {
                ws_scrub_feed(&a, set, in.data, in.len, &one);
                for (size_t at = 0; at < in.len; at += step)
                        ws_scrub_feed(&b, set, in.data + at,
                                      in.len - at < step ? in.len - at : step, &two);
                if (one.len != two.len || (one.len && memcmp(one.data, two.data, one.len) != 0))
                        abort();
                if (one.len && ws_feed(&again, one.data, one.len, &out, NULL) < 0)
                        abort();
        }
        ws_scrub_free(&a);
        ws_scrub_free(&b);
        buf_free(&in);
        buf_free(&one);
        buf_free(&two);
        buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct end a = {0}, b = {0};
        if (size < 3 || size > 4000)
                return 0;
        const uint8_t *p = data + 2;
        size_t n = size - 2, step = 1 + data[1] % 32;
        struct buf in = {0};
        for (size_t i = 0; i < n; i++) { /* 0xfe plants the value */
                if (p[i] == 0xfe && !(data[0] & 7))
                        buf_put_str(&in, value);
                else
                        buf_put_u8(&in, p[i]);
        }
        answer(data[0], in.data, in.len, in.len, &a);
        answer(data[0], in.data, in.len, step, &b);
        if (a.is_ended == a.has_failed || a.is_ended != b.is_ended)
                abort();
        if (a.is_ended && (a.body.len != b.body.len ||
                           (a.body.len && memcmp(a.body.data, b.body.data, a.body.len) != 0)))
                abort();
        frames(in.data, in.len, step);
        static const char *const types[] = {"", "application/json",
                                            "application/x-www-form-urlencoded", "text/xml"};
        for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
                struct capture c;
                capture_find(types[k], (const char *)in.data, in.len, (unsigned)k % 8, &c, NULL);
                for (size_t i = 0; i < c.n; i++)
                        if (c.tokens[i].start + c.tokens[i].len > in.len ||
                            (i && c.tokens[i].start < c.tokens[i - 1].start + c.tokens[i - 1].len))
                                abort();
                capture_free(&c);
        }
        buf_free(&in);
        buf_free(&a.body);
        buf_free(&b.body);
        return 0;
}
