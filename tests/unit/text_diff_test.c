/* text_diff_test.c - lines that differ: shortest on small texts (against a table of all common
 * subsequences), right on all, linear on hostile ones; hunks, and a text with only some of them. */
#include "unit/check.h"

#include "base/buf.h"
#include "workspace/text_diff.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 0x9e3779b97f4a7c15u;
static unsigned dice(unsigned n)
{
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        return (unsigned)((seed >> 11) % n);
}

/* A random text: few different lines, so that much is common and much repeats. */
static void text(struct buf *b, unsigned lines, unsigned letters)
{
        for (unsigned i = 0; i < lines; i++) {
                buf_put_u8(b, (uint8_t)('a' + dice(letters)));
                if (i + 1 < lines || dice(4))
                        buf_put_u8(b, '\n');
        }
}

static size_t line_len(const struct text_lines *l, size_t i)
{
        return l->at[i + 1] - l->at[i];
}

static bool is_same(const struct text_lines *a, size_t i, const struct text_lines *b, size_t j)
{
        return line_len(a, i) == line_len(b, j) &&
               memcmp(a->data + a->at[i], b->data + b->at[j], line_len(a, i)) == 0;
}

/* The longest common subsequence by the table. */
static size_t longest(const struct text_lines *a, const struct text_lines *b)
{
        size_t(*t)[64] = calloc(64, sizeof *t), best;
        for (size_t i = 1; i <= a->n; i++)
                for (size_t j = 1; j <= b->n; j++)
                        t[i][j] = is_same(a, i - 1, b, j - 1) ? t[i - 1][j - 1] + 1
                                  : t[i - 1][j] > t[i][j - 1] ? t[i - 1][j]
                                                              : t[i][j - 1];
        best = t[a->n][b->n];
        free(t);
        return best;
}

/* Do the edits, applied, make ${b} of ${a}, with every other line common, in order, and two edits
 * never touching? */
static bool is_right(const struct text_lines *a, const struct text_lines *b,
                     const struct text_edits *e, size_t *changed)
{
        size_t i = 0, j = 0;
        *changed = 0;
        for (size_t k = 0; k < e->n; k++) {
                const struct text_edit *one = &e->v[k];
                if (one->a < i || one->b < j || one->a - i != one->b - j ||
                    (k && one->a == i && one->b == j) || (!one->a_n && !one->b_n))
                        return false;
                for (; i < one->a; i++, j++)
                        if (!is_same(a, i, b, j))
                                return false;
                i += one->a_n;
                j += one->b_n;
                *changed += one->a_n + one->b_n;
        }
        if (a->n - i != b->n - j)
                return false;
        for (; i < a->n; i++, j++)
                if (!is_same(a, i, b, j))
                        return false;
        return true;
}

static bool hunks_are_right(const struct text_lines *a, const struct text_lines *b,
                            const struct text_edits *e, size_t context)
{
        struct text_hunks h;
        text_hunks_of(e, a->n, b->n, context, &h);
        bool is_good = true, *all = calloc(h.n + 1, 1), *none = calloc(h.n + 1, 1);
        size_t edits_n = 0, end = 0;
        for (size_t i = 0; i < h.n; i++) {
                const struct text_hunk *k = &h.v[i];
                all[i] = true;
                is_good &= k->first == edits_n && k->n > 0 && k->a >= end;
                is_good &= k->a + k->a_n <= a->n && k->b + k->b_n <= b->n;
                /* exactly ${context} lines around, unless the text begins or ends */
                const struct text_edit *f = &e->v[k->first], *l = &e->v[k->first + k->n - 1];
                is_good &= f->a - k->a == (f->a < context ? f->a : context);
                size_t rest = a->n - (l->a + l->a_n);
                is_good &= k->a + k->a_n - (l->a + l->a_n) == (rest < context ? rest : context);
                edits_n += k->n;
                end = k->a + k->a_n;
        }
        is_good &= edits_n == e->n;
        struct buf whole = {0}, nothing = {0};
        text_take(a, b, e, &h, all, &whole);
        text_take(a, b, e, &h, none, &nothing);
        is_good &= whole.len == b->len && (!b->len || !memcmp(whole.data, b->data, b->len));
        is_good &= nothing.len == a->len && (!a->len || !memcmp(nothing.data, a->data, a->len));
        /* Each hunk alone, then what is left against the result: together they are everything. */
        for (size_t i = 0; i < h.n; i++) {
                none[i] = true;
                struct buf some = {0};
                text_take(a, b, e, &h, none, &some);
                long want = (long)a->len;
                for (size_t k = h.v[i].first; k < h.v[i].first + h.v[i].n; k++) {
                        const struct text_edit *one = &e->v[k];
                        want -= (long)(a->at[one->a + one->a_n] - a->at[one->a]);
                        want += (long)(b->at[one->b + one->b_n] - b->at[one->b]);
                }
                is_good &= (long)some.len == want;
                none[i] = false;
                buf_free(&some);
        }
        buf_free(&whole);
        buf_free(&nothing);
        free(all);
        free(none);
        text_hunks_free(&h);
        return is_good;
}

static void small(void)
{
        enum { ROUNDS = 20000 };
        unsigned wrong = 0, longer = 0, hunks = 0;
        for (unsigned r = 0; r < ROUNDS; r++) {
                struct buf x = {0}, y = {0};
                unsigned letters = 1 + dice(6);
                text(&x, dice(24), letters);
                text(&y, dice(24), letters);
                struct text_lines a, b;
                text_lines_of(&a, (char *)x.data, x.len);
                text_lines_of(&b, (char *)y.data, y.len);
                struct text_edits e;
                text_diff(&a, &b, &e);
                size_t changed;
                if (!is_right(&a, &b, &e, &changed))
                        wrong++;
                else if (changed != a.n + b.n - 2 * longest(&a, &b))
                        longer++;
                hunks += !hunks_are_right(&a, &b, &e, dice(4));
                text_edits_free(&e);
                text_lines_free(&a);
                text_lines_free(&b);
                buf_free(&x);
                buf_free(&y);
        }
        check(wrong == 0, "edits make the second text of the first", "%u of %d do not", wrong,
              ROUNDS);
        check(longer == 0, "no shorter edit exists for small texts", "%u of %d are longer", longer,
              ROUNDS);
        check(hunks == 0, "hunks hold each edit once and can be taken one by one", "%u of %d wrong",
              hunks, ROUNDS);
}

/* One large pair, judged and counted. */
static bool large(const char *x, size_t x_len, const char *y, size_t y_len)
{
        struct text_lines a, b;
        text_lines_of(&a, x, x_len);
        text_lines_of(&b, y, y_len);
        struct text_edits e;
        text_diff(&a, &b, &e);
        size_t changed;
        bool is_good = is_right(&a, &b, &e, &changed);
        text_edits_free(&e);
        text_lines_free(&a);
        text_lines_free(&b);
        return is_good;
}

static void hostile(void)
{
        enum { LEN = 2 << 20 };
        char *x = malloc(LEN), *y = malloc(LEN);
        for (size_t i = 0; i < LEN; i += 2) {
                x[i] = (char)('0' + dice(2));
                y[i] = (char)('0' + dice(2));
                x[i + 1] = y[i + 1] = '\n';
        }
        CHECK("a million lines of two kinds", large(x, LEN, y, LEN));
        for (size_t i = 0; i < LEN; i += 2) {
                x[i] = (char)('0' + (i / 2) % 7);
                y[i] = (char)('0' + (LEN - i) / 2 % 5);
        }
        CHECK("two periods", large(x, LEN, y, LEN));
        memset(x, '\n', LEN);
        memset(y, '\n', LEN);
        CHECK("nothing but newlines", large(x, LEN, y, LEN / 2));
        CHECK("everything gone", large(x, LEN, y, 0));
        CHECK("everything new", large(x, 0, y, LEN));
        memset(x, 'x', LEN);
        CHECK("one line of two million bytes", large(x, LEN, x, LEN - 1));
        free(x);
        free(y);
}

static void lines(void)
{
        struct text_lines l;
        text_lines_of(&l, "", 0);
        CHECK("no bytes, no lines", l.n == 0 && !l.lacks_newline && l.at[0] == 0);
        text_lines_free(&l);
        text_lines_of(&l, "a\r\n\nb", 5);
        CHECK("carriage returns belong to the line", l.n == 3 && l.at[1] == 3 && l.at[2] == 4);
        CHECK("the last has no newline", l.lacks_newline && l.at[3] == 5);
        text_lines_free(&l);
        char page[9000];
        memset(page, 'a', sizeof page);
        CHECK("text", !text_is_binary(page, sizeof page));
        page[8000] = 0;
        CHECK("a NUL beyond 8000 bytes is not looked for", !text_is_binary(page, sizeof page));
        page[7999] = 0;
        CHECK("a NUL within is binary", text_is_binary(page, sizeof page));
        CHECK("nothing is text", !text_is_binary(page, 0));
}

/* Where a block that was added may begin, it begins as low as it can, as readers of diffs know. */
static void slides(void)
{
        static const char x[] = "a\n}\n\nc\n}\n", y[] = "a\n}\n\nb\n}\n\nc\n}\n";
        struct text_lines a, b;
        text_lines_of(&a, x, sizeof x - 1);
        text_lines_of(&b, y, sizeof y - 1);
        struct text_edits e;
        text_diff(&a, &b, &e);
        CHECK("a function that was added is one block of whole lines",
              e.n == 1 && e.v[0].a_n == 0 && e.v[0].b == 3 && e.v[0].b_n == 3);
        text_edits_free(&e);
        text_lines_free(&a);
        text_lines_free(&b);
}

int main(void)
{
        lines();
        slides();
        small();
        hostile();
        return check_end();
}
