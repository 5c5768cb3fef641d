/* sup_watch.h - the supervisor's looks at its box: how much it has written (sup_watch_disk.c), and
 * what it holds of the machine's memory and of its owner's counters (sup_watch_share.c).
 *
 * Each look says how long the next may wait: so long that even the fastest machine could not use
 * up what is left until then, and never so often that looking costs more than a twentieth of the
 * time. */
#ifndef SESSION_SUP_WATCH_H
#define SESSION_SUP_WATCH_H

#include "session/usage.h"

#include <stdint.h>

struct sup;

/* Nobody fills memory, or the cache of a disk, faster than this: bytes in a millisecond. */
#define WATCH_RATE ((uint64_t)4 << 20)

enum { WATCH_SOON_MS = 10, WATCH_BUSY_MS = 100, WATCH_IDLE_MS = 1000 };

enum {
        WATCH_LIVE_MAX = 8,
        WATCH_UNSEEN = 2 /* looks in a row: what is under way for so long is parked there */
};

/* Something that the machine has lost and that may be anybody's: what of it can be the box's. It grew
 * while a process of the box ran. */
struct watch_doubt {
        uint64_t last, ours;
        uint64_t motion;
};

struct watch_disk {
        int live_fd[WATCH_LIVE_MAX]; /* directories of the host on other disks, written directly */
        size_t live_n;
        uint64_t free_first, free_then; /* at the start, and when the tree was last counted */
        uint64_t maps_at;               /* when looking for nameless files is not too often */
        uint64_t tree_first;            /* bytes that the box's directory had at the start */
        uint64_t tree_then;             /* bytes that the box's directory had then */
        uint64_t parked;                /* bytes of deleted files, in sockets too */
        uint64_t mapped;                /* bytes of files that are only mapped, at most */
        struct watch_doubt doubt;       /* of what the disk has lost and the tree does not show */
        unsigned unseen;                /* looks in a row that could not look everywhere */
        uint64_t count_at;              /* when counting it again would not be too often */
        uint64_t now;                   /* what the box has written, as far as is known */
        bool is_begun;
};

struct watch_share {
        struct usage u;        /* the last look */
        uint64_t idle_ms;      /* how long the last pause was */
        uint64_t shmem_first;  /* the machine's shared memory at the start */
        uint64_t shmem;        /* and before the last look */
        uint64_t others_first; /* of that, what is known to be somebody else's */
        struct watch_doubt doubt;
        unsigned unseen;  /* looks in a row that could not look everywhere */
        unsigned crowded; /* looks in a row in which the owner had no room to send any */
        bool is_piped;    /* its pipes are short of room */
        bool is_crowded;  /* the owner had no room to send one just now */
        bool is_begun;
};

struct sup_watch {
        struct usage_eyes eyes;
        struct watch_disk disk;
        struct watch_share share;
        uint64_t disk_at, share_at; /* when to look next, in milliseconds */
};

/* watch_disk(s, now), watch_share(s, now): look; the milliseconds until the next time. Either may
 * end the box. */
uint64_t watch_disk(struct sup *, uint64_t now);
uint64_t watch_share(struct sup *, uint64_t now);

/* watch_pause(left): how long ${left} bytes last at least, within bounds. */
uint64_t watch_pause(uint64_t left);
uint64_t watch_now(void);
/* watch_doubt(d, value, motion): ${value} was read before the look that said ${motion}; what of it may
 * be the box's. */
uint64_t watch_doubt(struct watch_doubt *, uint64_t value, uint64_t motion);

#endif
