/* supervisor.c - life and death of a box: forked from the CLI, outlives it, starts pid 1, listens,
 * and when the box is over clears everything away and says how it ended. */
#include "session/supervisor.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/openfiles.h"
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
#include "session/pending.h"
#include "session/secret_mask.h"
#include "session/sup_hold.h"
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

/* leave_caller(args): nothing of the process we were forked from may stay with us: not its session,
 * terminal, directory, descriptors, and not its environment, where keys live (cases 29, 30). */
static void leave_caller(const struct supervisor_args *a)
{
        umask(077);
        if (chdir("/") < 0)
                _exit(125);
        if (!box_weak(WEAK_PTY)) {
                int null = open("/dev/null", O_RDWR | O_CLOEXEC);
                if (setsid() < 0 || null < 0)
                        _exit(125);
                for (int i = 0; i < 3; i++)
                        if (dup2(null, i) < 0)
                                _exit(125);
        }

        int keep[10 + DOOR_SECRETS_MAX + LIVE_FDS_MAX] = {
                a->dir_fd, a->lock_fd,  a->mask_fd,   a->home_fd,   a->client_fd,
                a->net_fd, a->ready_fd, a->ca.dir_fd, a->ca.key_fd, a->plan->slot_fd};
        size_t keep_n = 10;
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
static int send_signal(struct sup *s, uint32_t id, uint32_t sig)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, id);
        buf_put_u32(&b, sig);
        return frame_send(s->box.ctl_fd, MSG_KILL, &b, NULL, 0);
}

int sup_signal_all(struct sup *s, int sig)
{
        return send_signal(s, 0, (uint32_t)sig);
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
        sup_release(s);        /* one that is paused may say goodbye */
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
        s->ctl_src = loop_add(s->loop, s->box.ctl_fd, EPOLLIN, sup_on_ctl, s);
        watch_tell_unheld(s);
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
        for (size_t i = 0; i < s->plan->secrets.left_out.n; i++)
                sup_tell(s, s->plan->secrets.left_out.v[i]);
        if (s->plan->secrets.n)
                return sup_secrets_begin(s, &s->failure);
        sup_build(s);
        return 0;
}

/* is_worth_it(s): does it hold something that is nowhere else? What a box was started --from is
 * still in the snapshot. */
static bool is_worth_it(const struct sup *s)
{
        if (s->opts->from)
                return layers_were_written(s->plan);
        /* The first run of a box without turns: files that hold what they held before are nothing. */
        bool is_plain = !s->args->is_again && !s->opts->is_turns && !s->opts->is_live;
        return s->meta.was_written && !(is_plain && !pending_is_written(s->store, s->id));
}

/* clear(s, refused): end the box, keep or delete its layers, and say so on disk. */
static void clear(struct sup *s, struct buf *refused)
{
        struct err e = {0};
        sup_snapshot_break(s);
        sup_inbound_end(s);
        sup_release(
                s); /* the kernel waits for whoever holds a process of the box before it is gone */
        box_end(&s->box);
        watch_end(s);
        close_fd(&s->plan->slot_fd);
        sup_live_end(s);
        int64_t ended_us = (int64_t)clock_real_us(); /* what follows is our own work */
        bool is_log_late = sup_log_is_alone(s);
        if (!is_log_late)
                sup_log_end(s, refused);
        if (s->is_built)
                layers_accept_home(s->plan, s->store, &e);
        secret_mask_end(s->dir_fd);
        s->meta.was_written = layers_have_changes(s->plan);
        /* One that was there before stays, whatever kept it from coming up again. */
        s->end.is_kept = (s->args->is_again && !s->is_built) || s->is_sleeping ||
                         (!s->opts->is_removed && s->is_built &&
                          (s->opts->is_kept || s->opts->is_waiting || is_worth_it(s)));
        s->meta.state = BOX_EXITED;
        /* Woken to be looked at, it still is the box of the command that ended in it then. */
        bool is_woken = s->before.ended_us != 0 && !s->has_main;
        if (is_woken)
                s->meta.command = s->before.command;
        s->meta.ended_us = is_woken ? s->before.ended_us : ended_us;
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
        openfiles_raise();
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
        watch_init(&s);
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
                s.meta.created_us = s.before.created_us;

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
        sup_refill(&s);
        _exit(0);
}
