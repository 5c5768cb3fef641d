/* race.c - see race.h. Connects to exactly the addresses it was given, which somebody checked. */
#include "dial/race.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum { STAGGER_MS = 250, LIMIT_MS = 15000 };

/* Both families in turn, the newer first. */
static void order(struct race *r, const struct addr_list *l)
{
        size_t at[2] = {0, 0}; /* 0: IPv6 */
        for (int family = 0, idle = 0; r->addrs_n < RACE_MAX && idle < 2; family ^= 1) {
                size_t i = at[family];
                while (i < l->n && (l->v[i].len == 16) != (family == 0))
                        i++;
                at[family] = i + 1;
                idle = i < l->n ? 0 : idle + 1;
                if (i < l->n)
                        r->addrs[r->addrs_n++] = l->v[i];
        }
}

static void drop(struct race_try *t)
{
        if (t->fd < 0)
                return;
        loop_del(&t->src);
        close_fd(&t->fd);
        t->race->open_n--;
}

void race_stop(struct race *r)
{
        if (!r->loop)
                return;
        for (size_t i = 0; i < r->next; i++)
                drop(&r->tries[i]);
        loop_timer_stop(&r->stagger);
        loop_timer_stop(&r->limit);
        r->loop = NULL;
}

/* The listener may free the race, so nothing follows the call. */
static void finish(struct race *r, struct race_try *winner)
{
        int fd = -1;
        const struct addr *addr = NULL;
        if (winner) {
                loop_del(&winner->src);
                fd = take_fd(&winner->fd);
                addr = winner->addr;
                r->open_n--;
        }
        race_stop(r);
        r->fn(r->ctx, fd, addr, r->why);
}

static void try_next(struct race *);

static void on_limit(void *ctx)
{
        struct race *r = ctx;
        r->why = ETIMEDOUT;
        finish(r, NULL);
}

static void on_stagger(void *ctx)
{
        try_next(ctx);
}

static void on_ready(void *ctx, uint32_t events)
{
        struct race_try *t = ctx;
        struct race *r = t->race;
        int fault = 0;
        socklen_t len = sizeof fault;
        (void)events;
        if (getsockopt(t->fd, SOL_SOCKET, SO_ERROR, &fault, &len) < 0)
                fault = errno;
        if (fault == 0) {
                finish(r, t);
                return;
        }
        r->why = fault;
        drop(t);
        try_next(r);
}

/* begin(t): true when the attempt is under way. */
static bool begin(struct race_try *t, uint16_t port)
{
        struct race *r = t->race;
        struct sockaddr_storage sa;
        socklen_t len = addr_sock(t->addr, port, &sa);
        t->fd = socket(sa.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (t->fd < 0) {
                r->why = errno;
                return false;
        }
        r->open_n++;
        if (connect(t->fd, (struct sockaddr *)&sa, len) < 0 && errno != EINPROGRESS) {
                r->why = errno;
                drop(t);
                return false;
        }
        /* Also when it is connected already: the loop then says so at once. */
        t->src = loop_add(r->loop, t->fd, EPOLLOUT, on_ready, t);
        if (!t->src) {
                r->why = errno;
                drop(t);
                return false;
        }
        return true;
}

/* try_next(r): an attempt that fails at once makes room for the next at once. */
static void try_next(struct race *r)
{
        loop_timer_stop(&r->stagger);
        while (r->next < r->addrs_n) {
                struct race_try *t = &r->tries[r->next];
                *t = (struct race_try){.race = r, .fd = -1, .addr = &r->addrs[r->next]};
                r->next++;
                if (!begin(t, r->port))
                        continue;
                if (r->next < r->addrs_n)
                        loop_timer_set(r->loop, &r->stagger, STAGGER_MS);
                return;
        }
        if (r->open_n == 0)
                finish(r, NULL);
}

void race_start(struct race *r, struct loop *loop, const struct addr_list *l, uint16_t port,
                race_fn *fn, void *ctx)
{
        memset(r, 0, sizeof *r);
        r->loop = loop;
        r->port = port;
        r->fn = fn;
        r->ctx = ctx;
        r->why = EHOSTUNREACH;
        r->stagger = (struct loop_timer){.fn = on_stagger, .ctx = r};
        r->limit = (struct loop_timer){.fn = on_limit, .ctx = r};
        order(r, l);
        loop_timer_set(loop, &r->limit, LIMIT_MS);
        try_next(r);
}
