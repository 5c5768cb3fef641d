/* hog.c - use up one thing inside a box, and say how far it came. Run by tests/limits_*.sh.
 *
 *     hog memory MIB [SECONDS]    touch that much, keep it
 *     hog shared MIB [SECONDS]    the same with memory that no rlimit counts, only a group
 *     hog hidden MIB              the same with memory that no process has mapped, so that all stay small
 *     hog forks N                 that many children at once, at most 300
 *     hog files N                 open /dev/null that often
 *     hog watches N               inotify watches, on directories that it makes here
 *     hog cpu SECONDS             burn, then print the milliseconds of processor time that it got
 *
 * Prints "got N" or "refused at N: why". Every loop is bounded. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FORKS_MAX = 300, WATCHES_MAX = 2000, FILES_MAX = 100000 };

static int say(long got, long wanted)
{
        int e = errno;
        if (got == wanted)
                printf("got %ld\n", got);
        else
                printf("refused at %ld: %s\n", got, strerror(e));
        fflush(stdout);
        return got == wanted ? 0 : 1;
}

static int memory(long mib, long seconds, int kind)
{
        long n = 0;
        for (; n < mib; n++) {
                char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
                if (p == MAP_FAILED)
                        break;
                memset(p, 1, 1 << 20);
        }
        int code = say(n, mib);
        sleep((unsigned)seconds);
        return code;
}

static int hidden(long mib)
{
        static char piece[1 << 20];
        int fd = memfd_create("hidden", 0);
        long n = 0;
        for (; fd >= 0 && n < mib; n++)
                if (write(fd, piece, sizeof piece) != (ssize_t)sizeof piece)
                        break;
        return say(n, mib);
}

static int forks(long wanted)
{
        pid_t child[FORKS_MAX];
        long n = 0;
        for (; n < wanted && n < FORKS_MAX; n++) {
                child[n] = fork();
                if (child[n] < 0)
                        break;
                if (child[n] == 0) {
                        pause();
                        _exit(0);
                }
        }
        int code = say(n, wanted);
        for (long i = 0; i < n; i++)
                kill(child[i], SIGKILL);
        for (long i = 0; i < n; i++)
                waitpid(child[i], NULL, 0);
        return code;
}

static int files(long wanted)
{
        long n = 0;
        while (n < wanted && n < FILES_MAX && open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
                n++;
        return say(n, wanted);
}

static int watches(long wanted)
{
        char path[64];
        long n = 0;
        int fd = inotify_init1(IN_CLOEXEC);
        for (; fd >= 0 && n < wanted && n < WATCHES_MAX; n++) {
                snprintf(path, sizeof path, "watched-%ld", n);
                if (mkdir(path, 0700) < 0 || inotify_add_watch(fd, path, IN_CREATE) < 0)
                        break;
        }
        return say(n, wanted);
}

static int cpu(long seconds)
{
        struct timespec begin, now, used;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        do
                clock_gettime(CLOCK_MONOTONIC, &now);
        while (now.tv_sec - begin.tv_sec < seconds);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
        printf("%ld\n", used.tv_sec * 1000 + used.tv_nsec / 1000000);
        return 0;
}

int main(int argc, char **argv)
{
        const char *what = argc > 2 ? argv[1] : "";
        long n = argc > 2 ? atol(argv[2]) : 0;
        if (strcmp(what, "memory") == 0)
                return memory(n, argc > 3 ? atol(argv[3]) : 0, MAP_PRIVATE);
        if (strcmp(what, "hidden") == 0)
                return hidden(n);
        if (strcmp(what, "shared") == 0)
                return memory(n, argc > 3 ? atol(argv[3]) : 0, MAP_SHARED);
        if (strcmp(what, "forks") == 0)
                return forks(n);
        if (strcmp(what, "files") == 0)
                return files(n);
        if (strcmp(what, "watches") == 0)
                return watches(n);
        if (strcmp(what, "cpu") == 0)
                return cpu(n);
        return 64;
}
