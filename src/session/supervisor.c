/* supervisor.c - life and death of a box: forked from the CLI, outlives it, starts pid 1, listens,
 * and when the box is over clears everything away and says how it ended. */
#include "session/supervisor.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "base/title.h"
#include "box/role_attack.h"
#include "box/weak.h"
#include "policy/profile.h"
#include "session/ca.h"
#include "session/frozen.h"
#include "session/home.h"
#include "session/layers.h"
#include "session/live.h"
#include "session/secret_mask.h"
#include "session/sup_secrets.h"
#include "wire/door.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { REFILL_MS = 1000 };

/* leave_caller(args): nothing of the process we were forked from may stay with us: not its session,
 * terminal, directory, descriptors, and not its environment, where keys live (cases 29, 30). */
static void leave_caller(const struct supervisor_args *a)
{
        umask(077);
        if (chdir("/") < 0)
                _exit(125);
        if (!box_weak(WEAK_PTY)) {
                setsid();
                int null = open("/dev/null", O_RDWR | O_CLOEXEC);
                for (int i = 0; i < 3 && null >= 0; i++)
                        dup2(null, i);
        }

        int keep[9 + DOOR_SECRETS_MAX + LIVE_FDS_MAX] = {a->dir_fd,   a->lock_fd,   a->mask_fd,
                                                         a->home_fd,  a->client_fd, a->net_fd,
                                                         a->ready_fd, a->ca.dir_fd, a->ca.key_fd};
        size_t keep_n = 9;
        for (size_t i = 0; i < a->plan->secrets.n; i++)
                keep[keep_n++] = a->plan->secrets.v[i].value_fd;
        keep_n += live_fds(a->live, keep + keep_n);
        if (!box_weak(WEAK_FDS) && fdio_close_except(keep, keep_n) < 0)
                _exit(125);
        title_set("ostiary-box");
        prctl(PR_SET_NAME, "ostiary-box", 0, 0, 0);
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* case 14 */
}

void sup_end(struct sup *s, enum msg_end how, uint32_t value, const char *words)
{
        if (s->is_ending)
                return;
        s->is_ending = true;
        s->end.how = how;
        s->end.value = value;
        s->end.words = str_dup(words);
        loop_stop(s->loop);
}

/* send_signal(s, id, sig): to one command's process group, or with id 0 to everything. */
static void send_signal(struct sup *s, uint32_t id, uint32_t sig)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, id);
        buf_put_u32(&b, sig);
        frame_send(s->box.ctl_fd, MSG_KILL, &b, NULL, 0);
}

void sup_signal_all(struct sup *s, int sig)
{
        send_signal(s, 0, (uint32_t)sig);
}

static void on_grace_over(void *ctx, uint32_t events)
{
        (void)events;
        sup_end(ctx, MSG_END_STOPPED, SIGTERM, "");
}

void sup_stop(struct sup *s, uint32_t grace_ms)
{
        if (!s->execs || grace_ms == 0) {
                sup_end(s, MSG_END_STOPPED, SIGTERM, "");
                return;
        }
        if (s->is_stopping)
                return;
        s->is_stopping = true; /* sup_exec.c ends the box when the last command is gone */
        send_signal(s, 0, SIGTERM);
        send_signal(s, 0, SIGCONT);
        for (struct exec *e = s->execs; e; e = e->next)
                if (e->is_tty) /* an interactive shell ignores TERM, and ends when it is hung up on
                                */
                        send_signal(s, e->id, SIGHUP);
        s->stop_fd = watch_timer(grace_ms);
        if (s->stop_fd < 0 ||
            !(s->stop_src = loop_add(s->loop, s->stop_fd, EPOLLIN, on_grace_over, s)))
                sup_end(s, MSG_END_STOPPED, SIGTERM, "");
}

void sup_fail(struct sup *s, const char *what)
{
        if (what)
                err_add(&s->failure, "%s", what);
        sup_end(s, MSG_END_FAULT, 0, s->failure.text);
}

static void on_spawned(struct sup *s, struct frame *f)
{
        uint32_t id, pid;
        if (cur_u32(&f->body, &id) < 0 || cur_u32(&f->body, &pid) < 0)
                return;
        struct exec *e = exec_find(s, id);
        if (!e || e->is_started)
                return;
        uint8_t body[4] = {(uint8_t)(pid >> 24), (uint8_t)(pid >> 16), (uint8_t)(pid >> 8),
                           (uint8_t)pid};
        for (struct client *c = s->clients; c; c = c->next)
                if (c->exec == e)
                        client_send(c, MSG_STARTED, body, sizeof body);
        exec_started(e, frame_take_fd(f, 0));
}

/* get_words(c, err): code and sentence as pid 1 sent them; it may be hostile, so bounded. */
static int get_words(struct cur *c, struct err *err)
{
        uint32_t code;
        char *words;
        if (cur_u32(c, &code) < 0)
                return -1;
        if (cur_lstr(c, sizeof err->text - 1, &words) < 0)
                return -1;
        err_set(err, code <= E_NOCMD ? (enum err_code)code : E_PROTO, "%s", words);
        free(words);
        return 0;
}

static void on_spawn_err(struct sup *s, struct frame *f)
{
        uint32_t id;
        struct err e = {0};
        if (cur_u32(&f->body, &id) < 0 || get_words(&f->body, &e) < 0)
                return;
        struct exec *x = exec_find(s, id);
        if (!x)
                return;
        if (id == 1 && s->has_main) {
                s->failure = e;
                sup_fail(s, NULL);
                return;
        }
        for (struct client *c = s->clients; c; c = c->next) {
                if (c->exec == x) {
                        c->exec = NULL;
                        client_send_failed(c, &e);
                }
        }
        exec_free(x);
}

static void on_exited(struct sup *s, struct frame *f)
{
        uint32_t id, status;
        uint64_t cpu, peak;
        if (cur_u32(&f->body, &id) < 0 || cur_u32(&f->body, &status) < 0 ||
            cur_u64(&f->body, &cpu) < 0 || cur_u64(&f->body, &peak) < 0)
                return;
        struct exec *e = exec_find(s, id);
        if (e)
                exec_exited(e, status, cpu, peak);
}

/* open_house(s, err): be found by others. Only now, because until the walls are up both cores have
 * better things to do. */
static int open_house(struct sup *s, struct err *err)
{
        s->meta.state = BOX_RUNNING;
        if (client_listen(s, err) < 0 || outlog_open(&s->log, s->dir_fd, err) < 0 ||
            watch_start(s, err) < 0 || store_meta_write(s->dir_fd, &s->meta, err) < 0)
                return -1;
        if (sup_door_begin(s, err) < 0)
                return -1;
        return session_opts_save(s->opts, s->dir_fd, err);
}

/* on_door_sockets(s, f): a u32 port for each descriptor, in that order. Heard before the box is
 * built, and never afterwards. */
static void on_door_sockets(struct sup *s, struct frame *f)
{
        if (s->is_built || !s->plan->box.has_door || f->fds_n == 0)
                return;
        struct door_socket *v =
                realloc(s->door_sockets, (s->door_sockets_n + f->fds_n) * sizeof *v);
        if (!v)
                str_no_memory();
        s->door_sockets = v;
        uint32_t port;
        for (size_t i = 0; i < f->fds_n && cur_u32(&f->body, &port) == 0; i++)
                v[s->door_sockets_n++] =
                        (struct door_socket){.port = port, .fd = frame_take_fd(f, i)};
}

/* refill(s): have authorities made for the boxes to come, once: a moment after this one is up, or
 * when it is over. */
static void refill(struct sup *s)
{
        loop_timer_stop(&s->refill);
        if (s->is_built)
                ca_refill(s->store, s->ca, s->loop);
        s->ca->is_low = false;
}

static void on_refill(void *ctx)
{
        refill(ctx);
}

static void on_built(struct sup *s)
{
        if (s->is_built)
                return;
        if (s->plan->box.has_door && s->door_sockets_n == 0 && !box_weak(WEAK_NETNS)) {
                err_set(&s->failure, E_MACHINE, "the door's sockets did not come (E14)");
                sup_fail(s, "cannot start the box");
                return;
        }
        s->is_built = true;
        if (open_house(s, &s->failure) < 0) {
                sup_fail(s, "cannot start the box");
                return;
        }
        if (s->ready_fd >= 0) {
                fdio_write_all(s->ready_fd, "\n", 1); /* no sentence begins so */
                close_fd(&s->ready_fd);
        }
        s->refill = (struct loop_timer){.fn = on_refill, .ctx = s};
        loop_timer_set(s->loop, &s->refill, REFILL_MS);
        if (!s->has_main)
                for (struct client *c = s->clients; c; c = c->next)
                        client_send(c, MSG_STARTED, "\0\0\0\0", 4);
}

/* What pid 1 may say, and what is done about it. */
static void on_ctl(void *ctx, uint32_t events)
{
        static struct frame f;
        struct sup *s = ctx;
        (void)events;
        /* No spilled bodies from the box: bounded by the frame (case 53). */
        int r = frame_recv(s->box.ctl_fd, &f, false);
        if (r <= 0) {
                loop_del(&s->ctl_src);
                sup_end(s, MSG_END_FAULT, 0, "the box's first process is gone");
                return;
        }
        uint32_t code, sys;
        switch (f.type) {
        case DOOR_SOCKETS:
                on_door_sockets(s, &f);
                break;
        case MSG_BUILT:
                if (s->is_built)
                        break;
                sup_witness_begin(s, frame_take_fd(&f, 0), frame_take_fd(&f, 1));
                on_built(s);
                break;
        case MSG_BROKEN:
                if (cur_u32(&f.body, &code) == 0 && cur_u32(&f.body, &sys) == 0) {
                        char *words = NULL;
                        if (cur_lstr(&f.body, 1000, &words) == 0)
                                err_set(&s->failure,
                                        code <= E_NOCMD ? (enum err_code)code : E_PROTO, "%s",
                                        words);
                        free(words);
                        sup_fail(s, NULL);
                }
                break;
        case MSG_SPAWNED:
                on_spawned(s, &f);
                break;
        case MSG_SPAWN_ERR:
                on_spawn_err(s, &f);
                break;
        case MSG_EXITED:
                on_exited(s, &f);
                break;
        case MSG_CONNECTED:
                sup_inbound_connected(s, &f);
                break;
        case MSG_OPEN_URL:
                sup_open_url(s, &f);
                break;
        default:
                break;
        }
        frame_release(&f);
}

static void on_signal_fd(void *ctx, uint32_t events)
{
        struct sup *s = ctx;
        struct signalfd_siginfo si;
        (void)events;
        if (read(s->sig_fd, &si, sizeof si) == (ssize_t)sizeof si && si.ssi_signo == SIGTERM)
                sup_stop(s, 10000);
}

/* prepare(s, a): the box's first command, and the client that waits for it. */
static int prepare(struct sup *s, const struct supervisor_args *a)
{
        s->args = a;
        s->spawn = (struct msg_spawn){.is_tty = s->opts->is_tty,
                                      .has_stdin = s->opts->has_stdin,
                                      .cols = s->opts->cols,
                                      .rows = s->opts->rows,
                                      .argv = s->plan->argv};
        s->first = (struct box_first){.spawn = &s->spawn, .fds = {-1, -1, -1}};
        s->has_main = s->plan->argv.n > 0;
        /* The control of cases 1 and 2: the command gets the caller's own terminal. */
        bool is_callers = box_weak(WEAK_PTY) && s->spawn.is_tty;
        for (int i = 0; is_callers && i < 3; i++)
                s->first.fds[i] = fcntl(i, F_DUPFD_CLOEXEC, 3);
        s->spawn.is_tty = s->spawn.is_tty && !is_callers;
        struct exec *e = s->has_main ? exec_new(s, s->spawn.is_tty) : NULL;
        if (a->client_fd >= 0)
                client_new(s, a->client_fd)->exec = e;
        if (e && !s->spawn.is_tty && !is_callers)
                return exec_pipes(e, s->spawn.has_stdin, s->first.fds, &s->failure);
        return 0;
}

void sup_build(struct sup *s)
{
        const struct supervisor_args *a = s->args;
        int r = box_start(&s->plan->box, s->has_main ? &s->first : NULL, a->net_fd, &s->box,
                          &s->failure);
        close(a->net_fd);
        for (int i = 0; i < 3; i++)
                close_fd(&s->first.fds[i]);
        if (r < 0) {
                sup_fail(s, "cannot start the box");
                return;
        }
        s->ctl_src = loop_add(s->loop, s->box.ctl_fd, EPOLLIN, on_ctl, s);
        /* Now, because until the walls are up we have nothing else to do. */
        if (sup_witness_prepare(s, &s->failure) < 0)
                sup_fail(s, "cannot start the box");
}

/* publish(s, a): the ports that were asked for. A box that is only woken comes up without one that
 * somebody else has taken meanwhile. */
static int publish(struct sup *s, const struct supervisor_args *a)
{
        struct err e = {0};
        if (sup_inbound_begin(s, &e) == 0 || a->ready_fd >= 0)
                return 0;
        s->failure = e;
        return -1;
}

/* begin(s, a): without secrets the box is built at once; with some, when the keeper has them. */
static int begin(struct sup *s, const struct supervisor_args *a)
{
        if (publish(s, a) < 0 || prepare(s, a) < 0 || sup_live_begin(s, &s->failure) < 0)
                return -1;
        if (s->plan->secrets.n)
                return sup_secrets_begin(s, &s->failure);
        sup_build(s);
        return 0;
}

/* is_worth_it(s): does it hold something that is nowhere else? What a box was started --from is
 * still in the snapshot. */
static bool is_worth_it(const struct sup *s)
{
        return s->opts->from ? layers_were_written(s->plan) : s->meta.has_changes;
}

/* clear(s, refused): end the box, keep or delete its layers, and say so on disk. */
static void clear(struct sup *s, struct buf *refused)
{
        struct err e = {0};
        sup_snapshot_break(s);
        sup_inbound_end(s);
        box_end(&s->box);
        sup_live_end(s);
        bool is_log_late = sup_log_is_alone(s);
        if (!is_log_late)
                sup_log_end(s, refused);
        if (s->is_built)
                layers_accept_home(s->plan, s->store, &e);
        secret_mask_end(s->dir_fd);
        s->meta.has_changes = layers_have_changes(s->plan);
        /* One that was there before stays, whatever kept it from coming up again. */
        s->end.is_kept = (s->args->is_again && !s->is_built) || s->is_sleeping ||
                         (!s->opts->is_removed && s->is_built &&
                          (s->opts->is_kept || s->opts->is_waiting || is_worth_it(s)));
        s->meta.state = BOX_EXITED;
        /* Woken to be looked at, it still is the box of the command that ended in it then. */
        bool is_woken = s->before.ended != 0 && !s->has_main;
        if (is_woken)
                s->meta.command = s->before.command;
        s->meta.ended = is_woken ? s->before.ended : time(NULL);
        s->meta.exit_code = is_woken ? s->before.exit_code : msg_ended_exit_code(&s->end);
        s->meta.end_words = is_woken ? s->before.end_words : s->end.words;
        s->meta.is_kept = s->end.is_kept;
        s->meta.supervisor_pid = 0;
        outlog_close(&s->log);
        unlinkat(s->dir_fd, "ctl", 0);
        /* A log that nobody can look at before us is finished when everybody has been told. */
        if (is_log_late && s->end.is_kept)
                sup_log_end(s, refused);
        if (s->end.is_kept) {
                store_meta_write(s->dir_fd, &s->meta, &e);
        } else {
                sup_log_keep(s);
                store_discard(s->store, s->id, &e);
        }
}

_Noreturn void supervisor_main(const struct supervisor_args *a)
{
        static struct ca ca;
        static struct sup s; /* zeroed, and for the life of the process */
        leave_caller(a);
        session_secrets_hide(&a->plan->secrets);
        role_attack(ROLE_SUPERVISOR);
        ca = a->ca;
        s = (struct sup){.plan = a->plan,
                         .ca = &ca,
                         .store = a->store,
                         .opts = a->opts,
                         .id = a->id,
                         .dir_fd = a->dir_fd,
                         .lock_fd = a->lock_fd,
                         .listen_fd = -1,
                         .sig_fd = -1,
                         .time_fd = -1,
                         .watch_fd = -1,
                         .stop_fd = -1,
                         .ready_fd = a->ready_fd,
                         .next_exec_id = 1,
                         .log = {.fd = -1},
                         .log_fd = -1,
                         .box = {.pid = -1, .pidfd = -1, .ctl_fd = -1}};
        signal(SIGPIPE, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
        signal(SIGINT, SIG_IGN);
        signal(SIGQUIT, SIG_IGN);
        signal(SIGCHLD, SIG_DFL);
        sigset_t term;
        sigemptyset(&term);
        sigaddset(&term, SIGTERM);
        sigprocmask(SIG_BLOCK, &term, NULL);
        s.sig_fd = signalfd(-1, &term, SFD_CLOEXEC | SFD_NONBLOCK);
        s.loop = loop_new();
        if (!s.loop || s.sig_fd < 0)
                _exit(125);
        s.sig_src = loop_add(s.loop, s.sig_fd, EPOLLIN, on_signal_fd, &s);
        layers_fill_meta(&s.meta, a->plan, a->opts, a->id);
        s.args = a;
        if (a->is_again && store_meta_read(a->dir_fd, a->id, &s.before, NULL) == 0)
                s.meta.created = s.before.created;

        if (begin(&s, a) < 0) {
                if (!s.clients && a->client_fd >= 0)
                        client_new(&s, a->client_fd);
                sup_fail(&s, NULL);
        }
        loop_run(s.loop);
        /* The end, or why there was no beginning, is told after the clearing, so that `ps` and the
         * next command for the same box find nothing half gone; so the lock goes first too. */
        static struct buf refused;
        clear(&s, &refused);
        sup_snapshot_freeze(&s);
        close_fd(&s.lock_fd);
        if (s.is_sleeping)
                sup_again(&s);
        frozen_squash_later(s.store, s.id, s.frozen_n);
        if (s.ready_fd >= 0 && s.failure.code) /* whoever wakes the box hears why not */
                fdio_write_all(s.ready_fd, s.failure.text, strlen(s.failure.text));
        for (struct client *c = s.clients; c; c = c->next) {
                if (c->exec)
                        sup_secrets_last_words(c);
                if (c->exec && refused.len)
                        client_send(c, MSG_REFUSED, refused.data, refused.len);
                if (c->is_answered)
                        continue;
                if (s.failure.code)
                        client_send_failed(c, &s.failure);
                else if (c->exec || c->wants_end)
                        client_send_ended(c, &s.end);
        }
        if (sup_log_is_alone(&s)) {
                for (struct client *c = s.clients; c; c = c->next)
                        close_fd(&c->fd);
                sup_log_end(&s, NULL);
                sup_log_prune(&s);
        }
        refill(&s);
        _exit(0);
}
