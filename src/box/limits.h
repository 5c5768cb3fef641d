/* limits.h - how much of the machine one box may use.
 *
 * Filled by session from flags, policy and profile; read by the cgroup files, by the rlimit step
 * and by the watchdog. Zero always means "no limit asked", so a zeroed struct limits nothing. */
#ifndef BOX_LIMITS_H
#define BOX_LIMITS_H

#include <stdint.h>

struct box_limits {
        uint64_t memory;          /* bytes, all processes together */
        uint64_t cpu_milli;       /* thousandths of a core: 500 is half of one, 2000 is two */
        uint64_t pids;            /* processes and threads together */
        uint64_t files;           /* open descriptors per process (RLIMIT_NOFILE) */
        uint64_t disk;            /* bytes written to the box's layers, watched by the supervisor */
        uint64_t time_s;          /* seconds until the box is stopped */
        uint64_t inotify_watches; /* through the user namespace's own counters */
        uint64_t inotify_instances; /* likewise */
        uint64_t signals;           /* queued signals and timers (RLIMIT_SIGPENDING) */
        uint64_t messages;          /* bytes of message queues (RLIMIT_MSGQUEUE) */
        uint64_t locked;            /* bytes of locked memory (RLIMIT_MEMLOCK) */
        uint64_t door_memory; /* bytes that the box's door holds for it; not of the box's own */
};

#endif
