/* witness_weak.h - the faults that the test-only build puts into the witness, so that the attacks
 * on it (cases 41 and 43) are seen to succeed once. In every other build all of it is nothing. */
#ifndef AUDIT_WITNESS_WEAK_H
#define AUDIT_WITNESS_WEAK_H

#include "audit/witness.h"

#include <stdbool.h>

struct seccomp_notif;

#ifdef OSTIARY_WEAK

/* witness_weak_verdict(w, q, error): the layer "notify-memory": a clone3 that asks for no namespace
 * at this moment goes on, as somebody might decide who forgets that memory changes. Else ${error}.
 * A caller whose tls (of no meaning without CLONE_SETTLS) is the mark is let go on only when its
 * flags have changed, five seconds at most: else a control on a busy machine would hang on chance.
 */
#define WITNESS_WEAK_MARK 0x6f7374696172796dul /* also in tests/attack/notify.c */
int witness_weak_verdict(const struct witness_weak *, const struct seccomp_notif *, int error);

/* witness_weak_wait(w, listener_fd, q): "wait-held": over a bind(), until its caller is gone and
 * another process has its number; ten seconds at most. */
void witness_weak_wait(const struct witness_weak *, int listener_fd, const struct seccomp_notif *);

/* witness_weak_number(w): "notify-id": is a number as good as the process? */
static inline bool witness_weak_number(const struct witness_weak *w)
{
        return w->is_by_number;
}

#else

static inline int witness_weak_verdict(const struct witness_weak *w, const struct seccomp_notif *q,
                                       int error)
{
        (void)w, (void)q;
        return error;
}

static inline void witness_weak_wait(const struct witness_weak *w, int listener_fd,
                                     const struct seccomp_notif *q)
{
        (void)w, (void)listener_fd, (void)q;
}

static inline bool witness_weak_number(const struct witness_weak *w)
{
        (void)w;
        return false;
}

#endif

#endif
