/* idle.c - see idle.h. Called by guest.c, h1_server.c and h2_server.c, which own connections, and
 * by accept.c when there are too many. */
#include "egress/idle.h"

#include "base/cleanup.h"
#include "base/scale.h"
#include "base/str.h"
#include "egress/door.h"

/* So many are looked at in one go. */
enum { TRIES = 16 };

static void put(struct door *d, struct idle_list *list, struct idle *i)
{
        if (i->list == list)
                return;
        idle_end(d, i);
        if (!list->first)
                list->end = &list->first;
        i->since_ms = loop_now(d->loop);
        i->list = list;
        i->next = NULL;
        i->prev = list->end;
        *list->end = i;
        list->end = &i->next;
}

void idle_fresh(struct door *d, struct idle *i)
{
        put(d, &d->fresh, i);
}

void idle_used(struct door *d, struct idle *i)
{
        put(d, &d->used, i);
}

void idle_end(struct door *d, struct idle *i)
{
        (void)d;
        if (!i->list)
                return;
        *i->prev = i->next;
        if (i->next)
                i->next->prev = i->prev;
        else
                i->list->end = i->prev;
        i->next = NULL;
        i->prev = NULL;
        i->list = NULL;
}

/* tell(d): the log hears of it, at most once a second. */
static void tell(struct door *d)
{
        uint64_t second = loop_now(d->loop) / 1000;
        d->crowded_out_n++;
        if (d->crowded_s == second)
                return;
        d->crowded_s = second;
        _cleanup_free_ char *note =
                str_fmt("the door holds %zu connections, and has no room or no memory for more: it "
                        "closes those on which nothing is asked (%zu so far)",
                        d->conns_n, d->crowded_out_n);
        record_put(d, &(struct door_record){.time_us = record_now_us(),
                                            .kind = "door",
                                            .verdict = "deny",
                                            .host = "",
                                            .note = note});
}

/* end_first(d, list, age_ms): of those that have been in it for so long. */
static bool end_first(struct door *d, struct idle_list *list, uint64_t age_ms)
{
        for (int n = 0; n < TRIES && list->first; n++) {
                struct idle *i = list->first;
                if (loop_now(d->loop) - i->since_ms < age_ms)
                        return false;
                idle_end(d, i);
                if (i->fn(i->ctx))
                        return true;
                put(d, list, i);
        }
        return false;
}

bool idle_make_room(struct door *d)
{
        bool is_few = d->conns_max < DOOR_CONNS_MAX / 4;
        uint64_t fresh_ms = scale_timer_ms(is_few ? IDLE_FRESH_FEW_MS : IDLE_FRESH_MS);
        if (!end_first(d, &d->used, scale_timer_ms(IDLE_USED_MS)) &&
            !end_first(d, &d->fresh, fresh_ms))
                return false;
        tell(d);
        return true;
}
