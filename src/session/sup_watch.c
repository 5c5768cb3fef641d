/* sup_watch.c - limits that no kernel object holds for us: time, disk, and, where no cgroup could
 * be had, the memory of all processes together. Also says in words which limit ended a box. */
#include "session/sup.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"

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

enum { WATCH_MS = 1000, DEPTH_MAX = 256 };

/* Never fill the user's disk: a box ends when less than this is free where its layers lie. */
#define FREE_FLOOR (256ull << 20)

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

static uint64_t tree_rss(pid_t, int depth, unsigned *procs);

/* children_rss(pid, tid, depth, procs): of what one thread forked. */
static uint64_t children_rss(pid_t pid, const char *tid, int depth, unsigned *procs)
{
        char path[96];
        _cleanup_buf_ struct buf list = {0};
        uint64_t sum = 0;
        snprintf(path, sizeof path, "/proc/%d/task/%s/children", pid, tid);
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || fdio_read_all(fd, &list, 1 << 20) < 0)
                return 0;
        for (const char *p = buf_cstr(&list); *p;) {
                char *end;
                pid_t child = (pid_t)strtol(p, &end, 10);
                if (end == p)
                        break;
                sum += tree_rss(child, depth + 1, procs);
                for (p = end; *p == ' '; p++)
                        ;
        }
        return sum;
}

/* tree_rss(pid, depth): resident bytes of a process and all its children. pid 1 of a box is the
 * ancestor of everything in it, so this is the whole box. */
static uint64_t tree_rss(pid_t pid, int depth, unsigned *procs)
{
        char path[64];
        uint64_t size, rss = 0;
        if (depth > DEPTH_MAX || *procs > 100000)
                return 0;
        ++*procs;
        snprintf(path, sizeof path, "/proc/%d/statm", pid);
        _cleanup_fclose_ FILE *statm = fopen(path, "re");
        if (!statm || fscanf(statm, "%" SCNu64 " %" SCNu64, &size, &rss) != 2)
                rss = 0;
        uint64_t sum = rss * (uint64_t)sysconf(_SC_PAGESIZE);

        snprintf(path, sizeof path, "/proc/%d/task", pid);
        _cleanup_closedir_ DIR *threads = opendir(path);
        struct dirent *e;
        while (threads && (e = readdir(threads)))
                if (e->d_name[0] != '.' && strlen(e->d_name) < 16)
                        sum += children_rss(pid, e->d_name, depth, procs);
        return sum;
}

/* tree_size(dir_fd, budget): allocated bytes below, without following links; stops counting when
 * the budget of entries is used up, which makes the answer a lower bound. */
static uint64_t tree_size(int dir_fd, int depth, unsigned *budget)
{
        uint64_t sum = 0;
        _cleanup_closedir_ DIR *d = fdio_opendir(dir_fd);
        struct dirent *e;
        while (d && *budget && (e = readdir(d))) {
                struct stat st;
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                --*budget;
                if (fstatat(dir_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                sum += (uint64_t)st.st_blocks * 512;
                if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX) {
                        _cleanup_close_ int sub = openat(
                                dir_fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                        if (sub >= 0)
                                sum += tree_size(sub, depth + 1, budget);
                }
        }
        return sum;
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

static void check_memory(struct sup *s)
{
        uint64_t limit = s->plan->box.limits.memory;
        if (!limit || s->box.cgroup.kind != BOX_CGROUP_NONE)
                return;
        unsigned procs = 0;
        uint64_t now = tree_rss(s->box.pid, 0, &procs);
        if (now > s->memory_peak_seen)
                s->memory_peak_seen = now;
        if (now <= limit)
                return;
        char words[256], a[16], b[16];
        snprintf(words, sizeof words, "its processes used %s, more than the memory limit of %s",
                 str_size_words(now, a), str_size_words(limit, b));
        sup_end(s, MSG_END_MEMORY, SIGKILL, words);
}

static void check_disk(struct sup *s)
{
        struct statvfs v;
        char words[256], a[16], b[16];
        _cleanup_close_ int layers =
                openat(s->dir_fd, "layers", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (layers < 0)
                return;
        if (fstatvfs(layers, &v) == 0 && (uint64_t)v.f_bavail * v.f_frsize < FREE_FLOOR) {
                snprintf(words, sizeof words,
                         "the disk that holds its layers has less than %s left",
                         str_size_words(FREE_FLOOR, a));
                sup_end(s, MSG_END_DISK, 0, words);
                return;
        }
        uint64_t limit = s->plan->box.limits.disk;
        if (!limit)
                return;
        unsigned budget = 200000;
        s->disk_now = tree_size(layers, 0, &budget);
        if (s->disk_now > limit) {
                snprintf(words, sizeof words, "its layers take %s, more than the disk limit of %s",
                         str_size_words(s->disk_now, a), str_size_words(limit, b));
                sup_end(s, MSG_END_DISK, 0, words);
        }
}

static uint64_t now_ms(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void on_watch(void *ctx, uint32_t events)
{
        struct sup *s = ctx;
        uint64_t ticks, t0 = now_ms();
        (void)events;
        if (read(s->watch_fd, &ticks, sizeof ticks) < 0)
                return;
        watch_tell_kills(s);
        check_memory(s);
        check_disk(s);
        /* A look that took long is taken less often: at most a fiftieth of the time goes here. */
        uint64_t took = now_ms() - t0, pause = took * 50 > WATCH_MS ? took * 50 : WATCH_MS;
        struct itimerspec t = {.it_value = {.tv_sec = (time_t)(pause / 1000),
                                            .tv_nsec = (long)(pause % 1000) * 1000000}};
        timerfd_settime(s->watch_fd, 0, &t, NULL);
}

int watch_start(struct sup *s, struct err *err)
{
        s->watch_fd = watch_timer(WATCH_MS);
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
        unsigned procs = 0;
        uint64_t rss = s->box.cgroup.kind == BOX_CGROUP_NONE ? tree_rss(s->box.pid, 0, &procs) : 0;
        i->supervisor_pid = (uint32_t)getpid();
        i->init_pid = (uint32_t)s->box.pid;
        for (struct exec *e = s->execs; e; e = e->next)
                i->execs_n++;
        for (struct client *c = s->clients; c; c = c->next)
                i->clients_n++;
        i->memory = rss ? rss : u.memory;
        i->memory_peak = u.memory_peak ? u.memory_peak : s->memory_peak_seen;
        i->cpu_us = u.cpu_us;
        i->pids = u.pids ? u.pids : procs;
        i->disk = s->disk_now;
        i->limits_words = str_dup(s->box.cgroup.why);
}
