/* sup_pause.c - a box that stands still until somebody says `ostiary resume`: after an alarm of a
 * secret with leak=pause, or when the door is gone and --on-door-fault is pause. `ps` says so, and what
 * `exec` runs in it meanwhile does not wake the rest. */
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "session/sup.h"
#include "session/sup_door.h"
#include "session/sup_hold.h"
#include "session/sup_procs.h"
#include "wire/door.h"
#include "wire/msg.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>

/* Who was stopped before the box was paused, and stays so. */
struct pause_stopped {
        pid_t pid;
        uint64_t born;
};

static void note(struct sup *s, enum box_state state)
{
        struct err err = {0};
        s->meta.state = state;
        if (store_meta_write(s->dir_fd, &s->meta, &err) < 0)
                sup_tell(s, err.text);
}

/* hold_keys(s, is_held): commands that `exec` runs beside it are let in, so the keeper, which the box
 * cannot reach, gives nothing out while the box is paused. A keeper that does not hear it is ended, and
 * the network of the box with it. */
static void hold_keys(struct sup *s, bool is_held)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, is_held);
        if (s->door && s->door->roles[SUP_KEEPER].pid &&
            sup_role_send(&s->door->roles[SUP_KEEPER], DOOR_HOLD, &b, NULL, 0) < 0)
                sup_door_shut(s->door, "the process that holds the box's keys does not listen");
}

/* pause_note(ctx, pid, dir_fd): before anybody is stopped by us. */
static void pause_note(void *ctx, pid_t pid, int *dir_fd)
{
        struct sup *s = ctx;
        char state = 0;
        uint64_t born = sup_procs_born(*dir_fd, &state);
        if (!born || state != 'T')
                return;
        s->stopped = reallocarray(s->stopped, s->stopped_n + 1, sizeof *s->stopped);
        if (!s->stopped)
                str_no_memory();
        s->stopped[s->stopped_n++] = (struct pause_stopped){.pid = pid, .born = born};
}

/* pause_go_on(ctx, pid, dir_fd): it is still held, so nobody sees its child stopped. A snapshot of a box
 * that is paused may have let somebody go on who was stopped before: so those are stopped again. */
static void pause_go_on(void *ctx, pid_t pid, int *dir_fd)
{
        const struct sup *s = ctx;
        char state;
        uint64_t born = sup_procs_born(*dir_fd, &state);
        bool was_stopped = false;
        for (size_t i = 0; i < s->stopped_n; i++)
                was_stopped |= s->stopped[i].pid == pid && s->stopped[i].born == born;
        (void)sup_procs_signal(*dir_fd, was_stopped ? SIGSTOP : SIGCONT); /* or it is gone */
}

/* pause_clients(s): those who had to wait until the box stands still are served. */
static void pause_clients(struct sup *s)
{
        for (struct client *c = s->clients; c; c = c->next) {
                if (c->is_put_off)
                        loop_want(c->src, EPOLLIN | (c->has_pend ? EPOLLOUT : 0));
                c->is_put_off = false;
        }
}

bool sup_pause_puts_off(const struct sup *s, uint32_t type)
{
        return s->is_paused && !s->is_ending && !s->is_stopping && sup_hold_is_busy(s) &&
               (type == MSG_EXEC || type == MSG_COPY_OUT || type == MSG_COPY_IN ||
                type == MSG_CONTINUE || type == MSG_SNAPSHOT);
}

void sup_pause_settle(struct sup *s)
{
        if (!sup_hold_is_busy(s))
                pause_clients(s);
}

void sup_pause_stop(struct sup *s)
{
        if (sup_signal_all(s, SIGSTOP) == 0)
                s->stops_n++;
        else
                sup_hold_stopped(s); /* its queue is full of such words */
}

void sup_pause_stopped(struct sup *s, uint32_t sig)
{
        if (sig != SIGSTOP || s->stops_n == 0)
                return;
        s->stops_n--;
        sup_hold_stopped(s);
        sup_pause_settle(s);
}

/* stand_still(s): at once by a signal to all, and then held, so that no signal wakes it. */
static void stand_still(struct sup *s)
{
        for (struct exec *e = s->execs; e; e = e->next)
                e->is_beside = false;
        sup_pause_stop(s);
        sup_hold(s);
}

void sup_pause(struct sup *s)
{
        if (s->is_ending || s->is_stopping)
                return;
        hold_keys(s, true);
        /* A list with somebody missing only means that this one is woken with the others. */
        if (!s->is_paused)
                (void)sup_procs(sup_procs_fd(s), pause_note, s);
        stand_still(s);
        if (!s->is_paused)
                note(s, BOX_PAUSED);
        s->is_paused = true;
}

void sup_pause_hold(struct sup *s)
{
        if (!s->is_paused || s->is_ending || s->is_stopping)
                return;
        for (struct exec *e = s->execs; e; e = e->next)
                if (e->is_beside)
                        return;
        stand_still(s);
}

void sup_on_continue(struct client *c, struct frame *f)
{
        (void)f;
        struct sup *s = c->sup;
        if (!s->is_paused) {
                struct err err = {0};
                err_set(&err, E_REFUSED, "box %s is not paused", s->id);
                client_send_failed(c, &err);
                return;
        }
        _cleanup_buf_ struct buf b = {0};
        s->is_paused = false;
        hold_keys(s, false);
        note(s, BOX_RUNNING);
        /* All are held, so none is missing. */
        (void)sup_procs(sup_procs_fd(s), pause_go_on, s);
        sup_release(s);
        free(s->stopped);
        s->stopped = NULL;
        s->stopped_n = 0;
        buf_put_u64(&b, 0);
        client_send(c, MSG_DONE, b.data, b.len);
}
