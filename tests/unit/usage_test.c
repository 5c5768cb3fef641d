/* usage_test.c - what a box uses, read from a /proc that is made up: names, groups and counters that a
 * process or its owner may choose do not hide anything. */
#include "session/usage.h"
#include "unit/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* put_process(pid, name, groups_n): 10 MiB, of an owner with so many groups. */
static void put_process(int pid, const char *name, int groups_n)
{
        char path[64];
        snprintf(path, sizeof path, "%d", pid);
        mkdir(path, 0700);
        snprintf(path, sizeof path, "%d/fd", pid);
        mkdir(path, 0700);
        snprintf(path, sizeof path, "%d/status", pid);
        FILE *f = fopen(path, "we");
        if (!f)
                return;
        fprintf(f, "Name:\t%s\nUmask:\t0022\nFDSize:\t64\nGroups:\t", name);
        for (int i = 0; i < groups_n; i++)
                fprintf(f, "%d ", 1000000 + i);
        fprintf(f, "\nVmPTE:\t0 kB\nVmSwap:\t0 kB\nRssAnon:\t10240 kB\nRssShmem:\t0 kB\n");
        fprintf(f, "voluntary_ctxt_switches:\t1\n");
        fclose(f);
}

static uint64_t used(void)
{
        struct usage_eyes eyes = USAGE_BLIND;
        struct usage u = {.is_whole = true};
        eyes.fd[MSG_WATCHED_PROC] = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        usage_procs(&eyes, 0, &u);
        usage_close(&eyes);
        return u.private >> 20;
}

int main(void)
{
        char dir[] = "/tmp/ostiary-usage.XXXXXX";
        if (!mkdtemp(dir) || chdir(dir) < 0)
                return 1;
        put_process(2, "plain", 1);
        CHECK("a process counts", used() == 10);
        put_process(3, "many", 5000);
        CHECK("a process counts whose owner is in 5,000 groups", used() == 20);
        put_process(4, "x RssAnon: 0 kB", 1);
        CHECK("a name does not pass for a counter", used() == 30);
        char rm[64];
        snprintf(rm, sizeof rm, "rm -rf %s", dir);
        return system(rm) ? 1 : check_end();
}
