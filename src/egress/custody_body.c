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
        TAIL_KEPT = 1 << 10,
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

/* hold(b, to, p, n): keep bytes of it. False: the account has no room; this one request ends. */
static bool hold(struct custody_body *b, struct buf *to, const void *p, size_t n)
{
        if (account_put(&b->door->account, &b->charged, to, p, n))
                return true;
        fail(b, 503, ACCOUNT_FULL);
        return false;
}

/* --- looking --------------------------------------------------------------------------------- */

/* is_lagging(b): nothing passes before what is packed in it was looked at. */
static bool is_lagging(const struct custody_body *b)
{
        return b->pack && (b->is_packing || b->lag.len > 0 || pack_is_open(b->pack));
}

static void pass_on(struct custody_body *b, size_t n)
{
        bool is_wanted = n > 0 && (!b->undo || b->slots_n);
        if (is_wanted && is_lagging(b))
                hold(b, &b->lag, b->tail.data, n);
        else if (is_wanted) /* its last word counts: only after a no does it tell of room */
                b->is_full = !b->ops->out(b->ctx, b->tail.data, n);
        buf_drop(&b->tail, n);
        if (b->tail.len == 0 && b->tail.cap > TAIL_KEPT)
                buf_free(&b->tail);
}

/* has_more(b): something of what was fed has not been looked at. */
static bool has_more(const struct custody_body *b)
{
        return b->pend.len > b->pend_at || b->job.prev;
}

static void tell_idle(struct custody_body *b)
{
        if (!b->is_over && !b->is_asked && !b->is_full && !b->is_ending && !has_more(b))
                b->ops->idle(b->ctx);
}

void custody_body_charge(struct custody_body *b)
{
        account_set(&b->door->account, &b->charged,
                    sizeof *b + b->pend.cap + b->lag.cap + b->waiting.cap + b->tail.cap +
                            scan_held(&b->scan));
}

/* on_quiet(b): nothing came for a while. Both ends may be waiting for what is held back, as in a
 * call of gRPC; so it goes on, and the rest of a placeholder is still known when it comes. */
void custody_body_quiet(void *ctx)
{
        struct custody_body *b = ctx;
        b->ahead += b->tail.len;
        pass_on(b, b->tail.len);
        tell_idle(b); /* it had said no, and has room now */
}

/* found(b, hit): placeholders are in it. True: it may not pass. */
static bool found(struct custody_body *b, const struct scan_hit *hit)
{
        if (b->is_model) {
                custody_request_flag(b->q, hit->tag);
                for (uint32_t i = 0; i < hit->others_n; i++)
                        custody_request_flag(b->q, hit->others[i]);
                return false;
        }
        char *why = custody_request_hit(b->q, hit, b->where);
        if (b->ops->leak) /* nothing of it passes anyway */
                b->ops->leak(b->ctx, why);
        else
                fail(b, 403, why);
        free(why);
        return !b->ops->leak;
}

/* unpack(b, is_end): what is packed in the bytes that came. False: it goes on in another turn, or it
 * may not pass. */
static bool unpack(struct custody_body *b, bool is_end)
{
        struct scan_hit hit = {0};
        while (b->pack && !b->is_over) {
                enum pack_said said =
                        pack_run(b->pack, custody_of(b->door)->placeholders, is_end, &hit);
                b->is_packing = said == PACK_LATER;
                switch (said) {
                case PACK_READY:
                        return true;
                case PACK_LATER:
                        work_again(door_work(b->door), &b->job);
                        return false;
                case PACK_FOUND:
                        if (found(b, &hit))
                                return false;
                        break;
                case PACK_SHORT:
                        fail(b, 503, ACCOUNT_FULL);
                        return false;
                case PACK_BOMB:
                        fail(b, 403,
                             "a packed or compressed file in its body grows beyond all measure, "
                             "and cannot be told from one that hides a secret");
                        return false;
                }
        }
        return !b->is_over;
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
        work_step(door_work(b->door), n);
        size_t hits = scan_feed(&b->scan, set, p, n, is_end, &out, &hit);
        if ((hits > 0 && found(b, &hit)) || !hold(b, &b->tail, p, n))
                return;
        if (b->pack && n > 0) {
                pack_put(b->pack, p, n);
                unpack(b, false);
                if (b->is_over)
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
        bool is_open = b->pack && pack_is_open(b->pack);
        bool is_held = b->undo && b->tail.len > 0;
        size_t most = b->undo || is_open ? LAG : 0, n = 0;
        if (is_end)
                n = b->lag.len;
        else if (is_open && !is_held)
                n = pack_lag_free(&b->lagging, b->pack, b->lag.len, most);
        else if (!is_held && b->lag.len > most)
                n = b->lag.len - most;
        if (b->is_over || b->is_packing)
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

static void pump(struct custody_body *);
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
        pump(b);
        tell_idle(b);
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
        if (b->is_watch)
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
        if (b->lag.len > 0)
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
                if (!b->undo && b->lag.len > 0)
                        pass_lag(b, false);
                return;
        }
        if (b->waiting.len + n > WAITING_MAX) { /* a little that grows to a lot */
                fail(b, 413, "its compressed body grows beyond all measure");
                return;
        }
        if (hold(b, &b->waiting, p, n))
                run(b);
}

/* next_piece(b, plain): of the plain body: its length; 0 when there is none until more is fed; -1 when
 * its turn, or it, is over. Compressed bytes are taken in steps, and follow what was looked at. */
static ssize_t next_piece(struct custody_body *b, char plain[PIECE])
{
        struct err err = {0};
        for (;;) {
                if (work_is_spent(door_work(b->door))) {
                        work_again(door_work(b->door), &b->job);
                        return -1;
                }
                size_t left = b->pend.len - b->pend_at, part = left < PIECE ? left : PIECE;
                const uint8_t *from = b->pend.data + b->pend_at;
                if (!b->undo) {
                        if (part)
                                memcpy(plain, from, part);
                        b->pend_at += part;
                        return (ssize_t)part;
                }
                ssize_t n = undo_take(b->undo, b->is_ending && left == 0, plain, PIECE, &err);
                if (n == UNDO_LATER)
                        continue; /* the turn is over, which is seen above */
                if (n < 0)
                        fail(b, undo_is_short(b->undo) ? 503 : 400, err.text);
                if (n != 0)
                        return n;
                if (!b->slots_n)
                        pass_lag(b, false);
                if (b->is_over || b->is_full || part == 0)
                        return b->is_over ? -1 : 0;
                if (!b->slots_n && !hold(b, &b->lag, from, part))
                        return -1;
                undo_put(b->undo, from, part);
                b->pend_at += part;
        }
}

/* pump(b): what was fed is looked at, as far as its turn, the keeper and the other end allow; then
 * its end. */
static void pump(struct custody_body *b)
{
        char plain[PIECE];
        while (!b->is_over && !b->is_asked && !b->is_full && !b->job.prev) {
                if (b->is_packing && !unpack(b, false))
                        break;
                if (!b->undo && b->lag.len > 0)
                        pass_lag(b, false);
                ssize_t n = next_piece(b, plain);
                if (n < 0)
                        break;
                if (n > 0) {
                        use_plain(b, plain, (size_t)n);
                        continue;
                }
                if (b->pend.len > b->pend_at)
                        break; /* the other end is full */
                buf_free(&b->pend);
                b->pend_at = 0;
                if (!b->is_ending || b->is_end || !unpack(b, true))
                        break;
                b->is_end = true;
                if (b->slots_n == 0)
                        finish(b);
                else
                        run(b);
        }
        custody_body_charge(b);
}

void custody_body_turn(void *ctx)
{
        struct custody_body *b = ctx;
        pump(b);
        tell_idle(b);
}

bool custody_body_feed(struct custody_body *b, const void *bytes, size_t n)
{
        b->is_full = false;
        if (b->is_over)
                return true;
        if (!b->undo && n <= PIECE && !has_more(b) && !b->is_asked) {
                use_plain(b, bytes, n);
                custody_body_charge(b);
        } else if (hold(b, &b->pend, bytes, n)) {
                pump(b);
        }
        return b->is_over || (!b->is_full && !b->is_asked && !has_more(b));
}

bool custody_body_drained(struct custody_body *b)
{
        b->is_full = false;
        pump(b);
        return b->is_over || (!b->is_full && !b->is_asked && !has_more(b));
}

void custody_body_end(struct custody_body *b)
{
        b->is_ending = true;
        pump(b);
}
