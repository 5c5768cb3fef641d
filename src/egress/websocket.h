/* websocket.h - a WebSocket through an exchange: the handshake made anew on the far side, and every
 * frame checked on its way, both ways. Called by exchange.c alone. */
#ifndef EGRESS_WEBSOCKET_H
#define EGRESS_WEBSOCKET_H

#include "egress/exchange.h"

struct scan_set;
struct websocket;

/* websocket_new(request): gives ${request} a key of our own for the origin; remembers the client's.
 */
struct websocket *websocket_new(struct head *request);
void websocket_free(struct websocket *);
/* websocket_steps(w): frames that came since this was last asked, for work.h. */
uint64_t websocket_steps(struct websocket *);
size_t websocket_held(const struct websocket *); /* bytes of memory */
/* websocket_more(w, n): by how much that can grow when ${n} bytes come down. */
size_t websocket_more(const struct websocket *, size_t n);

/* websocket_agreed(w, answer, &why): does the origin's 101 prove that it read our key? */
bool websocket_agreed(const struct websocket *, const struct head *answer, const char **why);
/* websocket_answer(w, answer): make it the answer to the client's own key. */
void websocket_answer(const struct websocket *, struct head *answer);

/* websocket_up/down(w, x, ops, side, p, n): frames that came from the client, or from the origin.
 * False when the other side is full. A frame that breaks the protocol closes both sides in words.
 * ${values} (NULL: none) are written over in what comes down. */
bool websocket_up(struct websocket *, struct exchange *, const struct side_ops *, void *side,
                  const void *, size_t);
bool websocket_down(struct websocket *, struct exchange *, const struct side_ops *, void *side,
                    const void *, size_t, const struct scan_set *values);

/* websocket_is_between(w): do the client's bytes end with a whole frame, so that one of ours may
 * follow? */
bool websocket_is_between(const struct websocket *);

#endif
