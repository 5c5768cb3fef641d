/* egress.c - the role itself: how it begins, gives everything up, and goes round. door.h says which
 * file does what. */
#include "egress/egress.h"

#include "base/err.h"
#include "base/str.h"
#include "egress/door.h"
#include "egress/names.h"
#include "egress/trust.h"
#include "role/role.h"
#include "wire/frame.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/epoll.h>

struct later {
        void (*fn)(void *);
        void *p;
        struct later *next;
};

void door_later(struct door *d, void (*fn)(void *), void *p)
{
        struct later *l = malloc(sizeof *l);
        if (!l)
                str_no_memory();
        *l = (struct later){.fn = fn, .p = p, .next = d->laters};
        d->laters = l;
}

/* trim(d): after many connections, and after much was held, the memory goes back to the machine. */
static void trim(struct door *d)
{
        enum { MANY = 64, MUCH = 8 << 20, AT_MOST_EVERY_MS = 1000 };
        uint64_t held = d->account.now;
        if (d->conns_n > d->conns_peak)
                d->conns_peak = d->conns_n;
        if (held > d->held_peak)
                d->held_peak = held;
        bool are_gone = d->conns_peak >= MANY && d->conns_n < d->conns_peak / 4;
        bool is_given = d->held_peak >= MUCH && held < d->held_peak / 2;
        if ((!are_gone && !is_given) || loop_now(d->loop) < d->trimmed_ms + AT_MOST_EVERY_MS)
                return;
        d->conns_peak = d->conns_n;
        d->held_peak = held;
        d->trimmed_ms = loop_now(d->loop);
        malloc_trim(0);
}

/* after_round(d): what callbacks left to be done when nobody is in the middle of anything. */
static bool after_round(void *ctx)
{
        struct door *d = ctx;
        work_round(&d->work);
        conn_round(d);
        exchange_queue_look(d);
        bool has_jobs = work_jobs(&d->work);
        while (d->laters) {
                struct later *l = d->laters;
                d->laters = l->next;
                l->fn(l->p);
                free(l);
        }
        record_flush(d);
        trim(d);
        accept_look(d);
        bool is_busy = d->kicked || has_jobs || d->work.jobs;
        if (is_busy)
                link_look(d);
        return is_busy; /* what was just done may have given connections work */
}

/* begin(d, err): the first message says who we are and whom we talk to. */
static int begin(struct door *d, struct err *err)
{
        static struct frame f;
        if (frame_recv(d->control_fd, &f, false) <= 0 || f.type != DOOR_BEGIN || f.fds_n != 3 ||
            cur_lstr(&f.body, 256, &d->box_id) < 0 || cur_u64(&f.body, &d->account.limit) < 0)
                return err_set(err, E_PROTO, "the supervisor's first message makes no sense");
        d->dial_fd = frame_take_fd(&f, 0);
        d->keeper_fd = frame_take_fd(&f, 1);
        d->audit_fd = frame_take_fd(&f, 2);
        frame_release(&f);
        return 0;
}

/* A head can have 64 KiB: a flood of them must not end in the heap, where it leaves holes. */
enum { BESIDES = 64 << 20, LARGE = 32 << 10 };

int egress_main(int argc, char **argv)
{
        static struct door door; /* zeroed, and for the life of the process */
        struct role_needs needs = {.may_listen = true};
        struct door *d = &door;
        struct err err = {0};
        (void)argc;
        (void)argv;
        role_begin("ostiary-egress");
        /* What is large goes back at once when it is freed, and leaves no holes. Without that word
         * malloc keeps more and more for itself. */
        mallopt(M_MMAP_THRESHOLD, LARGE);
        d->control_fd = DOOR_CONTROL_FD;
        d->loop = loop_new();
        d->names = names_new();
        if (!d->loop || !d->names)
                str_no_memory();
        /* What needs a file is done before there are none. */
        if (begin(d, &err) < 0)
                role_die("%s", err.text);
        /* Behind the account, which counts what we ask for, the kernel's own count: the libraries'
         * tables, and what malloc cannot give back, fit into as much again and a bit. */
        needs.memory = d->account.limit ? 2 * d->account.limit + BESIDES : 0;
        if (tls_init(d, &err) < 0 || !(d->trust = trust_open(-1, &err)) ||
            role_confine(&needs, &err) < 0 || link_init(d, &err) < 0 || control_init(d, &err) < 0)
                role_die("%s", err.text);
        accept_init(d);
        loop_after(d->loop, after_round, d);
        if (frame_send(d->control_fd, DOOR_READY, NULL, NULL, 0) < 0)
                role_die("the supervisor is gone");
        loop_run(d->loop);
        return 1;
}
