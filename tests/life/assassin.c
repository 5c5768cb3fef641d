/* assassin.c - start an ostiary command, and kill one of the processes it leads to at a chosen
 * moment.
 *
 *     assassin cli|supervisor|helper|init|command DELAY_US COMMAND...
 *
 * Started by tests/life_kill.sh. Waits for the process to exist, then DELAY_US more, then SIGKILL.
 * The command is the first child of init: while the box is built there is none. The helper
 * is the first child of the supervisor, whatever it is at that moment. Prints "hit" or "missed" and
 * how COMMAND ended: its status, "hung" after ten seconds. Signals only processes below COMMAND. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HUNG_MS = 10000 };

static void nap_us(long us)
{
        struct timespec t = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
        if (us)
                nanosleep(&t, NULL);
}

static long now_ms(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* is_init(pid): is it the first of a pid namespace below ours? */
static bool is_init(pid_t pid)
{
        char path[64], line[256];
        int here, there = 0;
        snprintf(path, sizeof path, "/proc/%d/status", pid);
        FILE *f = fopen(path, "re");
        while (f && fgets(line, sizeof line, f))
                if (sscanf(line, "NSpid: %d %d", &here, &there) > 0)
                        break;
        if (f)
                fclose(f);
        return there == 1;
}

/* child_of(pid, init): its first child, or the first that is a box's init; 0 when there is none. */
static pid_t child_of(pid_t pid, bool init)
{
        char path[64];
        int child, found = 0;
        snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
        FILE *f = fopen(path, "re");
        while (f && !found && fscanf(f, "%d", &child) == 1)
                if (!init || is_init(child))
                        found = child;
        if (f)
                fclose(f);
        return (pid_t)found;
}

static const struct {
        const char *name;
        int depth; /* below the CLI */
        bool wants_init;
} roles[] = {
        {"cli", 0, false}, {"supervisor", 1, false}, {"helper", 2, false},
        {"init", 2, true}, {"command", 3, true},
};

static pid_t find(pid_t cli, size_t role)
{
        pid_t pid = cli;
        for (int i = 0; pid && i < roles[role].depth; i++)
                pid = child_of(pid, i == 1 && roles[role].wants_init);
        return pid;
}

int main(int argc, char **argv)
{
        size_t role = 0, roles_n = sizeof roles / sizeof *roles;
        while (argc >= 4 && role < roles_n && strcmp(argv[1], roles[role].name) != 0)
                role++;
        if (argc < 4 || role == roles_n)
                return 64;

        pid_t cli = fork();
        if (cli == 0) {
                execv(argv[3], argv + 3);
                _exit(127);
        }
        pid_t target = 0;
        int status = 0;
        long begin = now_ms();
        while (!target && waitpid(cli, &status, WNOHANG) == 0 && now_ms() - begin < HUNG_MS)
                target = find(cli, role);
        if (target) {
                nap_us(atol(argv[2]));
                /* Whoever has the role now. As long as the CLI is not reaped its number is its own.
                 */
                target = find(cli, role);
                if (target && kill(target, SIGKILL) == 0)
                        printf("hit ");
                else
                        target = 0;
        }
        if (!target)
                printf("missed ");

        long last = now_ms() + HUNG_MS;
        pid_t done = 0;
        while ((done = waitpid(cli, &status, WNOHANG)) == 0 && now_ms() < last)
                nap_us(1000);
        if (done == 0) {
                printf("hung\n");
                kill(cli, SIGKILL);
                waitpid(cli, &status, 0);
                return 1;
        }
        printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        return 0;
}
