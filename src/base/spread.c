/* spread.c - see spread.h. */
#include "base/spread.h"

#include <sched.h>

static cpu_set_t given;
static int given_n; /* 0: not asked yet, -1: cannot be asked */

static void ask(void)
{
        if (given_n)
                return;
        given_n = sched_getaffinity(0, sizeof given, &given) == 0 ? CPU_COUNT(&given) : -1;
}

void spread_off(pid_t pid)
{
        int cpu = sched_getcpu();
        size_t here = (size_t)cpu;
        ask();
        if (given_n < 2 || cpu < 0 || here >= CPU_SETSIZE || !CPU_ISSET(here, &given))
                return;
        cpu_set_t others = given;
        CPU_CLR(here, &others);
        sched_setaffinity(pid, sizeof others, &others);
}

void spread_back(void)
{
        if (given_n > 1)
                sched_setaffinity(0, sizeof given, &given);
}

void spread_patient(bool is_patient)
{
        static bool is_on;
        struct sched_param none = {0};
        if (is_patient)
                is_on = sched_getscheduler(0) == SCHED_OTHER &&
                        sched_setscheduler(0, SCHED_BATCH, &none) == 0;
        else if (is_on)
                is_on = sched_setscheduler(0, SCHED_OTHER, &none) != 0;
}
