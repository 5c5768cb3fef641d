/* settle.h - before a living box's log is read: let its writer catch up. */
#ifndef SESSION_SETTLE_H
#define SESSION_SETTLE_H

struct store;

/* session_settle(store, id):
 * Return when whatever was told to the log before the call is written to it. Told and written are
 * two processes, and the writer rests between what the witness tells (audit/audit_role.c), so
 * somebody who reads right after a request would otherwise miss it. A box that does not run, has no
 * log or cannot write it (a full disk) is left as it is: what there is can be read all the same. */
void session_settle(const struct store *, const char *id);

#endif
