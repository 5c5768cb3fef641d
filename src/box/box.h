/* box.h - a box as its supervisor sees it: a process to wait for, a socket to talk to, a group that
 * limits it. Everything else is inside. */
#ifndef BOX_BOX_H
#define BOX_BOX_H

#include "box/cgroup.h"
#include "box/plan.h"

#include <sys/types.h>

struct err;
struct msg_spawn;

struct box {
        pid_t pid; /* pid 1 of the box, seen from here */
        int pidfd;
        int ctl_fd; /* SEQPACKET, messages of wire/msg.h */
        struct box_cgroup cgroup;
};

/* What pid 1 runs at once when the walls are up, without waiting to be asked: exec id 1. */
struct box_first {
        const struct msg_spawn *spawn;
        int fds[3]; /* stdin, stdout, stderr for the command; -1s when it has a terminal */
};

/* box_start(plan, first, box, err):
 * Make the namespaces and let the new pid 1 build the walls. Returns as soon as the process exists:
 * the first frame on ctl_fd is MSG_BUILT or MSG_BROKEN. ${first} may be NULL. The descriptors of
 * ${first} stay the caller's. On failure -1, and nothing is left behind. */
int box_start(const struct box_plan *, const struct box_first *, struct box *, struct err *);

/* box_end(box): kill everything in it, reap pid 1, remove the group, close. Returns the wait status
 * of pid 1. */
int box_end(struct box *);

#endif
