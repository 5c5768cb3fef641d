/* witness.c - the supervisor's side of the witness: start, hear, join to the log, end. See
 * witness.h. */
#include "audit/witness.h"

#include "audit/audit.h"
#include "audit/audit_int.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "wire/frame.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

int witness_start(struct witness *w, int listener_fd, struct err *err)
{
        int fds[2];
        *w = (struct witness){.control_fd = -1};
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
                return err_sys(err, "make a socket");
        pid_t pid = fork();
        if (pid == 0)
                witness_role_main(fds[1], listener_fd);
        close(fds[1]);
        if (pid < 0) {
                close(fds[0]);
                return err_sys(err, "start the witness");
        }
        *w = (struct witness){.pid = pid, .control_fd = fds[0]};
        return 0;
}

enum witness_news witness_hear(struct witness *w)
{
        static struct frame f;
        int r = frame_recv(w->control_fd, &f, false);
        if (r < 0 && (errno == EAGAIN || errno == EINTR))
                return WITNESS_NOTHING;
        if (r <= 0)
                return WITNESS_GONE;
        bool is_want = f.type == WITNESS_WANT;
        frame_release(&f);
        return is_want ? WITNESS_WANTS : WITNESS_NOTHING;
}

int witness_join(struct witness *w, struct audit *a, struct err *err)
{
        int fds[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
                return err_sys(err, "make a socket");
        int r = frame_send(a->control_fd, AUDIT_WITNESS, NULL, &fds[1], 1);
        if (r == 0)
                r = frame_send(w->control_fd, WITNESS_LOG, NULL, &fds[0], 1);
        if (r < 0)
                err_sys(err, "join the witness to the log");
        close(fds[0]);
        close(fds[1]);
        return r;
}

void witness_end(struct witness *w)
{
        if (w->pid <= 0)
                return;
        close_fd(&w->control_fd);
        kill(w->pid, SIGKILL);
        waitpid(w->pid, NULL, 0);
        *w = (struct witness){.control_fd = -1};
}
