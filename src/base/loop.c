/* loop.c - see loop.h. */
#include "base/loop.h"

#include "base/scale.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

/* Timers hang in a wheel: slot n holds those that are due in tick n, n + SLOTS, ... */
enum { TICK_MS = 128, SLOTS = 512 };

struct loop_src {
        struct loop *loop;
        int fd;
        uint32_t events;
        bool is_gone, is_watched;
        loop_fn *fn;
        void *ctx;
        struct loop_src *next_gone;
};

struct loop {
        int epoll_fd;
        bool is_stopped;
        struct loop_src *gone;
        bool (*after)(void *ctx);
        void *after_ctx;
        uint64_t now, tick; /* every slot up to ${tick} has been looked at */
        struct loop_timer *slots[SLOTS];
};

static void read_clock(struct loop *l)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
        l->now = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

struct loop *loop_new(void)
{
        struct loop *l = calloc(1, sizeof *l);
        if (!l)
                return NULL;
        l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        if (l->epoll_fd < 0) {
                free(l);
                return NULL;
        }
        read_clock(l);
        l->tick = l->now / TICK_MS;
        return l;
}

uint64_t loop_now(const struct loop *l)
{
        return l->now;
}

void loop_after(struct loop *l, bool (*fn)(void *ctx), void *ctx)
{
        l->after = fn;
        l->after_ctx = ctx;
}

static void hang(struct loop *l, struct loop_timer *t)
{
        struct loop_timer **slot = &l->slots[(t->at / TICK_MS + 1) % SLOTS];
        t->next = *slot;
        t->prev = slot;
        if (t->next)
                t->next->prev = &t->next;
        *slot = t;
}

void loop_timer_stop(struct loop_timer *t)
{
        if (!t->prev)
                return;
        *t->prev = t->next;
        if (t->next)
                t->next->prev = t->prev;
        t->next = NULL;
        t->prev = NULL;
}

void loop_timer_set(struct loop *l, struct loop_timer *t, uint64_t ms)
{
        uint64_t at = l->now + scale_timer_ms(ms);
        /* To a later time: its slot will be looked at first, and it is moved on then. */
        bool is_later = t->prev && at >= t->at;
        t->at = at;
        if (is_later)
                return;
        loop_timer_stop(t);
        hang(l, t);
}

/* fire(l): every timer whose time has come. A callback may set or stop any timer, so each slot is
 * begun anew until nothing in it is due. */
static void fire(struct loop *l)
{
        uint64_t until = l->now / TICK_MS;
        if (until - l->tick > SLOTS)
                l->tick = until - SLOTS;
        while (l->tick < until) {
                size_t i = ++l->tick % SLOTS;
                struct loop_timer *t = l->slots[i];
                while (t) {
                        struct loop_timer *next = t->next;
                        if (t->at <= l->now) {
                                loop_timer_stop(t);
                                t->fn(t->ctx);
                                next = l->slots[i];
                        } else if ((t->at / TICK_MS + 1) % SLOTS != i) {
                                loop_timer_stop(t); /* was moved to later */
                                hang(l, t);
                        }
                        t = next;
                }
        }
}

/* pause_ms(l): until the next slot that holds a timer, -1 when there is none. */
static int pause_ms(const struct loop *l)
{
        for (uint64_t i = 1; i <= SLOTS; i++)
                if (l->slots[(l->tick + i) % SLOTS]) {
                        uint64_t at = (l->tick + i) * TICK_MS;
                        return at > l->now ? (int)(at - l->now) : 0;
                }
        return -1;
}

static void free_gone(struct loop *l)
{
        while (l->gone) {
                struct loop_src *s = l->gone;
                l->gone = s->next_gone;
                free(s);
        }
}

void loop_free(struct loop *l)
{
        if (!l)
                return;
        free_gone(l);
        close(l->epoll_fd);
        free(l);
}

/* A source that wants nothing is taken out of epoll altogether: otherwise a hang-up would spin. */
static int apply(struct loop_src *s, uint32_t events)
{
        struct epoll_event e = {.events = events, .data.ptr = s};
        int op = !s->is_watched ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
        if (!s->is_watched && !events)
                return 0;
        if (epoll_ctl(s->loop->epoll_fd, op, s->fd, &e) < 0)
                return -1;
        s->is_watched = events != 0;
        s->events = events;
        return 0;
}

struct loop_src *loop_add(struct loop *l, int fd, uint32_t events, loop_fn *fn, void *ctx)
{
        struct loop_src *s = calloc(1, sizeof *s);
        if (!s)
                return NULL;
        *s = (struct loop_src){.loop = l, .fd = fd, .fn = fn, .ctx = ctx};
        if (apply(s, events) < 0) {
                free(s);
                return NULL;
        }
        return s;
}

void loop_want(struct loop_src *s, uint32_t events)
{
        if (s && s->events != events)
                apply(s, events);
}

void loop_del(struct loop_src **ps)
{
        struct loop_src *s = *ps;
        *ps = NULL;
        if (!s)
                return;
        if (s->is_watched)
                epoll_ctl(s->loop->epoll_fd, EPOLL_CTL_DEL, s->fd, NULL);
        s->is_gone = true;
        s->next_gone = s->loop->gone;
        s->loop->gone = s;
}

int loop_run(struct loop *l)
{
        struct epoll_event ev[32];
        while (!l->is_stopped) {
                bool is_hurried = l->after && l->after(l->after_ctx);
                free_gone(l);
                if (l->is_stopped)
                        break;
                int n = epoll_wait(l->epoll_fd, ev, 32, is_hurried ? 0 : pause_ms(l));
                read_clock(l);
                if (n < 0 && errno != EINTR)
                        return -1;
                for (int i = 0; i < n; i++) {
                        struct loop_src *s = ev[i].data.ptr;
                        if (!s->is_gone)
                                s->fn(s->ctx, ev[i].events);
                }
                fire(l);
                free_gone(l);
        }
        l->is_stopped = false;
        return 0;
}

void loop_stop(struct loop *l)
{
        l->is_stopped = true;
}
