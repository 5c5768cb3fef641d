/* box.h - a box as its supervisor sees it: a process to wait for, a socket to talk to, a group that
 * limits it. Everything else is inside. */
#ifndef BOX_BOX_H
#define BOX_BOX_H

#include "box/cgroup.h"
#include "box/plan.h"

#include <sys/types.h>

struct err;
struct msg_spawn;

/* The user and network namespaces of a box to come. */
struct box_net {
        pid_t maker_pid; /* a short-lived child of ours that makes them */
        int fd;          /* its results (net.h); box_start wants it */
};

/* box_net_begin(net, has_door, err):
 * Begin to make them, and return at once. ${has_door} must be what the plan will say. On failure
 * -1, and nothing is left behind. */
int box_net_begin(struct box_net *, bool has_door, struct err *);

/* box_net_map(net, plan, err): by root, when the plan is known: the ids of the user namespace. An
 * ordinary user's box maps its own; for that this does nothing. */
int box_net_map(const struct box_net *, const struct box_plan *, struct err *);

/* box_net_end(net): close, and reap the maker. Whoever began calls it when it has passed ${net} on
 * by fork, or does not want it any more. */
void box_net_end(struct box_net *);

/* box_net_try(err): make the namespaces of a box with a door and let go of them: can it be done on
 * this machine? */
int box_net_try(struct err *);

#define _cleanup_net_ __attribute__((cleanup(box_net_end)))

/* A socket of the door's network namespace. */
struct door_socket {
        uint32_t port; /* DOOR_PORT_* of wire/door.h, or a TCP port that listens already */
        int fd;
};

struct box {
        pid_t pid; /* pid 1 of the box, seen from here */
        int pidfd;
        int ctl_fd; /* SEQPACKET, not blocking, messages of wire/msg.h */
        struct box_cgroup cgroup;
};

/* What pid 1 runs at once when the walls are up, without waiting to be asked: exec id 1. */
struct box_first {
        const struct msg_spawn *spawn;
        int fds[3]; /* stdin, stdout, stderr for the command; -1s when it has a terminal */
};

/* box_start(plan, first, net_fd, box, err):
 * Make pid 1 in the namespaces begun by box_net_begin and let it build the walls. Returns as soon
 * as the process exists: what comes on ctl_fd is DOOR_SOCKETS if the plan has a door, then
 * MSG_BUILT; or MSG_BROKEN. ${first} may be NULL. ${net_fd} stays the caller's. The descriptors of
 * ${first} stay the caller's. On failure -1, and nothing is left behind. */
int box_start(const struct box_plan *, const struct box_first *, int net_fd, struct box *,
              struct err *);

/* box_end(box): kill everything in it, reap pid 1, remove the group, close. Returns the wait status
 * of pid 1. */
int box_end(struct box *);

#endif
