/* fetch.h - a call that custody itself needs (a token refreshed, an assertion exchanged), composed
 * by the keeper and carried by egress like any request of the box: same gate, same dial, same
 * record. What comes back goes to the keeper as the few fields it asked for, and never to the box.
 */
#ifndef EGRESS_FETCH_H
#define EGRESS_FETCH_H

struct cur;
struct door;

/* fetch_begin(d, body): DOOR_FETCH. -1 when the message makes no sense. */
int fetch_begin(struct door *, struct cur *);

#endif
