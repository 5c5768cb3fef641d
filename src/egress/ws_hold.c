/* ws_hold.c - see ws_hold.h. Called by exchange_messages.c, between ws.c and custody. It must never
 * let a byte of a held message pass before it was released. */
#include "egress/ws_hold.h"

#include "egress/ws.h"

#include <string.h>

enum { OP_MORE = 0, OP_TEXT = 1, OP_CLOSE = 8 };

struct feed {
        const struct ws_hold_ops *ops;
        void *ctx;
        size_t max;
        bool is_full;
};

static void pass(struct feed *f, const void *p, size_t n)
{
        if (n > 0 && !f->ops->out(f->ctx, p, n))
                f->is_full = true;
}

static bool is_control(const struct ws_hold *h)
{
        return (h->raw[0] & 0x0f) >= OP_CLOSE;
}

/* use_head(h, byte): true when the head of a frame is whole. */
static bool use_head(struct ws_hold *h, uint8_t byte)
{
        h->raw[h->raw_n++] = byte;
        if (h->raw_n < 2)
                return false;
        size_t len = h->raw[1] & 0x7f, bytes = len == 126 ? 2 : len == 127 ? 8 : 0;
        h->mask_at = 2 + bytes;
        if (h->raw_n < h->mask_at + 4)
                return false;
        h->left = bytes ? 0 : len;
        for (size_t i = 0; i < bytes; i++)
                h->left = h->left << 8 | h->raw[2 + i];
        return true;
}

static void begin_frame(struct ws_hold *h, struct feed *f)
{
        uint8_t op = h->raw[0] & 0x0f;
        h->in_payload = true;
        h->done = 0;
        if (!is_control(h) && op != OP_MORE) {
                h->is_held = f->ops->wants(f->ctx);
                h->is_text = op == OP_TEXT;
                h->message.len = 0;
                h->message.max = f->max + 1;
        }
        if (is_control(h) || !h->is_held)
                pass(f, h->raw, h->raw_n);
}

static void use_payload(struct ws_hold *h, const uint8_t *p, size_t n, struct feed *f)
{
        h->left -= n;
        if (is_control(h) || !h->is_held) {
                pass(f, p, n);
                return;
        }
        if (n > f->max - h->message.len) {
                n = f->max - h->message.len;
                h->is_longer = h->is_whole = true;
        }
        uint8_t *to = buf_room(&h->message, n);
        for (size_t i = 0; to && i < n; i++)
                to[i] = p[i] ^ h->raw[h->mask_at + ((h->done + i) & 3)];
        h->done += n;
        if (!to && n > 0)
                h->is_longer = h->is_whole = true; /* than there is memory */
}

static void end_frame(struct ws_hold *h)
{
        h->in_payload = false;
        h->raw_n = 0;
        if (!is_control(h) && h->is_held && h->raw[0] & 0x80)
                h->is_whole = true;
}

static size_t use(struct ws_hold *h, const uint8_t *p, size_t n, struct feed *f)
{
        size_t used = 1;
        if (!h->in_payload) {
                if (!use_head(h, *p))
                        return used;
                begin_frame(h, f);
        } else {
                used = h->left < n ? (size_t)h->left : n;
                use_payload(h, p, used, f);
        }
        if (h->in_payload && h->left == 0)
                end_frame(h);
        return used;
}

bool ws_hold_feed(struct ws_hold *h, size_t max, const void *bytes, size_t n,
                  const struct ws_hold_ops *ops, void *ctx)
{
        struct feed f = {.ops = ops, .ctx = ctx, .max = max};
        const uint8_t *p = bytes;
        size_t at = 0;
        while (at < n && !h->is_whole)
                at += use(h, p + at, n - at, &f);
        if (at < n && !h->is_longer)
                buf_put(&h->waiting, p + at, n - at);
        if (h->waiting.is_broken)
                h->is_longer = true; /* than there is memory */
        return !f.is_full;
}

bool ws_hold_release(struct ws_hold *h, size_t max, const struct ws_hold_ops *ops, void *ctx)
{
        struct feed f = {.ops = ops, .ctx = ctx};
        struct buf waiting = h->waiting, b = {.max = WS_MESSAGE_MAX + sizeof h->raw};
        if (!h->is_whole || h->is_longer)
                return true;
        ws_put_message(&b, h->is_text, h->message.data, h->message.len);
        h->is_whole = false;
        buf_free(&h->message);
        h->message = (struct buf){0};
        h->waiting = (struct buf){0};
        pass(&f, b.data, b.len);
        buf_free(&b);
        bool is_room = ws_hold_feed(h, max, waiting.data, waiting.len, ops, ctx);
        buf_free(&waiting);
        return is_room && !f.is_full;
}

size_t ws_hold_size(const struct ws_hold *h)
{
        return h->message.cap + h->waiting.cap;
}

size_t ws_hold_more(const struct ws_hold *h, size_t n)
{
        return buf_more(&h->message, n) + buf_more(&h->waiting, n);
}

void ws_hold_free(struct ws_hold *h)
{
        buf_free(&h->message);
        buf_free(&h->waiting);
}
