/* witness_role.c - the witness itself. One notification after the other: take the socket, let the
 * call go on, ask the socket which port it got, look up the program, tell the log. See witness.h.
 */
#include "audit/audit_int.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/confine.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/title.h"
#include "wire/frame.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define OPEN_THREAD 0200 /* PIDFD_THREAD, O_EXCL: Linux 6.9 */

enum { EARLY_MAX = 64, OPEN_MAX = 64, TRIES = 20 };

/* A call that was let go on and has no port yet. */
struct open_call {
        int sock;
        int tries;
        pid_t pid;
        char exe[WITNESS_EXE_MAX + 1];
};

static struct {
        int control_fd, listener_fd, log_fd;
        bool has_asked;
        struct buf early[EARLY_MAX]; /* the last that were seen before there was a log */
        size_t early_n;
        struct open_call open[OPEN_MAX];
        size_t open_n;
} w = {.log_fd = -1};

/* take_socket(pid, fd): a copy of the caller's TCP socket, or -1 for anything else. */
static int take_socket(pid_t pid, int fd)
{
        int domain = 0, protocol = 0;
        socklen_t n = sizeof domain;
        _cleanup_close_ int process = (int)syscall(SYS_pidfd_open, pid, OPEN_THREAD);
        if (process < 0 && errno == EINVAL)
                process = (int)syscall(SYS_pidfd_open, pid, 0); /* knows first threads only */
        if (process < 0)
                return -1;
        _cleanup_close_ int sock = (int)syscall(SYS_pidfd_getfd, process, fd, 0);
        if (sock < 0 || getsockopt(sock, SOL_SOCKET, SO_DOMAIN, &domain, &n) < 0 ||
            getsockopt(sock, SOL_SOCKET, SO_PROTOCOL, &protocol, &n) < 0 ||
            (domain != AF_INET && domain != AF_INET6) || protocol != IPPROTO_TCP)
                return -1;
        return take_fd(&sock);
}

/* source_port(sock): 0 as long as it has none. The kernel chooses it at the beginning of the call.
 */
static uint16_t source_port(int sock)
{
        struct sockaddr_in6 me = {.sin6_port = 0}; /* the port has one place in both families */
        socklen_t n = sizeof me;
        return getsockname(sock, (struct sockaddr *)&me, &n) < 0 ? 0 : ntohs(me.sin6_port);
}

static void tell(const struct buf *body)
{
        if (w.log_fd >= 0) {
                /* A log that is full waits; the box's connections must not wait for evidence. */
                frame_send(w.log_fd, AUDIT_SEEN, body, NULL, 0);
                return;
        }
        if (!w.has_asked)
                frame_send(w.control_fd, WITNESS_WANT, NULL, NULL, 0);
        w.has_asked = true;
        struct buf *keep = &w.early[w.early_n++ % EARLY_MAX];
        keep->len = 0;
        buf_put(keep, body->data, body->len);
}

static void tell_of(pid_t pid, uint16_t port, const char *exe)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, (uint32_t)pid);
        buf_put_u32(&b, port);
        buf_put_lstr(&b, exe);
        tell(&b);
}

static void look_up(pid_t pid, char exe[WITNESS_EXE_MAX + 1])
{
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/exe", pid);
        ssize_t n = readlink(path, exe, WITNESS_EXE_MAX);
        exe[n > 0 ? n : 0] = 0;
}

/* settle(o): has its call come so far by now? A call that failed at once never does. */
static bool settle(struct open_call *o)
{
        uint16_t port = source_port(o->sock);
        if (!port && ++o->tries < TRIES)
                return false;
        if (port)
                tell_of(o->pid, port, o->exe);
        close_fd(&o->sock);
        return true;
}

static void settle_all(void)
{
        for (size_t i = w.open_n; i-- > 0;)
                if (settle(&w.open[i]))
                        w.open[i] = w.open[--w.open_n];
}

static void serve(void)
{
        struct seccomp_notif q = {0};
        struct open_call o = {.sock = -1};
        if (ioctl(w.listener_fd, SECCOMP_IOCTL_NOTIF_RECV, &q) < 0)
                return; /* the caller was killed meanwhile */
        o.pid = (pid_t)q.pid;
        if (w.open_n < OPEN_MAX)
                o.sock = take_socket(o.pid, (int)q.data.args[0]);
        if (o.sock >= 0)
                look_up(o.pid, o.exe);
        struct seccomp_notif_resp go = {.id = q.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
        ioctl(w.listener_fd, SECCOMP_IOCTL_NOTIF_SEND, &go);
        if (o.sock >= 0 && !settle(&o))
                w.open[w.open_n++] = o;
}

/* join(fd): the log is there; tell what was kept for it. */
static void join(int fd)
{
        if (w.log_fd >= 0)
                close_fd(&w.log_fd);
        w.log_fd = fd;
        size_t first = w.early_n > EARLY_MAX ? w.early_n - EARLY_MAX : 0;
        for (size_t i = first; i < w.early_n; i++) {
                struct buf *b = &w.early[i % EARLY_MAX];
                frame_send(fd, AUDIT_SEEN, b, NULL, 0);
                buf_free(b);
        }
        w.early_n = 0;
}

static void listen_to_supervisor(void)
{
        static struct frame f;
        int got = frame_recv(w.control_fd, &f, false);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
                return;
        if (got <= 0)
                _exit(0);
        int fd = f.type == WITNESS_LOG ? frame_take_fd(&f, 0) : -1;
        if (fd >= 0)
                join(fd);
        frame_release(&f);
}

_Noreturn void witness_role_main(int control_fd, int listener_fd)
{
        static const int calls[] = {SYS_ioctl,      SYS_pidfd_open,  SYS_pidfd_getfd,
                                    SYS_getsockopt, SYS_getsockname, SYS_readlinkat,
#ifdef SYS_readlink
                                    SYS_readlink,
#endif
#ifdef SYS_poll
                                    SYS_poll,
#endif
                                    SYS_ppoll};
        struct err err = {0};
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        int keep[] = {control_fd, listener_fd};
        if (fdio_close_except(keep, sizeof keep / sizeof *keep) < 0)
                _exit(125);
        title_set("ostiary-witness");
        prctl(PR_SET_NAME, "ostiary-witness", 0, 0, 0);
        w.control_fd = control_fd;
        w.listener_fd = listener_fd;
        if (confine_calls(calls, sizeof calls / sizeof *calls, &err) < 0)
                _exit(125);
        for (;;) {
                struct pollfd p[2] = {{.fd = control_fd, .events = POLLIN},
                                      {.fd = listener_fd, .events = POLLIN}};
                if (poll(p, 2, w.open_n ? 1 : -1) < 0)
                        continue;
                settle_all();
                if (p[0].revents)
                        listen_to_supervisor();
                if (p[1].revents & POLLIN)
                        serve();
                else if (p[1].revents)
                        _exit(0); /* nobody is left in the box */
        }
}
