/* custody_body.c - see custody_body.h. One stream: undo its coding, read slots, look for
 * placeholders, pass on. It must never pass a byte on that was not looked at. */
#include "egress/custody_body_int.h"

#include "base/cur.h"
#include "base/err.h"
#include "base/str.h"
#include "egress/custody_slots.h"
#include "egress/door.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
        PIECE = 16 << 10,  /* a compressed body is undone in steps: it may grow a thousandfold */
        LAG = 512 << 10,   /* a decoder may hold so much back; compressed bytes wait as long */
        LAG_MAX = 4 << 20, /* and so much at the most, while the end may begin a placeholder */
        WAITING_MAX = 8 << 20,
        QUIET_MS = 20,
        PLACED_MAX = 2 * DOOR_SECRET_MAX,
        SENTENCE_MAX = 4096,
};

static void fail(struct custody_body *b, int status, const char *why)
{
        if (b->is_over)
                return;
        b->is_over = true;
        b->ops->bad(b->ctx, status, why);
}

/* --- looking --------------------------------------------------------------------------------- */

static void pass_on(struct custody_body *b, size_t n)
{
        bool is_wanted = n > 0 && (!b->undo || b->slots_n);
        if (is_wanted) /* its last word counts: only after a no does it tell of room */
                b->is_full = !b->ops->out(b->ctx, b->tail.data, n);
        buf_drop(&b->tail, n);
}

/* on_quiet(b): nothing came for a while. Both ends may be waiting for what is held back, as in a
 * call of gRPC; so it goes on, and the rest of a placeholder is still known when it comes. */
void custody_body_quiet(void *ctx)
{
        struct custody_body *b = ctx;
        b->ahead += b->tail.len;
        pass_on(b, b->tail.len);
        if (!b->is_over && !b->is_asked && !b->is_full)
                b->ops->idle(b->ctx); /* it had said no, and has room now */
}

/* look(b, p, n, is_end): of the plain body. What may pass is passed on, unless it came compressed:
 * then the compressed bytes are, when all of it was looked at. */
static void look(struct custody_body *b, const void *p, size_t n, bool is_end)
{
        const struct scan_set *set = custody_of(b->door)->placeholders;
        struct scan_hit hit = {0};
        _cleanup_buf_ struct buf out = {0};
        if (b->is_over || (n == 0 && !is_end))
                return;
        size_t found = scan_feed(&b->scan, set, p, n, is_end, &out, &hit);
        buf_put(&b->tail, p, n);
        if (found > 0 && b->is_model) {
                custody_request_flag(b->q, hit.tag);
        } else if (found > 0) {
                char *why = custody_request_leaks(b->q, hit.tag, b->where);
                fail(b, 403, why);
                free(why);
                return;
        }
        size_t early = b->ahead < out.len ? b->ahead : out.len;
        b->ahead -= early;
        pass_on(b, out.len - early < b->tail.len ? out.len - early : b->tail.len);
        if (b->tail.len && !b->undo)
                loop_timer_set(b->door->loop, &b->timer, QUIET_MS);
        else
                loop_timer_stop(&b->timer);
}

/* look_end(b): nothing that follows belongs to what came before. */
static void look_end(struct custody_body *b)
{
        look(b, NULL, 0, true);
        scan_free(&b->scan);
        b->scan = (struct scan){0};
        b->ahead = 0;
}

static void pass_lag(struct custody_body *b, bool is_end)
{
        size_t most = LAG;
        bool is_held = b->tail.len > 0;
        size_t n = is_end ? b->lag.len : is_held || b->lag.len <= most ? 0 : b->lag.len - most;
        if (b->is_over)
                return;
        if (b->lag.len - n > LAG_MAX) {
                fail(b, 403, "its compressed body cannot be told from one that hides a secret");
                return;
        }
        if (n)
                b->is_full = !b->ops->out(b->ctx, b->lag.data, n);
        buf_drop(&b->lag, n);
}

/* --- slots ----------------------------------------------------------------------------------- */

static void put_json(struct buf *out, const char *text)
{
        for (; *text; text++) {
                if (*text == '"' || *text == '\\')
                        buf_put_u8(out, '\\');
                buf_put(out, text, 1);
        }
        buf_put_u8(out, '"');
}

static void put_form(struct buf *out, const char *text)
{
        static const char digits[] = "0123456789ABCDEF";
        for (; *text; text++) {
                unsigned char c = (unsigned char)*text;
                bool is_plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                                (c >= '0' && c <= '9') || memchr("-._~", c, 4);
                char coded[3] = {'%', digits[c >> 4], digits[c & 15]};
                buf_put(out, is_plain ? (const char *)&c : coded, is_plain ? 1 : 3);
        }
}

static void run(struct custody_body *);

static void on_placed(void *ctx, uint32_t type, struct cur *body)
{
        struct custody_body *b = ctx;
        uint32_t no = 0;
        char *text = NULL;
        b->call = NULL;
        b->is_asked = false;
        if ((type == DOOR_PLACE_NO && cur_u32(body, &no) < 0) ||
            cur_lstr(body, type == DOOR_PLACED ? PLACED_MAX : SENTENCE_MAX, &text) < 0)
                door_fault(b->door, "the keeper gave an answer that makes no sense");
        if (type == DOOR_PLACE_NO) {
                fail(b, 403, text);
        } else {
                struct buf out = {0};
                buf_room(&out, 3 * strlen(text) + 8); /* so that it never moves */
                out.len = 0;
                if (b->json)
                        put_json(&out, text);
                else
                        put_form(&out, text);
                b->is_full = !b->ops->out(b->ctx, out.data, out.len);
                explicit_bzero(out.data, out.cap);
                buf_free(&out);
                explicit_bzero(text, strlen(text));
        }
        free(text);
        if (b->is_over)
                return;
        run(b);
        if (!b->is_over && !b->is_asked && !b->is_end && !b->is_full)
                b->ops->idle(b->ctx);
}

void custody_body_pass(void *ctx, const void *p, size_t n)
{
        look(ctx, p, n, false);
}

/* is_shown(b, s, text, n): the placeholder alone, or in JSON a word and the placeholder: "Bearer
 * x".
 */
static bool is_shown(const struct custody_body *b, const struct custody_secret *s, const char *text,
                     size_t n)
{
        const char *blank = b->json ? memchr(text, ' ', n) : NULL;
        size_t skip = blank ? (size_t)(blank - text) + 1 : 0;
        return custody_is_placeholder(s, text, n) ||
               (skip > 1 && custody_is_placeholder(s, text + skip, n - skip));
}

bool custody_body_slot(void *ctx, size_t which, const char *text, size_t n)
{
        struct custody_body *b = ctx;
        const char *name = b->names[which];
        const struct slot *found = NULL;
        /* Several secrets may have the same slot. */
        for (size_t i = 0; i < b->slots_n && !found; i++)
                if (strcmp(b->names[i], name) == 0 && is_shown(b, b->slots[i].secret, text, n))
                        found = &b->slots[i];
        if (!found || b->is_over)
                return false;
        look_end(b);
        if (b->is_over)
                return true;
        if (found->secret->gone) {
                fail(b, 403, found->secret->gone);
                return true;
        }
        custody_request_shown(b->q, found->secret);
        const struct door_toward to = custody_request_toward(b->q);
        _cleanup_buf_ struct buf ask = {0};
        buf_put_u32(&ask, found->secret->number);
        buf_put_u32(&ask, (uint32_t)found->form);
        door_toward_put(&ask, &to);
        buf_put_lstr(&ask, text);
        b->is_asked = true;
        b->call = keeper_ask(b->door, DOOR_PLACE, &ask, on_placed, b);
        return true;
}

/* --- the stream ------------------------------------------------------------------------------ */

/* finish(b): everything was read and looked at. */
static void finish(struct custody_body *b)
{
        look(b, NULL, 0, true);
        if (b->is_over)
                return;
        if (b->undo && !b->slots_n)
                pass_lag(b, true);
        if (b->is_over)
                return;
        b->is_over = true;
        b->ops->end(b->ctx);
}

/* run(b): what waits is read, as far as the keeper lets us. */
static void run(struct custody_body *b)
{
        struct err err = {0};
        while (b->waiting.len > 0 && !b->is_asked && !b->is_over) {
                const char *p = (const char *)b->waiting.data;
                ssize_t used = b->json ? custody_json_feed(b->json, p, b->waiting.len, &err)
                                       : custody_form_feed(b->form, p, b->waiting.len, &err);
                if (used < 0) {
                        fail(b, 400, err.text);
                        return;
                }
                buf_drop(&b->waiting, (size_t)used);
        }
        if (b->is_asked || b->is_over || !b->is_end)
                return;
        int r = b->json   ? custody_json_end(b->json, &err)
                : b->form ? custody_form_end(b->form, &err)
                          : 0;
        if (r < 0)
                fail(b, 400, err.text);
        else if (r == 0)
                finish(b);
}

static void use_plain(struct custody_body *b, const void *p, size_t n)
{
        if (b->slots_n == 0) {
                look(b, p, n, false);
                return;
        }
        if (b->waiting.len + n > WAITING_MAX) { /* a little that grows to a lot */
                fail(b, 413, "its compressed body grows beyond all measure");
                return;
        }
        buf_put(&b->waiting, p, n);
        run(b);
}

/* unpack(b, is_end): whatever the coding gives now. */
static void unpack(struct custody_body *b, bool is_end)
{
        struct err err = {0};
        char plain[PIECE];
        ssize_t n = 0;
        while (!b->is_over && (n = undo_take(b->undo, is_end, plain, sizeof plain, &err)) > 0)
                use_plain(b, plain, (size_t)n);
        if (n < 0)
                fail(b, 400, err.text);
}

bool custody_body_feed(struct custody_body *b, const void *bytes, size_t n)
{
        const char *p = bytes;
        b->is_full = false;
        if (!b->undo && n > 0 && !b->is_over)
                use_plain(b, p, n);
        for (size_t part; b->undo && n > 0 && !b->is_over; p += part, n -= part) {
                part = n < PIECE ? n : PIECE;
                if (!b->slots_n)
                        buf_put(&b->lag, p, part);
                undo_put(b->undo, p, part);
                unpack(b, false);
                if (!b->slots_n)
                        pass_lag(b, false);
        }
        return b->is_over || (!b->is_full && !b->is_asked);
}

void custody_body_end(struct custody_body *b)
{
        if (b->undo)
                unpack(b, true);
        if (b->is_over)
                return;
        b->is_end = true;
        if (b->slots_n == 0)
                finish(b);
        else
                run(b);
}
