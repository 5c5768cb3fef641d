/* watch_lost_test.c - a box that keeps every fair look at its memory waiting: after two of them the plain sum over its
 * processes decides, and no more of it than the machine has lost. */
#include "unit/check.h"

#include "session/plan.h"
#include "session/sup.h"
#include "session/sup_watch.h"

#include <stdlib.h>

enum { MIB = 1 << 20 };

static struct session_plan plan;
static struct sup s;

/* looked(used, lost_n, lost, u): processes with ${used} MiB in all and a limit of 100; the machine has lost ${lost}. The
 * last of ${lost_n} looks in a row is lost, or has seen ${u}. Is the box ended? */
static bool looked(uint64_t used, unsigned lost_n, uint64_t lost, const struct usage *u)
{
        s = (struct sup){.plan = &plan, .watch_fd = -1, .loop = loop_new()};
        if (!s.loop)
                exit(1);
        watch_init(&s);
        plan.box.limits.memory = (uint64_t)100 * MIB;
        s.watch->share = (struct watch_share){.deep = {.is_whole = true}, .wants = USAGE_FAIR};
        s.watch->share.u.private = used * MIB;
        s.watch->share.left = 1;
        s.watch->share.room_most = watch_machine_room() + lost * MIB;
        s.watch->deep.lost_n = lost_n;
        watch_share_deep(&s, u);
        bool is_ended = s.is_ending && s.end.how == MSG_END_MEMORY;
        free(s.end.words);
        loop_free(s.loop);
        return is_ended;
}

int main(void)
{
        const struct usage fair = {
                .private = (uint64_t)50 * MIB, .is_fair = true, .is_whole = true};
        CHECK("one lost look decides nothing", !looked(1 << 20, 1, 1 << 20, NULL));
        CHECK("after two the sum over all processes does", looked(1 << 20, 2, 1 << 20, NULL));
        CHECK("and after more", looked(1 << 20, 7, 1 << 20, NULL));
        CHECK("but not what the machine has not lost", !looked(1 << 20, 2, 0, NULL));
        CHECK("nor a sum below the limit", !looked(90, 2, 1 << 20, NULL));
        CHECK("and a fair look that comes counts instead", !looked(1 << 20, 0, 1 << 20, &fair));
        return check_end();
}
