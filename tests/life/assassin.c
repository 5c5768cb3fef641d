/* assassin.c - start an ostiary command, and kill one of the processes it leads to at a chosen
 * moment.
 *
 *     assassin cli|maker|supervisor|helper|init|command DELAY_US COMMAND...
 *
 * Started by tests/life_kill.sh. Waits for the process to exist, and for the file that
 * ASSASSIN_AFTER names, if it does, to hold something; then DELAY_US more, then SIGKILL. The maker
 * is the child of the CLI that makes the box's network. The command is the first child of init:
 * while the box is built there is none. The helper is the first child of the supervisor, whatever
 * it is at that moment. Prints "hit" or "missed" and how COMMAND ended: its status, "hung" after a
 * minute. Signals only processes below COMMAND. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HUNG_MS = 60000 };

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

/* is_maker(pid): is it in another user namespace than we are? */
static bool is_maker(pid_t pid)
{
        char path[64], ours[64] = "", theirs[64] = "";
        snprintf(path, sizeof path, "/proc/%d/ns/user", pid);
        return readlink("/proc/self/ns/user", ours, sizeof ours - 1) > 0 &&
               readlink(path, theirs, sizeof theirs - 1) > 0 && strcmp(ours, theirs) != 0;
}

static bool is_supervisor(pid_t pid)
{
        return !is_maker(pid);
}

static bool is_any(pid_t pid)
{
        (void)pid;
        return true;
}

/* child_of(pid, is): its first child that is one; 0 when there is none. */
static pid_t child_of(pid_t pid, bool (*is)(pid_t))
{
        char path[64];
        int child, found = 0;
        snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
        FILE *f = fopen(path, "re");
        while (f && !found && fscanf(f, "%d", &child) == 1)
                if (is(child))
                        found = child;
        if (f)
                fclose(f);
        return (pid_t)found;
}

static const struct {
        const char *name;
        bool (*way[4])(pid_t); /* from the CLI down */
} roles[] = {
        {"cli", {0}},
        {"maker", {is_maker}},
        {"supervisor", {is_supervisor}},
        {"helper", {is_supervisor, is_any}},
        {"init", {is_supervisor, is_init}},
        {"command", {is_supervisor, is_init, is_any}},
};

static pid_t find(pid_t cli, size_t role)
{
        pid_t pid = cli;
        for (int i = 0; pid && roles[role].way[i]; i++)
                pid = child_of(pid, roles[role].way[i]);
        return pid;
}

/* is_time(): has what has to come first come? */
static bool is_time(void)
{
        struct stat st;
        const char *path = getenv("ASSASSIN_AFTER");
        return !path || (stat(path, &st) == 0 && st.st_size > 0);
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
        do
                target = is_time() ? find(cli, role) : 0;
        while (!target && waitpid(cli, &status, WNOHANG) == 0 && now_ms() - begin < HUNG_MS);
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
