/* errand_box.h - a box without door, supervisor or layers of its own, that runs git for errand.c:
 * its walls are those of any box. */
#ifndef SESSION_ERRAND_BOX_H
#define SESSION_ERRAND_BOX_H

#include <stdint.h>
#include <sys/types.h>

struct box_plan;
struct err;
struct git_call;
struct strs;

struct errand_box {
        pid_t keeper_pid; /* a child of ours that started it and reaps it; 0: there is no box */
        int hold_fd;      /* closed, also by our death: the box ends */
        int ctl_fd;       /* to pid 1 */
        uint32_t calls_n;
};

/* errand_box_start(box, plan, err): returns when the walls are up. On failure -1, and nothing is
 * left behind. errand_box_end(box): everything in it is killed; fine without one. */
int errand_box_start(struct errand_box *, const struct box_plan *, struct err *);
void errand_box_end(struct errand_box *);

/* errand_box_run(box, call, env, err): git with ${call} in it, and ${env} added to the box's. The
 * exit status, or -1: the box has ended then if the call was still running. */
int errand_box_run(struct errand_box *, const struct git_call *, const struct strs *env,
                   struct err *);

#endif
