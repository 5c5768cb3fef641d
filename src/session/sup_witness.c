/* sup_witness.c - keeps a witness at the box's connect() calls: started when the first is made, and
 * again if it dies, because the box's calls wait for it. What it sees goes to the log. */
#include "session/sup_door.h"

#include "audit/witness.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <stdlib.h>
#include <sys/epoll.h>

enum { LIVES = 100 };

struct sup_witness {
        int listener_fd;
        struct loop_src *listener_src; /* while there is no witness */
        struct witness witness;
        struct loop_src *src;
        unsigned lives;  /* how often another may be started */
        bool is_wanting; /* it has something for the log */
};

static void on_call(void *ctx, uint32_t events);

/* give_up(w): nobody holds the listener any more, so the kernel answers for us: no connect() in
 * this box works from here on. */
static void give_up(struct sup *s)
{
        struct sup_witness *w = s->witness;
        s->witness = NULL;
        loop_del(&w->listener_src);
        loop_del(&w->src);
        witness_end(&w->witness);
        close_fd(&w->listener_fd);
        free(w);
}

void sup_witness_join(struct sup *s)
{
        struct sup_witness *w = s->witness;
        struct err err = {0};
        if (!w || !w->is_wanting || !s->door || s->door->audit.pid <= 0)
                return;
        w->is_wanting = false;
        witness_join(&w->witness, &s->door->audit, &err); /* without it only evidence is missing */
}

static void on_witness(void *ctx, uint32_t events)
{
        struct sup *s = ctx;
        struct sup_witness *w = s->witness;
        (void)events;
        switch (witness_hear(&w->witness)) {
        case WITNESS_WANTS:
                w->is_wanting = true;
                sup_witness_join(s);
                break;
        case WITNESS_GONE:
                loop_del(&w->src);
                witness_end(&w->witness);
                if (w->lives-- == 0) {
                        give_up(s);
                        break;
                }
                w->listener_src = loop_add(s->loop, w->listener_fd, EPOLLIN, on_call, s);
                break;
        case WITNESS_NOTHING:
                break;
        }
}

/* on_call(ctx, events): the first connect() waits. */
static void on_call(void *ctx, uint32_t events)
{
        struct sup *s = ctx;
        struct sup_witness *w = s->witness;
        struct err err = {0};
        loop_del(&w->listener_src);
        if (!(events & EPOLLIN))
                return; /* the box is empty */
        if (witness_start(&w->witness, w->listener_fd, &err) < 0) {
                give_up(s);
                return;
        }
        w->src = loop_add(s->loop, w->witness.control_fd, EPOLLIN, on_witness, s);
        if (!w->src) {
                give_up(s);
                return;
        }
        w->is_wanting = s->door && s->door->audit.pid > 0; /* one that replaces another */
        sup_witness_join(s);
}

void sup_witness_begin(struct sup *s, int listener_fd)
{
        if (listener_fd < 0 || s->witness)
                return;
        s->witness = calloc(1, sizeof *s->witness);
        if (!s->witness)
                str_no_memory();
        *s->witness = (struct sup_witness){
                .listener_fd = listener_fd, .witness = {.control_fd = -1}, .lives = LIVES};
        s->witness->listener_src = loop_add(s->loop, listener_fd, EPOLLIN, on_call, s);
        if (!s->witness->listener_src)
                give_up(s);
}

void sup_witness_end(struct sup *s)
{
        if (s->witness)
                give_up(s);
}
