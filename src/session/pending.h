/* pending.h - does a box still hold something that was neither applied nor thrown away? For gc,
 * which must never remove such a box, and for the last sentence of apply. */
#ifndef SESSION_PENDING_H
#define SESSION_PENDING_H

struct err;
struct store;

/* pending_any(store, id, err): 1, 0, or -1 when it cannot be told. Stops at the first change it
 * finds; build output that is ignored counts as long as nothing of the box was ever applied; our
 * own stand-ins and the home never do; a commit that the host does not have does. */
int pending_any(const struct store *, const char *id, struct err *);

#endif
