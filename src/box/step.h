/* step.h - the set-up steps of a box, in the order of the table in build.c. They run in the new
 * namespaces, as the process that will be pid 1, before any code of the box runs. Each reads back
 * what it did where the kernel lets it; the first that fails ends the box. */
#ifndef BOX_STEP_H
#define BOX_STEP_H

#include "box/plan.h"
#include "box/verify.h"

struct err;

struct build {
        const struct box_plan *plan;
        struct verify outside; /* the supervisor's namespaces */
        int ctl_fd;            /* to the supervisor */
        /* By root only: detached, idmapped copies of each mount's source and layer, made by the
         * supervisor, because a high uid cannot walk to them. -1 where there is none. */
        const int *source_fds;
        const int *layer_fds;
        int *const *lower_fds; /* of each mount, as many as it has lowers */
        int keep_fds[4]; /* what step_fds leaves open besides 0-2: the control socket, and the pipes
                            of the first command; -1 where there is none */
        int root_on_fd;  /* the host directory that the new root is mounted on */
        int mask_fd;     /* what hides the rest of /etc (plan.etc_mask) */
        int trust_fd;    /* what lies over it (plan.etc_trust), or -1 */
        int net_fd;      /* where the network comes from (net.h) */
        volatile int notify_fd; /* what hears of the box's calls (notify.h); < 0: nobody does */
        int shown_root_fd;      /* the root, for who looks up the programs that it hears of */
        bool is_carried;        /* a helper sends both */
        int stage_fd;           /* a tmpfs beside the new root, gone when the box is built */
        int root_fd;            /* the new root */
        int empty_fd;           /* an empty directory: second lower of the lower-only overlays */
};

int step_verify(struct build *, struct err *);    /* verify.c: the namespaces are new */
int step_ids(struct build *, struct err *);       /* ids.c: uid and gid, no groups */
int step_private(struct build *, struct err *);   /* root.c: nothing propagates (case 26) */
int step_root(struct build *, struct err *);      /* root.c: the new root and its skeleton */
int step_etc(struct build *, struct err *);       /* etc.c */
int step_dev(struct build *, struct err *);       /* dev.c */
int step_proc(struct build *, struct err *);      /* procfs.c: fresh proc, masked; a made-up /sys */
int step_trees(struct build *, struct err *);     /* trees.c: every mount of the plan */
int step_network(struct build *, struct err *);   /* net.c: join it, open the door */
int step_name(struct build *, struct err *);      /* ids.c: host name */
int step_ns_limits(struct build *, struct err *); /* nslimits.c: no nested namespaces (case 7) */
int step_pivot(struct build *, struct err *);     /* root.c: the old root is gone (case 27) */
int step_keyring(struct build *, struct err *);   /* drop.c: a fresh session keyring (case 9) */
int step_rlimits(struct build *, struct err *);   /* nslimits.c */
int step_watched(struct build *, struct err *);   /* watched.c: for the supervisor's looks */
int step_fds(struct build *, struct err *);      /* drop.c: only the listed descriptors (case 29) */
int step_caps(struct build *, struct err *);     /* drop.c: no capability in any set */
int step_landlock(struct build *, struct err *); /* landlock.c */
int step_filter(struct build *, struct err *);   /* drop.c: seccomp, last */

/* step_tmpfs(b, mode, err): a detached memory file system of at most half the box's memory, in
 * bytes and in inodes. */
int step_tmpfs(struct build *, const char *mode, struct err *);

/* step_target(b, path, is_dir, err): make ${path} in the new root, component by component without
 * following a symlink, and return an O_PATH descriptor of it. */
int step_target(struct build *, const char *path, bool is_dir, struct err *);

#endif
