/* race.h - one connection out of several addresses, each of which may be dead: the next one is
 * tried a quarter of a second after the last, both families in turn, and the first that answers
 * wins (RFC 8305). */
#ifndef DIAL_RACE_H
#define DIAL_RACE_H

#include "base/loop.h"
#include "dial/addr.h"

enum { RACE_MAX = 8 }; /* attempts in all */

/* race_fn(ctx, fd, addr, why): ${fd} is connected, non-blocking and the listener's, and ${addr} is
 * where it leads; or it is -1, and ${why} is the errno of the last attempt. */
typedef void race_fn(void *ctx, int fd, const struct addr *, int why);

struct race_try {
        struct race *race;
        int fd;
        struct loop_src *src;
        const struct addr *addr;
};

struct race {
        struct loop *loop;
        struct addr addrs[RACE_MAX]; /* in the order in which they are tried */
        size_t addrs_n, next, open_n;
        uint16_t port;
        struct race_try tries[RACE_MAX];
        struct loop_timer stagger, limit;
        int why;
        race_fn *fn;
        void *ctx;
};

/* race_start(r, loop, list, port, fn, ctx): ${fn} is called once, perhaps before this returns,
 * unless race_stop comes first. ${r} is the caller's and must stay where it is until then. */
void race_start(struct race *, struct loop *, const struct addr_list *, uint16_t port, race_fn *,
                void *ctx);
void race_stop(struct race *);

#endif
