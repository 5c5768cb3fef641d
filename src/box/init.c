/* init.c - pid 1: reaps, starts what the supervisor asks for, passes signals on, and dies with the
 * supervisor. Everything in the box is its child, so all share one filter, one domain, one group;
 * nobody ever enters a box from outside.
 *
 * It reads three things: typed frames of the supervisor, wait statuses, and addresses that programs
 * want opened, which it passes on. It holds no secret, no capability, no host descriptor but its
 * control socket, and cannot be traced (case 14). */
#include "box/init.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "box/box.h"
#include "box/build.h"
#include "box/inbound.h"
#include "box/notify.h"
#include "box/open_url.h"
#include "box/role_attack.h"
#include "box/spawn.h"
#include "box/step.h"
#include "policy/git_shape.h"
#include "wire/frame.h"
#include "wire/msg.h"
#include "wire/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { EXECS_MAX = 1024 };

struct init {
        const struct box_plan *plan;
        int ctl_fd;
        struct {
                uint32_t id;
                pid_t pid;
        } execs[EXECS_MAX];
        size_t execs_n;
};

static struct frame in; /* large, so not on the stack */

static void send_words(struct init *in1, uint32_t type, uint32_t id, const struct err *e)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, type == MSG_BROKEN ? (uint32_t)e->code : id);
        buf_put_u32(&b, type == MSG_BROKEN ? (uint32_t)e->sys : (uint32_t)e->code);
        buf_put_lstr(&b, e->text);
        frame_send(in1->ctl_fd, type, &b, NULL, 0);
}

static void send_spawned(struct init *in1, uint32_t id, pid_t pid, int master_fd)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, id);
        buf_put_u32(&b, (uint32_t)pid);
        frame_send(in1->ctl_fd, MSG_SPAWNED, &b, &master_fd, master_fd >= 0 ? 1 : 0);
}

static void remember(struct init *in1, uint32_t id, pid_t pid)
{
        in1->execs[in1->execs_n].id = id;
        in1->execs[in1->execs_n++].pid = pid;
}

static void start_command(struct init *in1, uint32_t id, const struct msg_spawn *s,
                          const int fds[3])
{
        struct err e = {0};
        pid_t pid;
        int master = -1;
        if (in1->execs_n == EXECS_MAX)
                err_set(&e, E_REFUSED, "the box runs %d commands already", EXECS_MAX);
        else if (spawn_command(in1->plan, s, id, fds, &pid, &master, &e) == 0) {
                remember(in1, id, pid);
                send_spawned(in1, id, pid, master);
                close_fd(&master);
                return;
        }
        send_words(in1, MSG_SPAWN_ERR, id, &e);
}

static void on_spawn(struct init *in1, struct frame *f)
{
        uint32_t id;
        struct msg_spawn s;
        if (cur_u32(&f->body, &id) < 0 || msg_spawn_get(&f->body, &s) < 0)
                return;
        int fds[3] = {f->fds_n > 0 ? f->fds[0] : -1, f->fds_n > 1 ? f->fds[1] : -1,
                      f->fds_n > 2 ? f->fds[2] : -1};
        start_command(in1, id, &s, fds);
        msg_spawn_free(&s);
}

/* send_killed(in1, sig): whoever stops a box to hold it has to know when that has happened. */
static void send_killed(struct init *in1, uint32_t sig)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, sig);
        frame_send(in1->ctl_fd, MSG_KILLED, &b, NULL, 0);
}

/* The foreground group of a command's terminal is found by the kernel (the supervisor writes ^C to
 * the pty); this is for signals that the user sends to the command as such. */
static void on_kill(struct init *in1, struct frame *f)
{
        uint32_t id, sig;
        if (cur_u32(&f->body, &id) < 0 || cur_u32(&f->body, &sig) < 0 || sig == 0 || sig >= NSIG)
                return;
        if (id == 0) {
                /* Everything but ourselves; in the test build without a pid namespace that would be
                 * every process of the user. */
                if (getpid() == 1)
                        kill(-1, (int)sig);
                send_killed(in1, sig);
                return;
        }
        for (size_t i = 0; i < in1->execs_n; i++)
                if (in1->execs[i].id == id)
                        kill(-in1->execs[i].pid, (int)sig);
}

struct tree_task {
        bool is_out, follow;
        int fd;
        char *path, *name;
};

/* leaves_git(dir_fd, name): a git directory never leaves a box as files: its commits are fetched.
 * Whoever receives looks again (cli/cp_judge.c); here it only costs less. */
static const char *leaves_git(int dir_fd, const char *name)
{
        bool is_git = git_shape_is(git_shape_at(dir_fd)) ||
                      (*name && git_shape_name(name) != GIT_NAME_OTHER);
        return is_git ? "is a git directory and was left out: its commits come with `ostiary apply`."
                      : NULL;
}

static int run_tree_task(void *ctx)
{
        struct tree_task *t = ctx;
        return t->is_out ? tree_box_out(t->fd, t->path, t->follow, leaves_git)
                         : tree_box_in(t->fd, t->path, t->name);
}

static void on_tree(struct init *in1, struct frame *f, bool is_out)
{
        struct tree_task t = {.is_out = is_out};
        uint32_t id, follow = 0;
        if (cur_u32(&f->body, &id) < 0)
                return;
        struct err e = {0};
        pid_t pid;
        int ok =
                cur_lstr(&f->body, 4096, &t.path) == 0 &&
                (is_out ? cur_u32(&f->body, &follow) == 0 : cur_lstr(&f->body, 4096, &t.name) == 0);
        t.follow = follow != 0;
        t.fd = f->fds_n ? f->fds[0] : -1;
        if (!ok || t.fd < 0)
                err_set(&e, E_PROTO, "a copy request that makes no sense");
        else if (in1->execs_n == EXECS_MAX)
                err_set(&e, E_REFUSED, "the box runs %d commands already", EXECS_MAX);
        else if (spawn_task(run_tree_task, &t, t.fd, &pid, &e) == 0) {
                remember(in1, id, pid);
                send_spawned(in1, id, pid, -1);
        }
        if (e.code)
                send_words(in1, MSG_SPAWN_ERR, id, &e);
        free(t.path);
        free(t.name);
}

static void on_connect(struct init *in1, struct frame *f)
{
        uint32_t id, port;
        if (cur_u32(&f->body, &id) == 0 && cur_u32(&f->body, &port) == 0)
                inbound_connect(in1->ctl_fd, id, port);
}

static void reap(struct init *in1)
{
        int status;
        struct rusage u;
        pid_t pid;
        while ((pid = wait4(-1, &status, WNOHANG, &u)) > 0) {
                for (size_t i = 0; i < in1->execs_n; i++) {
                        if (in1->execs[i].pid != pid)
                                continue;
                        _cleanup_buf_ struct buf b = {0};
                        buf_put_u32(&b, in1->execs[i].id);
                        buf_put_u32(&b, (uint32_t)status);
                        buf_put_u64(&b,
                                    (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
                                            (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec));
                        buf_put_u64(&b, (uint64_t)u.ru_maxrss);
                        frame_send(in1->ctl_fd, MSG_EXITED, &b, NULL, 0);
                        in1->execs[i] = in1->execs[--in1->execs_n];
                        break;
                }
        }
}

static void serve(struct init *in1, int sig_fd, int url_fd)
{
        struct pollfd p[3] = {{.fd = in1->ctl_fd, .events = POLLIN},
                              {.fd = sig_fd, .events = POLLIN},
                              {.fd = url_fd, .events = POLLIN}};
        for (;;) {
                if (poll(p, 3, -1) < 0) {
                        if (errno == EINTR)
                                continue;
                        return; /* it would fail for ever: a box that cannot be served ends */
                }
                if (p[2].revents)
                        open_url_read(url_fd, in1->ctl_fd);
                if (p[1].revents) {
                        struct signalfd_siginfo s;
                        if (read(sig_fd, &s, sizeof s) == (ssize_t)sizeof s)
                                reap(in1);
                }
                if (!p[0].revents)
                        continue;
                if (frame_recv(in1->ctl_fd, &in, true) <= 0)
                        return; /* the supervisor is gone: so are we, and the box with us */
                switch (in.type) {
                case MSG_SPAWN:
                        on_spawn(in1, &in);
                        break;
                case MSG_KILL:
                        on_kill(in1, &in);
                        break;
                case MSG_TREE_OUT:
                case MSG_TREE_IN:
                        on_tree(in1, &in, in.type == MSG_TREE_OUT);
                        break;
                case MSG_CONNECT:
                        on_connect(in1, &in);
                        break;
                default:
                        break;
                }
                frame_release(&in);
        }
}

/* settle_fds(b, first, err): 0-2 become /dev/null, and the list of what stays open is made. */
static int settle_fds(struct build *b, const struct box_first *first, struct err *err)
{
        _cleanup_close_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (null < 0)
                return err_sys(err, "open /dev/null");
        for (int i = 0; i < 3; i++)
                if (dup2(null, i) < 0)
                        return err_sys(err, "take /dev/null as descriptor %d", i);
        b->keep_fds[3] = b->ctl_fd;
        for (int i = 0; i < 3; i++)
                b->keep_fds[i] = first ? first->fds[i] : -1;
        return 0;
}

/* default_signals(): what the supervisor ignores, a command must not; an ignored signal stays
 * ignored through exec. pid 1 itself is immune to whatever has no handler. */
static void default_signals(void)
{
        static const int changed[] = {SIGPIPE, SIGHUP, SIGINT, SIGQUIT, SIGXFSZ};
        for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
                signal(changed[i], SIG_DFL);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
}

_Noreturn void init_main(struct build *b, const struct box_first *first)
{
        struct init in1 = {.plan = b->plan, .ctl_fd = b->ctl_fd};
        struct err e = {0};

        default_signals();
        umask(022);
        prctl(PR_SET_NAME, "ostiary-init", 0, 0, 0);
        if (unshare(CLONE_NEWCGROUP) < 0) {
                err_sys(&e, "make a cgroup namespace");
                e.code = E_MACHINE;
        } else if (settle_fds(b, first, &e) == 0)
                build_box(b, &e);
        if (e.code) {
                err_add(&e, "cannot build the box");
                send_words(&in1, MSG_BROKEN, 0, &e);
                _exit(125);
        }
        if (notify_built(b) < 0)
                _exit(125); /* the supervisor died while we built: nothing is started any more */
        role_attack(ROLE_INIT);

        /* pid 1 ignores what has no handler; blocking is for signalfd. */
        sigset_t chld;
        sigemptyset(&chld);
        sigaddset(&chld, SIGCHLD);
        sigprocmask(SIG_BLOCK, &chld, NULL);
        int sig_fd = signalfd(-1, &chld, SFD_CLOEXEC);
        if (sig_fd < 0)
                _exit(125);
        if (first && first->spawn) {
                start_command(&in1, 1, first->spawn, b->keep_fds);
                for (int i = 0; i < 3; i++)
                        close_fd(&b->keep_fds[i]);
        }
        serve(&in1, sig_fd, open_url_make());
        _exit(0);
}
