/* exchange_queue.c - see exchange_int.h: bodies that rules read have to be here as a whole, and many
 * large ones at once are more than the account has. So they take turns: one that will not fit beside
 * those that are being read is not read on, and its client waits. Called by exchange_request.c, and
 * by egress.c after each round.
 *
 * Nobody waits for long: a body waits only while another one is read, and has not stalled. When
 * none is, or after DOOR_QUEUE_MS, it goes on, and gets a 503 if there is no room in fact. */
#include "base/scale.h"
#include "egress/exchange_int.h"

enum {
        FIRST = 1 << 20, /* of a body whose length nobody says */
        TIMES = 4, /* as it came, as it is read, as it waits for the origin; each grows in steps */
};

/* Those that are read now, and those that hold a body until their origin has answered. */
struct reading {
        size_t n;
        uint64_t owed; /* memory that they will want besides what they have */
        uint64_t left; /* bytes that have not come */
};

/* is_stalled(x): its client has not sent any of it for so long that nobody waits for it any more. */
static bool is_stalled(const struct exchange *x)
{
        return loop_now(x->door->loop) - x->fed_ms > scale_timer_ms(DOOR_QUEUE_MS);
}

static struct reading reading_now(const struct exchange *but)
{
        struct reading r = {0};
        for (const struct exchange *x = but->door->exchanges; x; x = x->next) {
                r.n += x != but && x->body && x->state == X_OPEN;
                if (x == but || !x->expected || x->is_waiting || is_stalled(x))
                        continue;
                uint64_t all = (uint64_t)TIMES * x->expected;
                r.n++;
                r.owed += all > x->charged ? all - x->charged : 0;
                r.left += x->expected > x->held_n ? x->expected - x->held_n : 0;
        }
        return r;
}

/* may_go(x, expected): does all of it fit beside the others, or is there no other? */
static bool may_go(const struct exchange *x, size_t expected)
{
        const struct door *d = x->door;
        const struct account *a = &d->account;
        struct reading r = reading_now(x);
        if (r.n == 0)
                return true;
        if (x->is_last || (d->queue && d->queue != x) ||
            d->held_n + r.left + expected > EXCHANGE_HELD_MAX)
                return false;
        return !a->limit || a->now + r.owed + (uint64_t)TIMES * expected <= a->limit - a->limit / 8;
}

static void take_out(struct exchange *x)
{
        if (!x->is_waiting)
                return;
        x->is_waiting = false;
        *x->queue_prev = x->queue_next;
        if (x->queue_next)
                x->queue_next->queue_prev = x->queue_prev;
        else
                x->door->queue_end = x->queue_prev;
}

static void go_on(void *ctx)
{
        struct exchange *x = ctx;
        take_out(x);
        x->fed_ms = loop_now(x->door->loop);
        exchange_touch(x);
        exchange_read_on(x);
}

/* may_wait(x): all its waits together have one end. */
static bool may_wait(struct exchange *x)
{
        uint64_t now = loop_now(x->door->loop);
        if (!x->wait_until)
                x->wait_until = now + scale_timer_ms(DOOR_QUEUE_MS);
        return now < x->wait_until;
}

static void wait(struct exchange *x)
{
        struct door *d = x->door;
        if (!d->queue)
                d->queue_end = &d->queue;
        x->is_waiting = true;
        x->queue_next = NULL;
        x->queue_prev = d->queue_end;
        *d->queue_end = x;
        d->queue_end = &x->queue_next;
        x->timer.fn = go_on;
        x->timer.ctx = x;
        loop_timer_set(d->loop, &x->timer, x->wait_until - loop_now(d->loop));
}

/* expects(x): how long its body is; where nobody says, how much may come before this is asked again. */
static size_t expects(const struct exchange *x)
{
        if (x->req.body == HEAD_BODY_LENGTH)
                return x->req.length < BODY_MAX ? (size_t)x->req.length : BODY_MAX;
        size_t n = x->early.len <= ACCOUNT_SMALL ? 0 : FIRST;
        while (n && n < x->early.len)
                n *= 2;
        return n < BODY_MAX ? n : BODY_MAX;
}

bool exchange_queue(struct exchange *x)
{
        size_t n = expects(x);
        x->fed_ms = loop_now(x->door->loop);
        if (x->is_waiting || n <= ACCOUNT_SMALL || n <= x->expected)
                return !x->is_waiting;
        bool is_room = may_go(x, n) || !may_wait(x);
        x->expected = n;
        if (!is_room)
                wait(x);
        return is_room;
}

bool exchange_queue_last(struct exchange *x)
{
        if (x->is_last || reading_now(x).n == 0 || !may_wait(x))
                return false;
        x->is_last = true;
        x->expected = x->expected ? x->expected : FIRST;
        wait(x);
        return true;
}

void exchange_queue_leave(struct exchange *x)
{
        x->expected = 0;
        if (!x->is_waiting)
                return;
        take_out(x);
        exchange_touch(x);
}

void exchange_queue_look(struct door *d)
{
        while (d->queue && may_go(d->queue, d->queue->expected))
                go_on(d->queue);
}
