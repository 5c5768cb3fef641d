/* text_diff.c - which lines of two texts differ: Myers' algorithm in linear space, on lines that
 * were numbered first. Called by print.c, by apply --hunks and by text_merge.
 *
 * Both texts may be hostile. Numbers are given by a hash with a secret seed, a step that goes
 * COST_MAX edits deep is split where it came furthest, and past WORK_MAX steps the rest counts as
 * replaced: the result is always right, only not always the shortest. Does no I/O. */
#include "workspace/text_diff.h"

#include "base/str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

enum { COST_SMALL = 1024, COST_LARGE = 256, SMALL_LINES = 40000 };
static const uint64_t WORK_MAX = 150000000;

/* One side: the numbers of those lines that occur on the other side too, where each of them stands
 * in the text, and what is changed. */
struct side {
        const struct text_lines *lines;
        uint32_t *ids; /* of all lines */
        bool *is_changed;
        uint32_t *kept;    /* numbers of the lines that take part */
        size_t *kept_line; /* and which lines they are */
        size_t kept_n;
};

struct diff {
        struct side a, b;
        int64_t *forward, *backward; /* how far each diagonal reaches; middle at cost_max + 1 */
        int64_t cost_max;
        uint64_t work;
};

static void *get(size_t n, size_t size)
{
        void *p = calloc(n ? n : 1, size);
        if (!p)
                str_no_memory();
        return p;
}

/* --- numbering ------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t a, uint64_t b)
{
        __uint128_t p = (__uint128_t)a * b;
        return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* hash(p, n, seed): nobody outside knows the seed, so nobody can make lines collide on purpose. */
static uint64_t hash(const char *p, size_t n, const uint64_t seed[2])
{
        uint64_t h = seed[0] ^ n, w;
        for (; n >= 8; n -= 8, p += 8) {
                memcpy(&w, p, 8);
                h = mix(h ^ w, seed[1]);
        }
        w = 0;
        memcpy(&w, p, n);
        return mix(h ^ w, seed[1] ^ 0x9e3779b97f4a7c15u);
}

struct slot {
        uint32_t id; /* from 1; 0: free */
        uint32_t tag;
        const char *line;
        size_t len;
};
struct table {
        struct slot *v;
        size_t mask;
        uint32_t ids_n;
        uint64_t seed[2];
};

static uint32_t number(struct table *t, const char *line, size_t len)
{
        uint64_t h = hash(line, len, t->seed);
        uint32_t tag = (uint32_t)(h >> 32);
        for (size_t i = h & t->mask;; i = (i + 1) & t->mask) {
                struct slot *s = &t->v[i];
                if (s->id == 0) {
                        *s = (struct slot){++t->ids_n, tag, line, len};
                        return s->id;
                }
                if (s->tag == tag && s->len == len && memcmp(s->line, line, len) == 0)
                        return s->id;
        }
}

static void number_side(struct side *s, struct table *t)
{
        const struct text_lines *l = s->lines;
        s->ids = get(l->n, sizeof *s->ids);
        s->is_changed = get(l->n, sizeof *s->is_changed);
        for (size_t i = 0; i < l->n; i++)
                s->ids[i] = number(t, l->data + l->at[i], l->at[i + 1] - l->at[i]);
}

static void number_lines(struct diff *d)
{
        struct table t = {.seed = {0x2545f4914f6cdd1du, 0xda942042e4dd58b5u}};
        unsigned long random = getauxval(AT_RANDOM);
        if (random) {
                memcpy(t.seed, (const void *)random,
                       sizeof t.seed); // NOLINT(performance-no-int-to-ptr)
                t.seed[1] |= 1;
        }
        size_t want = (d->a.lines->n + d->b.lines->n) * 2, slots = 64;
        while (slots < want)
                slots *= 2;
        t.v = get(slots, sizeof *t.v);
        t.mask = slots - 1;
        number_side(&d->a, &t);
        number_side(&d->b, &t);
        free(t.v);

        /* A line that the other side has nowhere cannot be common: it needs no search. */
        uint8_t *where = get((size_t)t.ids_n + 1, 1);
        for (size_t i = 0; i < d->a.lines->n; i++)
                where[d->a.ids[i]] |= 1;
        for (size_t i = 0; i < d->b.lines->n; i++)
                where[d->b.ids[i]] |= 2;
        struct side *sides[] = {&d->a, &d->b};
        for (size_t k = 0; k < 2; k++) {
                struct side *s = sides[k];
                s->kept = get(s->lines->n, sizeof *s->kept);
                s->kept_line = get(s->lines->n, sizeof *s->kept_line);
                for (size_t i = 0; i < s->lines->n; i++) {
                        if (where[s->ids[i]] != 3) {
                                s->is_changed[i] = true;
                                continue;
                        }
                        s->kept[s->kept_n] = s->ids[i];
                        s->kept_line[s->kept_n++] = i;
                }
        }
        free(where);
}

/* --- the search ------------------------------------------------------------------------------ */

/* A part of both: lines [a0, a1) and [b0, b1) of those that take part. */
struct part {
        int64_t a0, a1, b0, b1;
};

static void mark(struct side *s, int64_t from, int64_t to)
{
        for (int64_t i = from; i < to; i++)
                s->is_changed[s->kept_line[i]] = true;
}

/* step(reach, k, cost, n, m): how far one more edit gets on diagonal ${k}, or -1: from the diagonal
 * beside it by leaving out a line of the one side or of the other. */
static int64_t step(const int64_t *reach, int64_t k, int64_t cost, int64_t n, int64_t m)
{
        if (cost == 0)
                return 0;
        int64_t x = -1;
        if (k - 1 >= -m && k - 1 >= 1 - cost && reach[k - 1] >= 0 && reach[k - 1] < n)
                x = reach[k - 1] + 1;
        if (k + 1 <= n && k + 1 <= cost - 1 && reach[k + 1] > x && reach[k + 1] - k <= m)
                x = reach[k + 1];
        return x;
}

/* lowest(cost, m), highest(cost, n): the diagonals that exist, with the parity of the cost. */
static int64_t lowest(int64_t cost, int64_t m)
{
        return cost <= m ? -cost : -m + ((cost - m) & 1);
}
static int64_t highest(int64_t cost, int64_t n)
{
        return cost <= n ? cost : n - ((cost - n) & 1);
}

/* furthest(reach, cost, n, m, at): the point with the most lines behind it; returns how many. */
static int64_t furthest(const int64_t *reach, int64_t cost, int64_t n, int64_t m, int64_t *at)
{
        int64_t best = -1;
        for (int64_t k = lowest(cost, m); k <= highest(cost, n); k += 2) {
                if (reach[k] >= 0 && 2 * reach[k] - k > best) {
                        best = 2 * reach[k] - k;
                        *at = k;
                }
        }
        return best;
}

/* split(d, p, x, y): a point on a shortest way through ${p}, whose ends differ. 0: exactly in the
 * middle; 1: the search was given up, and up to there (2: from there on) the way is short. */
static int split(struct diff *d, const struct part *p, int64_t *x, int64_t *y)
{
        const int64_t n = p->a1 - p->a0, m = p->b1 - p->b0, delta = n - m;
        const uint32_t *a = d->a.kept + p->a0, *b = d->b.kept + p->b0;
        int64_t *f = d->forward + d->cost_max + 1, *r = d->backward + d->cost_max + 1;

        for (int64_t cost = 0; cost <= d->cost_max; cost++) {
                for (int64_t k = lowest(cost, m); k <= highest(cost, n); k += 2) {
                        int64_t i = step(f, k, cost, n, m), from = i;
                        if (i >= 0)
                                while (i < n && i - k < m && a[i] == b[i - k])
                                        i++;
                        f[k] = i;
                        d->work += (uint64_t)(i - from) + 1;
                        int64_t other = delta - k;
                        if (i >= 0 && (delta & 1) && other >= lowest(cost - 1, m) &&
                            other <= highest(cost - 1, n) && cost > 0 && r[other] >= 0 &&
                            i + r[other] >= n) {
                                *x = i;
                                *y = i - k;
                                return 0;
                        }
                }
                for (int64_t k = lowest(cost, m); k <= highest(cost, n); k += 2) {
                        int64_t i = step(r, k, cost, n, m), from = i;
                        if (i >= 0)
                                while (i < n && i - k < m && a[n - 1 - i] == b[m - 1 - i + k])
                                        i++;
                        r[k] = i;
                        d->work += (uint64_t)(i - from) + 1;
                        int64_t other = delta - k;
                        if (i >= 0 && !(delta & 1) && other >= lowest(cost, m) &&
                            other <= highest(cost, n) && f[other] >= 0 && i + f[other] >= n) {
                                *x = n - i;
                                *y = m - (i - k);
                                return 0;
                        }
                }
        }
        int64_t fk = 0, rk = 0;
        int64_t ahead = furthest(f, d->cost_max, n, m, &fk);
        int64_t behind = furthest(r, d->cost_max, n, m, &rk);
        if (ahead >= behind) {
                *x = f[fk];
                *y = f[fk] - fk;
                return 1;
        }
        *x = n - r[rk];
        *y = m - (r[rk] - rk);
        return 2;
}

/* compare(d, p): mark what differs in a part. Recurses into the half that is known to be short, or
 * into the first of two equal ones, and goes on with the other: the depth stays logarithmic. */
static void compare(struct diff *d, struct part p) // NOLINT(misc-no-recursion)
{
        for (;;) {
                while (p.a0 < p.a1 && p.b0 < p.b1 && d->a.kept[p.a0] == d->b.kept[p.b0])
                        p.a0++, p.b0++;
                while (p.a0 < p.a1 && p.b0 < p.b1 && d->a.kept[p.a1 - 1] == d->b.kept[p.b1 - 1])
                        p.a1--, p.b1--;
                if (p.a0 == p.a1 || p.b0 == p.b1 || d->work > WORK_MAX) {
                        mark(&d->a, p.a0, p.a1);
                        mark(&d->b, p.b0, p.b1);
                        return;
                }
                int64_t x = 0, y = 0;
                int how = split(d, &p, &x, &y);
                struct part first = {p.a0, p.a0 + x, p.b0, p.b0 + y};
                struct part second = {p.a0 + x, p.a1, p.b0 + y, p.b1};
                compare(d, how == 2 ? second : first);
                p = how == 2 ? first : second;
        }
}

/* --- the result ------------------------------------------------------------------------------ */

/* slide(s, other): a block of lines that were only added or only removed can often be
 * moved down by its own content; it then ends where a reader expects it, at the end of a paragraph.
 */
static void slide(struct side *s, const struct side *other)
{
        size_t n = s->lines->n, j = 0;
        for (size_t i = 0; i < n;) {
                if (!s->is_changed[i]) {
                        /* the line of the other side that goes with it */
                        while (other->is_changed[j])
                                j++;
                        i++;
                        j++;
                        continue;
                }
                size_t start = i, end = i;
                while (end < n && s->is_changed[end])
                        end++;
                bool is_alone = j >= other->lines->n || !other->is_changed[j];
                while (is_alone && end < n && s->ids[start] == s->ids[end]) {
                        s->is_changed[start++] = false;
                        s->is_changed[end++] = true;
                        j++;
                        /* It met the next block, on this side or on the other. */
                        if (j < other->lines->n && other->is_changed[j])
                                break;
                        while (end < n && s->is_changed[end])
                                end++;
                }
                i = end;
        }
}

static void add_edit(struct text_edits *e, size_t *cap, struct text_edit one)
{
        if (e->n == *cap) {
                *cap = *cap ? *cap * 2 : 16;
                struct text_edit *v = reallocarray(e->v, *cap, sizeof *v);
                if (!v)
                        str_no_memory();
                e->v = v;
        }
        e->v[e->n++] = one;
}

static void edits_of(const struct diff *d, struct text_edits *out)
{
        size_t i = 0, j = 0, cap = 0, a_n = d->a.lines->n, b_n = d->b.lines->n;
        while (i < a_n || j < b_n) {
                struct text_edit e = {.a = i, .b = j};
                while (i < a_n && d->a.is_changed[i])
                        i++;
                while (j < b_n && d->b.is_changed[j])
                        j++;
                e.a_n = i - e.a;
                e.b_n = j - e.b;
                if (e.a_n || e.b_n)
                        add_edit(out, &cap, e);
                if (i < a_n)
                        i++, j++;
        }
}

static void side_free(struct side *s)
{
        free(s->ids);
        free(s->is_changed);
        free(s->kept);
        free(s->kept_line);
}

void text_diff(const struct text_lines *a, const struct text_lines *b, struct text_edits *out)
{
        *out = (struct text_edits){0};
        struct diff d = {.a.lines = a, .b.lines = b};
        number_lines(&d);
        d.cost_max = a->n + b->n <= SMALL_LINES ? COST_SMALL : COST_LARGE;
        size_t room = (size_t)(2 * d.cost_max + 3);
        d.forward = get(room, sizeof *d.forward);
        d.backward = get(room, sizeof *d.backward);
        compare(&d, (struct part){0, (int64_t)d.a.kept_n, 0, (int64_t)d.b.kept_n});
        slide(&d.a, &d.b);
        slide(&d.b, &d.a);
        edits_of(&d, out);
        free(d.forward);
        free(d.backward);
        side_free(&d.a);
        side_free(&d.b);
}

void text_edits_free(struct text_edits *e)
{
        free(e->v);
        *e = (struct text_edits){0};
}
