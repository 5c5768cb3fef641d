/* notify.h - the last step of building a box: the filter goes on, and what hears of the box's calls
 * goes to the supervisor, with the message that the box is built. */
#ifndef BOX_NOTIFY_H
#define BOX_NOTIFY_H

struct build;
struct err;

/* notify_filter(b, err): put the filter of the plan's audit level on. no_new_privs must be set. */
int notify_filter(struct build *, struct err *);

/* notify_built(b): send MSG_BUILT, with the listener and the root if there is a listener; both are
 * closed here. 0, or -1 when the supervisor is gone. */
int notify_built(struct build *);

#endif
