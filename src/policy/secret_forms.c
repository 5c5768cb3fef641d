/* secret_forms.c - see secret_forms.h. Called by the keeper, which makes fingers of values, and by
 * egress, which looks for them. Pure; it must never write one text in two ways under one coding. */
#include "policy/secret_forms.h"

#include "base/buf.h"

#include <endian.h>
#include <string.h>

enum { FORM_MIN = 8 }; /* shorter than this, and it would be found where it is not */

static const char base64_std[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char base64_url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
static const char base32_dns[] = "abcdefghijklmnopqrstuvwxyz234567";

/* put_bits(text, n, skip, bits, alphabet, out): the letters of ${bits} bits each that lie wholly
 * inside ${text}, which begins ${skip} bytes into a group. */
static void put_bits(const char *text, size_t n, size_t skip, unsigned bits, const char *alphabet,
                     struct buf *out)
{
        size_t first = (8 * skip + bits - 1) / bits;
        size_t drop = first * bits - 8 * skip; /* bits of the text before the first whole letter */
        uint32_t acc = 0;
        unsigned have = 0;
        for (size_t i = 0; i < n; i++) {
                acc = (acc << 8 | (unsigned char)text[i]) & 0xffffff;
                have += 8;
                if (drop) {
                        have -= (unsigned)drop;
                        drop = 0;
                }
                while (have >= bits) {
                        have -= bits;
                        buf_put_u8(out, (uint8_t)alphabet[acc >> have & ((1u << bits) - 1)]);
                }
        }
}

static void put_hex(const char *text, size_t n, struct buf *out)
{
        static const char digits[] = "0123456789abcdef";
        for (size_t i = 0; i < n; i++) {
                buf_put_u8(out, (uint8_t)digits[(unsigned char)text[i] >> 4]);
                buf_put_u8(out, (uint8_t)digits[(unsigned char)text[i] & 15]);
        }
}

/* put_percent(text, n, out): as encodeURIComponent does it. */
static void put_percent(const char *text, size_t n, struct buf *out)
{
        for (size_t i = 0; i < n; i++) {
                char c = text[i];
                bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                (c >= '0' && c <= '9') || (c && strchr("-_.!~*'()", c));
                if (is_plain)
                        buf_put_u8(out, (uint8_t)c);
                else
                        buf_put_fmt(out, "%%%02X", (unsigned char)c);
        }
}

static void put_json(const char *text, size_t n, struct buf *out)
{
        for (size_t i = 0; i < n; i++) {
                if (text[i] == '"' || text[i] == '\\' || text[i] == '/')
                        buf_put_u8(out, '\\');
                buf_put_u8(out, (uint8_t)text[i]);
        }
}

static void put_html(const char *text, size_t n, struct buf *out)
{
        for (size_t i = 0; i < n; i++) {
                switch (text[i]) {
                case '&':
                        buf_put_str(out, "&amp;");
                        break;
                case '<':
                        buf_put_str(out, "&lt;");
                        break;
                case '>':
                        buf_put_str(out, "&gt;");
                        break;
                case '"':
                        buf_put_str(out, "&quot;");
                        break;
                case '\'':
                        buf_put_str(out, "&#39;");
                        break;
                default:
                        buf_put_u8(out, (uint8_t)text[i]);
                }
        }
}

static void put_plus(const char *text, size_t n, struct buf *out)
{
        for (size_t i = 0; i < n; i++)
                buf_put_u8(out, (uint8_t)(text[i] == ' ' ? '+' : text[i]));
}

/* put_list(text, n, joint, is_hex, out): its bytes as numbers. */
static void put_list(const char *text, size_t n, const char *joint, bool is_hex, struct buf *out)
{
        for (size_t i = 0; i < n; i++)
                buf_put_fmt(out, is_hex ? "%s%02x" : "%s%u", i ? joint : "",
                            (unsigned char)text[i]);
}

static void put(enum secret_coding coding, const char *text, size_t n, struct buf *out)
{
        switch (coding) {
        case SECRET_RAW:
                buf_put(out, text, n);
                break;
        case SECRET_BASE64_0:
        case SECRET_BASE64_1:
        case SECRET_BASE64_2:
                put_bits(text, n, (size_t)(coding - SECRET_BASE64_0), 6, base64_std, out);
                break;
        case SECRET_BASE64URL_0:
        case SECRET_BASE64URL_1:
        case SECRET_BASE64URL_2:
                put_bits(text, n, (size_t)(coding - SECRET_BASE64URL_0), 6, base64_url, out);
                break;
        case SECRET_HEX:
                put_hex(text, n, out);
                break;
        case SECRET_BASE32_0:
        case SECRET_BASE32_1:
        case SECRET_BASE32_2:
        case SECRET_BASE32_3:
        case SECRET_BASE32_4:
                put_bits(text, n, (size_t)(coding - SECRET_BASE32_0), 5, base32_dns, out);
                break;
        case SECRET_HEAD:
                if (n >= SECRET_ENDS_MIN)
                        buf_put(out, text,
                                n >= SECRET_LONG_MIN ? SECRET_HEAD_LONG : SECRET_HEAD_LEN);
                break;
        case SECRET_TAIL:
                if (n >= SECRET_ENDS_MIN)
                        buf_put(out, text + n - SECRET_TAIL_LEN, SECRET_TAIL_LEN);
                break;
        case SECRET_PERCENT:
                put_percent(text, n, out);
                break;
        case SECRET_JSON:
                put_json(text, n, out);
                break;
        case SECRET_HTML:
                put_html(text, n, out);
                break;
        case SECRET_PLUS:
                put_plus(text, n, out);
                break;
        case SECRET_BYTES_JSON:
                put_list(text, n, ",", false, out);
                break;
        case SECRET_BYTES:
                put_list(text, n, ", ", false, out);
                break;
        case SECRET_BYTES_BLANK:
                put_list(text, n, " ", false, out);
                break;
        case SECRET_PAIRS_COLON:
                put_list(text, n, ":", true, out);
                break;
        case SECRET_PAIRS_BLANK:
                put_list(text, n, " ", true, out);
                break;
        case SECRET_CODINGS:
                break;
        }
}

/* is_own(coding, text, n, p, len): is this writing one that no other coding makes of the text? */
static bool is_own(enum secret_coding coding, const char *text, size_t n, const uint8_t *p,
                   size_t len)
{
        switch (coding) {
        case SECRET_BASE64URL_0:
        case SECRET_BASE64URL_1:
        case SECRET_BASE64URL_2:
                return memchr(p, '-', len) || memchr(p, '_', len);
        case SECRET_PERCENT:
        case SECRET_JSON:
        case SECRET_HTML:
        case SECRET_PLUS:
                return len != n || memcmp(p, text, n) != 0;
        case SECRET_RAW:
        case SECRET_BASE64_0:
        case SECRET_BASE64_1:
        case SECRET_BASE64_2:
        case SECRET_HEX:
        case SECRET_BASE32_0:
        case SECRET_BASE32_1:
        case SECRET_BASE32_2:
        case SECRET_BASE32_3:
        case SECRET_BASE32_4:
        case SECRET_HEAD:
        case SECRET_TAIL:
        case SECRET_BYTES_JSON:
        case SECRET_BYTES:
        case SECRET_BYTES_BLANK:
        case SECRET_PAIRS_COLON:
        case SECRET_PAIRS_BLANK:
                return true;
        case SECRET_CODINGS:
                break;
        }
        return false;
}

bool secret_form_put(enum secret_coding coding, const char *text, size_t n, struct buf *out)
{
        size_t at = out->len;
        put(coding, text, n, out);
        if (out->is_broken || out->len - at < FORM_MIN ||
            !is_own(coding, text, n, out->data + at, out->len - at)) {
                if (out->len > at)
                        explicit_bzero(out->data + at, out->len - at);
                out->len = at;
                return false;
        }
        return true;
}

bool secret_form_ignores_case(enum secret_coding coding)
{
        return coding < SECRET_BASE64_0 || coding > SECRET_BASE64URL_2;
}

void secret_form_replace(enum secret_coding coding, const char *stand_in, size_t n, size_t len,
                         struct buf *out)
{
        size_t at = out->len;
        put(coding, stand_in, n, out);
        if (out->is_broken)
                return;
        if (out->len - at > len)
                out->len = at + len;
        while (!out->is_broken && out->len - at < len)
                buf_put_u8(out, 'x');
}

/* --- SipHash-2-4 ------------------------------------------------------------------------------ */

static inline uint64_t rotl(uint64_t x, unsigned b)
{
        return x << b | x >> (64 - b);
}

static inline void sip_round(uint64_t v[4])
{
        v[0] += v[1];
        v[1] = rotl(v[1], 13) ^ v[0];
        v[0] = rotl(v[0], 32);
        v[2] += v[3];
        v[3] = rotl(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = rotl(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = rotl(v[1], 17) ^ v[2];
        v[2] = rotl(v[2], 32);
}

static inline uint64_t load(const uint8_t *p, size_t n)
{
        uint64_t x = 0;
        memcpy(&x, p, n);
        return le64toh(x);
}

/* fold_letters(x): eight bytes at once, each of A-Z made small. */
static inline uint64_t fold_letters(uint64_t x)
{
        const uint64_t ones = 0x0101010101010101u;
        uint64_t low = x & ones * 0x7f;
        uint64_t from_a = low + ones * (0x80 - 'A'); /* the high bit: at least A */
        uint64_t past_z = low + ones * (0x7f - 'Z'); /* the high bit: beyond Z */
        uint64_t is_large = from_a & ~past_z & ~x & ones * 0x80;
        return x | is_large >> 2;
}

uint64_t secret_siphash(const uint8_t key[16], const void *bytes, size_t n, bool fold)
{
        const uint8_t *p = bytes;
        uint64_t k0 = load(key, 8), k1 = load(key + 8, 8);
        uint64_t v[4] = {k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du,
                         k0 ^ 0x6c7967656e657261u, k1 ^ 0x7465646279746573u};
        size_t left = n;
        for (; left >= 8; left -= 8, p += 8) {
                uint64_t m = load(p, 8);
                m = fold ? fold_letters(m) : m;
                v[3] ^= m;
                sip_round(v);
                sip_round(v);
                v[0] ^= m;
        }
        uint64_t m = load(p, left);
        m = (fold ? fold_letters(m) : m) | (uint64_t)n << 56;
        v[3] ^= m;
        sip_round(v);
        sip_round(v);
        v[0] ^= m;
        v[2] ^= 0xff;
        for (int i = 0; i < 4; i++)
                sip_round(v);
        return v[0] ^ v[1] ^ v[2] ^ v[3];
}
