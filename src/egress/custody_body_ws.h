/* custody_body_ws.h - frames of a WebSocket on their way out of a box that has secrets: looked
 * through across fragments, and with secrets written into the messages that have a slot (ws).
 *
 * Fed with what ws.c made, so that every frame is well formed and masked. For exchange_keys.c. */
#ifndef EGRESS_CUSTODY_BODY_WS_H
#define EGRESS_CUSTODY_BODY_WS_H

#include "egress/custody_body.h"

struct custody_ws;

/* custody_ws_new(d, q, host, origin, head, ops, ctx): ops->end is never called. */
struct custody_ws *custody_ws_new(struct door *, struct custody_request *, const struct host_name *,
                                  const struct origin *, const struct head *,
                                  const struct custody_body_ops *, void *ctx);
void custody_ws_free(struct custody_ws *);
/* custody_ws_feed(w, p, n): as custody_body_feed. */
bool custody_ws_feed(struct custody_ws *, const void *, size_t);

#endif
