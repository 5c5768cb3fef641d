/* text_merge.c - three texts made one: what each side did to the base, joined; and marked where
 * both did something to the same place. Called by apply --3way. Pure functions on bytes. */
#include "workspace/text_diff.h"

#include "base/buf.h"

#include <string.h>

/* Some lines of a text. */
struct piece {
        const struct text_lines *l;
        size_t at, n;
};

static bool is_equal_line(const struct piece *x, size_t i, const struct piece *y, size_t j)
{
        size_t xa = x->l->at[x->at + i], xn = x->l->at[x->at + i + 1] - xa;
        size_t ya = y->l->at[y->at + j], yn = y->l->at[y->at + j + 1] - ya;
        return xn == yn && memcmp(x->l->data + xa, y->l->data + ya, xn) == 0;
}

static bool is_equal(const struct piece *x, const struct piece *y)
{
        if (x->n != y->n)
                return false;
        for (size_t i = 0; i < x->n; i++)
                if (!is_equal_line(x, i, y, i))
                        return false;
        return true;
}

static void put(struct buf *out, const struct piece *p)
{
        size_t from = p->l->at[p->at];
        buf_put(out, p->l->data + from, p->l->at[p->at + p->n] - from);
}

/* put_whole(out, p): the same, and what follows begins on a line of its own. */
static void put_whole(struct buf *out, const struct piece *p)
{
        put(out, p);
        if (p->n > 0 && p->at + p->n == p->l->n && p->l->lacks_newline)
                buf_put_u8(out, '\n');
}

/* put_conflict(out, ours, theirs): without the lines that both begin or end with. */
static void put_conflict(struct buf *out, struct piece ours, struct piece theirs)
{
        struct piece head = {ours.l, ours.at, 0};
        while (ours.n > 0 && theirs.n > 0 && is_equal_line(&ours, 0, &theirs, 0)) {
                head.n++;
                ours.at++, ours.n--;
                theirs.at++, theirs.n--;
        }
        struct piece tail = {ours.l, ours.at + ours.n, 0};
        while (ours.n > 0 && theirs.n > 0 &&
               is_equal_line(&ours, ours.n - 1, &theirs, theirs.n - 1)) {
                tail.at--, tail.n++;
                ours.n--;
                theirs.n--;
        }
        put_whole(out, &head);
        buf_put_str(out, "<<<<<<< host\n");
        put_whole(out, &ours);
        buf_put_str(out, "=======\n");
        put_whole(out, &theirs);
        buf_put_str(out, ">>>>>>> box\n");
        put(out, &tail);
}

/* What one side did: its edits, how far they were read, and how many lines it is ahead of the
 * base. */
struct hand {
        const struct text_lines *l;
        struct text_edits edits;
        size_t next;
        size_t base_at, at; /* after the last edit: this line of the base is that one here */
};

static const struct text_edit *pending(const struct hand *h)
{
        return h->next < h->edits.n ? &h->edits.v[h->next] : NULL;
}

/* reach(h, to): take every edit that begins at or before ${to}; moves ${to} on. */
static bool reach(struct hand *h, size_t *to)
{
        bool has_moved = false;
        for (const struct text_edit *e; (e = pending(h)) && e->a <= *to; h->next++) {
                if (e->a + e->a_n > *to)
                        *to = e->a + e->a_n;
                h->base_at = e->a + e->a_n;
                h->at = e->b + e->b_n;
                has_moved = true;
        }
        return has_moved;
}

/* here(h, base_at): the line of this side that goes with a common line of the base. */
static size_t here(const struct hand *h, size_t base_at)
{
        return h->at + (base_at - h->base_at);
}

size_t text_merge(const struct text_lines *base, const struct text_lines *ours,
                  const struct text_lines *theirs, struct buf *out)
{
        struct hand o = {.l = ours}, t = {.l = theirs};
        text_diff(base, ours, &o.edits);
        text_diff(base, theirs, &t.edits);
        size_t at = 0, conflicts_n = 0;
        while (pending(&o) || pending(&t)) {
                const struct text_edit *eo = pending(&o), *et = pending(&t);
                size_t from = eo && (!et || eo->a <= et->a) ? eo->a : et->a;
                put(out, &(struct piece){base, at, from - at});

                /* Everything that overlaps or touches belongs together, as for git: two edits side
                 * by side were made by two who did not see each other. */
                size_t to = from, o_from = here(&o, from), t_from = here(&t, from);
                bool is_ours = false, is_theirs = false, has_moved;
                do {
                        bool by_us = reach(&o, &to), by_them = reach(&t, &to);
                        is_ours |= by_us;
                        is_theirs |= by_them;
                        has_moved = by_us || by_them;
                } while (has_moved);
                struct piece mine = {ours, o_from, here(&o, to) - o_from};
                struct piece yours = {theirs, t_from, here(&t, to) - t_from};
                if (!is_theirs || (is_ours && is_equal(&mine, &yours))) {
                        put(out, &mine);
                } else if (!is_ours) {
                        put(out, &yours);
                } else {
                        put_conflict(out, mine, yours);
                        conflicts_n++;
                }
                at = to;
        }
        put(out, &(struct piece){base, at, base->n - at});
        text_edits_free(&o.edits);
        text_edits_free(&t.edits);
        return conflicts_n;
}
