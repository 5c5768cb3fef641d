/* scan_wide.c - texts whose letters have two or four bytes each: UTF-16 and UTF-32, of either order,
 * with or without a mark at the beginning. See scan_int.h; called by scan.c for each window. Pure.
 *
 * A letter, a zero and a letter begin a run; data that is no text has few of them, so that it costs
 * one look for zeros. */
#include "egress/scan_int.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static bool is_letter(uint8_t c)
{
        return c >= 0x20 && c < 0x7f;
}

struct wide {
        const struct scan_set *set;
        const uint8_t *p;
        const struct scan_view *view;
        struct scan_matches *matches;
};

static void found(void *ctx, uint32_t writing, size_t from, size_t to)
{
        const struct wide *w = ctx;
        const struct scan_writing *one = &w->set->table->writings[writing];
        size_t start = w->view->off[from], end = (size_t)w->view->off[to - 1] + 1;
        struct scan_match m = {.start = (int64_t)start, .end = (int64_t)end, .writing = writing};
        if (one->stand_in) {
                m.own = malloc(end - start);
                if (!m.own)
                        str_no_memory();
                memcpy(m.own, w->p + start, end - start);
                for (size_t i = from; i < to; i++)
                        m.own[w->view->off[i] - start] = one->stand_in[i - from];
        }
        scan_matches_add(w->matches, m);
}

/* step_at(p, n, i): how many bytes a letter has in a text with the zero at ${i} behind its first
 * letter; 0: it is none. What comes later may decide. */
static size_t step_at(const uint8_t *p, size_t n, size_t i)
{
        if (i == 0 || !is_letter(p[i - 1]))
                return 0;
        if (i + 1 == n || is_letter(p[i + 1]))
                return 2;
        for (size_t k = 1; k < 3; k++)
                if (i + k < n && p[i + k] != 0)
                        return 0;
        return i + 3 >= n || is_letter(p[i + 3]) ? 4 : 0;
}

/* run(v, p, n, start, step): the letters of the run that begins there; where it ends. */
static size_t run(struct scan_view *v, const uint8_t *p, size_t n, size_t start, size_t step)
{
        v->n = 0;
        for (size_t i = start; i < n && is_letter(p[i]); i += step) {
                v->bytes[v->n] = p[i];
                v->off[v->n++] = (uint32_t)i;
                for (size_t k = 1; k < step; k++)
                        if (i + k >= n || p[i + k] != 0)
                                return i + k;
        }
        size_t end = v->n ? (size_t)v->off[v->n - 1] + step : start;
        return end < n ? end : n;
}

void scan_wide(const struct scan_set *set, const uint8_t *p, size_t n, bool is_end,
               struct scan_view *view, struct scan_matches *matches, size_t *hold, bool *is_strong)
{
        struct wide w = {.set = set, .p = p, .view = view, .matches = matches};
        for (size_t at = 0; at < n;) {
                const uint8_t *zero = memchr(p + at, 0, n - at);
                if (!zero)
                        break;
                size_t i = (size_t)(zero - p), step = step_at(p, n, i);
                at = i + 1;
                if (step == 0)
                        continue;
                scan_view_room(view, n);
                at = run(view, p, n, i - 1, step);
                if (view->n >= SECRET_HINT_BYTES)
                        scan_find(set, view->bytes, view->n, found, &w);
                if (is_end || at < n)
                        continue;
                size_t live = scan_live(set, view->bytes, view->n, is_strong);
                if (live < view->n && view->off[live] < *hold)
                        *hold = view->off[live];
        }
}
