/* sup_ctl.c - what the box's first process says, and what the supervisor does about it: the walls
 * are up, a command began, failed to begin, or ended. It may be hostile: every body is bounded, and
 * what makes no sense is dropped. */
#include "session/sup.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/spread.h"
#include "base/str.h"
#include "box/weak.h"
#include "session/ca.h"
#include "session/secret_mask.h"
#include "session/sup_door.h"
#include "wire/door.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

enum { REFILL_MS = 1000 };

/* open_house(s, err): be found by others. */
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

void sup_refill(struct sup *s)
{
        loop_timer_stop(&s->refill);
        if (s->is_built)
                ca_refill(s->store, s->ca, s->loop);
        s->ca->is_low = false;
}

static void on_refill(void *ctx)
{
        sup_refill(ctx);
}

/* move_in(s): all that is done for a box besides building it. When its first command runs, or when
 * a box that waits for one is built: before that every processor has better things to do. */
static int move_in(struct sup *s)
{
        if (s->is_started)
                return 0;
        s->is_started = true;
        spread_back();
        if (open_house(s, &s->failure) < 0) {
                sup_fail(s, "cannot start the box");
                return -1;
        }
        if (s->ready_fd >= 0) {
                fdio_write_all(s->ready_fd, "\n", 1); /* no sentence begins so */
                close_fd(&s->ready_fd);
        }
        s->refill = (struct loop_timer){.fn = on_refill, .ctx = s};
        loop_timer_set(s->loop, &s->refill, REFILL_MS);
        sup_door_log_go(s);
        return 0;
}

/* send_started(s, e, pid): to those who wait for ${e}, or for the box itself. With all that is said of a
 * start: a box that ends at once may be gone before anybody looks at its directory. */
static void send_started(struct sup *s, const struct exec *e, uint32_t pid)
{
        struct msg_started m = {.pid = pid};
        _cleanup_buf_ struct buf b = {0};
        if (!e || e->id == 1) {
                m.workspace = str_dup(s->meta.workspace);
                m.tier = str_dup(s->meta.tier);
                m.grants = str_dup(s->meta.grants);
                m.is_live = s->meta.is_live;
                secret_mask_words(s->dir_fd, &m.masked);
        }
        msg_started_put(&b, &m);
        msg_started_free(&m);
        for (struct client *c = s->clients; c; c = c->next)
                if (c->exec == e)
                        client_send(c, MSG_STARTED, b.data, b.len);
}

static void on_spawned(struct sup *s, struct frame *f)
{
        uint32_t id, pid;
        if (cur_u32(&f->body, &id) < 0 || cur_u32(&f->body, &pid) < 0)
                return;
        struct exec *e = exec_find(s, id);
        if (!e || e->is_started || !s->is_built || move_in(s) < 0)
                return;
        send_started(s, e, pid);
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
        if (!x || !s->is_built || move_in(s) < 0)
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

static void on_killed(struct sup *s, struct frame *f)
{
        uint32_t sig;
        if (cur_u32(&f->body, &sig) == 0)
                sup_pause_stopped(s, sig);
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

static void on_built(struct sup *s)
{
        if (s->is_built)
                return;
        if (s->plan->box.has_door && s->door_sockets_n == 0 && !box_weak(WEAK_NETNS)) {
                err_set(&s->failure, E_MACHINE, "the door's sockets did not come (E14)");
                sup_fail(s, "cannot start the box");
                return;
        }
        if (s->door && s->door->is_log_lost) {
                err_set(&s->failure, E_SYSTEM, "the process that writes the box's log is gone");
                sup_fail(s, "cannot start the box");
                return;
        }
        s->is_built = true;
        if (s->has_main || move_in(s) < 0)
                return;
        send_started(s, NULL, 0);
}

/* on_broken(s, f): the box could not be built. */
static void on_broken(struct sup *s, struct frame *f)
{
        uint32_t code, sys;
        char *words = NULL;
        if (cur_u32(&f->body, &code) < 0 || cur_u32(&f->body, &sys) < 0)
                return;
        if (cur_lstr(&f->body, 1000, &words) == 0)
                err_set(&s->failure, code <= E_NOCMD ? (enum err_code)code : E_PROTO, "%s", words);
        free(words);
        sup_fail(s, NULL);
}

/* on_gone(s): pid 1 has ended. The kernel may have killed it for want of memory. */
static void on_gone(struct sup *s)
{
        char words[256] = "the box's first process is gone";
        if (watch_reason(s, words) == MSG_END_MEMORY)
                sup_end(s, MSG_END_MEMORY, SIGKILL, words);
        else
                sup_end(s, MSG_END_FAULT, 0, words);
}

/* What pid 1 may say, and what is done about it. */
void sup_on_ctl(void *ctx, uint32_t events)
{
        static struct frame f;
        struct sup *s = ctx;
        (void)events;
        /* No spilled bodies from the box: bounded by the frame (case 53). */
        int r = frame_recv(s->box.ctl_fd, &f, false);
        if (r < 0 && (errno == EAGAIN || errno == EINTR))
                return;
        if (r <= 0) {
                loop_del(&s->ctl_src);
                on_gone(s);
                return;
        }
        switch (f.type) {
        case DOOR_SOCKETS:
                on_door_sockets(s, &f);
                break;
        case MSG_WATCHED:
                watch_eyes(s, &f);
                break;
        case MSG_BUILT:
                if (s->is_built)
                        break;
                sup_witness_begin(s, frame_take_fd(&f, 0), frame_take_fd(&f, 1));
                on_built(s);
                break;
        case MSG_BROKEN:
                on_broken(s, &f);
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
        case MSG_KILLED:
                on_killed(s, &f);
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
