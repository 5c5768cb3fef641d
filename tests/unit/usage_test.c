/* usage_test.c - what a box uses, read from a /proc that is made up: names, groups and counters that a
 * process or its owner may choose do not hide anything. */
#include "session/usage.h"
#include "unit/check.h"

#include <fcntl.h>
#include <poll.h>
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

/* put_file(pid, name, text): a file of a process. */
static void put_file(int pid, const char *name, const char *text)
{
        char path[64];
        snprintf(path, sizeof path, "%d/%s", pid, name);
        FILE *f = fopen(path, "we");
        if (f) {
                fputs(text, f);
                fclose(f);
        }
}

/* check_fair(): a process of which all but 1 MiB is somebody's too. */
static void check_fair(void)
{
        struct usage_eyes eyes = USAGE_BLIND;
        struct usage u = {.is_whole = true};
        put_file(2, "smaps_rollup",
                 "00400000-7fff0000 ---p 00000000 00:00 0 [rollup]\nRss: 10240 kB\nPss: 1024 kB\n"
                 "Pss_Anon: 512 kB\nPss_File: 9 kB\nPss_Shmem: 256 kB\nSwapPss: 512 kB\n");
        eyes.fd[MSG_WATCHED_PROC] = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        usage_procs(&eyes, USAGE_FAIR, &u);
        CHECK("what several processes have counts in part", u.private == (1 << 20) + (20 << 20));
        CHECK("shared memory too", u.shared == 256 << 10);
        CHECK("the one that has most is known", u.largest == 10 << 20);
        u = (struct usage){.is_whole = true};
        usage_procs(&eyes, 0, &u);
        CHECK("as a whole when nobody asks", u.private == 30 << 20);
        usage_close(&eyes);
}

/* apart_rests(a): is there a while in which it neither ran nor waited for a processor? */
static bool apart_rests(const struct usage_apart *a)
{
        for (int i = 0; i < 300; i++) {
                uint64_t busy = usage_apart_busy(a);
                poll(NULL, 0, 100);
                if (usage_apart_busy(a) == busy)
                        return true;
        }
        return false;
}

/* check_apart(): a look that waits for somebody who never comes. */
static void check_apart(void)
{
        struct usage_eyes eyes = USAGE_BLIND;
        struct usage_apart a = {0};
        struct usage u = {0};
        eyes.fd[MSG_WATCHED_PROC] = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        CHECK("a look apart begins", usage_apart_begin(&a, &eyes, 0) == 0);
        struct pollfd p = {.fd = a.fd, .events = POLLIN};
        poll(&p, 1, -1);
        CHECK("and sees the same", usage_apart_end(&a, &u) == 0 && u.private == 30 << 20);
        unlink("2/status");
        mkfifo("2/status", 0600); /* to open it waits for a writer */
        CHECK("one that hangs begins", usage_apart_begin(&a, &eyes, 0) == 0);
        CHECK("and is not busy meanwhile", apart_rests(&a));
        CHECK("and is given up", usage_apart_end(&a, &u) < 0 && a.pid == 0);
        usage_close(&eyes);
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
        check_fair();
        check_apart();
        char rm[64];
        snprintf(rm, sizeof rm, "rm -rf %s", dir);
        return system(rm) ? 1 : check_end();
}
