/* cgroup_test.c - a box's control group on the machine at hand, with real processes and real
 * limits.
 *
 * Runs as root and as an ordinary user, on cgroup v1 and (in tests/vm) v2; where no group can be
 * made the limit tests are skipped by name. OSTIARY_TEST_CGROUP=v1|v2|none makes the kind itself a
 * test. Touches only groups that it made; its children are few and bounded. */
/* suite: check=any test=root,user soak=root,user timeout=60
 * tier: root and a user get different control groups, or none */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "box/cgroup_int.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int failed_n;

static void ok(int good, const char *name, const char *why)
{
        if (good)
                printf("ok %s\n", name);
        else
                printf("not ok %s: %s\n", name, why);
        failed_n += !good;
        fflush(stdout);
}

static double now_us(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Start ${fn} in the group the way the supervisor does. */
static pid_t start(struct box_cgroup *cg, int (*fn)(void))
{
        int fd = box_cgroup_clone_fd(cg);
        struct clone_args args = {.exit_signal = SIGCHLD};
        pid_t pid;

        if (box_cgroup_enter(cg, NULL) < 0)
                return -1;
        if (fd >= 0) {
                args.flags = CLONE_INTO_CGROUP;
                args.cgroup = (uint64_t)fd;
        }
        pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
        if (pid == 0)
                _exit(fn());
        if (box_cgroup_leave(cg, NULL) < 0)
                ok(0, "the_way_back_out_works", strerror(errno));
        return pid;
}

static int wait_for(pid_t pid)
{
        int status = -1;
        return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

static int hog(void)
{
        for (int i = 0; i < 24; i++) {
                char *p = mmap(NULL, 8u << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                               -1, 0);
                if (p == MAP_FAILED)
                        return 98;
                memset(p, 1, 8u << 20);
        }
        return 0;
}

/* `cgroup_test hog`, for the boxes of tests/vm: 300 MiB of shared memory, which no rlimit counts,
 * held for a while. */
static int shared_hog(void)
{
        size_t len = 300u << 20;
        char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

        if (p == MAP_FAILED)
                return 98;
        memset(p, 1, len);
        sleep(5);
        return 0;
}

/* Fork until refused, at most 40 times; the number that worked is the result. */
static int forker(void)
{
        for (int i = 0; i < 40; i++) {
                pid_t pid = fork();
                if (pid < 0)
                        return i;
                if (pid == 0) {
                        alarm(20);
                        pause();
                        _exit(0);
                }
        }
        return 40;
}

static int sleeper(void)
{
        forker();
        alarm(20);
        pause();
        return 0;
}

/* Uses 20 ms of processor time, however long that takes: twenty periods at a hundredth of a core.
 * On a machine that is full, where it is rarely its turn, a turn is still longer than what it may
 * have in a period. */
static int spinner(void)
{
        struct timespec used;
        do
                clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
        while (used.tv_sec == 0 && used.tv_nsec < 20000000);
        return 0;
}

static int make(struct box_cgroup *cg, const char *what, struct box_limits limits, struct err *err)
{
        char id[48];
        snprintf(id, sizeof(id), "unit-%d-%s", (int)getpid(), what);
        return box_cgroup_make(cg, id, &limits, err);
}

static void test_memory(void)
{
        struct box_cgroup cg;
        struct box_usage u;
        struct err err = {0};
        int status;

        if (make(&cg, "memory", (struct box_limits){.memory = 48u << 20}, &err) < 0 ||
            !(cg.has & CGROUP_BIT(BOX_CTL_MEMORY))) {
                ok(0, "memory_limit_made", err.text[0] ? err.text : cg.why);
                return;
        }
        status = wait_for(start(&cg, hog));
        box_cgroup_read(&cg, &u);
        ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "memory_hog_is_killed",
           "it went on past the limit");
        ok(u.oom_kills >= 1, "memory_kill_is_counted", "oom_kills is 0");
        box_cgroup_remove(&cg);
}

static void test_pids_and_kill(void)
{
        struct box_cgroup cg;
        struct box_usage u;
        struct err err = {0};
        int status, empty = 0;
        pid_t pid;

        if (make(&cg, "pids", (struct box_limits){.pids = 12}, &err) < 0 ||
            !(cg.has & CGROUP_BIT(BOX_CTL_PIDS))) {
                ok(0, "pids_limit_made", err.text[0] ? err.text : cg.why);
                return;
        }
        status = wait_for(start(&cg, forker));
        ok(WIFEXITED(status) && WEXITSTATUS(status) == 11, "fork_is_refused_at_the_limit",
           "another number of forks went through");
        box_cgroup_read(&cg, &u);
        ok(u.pids_refused >= 1, "fork_refusal_is_counted", "pids_refused is 0");
        ok(box_cgroup_kill(&cg) == 0, "kill_says_done", "something survived");
        box_cgroup_remove(&cg);

        /* In a fresh group: what was killed counts until somebody has reaped it. */
        if (make(&cg, "kill", (struct box_limits){.pids = 12}, &err) < 0) {
                ok(0, "group_made", err.text);
                return;
        }
        pid = start(&cg, sleeper);
        usleep(50000);
        box_cgroup_kill(&cg);
        status = wait_for(pid);
        ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "kill_reaches_the_first_process",
           "it lived");
        for (int i = 0; i < 200 && !empty; i++) {
                while (waitpid(-1, NULL, WNOHANG) > 0) /* a zombie still counts as a process */
                        ;
                box_cgroup_read(&cg, &u);
                empty = u.pids == 0;
                usleep(5000);
        }
        ok(empty, "kill_reaches_every_process", "the group never became empty");
        box_cgroup_remove(&cg);
}

static void test_cpu(void)
{
        struct box_cgroup cg;
        struct box_usage u;
        struct err err = {0};

        if (make(&cg, "cpu", (struct box_limits){.cpu_milli = 10}, &err) < 0 ||
            !(cg.has & CGROUP_BIT(BOX_CTL_CPU))) {
                printf("skip cpu_is_throttled: %s\n", err.text[0] ? err.text : cg.why);
                box_cgroup_remove(&cg);
                return;
        }
        wait_for(start(&cg, spinner));
        box_cgroup_read(&cg, &u);
        ok(u.throttled >= 2, "cpu_is_throttled", "nr_throttled stayed below 2");
        box_cgroup_remove(&cg);
}

static int says_alive(const char *id, void *ctx)
{
        return strcmp(id, ctx) == 0;
}

/* A group whose supervisor was killed goes; one that is held, or claimed alive, stays. */
static void test_sweep(void)
{
        struct box_limits limits = {.memory = 64u << 20, .pids = 20};
        struct box_cgroup held, lost;
        struct stat st;
        char dir[BOX_CGROUP_PATH_MAX], id[48];
        int at = 0;

        if (make(&held, "held", limits, NULL) < 0 || make(&lost, "lost", limits, NULL) < 0) {
                ok(0, "sweep_groups_made", "make failed");
                return;
        }
        while (at < BOX_CTL_N - 1 && lost.fd[at] < 0)
                at++;
        memcpy(dir, lost.dir[at], sizeof(dir));
        for (int i = 0; i < BOX_CTL_N; i++)
                if (lost.fd[i] >= 0)
                        close_fd(&lost.fd[i]); /* what kill -9 does */
        snprintf(id, sizeof(id), "unit-%d-lost", (int)getpid());
        box_cgroup_sweep(says_alive, id);
        ok(stat(dir, &st) == 0, "sweep_keeps_a_box_that_is_alive", "deleted");
        ok(box_cgroup_sweep(NULL, NULL) >= 1 && stat(dir, &st) < 0, "sweep_deletes_what_was_left",
           "still there");
        ok(stat(held.dir[at], &st) == 0, "sweep_keeps_a_group_that_is_held", "deleted");
        memcpy(dir, held.dir[at], sizeof(dir));
        box_cgroup_remove(&held);
        ok(stat(dir, &st) < 0, "remove_deletes_the_group", "still there");
        box_cgroup_remove(&held);
}

/* Two state directories can hold boxes of one name; killing one must not touch the other. */
static void test_same_name(void)
{
        struct box_limits limits = {.pids = 20};
        struct box_cgroup a, b;
        int at = 0, status = 0;
        pid_t pid;

        if (make(&a, "twin", limits, NULL) < 0 || make(&b, "twin", limits, NULL) < 0) {
                ok(0, "same_name_made", "make failed");
                return;
        }
        while (at < BOX_CTL_N - 1 && a.fd[at] < 0)
                at++;
        ok(strcmp(a.dir[at], b.dir[at]) != 0, "same_name_gets_a_group_of_its_own", a.dir[at]);
        pid = start(&a, sleeper);
        usleep(20000);
        box_cgroup_kill(&b);
        ok(pid > 0 && waitpid(pid, &status, WNOHANG) == 0, "same_name_survives_the_others_kill",
           "it was killed");
        box_cgroup_kill(&a);
        wait_for(pid);
        while (waitpid(-1, NULL, WNOHANG) > 0)
                ;
        box_cgroup_remove(&a);
        box_cgroup_remove(&b);
}

static void test_layouts(void)
{
        struct cgroup_map m;
        char own1[] = "4:memory:/a\n3:cpu,cpuacct:/b/c\n8:pids:/\n0::/u\n";
        char mnt1[] = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
                      "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
                      "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
                      "35 31 0:32 /a /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n"
                      "39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
                      "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        char own2[] = "0::/user.slice/x.scope\n";
        char mnt2[] = "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
        char own3[] = "0::/../../outside\n";
        char mnt3[] = "30 23 0:26 /../.. /sys/fs/cgroup rw - cgroup2 cgroup rw\nbroken\n30 1 -\n";
        char own4[] = "junk\n:\n::\n0::\n";
        char mnt4[] = " - cgroup\n1 2 3 4 5 - cgroup2\n1 2 3 / /x rw - cgroup2 a b\n";

        cgroup_find_text(&m, own1, mnt1);
        ok(m.on_v1 == CGROUP_ALL && strcmp(m.v1[BOX_CTL_MEMORY], "/sys/fs/cgroup/memory") == 0 &&
                   strcmp(m.v1[BOX_CTL_PIDS], "/sys/fs/cgroup/pids") == 0 &&
                   strcmp(m.v1[BOX_CTL_CPU], "/sys/fs/cgroup/cpu,cpuacct/b/c") == 0 &&
                   strcmp(m.v2, "/sys/fs/cgroup/unified/u") == 0,
           "layout_mixed_is_read_per_controller", m.v1[BOX_CTL_CPU]);
        cgroup_find_text(&m, own2, mnt2);
        ok(m.on_v1 == 0 && strcmp(m.v2, "/sys/fs/cgroup/user.slice/x.scope") == 0 && m.v2_top == 14,
           "layout_v2_alone", m.v2);
        cgroup_find_text(&m, own3, mnt3);
        ok(m.v2[0] == '\0', "layout_outside_the_namespace_is_unusable", m.v2);
        cgroup_find_text(&m, own4, mnt4);
        ok(m.on_v1 == 0 && m.v2[0] == '\0', "layout_nonsense_is_nothing", m.v2);
}

static void test_bad_ids(void)
{
        const char *bad[] = {"", "../x", "a/b", ".", "..", "a b", "\n"};
        struct box_limits limits = {.pids = 10};
        struct box_cgroup cg;
        char longest[BOX_CGROUP_ID_MAX + 2];
        int taken = 0;

        memset(longest, 'a', sizeof(longest) - 1);
        longest[sizeof(longest) - 1] = '\0';
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                taken += box_cgroup_make(&cg, bad[i], &limits, NULL) == 0;
        taken += box_cgroup_make(&cg, longest, &limits, NULL) == 0;
        ok(taken == 0, "names_with_paths_in_them_are_refused", "one was taken");
}

/* How long the whole of it takes; a figure, and a generous ceiling. */
static void test_speed(void)
{
        struct box_limits limits = {.memory = 64u << 20, .pids = 20, .cpu_milli = 1000};
        double best = 1e9;

        for (int i = 0; i < 20; i++) {
                struct box_cgroup cg;
                double t = now_us();
                make(&cg, "speed", limits, NULL);
                box_cgroup_enter(&cg, NULL);
                box_cgroup_leave(&cg, NULL);
                t = now_us() - t;
                best = t < best ? t : best;
                box_cgroup_remove(&cg);
        }
        printf("# make, enter and leave take %.0f us at best\n", best);
        ok(best < 20000, "make_is_fast", "more than 20 ms");
}

int main(int argc, char **argv)
{
        static const char *const kinds[] = {"none", "v2", "v1"};
        const char *expect = getenv("OSTIARY_TEST_CGROUP");
        struct box_limits limits = {.memory = 64u << 20, .pids = 20, .cpu_milli = 1000};
        struct box_cgroup cg;
        struct err err = {0};
        char sentence[1024];
        double first;
        int kind;

        if (argc > 1 && strcmp(argv[1], "hog") == 0)
                return shared_hog();
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        kind = box_cgroup_probe(sentence, sizeof(sentence));

        printf("# probe: %s: %s\n", kinds[kind], sentence);
        if (expect)
                ok(strcmp(kinds[kind], expect) == 0, "kind_is_the_expected_one", kinds[kind]);
        ok(strlen(sentence) > 20, "probe_says_a_sentence", sentence);
        test_layouts();
        test_bad_ids();
        first = now_us();
        ok(make(&cg, "kind", limits, &err) == 0, "make_succeeds_whatever_the_machine", err.text);
        printf("# the first make took %.0f us\n", now_us() - first);
        ok((int)cg.kind == kind, "make_agrees_with_the_probe", cg.why);
        box_cgroup_remove(&cg);
        test_speed();
        if (kind == BOX_CGROUP_NONE) {
                ok(strstr(cg.why, "because") != NULL, "none_says_why", cg.why);
                printf("skip limits: %s\n", cg.why);
                return failed_n != 0;
        }
        test_memory();
        test_pids_and_kill();
        test_cpu();
        test_sweep();
        test_same_name();
        return failed_n != 0;
}
