/* calls.c - what a box does so that its log can be looked at: one word says what. Static, so that
 * no loader adds calls of its own. Used by tests/audit_calls.sh. */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static long number(const char *s)
{
        return strtol(s, NULL, 10);
}

/* refused N: the same refused call, N times. */
static int refused(long n)
{
        long right = 0;
        for (long i = 0; i < n; i++)
                right += syscall(SYS_unshare, CLONE_NEWUSER) < 0 && errno == EPERM;
        printf("%ld\n", right);
        return right != n;
}

static void *thread_refused(void *n)
{
        for (long i = 0; i < (long)n; i++)
                syscall(SYS_unshare, CLONE_NEWNS);
        return NULL;
}

static int threads(long n)
{
        pthread_t t[8];
        for (int i = 0; i < 8; i++)
                if (pthread_create(&t[i], NULL, thread_refused, (void *)(n / 8)))
                        return 1;
        for (int i = 0; i < 8; i++)
                pthread_join(t[i], NULL);
        return 0;
}

static volatile long ticks;
static void tick(int sig)
{
        (void)sig;
        ticks++;
}

/* storm N: connect N times while a timer interrupts us all the time. */
static int storm(long n)
{
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t len = sizeof a;
        int l = socket(AF_INET, SOCK_STREAM, 0);
        if (bind(l, (struct sockaddr *)&a, sizeof a) < 0 || listen(l, 4096) < 0 ||
            getsockname(l, (struct sockaddr *)&a, &len) < 0)
                return 1;
        struct sigaction act = {.sa_handler = tick, .sa_flags = SA_RESTART};
        sigaction(SIGALRM, &act, NULL);
        struct itimerval every = {{0, 50}, {0, 50}};
        setitimer(ITIMER_REAL, &every, NULL);
        long done = 0;
        for (long i = 0; i < n; i++) {
                int s = socket(AF_INET, SOCK_STREAM, 0);
                done += connect(s, (struct sockaddr *)&a, sizeof a) == 0;
                close(s);
                int c = accept(l, NULL, NULL);
                close(c);
        }
        setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
        printf("%ld %s\n", done, ticks > n / 10 ? "stormy" : "calm");
        return 0;
}

/* bad: pointers that lead nowhere, strings without an end. */
static int bad(void)
{
        char *edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(edge + 4096, 4096);
        memset(edge, 'e', 4096);
        char *const none[] = {NULL};
        char *const odd[] = {(char *)"fine", (char *)8, NULL};
        char **cut = (char **)(edge + 4096 - 2 * sizeof(char *));
        int wrong = 0;
        wrong += syscall(SYS_execve, (char *)8, none, none) == 0;
        wrong += syscall(SYS_execve, edge + 4000, none, none) == 0;
        wrong += syscall(SYS_execve, "/does/not/exist", odd, none) == 0;
        cut[0] = cut[1] = (char *)"words";
        wrong += syscall(SYS_execve, "/does/not/exist", cut, none) == 0;
        wrong += syscall(SYS_execve, "/does/not/exist", (char **)~0ul, none) == 0;
        wrong += connect(0, (struct sockaddr *)8, 16) == 0;
        wrong += connect(9999, (struct sockaddr *)edge, ~0u) == 0;
        wrong += bind(9999, NULL, 0) == 0;
        wrong += syscall(SYS_mount, (char *)~0ul, edge + 4000, 8, ~0ul, NULL) == 0;
        puts(wrong ? "wrong" : "survived");
        return wrong;
}

/* racing: another thread changes the arguments while the kernel and others read them. */
static char shared[64];
static volatile int is_over;
static void *flip(void *x)
{
        while (!is_over) {
                memset(shared, 'a', 60);
                shared[30] = 0;
                memset(shared, 'b', 60);
        }
        return x;
}

static int racing(long n)
{
        pthread_t t;
        char *const argv[] = {shared, shared, NULL};
        pthread_create(&t, NULL, flip, NULL);
        for (long i = 0; i < n; i++)
                syscall(SYS_execve, shared, argv, argv);
        is_over = 1;
        pthread_join(t, NULL);
        puts("survived");
        return 0;
}

static pid_t child(int is_apart)
{
        pid_t pid = fork();
        if (pid == 0) {
                if (is_apart)
                        setpgid(0, 0);
                for (;;)
                        pause();
        }
        if (is_apart)
                setpgid(pid, pid);
        return pid;
}

/* kills: across a group, within it, questions. */
static int kills(void)
{
        signal(SIGUSR1, SIG_IGN);
        pid_t far = child(1), near = child(0);
        kill(far, 0);
        kill(near, SIGUSR1);
        kill(getpid(), SIGUSR1);
        kill(0, SIGUSR1);
        raise(SIGUSR1);
        kill(far, SIGTERM);
        kill(near, SIGTERM);
        waitpid(far, NULL, 0);
        waitpid(near, NULL, 0);
        far = child(1);
        kill(-far, SIGKILL);
        waitpid(far, NULL, 0);
        return 0;
}

static void *thread_exec(void *self)
{
        char *const argv[] = {(char *)"from-a-thread", (char *)"exit", (char *)"7", NULL};
        execv(self, argv);
        return NULL;
}

int main(int argc, char **argv)
{
        const char *what = argc > 1 ? argv[1] : "";
        long n = argc > 2 ? number(argv[2]) : 0;
        setvbuf(stdout, NULL, _IONBF, 0);
        if (!strcmp(what, "refused"))
                return refused(n);
        if (!strcmp(what, "threads"))
                return threads(n);
        if (!strcmp(what, "storm"))
                return storm(n);
        if (!strcmp(what, "bad"))
                return bad();
        if (!strcmp(what, "racing"))
                return racing(n);
        if (!strcmp(what, "kills"))
                return kills();
        if (!strcmp(what, "exit"))
                return (int)n;
        if (!strcmp(what, "abort"))
                abort();
        if (!strcmp(what, "trace"))
                return ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0;
        if (!strcmp(what, "thread-exec")) {
                pthread_t t;
                pthread_create(&t, NULL, thread_exec, (void *)"/proc/self/exe");
                pthread_join(t, NULL);
                return 1;
        }
        if (!strcmp(what, "hostile")) { /* a huge word, controls, no UTF-8, quotes */
                char *huge = malloc(100001);
                memset(huge, 'h', 100000);
                huge[100000] = 0;
                char *const words[] = {(char *)"hostile",
                                       (char *)"exit",
                                       (char *)"0",
                                       (char *)"a\nb\033[31m\"c\\d\xff e",
                                       (char *)"",
                                       huge,
                                       NULL};
                execv("/proc/self/exe", words);
                return 1;
        }
        return 64;
}
