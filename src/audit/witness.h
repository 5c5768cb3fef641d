/* witness.h - the role that hears of every connect() in a box and tells the log which process it
 * was. It lets every call go on, at once; what it says is evidence and decides nothing.
 *
 * It reads no byte of the box's making: a notification is the kernel's, the socket behind the call
 * is asked for its own port, the program's name is a link of /proc. It holds the right to take
 * descriptors of the box's processes, so it does nothing else. */
#ifndef AUDIT_WITNESS_H
#define AUDIT_WITNESS_H

#include <stdbool.h>
#include <sys/types.h>

struct audit;
struct err;

struct witness {
        pid_t pid;      /* a child of the caller; 0 when there is none */
        int control_fd; /* readable: call witness_hear */
};

/* witness_start(w, listener_fd, err): ${listener_fd} stays the caller's. */
int witness_start(struct witness *, int listener_fd, struct err *);

enum witness_news {
        WITNESS_NOTHING,
        WITNESS_WANTS, /* a connection over the network was made: give it the log (witness_join) */
        WITNESS_GONE,  /* it has ended: witness_end, then start another or let it be */
};
enum witness_news witness_hear(struct witness *);

/* witness_join(w, a, err): from now on it tells the log. */
int witness_join(struct witness *, struct audit *, struct err *);

/* witness_end(w): kill and reap. Fine on one that never started. */
void witness_end(struct witness *);

#endif
