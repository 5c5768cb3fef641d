/* main.c - the model test: as many random sequences as the time allows, on two workers, each with a
 * mount namespace of its own, most in memory and a tenth of the time on disk; a sequence that fails
 * is made as short as it gets and printed so that it can be replayed.
 *
 *   model SECONDS [SEED]     run; SEED 0 or none: from the clock
 *   model --replay FILE...   sequences as this program prints them
 *   model --seed N           one sequence, said at length
 *   model --control          faults are put in, and must be found and shortened
 */
#include "model.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 2, SEQ_LIMIT_S = 30 };

struct shared {
        uint64_t done, failed, bad_seed, on_disk;
        struct judge_count count;
        bool is_busy; /* in the middle of bad_seed */
        bool is_on_disk;
};
static struct shared *shared;
static char top[4096];

static double now_s(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Two places below ${top}/N: "ram", a tmpfs of this process alone, and "disk". */
static int places(unsigned n, char ram[4200], char disk[4200])
{
        snprintf(ram, 4200, "%s/%u/ram", top, n);
        snprintf(disk, 4200, "%s/%u/disk", top, n);
        char one[4200];
        snprintf(one, sizeof one, "%s/%u", top, n);
        if ((mkdir(one, 0755) < 0 && errno != EEXIST) ||
            (mkdir(ram, 0755) < 0 && errno != EEXIST) || (mkdir(disk, 0755) < 0 && errno != EEXIST))
                return -1;
        if (mount("tmpfs", ram, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=512m") < 0)
                return -1;
        return 0;
}

/* tried(base, seq, why): run it in a process of its own, so that a crash or a hang is an answer. */
static int tried(const char *base, const struct seq *s, char *why, size_t size)
{
        char *words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        int status = 0, got = -1;
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0) {
                alarm(SEQ_LIMIT_S);
                _exit(judge_run(base, s, words, 4096) == 0 ? 0 : 1);
        }
        if (pid > 0 && waitpid(pid, &status, 0) == pid) {
                got = !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
                if (WIFSIGNALED(status))
                        snprintf(words, 4096, "it was ended by signal %d (%s)", WTERMSIG(status),
                                 strsignal(WTERMSIG(status)));
                if (got) { /* it may have left its mount */
                        char merged[4300];
                        snprintf(merged, sizeof merged, "%s/s/merged", base);
                        umount2(merged, MNT_DETACH);
                }
        }
        snprintf(why, size, "%s", words);
        munmap(words, 4096);
        return got;
}

static void shrink(const char *base, struct seq *s, char *why, size_t size)
{
        char words[4096];
        bool again = true;
        double end = now_s() + 60;
        while (again && now_s() < end) {
                again = false;
                for (size_t i = s->n; i-- > 0 && now_s() < end;) {
                        struct seq less;
                        seq_copy(&less, s, i);
                        if (tried(base, &less, words, sizeof words) == 1) {
                                seq_free(s);
                                *s = less;
                                snprintf(why, size, "%s", words);
                                again = true;
                        } else {
                                seq_free(&less);
                        }
                }
        }
}

static void tell(const char *base, struct seq *s, const char *first)
{
        char why[4096];
        size_t n = s->n;
        snprintf(why, sizeof why, "%s", first);
        shrink(base, s, why, sizeof why);
        printf("# %zu operations, shortened to %zu: %s\n", n, s->n, why);
        seq_print(stdout, s);
        printf("not ok a random sequence (seed %llu): %s\n", (unsigned long long)s->seed, why);
        fflush(stdout);
}

static void work(unsigned n, uint64_t seed, double seconds)
{
        char ram[4200], disk[4200], why[4096];
        struct shared *sh = &shared[n];
        if (stage_isolate() < 0 || places(n, ram, disk) < 0) {
                printf("skip the model test: no overlay can be mounted here: %s\n",
                       strerror(errno));
                fflush(stdout);
                _exit(77);
        }
        if (sh->is_busy) { /* the one before us died of it */
                struct seq s;
                seq_random(&s, sh->bad_seed);
                sh->is_busy = false;
                sh->done++;
                sh->failed++;
                if (tried(sh->is_on_disk ? disk : ram, &s, why, sizeof why) != 1)
                        snprintf(why, sizeof why, "it crashed once and does not again");
                tell(sh->is_on_disk ? disk : ram, &s, why);
                seq_free(&s);
        }
        double begin = now_s(), on_disk_s = 0;
        for (uint64_t i = sh->done; now_s() < begin + seconds && sh->failed < 3; i++) {
                struct seq s;
                double start = now_s();
                /* What is synced there takes a hundred times as long. */
                sh->is_on_disk = i % 8 == 7 && on_disk_s < (start - begin) / 10;
                sh->bad_seed = seed + i * WORKERS + n;
                sh->is_busy = true;
                seq_random(&s, sh->bad_seed);
                alarm(SEQ_LIMIT_S);
                const char *base = sh->is_on_disk ? disk : ram;
                int got = judge_run(base, &s, why, sizeof why);
                alarm(0);
                sh->is_busy = false;
                sh->done = i + 1;
                on_disk_s += sh->is_on_disk ? now_s() - start : 0;
                sh->on_disk += sh->is_on_disk;
                sh->count = judge_count;
                if (got != 0) {
                        sh->failed++;
                        tell(base, &s, why);
                }
                seq_free(&s);
        }
        _exit(0);
}

static int replay(int n, char **files)
{
        char ram[4200], disk[4200], why[4096];
        int bad = 0;
        if (stage_isolate() < 0 || places(0, ram, disk) < 0) {
                printf("skip the kept sequences: no overlay can be mounted here: %s\n",
                       strerror(errno));
                return 0;
        }
        for (int i = 0; i < n; i++) {
                struct seq s;
                FILE *f = fopen(files[i], "re");
                const char *slash = strrchr(files[i], '/');
                if (!f || seq_parse(f, &s) < 0) {
                        printf("not ok %s: it cannot be read\n", files[i]);
                        bad = 1;
                        continue;
                }
                fclose(f);
                int got = tried(ram, &s, why, sizeof why);
                if (got == 0)
                        printf("ok %s\n", slash ? slash + 1 : files[i]);
                else
                        printf("not ok %s: %s\n", slash ? slash + 1 : files[i], why);
                bad |= got != 0;
                seq_free(&s);
        }
        return bad;
}

static int one(uint64_t seed)
{
        char ram[4200], disk[4200], why[4096];
        struct seq s;
        if (stage_isolate() < 0 || places(0, ram, disk) < 0)
                return 2;
        seq_random(&s, seed);
        seq_print(stdout, &s);
        if (tried(ram, &s, why, sizeof why) == 0) {
                puts("ok");
                return 0;
        }
        tell(ram, &s, why);
        return 1;
}

/* Each fault must be found within some sequences, and a short one must show it. */
static int control(void)
{
        static const char *const names[FAULT_COUNT] = {
                [FAULT_DIFF] = "a change that diff leaves out",
                [FAULT_APPLY] = "a file that apply makes and nobody asked for",
                [FAULT_LOST] = "the user's work, lost by apply",
                [FAULT_UNDO] = "a file that undo leaves",
        };
        char ram[4200], disk[4200], why[4096];
        int bad = 0;
        if (stage_isolate() < 0 || places(0, ram, disk) < 0) {
                printf("skip the control: no overlay can be mounted here: %s\n", strerror(errno));
                return 0;
        }
        for (int f = FAULT_NONE + 1; f < FAULT_COUNT; f++) {
                bool is_found = false;
                judge_fault = (enum judge_fault)f;
                for (uint64_t seed = 1; !is_found && seed < 400; seed++) {
                        struct seq s;
                        seq_random(&s, seed);
                        if (judge_run(ram, &s, why, sizeof why) == 1) {
                                size_t n = s.n;
                                is_found = true;
                                shrink(ram, &s, why, sizeof why);
                                printf("# %zu operations, shortened to %zu: %s\n", n, s.n, why);
                                is_found = s.n <= 6;
                        }
                        seq_free(&s);
                }
                printf("%s control: %s is found%s\n", is_found ? "ok" : "not ok", names[f],
                       is_found ? "" : ": it was not, or not shortened to 6 operations");
                bad |= !is_found;
        }
        return bad;
}

static void clear_up(void)
{
        char ram[4200];
        snprintf(ram, sizeof ram, "%s/0/ram", top);
        umount2(ram, MNT_DETACH); /* of a replay or control, which are in their own mounts */
        char *slash = strrchr(top, '/');
        int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (slash && fd >= 0)
                remove_tree(fd, top + 1);
        if (fd >= 0)
                close(fd);
}

static int run(double seconds, uint64_t seed)
{
        pid_t pids[WORKERS] = {0};
        double begin = now_s();
        unsigned alive = 0, skipped = 0;
        for (unsigned i = 0; i < WORKERS; i++, alive++)
                if ((pids[i] = fork()) == 0)
                        work(i, seed, seconds);
        while (alive > 0) {
                int status;
                pid_t pid = wait(&status);
                for (unsigned i = 0; i < WORKERS; i++) {
                        double left = begin + seconds - now_s();
                        if (pids[i] != pid)
                                continue;
                        alive--;
                        skipped += WIFEXITED(status) && WEXITSTATUS(status) == 77;
                        /* Ended by a crash: the next one shortens what it died of. */
                        if (WIFSIGNALED(status) && shared[i].failed < 3) {
                                if ((pids[i] = fork()) == 0)
                                        work(i, seed, left > 1 ? left : 1);
                                alive++;
                        }
                }
        }
        struct judge_count c = {0};
        uint64_t done = 0, failed = 0, on_disk = 0;
        for (unsigned i = 0; i < WORKERS; i++) {
                done += shared[i].done;
                failed += shared[i].failed;
                on_disk += shared[i].on_disk;
                c.ops += shared[i].count.ops;
                c.changes += shared[i].count.changes;
                c.conflicts += shared[i].count.conflicts;
                c.refused += shared[i].count.refused;
                c.frozen += shared[i].count.frozen;
        }
        if (skipped == WORKERS)
                return 0;
        printf("# %llu sequences (%llu of them on disk), %llu operations, %llu changes, %llu "
               "conflicts, %llu refusals, "
               "%llu frozen layers, seed %llu, %.0f s\n",
               (unsigned long long)done, (unsigned long long)on_disk, (unsigned long long)c.ops,
               (unsigned long long)c.changes, (unsigned long long)c.conflicts,
               (unsigned long long)c.refused, (unsigned long long)c.frozen,
               (unsigned long long)seed, now_s() - begin);
        if (failed == 0 && done > 0)
                printf("ok %llu random sequences: diff tells the difference, apply makes it, undo "
                       "takes it back\n",
                       (unsigned long long)done);
        return failed > 0 || done == 0;
}

int main(int argc, char **argv)
{
        const char *tmp = getenv("TMPDIR");
        snprintf(top, sizeof top, "%s/ostiary-model.XXXXXX", tmp ? tmp : "/tmp");
        if (argc < 2 || !mkdtemp(top)) {
                fprintf(stderr, "model SECONDS [SEED] | --replay FILE... | --seed N | --control\n");
                return 64;
        }
        shared = mmap(NULL, WORKERS * sizeof *shared, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        int got;
        if (strcmp(argv[1], "--replay") == 0) {
                got = replay(argc - 2, argv + 2);
        } else if (strcmp(argv[1], "--seed") == 0 && argc > 2) {
                got = one(strtoull(argv[2], NULL, 10));
        } else if (strcmp(argv[1], "--control") == 0) {
                got = control();
        } else {
                uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
                got = run(strtod(argv[1], NULL), seed ? seed : (uint64_t)time(NULL) * 1000000);
        }
        fflush(stdout);
        clear_up();
        return got;
}
