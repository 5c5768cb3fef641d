/* secret_shape_find.c - looking for keys in any text: the planner, before a box sees a workspace.
 * See secret_shape.h. Pure; it must never say that a key is there because of its letters alone:
 * only prefixes that nothing else has count. */
#include "policy/secret_shape.h"
#include "policy/secret_shape_int.h"

#include <string.h>

/* So many letters are looked at, lest a hostile file make the search slow. */
enum { HEAD_MAX = 512, CLAIMS_MAX = 16 << 10, SIGN_MAX = 4096, KEY_LOOK = 128, KEY_MAX = 4096 };

static size_t least(size_t a, size_t b)
{
        return a < b ? a : b;
}

size_t shape_telegram(const char *p, size_t n)
{
        size_t d = 0;
        while (d < n && d < 13 && p[d] >= '0' && p[d] <= '9')
                d++;
        if (d < 6 || d > 12 || d >= n || p[d] != ':')
                return 0;
        size_t tail = shape_span(p + d + 1, least(n - d - 1, 36), SHAPE_URL);
        return tail == 35 ? d + 1 + tail : 0;
}

bool shape_jwt_take(const char *p, size_t n, struct shape_jwt *j)
{
        if (n < 3 || memcmp(p, "eyJ", 3) != 0)
                return false;
        j->head = shape_span(p, least(n, HEAD_MAX), SHAPE_URL);
        if (j->head < 12 || j->head + 4 > n || memcmp(p + j->head, ".eyJ", 4) != 0)
                return false;
        p += j->head + 1;
        n -= j->head + 1;
        j->claims = shape_span(p, least(n, CLAIMS_MAX), SHAPE_URL);
        if (j->claims < 10 || j->claims + 1 > n || p[j->claims] != '.')
                return false;
        p += j->claims + 1;
        n -= j->claims + 1;
        j->sign = shape_span(p, least(n, SIGN_MAX), SHAPE_URL);
        return j->sign >= 16 && j->head % 4 != 1 && j->claims % 4 != 1 && j->sign % 4 != 1 &&
               (j->sign == n || p[j->sign] != '.');
}

size_t shape_jwt_len(const struct shape_jwt *j)
{
        return j->head + 1 + j->claims + 1 + j->sign;
}

/* looks_drawn(p, n): words of people have no digits, what is drawn at random has some. */
static bool looks_drawn(const char *p, size_t n)
{
        size_t digits = 0;
        for (size_t i = 0; i < n; i++)
                digits += p[i] >= '0' && p[i] <= '9';
        return digits >= 2;
}

/* fits_at(s, k, p, n): the length of a key of this shape, whose ${k} letters of prefix are at ${p};
 * 0 when it is none. */
static size_t fits_at(const struct shape *s, size_t k, const char *p, size_t n)
{
        p += k;
        n -= k;
        if (s->most) {
                size_t len = shape_span(p, least(n, s->most + 1u), s->letters);
                return len >= s->least && len <= s->most ? k + len : 0;
        }
        size_t len = shape_span(p, least(n, KEY_LOOK), s->letters);
        if (len < s->least || !looks_drawn(p, len))
                return 0;
        len = shape_span(p, least(n, KEY_MAX), s->letters);
        while (len > s->least && p[len - 1] == '.')
                len--; /* the end of a sentence is not the end of a key */
        return k + len;
}

/* found_at(p, n): the length of what begins at ${p}, 0 when it is nothing. */
static size_t found_at(const char *p, size_t n)
{
        struct shape_jwt j;
        if (*p == 'e' && shape_jwt_take(p, n, &j))
                return shape_jwt_len(&j);
        if (*p >= '0' && *p <= '9')
                return shape_telegram(p, n);
        for (size_t i = 0; secret_shapes[i].prefix; i++) {
                const struct shape *s = &secret_shapes[i];
                if (*p != s->prefix[0])
                        continue;
                size_t k = strlen(s->prefix);
                if (n < k || memcmp(p, s->prefix, k) != 0)
                        continue;
                size_t len = fits_at(s, k, p, n);
                return len == n || len >= KEY_MAX || !shape_is_alnum(p[len]) ? len : 0;
        }
        return 0;
}

/* The first two letters of everything that is looked for, one bit each. */
struct pairs {
        uint8_t bits[65536 / 8];
};

static size_t pair_of(const char *p)
{
        return (size_t)(unsigned char)p[0] << 8 | (unsigned char)p[1];
}

static void pairs_add(struct pairs *s, const char *two)
{
        s->bits[pair_of(two) / 8] |= (uint8_t)(1u << pair_of(two) % 8);
}

static void pairs_fill(struct pairs *s)
{
        for (size_t i = 0; secret_shapes[i].prefix; i++)
                pairs_add(s, secret_shapes[i].prefix);
        for (size_t i = 0; i < 100; i++)
                pairs_add(s, (char[2]){DIGITS[i / 10], DIGITS[i % 10]});
        pairs_add(s, "ey");
}

size_t secret_shape_find(const char *text, size_t n, size_t from, size_t *len)
{
        static struct pairs pairs; /* made once: each string of some answers is looked at */
        static bool is_filled;
        if (!is_filled)
                pairs_fill(&pairs);
        is_filled = true;
        for (size_t i = from; i + 1 < n; i++) {
                size_t two = pair_of(text + i);
                if (!(pairs.bits[two / 8] >> two % 8 & 1) || (i && shape_is_alnum(text[i - 1])))
                        continue;
                *len = found_at(text + i, n - i);
                if (*len)
                        return i;
        }
        *len = 0;
        return n;
}
