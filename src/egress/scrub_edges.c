/* scrub_edges.c - see scrub_int.h: a partial answer (206) may begin or end in the middle of a
 * value, where no finger finds it. The keeper, which has the values, says how many of the first and
 * of the last bytes belong to one; they are written over. Called by scrub.c.
 *
 * Whoever can choose what stands at an edge could ask the keeper letter by letter in this way, so
 * only a few edges of a box are ever written over; after that no partial answer passes. */
#include "egress/scrub_int.h"

#include "base/cur.h"

#include <string.h>

enum { EDGE_MAX = 24 << 10, MASKED_MAX = 32 };

static unsigned masked_n; /* of this process, which serves one box */

static size_t edge_len(const struct scrub *s)
{
        size_t n = scan_longest(s->values);
        return n < EDGE_MAX ? n : EDGE_MAX;
}

static void on_edges(void *ctx, uint32_t type, struct cur *answer)
{
        struct scrub *s = ctx;
        uint32_t first = 0, last = 0;
        s->call = NULL;
        if (type != DOOR_EDGES_OK || cur_u32(answer, &first) < 0 || cur_u32(answer, &last) < 0 ||
            first > s->edge.len || last > s->edge.len) {
                scrub_fail(s,
                           "nobody can tell whether this part of an answer cuts a secret in two");
                return;
        }
        if ((first || last) && ++masked_n > MASKED_MAX) {
                scrub_fail(s, "too many parts of answers have cut a secret in two");
                return;
        }
        memset(s->edge.data, 'x', first);
        if (s->is_back_asked) {
                memset(s->edge.data + s->edge.len - last, 'x', last);
                s->is_back_known = true;
        }
        s->is_front_known = true;
        scrub_answered(s);
}

static void put_bytes(struct buf *b, const void *p, size_t n)
{
        buf_put_u32(b, (uint32_t)n);
        buf_put(b, p, n);
}

/* ask(s, is_front, is_back): about what is in s->edge. */
static void ask(struct scrub *s, bool is_front, bool is_back)
{
        _cleanup_buf_ struct buf b = {0};
        size_t most = edge_len(s), n = s->edge.len < most ? s->edge.len : most;
        put_bytes(&b, s->edge.data, is_front ? n : 0);
        put_bytes(&b, s->edge.data + s->edge.len - n, is_back ? n : 0);
        s->is_back_asked = is_back;
        s->call = keeper_ask(s->door, DOOR_EDGES, &b, on_edges, s);
        explicit_bzero(b.data, b.cap);
}

/* let_go(s): all but the last bytes, which may be the answer's last. */
static void let_go(struct scrub *s)
{
        size_t keep = edge_len(s);
        if (s->edge.len <= keep)
                return;
        size_t n = s->edge.len - keep;
        scrub_emit(s, s->edge.data, n, false);
        buf_drop(&s->edge, n);
}

void scrub_edges_data(struct scrub *s, const void *p, size_t n)
{
        buf_put(&s->edge, p, n);
        if (s->edge.is_broken)
                scrub_fail(s, "there is no memory for the answer");
        else if (s->is_front_known)
                let_go(s);
        else if (s->edge.len >= edge_len(s))
                ask(s, true, false);
}

bool scrub_edges_end(struct scrub *s)
{
        if (s->edge.len == 0)
                return true;
        if (!s->is_back_known) {
                ask(s, !s->is_front_known, true);
                return false;
        }
        scrub_emit(s, s->edge.data, s->edge.len, false);
        s->edge.len = 0;
        return !s->is_over;
}
