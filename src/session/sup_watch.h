/* sup_watch.h - the supervisor's looks at its box: how much it has written (sup_watch_disk.c), and
 * what it holds of the machine's memory and of its owner's counters (sup_watch_share.c).
 *
 * Each look says how long the next may wait: so long that even the fastest machine could not use
 * up what is left until then, and never so often that looking costs more than a twentieth of the
 * time. A box can make a look slow; so the supervisor's own is short, what that does not see is looked at
 * in a process of its own (sup_watch_deep.c), and between looks it is asked how much memory the
 * machine has lost, which costs next to nothing. */
#ifndef SESSION_SUP_WATCH_H
#define SESSION_SUP_WATCH_H

#include "session/usage.h"

#include <stdbool.h>
#include <stdint.h>

struct loop_src;
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
        uint64_t maps_hidden;           /* bytes that were hidden when the last such look began */
        bool is_asked;                  /* that look is under way */
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
        struct usage u;        /* the last look; what it could not see, from the last look apart */
        struct usage deep;     /* the last look apart, as long as one is wanted */
        uint64_t look_at;      /* when the next look is due */
        uint64_t tick_ms;      /* how often it is asked until then whether memory is going */
        uint64_t room;         /* what the machine had left at the last look, in bytes */
        uint64_t room_most;    /* the most that it had left at any look */
        uint64_t left;         /* and the box of its limit */
        uint64_t idle_ms;      /* how long the last pause was */
        uint64_t shmem_first;  /* the machine's shared memory at the start */
        uint64_t shmem;        /* and before the last look */
        uint64_t others_first; /* of that, what is known to be somebody else's */
        uint64_t sum;          /* over all processes, when the last look apart was over */
        uint64_t extra;        /* bytes of stray shared memory that are the box's */
        struct watch_doubt doubt;
        uint64_t pages_first; /* pages of the machine that belong to nothing it has a name for */
        struct watch_doubt pages; /* and how many more they are */
        unsigned unseen;          /* looks in a row that could not look everywhere */
        unsigned crowded;         /* looks in a row in which the owner had no room to send any */
        unsigned piped;           /* looks in a row in which the box had too many pipes */
        uint64_t piped_at;        /* when the first of them was */
        unsigned watched;         /* the same of epoll watches */
        unsigned wants;           /* what a look apart would be for */
        bool is_piped;            /* its pipes are short of room */
        bool is_crowded;          /* the owner had no room to send one just now */
        bool is_missing;          /* there is memory that no look has seen */
        bool is_begun;
};

/* The look apart: there is one at a time. */
struct watch_deep {
        struct usage_apart apart;
        struct loop_src *src;
        unsigned wants;
        uint64_t begun;  /* when it began */
        uint64_t at;     /* when the next one is not too often */
        unsigned lost_n; /* in a row that took too long */
};

struct sup_watch {
        struct usage_eyes eyes;
        struct watch_disk disk;
        struct watch_share share;
        struct watch_deep deep;
        uint64_t disk_at, share_at; /* when to look next, in milliseconds */
};

/* watch_deep(s, wants, is_urgent): look in a process of its own, soon: unless one is under way, or it would
 * be too often. Those that have cost much are rare, or half of the time when it is urgent. What it saw comes
 * to watch_share_deep and watch_disk_deep; NULL when it took too long and was given up. watch_deep_tick(s):
 * is it time to do that? watch_deep_end(s): none is under way any more. */
void watch_deep(struct sup *, unsigned wants, bool is_urgent);
void watch_deep_tick(struct sup *);
void watch_deep_end(struct sup *);
void watch_share_deep(struct sup *, const struct usage *);
void watch_disk_deep(struct sup *, const struct usage *);

/* watch_disk(s, now), watch_share(s, now): look; the milliseconds until the next time. Either may
 * end the box. */
uint64_t watch_disk(struct sup *, uint64_t now);
uint64_t watch_share(struct sup *, uint64_t now);

/* sup_watch_machine.c, in bytes. setting(path, otherwise): a number in /proc/sys. shmem(): shared memory
 * that is in use. others(): of that, what is plainly not a box's: in the machine's own tmpfs mounts and System V
 * segments. pages(): pages that are neither free nor of a kind that the machine counts: those of pipes and
 * in the queues of sockets are so, and some of drivers. room(): what is left, swap included; whatever kind of
 * memory a box takes is gone from there. is_low(): that is next to nothing. */
uint64_t watch_machine_setting(const char *path, uint64_t otherwise);
uint64_t watch_machine_shmem(void);
uint64_t watch_machine_others(void);
uint64_t watch_machine_pages(void);
uint64_t watch_machine_room(void);
bool watch_machine_is_low(void);

/* watch_again(s): disk_at or share_at was changed. */
void watch_again(struct sup *);
/* watch_share_memory(s, u): what a fresh look says of the box's memory, as far as it may be believed. */
uint64_t watch_share_memory(const struct sup *, const struct usage *);

/* watch_pause(left): how long ${left} bytes last at least, within bounds. */
uint64_t watch_pause(uint64_t left);
/* watch_now(), watch_cpu(): milliseconds; of the clock, and of our own processor time. */
uint64_t watch_now(void);
uint64_t watch_cpu(void);
/* watch_doubt(d, value, motion): ${value} was read before the look that said ${motion}; what of it may
 * be the box's. */
uint64_t watch_doubt(struct watch_doubt *, uint64_t value, uint64_t motion);

#endif
