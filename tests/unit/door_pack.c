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

int main(void)
{
        set = scan_set_new(key);
        scan_set_text(set, 1, text, strlen(text));
        test_found();
        test_bounds();
        test_broken();
        scan_set_free(set);
        return check_end();
}
