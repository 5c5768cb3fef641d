/* loop.c - see loop.h. */
#include "base/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

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
};

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
        return l;
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
                int n = epoll_wait(l->epoll_fd, ev, 32, -1);
                if (n < 0 && errno != EINTR)
                        return -1;
                for (int i = 0; i < n; i++) {
                        struct loop_src *s = ev[i].data.ptr;
                        if (!s->is_gone)
                                s->fn(s->ctx, ev[i].events);
                }
                free_gone(l);
        }
        return 0;
}

void loop_stop(struct loop *l)
{
        l->is_stopped = true;
}
