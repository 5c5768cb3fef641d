/* pager.h - long output to a terminal goes through the user's pager; everything else goes to stdout
 * as it is. The pager begins with the first byte, so that nothing flickers when there is none. */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct pager {
        bool is_wanted; /* set by the caller: a terminal, and not --no-pager */
        /* private */
        int fd; /* where bytes go; valid once begun */
        struct buf held;
        pid_t pid;
        bool is_begun, is_over;
};

/* pager_put(p, bytes, n): 0, with the bytes held until there are enough for a write; or -1 when
 * nobody reads any more (EPIPE: the pager was left) or it failed, with errno. Starts
 * $OSTIARY_PAGER, $PAGER or `less -FRX` when it is wanted; an empty name or "cat" is none, and so
 * is one that cannot be started. */
int pager_put(struct pager *, const void *, size_t);

/* pager_end(p): no more bytes: write what is held, wait until the pager was left. 0 or -1 as
 * above. */
int pager_end(struct pager *);

/* pager_left(p): was it left before everything was shown? That is no failure. */
bool pager_left(const struct pager *);

#endif
