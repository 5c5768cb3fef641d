/* sup_exec.c - commands and their bytes: pipes or a pty on one side, clients on the other, with
 * back-pressure both ways. Nothing here looks into the bytes. */
#include "session/sup.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { CHUNK = 32768, INPUT_HIGH = 65536, LATE_TTY = 1 << 20, LATE_LEAST = 64 };

struct exec *exec_new(struct sup *s, bool is_tty)
{
        struct exec *e = calloc(1, sizeof *e);
        if (!e)
                str_no_memory();
        *e = (struct exec){.sup = s,
                           .id = s->next_exec_id++,
                           .is_tty = is_tty,
                           .is_beside = s->is_paused,
                           .in_fd = -1,
                           .out_fd = {-1, -1},
                           .next = s->execs};
        s->execs = e;
        return e;
}

struct exec *exec_find(struct sup *s, uint32_t id)
{
        for (struct exec *e = s->execs; e; e = e->next)
                if (e->id == id)
                        return e;
        return NULL;
}

static int pipe_pair(int p[2], int nonblocking_end, struct err *err)
{
        if (pipe2(p, O_CLOEXEC) < 0 || fcntl(p[nonblocking_end], F_SETFL, O_NONBLOCK) < 0)
                return err_sys(err, "make a pipe");
        return 0;
}

int exec_pipes(struct exec *e, bool has_stdin, int fds[3], struct err *err)
{
        int in[2] = {-1, -1}, out[2] = {-1, -1}, errp[2] = {-1, -1};
        if ((has_stdin && pipe_pair(in, 1, err) < 0) || pipe_pair(out, 0, err) < 0 ||
            pipe_pair(errp, 0, err) < 0)
                goto fail;
        if (!has_stdin && (in[0] = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0) {
                err_sys(err, "open /dev/null");
                goto fail;
        }
        e->in_fd = in[1];
        e->out_fd[0] = out[0];
        e->out_fd[1] = errp[0];
        fds[0] = in[0];
        fds[1] = out[1];
        fds[2] = errp[1];
        return 0;
fail:
        for (int i = 0; i < 2; i++) {
                close_fd(&in[i]);
                close_fd(&out[i]);
                close_fd(&errp[i]);
        }
        return -1;
}

/* deliver(e, which, p, n): to the log (main command) and to every client of this exec. */
static void deliver(struct exec *e, int which, const void *p, size_t n)
{
        struct sup *s = e->sup;
        if (e->id == 1)
                outlog_put(&s->log, p, n);
        for (struct client *c = s->clients, *next; c; c = next) {
                next = c->next;
                if (c->exec == e)
                        client_send(c, which ? MSG_STDERR : MSG_STDOUT, p, n);
        }
}

/* spend(e, which, n): of what may come after the end; false when that was the last of it. */
static bool spend(struct exec *e, int which, size_t n)
{
        n = n < LATE_LEAST ? LATE_LEAST : n; /* single bytes would take their time too */
        e->late[which] -= n < e->late[which] ? n : e->late[which];
        return e->late[which] > 0;
}

/* drain(e, which): read while clients keep up. Returns true when there is nothing more now. */
static bool drain(struct exec *e, int which)
{
        uint8_t chunk[CHUNK];
        for (int rounds = 0; e->out_fd[which] >= 0 && (rounds < 8 || e->is_exited); rounds++) {
                if (client_is_busy(e))
                        return false;
                ssize_t n = read(e->out_fd[which], chunk, sizeof chunk);
                if (n > 0) {
                        deliver(e, which, chunk, (size_t)n);
                        if (!e->is_exited || spend(e, which, (size_t)n))
                                continue;
                }
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && errno == EAGAIN)
                        return true;
                /* End of file, or EIO from a terminal whose last user is gone; or somebody whom
                 * the command left behind goes on writing. */
                loop_del(&e->out_src[which]);
                close_fd(&e->out_fd[which]);
        }
        return e->out_fd[which] < 0;
}

static void finish(struct exec *e)
{
        struct sup *s = e->sup;
        struct msg_ended end = {.cpu_us = e->cpu_us, .peak_kib = e->peak_kib};
        int st = (int)e->wait_status;
        end.how = WIFSIGNALED(st) ? MSG_END_SIGNAL : MSG_END_EXIT;
        end.value = (uint32_t)(WIFSIGNALED(st) ? WTERMSIG(st) : WEXITSTATUS(st));
        if (e->id == 1 && s->has_main) {
                /* The main command is the box: its clients hear of the end when it is cleared. */
                char words[256] = "";
                enum msg_end how = (enum msg_end)end.how;
                if (s->is_stopping && how == MSG_END_SIGNAL)
                        how = MSG_END_STOPPED;
                else if (how == MSG_END_SIGNAL)
                        how = watch_reason(s, words);
                else
                        watch_tell_kills(s);
                s->end.cpu_us = end.cpu_us;
                s->end.peak_kib = end.peak_kib;
                sup_end(s, how, end.value, words);
                return;
        }
        for (struct client *c = s->clients, *next; c; c = next) {
                next = c->next;
                if (c->exec == e) {
                        c->exec = NULL;
                        client_send_ended(c, &end);
                        client_free(c);
                }
        }
        exec_free(e);
        sup_pause_hold(s);
        if (s->is_stopping && !s->execs)
                sup_end(s, MSG_END_STOPPED, SIGTERM, "");
        sup_turn_end(s);
}

void exec_pump(struct exec *e)
{
        bool is_dry = true;
        for (int i = 0; i < 2; i++)
                is_dry &= drain(e, i);
        if (e->is_exited && is_dry && !client_is_busy(e)) {
                finish(e);
                return;
        }
        uint32_t want = client_is_busy(e) ? 0 : EPOLLIN;
        loop_want(e->out_src[0], want);
        loop_want(e->out_src[1], want);
}

static void on_output(void *ctx, uint32_t events)
{
        (void)events;
        exec_pump(ctx);
}

static void push_input(struct exec *e)
{
        while (e->in_fd >= 0 && e->in_buf.len) {
                ssize_t n = write(e->in_fd, e->in_buf.data, e->in_buf.len);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && errno == EAGAIN)
                        break;
                if (n < 0) { /* nobody reads any more */
                        e->in_buf.len = 0;
                        e->in_eof = true;
                        break;
                }
                buf_drop(&e->in_buf, (size_t)n);
        }
        if (e->in_buf.len == 0 && e->in_eof && !e->is_tty) {
                loop_del(&e->in_src);
                close_fd(&e->in_fd);
        }
        loop_want(e->in_src, e->in_buf.len ? EPOLLOUT : 0);
}

static void on_input_room(void *ctx, uint32_t events)
{
        struct exec *e = ctx;
        (void)events;
        push_input(e);
        /* Clients that were told to wait may go on. */
        for (struct client *c = e->sup->clients; c; c = c->next)
                if (c->exec == e && !exec_is_input_full(e))
                        loop_want(c->src, EPOLLIN | (c->has_pend ? EPOLLOUT : 0));
}

void exec_started(struct exec *e, int master_fd)
{
        struct loop *l = e->sup->loop;
        e->is_started = true;
        if (e->is_tty && master_fd >= 0) {
                fcntl(master_fd, F_SETFL, O_NONBLOCK);
                e->out_fd[0] = master_fd;
                e->in_fd = fcntl(master_fd, F_DUPFD_CLOEXEC, 0);
        } else if (master_fd >= 0) {
                close(master_fd); /* nobody asked for one */
        }
        for (int i = 0; i < 2; i++)
                if (e->out_fd[i] >= 0 &&
                    !(e->out_src[i] = loop_add(l, e->out_fd[i], EPOLLIN, on_output, e)))
                        close_fd(&e->out_fd[i]); /* no pipe and no terminal: pid 1 lies */
        if (e->in_fd >= 0)
                e->in_src = loop_add(l, e->in_fd, 0, on_input_room, e);
        push_input(e);
}

bool exec_is_input_full(const struct exec *e)
{
        return e->in_buf.len >= INPUT_HIGH;
}

void exec_input(struct exec *e, const void *p, size_t n)
{
        if (e->in_eof || e->is_exited)
                return;
        buf_put(&e->in_buf, p, n);
        push_input(e);
}

void exec_input_end(struct exec *e)
{
        if (e->is_tty) {
                exec_input(e, "\004", 1); /* what a terminal's user would type */
                return;
        }
        e->in_eof = true;
        push_input(e);
}

void exec_resize(struct exec *e, uint32_t cols, uint32_t rows)
{
        struct winsize w = {.ws_col = (unsigned short)cols, .ws_row = (unsigned short)rows};
        if (e->is_tty && e->out_fd[0] >= 0 && cols && rows)
                ioctl(e->out_fd[0], TIOCSWINSZ, &w);
}

void exec_close_out(struct exec *e, int which)
{
        if (e->is_tty || which < 0 || which > 1)
                return;
        loop_del(&e->out_src[which]);
        close_fd(&e->out_fd[which]); /* the command gets SIGPIPE, as it would without us */
}

/* late(fd): what a command wrote before its end is in the pipe, so no more than that holds is worth
 * waiting for: whoever it left behind might write for ever. */
static size_t late(int fd)
{
        int size = fd < 0 ? -1 : fcntl(fd, F_GETPIPE_SZ);
        return size > 0 ? (size_t)size : LATE_TTY;
}

void exec_exited(struct exec *e, uint32_t wait_status, uint64_t cpu_us, uint64_t peak_kib)
{
        for (int i = 0; i < 2 && !e->is_exited; i++)
                e->late[i] = late(e->out_fd[i]);
        e->is_exited = true;
        e->wait_status = wait_status;
        e->cpu_us = cpu_us;
        e->peak_kib = peak_kib;
        exec_pump(e);
}

void exec_free(struct exec *e)
{
        struct exec **p = &e->sup->execs;
        while (*p && *p != e)
                p = &(*p)->next;
        if (*p)
                *p = e->next;
        loop_del(&e->in_src);
        for (int i = 0; i < 2; i++) {
                loop_del(&e->out_src[i]);
                close_fd(&e->out_fd[i]);
        }
        close_fd(&e->in_fd);
        buf_free(&e->in_buf);
        free(e);
}
