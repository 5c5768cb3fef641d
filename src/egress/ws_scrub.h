/* ws_scrub.h - WebSocket messages from an origin, with values replaced by placeholders, also when
 * one is spread over several frames. Of one that is spread over several messages, the part in the
 * first passes, since a message waits for nothing, and the rest is replaced. Pure but for memory. */
#ifndef EGRESS_WS_SCRUB_H
#define EGRESS_WS_SCRUB_H

#include "base/buf.h"
#include "egress/scan.h"

struct ws_scrub {
        uint8_t head[10];
        size_t head_n;
        uint64_t left;
        struct buf payload; /* of this frame, so far */
        struct buf control; /* of a control frame, which may come between two of a message */
        struct scan scan;   /* of this message and those before it */
        uint8_t opcode;     /* of its next frame: the message's, then 0 */
};
void ws_scrub_free(struct ws_scrub *);

/* ws_scrub_feed(w, set, p, n, out): frames that ws_feed has checked, unmasked. ${out} gets them
 * anew: the same messages, frame by frame; a message in pieces may be cut in other places. */
void ws_scrub_feed(struct ws_scrub *, const struct scan_set *, const void *, size_t,
                   struct buf *out);

#endif
