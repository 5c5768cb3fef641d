/* ws_scrub.c - see ws_scrub.h. Called by websocket.c for what comes down, behind ws.c, whose frames
 * are well-formed. It must never hand on a payload that was not searched. */
#include "egress/ws_scrub.h"

#include <string.h>

enum { FINAL = 0x80, CONTROL = 0x08, PIECE = 64 << 10, KEPT = 4 << 10 };

void ws_scrub_free(struct ws_scrub *w)
{
        if (w->payload.data)
                explicit_bzero(w->payload.data, w->payload.cap);
        buf_free(&w->payload);
        buf_free(&w->control);
        scan_free(&w->scan);
}

static void put_frame(struct buf *out, uint8_t first, const struct buf *payload)
{
        size_t n = payload->len;
        buf_put_u8(out, first);
        if (n < 126) {
                buf_put_u8(out, (uint8_t)n);
        } else if (n <= UINT16_MAX) {
                buf_put_u8(out, 126);
                buf_put_u8(out, (uint8_t)(n >> 8));
                buf_put_u8(out, (uint8_t)n);
        } else {
                buf_put_u8(out, 127);
                buf_put_u64(out, n);
        }
        buf_put(out, payload->data, n);
        if (payload->is_broken)
                out->is_broken = true;
}

/* flush(w, set, is_final, out): what there is of a message's payload, as one frame. */
static void flush(struct ws_scrub *w, const struct scan_set *set, bool is_final, struct buf *out)
{
        _cleanup_buf_ struct buf b = {0};
        scan_feed(&w->scan, set, w->payload.data, w->payload.len, false, &b, NULL);
        if (is_final) /* it waits for nothing, but the rest of a value may be in the next */
                scan_release(&w->scan, set, true, &b);
        w->payload.len = 0;
        if (w->payload.cap > KEPT) {
                explicit_bzero(w->payload.data, w->payload.cap);
                buf_free(&w->payload);
        }
        if (b.len == 0 && !is_final)
                return; /* all of it is held back */
        put_frame(out, (uint8_t)(w->opcode | (is_final ? FINAL : 0)), &b);
        w->opcode = 0;
}

static void flush_control(struct ws_scrub *w, const struct scan_set *set, const struct buf *payload,
                          struct buf *out)
{
        _cleanup_buf_ struct buf b = {0};
        struct scan s = {0};
        scan_feed(&s, set, payload->data, payload->len, true, &b, NULL);
        put_frame(out, w->head[0], &b);
        scan_free(&s);
}

/* head_size(w): of a frame's head, as far as it is known. */
static size_t head_size(const struct ws_scrub *w)
{
        uint8_t len = w->head_n > 1 ? w->head[1] & 0x7f : 0;
        return len == 126 ? 4 : len == 127 ? 10 : 2;
}

static void begin(struct ws_scrub *w)
{
        size_t bytes = head_size(w) - 2;
        w->left = bytes ? 0 : w->head[1] & 0x7f;
        for (size_t i = 0; i < bytes; i++)
                w->left = w->left << 8 | w->head[2 + i];
        uint8_t opcode = w->head[0] & 0x0f;
        if (opcode != 0 && !(opcode & CONTROL))
                w->opcode = opcode;
}

void ws_scrub_feed(struct ws_scrub *w, const struct scan_set *set, const void *bytes, size_t n,
                   struct buf *out)
{
        const uint8_t *p = bytes;
        while (n > 0 || (w->head_n == head_size(w) && w->left == 0)) {
                if (w->head_n < head_size(w)) {
                        w->head[w->head_n++] = *p++;
                        n--;
                        if (w->head_n == head_size(w))
                                begin(w);
                        continue;
                }
                bool is_control = w->head[0] & CONTROL;
                size_t part = n < w->left ? n : (size_t)w->left;
                struct buf *to = is_control ? &w->control : &w->payload;
                buf_put(to, p, part);
                p += part;
                n -= part;
                w->left -= part;
                if (to->is_broken) {
                        out->is_broken = true;
                        return;
                }
                if (w->left > 0) {
                        if (!is_control && w->payload.len >= PIECE)
                                flush(w, set, false, out);
                        continue;
                }
                w->head_n = 0;
                if (is_control) {
                        flush_control(w, set, &w->control, out);
                        w->control.len = 0;
                } else {
                        flush(w, set, w->head[0] & FINAL, out);
                }
        }
}
