/* scan.c - streams that are searched as they pass: see scan.h. Called by the scrubber and the
 * tripwire. It must never pass on a byte that may still turn out to belong to a text.
 *
 * Each window is what was held back and what is new. Every text that is not whole yet begins at or
 * after the place from which is held back, so nothing before the window is ever needed again; but a
 * text that was found may reach across that place, and is remembered for the rest of its bytes. */
#include "egress/scan_int.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW = 64 << 10 };

struct scan_state {
        struct buf held;
        size_t before;               /* letters of base64 before what is held */
        size_t sent;                 /* of what is held: it was let go all the same */
        bool is_strong;              /* what is held is more than a few letters */
        struct scan_matches matches; /* between calls: those that reach into what is held */
};

/* What is needed within one call alone. For all streams together, because there may be thousands and
 * it is as large as a window; one loop, so nobody else is here at the same time. */
static struct {
        struct scan_view view[2], wide;
        struct buf joined; /* what was held back, and what is new */
} scan_room;

void scan_matches_add(struct scan_matches *m, struct scan_match one)
{
        if (m->n == m->cap) {
                m->cap = m->cap ? m->cap * 2 : 8;
                m->list = realloc(m->list, m->cap * sizeof *m->list);
                if (!m->list)
                        str_no_memory();
        }
        m->list[m->n++] = one;
}

void scan_matches_clear(struct scan_matches *m)
{
        for (size_t i = 0; i < m->n; i++)
                free(m->list[i].own);
        m->n = 0;
}

void scan_matches_free(struct scan_matches *m)
{
        scan_matches_clear(m);
        free(m->list);
        *m = (struct scan_matches){0};
}

static void state_free(struct scan_state *st)
{
        if (st->held.data)
                explicit_bzero(st->held.data, st->held.cap);
        buf_free(&st->held);
        scan_matches_free(&st->matches);
        free(st);
}

void scan_free(struct scan *s)
{
        if (s->state)
                state_free(s->state);
        *s = (struct scan){0};
}

struct finding {
        const struct scan_set *set;
        const uint8_t *p;
        struct scan_matches *matches;
};

/* is_large(p, n): are all its letters large? */
static bool is_large(const uint8_t *p, size_t n)
{
        bool has_large = false;
        for (size_t i = 0; i < n; i++) {
                if (p[i] >= 'a' && p[i] <= 'z')
                        return false;
                has_large |= p[i] >= 'A' && p[i] <= 'Z';
        }
        return has_large;
}

/* other_numbers(p, n): a list of as many numbers with as many digits, which say nothing. */
static uint8_t *other_numbers(const uint8_t *p, size_t n)
{
        uint8_t *own = malloc(n);
        if (!own)
                str_no_memory();
        memcpy(own, p, n);
        for (size_t at = 0, end; at < n; at = end + 1) {
                for (end = at; end < n && p[end] >= '0' && p[end] <= '9';)
                        end++;
                memcpy(own + at, end - at == 3 ? "120" : "88", end - at <= 3 ? end - at : 0);
        }
        return own;
}

static void found(void *ctx, uint32_t writing, size_t start, size_t end)
{
        const struct finding *f = ctx;
        const struct scan_writing *w = &f->set->table->writings[writing];
        bool is_list = w->stand_in && secret_form_is_list((enum secret_coding)w->coding);
        scan_matches_add(f->matches,
                         (struct scan_match){
                                 .start = (int64_t)start,
                                 .end = (int64_t)end,
                                 .writing = writing,
                                 .own = is_list ? other_numbers(f->p + start, end - start) : NULL,
                                 .is_large = f->set->table->writings[writing].is_folded &&
                                             is_large(f->p + start, end - start)});
}

/* Short ones first, so that the longest that covers a byte is the one that is written last. The
 * order must not depend on where the stream was cut. */
static int by_length(const void *a, const void *b)
{
        const struct scan_match *x = a, *y = b;
        int64_t nx = x->end - x->start, ny = y->end - y->start;
        if (nx != ny)
                return nx < ny ? -1 : 1;
        if (x->start != y->start)
                return x->start > y->start ? -1 : 1;
        return x->writing > y->writing ? -1 : x->writing < y->writing;
}

/* patch(set, m, to, n): write the stand-ins over the ${n} bytes at ${to}, which begin the window.
 */
static void patch(const struct scan_set *set, const struct scan_matches *m, uint8_t *to, size_t n)
{
        for (size_t i = 0; i < m->n; i++) {
                const struct scan_match *one = &m->list[i];
                const uint8_t *by =
                        one->own ? one->own : set->table->writings[one->writing].stand_in;
                int64_t from = one->start < 0 ? 0 : one->start;
                int64_t end = one->end < (int64_t)n ? one->end : (int64_t)n;
                if (by && from < end)
                        memcpy(to + from, by + (from - one->start), (size_t)(end - from));
                for (int64_t k = from; by && one->is_large && k < end; k++)
                        to[k] = (uint8_t)(to[k] >= 'a' && to[k] <= 'z' ? to[k] - 32 : to[k]);
        }
}

/* tell_other(hit, tag): that one is there as well. */
static void tell_other(struct scan_hit *hit, uint32_t tag)
{
        for (uint32_t i = 0; i < hit->others_n; i++)
                if (hit->others[i] == tag)
                        return;
        if (tag != hit->tag && hit->others_n < SCAN_OTHERS)
                hit->others[hit->others_n++] = tag;
}

/* tell_first(hit, w, at, len): it begins before all that were told, or is the longest there. */
static void tell_first(struct scan_hit *hit, const struct scan_writing *w, uint64_t at,
                       uint32_t len)
{
        uint32_t old = hit->tag;
        bool had = hit->len > 0;
        hit->tag = w->tag;
        hit->coding = (enum secret_coding)w->coding;
        hit->at = at;
        hit->len = len;
        for (uint32_t i = 0; i < hit->others_n; i++)
                if (hit->others[i] == w->tag)
                        hit->others[i] = hit->others[--hit->others_n];
        if (had)
                tell_other(hit, old);
}

/* settle(s, set, pass, hit): what began in the first ${pass} bytes is counted; what ends there is
 * forgotten, and what is found again in the next window too. */
static size_t settle(struct scan *s, const struct scan_set *set, size_t pass, struct scan_hit *hit,
                     size_t count)
{
        struct scan_matches *m = &s->state->matches;
        size_t kept = 0, news = 0;
        int64_t first = INT64_MAX;
        for (size_t i = 0; i < m->n; i++) {
                struct scan_match one = m->list[i];
                bool is_here = one.start < (int64_t)pass;
                if (is_here && one.start >= 0) {
                        const struct scan_writing *w = &set->table->writings[one.writing];
                        news++;
                        bool is_longer = one.start == first && hit &&
                                         one.end - one.start > (int64_t)hit->len;
                        if (hit && count == 0 && (one.start < first || is_longer))
                                tell_first(hit, w, s->at + (uint64_t)one.start,
                                           (uint32_t)(one.end - one.start));
                        else if (hit)
                                tell_other(hit, w->tag);
                        first = one.start < first ? one.start : first;
                }
                if (!is_here || one.end <= (int64_t)pass) {
                        free(one.own);
                        continue;
                }
                one.start -= (int64_t)pass;
                one.end -= (int64_t)pass;
                m->list[kept++] = one;
        }
        m->n = kept;
        if (kept == 0 && m->cap > 64)
                scan_matches_free(m);
        return news;
}

/* pass(st, set, p, n, out): the first ${n} bytes of the window go on, but for those that did. */
static void pass(struct scan_state *st, const struct scan_set *set, const uint8_t *p, size_t n,
                 struct buf *out)
{
        size_t before = out->len;
        uint8_t *to = n > st->sent ? buf_room(out, n) : NULL;
        if (!to)
                return;
        memcpy(to, p, n);
        if (st->matches.n > 1)
                qsort(st->matches.list, st->matches.n, sizeof *st->matches.list, by_length);
        patch(set, &st->matches, to, n);
        memmove(to, to + st->sent, n - st->sent);
        out->len = before + n - st->sent;
}

/* search(st, set, p, n, is_end): add what is in a window to the matches; from where on it is held
 * back. */
static size_t search(struct scan_state *st, const struct scan_set *set, const uint8_t *p, size_t n,
                     bool is_end)
{
        size_t hold = n;
        struct finding f = {.set = set, .p = p, .matches = &st->matches};
        if (set->table->writings_n > 0)
                scan_find(set, p, n, found, &f);
        st->is_strong = false;
        if (!is_end)
                hold = scan_live(set, p, n, &st->is_strong);
        if (set->table->writings_n > 0) {
                scan_wide(set, p, n, is_end, &scan_room.wide, &st->matches, &hold, &st->is_strong);
                scan_views(set, p, n, st->before, is_end, scan_room.view, &st->matches, &hold,
                           &st->is_strong);
        }
        return hold;
}

/* window(s, set, p, n, is_end, out): how many bytes of the window passed. */
static size_t window(struct scan *s, const struct scan_set *set, const uint8_t *p, size_t n,
                     bool is_end, struct buf *out)
{
        struct scan_state *st = s->state;
        size_t hold = search(st, set, p, n, is_end);
        pass(st, set, p, hold, out);
        st->sent = st->sent > hold ? st->sent - hold : 0;
        return hold;
}

/* scan_join(held, p, n): what was held back and what is new, as one window. */
static void scan_join(const struct buf *held, const uint8_t *p, size_t n)
{
        struct buf *b = &scan_room.joined;
        b->len = 0;
        buf_put(b, held->data, held->len);
        buf_put(b, p, n);
        if (b->is_broken)
                str_no_memory();
}

/* scan_keep(held, p, n): all that is held back from now on. */
static void scan_keep(struct buf *held, const uint8_t *p, size_t n)
{
        enum { LARGE = 4 << 10 };
        if (held->len > 0)
                explicit_bzero(held->data, held->len);
        held->len = 0;
        if (held->cap > LARGE && n < held->cap / 4)
                buf_free(held);
        buf_put(held, p, n);
        if (scan_room.joined.len > 0)
                explicit_bzero(scan_room.joined.data, scan_room.joined.len);
        scan_room.joined.len = 0;
}

size_t scan_held(const struct scan *s)
{
        const struct scan_state *st = s->state;
        return st ? sizeof *st + st->held.cap + st->matches.cap * sizeof *st->matches.list : 0;
}

size_t scan_feed(struct scan *s, const struct scan_set *set, const void *data, size_t n,
                 bool is_end, struct buf *out, struct scan_hit *hit)
{
        const uint8_t *p = data ? data : (const uint8_t *)"";
        size_t count = 0;
        if (hit)
                *hit = (struct scan_hit){0};
        if (!s->state && !(s->state = calloc(1, sizeof *s->state)))
                str_no_memory();
        struct buf *held = &s->state->held;
        do {
                size_t take = n < WINDOW ? n : WINDOW;
                bool is_last = is_end && take == n;
                const uint8_t *w = p;
                size_t w_n = take;
                if (held->len > 0) {
                        scan_join(held, p, take);
                        w = scan_room.joined.data;
                        w_n = scan_room.joined.len;
                }
                size_t pass = window(s, set, w, w_n, is_last, out);
                count += settle(s, set, pass, hit, count);
                s->state->before = scan_base64_run(w, pass, s->state->before);
                s->at += pass;
                scan_keep(held, w + pass, w_n - pass);
                p += take;
                n -= take;
        } while (n > 0);
        return count;
}

bool scan_may_release(const struct scan *s, bool is_all)
{
        const struct scan_state *st = s->state;
        return st && st->held.len > st->sent && (is_all || !st->is_strong);
}

void scan_release(struct scan *s, const struct scan_set *set, bool is_all, struct buf *out)
{
        if (!scan_may_release(s, is_all))
                return;
        struct scan_state *st = s->state;
        /* What is whole in it goes as if nothing followed; it is found again when more comes. */
        search(st, set, st->held.data, st->held.len, true);
        pass(st, set, st->held.data, st->held.len, out);
        settle(s, set, 0, NULL, 0);
        st->sent = st->held.len;
}

bool scan_look(const struct scan_set *set, const void *p, size_t n, struct scan_hit *hit)
{
        struct scan s = {0};
        struct buf none = {0};
        size_t count = 0;
        if (scan_set_is_empty(set) || n < SECRET_HINT_BYTES)
                return false;
        count = scan_feed(&s, set, p, n, true, &none, hit);
        if (none.data)
                explicit_bzero(none.data, none.cap);
        buf_free(&none);
        scan_free(&s);
        return count > 0;
}
