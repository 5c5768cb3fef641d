/* door_scan.c - any stream, with values planted in it in any writing, in any cuts: what comes out
 * does not depend on the cuts, is as long as what went in, and no writing of a value is in it. */
#include "base/buf.h"
#include "egress/scan.h"
#include "wire/door.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t key[16] = "0123456789abcdef";
static const char *const values[] = {"ab%41\\u0&#aa", "aaaaaaaaab", "sk-9/+\"&Zz?>~"};
static const char *const stands[] = {"000000000000", "1111111111", "sk-2222222222"};
enum { VALUES = 3 };

static struct scan_set *fingers(void)
{
        struct scan_set *set = scan_set_new(key);
        for (uint32_t v = 0; v < VALUES; v++)
                for (int c = 0; c < SECRET_CODINGS; c++) {
                        struct buf b = {0};
                        enum secret_coding k = (enum secret_coding)c;
                        if (secret_form_put(k, values[v], strlen(values[v]), &b)) {
                                struct door_finger f = {
                                        .coding = (uint8_t)c,
                                        .len = (uint32_t)b.len,
                                        .hint = secret_finger_hint(b.data + b.len - 8),
                                        .tail = secret_siphash(key, b.data + b.len - 8, 8, true),
                                        .whole = secret_siphash(key, b.data, b.len,
                                                                secret_form_ignores_case(k))};
                                scan_set_finger(set, v, &f, stands[v], strlen(stands[v]));
                        }
                        buf_free(&b);
                }
        return set;
}

/* put_escaped(out, c, how): one byte in one of the ways that egress undoes. */
static void put_escaped(struct buf *out, uint8_t c, uint8_t how)
{
        static const char *const prefix[] = {"%",   "%25", "\\u00",  "\\\\u00",
                                             "\\x", "&#x", "%5cu00", "&amp;#x"};
        if (how & 8) {
                buf_put_u8(out, c);
                return;
        }
        if (how & 32) {
                switch (how & 7) {
                case 0:
                        buf_put_fmt(out, "\\%03o", c);
                        return;
                case 1:
                        buf_put_fmt(out, "\\u{%x}", c);
                        return;
                case 2:
                        buf_put_fmt(out, "%%u%04x", c);
                        return;
                case 3:
                        buf_put_fmt(out, "\\U%08X", c);
                        return;
                case 4:
                        buf_put_fmt(out, "=\r\n%c", c);
                        return;
                case 5:
                        buf_put_fmt(out, "\\0%03o", c);
                        return;
                default:
                        break;
                }
        }
        buf_put_str(out, prefix[how & 7]);
        buf_put_fmt(out, how & 16 ? "%02X" : "%02x", c);
        if ((how & 5) == 5 && prefix[how & 7][0] == '&')
                buf_put_u8(out, ';');
}

/* unfold(data, size, stream): bytes 0xf0 and up of the input plant something. */
static void unfold(const uint8_t *p, size_t n, struct buf *stream)
{
        for (size_t i = 0; i < n; i++) {
                if (p[i] < 0xf0 || i + 2 >= n) {
                        buf_put_u8(stream, p[i]);
                        continue;
                }
                const char *v = values[p[i] % VALUES];
                uint8_t how = p[++i];
                if (how < 0x80) {
                        secret_form_put((enum secret_coding)(how % SECRET_CODINGS), v, strlen(v),
                                        stream);
                        continue;
                }
                uint8_t mix = p[++i];
                for (size_t k = 0; v[k]; k++)
                        put_escaped(stream, (uint8_t)v[k], (uint8_t)(how + (k & 1 ? mix : 0)));
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static struct scan_set *set;
        if (!set)
                set = fingers();
        if (size < 2 || size > 2000)
                return 0;
        struct buf in = {0}, a = {0}, b = {0};
        struct scan whole = {0}, cut = {0};
        unfold(data + 1, size - 1, &in);
        size_t hits = scan_feed(&whole, set, in.data, in.len, true, &a, NULL), cut_hits = 0;
        uint32_t seed = data[0];
        for (size_t at = 0; at < in.len;) {
                seed = seed * 1103515245 + 12345;
                size_t n = data[0] < 64 ? 1 : 1 + (seed >> 16) % data[0];
                n = n < in.len - at ? n : in.len - at;
                cut_hits += scan_feed(&cut, set, in.data + at, n, false, &b, NULL);
                if (b.len > at + n)
                        abort();
                at += n;
        }
        cut_hits += scan_feed(&cut, set, NULL, 0, true, &b, NULL);
        if (a.len != in.len || b.len != a.len || (a.len && memcmp(a.data, b.data, a.len) != 0) ||
            hits != cut_hits)
                abort();
        for (uint32_t v = 0; v < VALUES; v++)
                for (int c = 0; c < SECRET_CODINGS; c++) {
                        struct buf w = {0};
                        if (secret_form_put((enum secret_coding)c, values[v], strlen(values[v]),
                                            &w) &&
                            a.len >= w.len && memmem(a.data, a.len, w.data, w.len))
                                abort();
                        buf_free(&w);
                }
        scan_free(&whole);
        scan_free(&cut);
        buf_free(&in);
        buf_free(&a);
        buf_free(&b);
        return 0;
}
