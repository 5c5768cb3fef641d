/* loop_test.c - timers fire once, in their order, not when stopped, later when moved; what is to be
 * done after a round is done then. Nothing is measured: only order counts. */
#include "base/loop.h"
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>

static struct loop *l;
static char order[64];

static void fired(void *ctx)
{
        strncat(order, ctx, 1);
}

static void stop(void *ctx)
{
        (void)ctx;
        loop_stop(l);
}

static struct loop_timer other;

static void fired_and_stop_other(void *ctx)
{
        fired(ctx);
        loop_timer_stop(&other);
}

static void fired_and_again(void *ctx)
{
        static int n;
        struct loop_timer *t = ctx;
        strncat(order, "r", 2);
        if (++n < 3)
                loop_timer_set(l, t, 0);
}

static int rounds;
static bool after(void *ctx)
{
        (void)ctx;
        return ++rounds < 5; /* and the loop does not wait for the first few */
}

static void begin(void)
{
        l = loop_new();
        order[0] = 0;
}

int main(void)
{
        begin();
        struct loop_timer a = {.fn = fired, .ctx = "a"}, b = {.fn = fired, .ctx = "b"},
                          c = {.fn = fired, .ctx = "c"}, end = {.fn = stop};
        loop_timer_set(l, &b, 400);
        loop_timer_set(l, &a, 1);
        loop_timer_set(l, &c, 1);
        loop_timer_set(l, &c, 700); /* to later, which only notes it */
        loop_timer_set(l, &end, 1100);
        check(loop_run(l) == 0 && strcmp(order, "abc") == 0, "in the order of their times",
              "got %s", order);
        loop_free(l);

        begin();
        a.fn = fired_and_stop_other;
        other = (struct loop_timer){.fn = fired, .ctx = "x"};
        loop_timer_set(l, &a, 1);
        loop_timer_set(l, &other, 300);
        loop_timer_set(l, &end, 600);
        check(loop_run(l) == 0 && strcmp(order, "a") == 0, "one that was stopped is silent",
              "got %s", order);
        loop_free(l);

        begin();
        struct loop_timer again = {.fn = fired_and_again};
        again.ctx = &again;
        loop_timer_set(l, &again, 1);
        loop_timer_set(l, &end, 1000);
        check(loop_run(l) == 0 && strcmp(order, "rrr") == 0, "one may set itself again", "got %s",
              order);
        loop_free(l);

        begin();
        loop_after(l, after, NULL);
        loop_timer_set(l, &end, 200);
        check(loop_run(l) == 0 && rounds >= 5, "called after each round", "got %d", rounds);
        loop_free(l);

        /* An owner that goes takes its timer along, also the first and the last of a slot. */
        begin();
        struct loop_timer many[3];
        for (int i = 0; i < 3; i++) {
                many[i] = (struct loop_timer){.fn = fired, .ctx = (void *)(uintptr_t) "123" + i};
                loop_timer_set(l, &many[i], 50);
        }
        loop_timer_stop(&many[1]);
        loop_timer_stop(&many[1]);
        loop_timer_set(l, &end, 500);
        check(loop_run(l) == 0 && strlen(order) == 2 && !strchr(order, '2'),
              "the others of its slot stay", "got %s", order);
        loop_free(l);
        return check_end();
}
