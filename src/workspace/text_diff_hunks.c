/* text_diff_hunks.c - edits grouped into hunks with lines of context, and a text with only some of
 * the hunks taken (apply --hunks). Pure functions. */
#include "workspace/text_diff.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdlib.h>

void text_hunks_of(const struct text_edits *e, size_t a_lines, size_t b_lines, size_t context,
                   struct text_hunks *out)
{
        *out = (struct text_hunks){0};
        out->v = calloc(e->n ? e->n : 1, sizeof *out->v);
        if (!out->v)
                str_no_memory();
        for (size_t i = 0; i < e->n;) {
                size_t last = i;
                /* Two edits whose contexts touch are one hunk. */
                while (last + 1 < e->n &&
                       e->v[last + 1].a - (e->v[last].a + e->v[last].a_n) <= 2 * context)
                        last++;
                const struct text_edit *first = &e->v[i], *end = &e->v[last];
                size_t before = first->a < context ? first->a : context;
                size_t a_end = end->a + end->a_n, b_end = end->b + end->b_n;
                size_t after = a_lines - a_end < context ? a_lines - a_end : context;
                if (b_lines - b_end < after)
                        after = b_lines - b_end;
                out->v[out->n++] = (struct text_hunk){
                        .first = i,
                        .n = last - i + 1,
                        .a = first->a - before,
                        .b = first->b - before,
                        .a_n = a_end + after - (first->a - before),
                        .b_n = b_end + after - (first->b - before),
                };
                i = last + 1;
        }
}

void text_hunks_free(struct text_hunks *h)
{
        free(h->v);
        *h = (struct text_hunks){0};
}

static void put(struct buf *out, const struct text_lines *l, size_t from, size_t n)
{
        buf_put(out, l->data + l->at[from], l->at[from + n] - l->at[from]);
}

void text_take(const struct text_lines *a, const struct text_lines *b, const struct text_edits *e,
               const struct text_hunks *h, const bool *taken, struct buf *out)
{
        size_t at = 0;
        for (size_t i = 0; i < h->n; i++) {
                for (size_t k = h->v[i].first; k < h->v[i].first + h->v[i].n; k++) {
                        const struct text_edit *one = &e->v[k];
                        put(out, a, at, one->a - at);
                        if (taken[i])
                                put(out, b, one->b, one->b_n);
                        else
                                put(out, a, one->a, one->a_n);
                        at = one->a + one->a_n;
                }
        }
        put(out, a, at, a->n - at);
}
