/* sup_pause.c - a box that stands still until somebody says `ostiary resume`: after an alarm of a
 * secret with leak=pause, or when the door is gone and --on-door-fault is pause. `ps` says so, and what
 * `exec` runs in it meanwhile does not wake the rest. */
#include "base/buf.h"
#include "base/err.h"
#include "session/sup.h"
#include "session/sup_door.h"
#include "session/sup_hold.h"
#include "wire/door.h"
#include "wire/msg.h"

#include <signal.h>

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

/* stand_still(s): at once by a signal to all, and then held, so that no signal wakes it. */
static void stand_still(struct sup *s)
{
        for (struct exec *e = s->execs; e; e = e->next)
                e->is_beside = false;
        sup_signal_all(s, SIGSTOP);
        sup_hold(s);
}

void sup_pause(struct sup *s)
{
        if (s->is_ending || s->is_stopping)
                return;
        hold_keys(s, true);
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
        sup_release(s);
        sup_signal_all(s, SIGCONT);
        buf_put_u64(&b, 0);
        client_send(c, MSG_DONE, b.data, b.len);
}
