/* ws.h - WebSocket frames as they pass: checked, and put together into messages for whoever
 * inspects them. Pure. The extension permessage-deflate is never agreed to, so payloads are plain.
 */
#ifndef EGRESS_WS_H
#define EGRESS_WS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum { WS_MESSAGE_MAX = 16 << 20 };

struct ws {
        bool is_from_client; /* its frames must be masked, the server's must not */
        /* the rest is ws.c's own */
        uint8_t head[14];
        size_t head_n, head_need;
        uint64_t left, message_len;
        uint8_t mask[4], opcode, message_opcode;
        bool is_final, in_message, is_closed, has_sent_close;
        uint64_t messages_n;
};

/* ws_feed(w, p, n, out, err): check ${n} bytes as they came; ${out} gets the frames anew: the same
 * payload, for the other side's direction (a client's frames are masked again with a fresh mask).
 * -1 and a sentence for a protocol error: both sides are then closed. */
struct buf;
int ws_feed(struct ws *, const void *, size_t, struct buf *out, struct err *);

/* ws_put_close(b, code, words, is_masked): a close frame of our own. */
void ws_put_close(struct buf *, uint16_t code, const char *words, bool is_masked);

#endif
