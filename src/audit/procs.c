/* procs.c - see procs.h. */
#include "audit/procs.h"

#include "base/cleanup.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* Newer than Debian 12's headers: Linux 6.9, 6.13 and 6.15. */
#define OPEN_THREAD O_EXCL /* PIDFD_THREAD */
#define INFO_EXIT   (1ull << 3)
struct info {
        uint64_t mask, cgroupid;
        uint32_t pid, tgid, ppid, ids[8];
        int32_t exit_code;
};
#define GET_INFO _IOWR(0xff, 11, struct info)

enum { SLOTS = 1024, WATCHED_MAX = 8192, SPARE_FDS = 64, JUST_MAX = 32 };
#define JUST_NS 50000000ll

struct proc {
        struct proc *next;
        struct procs_who who;
        int pidfd;
};

static struct {
        int epoll_fd;
        bool has_info;
        struct proc *slots[SLOTS];
        unsigned n, max;
        struct {
                pid_t pid;
                int64_t at;
        } just[JUST_MAX]; /* those that were recorded last */
        size_t just_at;
} p;

static int open_pidfd(pid_t pid, unsigned flags)
{
        return (int)syscall(SYS_pidfd_open, pid, flags);
}

void procs_begin(int epoll_fd)
{
        struct rlimit l;
        p.epoll_fd = epoll_fd;
        if (getrlimit(RLIMIT_NOFILE, &l) == 0) {
                l.rlim_cur = l.rlim_max;
                setrlimit(RLIMIT_NOFILE, &l);
                p.max = l.rlim_max > WATCHED_MAX + SPARE_FDS ? WATCHED_MAX
                        : l.rlim_max > SPARE_FDS             ? (unsigned)l.rlim_max - SPARE_FDS
                                                             : 0;
        }
        struct info i = {.mask = 1};
        _cleanup_close_ int self = open_pidfd(getpid(), OPEN_THREAD);
        p.has_info = self >= 0 && ioctl(self, GET_INFO, &i) == 0;
}

/* read_status(tid, text, size): /proc/TID/status. */
static bool read_status(pid_t tid, char *text, size_t size)
{
        char name[48];
        snprintf(name, sizeof name, "/proc/%d/status", tid);
        _cleanup_close_ int fd = open(name, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
        text[n > 0 ? n : 0] = 0;
        return n > 0;
}

static long number_of(const char *text, const char *key, bool is_last)
{
        size_t len = strlen(key);
        for (const char *line = text; line; line = strchr(line, '\n')) {
                line += *line == '\n';
                if (strncmp(line, key, len) != 0)
                        continue;
                char *end;
                const char *at = line + len;
                long v = strtol(at, &end, 10);
                if (end == at)
                        return -1;
                while (is_last && *end == '\t') {
                        at = end;
                        long next = strtol(at, &end, 10);
                        if (end == at)
                                break;
                        v = next;
                }
                return v;
        }
        return -1;
}

long procs_status(pid_t tid, const char *key, bool is_last)
{
        char text[4096];
        return read_status(tid, text, sizeof text) ? number_of(text, key, is_last) : -1;
}

bool procs_who(pid_t tid, struct procs_who *w)
{
        char text[4096];
        if (p.has_info) {
                struct info i = {.mask = 1};
                _cleanup_close_ int fd = open_pidfd(tid, OPEN_THREAD);
                if (fd < 0 || ioctl(fd, GET_INFO, &i) < 0)
                        return false;
                *w = (struct procs_who){.pid = (pid_t)i.tgid, .ppid = (pid_t)i.ppid};
                return true;
        }
        if (!read_status(tid, text, sizeof text))
                return false;
        *w = (struct procs_who){.pid = (pid_t)number_of(text, "Tgid:", false),
                                .ppid = (pid_t)number_of(text, "PPid:", false)};
        return w->pid > 0;
}

pid_t procs_of_pidfd(int fd)
{
        struct info i = {.mask = 1};
        return p.has_info && ioctl(fd, GET_INFO, &i) == 0 ? (pid_t)i.pid : 0;
}

/* cpu_us(pid): its clock, as clock_getcpuclockid(3) makes it. */
static uint64_t cpu_us(pid_t pid)
{
        struct timespec t;
        clockid_t clock = (clockid_t)(~(unsigned)pid << 3 | 2);
        if (syscall(SYS_clock_gettime, clock, &t) < 0)
                return 0;
        return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

void procs_used(pid_t pid, uint64_t *cpu, uint64_t *peak_kib)
{
        long peak = procs_status(pid, "VmHWM:", false);
        *cpu = cpu_us(pid);
        *peak_kib = peak > 0 ? (uint64_t)peak : 0;
}

/* --- who is watched --------------------------------------------------------------------------- */

static struct proc **find(pid_t pid)
{
        struct proc **at = &p.slots[(unsigned)pid % SLOTS];
        while (*at && (*at)->who.pid != pid)
                at = &(*at)->next;
        return at;
}

static void drop(struct proc **at)
{
        struct proc *gone = *at;
        if (!gone)
                return;
        *at = gone->next;
        close_fd(&gone->pidfd); /* nobody else has it, so epoll forgets it too */
        free(gone);
        p.n--;
}

void procs_watch(const struct procs_who *w)
{
        struct proc **at = find(w->pid);
        if (*at || p.n >= p.max)
                return;
        _cleanup_close_ int fd = open_pidfd(w->pid, 0);
        if (fd < 0)
                return;
        struct proc *one = calloc(1, sizeof *one);
        if (!one)
                str_no_memory();
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = one};
        if (epoll_ctl(p.epoll_fd, EPOLL_CTL_ADD, fd, &e) < 0) {
                free(one);
                return;
        }
        *one = (struct proc){.who = *w, .pidfd = take_fd(&fd)};
        *at = one;
        p.n++;
}

bool procs_forget(pid_t pid)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        int64_t now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
        for (size_t i = 0; i < JUST_MAX; i++)
                if (p.just[i].pid == pid && now - p.just[i].at < JUST_NS)
                        return false;
        p.just[p.just_at].pid = pid;
        p.just[p.just_at].at = now;
        p.just_at = (p.just_at + 1) % JUST_MAX;
        struct proc **at = find(pid);
        if (*at)
                drop(at);
        return true;
}

unsigned procs_watched_n(void)
{
        return p.n;
}

/* from_stat(pid, &code): of one that its parent has not waited for yet. */
static bool from_stat(pid_t pid, int *code)
{
        char name[48], text[1024];
        snprintf(name, sizeof name, "/proc/%d/stat", pid);
        _cleanup_close_ int fd = open(name, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        if (n <= 0)
                return false;
        text[n] = 0;
        char *paren = strrchr(text, ')'); /* its name may hold anything */
        char *last = strrchr(text, ' ');
        if (!paren || !last || strncmp(paren, ") Z", 3) != 0)
                return false;
        *code = (int)strtol(last, NULL, 10);
        return true;
}

void procs_ended(void *ctx, struct procs_end *end)
{
        struct proc *one = ctx;
        struct info i = {.mask = INFO_EXIT};
        int code = 0;
        *end = (struct procs_end){.who = one->who, .cpu_us = cpu_us(one->who.pid)};
        end->is_known = from_stat(one->who.pid, &code);
        /* Still the same? Its number is nobody else's as long as nobody has waited for it. */
        if (end->is_known && p.has_info &&
            ioctl(one->pidfd, GET_INFO, &(struct info){.mask = 1}) < 0)
                end->is_known = false;
        if (!end->is_known) {
                end->cpu_us = 0;
                if (ioctl(one->pidfd, GET_INFO, &i) == 0 && (i.mask & INFO_EXIT)) {
                        end->is_known = true;
                        code = i.exit_code;
                }
        }
        if (end->is_known)
                end->status = WIFSIGNALED(code) ? 128 + (uint32_t)WTERMSIG(code)
                                                : (uint32_t)WEXITSTATUS(code);
        drop(find(one->who.pid));
}
