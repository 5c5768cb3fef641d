/* idle.h - connections of the box on which nothing is asked. When there are as many connections as
 * the door may hold, or no memory for one more, one of them is ended to make room: otherwise a
 * program that opens thousands and says nothing would keep everybody else out.
 *
 * First those that have been used, the longest idle first: clients know how to open such a
 * connection again. One that was never asked anything (just let in, or in its handshake) is left
 * alone for IDLE_FRESH_MS, because its client may only be busy: one that opens hundreds at once
 * comes to the last of them seconds later. None that has sent something, or has not
 * been sent all of its last answer, is ended: it waits for us. */
#ifndef EGRESS_IDLE_H
#define EGRESS_IDLE_H

#include <stdbool.h>
#include <stdint.h>

struct door;

/* A used one that its client is about to use again; a fresh one, and the same where there are so few
 * places (accept_init) that a program which means no harm can fill them. */
enum { IDLE_USED_MS = 5000, IDLE_FRESH_MS = 10000, IDLE_FRESH_FEW_MS = 30000 };

/* A member of whoever owns the connection, zeroed, with fn and ctx set: end it now, and return
 * true; false when something is under way on it after all. */
struct idle {
        bool (*fn)(void *ctx);
        void *ctx;
        uint64_t since_ms;
        struct idle *next, **prev;
        struct idle_list *list;
};

/* Oldest first. */
struct idle_list {
        struct idle *first, **end;
};

/* idle_fresh(d, i): let in, and nothing was asked yet. idle_used(d, i): nothing is asked any more.
 * idle_end(d, i): something is; also before it is freed. Each may be called again. */
void idle_fresh(struct door *, struct idle *);
void idle_used(struct door *, struct idle *);
void idle_end(struct door *, struct idle *);
/* idle_make_room(d): end one. False when there is none that may be ended now. */
bool idle_make_room(struct door *);

#endif
