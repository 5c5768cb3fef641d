/* cgroup.h - one control group per box: memory, processes, cpu.
 *
 * Used by the supervisor, with the user's rights, outside the box; the box never sees a cgroup
 * filesystem. Three worlds: cgroup v2 where we are allowed to make a group (delegation, a systemd
 * scope of our own, or root), cgroup v1 where we own our groups (root), or neither. Neither is not
 * a failure: the box then has rlimits alone, and ${why} says so and what would change it.
 *
 * Order of calls: make; enter; clone pid 1 with box_cgroup_clone_fd() as CLONE_INTO_CGROUP when it
 * is not -1; leave; read whenever; kill; remove when pid 1 has been reaped. That way pid 1 is born
 * in its groups, which costs nothing; moving a living process costs the kernel an RCU grace period,
 * 5 to 20 ms. pid 1 should unshare(CLONE_NEWCGROUP) itself instead of being cloned with that flag:
 * the kernel roots a cgroup namespace made by clone in the *parent's* v2 group, and
 * /proc/self/cgroup inside would then lead through ours. */
#ifndef BOX_CGROUP_H
#define BOX_CGROUP_H

#include "box/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

enum box_cgroup_kind { BOX_CGROUP_NONE, BOX_CGROUP_V2, BOX_CGROUP_V1 };

/* Controllers we use, also the index of a v1 group's place in struct box_cgroup. */
enum box_cgroup_ctl { BOX_CTL_MEMORY, BOX_CTL_PIDS, BOX_CTL_CPU, BOX_CTL_N };

#define BOX_CGROUP_PATH_MAX 512
#define BOX_CGROUP_ID_MAX   64

struct box_cgroup {
        enum box_cgroup_kind kind;
        int fd[BOX_CTL_N]; /* v2: the one group is fd[0]; v1: one per controller; unused: -1 */
        char dir[BOX_CTL_N][BOX_CGROUP_PATH_MAX];  /* same index; "" when unused */
        char home[BOX_CTL_N][BOX_CGROUP_PATH_MAX]; /* v1: our own group, to go back to */
        bool is_entered;
        unsigned has; /* bit per box_cgroup_ctl: this limit was asked for and the kernel holds it */
        char why[256]; /* one sentence: what holds which limit, or why nothing can */
};

/* What a box used and what its limits did to it. A field the kernel does not offer is 0. */
struct box_usage {
        uint64_t memory;       /* bytes now */
        uint64_t memory_peak;  /* bytes at most so far */
        uint64_t pids;         /* processes and threads now */
        uint64_t cpu_us;       /* microseconds of cpu so far */
        uint64_t oom_kills;    /* processes killed because memory was used up */
        uint64_t pids_refused; /* forks refused by the pids limit */
        uint64_t throttled;    /* periods in which the cpu limit made the box wait */
};

/* box_cgroup_make(cg, box_id, limits, err):
 * Make the group of box ${box_id} (letters, digits, '-', '_', '.') with ${limits} and fill ${cg}.
 * Picks v2, v1 or NONE; NONE returns 0 as well. May move the calling process, never others than it
 * and its parent, into a leaf group when that is what makes the layout legal. On failure returns -1
 * with ${err} and nothing left behind: an unusable ${box_id}, or a limit that the kernel refused to
 * take although the group could be made. Holds a lock on the group until box_cgroup_remove or
 * death, which is how box_cgroup_sweep knows that it is in use. */
int box_cgroup_make(struct box_cgroup *, const char *box_id, const struct box_limits *,
                    struct err *);

/* box_cgroup_clone_fd(cg): v2: the directory for clone3's CLONE_INTO_CGROUP, still ${cg}'s; else
 * -1. */
int box_cgroup_clone_fd(const struct box_cgroup *);

/* box_cgroup_enter(cg, err) and box_cgroup_leave(cg, err):
 * v1: step into the group and back out, so that what is cloned in between is born there. Moves the
 * calling thread only. v2 and NONE: nothing to do, 0. A leave that fails ends in -1 with the caller
 * still limited as the box is: give the box up. */
int box_cgroup_enter(struct box_cgroup *, struct err *);
int box_cgroup_leave(struct box_cgroup *, struct err *);

/* box_cgroup_kill(cg):
 * SIGKILL everything in the group, whatever it does meanwhile. Returns 0 when the group was told or
 * is empty, -1 when something still lived after 50 rounds (only v1 and kernels before 5.14 can).
 * With NONE returns 0 and does nothing: killing pid 1 is what ends a box. */
int box_cgroup_kill(const struct box_cgroup *);

/* box_cgroup_read(cg, usage): what the group used so far; all zero for NONE. */
void box_cgroup_read(const struct box_cgroup *, struct box_usage *);

/* box_cgroup_remove(cg):
 * Close and delete the group. The kernel may call a group busy for a moment after its last process
 * is gone; waits at most 200 ms for that, then leaves the rest to box_cgroup_sweep. Idempotent. */
void box_cgroup_remove(struct box_cgroup *);

/* box_cgroup_probe(sentence, len):
 * For doctor and explain: really makes a group, in a child process, and removes it. Returns the
 * box_cgroup_kind and writes what holds which limit, what is missing, and the fix. */
int box_cgroup_probe(char *sentence, size_t);

/* box_cgroup_sweep(is_alive, ctx):
 * For gc: delete groups of ours that hold no process, are locked by no supervisor and whose id
 * ${is_alive} (may be NULL) does not claim. Returns how many were deleted. */
int box_cgroup_sweep(int (*is_alive)(const char *box_id, void *ctx), void *ctx);

#endif
