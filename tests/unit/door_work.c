/* door_work.c - the two bounds of the door (work.h, account.h) and what undo.c and body.c make of
 * them: no body, however it is coded, takes more than a turn, a proportion or the account. */
#include "base/buf.h"
#include "base/err.h"
#include "egress/account.h"
#include "egress/body.h"
#include "egress/undo.h"
#include "egress/work.h"
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

static void gzip(const struct buf *from, struct buf *to)
{
        z_stream z = {.next_in = from->data, .avail_in = (uInt)from->len};
        deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
        size_t room = deflateBound(&z, from->len);
        z.next_out = buf_room(to, room);
        z.avail_out = (uInt)room;
        deflate(&z, Z_FINISH);
        to->len -= z.avail_out;
        deflateEnd(&z);
}

static void zeros(struct buf *b, size_t n)
{
        memset(buf_room(b, n), 0, n);
}

struct run {
        uint64_t bytes;
        size_t turns;
        bool has_failed, is_short;
        struct err err;
};

/* drive(coding, body, account, w): take all that it gives, turn by turn. */
static struct run drive(const char *coding, const struct buf *body, struct account *a,
                        struct work_budget *w)
{
        struct run r = {0};
        struct undo *u = NULL;
        static uint8_t piece[32 << 10];
        if (undo_new(coding, w, a, &u, &r.err) < 0) {
                r.has_failed = true;
                return r;
        }
        undo_put(u, body->data, body->len);
        for (;;) {
                ssize_t n = undo_take(u, true, piece, sizeof piece, &r.err);
                if (n == UNDO_LATER) {
                        r.turns++;
                        work_round(w);
                        continue;
                }
                r.has_failed = n < 0;
                r.is_short = n < 0 && undo_is_short(u);
                if (n <= 0)
                        break;
                r.bytes += (uint64_t)n;
        }
        undo_free(u);
        return r;
}

static void test_turns(void)
{
        struct work_budget w = {0};
        _cleanup_buf_ struct buf plain = {0}, once = {0}, twice = {0}, empty = {0}, many = {0};
        zeros(&plain, 8 << 20);
        gzip(&plain, &once);
        struct run r = drive("gzip", &once, NULL, &w);
        CHECK("a body that grows is decoded", r.bytes == plain.len && !r.has_failed);
        CHECK("in many turns", r.turns >= plain.len / WORK_TURN / 2);
        CHECK("none of which is longer than it may be",
              w.longest_bytes <= WORK_TURN + 3 * WORK_PIECE);

        /* Members that hold nothing: 20 bytes each, and many more of them inside a coding. */
        w = (struct work_budget){0};
        gzip(&(struct buf){0}, &empty);
        while (many.len < 4 << 20)
                buf_put(&many, empty.data, empty.len);
        gzip(&many, &twice);
        r = drive("gzip, gzip", &twice, NULL, &w);
        CHECK("empty members are decoded", r.bytes == 0 && !r.has_failed);
        CHECK("in many turns", r.turns > many.len / empty.len * WORK_STEP / WORK_TURN / 2);
        CHECK("none of which has more steps than it may", w.longest_steps <= WORK_TURN / WORK_STEP);
}

static void test_proportion(void)
{
        struct work_budget w = {0};
        _cleanup_buf_ struct buf plain = {0}, once = {0}, twice = {0};
        zeros(&plain, 60 << 20);
        gzip(&plain, &once);
        gzip(&once, &twice);
        struct run r = drive("gzip, gzip", &twice, NULL, &w);
        CHECK("a body in two codings that grows beyond all measure is refused",
              r.has_failed && !r.is_short && r.bytes <= UNDO_FREE + (64 << 10));
        r = drive("gzip, gzip, gzip", &twice, NULL, &w);
        CHECK("three codings are refused",
              r.has_failed && strstr(r.err.text, "more than 2 codings"));
        r = drive("gzip, gzip, aws-chunked, aws-chunked", &twice, NULL, &w);
        CHECK("and chunks in chunks", r.has_failed && strstr(r.err.text, "codings"));
        struct undo *u = NULL;
        CHECK("two codings in chunks are read",
              undo_new("gzip, br, aws-chunked", NULL, NULL, &u, &r.err) == 0 && u);
        undo_free(u);
}

/* 18 MiB of zeros, with a window of 16 MiB. */
static const uint8_t in_brotli[] = {
        0xcf, 0xff, 0xff, 0x7f, 0x00, 0x24, 0x00, 0xe2, 0xb1, 0x40, 0x72, 0xef, 0xff,
        0xf3, 0xff, 0xff, 0x03, 0x80, 0x04, 0x40, 0x1c, 0x16, 0x80, 0xee, 0xfd, 0x07,
};

/* A few bytes that make a decoder ask for its whole window. */
static void test_windows(void)
{
        _cleanup_buf_ struct buf plain = {0}, br = {0}, zs = {0}, gz = {0};
        zeros(&plain, 18 << 20);
        buf_put(&br, in_brotli, sizeof in_brotli);
        size_t n;
        uint8_t *to;
        ZSTD_CCtx *c = ZSTD_createCCtx();
        ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, 23);
        ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, 0);
        n = ZSTD_compressBound(plain.len);
        to = buf_room(&zs, n);
        zs.len = ZSTD_compress2(c, to, n, plain.data, plain.len);
        ZSTD_freeCCtx(c);
        gzip(&plain, &gz);
        const struct {
                const char *coding;
                const struct buf *body;
                uint64_t least; /* that it asks for */
        } t[] = {{"br", &br, 16 << 20}, {"zstd", &zs, 8 << 20}, {"gzip", &gz, 32 << 10}};
        for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
                struct account wide = {0}, tight = {.limit = t[i].least};
                struct run r = drive(t[i].coding, t[i].body, &wide, NULL);
                check(wide.peak >= t[i].least && wide.now == 0,
                      "a window is charged, and given back", "%s: at most %llu, %llu left",
                      t[i].coding, (unsigned long long)wide.peak, (unsigned long long)wide.now);
                r = drive(t[i].coding, t[i].body, &tight, NULL);
                check(r.has_failed && r.is_short && r.bytes == 0,
                      "one that the account has no room for is not allocated", "%s: %s",
                      t[i].coding, r.err.text);
                check(tight.peak <= tight.limit + (256 << 10) && tight.now == 0 &&
                              tight.refused > 0,
                      "and nothing of it stays", "%s: at most %llu", t[i].coding,
                      (unsigned long long)tight.peak);
        }
}

/* in_turns(text, w): its state when it is read as JSON, turn by turn. */
static enum request_body in_turns(const struct buf *text, const char *coding, struct work_budget *w,
                                  size_t *turns)
{
        struct body *b = body_begin("application/json", coding, text->data, text->len, w, NULL);
        for (*turns = 0; !body_step(b); (*turns)++)
                work_round(w);
        enum request_body state = body_state(b);
        body_free(b);
        return state;
}

static void test_json(void)
{
        struct work_budget w = {0};
        size_t turns;
        _cleanup_buf_ struct buf keys = {0}, text = {0}, deep = {0}, gz = {0};
        buf_put_str(&keys, "{");
        for (int i = 0; i < 60000; i++)
                buf_put_fmt(&keys, "\"%06d\":0,", i);
        _cleanup_buf_ struct buf twins = {0};
        buf_put(&twins, keys.data, keys.len);
        buf_put_str(&keys, "\"end\":0}");
        buf_put_str(&twins, "\"000007\":0}");
        CHECK("an object of many keys is read in turns",
              in_turns(&keys, "", &w, &turns) == REQUEST_BODY_READ && turns >= 2);
        CHECK("none of which is longer than it may be",
              w.longest_bytes <= WORK_TURN + 2 * WORK_PIECE);
        CHECK("and two keys that are the same are found",
              in_turns(&twins, "", &w, &turns) == REQUEST_BODY_UNREADABLE);
        buf_put_str(&text, "[\"");
        memset(buf_room(&text, 900 << 10), 'x', 900 << 10);
        buf_put_str(&text, "\\u00e9\"]");
        w = (struct work_budget){0};
        CHECK("a long string is read in turns",
              in_turns(&text, "", &w, &turns) == REQUEST_BODY_READ && turns >= 3 &&
                      w.longest_bytes <= WORK_TURN + 2 * WORK_PIECE);
        gzip(&text, &gz);
        CHECK("and undone in turns",
              in_turns(&gz, "gzip", &w, &turns) == REQUEST_BODY_READ && turns >= 5);
        for (int i = 0; i < 64; i++)
                buf_put_str(&deep, "[");
        for (int i = 0; i < 64; i++)
                buf_put_str(&deep, "]");
        CHECK("as deep as may be", in_turns(&deep, "", &w, &turns) == REQUEST_BODY_READ);
        deep.len = 0;
        for (int i = 0; i < 65; i++)
                buf_put_str(&deep, "[");
        for (int i = 0; i < 65; i++)
                buf_put_str(&deep, "]");
        CHECK("and not deeper", in_turns(&deep, "", &w, &turns) == REQUEST_BODY_UNREADABLE);
}

static size_t order_n;
static char order[8];

static void on_job(void *ctx)
{
        order[order_n++] = *(const char *)ctx;
}

static void test_jobs(void)
{
        struct work_budget w = {0};
        struct work_job jobs[] = {
                {.fn = on_job, .ctx = "a"}, {.fn = on_job, .ctx = "b"}, {.fn = on_job, .ctx = "c"}};
        for (size_t i = 0; i < 3; i++)
                work_again(&w, &jobs[i]);
        work_again(&w, &jobs[0]);
        work_drop(&w, &jobs[1]);
        CHECK("jobs are done once, in order, unless they were dropped",
              !work_jobs(&w) && strcmp(order, "ac") == 0);
        work_again(&w, &jobs[1]);
        work_step(&w, WORK_ROUND);
        CHECK("when the round is over they wait", work_jobs(&w) && order_n == 2);
        work_round(&w);
        CHECK("for the next", !work_jobs(&w) && strcmp(order, "acb") == 0);
}

/* What grows is asked for before it does. */
static void test_account(void)
{
        struct account a = {.limit = 1 << 20};
        _cleanup_buf_ struct buf large = {0}, small = {0}, none = {0};
        size_t charged = 0, other = 0;
        static const char piece[8 << 10];
        size_t n = 0;
        while (account_put(&a, &charged, &large, piece, sizeof piece))
                n += sizeof piece;
        check(large.len == n && large.cap == charged && a.now == charged,
              "what is refused is not put", "%zu of %zu, charged %zu", large.len, n, charged);
        check(a.now <= a.limit - a.limit / 8 && a.refused == 1,
              "one that is large leaves the last eighth", "%llu", (unsigned long long)a.now);
        check(account_put(&a, &other, &small, piece, sizeof piece), "for those that are small",
              "no");
        while (account_take(&a, 4 << 10))
                ;
        check(a.now <= a.limit && !account_put(&a, &other, &none, piece, 1) && none.cap == 0,
              "and nobody has more than all of it", "%llu", (unsigned long long)a.now);
        size_t was = charged;
        check(!account_grow(&a, &charged, 1) && charged == was, "a no changes nothing", "%zu",
              charged);
}

/* shorts(b): was it the account that said no to a body of this type? */
static bool shorts(const char *type, const struct buf *b, uint64_t limit, uint64_t *peak)
{
        struct account a = {.limit = limit};
        struct body *body = body_begin(type, "", b->data, b->len, NULL, &a);
        while (!body_step(body))
                ;
        bool is_short = body_is_short(body);
        body_free(body);
        *peak = a.peak;
        return is_short && a.now == 0;
}

static void test_bodies(void)
{
        _cleanup_buf_ struct buf keys = {0}, form = {0}, text = {0};
        buf_put_str(&keys, "[0");
        for (size_t i = 0; i < 200000; i++)
                buf_put_str(&keys, ",0");
        buf_put_str(&keys, "]");
        for (size_t i = 0; i < 4000; i++)
                buf_put_str(&form, "abc&");
        zeros(&text, 1 << 20);
        const struct {
                const char *type;
                const struct buf *b;
                uint64_t limit;
        } t[] = {{"application/json", &keys, 2 << 20},
                 {"application/x-www-form-urlencoded", &form, 96 << 10},
                 {"text/plain", &text, 512 << 10}};
        for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
                uint64_t peak;
                check(shorts(t[i].type, t[i].b, t[i].limit, &peak),
                      "a body that there is no room for", "%s was read", t[i].type);
                check(peak <= t[i].limit + 4096, "is not held", "%s: %llu", t[i].type,
                      (unsigned long long)peak);
                check(!shorts(t[i].type, t[i].b, 64 << 20, &peak), "with room it is read", "%s",
                      t[i].type);
        }
}

/* A body with very many of anything is read in turns, and its turns are short. */
static void test_many(void)
{
        static const struct {
                const char *type, *first, *piece, *last;
        } t[] = {{"application/x-www-form-urlencoded", "", "a&", "b"},
                 {"application/x-www-form-urlencoded", "", "%41", ""},
                 {"multipart/form-data; boundary=b", "",
                  "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n", "--b--"},
                 {"multipart/form-data; boundary=b",
                  "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n", "--", "\r\n--b--"},
                 {"text/plain", "", "a&", ""},
                 {"application/json", "[\"", "a&", "\"]"}};
        for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
                struct work_budget w = {0};
                _cleanup_buf_ struct buf b = {0};
                buf_put_str(&b, t[i].first);
                while (b.len < 4 << 20)
                        buf_put_str(&b, t[i].piece);
                buf_put_str(&b, t[i].last);
                struct body *body = body_begin(t[i].type, "", b.data, b.len, &w, NULL);
                while (!body_step(body))
                        work_round(&w);
                work_round(&w);
                check(w.longest_bytes <= 320 << 10 && w.longest_steps <= 9000,
                      "many fields are read in turns", "%s of %s: %llu bytes, %llu steps",
                      t[i].type, t[i].piece, (unsigned long long)w.longest_bytes,
                      (unsigned long long)w.longest_steps);
                body_free(body);
        }
}

int main(void)
{
        test_account();
        test_bodies();
        test_many();
        test_turns();
        test_proportion();
        test_windows();
        test_json();
        test_jobs();
        return check_end();
}
