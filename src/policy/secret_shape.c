/* secret_shape.c - see secret_shape.h. The keeper makes placeholders here, the planner looks for
 * keys in files. Pure; it must never let more of a value into its stand-in than the prefix that
 * every key of that provider has. */
#include "policy/secret_shape.h"

#include "base/buf.h"
#include "policy/secret_shape_int.h"

#include <string.h>

/* shape_of(value, n): whose prefix it has, with nothing behind it that does not belong there. */
static const struct shape *shape_of(const char *value, size_t n)
{
        for (size_t i = 0; secret_shapes[i].prefix; i++) {
                size_t k = strlen(secret_shapes[i].prefix);
                if (n < k + 8 || memcmp(value, secret_shapes[i].prefix, k) != 0)
                        continue;
                if (shape_span(value + k, n - k, secret_shapes[i].letters) != n - k)
                        continue;
                /* four letters that any word may begin with want their exact length */
                if (secret_shapes[i].most && k <= 4 && !strpbrk(secret_shapes[i].prefix, "_-.") &&
                    (n - k < secret_shapes[i].least || n - k > secret_shapes[i].most))
                        continue;
                return &secret_shapes[i];
        }
        return NULL;
}

const char *secret_shape_name(const char *value, size_t n)
{
        struct shape_jwt j;
        if (shape_jwt_take(value, n, &j) && shape_jwt_len(&j) == n)
                return "jwt";
        if (shape_telegram(value, n) == n && n)
                return "telegram";
        const struct shape *s = shape_of(value, n);
        return s ? s->name : NULL;
}

/* --- stand-ins -------------------------------------------------------------------------------- */

static uint32_t crc32_of(const uint8_t *p, size_t n)
{
        uint32_t c = ~(uint32_t)0;
        for (size_t i = 0; i < n; i++) {
                c ^= p[i];
                for (int k = 0; k < 8; k++)
                        c = c >> 1 ^ (0xedb88320u & (0u - (c & 1)));
        }
        return ~c;
}

/* put_crc(p, n): the last six of ${n} letters are the CRC of those before, in base 62. */
static void put_crc(uint8_t *p, size_t n)
{
        uint32_t c = crc32_of(p, n - 6);
        for (size_t i = 0; i < 6; i++, c /= 62)
                p[n - 1 - i] = (uint8_t)ALNUM[c % 62];
}

static bool consists_of(const char *p, size_t n, const char *set)
{
        for (size_t i = 0; i < n; i++)
                if (shape_is_alnum(p[i]) && !strchr(set, p[i]))
                        return false;
        return true;
}

/* alphabet_of(p, n): the narrowest usual one that all letters and digits belong to. */
static const char *alphabet_of(const char *p, size_t n)
{
        static const char *const sets[] = {DIGITS,       HEX,          DIGITS "ABCDEF",
                                           DIGITS SMALL, DIGITS LARGE, ALNUM};
        size_t i = 0;
        while (!consists_of(p, n, sets[i]))
                i++;
        return sets[i];
}

/* draw(p, n, set, random, out): how many were drawn. */
static size_t draw(const char *p, size_t n, const char *set, const uint8_t *random, struct buf *out)
{
        size_t drawn = 0, size = strlen(set);
        for (size_t i = 0; i < n; i++) {
                bool is_free = shape_is_alnum(p[i]);
                buf_put_u8(out, is_free ? (uint8_t)set[random[i] % size] : (uint8_t)p[i]);
                drawn += is_free;
        }
        return drawn;
}

static void put_base64url(const uint8_t *p, size_t n, struct buf *out)
{
        static const char set[] = LARGE SMALL DIGITS "-_";
        uint32_t acc = 0;
        unsigned have = 0;
        for (size_t i = 0; i < n; i++) {
                acc = (acc << 8 | p[i]) & 0xffff;
                for (have += 8; have >= 6;) {
                        have -= 6;
                        buf_put_u8(out, (uint8_t)set[acc >> have & 63]);
                }
        }
        if (have)
                buf_put_u8(out, (uint8_t)set[acc << (6 - have) & 63]);
}

/* put_claims(n, random, out): ${n} letters of an object that says nothing but that it is valid for
 * long, because clients look at that before they ask a server. */
static void put_claims(size_t n, const uint8_t *random, struct buf *out)
{
        static const char full[] = "{\"exp\":4102444800,\"jti\":\"";
        size_t len = n * 6 / 8;
        bool is_full = len >= sizeof full + 2;
        const char *tail = is_full ? "\"}" : "\":1}";
        _cleanup_buf_ struct buf b = {0};
        buf_put_str(&b, is_full ? full : "{\"j"); /* a letter, or it would not begin with eyJ */
        for (size_t i = 0; b.len + strlen(tail) < len; i++)
                buf_put_u8(&b, (uint8_t)ALNUM[random[i] % 62]);
        buf_put_str(&b, tail);
        put_base64url(b.data, b.len, out);
}

static void put_jwt(const char *value, const struct shape_jwt *j, const uint8_t *random,
                    struct buf *out)
{
        buf_put(out, value, j->head + 1); /* names an algorithm and a key, both public */
        put_claims(j->claims, random + j->head + 1, out);
        buf_put_u8(out, '.');
        put_base64url(random + j->head + j->claims + 2, j->sign * 6 / 8, out);
}

int secret_shape_stand_in(const char *value, size_t n, const uint8_t *random, size_t random_n,
                          struct buf *out)
{
        struct shape_jwt j;
        size_t at = out->len;
        if (random_n < n)
                return -1;
        if (shape_jwt_take(value, n, &j) && shape_jwt_len(&j) == n) {
                put_jwt(value, &j, random, out);
                return out->is_broken || out->len - at != n ? -1 : 0;
        }
        const struct shape *s = shape_of(value, n);
        size_t keep = s ? strlen(s->prefix) : 0, drawn = 0;
        const char *set = s ? shape_draw(s->letters) : alphabet_of(value, n);
        buf_put(out, value, keep);
        if (n && shape_telegram(value, n) == n) {
                keep = (size_t)((const char *)memchr(value, ':', n) - value);
                drawn = draw(value, keep, DIGITS, random, out);
        }
        drawn += draw(value + keep, n - keep, set, random + keep, out);
        if (drawn < 8 || (drawn < 12 && strlen(set) == 10) || out->is_broken) {
                out->len = at;
                return -1;
        }
        if (s && s->has_crc && n - keep >= s->least && n - keep <= s->most)
                put_crc(out->data + at + keep, n - keep);
        return 0;
}
