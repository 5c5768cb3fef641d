/* etcmask.h - the layer that hides what a box may not see of /etc: a directory of whiteouts, made
 * once and used by every box until the names in /etc change.
 *
 *   $XDG_STATE_HOME/ostiary/etc-mask/KEY/   KEY says which /etc it fits: the directories'
 * identities and times, and the list itself
 *
 * Making it costs a hundred system calls, which is a sixth of a box's start. A mask that a living
 * box uses must not be taken away, or the names behind it would appear: whoever uses one holds a
 * lock. */
#ifndef SESSION_ETCMASK_H
#define SESSION_ETCMASK_H

#include <stddef.h>

struct err;
struct store;

/* etcmask_take(store, &path, err): a descriptor that keeps the mask for the present /etc in its
 * place while it is open, made now if there is none; ${path} is the caller's to free. -1 on
 * failure. */
int etcmask_take(const struct store *, char **path, struct err *);

/* etcmask_gc(store, &removed, err): remove masks that fit no more and that nobody holds. */
int etcmask_gc(const struct store *, size_t *removed, struct err *);

#endif
