/* door_pack.c - what is packed inside a body that does not say so: every kind that is promised is
 * looked into, in any cuts, wherever it begins and two deep; a bomb and an empty account end it;
 * what is broken or only looks like it is left alone; and no turn is longer than its budget. */
#include "base/buf.h"
#include "egress/account.h"
#include "egress/pack.h"
#include "egress/work.h"
#include "unit/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

static const uint8_t key[16] = "0123456789abcdef";
static const char text[] = "fake-Packed-Value-Of-Forty-Characters-01";
static struct scan_set *set;

static void put_zlib(struct buf *out, const void *p, size_t n, int bits)
{
        z_stream z = {.next_in = (Bytef *)(uintptr_t)p, .avail_in = (uInt)n};
        deflateInit2(&z, 6, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY);
        z.next_out = buf_room(out, n + 1024);
        z.avail_out = (uInt)(n + 1024);
        deflate(&z, Z_FINISH);
        out->len -= z.avail_out;
        deflateEnd(&z);
}

static void put_little(struct buf *out, uint32_t v, size_t n)
{
        for (size_t i = 0; i < n; i++)
                buf_put_u8(out, (uint8_t)(v >> (8 * i)));
}

static void put_zstd(struct buf *out, const void *p, size_t n)
{
        size_t most = ZSTD_compressBound(n);
        uint8_t *to = buf_room(out, most);
        out->len -= most - ZSTD_compress(to, most, p, n, 3);
}

/* put_zip(out, p, n, method, is_late): a zip of two members, the second of which is ${p}. */
static void put_zip(struct buf *out, const void *p, size_t n, unsigned method, bool is_late)
{
        for (int i = 0; i < 2; i++) {
                const void *from = i ? p : "the first of two";
                size_t len = i ? n : 16;
                struct buf b = {0};
                if (method == 0)
                        buf_put(&b, from, len);
                else if (method == 93)
                        put_zstd(&b, from, len);
                else
                        put_zlib(&b, from, len, -MAX_WBITS);
                buf_put(out, "PK\3\4\24\0", 6);
                put_little(out, is_late ? 8 : 0, 2);
                put_little(out, method, 2);
                put_little(out, 0, 4);
                put_little(out, 0, 4);
                put_little(out, is_late ? 0 : (uint32_t)b.len, 4);
                put_little(out, is_late ? 0 : (uint32_t)len, 4);
                put_little(out, 5, 2);
                put_little(out, 0, 2);
                buf_put(out, "a.txt", 5);
                buf_put(out, b.data, b.len);
                if (is_late)
                        buf_put(out, "PK\7\10............", 16);
                buf_free(&b);
        }
        buf_put(out, "PK\1\2 and so on", 13);
}

/* wrap(how, in, out): by letters, the innermost first. */
static void wrap(const char *how, const void *p, size_t n, struct buf *out)
{
        struct buf a = {0};
        buf_put(&a, p, n);
        for (; *how; how++) {
                struct buf b = {0};
                switch (*how) {
                case 'g':
                        put_zlib(&b, a.data, a.len, 16 + MAX_WBITS);
                        break;
                case 'l':
                        put_zlib(&b, a.data, a.len, MAX_WBITS);
                        break;
                case 's':
                        put_zstd(&b, a.data, a.len);
                        break;
                case 'z':
                        put_zip(&b, a.data, a.len, 8, false);
                        break;
                case 'd':
                        put_zip(&b, a.data, a.len, 8, true);
                        break;
                case 'o':
                        put_zip(&b, a.data, a.len, 0, false);
                        break;
                case 'y':
                        put_zip(&b, a.data, a.len, 93, false);
                        break;
                case 't': /* among other text, as in a tar or in a form */
                        buf_put_str(&b, "--boundary\r\ncontent-disposition: form-data\r\n\r\n");
                        buf_put(&b, a.data, a.len);
                        buf_put_str(&b, "\r\n--boundary--\r\n");
                        break;
                case 'm': /* a second member of gzip */
                        put_zlib(&b, "first", 5, 16 + MAX_WBITS);
                        put_zlib(&b, a.data, a.len, 16 + MAX_WBITS);
                        break;
                case 'b': /* magic of something that is none */
                        buf_put(&b, "\x1f\x8b\x08\0\0\0\0\0\0\3\xff\xff PK\3\4", 17);
                        buf_put(&b, a.data, a.len);
                        break;
                default:
                        break;
                }
                buf_free(&a);
                a = b;
        }
        *out = a;
}

/* run(in, step, work, account): the first thing that it says but READY and LATER. */
static enum pack_said run(const struct buf *in, size_t step, struct work_budget *w,
                          struct account *a, size_t *laters)
{
        struct pack *pk = pack_new(w, a);
        struct scan_hit hit = {0};
        enum pack_said said = PACK_READY;
        for (size_t at = 0; at <= in->len && said == PACK_READY; at += step) {
                size_t part = in->len - at < step ? in->len - at : step;
                if (part)
                        pack_put(pk, in->data + at, part);
                while ((said = pack_run(pk, set, part < step, &hit)) == PACK_LATER) {
                        ++*laters;
                        work_round(w);
                }
        }
        pack_free(pk);
        return said;
}

static void test_found(void)
{
        static const struct {
                const char *how, *name;
                bool is_found;
        } rows[] = {
                {"g", "gzip", true},
                {"l", "zlib", true},
                {"s", "zstd", true},
                {"z", "zip, deflate", true},
                {"d", "zip, deflate with sizes behind it", true},
                {"o", "zip, stored", true},
                {"y", "zip, zstd", true},
                {"m", "a second member of gzip", true},
                {"tg", "a form in gzip", true},
                {"gt", "gzip in a form", true},
                {"zt", "a zip in a form", true},
                {"gg", "gzip in gzip", true},
                {"gtz", "gzip in a tar in a zip", true},
                {"zg", "a zip in gzip", true},
                {"lz", "zlib in a zip", true},
                {"so", "zstd stored in a zip", true},
                {"gb", "gzip behind what only looks like one", true},
                {"ggg", "three deep is not looked into", false},
                {"t", "plain text is not its business", false},
        };
        char page[2000];
        memset(page, '.', sizeof page);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                static const size_t steps[] = {1, 7, 100, 1 << 20};
                struct buf in = {0};
                size_t laters = 0, good = 0;
                memcpy(page + 900, text, sizeof text - 1);
                wrap(rows[i].how, page, sizeof page, &in);
                for (size_t k = 0; k < 4; k++)
                        good += (run(&in, steps[k], NULL, NULL, &laters) == PACK_FOUND) ==
                                rows[i].is_found;
                check(good == 4, rows[i].name, "in %zu of 4 cuts", good);
                buf_free(&in);
                memcpy(page + 900, "fake-Another-Text-Of-Forty-Characters-22", sizeof text - 1);
                wrap(rows[i].how, page, sizeof page, &in);
                enum pack_said said = run(&in, 100, NULL, NULL, &laters);
                char name[80];
                snprintf(name, sizeof name, "control, another text: %s", rows[i].name);
                check(said == PACK_READY, name, "said %d", said);
                buf_free(&in);
        }
}

static void test_bounds(void)
{
        enum { BOMB = 40 << 20 };
        struct buf in = {0}, zeros = {0};
        size_t laters = 0;
        memset(buf_room(&zeros, BOMB), 0, BOMB);
        wrap("g", zeros.data, zeros.len, &in);
        struct work_budget w = {0};
        struct account a = {.limit = 8 << 20};
        enum pack_said said = run(&in, 32 << 10, &w, &a, &laters);
        check(said == PACK_BOMB, "what grows beyond all measure is a bomb", "said %d", said);
        check(laters > 10 && w.longest_bytes <= WORK_TURN + 4 * WORK_PIECE,
              "and is unpacked in turns", "%zu turns, the longest %llu", laters,
              (unsigned long long)w.longest_bytes);
        check(a.peak < 1 << 20, "within little memory", "%llu", (unsigned long long)a.peak);
        check(a.now == 0, "all of which is given back", "%llu", (unsigned long long)a.now);
        buf_free(&in);
        wrap("z", text, sizeof text - 1, &in);
        struct account none = {.limit = 4 << 10};
        said = run(&in, 32 << 10, NULL, &none, &laters);
        check(said == PACK_SHORT, "an account without room says so", "said %d", said);
        buf_free(&in);
        /* Many empty members cost a step each. */
        struct buf one = {0};
        put_zlib(&one, "", 0, 16 + MAX_WBITS);
        for (int i = 0; i < 20000; i++)
                buf_put(&in, one.data, one.len);
        struct work_budget w2 = {0};
        laters = 0;
        said = run(&in, 32 << 10, &w2, NULL, &laters);
        check(said == PACK_READY && laters > 5 && w2.longest_steps <= 3 * WORK_TURN / WORK_STEP,
              "empty members are counted", "said %d, %zu turns, %llu steps", said, laters,
              (unsigned long long)w2.longest_steps);
        buf_free(&one);
        buf_free(&in);
        buf_free(&zeros);
}

/* Cut anywhere and changed anywhere: it ends, and gives back what it took. */
static void test_broken(void)
{
        struct buf in = {0};
        struct account a = {.limit = 64 << 20};
        size_t laters = 0;
        char page[400];
        unsigned seed = 12;
        memset(page, '.', sizeof page);
        wrap("gtz", page, sizeof page, &in);
        for (int i = 0; i < 3000; i++) {
                struct buf b = {0};
                size_t cut = (size_t)rand_r(&seed) % in.len;
                buf_put(&b, in.data, i % 3 ? in.len : cut);
                for (int k = 0; k < i % 4 && b.len; k++)
                        b.data[(size_t)rand_r(&seed) % b.len] ^= (uint8_t)(1 << (k + i) % 8);
                run(&b, 1 + (size_t)i % 50, NULL, &a, &laters);
                buf_free(&b);
        }
        check(a.now == 0, "3,000 broken ones end, and nothing stays", "%llu",
              (unsigned long long)a.now);
        buf_free(&in);
}

/* Where a decoder need not take anything of what is broken: every magic again and again, alone, in
 * front of text and of a real member, cut anywhere. Each step costs, so an end within few steps is
 * an end. */
static enum pack_said ends(const struct buf *in, size_t step, uint64_t *cost)
{
        struct work_budget w = {0};
        struct pack *pk = pack_new(&w, NULL);
        struct scan_hit hit = {0};
        enum pack_said said = PACK_READY;
        uint64_t most = 40000 + 2000 * (uint64_t)in->len;
        *cost = 0;
        for (size_t at = 0; at <= in->len && said == PACK_READY; at += step) {
                size_t part = in->len - at < step ? in->len - at : step;
                if (part)
                        pack_put(pk, in->data + at, part);
                do {
                        said = pack_run(pk, set, part < step, &hit);
                        *cost += w.round;
                        work_round(&w);
                } while (said == PACK_LATER && *cost < most);
        }
        pack_free(pk);
        return said;
}

static void test_progress(void)
{
        static const struct {
                const char *bytes;
                size_t n;
                const char *name;
                bool is_long; /* it has what follows for its own, as a name or a block */
        } rows[] = {
                {"\x1f\x8b\x08", 3, "gzip", true},
                {"\x1f\x8b\x08\0\0\0\0\0\0\3", 10, "a head of gzip", false},
                {"\x28\xb5\x2f\xfd", 4, "zstd", false},
                {"\x28\xb5\x2f\xfd\x24", 5, "the beginning of a head of zstd", false},
                {"\x28\xb5\x2f\xfd\x24\0\7", 7, "a head of zstd with a broken block", false},
                {"PK\3\4", 4, "zip", false},
                {"PK\3\4\24\0\0\0\10\0............\0\0\0\0\1\0\0\0a\377", 32, "a head of zip",
                 false},
                {"PK\3\4\24\0\0\0\10\0............\0\0\0\0\377\377\377\377", 30,
                 "a head of zip with a long name", false},
                {"PK\3\4\24\0\10\0\135\0............\0\0\0\0\1\0\0\0a\x28\xb5\x2f\xfd", 35,
                 "a head of zip with zstd", true},
                {"\x78\x9c", 2, "zlib", false},
        };
        static const size_t times[] = {1, 2, 3, 1000};
        char page[300];
        memset(page, '.', sizeof page);
        memcpy(page + 100, text, sizeof text - 1);
        for (size_t i = 0; i < 3 * sizeof rows / sizeof *rows; i++) {
                size_t k = i / 3, of = 0, good = 0;
                for (size_t t = 0; t < sizeof times / sizeof *times; t++) {
                        struct buf in = {0}, real = {0};
                        for (size_t n = 0; n < times[t]; n++)
                                buf_put(&in, rows[k].bytes, rows[k].n);
                        if (i % 3 == 1)
                                buf_put_str(&in, "text that is not packed in any way");
                        wrap("g", page, sizeof page, &real);
                        if (i % 3 == 2)
                                buf_put(&in, real.data, real.len);
                        /* At each boundary when it is short, and at a few when it is long. */
                        size_t few = in.len < 600 ? in.len + 1 : 4;
                        for (size_t step = 1; step <= few; step++) {
                                uint64_t cost;
                                enum pack_said said =
                                        ends(&in, few == 4 ? 1 + (step - 1) * 997 : step, &cost);
                                bool is_found = i % 3 == 2;
                                of++;
                                good += said == (is_found ? PACK_FOUND : PACK_READY) ||
                                        (rows[k].is_long && said == PACK_READY);
                        }
                        buf_free(&in);
                        buf_free(&real);
                }
                static const char *const where[] = {"alone", "in front of text",
                                                    "in front of a real one"};
                char name[120];
                snprintf(name, sizeof name, "%s again and again comes to an end, %s", rows[k].name,
                         where[i % 3]);
                check(good == of, name, "in %zu of %zu cuts", good, of);
        }
}

/* What was searched once is not searched again: a body of nothing but magic costs as its length. */
static void test_linear(void)
{
        static const char *const rows[] = {"PK\3\4", "\x1f\x8b\x08", "\x28\xb5\x2f\xfd"};
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                uint64_t small, large;
                struct buf in = {0};
                while (in.len < 32 << 10)
                        buf_put_str(&in, rows[i]);
                ends(&in, 1 << 20, &small);
                while (in.len < 1 << 20)
                        buf_put_str(&in, rows[i]);
                enum pack_said said = ends(&in, 2 << 20, &large);
                check(said == PACK_READY && large < 40 * small,
                      "32 times as much magic costs about 32 times as much", "%s: %llu and %llu",
                      rows[i], (unsigned long long)small, (unsigned long long)large);
                buf_free(&in);
        }
}

/* A body of nothing but magic begins a member every few bytes: no decoder is made for each. */
static void test_spares(void)
{
        static const struct {
                const char *bytes;
                size_t n;
                const char *name;
        } rows[] = {
                {"\x28\xb5\x2f\xfd", 4, "zstd"},
                {"\x28\xb5\x2f\xfd\0\x68\7\0\0", 9, "zstd with a large window"},
                {"\x1f\x8b\x08\0\0\0\0\0\0\3\xff", 11, "gzip"},
                {"\x28\xb5\x2f\xfd\x1f\x8b\x08\0\0\0\0\0\0\3\xff", 15, "zstd and gzip in turns"},
                {"PK\3\4\24\0\0\0\0\0........\4\0\0\0\4\0\0\0\0\0\0\0\x28\xb5\x2f\xfd", 34,
                 "zstd, one in each member of a zip"},
        };
        enum { MANY = 20000, DECODERS = 64 };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct buf in = {0};
                struct account a = {.limit = 40 << 20};
                size_t laters = 0;
                char name[120];
                for (size_t k = 0; k < MANY; k++)
                        buf_put(&in, rows[i].bytes, rows[i].n);
                enum pack_said said = run(&in, 32 << 10, NULL, &a, &laters);
                snprintf(name, sizeof name, "magic without end makes few decoders: %s",
                         rows[i].name);
                check(said == PACK_READY && a.allocs > 0 && a.allocs < DECODERS, name,
                      "said %d, %llu pieces of memory", said, (unsigned long long)a.allocs);
                check(a.now == 0, "and gives them back", "%llu", (unsigned long long)a.now);
                buf_free(&in);
        }
}

/* One measure for all members of a body, at each depth. */
static void test_many_bombs(void)
{
        static const char *const ways[] = {"s", "g", "ss", "y"};
        enum { EACH = 12 << 20 };
        struct buf zeros = {0};
        memset(buf_room(&zeros, EACH), 0, EACH);
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
                struct buf one = {0}, in = {0};
                char name[120];
                size_t laters = 0;
                wrap(ways[i], zeros.data, zeros.len, &one);
                snprintf(name, sizeof name, "control: one that grows far is none: %s", ways[i]);
                enum pack_said said = run(&one, 32 << 10, NULL, NULL, &laters);
                check(said == PACK_READY, name, "said %d", said);
                for (int k = 0; k < 6; k++)
                        buf_put(&in, one.data, one.len);
                snprintf(name, sizeof name, "many that grow far together are a bomb: %s", ways[i]);
                said = run(&in, 32 << 10, NULL, NULL, &laters);
                check(said == PACK_BOMB, name, "said %d", said);
                buf_free(&one);
                buf_free(&in);
        }
        buf_free(&zeros);
}

int main(void)
{
        set = scan_set_new(key);
        scan_set_text(set, 1, text, strlen(text));
        test_found();
        test_bounds();
        test_broken();
        test_progress();
        test_linear();
        test_spares();
        test_many_bombs();
        scan_set_free(set);
        return check_end();
}
