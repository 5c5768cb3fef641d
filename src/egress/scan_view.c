/* scan_view.c - what hides behind escapes: %73, \u0073, \x73, &#115;, &#x73; and names like &lt;,
 * each also escaped again (%2573, &amp;#115;, \\u0073), one kind inside another, and line ends. See
 * scan_int.h; called by scan.c for each window. Pure.
 *
 * Only the neighbourhood of escapes is copied, so that text without them costs nothing. What an
 * escape means depends on nothing before it: a window may begin at any of them. */
#include "egress/scan_int.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { UNIT_MAX = 64 }; /* no escape is longer */

/* view_copy(v, p, from, to): bytes as they are. */
static void view_copy(struct scan_view *v, const uint8_t *p, size_t from, size_t to)
{
        memcpy(v->bytes + v->n, p + from, to - from);
        uint32_t *off = v->off + v->n, base = (uint32_t)from, n = (uint32_t)(to - from);
        for (uint32_t i = 0; i < n; i++)
                off[i] = base + i;
        v->n += n;
}

static void view_put(struct scan_view *v, uint8_t c, size_t off)
{
        v->bytes[v->n] = c;
        v->off[v->n++] = (uint32_t)off;
}

void scan_view_room(struct scan_view *v, size_t n)
{
        if (v->cap >= n + 1)
                return;
        v->cap = n + 1;
        free(v->bytes);
        free(v->off);
        v->bytes = malloc(v->cap);
        v->off = malloc(v->cap * sizeof *v->off);
        if (!v->bytes || !v->off)
                str_no_memory();
}

void scan_view_free(struct scan_view *v)
{
        free(v->bytes);
        free(v->off);
        *v = (struct scan_view){0};
}

struct look {
        const struct scan_set *set;
        const uint8_t *p; /* the window */
        struct scan_view *view;
        int level; /* 0: escapes of the window; 1: escapes that were escaped */
        struct scan_matches *matches;
        bool is_large;   /* hexadecimal digits are written in large letters */
        size_t before;   /* letters of base64 before the window */
        bool *is_strong; /* see scan_live */
};

/* raw(k, level, i): where in the window the i-th byte of a view begins. */
static size_t raw(const struct look *k, int level, size_t i)
{
        size_t at = k->view[level].off[i];
        return level ? k->view[0].off[at] : at;
}

static void set_char(const struct look *k, int level, size_t i, uint8_t c, uint8_t *own,
                     size_t start)
{
        size_t a = k->view[level].off[i], len = k->view[level].off[i + 1] - a;
        if (c == k->view[level].bytes[i])
                return; /* it says so already, and in its own way */
        if (level == 0) {
                scan_escape_write(own + a - start, len, c, k->is_large);
                return;
        }
        uint8_t text[UNIT_MAX];
        memcpy(text, k->view[0].bytes + a, len);
        scan_escape_write(text, len, c, k->is_large);
        for (size_t j = 0; j < len; j++)
                set_char(k, 0, a + j, text[j], own, start);
}

/* is_large(k, from, to): are the hexadecimal digits of these escapes in large letters? */
static bool is_large(const struct look *k, size_t from, size_t to)
{
        bool has_large = false;
        for (size_t i = from; i < to; i++) {
                size_t a = raw(k, k->level, i), b = raw(k, k->level, i + 1);
                for (size_t j = b - a > 2 && k->p[a] != '&' ? b - 2 : b; j < b; j++) {
                        if (k->p[j] >= 'a')
                                return false;
                        has_large |= k->p[j] >= 'A';
                }
        }
        return has_large;
}

static void found(void *ctx, uint32_t writing, size_t from, size_t to)
{
        struct look *k = ctx;
        const struct scan_writing *w = &k->set->table->writings[writing];
        size_t start = raw(k, k->level, from), end = raw(k, k->level, to);
        if (end - start == to - from)
                return; /* nothing of it was escaped, so it was found in the window itself */
        for (size_t i = 0; i < k->matches->n; i++)
                if (k->matches->list[i].start == (int64_t)start &&
                    k->matches->list[i].end == (int64_t)end)
                        return; /* a writing that is made of escapes: found as such */
        struct scan_match m = {.start = (int64_t)start, .end = (int64_t)end, .writing = writing};
        if (w->stand_in) {
                m.own = malloc(end - start);
                if (!m.own)
                        str_no_memory();
                memcpy(m.own, k->p + start, end - start);
                k->is_large = is_large(k, from, to);
                for (size_t i = from; i < to; i++)
                        set_char(k, k->level, i, w->stand_in[i - from], m.own, start);
        }
        scan_matches_add(k->matches, m);
}

/* undo_again(k, is_end, open): the second view, of what the first shows. ${open}: where in the
 * first an escape begins that is not whole. */
static void undo_again(struct look *k, bool is_end, size_t *open)
{
        struct scan_view *one = &k->view[0], *two = &k->view[1];
        size_t cache[SCAN_ESCAPES] = SCAN_NONE, at = 0;
        size_t before = one->n && one->off[0] == 0 ? k->before : 0;
        bool has_units = false;
        two->n = 0;
        while (at < one->n) {
                size_t i = scan_escape_next(one->bytes, at, one->n, before, cache);
                struct scan_escape u =
                        i < one->n ? scan_escape_read(one->bytes + i, one->n - i,
                                                      scan_is_line(one->bytes, i, before))
                                   : (struct scan_escape){0};
                /* One that was escaped itself begins with what an escape stood for. A "%2" as it
                 * is, before a letter that was escaped, is not the beginning of one: it would
                 * swallow the letter. */
                bool is_plain = i < one->n && one->off[i + 1] - one->off[i] == 1;
                if (is_plain || (u.is_open && is_end))
                        u = (struct scan_escape){0};
                if (!has_units && i == one->n) {
                        two->n = 0;
                        return;
                }
                if (two->n == 0)
                        scan_view_room(two, one->n);
                view_copy(two, one->bytes, at, i);
                at = i;
                if (i == one->n)
                        break;
                if (u.is_open) {
                        *open = i;
                        break;
                }
                view_put(two, u.len ? u.c : one->bytes[i], i);
                has_units |= u.len > 0;
                at = i + (u.len ? u.len : 1);
        }
        two->off[two->n] = (uint32_t)at;
        if (!has_units)
                two->n = 0;
}

/* align(k, level, hold): the beginning of the escape that ${hold} is in. */
static size_t align(const struct look *k, int level, size_t hold)
{
        size_t lo = 0, hi = k->view[level].n;
        while (lo < hi) {
                size_t mid = (lo + hi) / 2;
                if (raw(k, level, mid + 1) <= hold)
                        lo = mid + 1;
                else
                        hi = mid;
        }
        if (lo == k->view[level].n || raw(k, level, lo) > hold)
                return hold;
        return raw(k, level, lo);
}

/* region(k, end, is_last, is_end, hold): search one neighbourhood, which ends at ${end}. */
static void region(struct look *k, size_t end, bool is_last, bool is_end, size_t *hold)
{
        k->view[0].off[k->view[0].n] = (uint32_t)end;
        size_t open = SIZE_MAX;
        undo_again(k, is_end || !is_last, &open);
        for (k->level = 0; k->level < 2; k->level++) {
                const struct scan_view *v = &k->view[k->level];
                if (v->n == 0)
                        continue;
                scan_find(k->set, v->bytes, v->n, found, k);
                if (!is_last || is_end)
                        continue;
                size_t live = scan_live(k->set, v->bytes, v->n, k->is_strong);
                if (live < v->n && raw(k, k->level, live) < *hold)
                        *hold = raw(k, k->level, live);
        }
        if (!is_last || is_end)
                return;
        if (open != SIZE_MAX) {
                /* What stands before an escape that is not whole may go on behind it. */
                size_t live = scan_live(k->set, k->view[0].bytes, open, k->is_strong);
                if (raw(k, 0, live) < *hold)
                        *hold = raw(k, 0, live);
        }
        for (size_t before = SIZE_MAX; before != *hold;) {
                before = *hold;
                *hold = align(k, 0, align(k, 1, *hold));
        }
}

void scan_views(const struct scan_set *set, const uint8_t *p, size_t n, size_t before, bool is_end,
                struct scan_view view[2], struct scan_matches *matches, size_t *hold,
                bool *is_strong)
{
        struct look k = {.set = set,
                         .p = p,
                         .view = view,
                         .matches = matches,
                         .before = before,
                         .is_strong = is_strong};
        size_t cache[SCAN_ESCAPES] = SCAN_NONE, near = set->table->longest;
        size_t at = 0, search = 0; /* copied to here; looked for escapes to here */
        bool has_region = false;
        for (;;) {
                size_t i = scan_escape_next(p, search, n, before, cache);
                struct scan_escape u =
                        i < n ? scan_escape_read(p + i, n - i, scan_is_line(p, i, before))
                              : (struct scan_escape){0};
                if (i < n && u.is_open && !is_end) {
                        n = i;
                        size_t live = scan_live(set, p, n, is_strong);
                        *hold = live < *hold ? live : *hold;
                } else if (i < n && u.len == 0) {
                        search = i + 1;
                        continue;
                }
                size_t stop = i < n ? i : n;
                if (has_region && (stop == n || stop - at > near)) {
                        size_t until = stop - at > near ? at + near : stop;
                        view_copy(&view[0], p, at, until);
                        at = until;
                        region(&k, at, at == n, is_end, hold);
                        has_region = false;
                }
                if (stop == n)
                        break;
                if (!has_region) {
                        scan_view_room(&view[0], n);
                        view[0].n = 0;
                        at = i > near ? i - near : 0;
                        has_region = true;
                }
                view_copy(&view[0], p, at, i);
                view_put(&view[0], u.c, i);
                at = search = i + u.len;
        }
}
