/* errand_box.c - see errand_box.h. A process of its own (the keeper) starts the box, so that
 * neither our terminal, descriptors and environment nor our place among the control groups have
 * anything to do with it; the socket to pid 1 comes back to us. What pid 1 says is bounded, and
 * what makes no sense is dropped. */
#include "session/errand_box.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/title.h"
#include "box/box.h"
#include "git/pump.h"
#include "wire/frame.h"
#include "wire/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { BUILD_MS = 30 * 1000 };

/* keeper_leave(hold_fd): as supervisor.c does: nothing of the caller stays. */
static void keeper_leave(int hold_fd)
{
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        umask(077);
        if (chdir("/") < 0 || setsid() < 0 || null < 0)
                _exit(125);
        for (int i = 0; i < 3; i++)
                if (dup2(null, i) < 0)
                        _exit(125);
        if (fdio_close_except(&hold_fd, 1) < 0)
                _exit(125);
        title_set("ostiary-errand");
        prctl(PR_SET_NAME, "ostiary-errand", 0, 0, 0);
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* case 14 */
        static const int ignored[] = {SIGPIPE, SIGHUP, SIGINT, SIGQUIT};
        for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
                signal(ignored[i], SIG_IGN);
        signal(SIGCHLD, SIG_DFL);
}

static int keeper_start(const struct box_plan *plan, struct box *box, struct err *err)
{
        _cleanup_net_ struct box_net net = {.maker_pid = -1, .fd = -1};
        if (box_net_begin(&net, false, err) < 0 || box_net_map(&net, plan, err) < 0)
                return -1;
        return box_start(plan, NULL, net.fd, box, err);
}

/* keeper_main(plan, hold_fd): a byte and the socket to pid 1, or a sentence; then it waits for
 * whoever holds the other end. */
static _Noreturn void keeper_main(const struct box_plan *plan, int hold_fd)
{
        static struct box box;
        static struct err err;
        keeper_leave(hold_fd);
        if (keeper_start(plan, &box, &err) < 0) {
                fdio_send(hold_fd, err.text, strlen(err.text), NULL, 0);
                _exit(1);
        }
        fdio_send(hold_fd, "\n", 1, &box.ctl_fd, 1); /* no sentence begins so */
        close_fd(&box.ctl_fd);
        struct pollfd v[2] = {{.fd = hold_fd, .events = POLLIN},
                              {.fd = box.pidfd, .events = POLLIN}};
        while (poll(v, 2, -1) < 0 && errno == EINTR)
                ;
        box_end(&box);
        _exit(0);
}

/* box_said(box, want, f, err): the next frame of pid 1 within ${BUILD_MS}. */
static int box_said(struct errand_box *b, struct frame *f, struct err *err)
{
        struct pollfd v = {.fd = b->ctl_fd, .events = POLLIN};
        int r = poll(&v, 1, BUILD_MS);
        if (r > 0)
                r = frame_recv(b->ctl_fd, f, false);
        return r > 0 ? 0 : err_set(err, E_SYSTEM, "the box's first process is gone");
}

static int box_is_built(struct errand_box *b, struct err *err)
{
        static struct frame f;
        if (box_said(b, &f, err) < 0)
                return -1;
        /* What shows how much the box uses: an errand is held by its limits and its time alone. */
        if (f.type == MSG_WATCHED) {
                frame_release(&f);
                if (box_said(b, &f, err) < 0)
                        return -1;
        }
        uint32_t code, sys;
        char *words = NULL;
        int r = f.type == MSG_BUILT ? 0 : -1;
        if (f.type == MSG_BROKEN && cur_u32(&f.body, &code) == 0 && cur_u32(&f.body, &sys) == 0 &&
            cur_lstr(&f.body, 1000, &words) == 0)
                err_set(err, code <= E_NOCMD ? (enum err_code)code : E_PROTO, "%s", words);
        else if (r < 0)
                err_set(err, E_PROTO, "the box's first process said something else than expected");
        free(words);
        frame_release(&f);
        return r;
}

int errand_box_start(struct errand_box *b, const struct box_plan *plan, struct err *err)
{
        int pair[2];
        *b = (struct errand_box){.hold_fd = -1, .ctl_fd = -1};
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
                return err_sys(err, "make a socket");
        b->keeper_pid = fork();
        if (b->keeper_pid == 0)
                keeper_main(plan, pair[1]);
        close(pair[1]);
        b->hold_fd = pair[0];
        if (b->keeper_pid < 0) {
                b->keeper_pid = 0;
                close_fd(&b->hold_fd);
                return err_sys(err, "start a process for git");
        }
        char words[sizeof err->text] = "";
        size_t n = 0;
        ssize_t got = fdio_recv(b->hold_fd, words, sizeof words - 1, &b->ctl_fd, 1, &n);
        int r = 0;
        if (got <= 0)
                r = err_set(err, E_SYSTEM, "the process that starts a box for git is gone");
        else if (words[0] != '\n' || n != 1)
                r = err_set(err, E_MACHINE, "%s", words);
        if (r == 0 && box_is_built(b, err) == 0)
                return 0;
        errand_box_end(b);
        return -1;
}

void errand_box_end(struct errand_box *b)
{
        if (b->keeper_pid <= 0)
                return;
        close_fd(&b->ctl_fd);
        close_fd(&b->hold_fd);
        while (waitpid(b->keeper_pid, NULL, 0) < 0 && errno == EINTR)
                ;
        b->keeper_pid = 0;
}

/* box_ask(box, call, env, fds): have pid 1 start it. */
static int box_ask(struct errand_box *b, const struct git_call *call, const struct strs *env,
                   const int fds[3], struct err *err)
{
        struct msg_spawn s = {.has_stdin = true, .cwd = (char *)(uintptr_t)call->dir};
        _cleanup_strs_ struct strs argv = {0};
        strs_add(&argv, call->program ? call->program : "git");
        for (size_t i = 0; call->argv[i]; i++)
                strs_add(&argv, call->argv[i]);
        s.argv = argv;
        s.env = *env;
        _cleanup_buf_ struct buf body = {0};
        buf_put_u32(&body, ++b->calls_n);
        msg_spawn_put(&body, &s);
        return frame_send(b->ctl_fd, MSG_SPAWN, &body, fds, 3) < 0
                       ? err_sys(err, "ask the box to run git")
                       : 0;
}

/* box_heard(box, f, p, &status, err): 1 when the call is over, 0 not yet, -1 it never began. */
static int box_heard(struct errand_box *b, struct frame *f, int *status, struct err *err)
{
        uint32_t id, value;
        char *words = NULL;
        if (cur_u32(&f->body, &id) < 0 || id != b->calls_n || cur_u32(&f->body, &value) < 0)
                return 0;
        if (f->type == MSG_EXITED) {
                *status = (int)value;
                return 1;
        }
        if (f->type != MSG_SPAWN_ERR || cur_lstr(&f->body, sizeof err->text - 1, &words) < 0)
                return 0;
        err_set(err, value <= E_NOCMD ? (enum err_code)value : E_PROTO, "%s", words);
        free(words);
        return -1;
}

/* box_wait(box, p, &status, err): pump until the call is over. -1 with ${is_alive} false: the box
 * has to end. */
static int box_wait(struct errand_box *b, struct git_pump *p, int *status, bool *is_alive,
                    struct err *err)
{
        static struct frame f;
        *is_alive = false;
        for (int r = 0; r == 0;) {
                if (git_pump_wait(p, b->ctl_fd, err) < 0)
                        return -1;
                int got = frame_recv(b->ctl_fd, &f, false);
                if (got < 0 && (errno == EAGAIN || errno == EINTR))
                        continue;
                if (got <= 0)
                        return err_set(err, E_SYSTEM, "the box that ran git is gone");
                r = box_heard(b, &f, status, err);
                frame_release(&f);
                *is_alive = r != 0;
                if (r < 0)
                        return -1;
        }
        return git_pump_rest(p, err);
}

/* box_calm(b): whatever the call left behind ends with it. */
static void box_calm(struct errand_box *b)
{
        _cleanup_buf_ struct buf body = {0};
        buf_put_u32(&body, 0);
        buf_put_u32(&body, SIGKILL);
        frame_send(b->ctl_fd, MSG_KILL, &body, NULL, 0);
}

int errand_box_run(struct errand_box *b, const struct git_call *call, const struct strs *env,
                   struct err *err)
{
        struct git_pump p;
        int theirs[3], status = 0;
        bool is_alive = true;
        if (git_pump_open(&p, call, theirs, err) < 0)
                return -1;
        int r = box_ask(b, call, env, theirs, err);
        for (int i = 0; i < 3; i++)
                close_fd(&theirs[i]);
        if (r == 0)
                r = box_wait(b, &p, &status, &is_alive, err);
        if (r < 0)
                r = -1;
        else if (!WIFEXITED(status))
                r = err_set(err, E_INPUT, "%s %s was killed by signal %d",
                            call->program ? call->program : "git", call->argv[0], WTERMSIG(status));
        else if ((r = WEXITSTATUS(status)) != 0)
                git_pump_words(&p, err);
        git_pump_close(&p);
        if (is_alive)
                box_calm(b);
        else
                errand_box_end(b);
        return r;
}
