/* sign_body.c - see sign.h: a body in signed chunks. Each chunk is held until the keeper has signed
 * it; its hash goes there, never its data. Several may be on their way at once, in order. */
#include "egress/sign_int.h"

#include "base/cur.h"
#include "base/err.h"
#include "base/str.h"
#include "egress/awschunk.h"

#include <stdlib.h>
#include <string.h>

/* More than that is not taken before some of it has gone on. */
enum { HELD_LEN_MAX = AWSCHUNK_MAX, HELD_N_MAX = 32 };

struct sign_unit {
        struct sign *sign;
        struct sign_unit *next;
        struct keeper_call *call;
        struct awschunk_unit unit;
};

static void unit_free(struct sign_unit *u)
{
        awschunk_unit_free(&u->unit);
        free(u);
}

void sign_units_drop(struct sign *s)
{
        while (s->units) {
                struct sign_unit *u = s->units;
                s->units = u->next;
                keeper_cancel(s->door, u->call);
                unit_free(u);
        }
        s->units_end = &s->units;
        s->units_n = s->units_len = 0;
}

/* stop(s, why): the body cannot go on. */
static void stop(struct sign *s, const char *why)
{
        if (s->is_over)
                return;
        s->is_over = true;
        sign_units_drop(s);
        s->ops->out(s->ops_ctx, NULL, 0, why);
}

/* go_on(s): what may be told now that something went out. */
static void go_on(struct sign *s)
{
        if (s->is_over || s->is_freed)
                return;
        if (s->is_end_here && !s->units) {
                s->is_over = true;
                s->ops->end(s->ops_ctx);
        } else if (s->is_full && s->units_len < HELD_LEN_MAX / 2 && s->units_n < HELD_N_MAX / 2) {
                s->is_full = false;
                s->ops->idle(s->ops_ctx);
        }
}

static void on_chunk(void *ctx, uint32_t type, struct cur *body)
{
        struct sign_unit *u = ctx;
        struct sign *s = u->sign;
        _cleanup_free_ char *text = NULL;
        u->call = NULL;
        sign_enter(s);
        if (type != DOOR_CHUNK_SIGNED) {
                text = sign_no_words(body);
                stop(s, text);
        } else if (cur_lstr(body, AWSCHUNK_SIGNATURE, &text) < 0 ||
                   strlen(text) != AWSCHUNK_SIGNATURE || u != s->units) {
                stop(s, "the keeper's answer cannot be read");
        } else {
                s->units = u->next;
                if (!s->units)
                        s->units_end = &s->units;
                s->units_n--;
                s->units_len -= u->unit.bytes.len;
                memcpy(u->unit.bytes.data + u->unit.signature, text, AWSCHUNK_SIGNATURE);
                s->ops->out(s->ops_ctx, u->unit.bytes.data, u->unit.bytes.len, NULL);
                unit_free(u);
                go_on(s);
        }
        sign_leave(s);
}

size_t sign_held(const struct sign *s)
{
        return s->units_len + (s->chunks ? awschunk_held(s->chunks) : 0);
}

size_t sign_more(const struct sign *s, size_t n)
{
        return 2 * n + (s->chunks ? awschunk_more(s->chunks, n) : 0);
}

static void ask(struct sign *s, struct awschunk_unit *unit)
{
        struct sign_unit *u = calloc(1, sizeof *u);
        _cleanup_buf_ struct buf b = {0};
        if (!u)
                str_no_memory();
        *u = (struct sign_unit){.sign = s, .unit = *unit};
        *s->units_end = u;
        s->units_end = &u->next;
        s->units_n++;
        s->units_len += unit->bytes.len;
        buf_put_u32(&b, s->chain);
        buf_put_u32(&b, unit->is_trailer);
        buf_put(&b, unit->hash, sizeof unit->hash);
        u->call = keeper_ask(s->door, DOOR_SIGN_CHUNK, &b, on_chunk, u);
}

bool sign_body(struct sign *s, const void *data, size_t n, bool is_end,
               const struct sign_body_ops *ops, void *ctx)
{
        const uint8_t *p = data;
        struct err err = {0};
        struct awschunk_unit unit;
        if (s->is_over)
                return true;
        s->ops = ops;
        s->ops_ctx = ctx;
        if (!s->chunks)
                s->chunks = awschunk_new(s->has_trailer, s->length);
        int r;
        while ((r = n ? awschunk_feed(s->chunks, &p, &n, &unit, &err) : 0) == 1)
                ask(s, &unit);
        sign_enter(s);
        if (r < 0) {
                stop(s, err.text);
        } else if (is_end && !awschunk_is_over(s->chunks)) {
                stop(s, "the signed chunks end before the last of them");
        } else {
                s->is_end_here = is_end;
                s->is_full = s->units_len >= HELD_LEN_MAX || s->units_n >= HELD_N_MAX;
                go_on(s);
        }
        bool is_full = s->is_full;
        return !sign_leave(s) || !is_full;
}
