/* share_test.c - what boxes get of a counter that their owner has: never more than half together, and the
 * first few enough to work with. */
#include "session/plan.h"
#include "unit/check.h"

enum { ALL = 1000000, BOXES = 4096 };

int main(void)
{
        uint64_t sum = 0, last = ALL;
        bool is_falling = true;
        for (unsigned k = 1; k <= BOXES; k++) {
                uint64_t part = plan_share_part(ALL, k);
                is_falling &= part <= last;
                last = part;
                sum += part;
        }
        CHECK("all boxes together have at most half", sum <= ALL / 2);
        CHECK("nobody has more than those before", is_falling);
        CHECK("the first has a quarter", plan_share_part(ALL, 1) == ALL / 4);
        CHECK("the fourth has seven of 128", plan_share_part(128, 4) == 7);
        CHECK("a counter without an end is divided as well", plan_share_part(UINT64_MAX, 4) > ALL);
        return check_end();
}
