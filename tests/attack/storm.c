/* storm.c - the half of case 43k that runs inside: refused calls without end, by callers that are
 * killed in flight, interrupted, stopped, traced, forked and executed meanwhile.
 *
 * Each call is counted before it is made and after it was answered, in memory that outlives its
 * caller. The host compares that with the log: everything answered must be there, and nothing more
 * than was begun. Speaks with notify_cases.sh: "ready", a line, the counts, a line, the end. */
#include "attack.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
        atomic_long begun, answered, wrong;
} * counts;

/* refused(): one call that the filter refuses. Whatever happens meanwhile, that is its answer. */
static void refused(void)
{
        atomic_fetch_add(&counts->begun, 1);
        if (syscall(SYS_unshare, CLONE_NEWUSER) == 0 || errno != EPERM)
                atomic_fetch_add(&counts->wrong, 1);
        atomic_fetch_add(&counts->answered, 1);
}

/* die_in(us): by a timer, because kill() is a call that waits behind ours. Outlives execve. */
static void die_in(int us)
{
        struct itimerval t = {.it_value = {.tv_usec = us}};
        signal(SIGALRM, SIG_DFL);
        setitimer(ITIMER_REAL, &t, NULL);
}

static void nothing(int sig)
{
        (void)sig;
}

static pid_t doomed(int us)
{
        pid_t pid = fork();
        if (pid == 0) {
                die_in(us);
                for (;;)
                        refused();
        }
        return pid;
}

/* killed(n): so many callers, each killed at another moment of its call. */
static void killed(int n)
{
        for (int i = 0; i < n; i++) {
                doomed(200 + rand() % 3000);
                if (i % 8 == 7)
                        while (waitpid(-1, NULL, 0) > 0)
                                ;
        }
        while (waitpid(-1, NULL, 0) > 0)
                ;
}

/* interrupted(n): so many calls under a timer whose handler returns. */
static void interrupted(int n)
{
        struct itimerval every = {{0, 100}, {0, 100}};
        struct sigaction a = {.sa_handler = nothing, .sa_flags = SA_RESTART};
        sigaction(SIGALRM, &a, NULL);
        setitimer(ITIMER_REAL, &every, NULL);
        for (int i = 0; i < n; i++)
                refused();
        memset(&every, 0, sizeof every);
        setitimer(ITIMER_REAL, &every, NULL);
}

/* crowd(callers, each): all at once, so that a queue of held calls is always there. */
static void crowd(int callers, int each)
{
        pid_t pids[64];
        for (int i = 0; i < callers && i < 64; i++) {
                pids[i] = fork();
                if (pids[i] == 0) {
                        for (int k = 0; k < each; k++)
                                refused();
                        _exit(0);
                }
        }
        for (int i = 0; i < callers && i < 64; i++)
                waitpid(pids[i], NULL, 0);
}

/* stopped(): callers that stand still, some of them between two calls, and one that is traced
 * there; the others must not have to wait for them. */
static void stopped(void)
{
        pid_t still[8];
        int status;
        for (int i = 0; i < 8; i++) {
                still[i] = fork();
                if (still[i] == 0) {
                        if (i == 0)
                                ptrace(PTRACE_TRACEME, 0, NULL, NULL);
                        for (;;) {
                                refused();
                                raise(SIGSTOP);
                        }
                }
        }
        for (int i = 0; i < 8; i++)
                waitpid(still[i], &status, WUNTRACED);
        crowd(4, 100);
        for (int i = 1; i < 8; i++)
                kill(still[i], SIGCONT);
        for (int i = 0; i < 8; i++) {
                kill(still[i], SIGKILL);
                waitpid(still[i], NULL, 0);
        }
}

/* executed(n): vfork and exec; every second program is not there, and every fourth is killed on its
 * way through execve, its start or its exit. */
static void executed(int n)
{
        char *const argv[] = {"quick", "quiet", NULL}, *const envp[] = {NULL};
        for (volatile int i = 0; i < n; i++) {
                pid_t pid = i % 4 == 2 ? fork() : vfork();
                if (pid == 0) {
                        if (i % 4 == 2)
                                die_in(100 + rand() % 4000);
                        execve(i % 2 ? "/does/not/exist" : "/proc/self/exe", argv, envp);
                        _exit(1);
                }
                waitpid(pid, NULL, 0);
        }
}

static void await_line(void)
{
        char c = 0;
        while (read(0, &c, 1) == 1 && c != '\n')
                ;
}

int storm_main(void)
{
        counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (counts == MAP_FAILED)
                return 1;
        srand(43);
        puts("ready");
        fflush(stdout);
        await_line();
        killed(300);
        interrupted(2000);
        stopped();
        executed(200);
        crowd(40, 250);
        printf("counts %ld %ld %ld\n", atomic_load(&counts->begun), atomic_load(&counts->answered),
               atomic_load(&counts->wrong));
        fflush(stdout);
        await_line();
        return 0;
}
