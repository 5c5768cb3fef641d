/* assist.c - a second pair of hands while the box is built: a short-lived child in the same
 * namespaces that makes the network, which takes longer than anything else, while we mount. It
 * shares our descriptor table, so that what it opens is ours.
 *
 * It runs our code only, before any code of the box, and is gone when step_assist_end returns. */
#include "box/step.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "box/etc.h"
#include "box/net.h"
#include "box/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static _Noreturn void assist(struct build *b, int report_fd)
{
        struct err e = {0};
        if (!box_weak(WEAK_NETNS) && net_make(b->net_fd) < 0) {
                err_sys(&e, "make a network namespace");
                e.code = E_MACHINE;
        } else {
                etc_synthesise(b, &e);
        }
        if (e.code)
                fdio_write_all(report_fd, &e, sizeof e);
        _exit(0);
}

int step_assist_begin(struct build *b, struct err *err)
{
        int report[2];
        if (pipe2(report, O_CLOEXEC) < 0)
                return err_sys(err, "make a pipe");
        /* A number kept free for the network namespace. */
        b->net_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        b->assist_pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
        if (b->assist_pid == 0)
                assist(b, report[1]);
        b->assist_fds[0] = report[0];
        b->assist_fds[1] = report[1];
        return b->assist_pid < 0 || b->net_fd < 0 ? err_sys(err, "start an assistant") : 0;
}

int step_assist_end(struct build *b, struct err *err)
{
        int status = -1;
        while (waitpid(b->assist_pid, &status, 0) < 0)
                if (errno != EINTR)
                        return err_sys(err, "wait for the assistant");
        /* It shared our table: only now is the writing end closed for both. */
        close_fd(&b->assist_fds[1]);
        struct err e;
        ssize_t n = read(b->assist_fds[0], &e, sizeof e);
        close_fd(&b->assist_fds[0]);
        if (n == (ssize_t)sizeof e) {
                *err = e;
                return -1;
        }
        if (n != 0 || status != 0)
                return err_set(err, E_SYSTEM, "the assistant died");
        return 0;
}
