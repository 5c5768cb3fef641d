/* sup_watch_deep.c - looks at a box that copy its descriptors or take long: in a process of their own,
 * so that nothing that a box arranges makes the supervisor wait. See sup_watch.h. */
#include "session/sup_watch.h"

#include "session/sup.h"

#include <stddef.h>
#include <sys/epoll.h>

enum {
        DEEP_MS = 10000, /* a box that makes a look wait is not waited for */
        DEEP_BUSY = 6,   /* times as long for one that runs, or would if the machine let it */
};

/* deep_is_lost(s): has it taken too long? A busy machine is slow, so only the time counts in which it
 * neither ran nor waited for a processor: then it waits for the box. A box can keep the processors busy
 * too; so that has an end, and nobody waits when memory is short. */
static bool deep_is_lost(const struct watch_deep *d)
{
        uint64_t took = watch_now() - d->begun;
        if (took <= DEEP_MS)
                return false;
        if (took > DEEP_MS * DEEP_BUSY || watch_machine_is_low())
                return true;
        uint64_t busy = usage_apart_busy(&d->apart);
        return took > busy + DEEP_MS;
}

static void deep_over(struct sup *s)
{
        struct watch_deep *d = &s->watch->deep;
        struct usage u;
        loop_del(&d->src);
        bool is_seen = usage_apart_end(&d->apart, &u) == 0;
        d->lost_n = is_seen ? 0 : d->lost_n + 1;
        d->at = watch_now();
        if (s->is_ending)
                return;
        watch_share_deep(s, is_seen ? &u : NULL);
        watch_disk_deep(s, is_seen ? &u : NULL);
}

static void on_deep(void *ctx, uint32_t events)
{
        (void)events;
        deep_over(ctx);
}

void watch_deep(struct sup *s, unsigned wants, bool is_urgent)
{
        struct watch_deep *d = &s->watch->deep;
        uint64_t now = watch_now();
        if (d->apart.pid || now < d->at + d->apart.cost * (is_urgent ? 1 : 20))
                return;
        d->wants = wants;
        d->begun = now;
        if (usage_apart_begin(&d->apart, &s->watch->eyes, wants) < 0)
                return; /* asked for again at the next look */
        d->src = loop_add(s->loop, d->apart.fd, EPOLLIN, on_deep, s);
        if (!d->src)
                deep_over(s);
}

void watch_deep_tick(struct sup *s)
{
        const struct watch_deep *d = &s->watch->deep;
        if (d->apart.pid && deep_is_lost(d))
                deep_over(s);
}

void watch_deep_end(struct sup *s)
{
        struct usage u;
        loop_del(&s->watch->deep.src);
        if (s->watch->deep.apart.pid)
                (void)usage_apart_end(&s->watch->deep.apart, &u);
}
