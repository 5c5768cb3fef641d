/* sup_door_roles.c - one process of the door: started with an empty environment and one descriptor,
 * spoken to, ended. Called by sup_door.c. Must never leave a role anything of the supervisor's: it
 * runs with your rights and has the box's directory open. */
#include "session/sup_secrets.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/scale.h"
#include "box/weak.h"
#include "session/sup_ssh_agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* become(program_fd, control_fd, name, parent): in the child; only system calls, since it lives on
 * its parent's memory. */
_Noreturn static void become(int program_fd, int control_fd, const char *name, pid_t parent)
{
        char *const argv[] = {(char *)"ostiary-door", (char *)(uintptr_t)name, NULL};
        char *const env[] = {box_weak_word(), scale_word(), NULL};
        char *const *to = env[0] ? env : env + 1; /* nothing after the first NULL is read */
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        /* The program out of the way, then the socket to its place, then nothing else. */
        int program = fcntl(program_fd, F_DUPFD_CLOEXEC, DOOR_CONTROL_FD + 1);
        if (program < 0 || dup2(control_fd, DOOR_CONTROL_FD) < 0 ||
            (control_fd == DOOR_CONTROL_FD && fcntl(DOOR_CONTROL_FD, F_SETFD, 0) < 0))
                _exit(125);
        const int keep[] = {DOOR_CONTROL_FD, program};
        if (fdio_close_except(keep, 2) < 0)
                _exit(125);
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (getppid() != parent)
                _exit(125);
        fexecve(program, argv, to);
        _exit(125);
}

static void on_role(void *ctx, uint32_t events)
{
        static struct frame f;
        struct sup_role_process *r = ctx;
        struct sup_door *d = r->door;
        static const char *const gone[] = {
                [SUP_EGRESS] = "the process that guards the box's door is gone",
                [SUP_DIAL] = "the process that connects for the box is gone",
                [SUP_KEEPER] = "the process that holds the box's keys is gone",
        };
        (void)events;
        int got = frame_recv(r->fd, &f, false);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
                return;
        if (got <= 0) {
                sup_door_shut(d, gone[r->role]);
                return;
        }
        uint64_t number;
        char *words = NULL;
        switch (f.type) {
        case DOOR_READY:
                r->is_ready = true;
                break;
        case DOOR_POLICY_OK:
                if (cur_u64(&f.body, &number) == 0)
                        sup_rules_ok(d, r->role, number);
                break;
        case DOOR_POLICY_BAD:
                if (cur_u64(&f.body, &number) == 0 && cur_lstr(&f.body, 1000, &words) == 0)
                        sup_rules_bad(d, r->role, number, words);
                break;
        case DOOR_QUESTION:
                if (r->role == SUP_EGRESS)
                        sup_ask_question(d, &f.body);
                break;
        case DOOR_SETTLED:
                if (r->role == SUP_EGRESS && cur_u64(&f.body, &number) == 0)
                        sup_ask_settled(d, number);
                break;
        case DOOR_SSH_ASK:
                if (r->role == SUP_KEEPER)
                        sup_ssh_agent_ask(d->sup, &f.body);
                break;
        case DOOR_SECRET_OK:
        case DOOR_SECRET_BAD:
        case DOOR_REVOKED:
        case DOOR_REFRESH:
        case DOOR_ROTATED:
                if (r->role == SUP_KEEPER)
                        sup_secrets_hear(d->sup, f.type, &f.body);
                if (f.type == DOOR_ROTATED) /* the one message that brings a value here */
                        explicit_bzero(f.raw, sizeof f.raw);
                break;
        case DOOR_ALARM:
                if (r->role == SUP_EGRESS)
                        sup_secrets_alarm(d->sup, &f.body);
                break;
        case DOOR_FAULT:
                if (cur_lstr(&f.body, 1000, &words) < 0)
                        words = NULL;
                sup_door_shut(d, words ? words : gone[r->role]);
                break;
        default:
                break;
        }
        free(words);
        frame_release(&f);
        if (r->role == SUP_KEEPER)
                explicit_bzero(f.raw, sizeof f.raw); /* DOOR_ROTATED holds a token */
}

int sup_role_start(struct sup_role_process *r, int program_fd, const char *name, struct err *err)
{
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
                return err_sys(err, "make a socket");
        fcntl(pair[0], F_SETFL, O_NONBLOCK); /* ours alone: each end has its own flags */
        pid_t self = getpid();
        pid_t pid = vfork();
        if (pid == 0)
                become(program_fd, pair[1], name, self);
        int e = errno;
        close(pair[1]);
        if (pid < 0) {
                close(pair[0]);
                errno = e;
                return err_sys(err, "start the door's %s", name);
        }
        r->pid = pid;
        r->fd = pair[0];
        r->src = loop_add(r->door->sup->loop, r->fd, EPOLLIN, on_role, r);
        return r->src ? 0 : err_sys(err, "watch the door's %s", name);
}

int sup_role_send(struct sup_role_process *r, uint32_t type, const struct buf *body, const int *fds,
                  size_t fds_n)
{
        return r->pid ? frame_send(r->fd, type, body, fds, fds_n) : -1;
}

void sup_role_end(struct sup_role_process *r, int grace_ms)
{
        loop_del(&r->src);
        if (r->pid == 0)
                return;
        close_fd(&r->fd);
        if (grace_ms > 0) {
                _cleanup_close_ int pidfd = pidfd_open(r->pid, 0);
                struct pollfd p = {.fd = pidfd, .events = POLLIN};
                if (pidfd >= 0)
                        poll(&p, 1, grace_ms);
        }
        /* Ours until it is reaped, so the number cannot be somebody else's. */
        kill(r->pid, SIGKILL);
        waitpid(r->pid, NULL, 0);
        r->pid = 0;
}
