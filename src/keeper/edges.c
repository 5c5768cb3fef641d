/* edges.c - what of a value is in the first and the last bytes of a partial answer (206): egress
 * knows values by hashes of the whole, so it cannot know a piece that was cut off at the border of
 * a range. Only how many bytes is told, never which secret they are of. */
#include "keeper/keeper_int.h"

#include "policy/secret_forms.h"
#include "wire/frame.h"

#include <string.h>

/* Fewer would be found everywhere, and tell nobody much. An egress that asks letter by letter would
 * learn a value that it never had to be shown; an honest one finds a piece of a value so seldom
 * that it is told so only a few times. */
enum { EDGE_MIN = 4, EDGE_MAX = 24 << 10, FOUND_MAX = 64 };

struct edge {
        const uint8_t *p;
        size_t n;
        size_t found;
};

static uint8_t fold(uint8_t c)
{
        return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c;
}

static bool is_same(const uint8_t *a, const uint8_t *b, size_t n, bool any_case)
{
        if (!any_case)
                return memcmp(a, b, n) == 0;
        for (size_t i = 0; i < n; i++)
                if (fold(a[i]) != fold(b[i]))
                        return false;
        return true;
}

/* look(p, n, any_case, first, last): one writing. Its end may stand at the start of the answer, its
 * start at the end; or the answer is so short that all of it stands inside. A whole one is found by
 * its fingers. */
static void look(const uint8_t *p, size_t n, bool any_case, struct edge *first, struct edge *last)
{
        struct edge *const both[] = {first, last};
        for (size_t i = 0; i < 2; i++)
                for (size_t at = 0; both[i]->n >= EDGE_MIN && at + both[i]->n <= n; at++)
                        if (is_same(p + at, both[i]->p, both[i]->n, any_case))
                                both[i]->found = both[i]->n;
        for (size_t len = n - 1; len >= EDGE_MIN; len--) {
                if (len > first->found && len <= first->n &&
                    is_same(p + n - len, first->p, len, any_case))
                        first->found = len;
                if (len > last->found && len <= last->n &&
                    is_same(p, last->p + last->n - len, len, any_case))
                        last->found = len;
        }
}

/* is_seen(x, part): does it ever pass through egress? A key that only signs does not, so nobody is
 * told anything of it. */
static bool is_seen(const struct store_secret *x, const struct store_part *p)
{
        if (!p->value || !p->placeholder || p->is_open || value_has_form(x, RULE_AS_HMAC))
                return false;
        return strcmp(p->name, "key") != 0;
}

static int answer(struct keeper *k, uint32_t id, const struct edge *first, const struct edge *last)
{
        struct keeper_ask a = {.id = id, .to = {.method = "", .host = "", .path = ""}};
        if (first->found || last->found) {
                if (k->edges_n >= FOUND_MAX)
                        return keeper_ask_no(k, &a, DOOR_NO_LIMIT,
                                             "too many parts of answers have cut a secret in two");
                k->edges_n++;
                keeper_ask_yes(k, &a, "a piece of a value was at the edge of a partial answer");
        }
        struct buf *b = keeper_message(k, DOOR_EDGES_OK);
        buf_put_u32(b, id);
        buf_put_u32(b, (uint32_t)first->found);
        buf_put_u32(b, (uint32_t)last->found);
        return keeper_to_egress(k);
}

int edges_serve(struct keeper *k, struct frame *f)
{
        uint32_t id;
        struct edge first = {0}, last = {0};
        if (cur_u32(&f->body, &id) < 0 ||
            keeper_get_bytes(&f->body, EDGE_MAX, &first.p, &first.n) < 0 ||
            keeper_get_bytes(&f->body, EDGE_MAX, &last.p, &last.n) < 0 || f->body.left)
                return -1;
        for (struct store_secret *x = NULL; (x = store_each(k->store, x));)
                for (size_t i = 0; i < x->parts_n; i++) {
                        const struct store_part *p = &x->parts[i];
                        for (int c = 0; is_seen(x, p) && c < SECRET_CODINGS; c++)
                                if (keeper_writing(k, c, p->value, p->len))
                                        look(k->scratch.data, k->scratch.len,
                                             secret_form_ignores_case((enum secret_coding)c),
                                             &first, &last);
                }
        keeper_scratch_wipe(k);
        return answer(k, id, &first, &last);
}
