/* ws_hold.h - messages of a WebSocket's client, held until somebody has judged them. Fed with what
 * ws.c made, so that every frame is well formed and masked. Pure but for the random bytes of masks.
 *
 * Control frames pass at once, also between the frames of a message that is held. A message that was
 * held goes on as one frame. */
#ifndef EGRESS_WS_HOLD_H
#define EGRESS_WS_HOLD_H

#include "base/buf.h"

struct ws_hold {
        bool is_whole;  /* a message waits for ws_hold_release */
        bool is_text;   /* it is text; else binary */
        bool is_longer; /* than the ceiling: only its beginning is there */
        struct buf message;
        /* the rest is ws_hold.c's own */
        uint8_t raw[14]; /* the head of the frame that is being read */
        size_t raw_n, mask_at;
        uint64_t left, done;
        bool in_payload, is_held;
        struct buf waiting; /* what came after it */
};

struct ws_hold_ops {
        /* wants(ctx): is the message that begins to be held? */
        bool (*wants)(void *ctx);
        /* out(ctx, p, n): frames that pass. False: full; the rest is taken all the same. */
        bool (*out)(void *ctx, const void *, size_t);
};

/* ws_hold_feed(h, max, p, n, ops, ctx): up to the end of a message that is held: is_whole says that
 * there is one. What lies behind it is kept. A message longer than ${max} is called whole when it
 * gets there. False: whoever takes it is full. */
bool ws_hold_feed(struct ws_hold *, size_t max, const void *, size_t, const struct ws_hold_ops *,
                  void *ctx);
/* ws_hold_release(h, max, ops, ctx): the message that was held passes, and what came after it follows,
 * as far as the next that is held. Never of one that is longer than the ceiling. */
bool ws_hold_release(struct ws_hold *, size_t max, const struct ws_hold_ops *, void *ctx);
size_t ws_hold_size(const struct ws_hold *); /* bytes of memory */
/* ws_hold_more(h, n): by how much that can grow when ${n} bytes are fed. */
size_t ws_hold_more(const struct ws_hold *, size_t n);
void ws_hold_free(struct ws_hold *);

#endif
