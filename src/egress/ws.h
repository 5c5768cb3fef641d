/* ws.h - WebSocket frames as they pass: checked, counted and written anew. Pure but for the random
 * bytes of masks. The extension permessage-deflate is never agreed to, so payloads are plain.
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
        uint64_t left, done, message_len;
        uint8_t mask[4]; /* what turns a payload as it came into one as it goes */
        uint8_t opcode;
        bool is_final, in_message, is_closed;
        uint8_t control[125]; /* goes out when it is whole */
        size_t control_n;
        uint64_t messages_n; /* that came to their end */
        uint64_t frames_n;   /* likewise */
};

struct buf;

/* ws_feed(w, p, n, out, err): check ${n} bytes as they came; ${out} gets the frames anew: the same
 * payload, for the other side's direction (a client's frames are masked again with a fresh mask).
 * Payload goes on as it comes, also of a frame that is not whole. -1 and a sentence for a protocol
 * error: both sides are then closed. */
int ws_feed(struct ws *, const void *, size_t, struct buf *out, struct err *);

/* ws_put_message(b, is_text, p, n): a client's message in one frame, masked. ${b} moves no more than
 * once, before anything of ${p} is in it. */
void ws_put_message(struct buf *, bool is_text, const void *, size_t);

/* ws_put_close(b, code, words, is_masked): a close frame of our own. */
void ws_put_close(struct buf *, uint16_t code, const char *words, bool is_masked);

#endif
