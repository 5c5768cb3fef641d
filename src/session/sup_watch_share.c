/* sup_watch_share.c - what a box holds that others need: memory, where no control group counts it,
 * and the counters that the kernel keeps per user and no namespace divides.
 *
 * A box is ended for memory when it has more than its limit. It is ended for a counter only when
 * two things are true: its owner is really hurt, which is tried out here because the supervisor is
 * the same user, and the box holds more than a share of it. A build with many pipes goes on as long
 * as nobody misses them. */
#include "session/sup_watch.h"

#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/str.h"
#include "box/weak.h"
#include "session/sup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
        PIPE_PAGES = 16,    /* of a pipe as it is made */
        FDS_MOST = 131072,  /* descriptors of all processes together */
        OWNER_FILES = 1024, /* what an ordinary program may have open */
};

static uint64_t share_setting(const char *path, uint64_t otherwise)
{
        char text[32] = "";
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
                return otherwise;
        return strtoull(text, NULL, 10);
}

/* share_machine(name): what the machine has of one kind of memory, in bytes. */
static uint64_t share_machine(const char *name)
{
        char text[4096];
        _cleanup_close_ int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        text[n > 0 ? n : 0] = 0;
        const char *at = strstr(text, name);
        return at ? strtoull(at + strlen(name), NULL, 10) * 1024 : 0;
}

/* share_shmem(): bytes of shared memory that the machine has in use. */
static uint64_t share_shmem(void)
{
        return share_machine("\nShmem:");
}

/* share_others(): bytes of shared memory that are plainly not the box's: in the machine's own tmpfs
 * mounts and System V segments. */
static uint64_t share_others(void)
{
        _cleanup_fclose_ FILE *f = fopen("/proc/self/mountinfo", "re");
        char line[8192], on[4096];
        uint64_t sum = 0, seen[64];
        size_t seen_n = 0;
        while (f && fgets(line, sizeof line, f)) {
                unsigned major, minor;
                struct statfs fs;
                if (!strstr(line, " - tmpfs ") ||
                    sscanf(line, "%*s %*s %u:%u %*s %4095s", &major, &minor, on) != 3)
                        continue;
                uint64_t dev = makedev(major, minor);
                bool is_new = seen_n < sizeof seen / sizeof *seen;
                for (size_t i = 0; i < seen_n; i++)
                        is_new &= seen[i] != dev;
                if (!is_new || statfs(on, &fs) < 0 || fs.f_type != TMPFS_MAGIC)
                        continue;
                seen[seen_n++] = dev;
                sum += (uint64_t)(fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize;
        }
        struct usage_eyes own = USAGE_BLIND;
        own.fd[MSG_WATCHED_SHM] = open("/proc/sysvipc/shm", O_RDONLY | O_CLOEXEC);
        sum += usage_sysv(&own);
        usage_close(&own);
        return sum;
}

/* --- is the owner hurt? The supervisor has the same user id, so what it gets the owner gets. --- */

static bool is_short_of_pipes(void)
{
        int p[2];
        if (pipe2(p, O_CLOEXEC) < 0)
                return true;
        bool is_small = fcntl(p[0], F_GETPIPE_SZ) < PIPE_PAGES * (int)sysconf(_SC_PAGESIZE);
        close(p[0]);
        close(p[1]);
        return is_small;
}

static bool is_short_of_epoll(void)
{
        _cleanup_close_ int ep = epoll_create1(EPOLL_CLOEXEC);
        int p[2];
        if (ep < 0 || pipe2(p, O_CLOEXEC) < 0)
                return false;
        struct epoll_event e = {.events = EPOLLIN};
        bool is_full = epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &e) < 0 && errno == ENOSPC;
        close(p[0]);
        close(p[1]);
        return is_full;
}

static bool is_short_of_memory(void)
{
        return share_machine("\nMemAvailable:") < share_machine("MemTotal:") / 16;
}

/* is_short_of_flight(): could a program with half the usual limit of descriptors send one? The
 * kernel compares what the whole user has under way with the sender's own limit. */
static bool is_short_of_flight(void)
{
        struct rlimit own, low;
        int pair[2];
        if (getrlimit(RLIMIT_NOFILE, &own) < 0 ||
            socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
                return false;
        low = (struct rlimit){.rlim_cur = OWNER_FILES / 2, .rlim_max = own.rlim_max};
        bool is_full = false;
        if (setrlimit(RLIMIT_NOFILE, &low) == 0) {
                is_full = fdio_send(pair[0], "", 1, &pair[1], 1) < 0 && errno == ETOOMANYREFS;
                setrlimit(RLIMIT_NOFILE, &own);
        }
        close(pair[0]);
        close(pair[1]);
        return is_full;
}

/* --- and does this box hold more than a share? --------------------------------------------------- */

static void share_end(struct sup *s, const char *what)
{
        char words[256];
        snprintf(words, sizeof words, "it held %s, more than one box's share of what its owner has",
                 what);
        sup_end(s, MSG_END_MEMORY, SIGKILL, words);
}

/* share_of_slot(s, all): as in plan_share.c. */
static uint64_t share_of_slot(const struct sup *s, uint64_t all)
{
        uint64_t k = s->plan->slot;
        return all / 2 / (k * (k + 1));
}

static void share_counters(struct sup *s)
{
        struct watch_share *w = &s->watch->share;
        char what[96];
        if (w->u.fds_n > FDS_MOST || !w->u.is_whole) {
                snprintf(what, sizeof what, "%" PRIu64 " open descriptors", w->u.fds_n);
                share_end(s, what);
                return;
        }
        if (s->plan->box.is_by_root)
                return; /* a user of its own */
        uint64_t pages = share_setting("/proc/sys/fs/pipe-user-pages-soft", 16384);
        if (w->is_piped && w->u.pipes_n * PIPE_PAGES > share_of_slot(s, pages)) {
                snprintf(what, sizeof what, "%" PRIu64 " pipes", w->u.pipes_n);
                share_end(s, what);
                return;
        }
        uint64_t watches = share_setting("/proc/sys/fs/epoll/max_user_watches", UINT64_MAX);
        if (w->u.epolls > share_of_slot(s, watches) && is_short_of_epoll()) {
                share_end(s, "nearly all epoll watches");
                return;
        }
        /* Pipes can be parked as well. */
        w->crowded = w->u.flying_n && (w->is_crowded || w->is_piped) ? w->crowded + 1 : 0;
        if (w->crowded >= WATCH_UNSEEN)
                share_end(s, "descriptors under way on sockets that nobody receives");
}

/* share_stray(s): shared memory that the machine has lost since the box began, and that is neither in
 * the box's sight nor in ours. It may be anybody's. */
static uint64_t share_stray(const struct sup *s)
{
        const struct watch_share *w = &s->watch->share;
        uint64_t known = w->shmem_first + w->u.shared + w->u.memfds + w->u.tmpfs + w->u.sysv;
        if (w->shmem <= known)
                return 0;
        uint64_t others = share_others();
        known += others > w->others_first ? others - w->others_first : 0;
        return w->shmem > known ? w->shmem - known : 0;
}

/* share_wants(s): what it is worth to look for: is the owner hurt, is memory missing? */
static unsigned share_wants(struct sup *s)
{
        struct watch_share *w = &s->watch->share;
        uint64_t limit = s->plan->box.limits.memory;
        bool is_counted = limit && !(s->box.cgroup.has & 1u << BOX_CTL_MEMORY);
        w->is_crowded = !s->plan->box.is_by_root && is_short_of_flight();
        w->is_piped = !s->plan->box.is_by_root && is_short_of_pipes();
        bool is_missing = is_counted && share_stray(s) > limit / 4;
        bool is_parked = w->is_crowded || w->is_piped || is_missing;
        return (is_parked ? USAGE_FLYING : 0) | (w->is_piped ? USAGE_FIFOS : 0) |
               (is_missing ? USAGE_MAPS : 0);
}

/* share_memory(s): all that is its. Of the stray memory, and only of what went astray while the box was
 * at work: as much as it has mapped and closed. All of it when there are descriptors that no look sees,
 * and when it has mapped a part of something while the machine has next to nothing left. */
static uint64_t share_memory(struct sup *s)
{
        struct watch_share *w = &s->watch->share;
        uint64_t sum = usage_memory(&w->u),
                 ours = watch_doubt(&w->doubt, share_stray(s), w->u.motion);
        w->unseen = w->u.unseen_n ? w->unseen + 1 : 0;
        bool is_all = w->unseen >= WATCH_UNSEEN || ours < w->u.mapped ||
                      (w->u.mapped && is_short_of_memory());
        return sum + (is_all ? ours : w->u.mapped);
}

static void share_over(struct sup *s, const char *who, uint64_t now)
{
        char words[256], a[16], b[16];
        snprintf(words, sizeof words, "%s used %s, more than the memory limit of %s", who,
                 str_size_words(now, a), str_size_words(s->plan->box.limits.memory, b));
        sup_end(s, MSG_END_MEMORY, SIGKILL, words);
}

/* share_check_memory(s): how long it may last until the limit; 0 when it is over it. A control group
 * does not count the queues of every kind of socket: those alone may not have the limit over again. */
static uint64_t share_check_memory(struct sup *s)
{
        uint64_t limit = s->plan->box.limits.memory, now = share_memory(s);
        uint64_t loose = s->watch->share.u.loose;
        if (now > s->memory_peak_seen)
                s->memory_peak_seen = now;
        bool has_group = s->box.cgroup.has & 1u << BOX_CTL_MEMORY;
        uint64_t counted = has_group ? loose : now;
        if (!limit)
                return WATCH_IDLE_MS;
        if (counted <= limit)
                return watch_pause(limit - counted);
        share_over(s, has_group ? "its sockets" : "its processes", counted);
        return WATCH_IDLE_MS;
}

/* share_is_still(a, b): nothing happens in the box, as far as two looks can tell. */
static bool share_is_still(const struct usage *a, const struct usage *b)
{
        return a->procs_n == b->procs_n && a->fds_n == b->fds_n && a->private == b->private &&
               a->memfds == b->memfds && a->sockets == b->sockets;
}

uint64_t watch_share(struct sup *s, uint64_t now)
{
        struct watch_share *w = &s->watch->share;
        struct usage before = w->u;
        /* Its /proc is the host's; or what holds without a control group is left out. */
        if (box_weak(WEAK_PIDNS) || box_weak(WEAK_RLIMITS))
                return WATCH_IDLE_MS;
        if (!w->is_begun) {
                w->is_begun = true;
                w->shmem_first = share_shmem();
                w->others_first = share_others();
        }
        w->shmem = share_shmem();
        usage_look(&s->watch->eyes, share_wants(s), &w->u);
        uint64_t limit = s->plan->box.limits.memory, pause = share_check_memory(s);
        bool is_near = limit && usage_memory(&w->u) > limit / 4;
        share_counters(s);

        /* A box that does nothing is looked at ever more seldom, up to once a second. */
        uint64_t idle = w->idle_ms < WATCH_BUSY_MS ? WATCH_BUSY_MS : w->idle_ms;
        w->idle_ms = share_is_still(&before, &w->u) ? idle * 2 : WATCH_BUSY_MS;
        if (w->idle_ms > WATCH_IDLE_MS)
                w->idle_ms = WATCH_IDLE_MS;
        if (w->idle_ms < pause)
                pause = w->idle_ms;
        /* To look costs a twentieth of the time, and half of it when the limit is near: or who makes
         * looking slow would be looked at seldom. */
        uint64_t took = (watch_now() - now) * (is_near ? 1 : 20);
        return took > pause ? took : pause;
}
