/* usage_apart.c - a look at a box by a child of the supervisor, which may be killed: it copies the box's
 * descriptors, and whatever a box arranges to make that slow makes nobody else wait. A process that is
 * killed does not linger in its sockets. */
#include "session/usage.h"

#include "base/cleanup.h"
#include "base/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void apart_look(const struct usage_eyes *eyes, unsigned wants, int fd)
{
        int keep[MSG_WATCHED_N + 1] = {fd};
        struct usage u;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "ostiary-look", 0, 0, 0);
        for (int i = 0; i < MSG_WATCHED_N; i++)
                keep[i + 1] = eyes->fd[i];
        if (fdio_close_except(keep, MSG_WATCHED_N + 1) < 0)
                _exit(1);
        usage_look(eyes, wants | USAGE_APART, &u);
        _exit(fdio_write_all(fd, &u, sizeof u) < 0);
}

int usage_apart_begin(struct usage_apart *a, const struct usage_eyes *eyes, unsigned wants)
{
        int p[2];
        if (pipe2(p, O_CLOEXEC) < 0)
                return -1;
        a->pid = fork();
        if (a->pid == 0)
                apart_look(eyes, wants, p[1]);
        close(p[1]);
        if (a->pid < 0) {
                int was = errno;
                a->pid = 0;
                close(p[0]);
                errno = was;
                return -1;
        }
        a->fd = p[0];
        return fcntl(a->fd, F_SETFL, O_NONBLOCK);
}

uint64_t usage_apart_busy(const struct usage_apart *a)
{
        char path[64], text[96];
        uint64_t ran, waited;
        snprintf(path, sizeof path, "/proc/%d/schedstat", (int)a->pid);
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        text[n > 0 ? n : 0] = 0;
        if (sscanf(text, "%" SCNu64 " %" SCNu64, &ran, &waited) != 2)
                return 0;
        return (ran + waited) / 1000000;
}

int usage_apart_end(struct usage_apart *a, struct usage *u)
{
        struct rusage r = {0};
        struct usage got;
        ssize_t n = read(a->fd, &got, sizeof got); /* a pipe has all of so little, or nothing */
        kill(a->pid, SIGKILL);
        wait4(a->pid, NULL, 0, &r);
        close_fd(&a->fd);
        a->pid = 0;
        a->cost = (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000 +
                  (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1000;
        if (n != (ssize_t)sizeof got)
                return -1;
        *u = got;
        return 0;
}
