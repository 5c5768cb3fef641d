/* procs.c - see procs.h. */
#include "audit/procs.h"

#include "base/cleanup.h"
#include "base/openfiles.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
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

enum { SLOTS = 1024, WATCHED_MAX = 8192, SPARE_FDS = 96, JUST_MAX = 32 };

struct proc {
        struct proc *next;
        struct procs_who who;
        int pidfd;
};

static struct {
        int epoll_fd;
        bool has_info, is_by_number;
        struct proc *slots[SLOTS];
        unsigned n, max;
        /* Numbers come round: who forks 32,000 times in time has the number of a process that ended
         * a moment ago (case 43). So whatever is remembered is remembered with a descriptor, which
         * tells a number from the process that had it. */
        struct {
                pid_t pid;
                int pidfd; /* -1: none */
        } just[JUST_MAX];  /* whose ends were recorded last */
        size_t just_at;
        struct {
                pid_t tid;
                int pidfd;
                struct procs_who who;
        } last; /* who was asked about last */
} p = {.last.pidfd = -1};

static int open_pidfd(pid_t pid, unsigned flags)
{
        return (int)syscall(SYS_pidfd_open, pid, flags);
}

void procs_begin(int epoll_fd, bool is_by_number)
{
        struct rlimit l;
        p.epoll_fd = epoll_fd;
        p.is_by_number = is_by_number;
        for (size_t i = 0; i < JUST_MAX; i++)
                p.just[i].pidfd = -1;
        openfiles_raise();
        if (getrlimit(RLIMIT_NOFILE, &l) == 0)
                p.max = l.rlim_cur > WATCHED_MAX + SPARE_FDS ? WATCHED_MAX
                        : l.rlim_cur > SPARE_FDS             ? (unsigned)l.rlim_cur - SPARE_FDS
                                                             : 0;
        struct info i = {.mask = 1};
        _cleanup_close_ int self = open_pidfd(getpid(), OPEN_THREAD);
        p.has_info = self >= 0 && ioctl(self, GET_INFO, &i) == 0;
}

void procs_name(char out[PROCS_NAME_MAX + 1], pid_t pid, const char *what)
{
        char digits[12];
        size_t n = 0, at = strlen("/proc/"), m = strnlen(what, PROCS_WHAT_MAX);
        unsigned rest = pid > 0 ? (unsigned)pid : 0;
        do
                digits[n++] = (char)('0' + rest % 10);
        while (rest /= 10);
        memcpy(out, "/proc/", at);
        while (n)
                out[at++] = digits[--n];
        out[at++] = '/';
        memcpy(out + at, what, m);
        out[at + m] = 0;
}

/* read_status(tid): /proc/TID/status, good until the next one. NULL when it is gone. */
static const char *read_status(pid_t tid)
{
        static char text[4096];
        char name[PROCS_NAME_MAX + 1];
        procs_name(name, tid, "status");
        _cleanup_close_ int fd = open(name, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        text[n > 0 ? n : 0] = 0;
        return n > 0 ? text : NULL;
}

/* number_of(text, key, is_last): ${key} is a newline (its line is never the first: that is a name,
 * in which no newline stands as such), a word and a colon. */
static long number_of(const char *text, const char *key, bool is_last)
{
        const char *at = strstr(text, key);
        if (!at)
                return -1;
        char *end;
        at += strlen(key);
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

long procs_group(pid_t tid)
{
        const char *text = read_status(tid);
        return text ? number_of(text, "\nNSpgid:", true) : -1;
}

static bool who_of(const char *text, struct procs_who *w)
{
        *w = (struct procs_who){.pid = (pid_t)number_of(text, "\nTgid:", false),
                                .ppid = (pid_t)number_of(text, "\nPPid:", false)};
        return w->pid > 0;
}

static bool ask(int pidfd, struct procs_who *w)
{
        struct info i = {.mask = 1};
        if (pidfd < 0 || ioctl(pidfd, GET_INFO, &i) < 0)
                return false;
        *w = (struct procs_who){.pid = (pid_t)i.tgid, .ppid = (pid_t)i.ppid};
        return true;
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

bool procs_leaving(pid_t tid, struct procs_who *w, uint64_t *cpu, uint64_t *peak_kib)
{
        struct procs_who who;
        const char *text = read_status(tid);
        if (!text || !who_of(text, &who))
                return false;
        *w = who;
        long peak = number_of(text, "\nVmHWM:", false);
        *cpu = cpu_us(w->pid);
        *peak_kib = peak > 0 ? (uint64_t)peak : 0;
        return true;
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

bool procs_who(pid_t tid, struct procs_who *w)
{
        if (!p.has_info) {
                const char *text = read_status(tid);
                return text && who_of(text, w);
        }
        if (p.is_by_number && tid == p.last.tid) {
                *w = p.last.who;
                return true;
        }
        /* A number is used anew when its process is gone, and then the descriptor says so. */
        struct proc *known = *find(tid);
        if (known && ask(known->pidfd, w))
                return true;
        if (tid == p.last.tid && ask(p.last.pidfd, w))
                return true;
        close_fd(&p.last.pidfd); /* one for calls that follow each other */
        p.last.tid = tid;
        p.last.pidfd = open_pidfd(tid, OPEN_THREAD);
        if (!ask(p.last.pidfd, w))
                return false;
        p.last.who = *w;
        return true;
}

/* watch(at, w, fd): takes ${fd} over. */
static void watch(struct proc **at, const struct procs_who *w, int pidfd)
{
        _cleanup_close_ int fd = pidfd;
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

void procs_watch(const struct procs_who *w)
{
        struct proc **at = find(w->pid);
        if (*at || p.n >= p.max)
                return;
        int fd = open_pidfd(w->pid, 0);
        if (fd >= 0)
                watch(at, w, fd);
}

bool procs_meet(pid_t tid, struct procs_who *w)
{
        struct proc **at = find(tid);
        if (*at || !p.has_info || p.n >= p.max)
                return procs_who(tid, w);
        int fd = open_pidfd(tid, 0); /* of a first thread, and so of nearly all */
        if (!ask(fd, w)) {
                close_fd(&fd);
                return procs_who(tid, w);
        }
        watch(at, w, fd);
        return true;
}

/* is_alive(pidfd): it is readable from the end of the process on, also before its parent waits. */
static bool is_alive(int pidfd)
{
        struct pollfd one = {.fd = pidfd, .events = POLLIN};
        return pidfd >= 0 && poll(&one, 1, 0) == 0;
}

bool procs_forget(pid_t pid)
{
        for (size_t i = 0; i < JUST_MAX; i++)
                if (p.just[i].pid == pid && (p.is_by_number || is_alive(p.just[i].pidfd)))
                        return false;
        struct proc **at = find(pid);
        int pidfd = -1;
        if (*at && is_alive((*at)->pidfd)) { /* else it is one before, and will be told of */
                pidfd = take_fd(&(*at)->pidfd);
                epoll_ctl(p.epoll_fd, EPOLL_CTL_DEL, pidfd, NULL);
                drop(at);
        }
        if (pidfd < 0)
                pidfd = open_pidfd(pid, 0);
        close_fd(&p.just[p.just_at].pidfd);
        p.just[p.just_at].pid = pid;
        p.just[p.just_at].pidfd = pidfd;
        p.just_at = (p.just_at + 1) % JUST_MAX;
        return true;
}

unsigned procs_watched_n(void)
{
        return p.n;
}

/* from_stat(pid, &code): of one that its parent has not waited for yet. */
static bool from_stat(pid_t pid, int *code)
{
        char name[PROCS_NAME_MAX + 1], text[1024];
        procs_name(name, pid, "stat");
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
