/* plan.h - what a box is, before it is built: pure data, made by session, carried out by box,
 * printed by `ostiary explain`. Nothing in here is decided later: the box is exactly its plan. */
#ifndef BOX_PLAN_H
#define BOX_PLAN_H

#include "base/strs.h"
#include "box/limits.h"
#include "box/seccomp_watch.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum box_mount_kind {
        BOX_MOUNT_TREE, /* host directory, read-only, as a lower-only overlay: sockets and FIFOs in
                           it are dead (B1) */
        BOX_MOUNT_COW,  /* host directory copy-on-write: upper and work lie in the box's layers;
                           without a layer it is read-only, and so are the lowers over it */
        BOX_MOUNT_LIVE, /* host directory itself, read-write: --live and rw binds */
        BOX_MOUNT_HOME, /* the box's own home: `source` is the accepted layer or NULL */
        BOX_MOUNT_FILE, /* one host file, read-only (a native binary of the agent) */
        BOX_MOUNT_SHIELD, /* a file or directory within a LIVE one, read-only there */
};

struct box_mount {
        enum box_mount_kind kind;
        char *source;       /* absolute host path, resolved; NULL for an empty HOME */
        char *target;       /* absolute path in the box */
        char *layer;        /* COW and HOME: host directory that holds upper/ and work/ */
        struct strs lowers; /* COW and HOME: frozen layers between upper and source, topmost first
                             */
        char *why;          /* words for explain: "workspace", "toolchain: nvm", ... */
};

struct box_plan {
        char *id;
        char *hostname;
        char *root_dir;  /* empty host directory of ours to mount the new root on */
        char *etc_mask;  /* host directory of ours: whiteouts for what /etc must not show */
        char *etc_trust; /* host directory of ours that lies over /etc: whom to trust; or NULL */

        bool is_by_root;          /* started by root: kernel ids are high, mounts are idmapped */
        uid_t uid, gid;           /* inside */
        uid_t kuid, kgid;         /* what the kernel counts for */
        uid_t disk_uid, disk_gid; /* who owns its layers: another one where mounts are idmapped */

        char *user;
        char *home;
        char *shell;
        char *cwd;
        struct strs env;

        struct box_mount *mounts; /* parents before children */
        size_t mounts_n;
        struct strs links; /* "target\npath": symlinks in the root, e.g. "usr/bin\n/bin" */

        struct box_limits limits;
        enum box_audit audit; /* which calls are recorded */

        bool has_door;        /* its network leads to the door; otherwise it has a loopback alone */
        uint16_t *door_ports; /* TCP ports that listen there from the start; 53 needs no mention */
        size_t door_ports_n;
        bool has_ssh_agent; /* a socket for it is made in the box, and is the door's */
};

struct box_mount *box_plan_mount(struct box_plan *, enum box_mount_kind, const char *source,
                                 const char *target, const char *layer, const char *why);
/* box_plan_port(p, port): one more port that listens at the door. One that is there already, and
 * 53, which always is, are not added again. */
void box_plan_port(struct box_plan *, uint16_t port);
/* box_mount_free(m): what it points to. */
void box_mount_free(struct box_mount *);
void box_plan_free(struct box_plan *);

/* Who owns the layers of boxes that root started. High enough to be nobody's. A running box of root
 * is this plus its slot (session/slots.h), because the kernel counts per user what boxes would
 * otherwise take from each other: descriptors under way, pipe pages, locked memory. */
#define BOX_HIGH_ID 0x6f730000u
#define BOX_HIGH_N  0x1000u

#endif
