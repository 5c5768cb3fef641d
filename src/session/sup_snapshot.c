/* sup_snapshot.c - the supervisor's part of snapshots, forks and turns: MSG_SNAPSHOT.
 *
 * A box in which nothing runs is ended, frozen and sleeps; whoever wants something of it wakes it.
 * A busy one stands still while a child of ours copies what it wrote; it goes on again whatever
 * becomes of the copy, or of the client that asked. Called by sup_client.c and supervisor.c. */
#include "session/sup.h"

#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/str.h"
#include "session/frozen.h"
#include "session/snapshots.h"
#include "session/sup_freeze.h"
#include "session/sup_procs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LABEL_MAX = 4096, TURN_WAIT_MS = 100, TURN_TRIES = 20 };

struct sup_snapshot {
        struct client *client; /* NULL when it is gone */
        char *name, *kind, *label;
        uint64_t since_us;
        struct sup_frozen frozen;
        pid_t copier_pid; /* of a busy box; 0 when there is none */
        int answer_fd;    /* its words */
        struct loop_src *src;
};

static uint64_t now_us(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void snapshot_drop(struct sup *s)
{
        struct sup_snapshot *p = s->snapshot;
        if (!p)
                return;
        s->snapshot = NULL;
        loop_del(&p->src);
        if (p->copier_pid > 0) {
                kill(p->copier_pid, SIGKILL);
                waitpid(p->copier_pid, NULL, 0);
        }
        sup_thaw(&p->frozen);
        close_fd(&p->answer_fd);
        free(p->name);
        free(p->kind);
        free(p->label);
        free(p);
}

void sup_snapshot_forget(struct client *c)
{
        /* What was asked for is done all the same. */
        if (c->sup->snapshot && c->sup->snapshot->client == c)
                c->sup->snapshot->client = NULL;
}

static void answer(struct client *c, bool is_copied, uint64_t still_us, const char *list)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, is_copied);
        buf_put_u64(&b, still_us);
        buf_put_lstr(&b, list);
        if (c && frame_send(c->fd, MSG_SNAPSHOT_IS, &b, NULL, 0) < 0 && errno == EAGAIN)
                client_send(c, MSG_SNAPSHOT_IS, b.data, b.len);
}

/* copier(s, p, to): in the child: copy, and say how it went: "" and the list, or why not. */
static _Noreturn void copier(struct sup *s, const struct sup_snapshot *p, int to)
{
        struct err err = {0};
        struct stack stack;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _cleanup_close_ int layers = openat(s->dir_fd, "layers", O_RDONLY | O_DIRECTORY);
        if (layers >= 0)
                syncfs(layers);
        _cleanup_buf_ struct buf b = {0};
        if (snapshots_copy(s->store, s->id, s->dir_fd, *p->name ? p->name : NULL, p->kind, p->label,
                           &stack, &err) == 0) {
                buf_put_u8(&b, '+');
                stack_put(&b, &stack);
        } else {
                buf_put_u8(&b, (uint8_t)('A' + err.code));
                buf_put_str(&b, err.text);
        }
        _exit(fdio_write_all(to, b.data, b.len) < 0);
}

/* on_copied(ctx): the child has spoken, or died. */
static void on_copied(void *ctx, uint32_t events)
{
        struct sup *s = ctx;
        struct sup_snapshot *p = s->snapshot;
        _cleanup_buf_ struct buf b = {0};
        (void)events;
        fdio_read_all(p->answer_fd, &b, 8 << 20);
        waitpid(p->copier_pid, NULL, 0);
        p->copier_pid = 0;
        sup_thaw(&p->frozen);
        const char *words = buf_cstr(&b);
        if (!p->client) {
                snapshot_drop(s);
                return;
        }
        if (words[0] == '+') {
                answer(p->client, true, now_us() - p->since_us, words + 1);
        } else {
                struct err err = {0};
                int code = words[0] - 'A';
                if (code > E_NONE && code <= E_NOCMD)
                        err_set(&err, (enum err_code)code, "%s", words + 1);
                else
                        err_set(&err, E_SYSTEM, "the copy of the box's layers was interrupted");
                client_send_failed(p->client, &err);
        }
        snapshot_drop(s);
}

/* copy_busy(s, err): stop the box, fork, and let it go on when the child is done. */
static int copy_busy(struct sup *s, struct err *err)
{
        struct sup_snapshot *p = s->snapshot;
        int pair[2];
        if (sup_freeze(&p->frozen, &s->box, sup_procs_fd(s), err) < 0)
                return -1;
        if (pipe2(pair, O_CLOEXEC) < 0)
                return err_sys(err, "make a pipe");
        pid_t pid = fork();
        if (pid == 0) {
                close(pair[0]);
                copier(s, p, pair[1]);
        }
        close(pair[1]);
        p->answer_fd = pair[0];
        if (pid < 0)
                return err_sys(err, "start a process that copies");
        p->copier_pid = pid;
        p->src = loop_add(s->loop, pair[0], EPOLLIN, on_copied, s);
        return p->src ? 0 : err_sys(err, "wait for the copy");
}

bool sup_is_quiet(struct sup *s)
{
        return s->is_built && !s->execs && sup_is_idle(&s->box);
}

void sup_sleep(struct sup *s)
{
        s->is_sleeping = true;
        sup_end(s, MSG_END_EXIT, 0, "");
}

void sup_on_snapshot(struct client *c, struct frame *f)
{
        struct sup *s = c->sup;
        struct err err = {0};
        _cleanup_free_ char *name = NULL, *kind = NULL, *label = NULL;
        if (cur_lstr(&f->body, 64, &name) < 0 || cur_lstr(&f->body, 64, &kind) < 0 ||
            cur_lstr(&f->body, LABEL_MAX, &label) < 0 || s->snapshot || !s->is_built) {
                err_set(&err, E_REFUSED, "%s",
                        s->snapshot ? "another snapshot of this box is being made; try again"
                                    : "a request for a snapshot that makes no sense");
                client_send_failed(c, &err);
                return;
        }
        struct sup_snapshot *p = calloc(1, sizeof *p);
        if (!p)
                str_no_memory();
        *p = (struct sup_snapshot){.client = c,
                                   .name = take_ptr(&name),
                                   .kind = take_ptr(&kind),
                                   .label = take_ptr(&label),
                                   .since_us = now_us(),
                                   .answer_fd = -1};
        s->snapshot = p;
        sup_log(s, "snapshot", *p->name ? p->name : p->kind);
        if (sup_is_quiet(s)) {
                sup_sleep(s); /* sup_snapshot_end does the rest, when the box is cleared */
                return;
        }
        if (copy_busy(s, &err) < 0) {
                client_send_failed(c, &err);
                snapshot_drop(s);
        }
}

void sup_snapshot_break(struct sup *s)
{
        struct sup_snapshot *p = s->snapshot;
        if (!p || s->is_sleeping)
                return;
        struct err err = {0};
        err_set(&err, E_REFUSED, "the box ended while the snapshot was being made");
        if (p->client)
                client_send_failed(p->client, &err);
        snapshot_drop(s);
}

void sup_snapshot_freeze(struct sup *s)
{
        struct sup_snapshot *p = s->snapshot;
        struct err err = {0};
        if (s->end.is_kept && frozen_turn(s->store, s->dir_fd, &err) < 0)
                sup_tell(s, err.text);
        if (!p)
                return;
        err = (struct err){0};
        _cleanup_stack_ struct stack stack = {0};
        _cleanup_buf_ struct buf b = {0};
        int r = snapshots_freeze(s->store, s->id, s->dir_fd, *p->name ? p->name : NULL, p->kind,
                                 p->label, &stack, &err);
        if (r == 0) {
                stack_put(&b, &stack);
                s->frozen_n = stack.n;
        }
        if (p->client && r == 0)
                answer(p->client, false, now_us() - p->since_us, buf_cstr(&b));
        else if (p->client)
                client_send_failed(p->client, &err);
        if (p->client)
                p->client->is_answered = true;
        snapshot_drop(s);
}

void sup_again(struct sup *s)
{
        /* Nobody finds the socket any more; who has found it waits in its queue. */
        for (int fd;
             s->listen_fd >= 0 && (fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC)) >= 0;) {
                frame_send(fd, MSG_AGAIN, NULL, NULL, 0);
                close(fd);
        }
        for (struct client *c = s->clients; c; c = c->next)
                if (!c->exec && !c->wants_end && !c->is_answered)
                        client_send(c, MSG_AGAIN, "", 0);
}

void sup_turn_begin(struct sup *s, const struct strs *argv)
{
        if (s->opts->is_turns)
                frozen_turn_note(s->dir_fd, argv);
}

static void on_turn_timer(void *ctx)
{
        struct sup *s = ctx;
        if (s->is_ending || s->snapshot || s->execs)
                return;
        if (sup_is_quiet(s))
                sup_sleep(s);
        else if (++s->turn_tries < TURN_TRIES)
                loop_timer_set(s->loop, &s->turn_timer, TURN_WAIT_MS);
}

void sup_turn_end(struct sup *s)
{
        if (!s->opts->is_turns || s->has_main || s->is_ending || s->snapshot || s->execs)
                return;
        s->turn_tries = 0;
        s->turn_timer.fn = on_turn_timer;
        s->turn_timer.ctx = s;
        on_turn_timer(s);
}

bool sup_turn_is_over(struct sup *s)
{
        return s->opts->is_turns && !s->has_main && frozen_turn_is_open(s->dir_fd) &&
               sup_is_quiet(s);
}
