/* sup_watch.c - limits that no kernel object holds for us: time here, and when to look at disk,
 * memory and shares (sup_watch.h). Also says in words which limit ended a box. */
#include "session/sup_watch.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "box/weak.h"
#include "session/sup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timerfd.h>
#include <time.h>

int watch_timer(uint64_t ms)
{
        int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        struct itimerspec t = {.it_value = {.tv_sec = (time_t)(ms / 1000),
                                            .tv_nsec = (long)(ms % 1000) * 1000000}};
        if (fd >= 0)
                timerfd_settime(fd, 0, &t, NULL);
        return fd;
}

static void on_time(void *ctx, uint32_t events)
{
        struct sup *s = ctx;
        char words[128];
        (void)events;
        snprintf(words, sizeof words, "the time limit of %" PRIu64 " s is over",
                 s->plan->box.limits.time_s);
        sup_end(s, MSG_END_TIME, 0, words);
}

void watch_tell_kills(struct sup *s)
{
        struct box_usage u;
        char words[160], a[16];
        if (s->box.cgroup.kind == BOX_CGROUP_NONE)
                return;
        box_cgroup_read(&s->box.cgroup, &u);
        if (u.oom_kills <= s->kills_told)
                return;
        s->kills_told = u.oom_kills;
        snprintf(words, sizeof words,
                 "the memory limit of %s was reached and the kernel killed a process in the box",
                 str_size_words(s->plan->box.limits.memory, a));
        _cleanup_buf_ struct buf b = {0};
        buf_put_lstr(&b, words);
        for (struct client *c = s->clients; c; c = c->next)
                if (c->exec)
                        client_send(c, MSG_NOTICE, b.data, b.len);
}

void watch_tell_unheld(struct sup *s)
{
        const struct box_limits *l = &s->plan->box.limits;
        unsigned has = s->box.cgroup.has;
        bool is_memory_loose = l->memory && !(has & 1u << BOX_CTL_MEMORY);
        bool is_cpu_loose = l->cpu_milli && !(has & 1u << BOX_CTL_CPU);
        if (!is_memory_loose && !is_cpu_loose)
                return;
        char *more = str_fmt("%s (no control group here:%s%s%s)", s->meta.grants,
                             is_memory_loose ? " memory is watched" : "",
                             is_memory_loose && is_cpu_loose ? "," : "",
                             is_cpu_loose ? " cpu is NOT limited" : "");
        free(s->meta.grants);
        s->meta.grants = more;
}

uint64_t watch_now(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

uint64_t watch_cpu(void)
{
        struct timespec t;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

uint64_t watch_pause(uint64_t left)
{
        uint64_t ms = left / WATCH_RATE;
        return ms < WATCH_SOON_MS ? WATCH_SOON_MS : ms > WATCH_IDLE_MS ? WATCH_IDLE_MS : ms;
}

uint64_t watch_doubt(struct watch_doubt *d, uint64_t value, uint64_t motion)
{
        if (value > d->last && motion != d->motion)
                d->ours += value - d->last;
        if (d->ours > value)
                d->ours = value;
        d->last = value;
        d->motion = motion;
        return d->ours;
}

static void set_watch(struct sup *s, uint64_t now)
{
        struct sup_watch *w = s->watch;
        uint64_t at = w->disk_at < w->share_at ? w->disk_at : w->share_at;
        uint64_t pause = at > now ? at - now : 1;
        struct itimerspec t = {.it_value = {.tv_sec = (time_t)(pause / 1000),
                                            .tv_nsec = (long)(pause % 1000) * 1000000}};
        timerfd_settime(s->watch_fd, 0, &t, NULL);
}

void watch_again(struct sup *s)
{
        set_watch(s, watch_now());
}

static void on_watch(void *ctx, uint32_t events)
{
        struct sup *s = ctx;
        struct sup_watch *w = s->watch;
        uint64_t ticks, now = watch_now();
        (void)events;
        w->eyes.init_pid = s->box.pid;
        if (read(s->watch_fd, &ticks, sizeof ticks) < 0)
                return;
        if (now >= w->disk_at)
                w->disk_at = now + watch_disk(s, now);
        watch_deep_tick(s);
        now = watch_now();
        if (now >= w->share_at) {
                watch_tell_kills(s);
                w->share_at = watch_share(s, now) + watch_now();
        }
        set_watch(s, watch_now());
}

void watch_eyes(struct sup *s, struct frame *f)
{
        if (s->is_built || f->fds_n != MSG_WATCHED_N || s->watch->eyes.fd[0] >= 0)
                return;
        for (int i = 0; i < MSG_WATCHED_N; i++)
                s->watch->eyes.fd[i] = frame_take_fd(f, (size_t)i);
}

void watch_init(struct sup *s)
{
        static struct sup_watch watch = {.eyes = USAGE_BLIND};
        s->watch = &watch;
}

void watch_end(struct sup *s)
{
        watch_deep_end(s);
        usage_close(&s->watch->eyes); /* they hold on to the box's /tmp */
}

int watch_start(struct sup *s, struct err *err)
{
        s->watch_fd = watch_timer(WATCH_SOON_MS);
        if (s->watch_fd < 0)
                return err_sys(err, "make a timer");
        s->watch_src = loop_add(s->loop, s->watch_fd, EPOLLIN, on_watch, s);
        uint64_t limit_ms;
        if (__builtin_mul_overflow(s->plan->box.limits.time_s, 1000u, &limit_ms))
                limit_ms = UINT64_MAX; /* longer than anybody waits */
        if (limit_ms) {
                s->time_fd = watch_timer(limit_ms);
                if (s->time_fd < 0)
                        return err_sys(err, "make a timer");
                s->time_src = loop_add(s->loop, s->time_fd, EPOLLIN, on_time, s);
        }
        return 0;
}

enum msg_end watch_reason(struct sup *s, char words[256])
{
        struct box_usage u;
        char a[16];
        box_cgroup_read(&s->box.cgroup, &u);
        if (u.oom_kills == 0)
                return MSG_END_SIGNAL;
        snprintf(words, 256, "the memory limit of %s was reached and the kernel killed a process",
                 str_size_words(s->plan->box.limits.memory, a));
        return MSG_END_MEMORY;
}

void watch_info(struct sup *s, struct msg_info *i)
{
        struct box_usage u;
        box_cgroup_read(&s->box.cgroup, &u);
        struct usage own = {0};
        if (s->box.cgroup.kind == BOX_CGROUP_NONE && !box_weak(WEAK_PIDNS))
                usage_look(&s->watch->eyes, 0, &own);
        uint64_t rss = watch_share_memory(s, &own);
        i->supervisor_pid = (uint32_t)getpid();
        i->init_pid = (uint32_t)s->box.pid;
        for (struct exec *e = s->execs; e; e = e->next)
                i->execs_n++;
        for (struct client *c = s->clients; c; c = c->next)
                i->clients_n++;
        i->memory = rss ? rss : u.memory;
        i->memory_peak = u.memory_peak ? u.memory_peak : s->memory_peak_seen;
        i->cpu_us = u.cpu_us;
        i->pids = u.pids ? u.pids : own.procs_n;
        i->disk = s->watch->disk.now;
        i->limits_words = str_dup(s->box.cgroup.why);
}
