/* sup_procs.c - see sup_procs.h. A directory of /proc stands for one process for ever: it is empty when
 * that is gone, also when another has its number by then. */
#include "session/sup_procs.h"

#include "base/cleanup.h"
#include "base/fdio.h"
#include "session/sup.h"
#include "session/sup_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

int sup_procs_fd(const struct sup *s)
{
        return s->watch ? s->watch->eyes.fd[MSG_WATCHED_PROC] : -1;
}

bool sup_procs(int proc_fd, sup_procs_fn *fn, void *ctx)
{
        _cleanup_closedir_ DIR *d = fdio_opendir(proc_fd);
        bool is_whole = d != NULL;
        errno = 0;
        for (struct dirent *e; d && (e = readdir(d)); errno = 0) {
                pid_t pid = (pid_t)strtol(e->d_name, NULL, 10); /* 0 for a name */
                if (pid <= 1)
                        continue;
                _cleanup_close_ int fd =
                        openat(proc_fd, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                if (fd < 0)
                        is_whole = false;
                else
                        fn(ctx, pid, &fd);
        }
        return is_whole && errno == 0;
}

/* procs_read(dir_fd, path, text, len): the beginning of that file; false when there is none. */
static bool procs_read(int dir_fd, const char *path, char *text, size_t len)
{
        _cleanup_close_ int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, len - 1);
        text[n > 0 ? n : 0] = 0;
        return n > 0;
}

/* procs_thread(task_fd, tid): a tracer that is not in the box has no number there. */
static enum sup_rest procs_thread(int task_fd, const char *tid)
{
        char path[32], text[4096];
        snprintf(path, sizeof path, "%.15s/status", tid);
        if (!procs_read(task_fd, path, text, sizeof text))
                return SUP_AWAKE;
        const char *rest = strchr(text, '\n'); /* after the name, which is its own choice */
        const char *state = rest ? strstr(rest, "\nState:\t") : NULL;
        const char *tracer = state ? strstr(state, "\nTracerPid:\t") : NULL;
        switch (tracer ? state[8] : 0) {
        case 'Z':
        case 'X':
                return SUP_HELD;
        case 't':
                return strtol(tracer + 12, NULL, 10) == 0 ? SUP_HELD : SUP_STOPPED;
        case 'T':
                return SUP_STOPPED;
        case 'D':
                return SUP_SLEEPS;
        default:
                return SUP_AWAKE;
        }
}

enum sup_rest sup_procs_rest(int dir_fd)
{
        _cleanup_close_ int task_fd = openat(dir_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _cleanup_closedir_ DIR *d = fdio_opendir(task_fd);
        enum sup_rest least = SUP_HELD;
        errno = 0;
        for (struct dirent *e; d && (e = readdir(d)); errno = 0) {
                enum sup_rest one =
                        e->d_name[0] == '.' ? SUP_HELD : procs_thread(task_fd, e->d_name);
                least = one < least ? one : least;
        }
        return d && errno == 0 ? least : SUP_GONE;
}

uint64_t sup_procs_born(int dir_fd, char *state)
{
        char text[1024];
        uint64_t born;
        if (!procs_read(dir_fd, "stat", text, sizeof text))
                return 0;
        const char *end = strrchr(text, ')'); /* the name may hold anything */
        return end && sscanf(end + 1,
                             " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                             "%*s %*s %" SCNu64,
                             state, &born) == 2
                       ? born + 1 /* some begin with the machine */
                       : 0;
}

int sup_procs_signal(int dir_fd, int sig)
{
        return (int)syscall(SYS_pidfd_send_signal, dir_fd, sig, NULL, 0);
}
