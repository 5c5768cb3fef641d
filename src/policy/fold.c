/* fold.c - see fold.h. Pure; called for every request that a refusal could be about, so ASCII is
 * done without the table. */
#include "policy/fold.h"

#include <stdint.h>
#include <string.h>

#include "policy/fold_table.h"

enum { RUNS_N = sizeof fold_runs / sizeof *fold_runs };
enum { LONGER_N = sizeof fold_longer / sizeof *fold_longer };

/* fold_point(s, n, &c): one code point of UTF-8; its length, or 0 when it is none. */
static size_t fold_point(const unsigned char *s, size_t n, uint32_t *c)
{
        size_t len = s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;
        if (len == 0 || s[0] >= 0xf5 || len > n)
                return 0;
        *c = s[0] & (0x7fU >> len);
        for (size_t i = 1; i < len; i++) {
                if ((s[i] & 0xc0) != 0x80)
                        return 0;
                *c = *c << 6 | (s[i] & 0x3fU);
        }
        bool is_overlong = (len == 3 && *c < 0x800) || (len == 4 && *c < 0x10000);
        return is_overlong ? 0 : len;
}

static size_t fold_put(uint32_t c, char *out)
{
        size_t more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        static const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};
        out[0] = (char)(first[more] | (c >> (6 * more)));
        for (size_t i = 1; i <= more; i++)
                out[i] = (char)(0x80 | ((c >> (6 * (more - i))) & 0x3f));
        return more + 1;
}

/* fold_one(c, to): what ${c} becomes; how many code points, SIZE_MAX when it stays. */
static size_t fold_one(uint32_t c, uint32_t *to)
{
        size_t low = 0, high = RUNS_N;
        while (low < high) {
                size_t mid = (low + high) / 2;
                if (fold_runs[mid].last < c)
                        low = mid + 1;
                else
                        high = mid;
        }
        if (low == RUNS_N || c < fold_runs[low].first)
                return SIZE_MAX;
        uint32_t past = c - fold_runs[low].first;
        if (past % fold_runs[low].step != 0)
                return SIZE_MAX;
        *to = fold_runs[low].to + past / fold_runs[low].step * fold_runs[low].gain;
        return *to != 0;
}

static const uint16_t *fold_many(uint32_t c)
{
        size_t low = 0, high = LONGER_N;
        while (low < high) {
                size_t mid = (low + high) / 2;
                if (fold_longer[mid].from < c)
                        low = mid + 1;
                else
                        high = mid;
        }
        return low < LONGER_N && fold_longer[low].from == c ? fold_longer[low].to : NULL;
}

static size_t fold_put_point(const char *s, size_t n, uint32_t c, char *out)
{
        uint32_t to = 0;
        size_t at = 0, got = fold_one(c, &to);
        if (got != SIZE_MAX)
                return got ? fold_put(to, out) : 0;
        const uint16_t *many = fold_many(c);
        for (size_t i = 0; many && i < 4 && many[i]; i++)
                at += fold_put(many[i], out + at);
        if (!many)
                memcpy(out, s, n);
        return many ? at : n;
}

size_t fold_text(const char *s, size_t n, char *out)
{
        size_t at = 0;
        for (size_t i = 0; i < n;) {
                unsigned char b = (unsigned char)s[i];
                uint32_t c = 0;
                size_t len = b < 0x80 ? 0 : fold_point((const unsigned char *)s + i, n - i, &c);
                if (len == 0) {
                        out[at++] = (char)(b >= 'A' && b <= 'Z' ? b | 32 : b);
                        i++;
                        continue;
                }
                at += fold_put_point(s + i, len, c, out + at);
                i += len;
        }
        return at;
}

bool fold_is_plain(const char *s, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if ((unsigned char)s[i] >= 0x80 || (s[i] >= 'A' && s[i] <= 'Z'))
                        return false;
        return true;
}
