/* scan_find.c - where writings end in some bytes, and which of the last bytes may be the beginning of
 * one. See scan_int.h. The inner loop of everything that comes back to the box: at each position
 * 16 bits of the last 8 bytes are looked up in a table that stays in the nearest cache; only then
 * are the hashes asked, which cannot be guessed from outside. Pure. */
#include "egress/scan_int.h"

#include <string.h>

/* is_here(s, w): is it looked for where these bytes come from? */
static bool is_here(const struct scan_set *s, const struct scan_writing *w)
{
        return !w->is_local || (s->may && s->may(s->ctx, w->tag));
}

/* check(...): ask the hashes about the bytes before ${end}. False when no writing at all ends in
 * these 8 bytes, wherever they stand. */
static bool check(const struct scan_set *set, const uint8_t *p, size_t end, uint16_t hint,
                  scan_found *fn, void *ctx)
{
        const struct scan_table *s = set->table;
        uint64_t tail =
                secret_siphash(s->key, p + end - SECRET_HINT_BYTES, SECRET_HINT_BYTES, true);
        bool is_tail = false;
        for (uint32_t i = s->by_hint[hint >> 4]; i; i = s->writings[i - 1].next_hint) {
                const struct scan_writing *w = &s->writings[i - 1];
                if (w->hint != hint || w->tail != tail)
                        continue;
                is_tail = true;
                if (w->len <= end &&
                    w->whole == secret_siphash(s->key, p + end - w->len, w->len, w->is_folded) &&
                    is_here(set, w))
                        fn(ctx, i - 1, end - w->len, end);
        }
        return is_tail;
}

/* quick(s, p): the lowest bit is set when a writing may end in these 8 bytes. */
static inline uint64_t quick(const struct scan_table *s, const uint8_t *p)
{
        uint16_t hint = secret_finger_hint(p);
        return s->hints[hint >> 6] >> (hint & 63);
}

void scan_find(const struct scan_set *set, const uint8_t *p, size_t n, scan_found *fn, void *ctx)
{
        const struct scan_table *s = set->table;
        uint64_t missed = 0; /* runs of the same bytes are asked about once */
        bool has_missed = false;
        for (size_t i = 0; i + SECRET_HINT_BYTES <= n; i++) {
                /* Four at once as long as there is nothing. */
                while (i + SECRET_HINT_BYTES + 3 <= n &&
                       !((quick(s, p + i) | quick(s, p + i + 1) | quick(s, p + i + 2) |
                          quick(s, p + i + 3)) &
                         1))
                        i += 4;
                if (i + SECRET_HINT_BYTES > n)
                        break;
                uint16_t hint = secret_finger_hint(p + i);
                if (!(s->hints[hint >> 6] >> (hint & 63) & 1))
                        continue;
                uint64_t v;
                memcpy(&v, p + i, sizeof v);
                if (has_missed && v == missed)
                        continue;
                if (!check(set, p, i + SECRET_HINT_BYTES, hint, fn, ctx)) {
                        has_missed = true;
                        missed = v;
                }
        }
}

bool scan_is_clean(const struct scan_set *set, const void *bytes, size_t n)
{
        const struct scan_table *s = set->table;
        const uint8_t *p = bytes;
        for (size_t i = 0; i + SECRET_HINT_BYTES <= n; i++)
                if (quick(s, p + i) & 1)
                        return false;
        /* Escapes hide more than the quick look sees. */
        return n < SECRET_HINT_BYTES ||
               (!memchr(p, '%', n) && !memchr(p, '\\', n) && !memchr(p, '&', n));
}

/* may_begin(s, p, left, codings): do the first four of these bytes begin a writing that is longer? */
static bool may_begin(const struct scan_table *s, const uint8_t *p, size_t left, uint32_t codings)
{
        unsigned pair = (unsigned)(p[0] | 0x20) << 8 | (p[1] | 0x20);
        if (!(s->pairs[pair >> 6] >> (pair & 63) & 1))
                return false;
        for (uint32_t i = s->by_first[p[0] | 0x20]; i; i = s->writings[i - 1].next_first) {
                const struct scan_writing *w = &s->writings[i - 1];
                if (w->len <= left || !(codings >> w->coding & 1))
                        continue;
                size_t k = 0, most = left < sizeof w->first ? left : sizeof w->first;
                while (k < most &&
                       (w->first[k] == p[k] || (w->is_folded && p[k] >= 'A' && p[k] <= 'Z' &&
                                                w->first[k] == (p[k] | 0x20))))
                        k++;
                if (k == most)
                        return true;
        }
        return false;
}

size_t scan_live(const struct scan_set *set, const uint8_t *p, size_t n, bool *is_strong)
{
        const struct scan_table *s = set->table;
        size_t live = n, reach = n + 1 > s->longest ? n + 1 - s->longest : 0;
        uint32_t codings = UINT32_MAX;
        if (s->writings_n == 0)
                return n;
        /* Backwards: ${codings} are those to which all bytes from here to the end belong. */
        for (size_t i = n; i-- > reach && (codings &= s->alphabet[p[i]]);)
                if (s->is_secret || n - i <= SCAN_FEW || may_begin(s, p + i, n - i, codings))
                        live = i;
        *is_strong |= n - live > SCAN_FEW;
        return live;
}
