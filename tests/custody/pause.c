/* pause.c - inside a box that is going to be paused: processes that are hard to hold, and honest ones that are odd. They
 * count aloud, and the file `up` grows, until the file `enough` is there; then the first says so and ends. Those that
 * work on have a timer that sends them SIGCONT.
 *
 *   hang    one waits in execve for a thread that a debugger does not let go of; others work on
 *   run     one forks and ends all the time, among many: it is gone when a list of all has been gone through
 *   move    many move from one parent to the next, up a chain of subreapers that end when they are stopped
 *   deep    a chain of 2200, each the parent of the next; the last works on
 *   tear    the same, and the last adds a letter to each of 20 files in turn
 *   halt    one was stopped before, and is to stay so
 *   trace   honest: a debugger and the one that it follows from call to call
 *   spawn   honest: four who start one program after the other, by vfork, as a build does
 *   thread  honest: eight threads of one program
 *   look    beside them, in a box that is paused: 50 times, is anybody awake, or gone while it is looked at, or has
 *           anybody counted? */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int is_enough(void)
{
        return access("enough", F_OK) == 0;
}

static void up(void)
{
        int fd = open("up", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (fd < 0 || write(fd, ".", 1) != 1)
                dprintf(1, "cannot count: %s\n", strerror(errno));
        close(fd);
}

static void count(void)
{
        static unsigned long n;
        up();
        dprintf(1, "%ld %lu\n", (long)getpid(), ++n);
}

static void on_wake(int sig)
{
        (void)sig;
}

/* wake(ns): a timer is not handed on to a child. */
static void wake(long ns)
{
        struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT};
        struct itimerspec each = {{0, ns}, {0, ns}};
        timer_t timer;
        if (timer_create(CLOCK_MONOTONIC, &e, &timer) == 0)
                timer_settime(timer, 0, &each, NULL);
}

static int work(void)
{
        wake(10000000);
        for (; !is_enough(); usleep(10000))
                count();
        return 0;
}

static void wait_all(void)
{
        while (wait(NULL) > 0 || errno == EINTR)
                ;
}

/* --- hang ----------------------------------------------------------------------------------------- */

static int to_parent[2], go[2];

static void *sibling(void *arg)
{
        pid_t tid = (pid_t)syscall(SYS_gettid);
        (void)arg;
        if (write(to_parent[1], &tid, sizeof tid) < 0)
                _exit(1);
        for (;;)
                pause();
        return NULL;
}

static int execs(void)
{
        pthread_t thread;
        char c;
        if (pthread_create(&thread, NULL, sibling, NULL) == 0 && read(go[0], &c, 1) == 1)
                execl("/bin/true", "true", (char *)NULL);
        return 1;
}

static char state_of(pid_t pid)
{
        char path[64], text[512] = "";
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && read(fd, text, sizeof text - 1) < 0)
                text[0] = 0;
        close(fd);
        const char *end = strrchr(text, ')');
        return end ? end[2] : 0;
}

static int hang(void)
{
        pid_t tid;
        if (pipe(to_parent) < 0 || pipe(go) < 0)
                return 1;
        pid_t victim = fork();
        if (victim == 0)
                _exit(execs());
        if (read(to_parent[0], &tid, sizeof tid) != sizeof tid ||
            ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0 || write(go[1], "", 1) != 1)
                dprintf(1, "cannot follow a thread: %s\n", strerror(errno));
        while (state_of(victim) != 'D')
                usleep(1000);
        pid_t workers[4];
        for (int i = 0; i < 4; i++)
                if ((workers[i] = fork()) == 0)
                        _exit(work());
        work();
        for (int i = 0; i < 4; i++)
                waitpid(workers[i], NULL, 0);
        kill(victim, SIGKILL);
        return 0;
}

/* --- run ------------------------------------------------------------------------------------------ */

static void run(void)
{
        for (unsigned long i = 0;; i++) {
                wake(100000);
                if (i % 50 == 0) {
                        if (is_enough())
                                _exit(0);
                        count();
                }
                pid_t pid = fork();
                if (pid > 0)
                        _exit(0);
                if (pid < 0)
                        usleep(1000);
        }
}

static int runs(void)
{
        pid_t sleepers[400];
        for (int i = 0; i < 400; i++)
                if ((sleepers[i] = fork()) == 0)
                        for (;;)
                                pause();
        if (fork() == 0)
                run();
        wake(100000);
        while (!is_enough()) {
                kill(0, SIGCONT);
                while (waitpid(-1, NULL, WNOHANG) > 0)
                        ;
                usleep(1000);
        }
        for (int i = 0; i < 400; i++)
                kill(sleepers[i], SIGKILL);
        return 0;
}

/* --- move ----------------------------------------------------------------------------------------- */

/* moves(): a chain of subreapers; the last has 40 workers. When the box is stopped they end from the last to the first:
 * the end of a child sends each of them SIGCONT. */
static _Noreturn void moves(void)
{
        char c;
        for (int i = 0; i < 300; i++) {
                prctl(PR_SET_CHILD_SUBREAPER, 1);
                pid_t pid = (pid_t)syscall(SYS_clone, SIGCONT, 0, 0, 0, 0);
                while (pid > 0 && waitpid(pid, NULL, __WALL) != pid)
                        ;
                if (pid != 0)
                        _exit(0);
        }
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        for (int i = 0; i < 40; i++)
                if (fork() == 0)
                        _exit(work());
        while (read(go[0], &c, 1) != 1)
                ;
        _exit(0);
}

static int move(void)
{
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        if (pipe(go) < 0)
                return 1;
        pid_t sleeper = fork();
        if (sleeper == 0)
                for (;;)
                        pause();
        if (fork() == 0)
                moves();
        wake(10000000);
        while (state_of(sleeper) != 'T' && !is_enough())
                usleep(1000);
        if (write(go[1], "", 1) != 1)
                return 1;
        while (!is_enough())
                usleep(10000);
        kill(sleeper, SIGKILL);
        wait_all();
        return 0;
}

/* --- deep ----------------------------------------------------------------------------------------- */

static int (*last)(void) = work;

static int tear(void)
{
        char name[32];
        for (unsigned i = 0; !is_enough(); i++) {
                snprintf(name, sizeof name, "letters.%u", i % 20);
                int fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
                if (fd < 0 || write(fd, "x", 1) != 1)
                        return 1;
                close(fd);
                if (i == 20)
                        up();
        }
        return 0;
}

/* deeper(left): they share their memory, because the kernel copies more the deeper a chain of forks is. */
static int deeper(void *left)
{
        enum { STACK = 32768 };
        if (left == NULL)
                return last();
        char *stack = malloc(STACK);
        int pid = clone(deeper, stack + STACK, CLONE_VM | SIGCHLD, (char *)left - 1);
        if (pid < 0)
                dprintf(1, "not so deep: %ld are missing\n", (long)left);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                ;
        return 0;
}

/* --- honest --------------------------------------------------------------------------------------- */

static int counts(void)
{
        for (; !is_enough(); usleep(10000))
                count();
        return 0;
}

static int halt(void)
{
        pid_t pid = fork();
        if (pid == 0)
                for (;;) {
                        pause();
                        dprintf(1, "woken\n");
                }
        kill(pid, SIGSTOP);
        waitpid(pid, NULL, WUNTRACED);
        counts();
        int tries = 1000;
        while (state_of(pid) != 'T' && tries--)
                usleep(10000);
        kill(pid, SIGKILL);
        return tries < 0;
}

static int trace(void)
{
        int status, sig;
        pid_t pid = fork();
        if (pid == 0) {
                ptrace(PTRACE_TRACEME, 0, NULL, NULL);
                raise(SIGSTOP);
                _exit(counts());
        }
        waitpid(pid, &status, 0);
        for (sig = 0; !WIFEXITED(status);
             sig = WSTOPSIG(status) == SIGTRAP || WSTOPSIG(status) == SIGSTOP ? 0
                                                                              : WSTOPSIG(status)) {
                ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(long)sig);
                if (waitpid(pid, &status, 0) < 0)
                        return 1;
        }
        return 0;
}

static int spawns(void)
{
        char *argv[] = {"true", NULL};
        for (int i = 0; i < 4; i++) {
                if (fork() > 0)
                        continue;
                for (pid_t pid; !is_enough(); waitpid(pid, NULL, 0)) {
                        count();
                        if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) != 0)
                                _exit(1);
                }
                _exit(0);
        }
        wait_all();
        return 0;
}

static void *counts_too(void *arg)
{
        counts();
        return arg;
}

static int threads(void)
{
        pthread_t v[8];
        for (int i = 0; i < 8; i++)
                if (pthread_create(&v[i], NULL, counts_too, NULL) != 0)
                        return 1;
        for (int i = 0; i < 8; i++)
                pthread_join(v[i], NULL);
        return 0;
}

static int tears(void)
{
        last = tear;
        return deeper((void *)2200L);
}

static int deep(void)
{
        return deeper((void *)2200L);
}

/* looks(pid): "" when each of its threads stands still. */
static const char *looks(const char *pid)
{
        static char words[64];
        char path[64];
        snprintf(path, sizeof path, "/proc/%.20s/task", pid);
        DIR *d = opendir(path);
        words[0] = 0;
        if (!d)
                snprintf(words, sizeof words, "%.20s is gone", pid);
        for (struct dirent *e; d && (e = readdir(d));) {
                char state = e->d_name[0] == '.' ? 'T' : state_of(atoi(e->d_name));
                if (!strchr("TtZXxD", state ? state : '0'))
                        snprintf(words, sizeof words, "%.20s is awake (%c)", pid,
                                 state ? state : '-');
        }
        if (d)
                closedir(d);
        return words;
}

static long counted(void)
{
        struct stat st;
        return stat("up", &st) == 0 ? (long)st.st_size : -1;
}

static int look(void)
{
        long before = counted();
        for (int i = 0; i < 50; i++, usleep(10000)) {
                DIR *d = opendir("/proc");
                for (struct dirent *e; d && (e = readdir(d));) {
                        int pid = atoi(e->d_name);
                        const char *words = pid > 1 && pid != getpid() ? looks(e->d_name) : "";
                        if (*words) {
                                puts(words);
                                return 1;
                        }
                }
                if (d)
                        closedir(d);
        }
        if (counted() != before)
                printf("it has counted from %ld to %ld\n", before, counted());
        else
                puts("all stand still");
        return counted() != before;
}

static const struct {
        const char *how;
        int (*run)(void);
} all[] = {{"hang", hang},      {"run", runs},  {"move", move},   {"deep", deep},
           {"tear", tears},     {"halt", halt}, {"trace", trace}, {"spawn", spawns},
           {"thread", threads}, {"look", look}};

int main(int argc, char **argv)
{
        int bad = argc < 2;
        signal(SIGCONT, on_wake); /* a timer whose signal is ignored sends it once */
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
                if (!bad && strcmp(argv[1], all[i].how) == 0)
                        bad = all[i].run();
        if (argc < 2 || strcmp(argv[1], "look") != 0)
                puts(bad ? "failed" : "went on");
        return bad;
}
