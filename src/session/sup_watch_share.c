/* sup_watch_share.c - what a box holds that others need: memory, where no control group counts it,
 * and the counters that the kernel keeps per user and no namespace divides.
 *
 * A box is ended for memory when it has more than its limit. It is ended for a counter only when
 * two things are true: its owner is really hurt, which is tried out here because the supervisor is
 * the same user, and the box holds more than a share of it, for two looks in a row. A build with many
 * pipes goes on as long as nobody misses them. However small a share, so much that an ordinary program
 * needs is never too much: whoever has less is not the one that hurts. */
#include "session/sup_watch.h"

#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/str.h"
#include "box/weak.h"
#include "session/plan.h"
#include "session/sup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
        PIPE_PAGES = 16,                   /* of a pipe as it is made */
        FDS_MOST = 131072,                 /* descriptors of all processes together */
        OWNER_FILES = 1024,                /* what an ordinary program may have open */
        PIPES_LEAST = 64,                  /* what is nobody's undoing: pipes, */
        FLYING_LEAST = 64,                 /* descriptors under way, */
        EPOLLS_LEAST = 4096,               /* and watches */
        PIPES_WAIT_MS = 5 * WATCH_IDLE_MS, /* those that have more are looked at meanwhile */
};

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

static uint64_t share_of_slot(const struct sup *s, uint64_t all, uint64_t least)
{
        uint64_t part = plan_share_part(all, s->plan->slot);
        return part > least ? part : least;
}

/* share_pipes(s): has the box too many pipes? A descriptor under way that nobody can look at may be one.
 * Who has less than a quarter of them all goes after whoever has more. */
static void share_pipes(struct sup *s)
{
        struct watch_share *w = &s->watch->share;
        uint64_t all =
                watch_machine_setting("/proc/sys/fs/pipe-user-pages-soft", 16384) / PIPE_PAGES;
        uint64_t pipes_n = w->u.pipes_n + w->deep.unseen_n, now = watch_now();
        char what[96];
        if (!w->is_piped || pipes_n <= share_of_slot(s, all, PIPES_LEAST)) {
                w->piped = 0;
                return;
        }
        if (!w->piped++)
                w->piped_at = now;
        if (w->piped < WATCH_UNSEEN || (pipes_n <= all / 4 && now - w->piped_at < PIPES_WAIT_MS))
                return;
        snprintf(what, sizeof what, "%" PRIu64 " pipes", pipes_n);
        share_end(s, what);
}

static void share_epolls(struct sup *s)
{
        struct watch_share *w = &s->watch->share;
        uint64_t all = watch_machine_setting("/proc/sys/fs/epoll/max_user_watches", UINT64_MAX);
        bool is_over = w->u.epolls > share_of_slot(s, all, EPOLLS_LEAST) && is_short_of_epoll();
        w->watched = is_over ? w->watched + 1 : 0;
        if (w->watched >= WATCH_UNSEEN)
                share_end(s, "nearly all epoll watches");
}

static void share_files(struct sup *s)
{
        const struct watch_share *w = &s->watch->share;
        char what[96];
        if (w->u.fds_n <= FDS_MOST)
                return;
        snprintf(what, sizeof what, "%" PRIu64 " open descriptors", w->u.fds_n);
        share_end(s, what);
}

/* share_parked(s): what only a look apart knows. */
static void share_parked(struct sup *s)
{
        struct watch_share *w = &s->watch->share;
        char what[96];
        if (!w->deep.is_whole) {
                snprintf(what, sizeof what, "%" PRIu64 " open descriptors and mappings",
                         w->u.fds_n);
                share_end(s, what);
                return;
        }
        w->crowded = w->is_crowded && w->deep.flying_n > FLYING_LEAST ? w->crowded + 1 : 0;
        if (w->crowded >= WATCH_UNSEEN && !s->plan->box.is_by_root)
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
        uint64_t others = watch_machine_others();
        known += others > w->others_first ? others - w->others_first : 0;
        return w->shmem > known ? w->shmem - known : 0;
}

/* share_is_counted(s): is it the supervisor that holds the memory limit? */
static bool share_is_counted(const struct sup *s)
{
        return s->plan->box.limits.memory && !(s->box.cgroup.has & 1u << BOX_CTL_MEMORY);
}

/* share_wants(s): what it is worth to look for: is the owner hurt, is memory missing? */
static unsigned share_wants(struct sup *s)
{
        struct watch_share *w = &s->watch->share;
        w->is_crowded = !s->plan->box.is_by_root && is_short_of_flight();
        w->is_piped = !s->plan->box.is_by_root && is_short_of_pipes();
        w->is_missing = share_is_counted(s) && share_stray(s) > s->plan->box.limits.memory / 4;
        bool is_parked = w->is_crowded || w->is_piped || w->is_missing;
        return (is_parked ? USAGE_FLYING : 0) | (w->is_piped ? USAGE_FIFOS : 0) |
               (w->is_missing ? USAGE_MAPS | USAGE_FAIR : 0); /* what it finds may decide at once */
}

static void most(uint64_t *a, uint64_t b)
{
        *a = *a > b ? *a : b;
}

/* share_merge(u, deep): what the supervisor's own look did not see. */
static void share_merge(struct usage *u, const struct usage *deep)
{
        most(&u->fds_n, deep->fds_n);
        most(&u->memfds, deep->memfds);
        most(&u->deleted, deep->deleted);
        most(&u->pipes_n, deep->pipes_n);
        most(&u->epolls, deep->epolls);
        most(&u->flying_n, deep->flying_n);
}

/* share_extra(s): of the stray memory, and only of what went astray while the box was at work: as much as
 * it has mapped and closed. All of it when there are descriptors that no look sees, and when it has
 * mapped a part of something while the machine has next to nothing left. */
static uint64_t share_extra(struct sup *s)
{
        struct watch_share *w = &s->watch->share;
        uint64_t stray = share_stray(s), mapped = w->deep.mapped;
        uint64_t ours = w->doubt.ours < stray ? w->doubt.ours : stray;
        bool is_all =
                w->unseen >= WATCH_UNSEEN || ours < mapped || (mapped && watch_machine_is_low());
        return is_all ? ours : mapped;
}

/* share_unseen(w): what no table of the box's own shows. Of the pages that sockets may hold on to (a byte
 * of each, by splice), only what the machine lost of such pages while the box was at work. */
static uint64_t share_unseen(const struct watch_share *w)
{
        return w->extra + (w->u.pinned < w->pages.ours ? w->u.pinned : w->pages.ours);
}

static void share_over(struct sup *s, const char *who, uint64_t now)
{
        char words[256], a[16], b[16];
        snprintf(words, sizeof words, "%s used %s, more than the memory limit of %s", who,
                 str_size_words(now, a), str_size_words(s->plan->box.limits.memory, b));
        sup_end(s, MSG_END_MEMORY, SIGKILL, words);
}

static void share_note(struct sup *s, uint64_t counted)
{
        uint64_t limit = s->plan->box.limits.memory;
        s->watch->share.left = counted < limit ? limit - counted : 0;
        most(&s->memory_peak_seen, counted);
}

/* watch_share_memory(s, u): by the last fair look, if there is one, and what came since. */
uint64_t watch_share_memory(const struct sup *s, const struct usage *u)
{
        const struct watch_share *w = &s->watch->share;
        uint64_t sum = usage_memory(u), fair = usage_memory(&w->deep);
        if (!w->deep.is_fair)
                return sum;
        fair += sum > w->sum ? sum - w->sum : 0;
        return fair < sum ? fair : sum;
}

/* share_check_memory(s, least): a box is over its limit at once when ${least}, which is beyond doubt, is. When only the sum over
 * its processes is, they may share what they have, and a look apart decides. A control group does not
 * count the queues of every kind of socket: those alone may not have the limit over again. */
static unsigned share_check_memory(struct sup *s, uint64_t least)
{
        const struct watch_share *w = &s->watch->share;
        uint64_t limit = s->plan->box.limits.memory;
        uint64_t sum = usage_memory(&w->u) + share_unseen(w);
        if (limit && !share_is_counted(s)) {
                share_note(s, w->u.loose);
                if (w->u.loose > limit)
                        share_over(s, "its sockets", w->u.loose);
                return 0;
        }
        share_note(s, sum > limit ? watch_share_memory(s, &w->u) + share_unseen(w) : sum);
        if (limit && least > limit)
                share_over(s, "its processes", least);
        return limit && sum > limit ? USAGE_FAIR | USAGE_MAPS : 0;
}

/* share_is_still(a, b): nothing happens in the box, as far as two looks can tell. */
static bool share_is_still(const struct usage *a, const struct usage *b)
{
        return a->procs_n == b->procs_n && a->fds_n == b->fds_n && a->private == b->private &&
               a->memfds == b->memfds && a->sockets == b->sockets;
}

/* share_is_going(s): has the machine lost so much since the last look that it matters if it was the box? */
static bool share_is_going(const struct sup *s)
{
        const struct watch_share *w = &s->watch->share;
        if (!share_is_counted(s))
                return false;
        uint64_t room = watch_machine_room();
        return w->room > room && w->room - room > w->left / 4;
}

/* share_look(s): the supervisor's own look, and what of it wants another. */
static void share_look(struct sup *s, bool is_going)
{
        struct watch_share *w = &s->watch->share;
        w->room = watch_machine_room();
        most(&w->room_most, w->room);
        w->shmem = watch_machine_shmem();
        w->wants = share_wants(s);
        usage_look(&s->watch->eyes, 0, &w->u);
        bool is_blind = !w->u.is_whole || w->u.shut_n;
        uint64_t least = usage_memory_least(&w->u); /* before what was seen earlier */
        if (w->wants || is_blind)
                share_merge(&w->u, &w->deep);
        watch_doubt(&w->doubt, share_stray(s), w->u.motion);
        uint64_t pages = watch_machine_pages();
        watch_doubt(&w->pages, pages > w->pages_first ? pages - w->pages_first : 0, w->u.motion);
        if (!w->is_missing && !is_blind)
                w->extra = 0;
        w->wants |= share_check_memory(s, least);
        share_files(s);
        if (!s->plan->box.is_by_root && !s->is_ending) /* that is a user of its own */
                share_pipes(s);
        if (!s->plan->box.is_by_root && !s->is_ending)
                share_epolls(s);
        if (!w->wants && !is_blind) {
                w->deep = (struct usage){.is_whole = true}; /* old */
                return;
        }
        bool is_over = w->wants & USAGE_FAIR && !w->left;
        bool is_hurt = w->is_crowded || w->is_piped || w->is_missing;
        if (!s->is_ending)
                watch_deep(s, w->wants, is_going || is_over || is_hurt);
}

/* share_decide(s, u): a look that counts fairly is over, or two in a row took too long: then the sum over
 * all processes is all that is known, and the box has no more of that than the machine has lost. */
static void share_decide(struct sup *s, const struct usage *u)
{
        const struct watch_share *w = &s->watch->share;
        uint64_t limit = s->plan->box.limits.memory, sum = usage_memory(&w->u) + share_unseen(w);
        bool is_lost = !u && s->watch->deep.lost_n >= WATCH_UNSEEN;
        if (!share_is_counted(s) || sum <= limit || !((u && u->is_fair) || is_lost))
                return;
        uint64_t room = watch_machine_room(), lost = w->room_most > room ? w->room_most - room : 0;
        uint64_t now = u ? usage_memory(u) + share_unseen(w) : sum < lost ? sum : lost;
        share_note(s, now);
        if (now > limit)
                share_over(s, "its processes", now);
}

void watch_share_deep(struct sup *s, const struct usage *u)
{
        struct watch_share *w = &s->watch->share;
        w->unseen = !u || u->unseen_n ? w->unseen + 1 : 0;
        if (u)
                w->deep = *u;
        share_merge(&w->u, &w->deep);
        w->extra = share_extra(s);
        w->sum = usage_memory(&w->u);
        share_decide(s, u);
        share_files(s);
        if (u && !s->is_ending)
                share_parked(s);
        if (w->is_missing || (w->wants & USAGE_FAIR && !w->left)) {
                w->look_at = s->watch->share_at = 0; /* it goes on: again at once */
                watch_again(s);
        }
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
                w->shmem_first = watch_machine_shmem();
                w->others_first = watch_machine_others();
                w->pages_first = watch_machine_pages();
                w->deep.is_whole = true;
        }
        bool is_going = share_is_going(s);
        if (now < w->look_at && !is_going)
                return w->tick_ms;
        uint64_t cpu = watch_cpu();
        share_look(s, is_going);

        /* A box that does nothing is looked at ever more seldom, up to once a second. */
        uint64_t limit = s->plan->box.limits.memory;
        uint64_t pause = limit ? watch_pause(w->left) : WATCH_IDLE_MS;
        uint64_t idle = w->idle_ms < WATCH_BUSY_MS ? WATCH_BUSY_MS : w->idle_ms;
        w->idle_ms = share_is_still(&before, &w->u) ? idle * 2 : WATCH_BUSY_MS;
        if (w->idle_ms > WATCH_IDLE_MS)
                w->idle_ms = WATCH_IDLE_MS;
        w->tick_ms = w->idle_ms < pause ? w->idle_ms : pause;
        /* To look costs a twentieth of the time, and half of it when the limit is near. By our own time:
         * a box that keeps the processors busy is not looked at more seldom. */
        uint64_t took = (watch_cpu() - cpu) * (w->left < limit / 4 * 3 ? 1 : 20);
        w->look_at = now + (took > w->tick_ms ? took : w->tick_ms);
        return w->tick_ms;
}
