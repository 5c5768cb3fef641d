/* sup_client.c - conversations with CLIs: who may connect, what each message does. The table at the
 * end is everything a client can ask for. */
#include "session/sup.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#define PEER_PIDFD 77 /* SO_PEERPIDFD: newer than Debian 12's headers */

enum { REPLAY_MAX = 65536, ASK_MS = 500 };

static void on_client(void *ctx, uint32_t events);

struct client *client_new(struct sup *s, int fd)
{
        struct client *c = calloc(1, sizeof *c);
        if (!c)
                str_no_memory();
        fcntl(fd, F_SETFL, O_NONBLOCK);
        *c = (struct client){.sup = s, .fd = fd, .next = s->clients};
        c->src = loop_add(s->loop, fd, EPOLLIN, on_client, c);
        s->clients = c;
        return c;
}

void client_free(struct client *c)
{
        struct client **p = &c->sup->clients;
        while (*p && *p != c)
                p = &(*p)->next;
        if (*p)
                *p = c->next;
        struct exec *e = c->exec;
        c->exec = NULL;
        sup_rules_forget(c);
        sup_inbound_forget(c);
        sup_secrets_forget(c);
        sup_snapshot_forget(c);
        loop_del(&c->src);
        close_fd(&c->fd);
        buf_free(&c->pend);
        free(c);
        /* Killing the CLI is detaching: the command goes on, and nobody holds its output up. */
        if (e)
                exec_pump(e);
}

bool client_is_busy(const struct exec *e)
{
        for (struct client *c = e->sup->clients; c; c = c->next)
                if (c->exec == e && c->has_pend)
                        return true;
        return false;
}

void client_send(struct client *c, uint32_t type, const void *p, size_t n)
{
        if (c->fd < 0 || c->has_pend)
                return; /* has_pend: only unasked notices come here, and they may be lost */
        if (frame_send_data(c->fd, type, p, n) == 0)
                return;
        if (errno == EAGAIN || errno == ENOBUFS) {
                buf_put(&c->pend, p, n);
                c->pend_type = type;
                c->has_pend = true;
                loop_want(c->src, EPOLLIN | EPOLLOUT);
        }
        /* Any other error is heard as a hang-up by the loop. */
}

void client_send_ended(struct client *c, const struct msg_ended *end)
{
        _cleanup_buf_ struct buf b = {0};
        msg_ended_put(&b, end);
        /* The last message: wait for room rather than lose it, but not for ever. */
        struct timeval patience = {.tv_sec = 2};
        fcntl(c->fd, F_SETFL, 0);
        setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        frame_send(c->fd, MSG_ENDED, &b, NULL, 0);
}

void sup_tell(struct sup *s, const char *words)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_lstr(&b, words);
        for (struct client *c = s->clients; c; c = c->next)
                if (c->exec || !s->is_built)
                        client_send(c, MSG_NOTICE, b.data, b.len);
}

void client_send_notice(struct client *c, const char *words)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_lstr(&b, words);
        client_send(c, MSG_NOTICE, b.data, b.len);
}

void client_send_failed(struct client *c, const struct err *e)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, (uint32_t)e->code);
        buf_put_lstr(&b, e->text);
        client_send(c, MSG_FAILED, b.data, b.len);
}

static void refuse(struct client *c, const char *words)
{
        struct err e = {0};
        err_set(&e, E_REFUSED, "%s", words);
        client_send_failed(c, &e);
}

/* ask(s, type, body, fds, fds_n): of pid 1. Hundreds of commands at once fill its socket, and then
 * a moment helps; a pid 1 that takes nothing any more must not take our time. */
static int ask(struct sup *s, uint32_t type, const struct buf *body, const int *fds, size_t fds_n)
{
        struct pollfd p = {.fd = s->box.ctl_fd, .events = POLLOUT};
        int r = frame_send(s->box.ctl_fd, type, body, fds, fds_n);
        if (r < 0 && errno == EAGAIN && poll(&p, 1, ASK_MS) == 1)
                r = frame_send(s->box.ctl_fd, type, body, fds, fds_n);
        return r;
}

/* forward(c, type, f, e): pass a request on to pid 1 under a new exec id, with its descriptors. */
static void forward(struct client *c, uint32_t type, struct exec *e, const struct buf *body,
                    const int *fds, size_t fds_n)
{
        c->exec = e;
        if (ask(c->sup, type, body, fds, fds_n) < 0) {
                struct err err = {0};
                err_sys(&err, "ask the box to start a command");
                c->exec = NULL;
                exec_free(e);
                client_send_failed(c, &err);
        }
}

static void on_exec(struct client *c, struct frame *f)
{
        struct sup *s = c->sup;
        struct msg_spawn spawn;
        struct err err = {0};
        int fds[3] = {-1, -1, -1};
        if (msg_spawn_get(&f->body, &spawn) < 0) {
                refuse(c, "an exec request that makes no sense");
                return;
        }
        if (sup_turn_is_over(s)) { /* the client is told to come again, and wakes it */
                sup_sleep(s);
                msg_spawn_free(&spawn);
                return;
        }
        sup_secrets_env(s, &spawn.env);
        sup_turn_begin(s, &spawn.argv);
        struct exec *e = exec_new(s, spawn.is_tty);
        if (!spawn.is_tty && exec_pipes(e, spawn.has_stdin, fds, &err) < 0) {
                exec_free(e);
                client_send_failed(c, &err);
        } else {
                _cleanup_buf_ struct buf b = {0};
                buf_put_u32(&b, e->id);
                msg_spawn_put(&b, &spawn);
                sup_witness_spawn(s, e->id, &spawn);
                forward(c, MSG_SPAWN, e, &b, fds, spawn.is_tty ? 0 : 3);
        }
        for (int i = 0; i < 3; i++)
                close_fd(&fds[i]);
        msg_spawn_free(&spawn);
}

static void on_copy(struct client *c, struct frame *f)
{
        struct sup *s = c->sup;
        if (f->fds_n != 1) {
                refuse(c, "a copy request without its stream");
                return;
        }
        struct exec *e = exec_new(s, false);
        e->is_copy = true;
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, e->id);
        buf_put(&b, f->body.p, f->body.left);
        forward(c, f->type == MSG_COPY_OUT ? MSG_TREE_OUT : MSG_TREE_IN, e, &b, f->fds, 1);
}

static void on_attach(struct client *c, struct frame *f)
{
        uint32_t cols, rows;
        struct exec *e = exec_find(c->sup, 1);
        if (cur_u32(&f->body, &cols) < 0 || cur_u32(&f->body, &rows) < 0)
                return;
        if (!e || !c->sup->has_main) {
                refuse(c,
                       "this box has no main command to attach to: ostiary exec runs something in it, and "
                       "ostiary stop, then ostiary resume, starts its agent again");
                return;
        }
        _cleanup_buf_ struct buf tail = {0};
        outlog_tail(&c->sup->log, REPLAY_MAX, &tail);
        const struct msg_started long_ago = {0};
        _cleanup_buf_ struct buf started = {0};
        msg_started_put(&started, &long_ago);
        client_send(c, MSG_STARTED, started.data, started.len);
        if (tail.len)
                client_send(c, MSG_REPLAY, tail.data, tail.len);
        c->exec = e;
        /* A full-screen program repaints when its window changes; nudge it. */
        if (e->is_tty && cols && rows) {
                exec_resize(e, cols, rows > 1 ? rows - 1 : rows + 1);
                exec_resize(e, cols, rows);
        }
        sup_ask_show(c);
}

static void on_status(struct client *c, struct frame *f)
{
        struct msg_info info = {0};
        _cleanup_buf_ struct buf b = {0};
        (void)f;
        watch_info(c->sup, &info);
        msg_info_put(&b, &info);
        msg_info_free(&info);
        client_send(c, MSG_INFO, b.data, b.len);
}

static void on_stop(struct client *c, struct frame *f)
{
        uint32_t grace_ms;
        if (cur_u32(&f->body, &grace_ms) < 0)
                return;
        c->wants_end = true;
        sup_stop(c->sup, grace_ms);
}

static void on_stdin(struct client *c, struct frame *f)
{
        if (!c->exec)
                return;
        if (f->body.left == 0) {
                exec_input_end(c->exec);
                return;
        }
        exec_input(c->exec, f->body.p, f->body.left);
        if (exec_is_input_full(c->exec))
                loop_want(c->src, c->has_pend ? EPOLLOUT : 0);
}

static void on_resize(struct client *c, struct frame *f)
{
        uint32_t cols, rows;
        if (c->exec && cur_u32(&f->body, &cols) == 0 && cur_u32(&f->body, &rows) == 0)
                exec_resize(c->exec, cols, rows);
}

static void on_signal(struct client *c, struct frame *f)
{
        uint32_t sig;
        if (!c->exec || cur_u32(&f->body, &sig) < 0)
                return;
        if (c->sup->box.ctl_fd < 0) { /* there is no box yet, and somebody does not want to wait */
                sup_end(c->sup, MSG_END_STOPPED, sig, "the box was stopped before it began");
                return;
        }
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, c->exec->id);
        buf_put_u32(&b, sig);
        frame_send(c->sup->box.ctl_fd, MSG_KILL, &b, NULL, 0);
}

static void on_close_out(struct client *c, struct frame *f)
{
        uint32_t which;
        if (c->exec && cur_u32(&f->body, &which) == 0)
                exec_close_out(c->exec, (int)which - 1);
}

static void on_quiet(struct client *c, struct frame *f)
{
        (void)f;
        c->is_quiet = true;
}

/* Everything a client may ask, and when: the first message of a conversation, or later. */
static const struct {
        uint32_t type;
        bool is_first;
        void (*run)(struct client *, struct frame *);
} asks[] = {
        {MSG_EXEC, true, on_exec},           {MSG_ATTACH, true, on_attach},
        {MSG_STATUS, true, on_status},       {MSG_STOP, true, on_stop},
        {MSG_COPY_OUT, true, on_copy},       {MSG_COPY_IN, true, on_copy},
        {MSG_STDIN, false, on_stdin},        {MSG_RESIZE, false, on_resize},
        {MSG_SIGNAL, false, on_signal},      {MSG_CLOSE_OUT, false, on_close_out},
        {MSG_RULE, true, sup_on_rule},       {MSG_RULES, true, sup_on_rules},
        {MSG_RELOAD, true, sup_on_reload},   {MSG_APPROVALS, true, sup_on_approvals},
        {MSG_APPROVE, true, sup_on_approve}, {MSG_PUBLISH, true, sup_on_publish},
        {MSG_PORTS, true, sup_on_ports},     {MSG_FORWARD, false, sup_on_forward},
        {MSG_SECRETS, true, sup_on_secrets}, {MSG_REVOKE, true, sup_on_revoke},
        {MSG_ROTATE, true, sup_on_rotate},   {MSG_SNAPSHOT, true, sup_on_snapshot},
        {MSG_SETTLE, true, sup_on_settle},   {MSG_CONTINUE, true, sup_on_continue},
        {MSG_ANSWER, false, sup_on_answer},  {MSG_QUIET, false, on_quiet},
};

static void answer(struct client *c, struct frame *f)
{
        if (c->sup->is_sleeping)
                return; /* it is told to come again when the box can be woken */
        for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
                if (asks[i].type != f->type)
                        continue;
                if (asks[i].is_first == (c->exec == NULL))
                        asks[i].run(c, f);
                return;
        }
        refuse(c, "a message this version of ostiary does not know");
}

static void flush_pend(struct client *c)
{
        if (frame_send_data(c->fd, c->pend_type, c->pend.data, c->pend.len) < 0 &&
            (errno == EAGAIN || errno == ENOBUFS))
                return;
        c->pend.len = 0;
        c->has_pend = false;
        bool is_full = c->exec && exec_is_input_full(c->exec);
        loop_want(c->src, is_full ? 0 : EPOLLIN);
        if (c->is_behind)
                sup_ask_show(c);
        if (c->exec)
                exec_pump(c->exec);
}

/* client_put_off(c): is it to ask again later? It is not read from until then. */
static bool client_put_off(struct client *c)
{
        uint32_t type;
        if (c->exec || frame_peek(c->fd, &type) < 0 || !sup_pause_puts_off(c->sup, type))
                return false;
        c->is_put_off = true;
        loop_want(c->src, c->has_pend ? EPOLLOUT : 0);
        return true;
}

static void on_client(void *ctx, uint32_t events)
{
        static struct frame f; /* large; one loop, so one at a time */
        struct client *c = ctx;
        if (events & EPOLLOUT && c->has_pend) {
                flush_pend(c);
                return; /* the client may be gone by now */
        }
        bool is_gone = events & (EPOLLHUP | EPOLLERR);
        if (!is_gone && client_put_off(c))
                return;
        int r = is_gone && c->is_put_off ? 0 : frame_recv(c->fd, &f, true);
        if (r < 0 && errno == EAGAIN)
                return;
        if (r <= 0) {
                client_free(c);
                return;
        }
        answer(c, &f);
        frame_release(&f);
}

/* is_there(peer_pidfd): does whoever connected still live? Then the number that we looked up was
 * its own, and not that of somebody who came after it. */
static bool is_there(int peer_pidfd)
{
        struct pollfd p = {.fd = peer_pidfd, .events = POLLIN};
        return poll(&p, 1, 0) == 0;
}

/* peer_is_ours(fd): the same user (or root), and not from inside some user namespace: a box that
 * found the socket could otherwise talk to its own keeper (S11). */
static bool peer_is_ours(int fd)
{
        struct ucred peer;
        socklen_t n = sizeof peer, m = sizeof(int);
        _cleanup_close_ int handle = -1;
        char path[64], theirs[64], ours[64];
        /* Linux 6.5; before that a number that is used again within these few lines is taken for
         * whom it belongs to then. */
        if (getsockopt(fd, SOL_SOCKET, PEER_PIDFD, &handle, &m) < 0 && errno != ENOPROTOOPT)
                return false;
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0)
                return false;
        if (peer.uid != geteuid() && peer.uid != 0)
                return false;
        snprintf(path, sizeof path, "/proc/%d/ns/user", peer.pid);
        ssize_t a = readlink(path, theirs, sizeof theirs);
        ssize_t b = readlink("/proc/self/ns/user", ours, sizeof ours);
        return a > 0 && a == b && memcmp(theirs, ours, (size_t)a) == 0 &&
               (handle < 0 || is_there(handle));
}

static void on_listen(void *ctx, uint32_t events)
{
        struct sup *s = ctx;
        (void)events;
        int fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
                return;
        if (!peer_is_ours(fd)) {
                close(fd);
                return;
        }
        client_new(s, fd);
}

int client_listen(struct sup *s, struct err *err)
{
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        struct sockaddr_un a = {.sun_family = AF_UNIX};
        /* Through the descriptor: a state directory may have a longer path than sun_path holds. */
        snprintf(a.sun_path, sizeof a.sun_path, "/proc/self/fd/%d/ctl", s->dir_fd);
        unlinkat(s->dir_fd, "ctl", 0);
        if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 64) < 0)
                return err_sys(err, "make the control socket");
        s->listen_fd = take_fd(&fd);
        s->listen_src = loop_add(s->loop, s->listen_fd, EPOLLIN, on_listen, s);
        return 0;
}
