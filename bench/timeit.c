/* timeit.c - the clock of the bench: run rows of commands in interleaved rounds and print medians.
 *
 * Called by bench/run.sh:
 *   timeit rounds N [USER_HOME]    rows on stdin, TAB between fields:
 *                                      name kind every uid dir argv...
 *       kind: end (only how long it takes), stamp (it prints when it began), inner (it is `timeit
 *       inner`); every: run only in every so-many-th round; uid: as whom. Prints a line per row:
 *       name runs failures first_ms end_ms cpu_ms inner1_ms inner2_ms inner_cpu1_ms inner_cpu2_ms
 *       cpu_ratio (to the first row, the median of what each round says: a machine that gets slower
 *       in between does so for both)
 *   timeit inner CMD...            run the command twice and print the nanoseconds each time took,
 *                                  then those of processor time of the command and its children
 *   timeit many N P UID HOME DIR CMD...  start N with P at a time, "{}" is the number; prints ms
 * The processor time of a run is that of all its processes, also of those that left the session:
 * orphans come to us. Decides nothing and never fails because something was slow. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROWS_MAX = 64, WORDS_MAX = 96, RUNS_MAX = 4096, RUN_SECONDS = 60 };

struct series {
        double v[RUNS_MAX];
        size_t n;
};

struct row {
        char *name, *dir;
        enum { KIND_END, KIND_STAMP, KIND_INNER } kind;
        unsigned every;
        uid_t uid;
        char *argv[WORDS_MAX];
        unsigned runs, failures;
        struct series first, end, cpu, in1, in2, in_cpu1, in_cpu2;
};

static struct row rows[ROWS_MAX];
static size_t rows_n;
static const char *user_home;

static int64_t now_ns(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void add(struct series *s, double v)
{
        if (s->n < RUNS_MAX)
                s->v[s->n++] = v;
}

static int by_value(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;
        return (x > y) - (x < y);
}

static double median(struct series *s)
{
        if (s->n == 0)
                return -1;
        qsort(s->v, s->n, sizeof *s->v, by_value);
        return s->n % 2 ? s->v[s->n / 2] : (s->v[s->n / 2 - 1] + s->v[s->n / 2]) / 2;
}

/* paired(r, base): median of the ratios of processor time round by round; -1 when one of them was
 * not in every round. */
static double paired(const struct row *r, const struct row *base)
{
        static struct series s;
        s.n = 0;
        if (r->cpu.n != base->cpu.n)
                return -1;
        for (size_t i = 0; i < r->cpu.n; i++)
                if (base->cpu.v[i] > 0)
                        add(&s, r->cpu.v[i] / base->cpu.v[i]);
        return median(&s);
}

static double cpu_ms(const struct rusage *u)
{
        return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1e3 +
               (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e3;
}

/* become(uid, home): the ordinary user, if asked for. */
static void become(uid_t uid, const char *home)
{
        if (uid == getuid())
                return;
        if (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)
                _exit(126);
        setenv("HOME", home, 1);
}

static pid_t start(char *const *argv, uid_t uid, const char *home, const char *dir, int out)
{
        pid_t pid = fork();
        if (pid != 0)
                return pid;
        if (out >= 0)
                dup2(out, 1);
        become(uid, home);
        if (chdir(dir) < 0)
                _exit(126);
        execvp(argv[0], argv);
        _exit(127);
}

/* --- rounds ------------------------------------------------------------------------------------
 */

static pid_t running;

static void too_long(int sig)
{
        (void)sig;
        kill(running, SIGKILL);
}

/* settle(&cpu): wait for what is left of a run, at most two seconds. */
static void settle(double *cpu)
{
        int64_t until = now_ns() + 2000000000;
        struct rusage u;
        for (;;) {
                pid_t pid = wait4(-1, NULL, WNOHANG, &u);
                if (pid < 0)
                        return;
                if (pid > 0) {
                        *cpu += cpu_ms(&u);
                        continue;
                }
                if (now_ns() > until)
                        return;
                struct timespec nap = {.tv_nsec = 200000};
                nanosleep(&nap, NULL);
        }
}

static void run_once(struct row *r, bool is_counted)
{
        int out[2];
        if (pipe2(out, O_CLOEXEC) < 0)
                exit(1);
        int64_t begin = now_ns();
        running = start(r->argv, r->uid, user_home, r->dir, out[1]);
        close(out[1]);
        alarm(RUN_SECONDS);
        int status = -1;
        struct rusage u = {0};
        while (wait4(running, &status, 0, &u) < 0 && errno == EINTR)
                ;
        alarm(0);
        int64_t end = now_ns();
        double cpu = cpu_ms(&u);

        char text[256] = "";
        fcntl(out[0], F_SETFL, O_NONBLOCK);
        ssize_t n = read(out[0], text, sizeof text - 1);
        text[n > 0 ? n : 0] = 0;
        close(out[0]);
        settle(&cpu);
        if (!is_counted)
                return;

        long long a = 0, b = 0, cpu_a = 0, cpu_b = 0;
        int fields = sscanf(text, "%lld %lld %lld %lld", &a, &b, &cpu_a, &cpu_b);
        bool is_good =
                status == 0 && (r->kind == KIND_END || fields >= (r->kind == KIND_STAMP ? 1 : 2));
        r->runs++;
        if (!is_good) {
                r->failures++;
                return;
        }
        add(&r->end, (double)(end - begin) / 1e6);
        add(&r->cpu, cpu);
        if (r->kind == KIND_STAMP)
                add(&r->first, (double)(a - begin) / 1e6);
        if (r->kind == KIND_INNER) {
                add(&r->in1, (double)a / 1e6);
                add(&r->in2, (double)b / 1e6);
                add(&r->in_cpu1, (double)cpu_a / 1e6);
                add(&r->in_cpu2, (double)cpu_b / 1e6);
        }
}

static void read_rows(void)
{
        static char line[65536];
        while (fgets(line, sizeof line, stdin) && rows_n < ROWS_MAX) {
                char *save = NULL, *copy = strdup(line);
                struct row *r = &rows[rows_n];
                copy[strcspn(copy, "\n")] = 0;
                r->name = strtok_r(copy, "\t", &save);
                char *kind = strtok_r(NULL, "\t", &save), *every = strtok_r(NULL, "\t", &save);
                char *uid = strtok_r(NULL, "\t", &save);
                r->dir = strtok_r(NULL, "\t", &save);
                size_t n = 0;
                while (n < WORDS_MAX - 1 && (r->argv[n] = strtok_r(NULL, "\t", &save)))
                        n++;
                if (n == 0)
                        continue;
                r->kind = !strcmp(kind, "stamp")   ? KIND_STAMP
                          : !strcmp(kind, "inner") ? KIND_INNER
                                                   : KIND_END;
                r->every = (unsigned)atoi(every) ? (unsigned)atoi(every) : 1;
                r->uid = (uid_t)atoi(uid);
                rows_n++;
        }
}

static int rounds(unsigned n)
{
        read_rows();
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        struct sigaction sa = {.sa_handler = too_long};
        sigaction(SIGALRM, &sa, NULL);
        for (size_t i = 0; i < rows_n; i++)
                run_once(&rows[i], false);
        for (unsigned round = 0; round < n; round++) {
                /* The order turns, so that no row always follows the same neighbour. */
                for (size_t i = 0; i < rows_n; i++) {
                        struct row *r = &rows[(i + round) % rows_n];
                        if (round % r->every == 0)
                                run_once(r, true);
                }
        }
        static double ratios[ROWS_MAX];
        for (size_t i = 0; i < rows_n; i++) /* before the medians, which sort */
                ratios[i] = paired(&rows[i], &rows[0]);
        for (size_t i = 0; i < rows_n; i++) {
                struct row *r = &rows[i];
                printf("%s\t%u\t%u\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.4f\n", r->name,
                       r->runs, r->failures, median(&r->first), median(&r->end), median(&r->cpu),
                       median(&r->in1), median(&r->in2), median(&r->in_cpu1), median(&r->in_cpu2),
                       ratios[i]);
        }
        return 0;
}

/* --- inside a box --------------------------------------------------------------------------------
 */

static int inner(char **argv)
{
        long long took[2], used[2];
        for (int i = 0; i < 2; i++) {
                struct rusage u = {0};
                int null = open("/dev/null", O_WRONLY | O_CLOEXEC), status = -1;
                int64_t begin = now_ns();
                pid_t pid = start(argv, getuid(), "", ".", null);
                if (pid < 0 || wait4(pid, &status, 0, &u) < 0 || status != 0)
                        return 1;
                took[i] = now_ns() - begin;
                used[i] = (long long)(cpu_ms(&u) * 1e6);
                close(null);
        }
        printf("%lld %lld %lld %lld\n", took[0], took[1], used[0], used[1]);
        return 0;
}

/* --- many at once
 * ----------------------------------------------------------------------------------- */

static int many(unsigned n, unsigned at_once, uid_t uid, const char *home, const char *dir,
                char **argv)
{
        unsigned alive = 0, failed = 0;
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        int64_t begin = now_ns();
        for (unsigned i = 0; i < n || alive;) {
                if (i < n && alive < at_once) {
                        char *words[WORDS_MAX], number[16];
                        size_t w = 0;
                        snprintf(number, sizeof number, "%u", i);
                        for (; argv[w] && w < WORDS_MAX - 1; w++) {
                                char *at = strstr(argv[w], "{}");
                                words[w] = argv[w];
                                if (at && asprintf(&words[w], "%.*s%s%s", (int)(at - argv[w]),
                                                   argv[w], number, at + 2) < 0)
                                        return 1;
                        }
                        words[w] = NULL;
                        if (start(words, uid, home, dir, null) < 0)
                                return 1;
                        i++;
                        alive++;
                        continue;
                }
                int status;
                if (wait(&status) < 0)
                        break;
                alive--;
                failed += status != 0;
        }
        printf("%.3f\t%u\n", (double)(now_ns() - begin) / 1e6, failed);
        return 0;
}

int main(int argc, char **argv)
{
        if (argc >= 3 && !strcmp(argv[1], "rounds")) {
                user_home = argc > 3 ? argv[3] : "/";
                return rounds((unsigned)atoi(argv[2]));
        }
        if (argc >= 3 && !strcmp(argv[1], "inner"))
                return inner(argv + 2);
        if (argc >= 8 && !strcmp(argv[1], "many"))
                return many((unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]), (uid_t)atoi(argv[4]),
                            argv[5], argv[6], argv + 7);
        fprintf(stderr, "usage: timeit rounds N [USER_HOME] | inner CMD... | many N P UID HOME DIR "
                        "CMD...\n");
        return 64;
}
