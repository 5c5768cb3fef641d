/* plan_share.c - how much of what the kernel counts per user one box may have, when nobody says
 * otherwise. docs/limits.md lists every such counter.
 *
 * A box has its owner's user id, or charges its owner through the user namespace's creator, so
 * whatever it takes its owner has no more. All boxes together get at most half, and what one of them
 * may have is settled when it starts, without asking those that run already, idle ones too: the first
 * (slots.h) gets a quarter, the second a twelfth, the third and the fourth an eighteenth each,
 * and box number k after them 5/(18k(k+1)), which adds up to an eighteenth however many there are.
 *
 * Descriptors are not divided: the kernel does not add up those that are open, and holds those that are
 * under way on sockets, of all the user's processes together, against the limit of who sends one. So no
 * more than the largest limit of a box are ever under way, and each may have a quarter. */
#include "session/plan.h"

#include "base/cleanup.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

/* A coding agent with a build running fits; a fork bomb does not. */
static const struct box_limits most = {
        .pids = 4096,
        .files = 65536,
        .inotify_watches = 524288,
        .inotify_instances = 1024,
        .signals = 16384,
        .messages = 819200,
        .locked = 64 << 20,
        .door_memory = 40 << 20, /* two windows of brotli, or 4096 idle connections */
};

/* Below this programs do not start; one owner does not run so many boxes that it adds up. */
static const struct box_limits least = {
        .pids = 256,
        .files = 256,
        .inotify_watches = 128,
        .inotify_instances = 4,
        .signals = 256,
        .messages = 98304, /* one queue as programs make it */
        .locked = 64 << 10,
};

/* share_counter(name): what the user may have in all, UINT64_MAX where the kernel does not say. */
static uint64_t share_counter(const char *name)
{
        char path[64];
        uint64_t all;
        snprintf(path, sizeof path, "/proc/sys/user/%s", name);
        _cleanup_fclose_ FILE *f = fopen(path, "re");
        return f && fscanf(f, "%" SCNu64, &all) == 1 ? all : UINT64_MAX;
}

uint64_t plan_share_part(uint64_t all, unsigned slot)
{
        static const unsigned first[] = {4, 12, 18, 18};
        enum { FIRST_N = sizeof first / sizeof *first };
        if (slot <= FIRST_N) /* numbers begin with 1 */
                return all / first[slot ? slot - 1 : 0];
        return all / 18 / ((uint64_t)slot * (slot + 1)) * (FIRST_N + 1);
}

static uint64_t share_of(uint64_t all, unsigned slot, uint64_t low, uint64_t high)
{
        uint64_t share = plan_share_part(all, slot);
        return share < low ? low : share > high ? high : share;
}

/* share_rlimit(which): what the owner may have; its programs may have less, and no more. */
static uint64_t share_rlimit(int which)
{
        struct rlimit l;
        if (getrlimit((__rlimit_resource_t)which, &l) < 0 || l.rlim_max == RLIM_INFINITY)
                return UINT64_MAX;
        return l.rlim_max;
}

void plan_share_memory(struct box_limits *l)
{
        struct sysinfo machine;
        if (!l->memory || sysinfo(&machine) < 0)
                return;
        uint64_t most_of_it = (uint64_t)machine.totalram * machine.mem_unit / 4 * 3;
        if (l->memory > most_of_it)
                l->memory = most_of_it;
}

void plan_share(const struct session_plan *plan, struct box_limits *l)
{
        unsigned slot = plan->slot;
        *l = most;
        /* Our own processes have their caller's hard limit, so they can send when no box can.
         * Processes count for the user that made the namespace as well. A box of root has a user id
         * of its own, so only its own pid 1 is to be left room. */
        l->files = share_of(share_rlimit(RLIMIT_NOFILE), 1, least.files, most.files);
        if (!plan->box.is_by_root)
                l->pids = share_of(share_rlimit(RLIMIT_NPROC), slot, least.pids, most.pids);
        l->signals = share_of(share_rlimit(RLIMIT_SIGPENDING), slot, least.signals, most.signals);
        l->messages = share_of(share_rlimit(RLIMIT_MSGQUEUE), slot, least.messages, most.messages);
        l->locked = share_of(share_rlimit(RLIMIT_MEMLOCK), slot, least.locked, most.locked);
        l->inotify_watches = share_of(share_counter("max_inotify_watches"), slot,
                                      least.inotify_watches, most.inotify_watches);
        l->inotify_instances = share_of(share_counter("max_inotify_instances"), slot,
                                        least.inotify_instances, most.inotify_instances);
}
