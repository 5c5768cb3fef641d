/* sup_witness.c - the log of a box and the witness at its calls: both are started while the box is
 * built, because its first program waits for them. A witness that dies is replaced; without one, or
 * without a log, nothing in the box goes on. */
#include "session/sup_door.h"

#include "audit/witness.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "base/strs.h"
#include "box/seccomp.h"
#include "box/weak.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

enum { LIVES = 100, FINISH_MS = 500 };

struct sup_witness {
        int listener_fd, root_fd; /* -1 until the box is built */
        struct witness witness;
        struct witness_table table;
        struct loop_src *src;
        unsigned lives; /* how often another may be started */
};

/* give_up(s, words): nobody holds the listener any more, so the kernel answers for us: no recorded
 * call in this box works from here on. */
static void give_up(struct sup *s, const char *words)
{
        struct sup_witness *w = s->witness;
        s->witness = NULL;
        loop_del(&w->src);
        witness_end(&w->witness);
        close_fd(&w->listener_fd);
        close_fd(&w->root_fd);
        free(w);
        if (words)
                sup_end(s, MSG_END_FAULT, 0, words);
}

static int start(struct sup *s, struct err *err);

static void on_witness(void *ctx, uint32_t events)
{
        struct sup *s = ctx;
        struct sup_witness *w = s->witness;
        struct err err = {0};
        (void)events; /* it says nothing: it has ended */
        loop_del(&w->src);
        witness_end(&w->witness);
        if (s->is_ending)
                return;
        if (w->lives-- == 0)
                give_up(s, "the process that records the box's system calls does not stay; the box "
                           "was stopped");
        else if (start(s, &err) < 0 ||
                 (w->listener_fd >= 0 &&
                  witness_listen(&w->witness, w->listener_fd, w->root_fd, &err) < 0))
                give_up(s, "the process that records the box's system calls cannot be started; the "
                           "box was stopped");
}

static int start(struct sup *s, struct err *err)
{
        struct sup_witness *w = s->witness;
        if (witness_start(&w->witness, &s->door->audit, &w->table, err) < 0)
                return -1;
        w->src = loop_add(s->loop, w->witness.control_fd, EPOLLIN, on_witness, s);
        return w->src ? 0 : err_sys(err, "watch the witness");
}

/* path_of(s, spawn): the PATH that the command will be looked for on. */
static const char *path_of(const struct sup *s, const struct msg_spawn *spawn)
{
        const char *path = strs_get_env(&spawn->env, "PATH");
        if (!path)
                path = strs_get_env(&s->plan->box.env, "PATH");
        return path ? path : "/usr/bin:/bin";
}

void sup_witness_spawn(struct sup *s, uint32_t id, const struct msg_spawn *spawn)
{
        if (s->witness)
                witness_spawn(&s->witness->witness, id, path_of(s, spawn),
                              spawn->cwd && spawn->cwd[0] ? spawn->cwd : s->plan->box.cwd,
                              &spawn->argv);
}

int sup_witness_prepare(struct sup *s, struct err *err)
{
        if (s->plan->box.audit == BOX_AUDIT_OFF)
                return 0;
        if (sup_door_log(s, err) < 0)
                return -1;
        sup_log(s, s->before.ended_us ? "wake" : "start", s->meta.command);
        struct sup_witness *w = calloc(1, sizeof *w);
        if (!w)
                str_no_memory();
        *w = (struct sup_witness){.listener_fd = -1,
                                  .root_fd = -1,
                                  .lives = LIVES,
                                  .table = {.verdict = box_seccomp_verdict,
                                            .name = box_seccomp_name,
                                            .listen = box_seccomp_listen,
                                            .is_all = s->plan->box.audit == BOX_AUDIT_ALL}};
#ifdef OSTIARY_WEAK
        w->table.weak = (struct witness_weak){.is_by_memory = box_weak(WEAK_NOTIFY_MEMORY),
                                              .is_by_number = box_weak(WEAK_NOTIFY_ID),
                                              .is_waiting = box_weak(WEAK_WAIT_HELD)};
#endif
        s->witness = w;
        if (start(s, err) < 0) {
                give_up(s, NULL);
                return -1;
        }
        if (s->has_main)
                sup_witness_spawn(s, 1, &s->spawn);
        return 0;
}

void sup_witness_begin(struct sup *s, int listener_fd, int root_fd)
{
        struct sup_witness *w = s->witness;
        struct err err = {0};
        if (!w || w->listener_fd >= 0) {
                close_fd(&listener_fd);
                close_fd(&root_fd);
                return;
        }
        if (listener_fd < 0) {
                close_fd(&root_fd);
                give_up(s, NULL);
                sup_log(s, "start",
                        "this kernel does not tell of system calls: they are refused "
                        "as always, and not recorded");
                return;
        }
        w->listener_fd = listener_fd;
        w->root_fd = root_fd;
        if (w->witness.pid > 0 && witness_listen(&w->witness, listener_fd, root_fd, &err) < 0)
                give_up(s, "the process that records the box's system calls does not listen; the "
                           "box was stopped");
}

void sup_witness_end(struct sup *s)
{
        struct sup_witness *w = s->witness;
        if (!w)
                return;
        loop_del(&w->src);
        close_fd(&w->listener_fd);
        if (s->is_built)
                witness_finish(&w->witness, FINISH_MS);
        give_up(s, NULL);
}
