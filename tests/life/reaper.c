/* reaper.c - run a suite as a subreaper, so that every supervisor it starts, and every box whose
 * supervisor was killed, ends up as a child here: what still lives after the suite is known
 * exactly, without guessing by name.
 *
 * Started by tests/lib_life.sh. Prints one `not ok` line when something is left, and ends it: only
 * its own descendants, by pid. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 60000, STEP_MS = 10, NAMES_MAX = 200 };

static volatile sig_atomic_t stop_sig;

static void on_stop(int sig)
{
        stop_sig = sig;
}

static void nap(void)
{
        struct timespec t = {.tv_nsec = STEP_MS * 1000000};
        nanosleep(&t, NULL);
}

/* children(act, names): every direct child is shown to ${act}; their names are added to ${names}.
 */
static int children(int sig, char names[NAMES_MAX])
{
        char path[64], list[8192];
        snprintf(path, sizeof path, "/proc/%d/task/%d/children", getpid(), getpid());
        FILE *f = fopen(path, "re");
        size_t len = f ? fread(list, 1, sizeof list - 1, f) : 0;
        if (f)
                fclose(f);
        list[len] = 0;
        int n = 0;
        for (char *p = strtok(list, " "); p; p = strtok(NULL, " ")) {
                char name[32] = "?";
                snprintf(path, sizeof path, "/proc/%s/comm", p);
                f = fopen(path, "re");
                if (f && fgets(name, sizeof name, f))
                        name[strcspn(name, "\n")] = 0;
                if (f)
                        fclose(f);
                size_t used = strlen(names);
                snprintf(names + used, NAMES_MAX - used, " %s(%s)", name, p);
                if (sig)
                        kill((pid_t)atoi(p), sig);
                n++;
        }
        return n;
}

/* drain(ms): reap until no child is left or the time is over. Returns whether all are gone. */
static int drain(int ms)
{
        for (int waited = 0;; waited += STEP_MS) {
                pid_t pid = waitpid(-1, NULL, WNOHANG);
                if (pid < 0 && errno == ECHILD)
                        return 1;
                if (pid > 0)
                        continue;
                if (waited >= ms)
                        return 0;
                nap();
        }
}

int main(int argc, char **argv)
{
        char self[16];
        if (argc < 2)
                return 64;
        snprintf(self, sizeof self, "%d", getpid());
        setenv("REAPER", self, 1);
        struct sigaction stop = {.sa_handler = on_stop};
        sigaction(SIGTERM, &stop, NULL);
        sigaction(SIGINT, &stop, NULL);
        sigaction(SIGHUP, &stop, NULL);
        if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
                return 125;
        pid_t suite = fork();
        if (suite == 0) {
                execv(argv[1], argv + 1);
                _exit(127);
        }

        int status = -1;
        while (!stop_sig) {
                int st;
                pid_t pid = waitpid(-1, &st, 0);
                if (pid == suite) {
                        status = WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st);
                        break;
                }
                if (pid < 0 && errno != EINTR)
                        break;
        }
        if (stop_sig)
                kill(suite, stop_sig);
        if (drain(PATIENCE_MS))
                return stop_sig ? 128 + stop_sig : status;
        char names[NAMES_MAX] = "";
        children(0, names);
        printf("not ok nothing that the suite started lives on:%s\n", names);
        fflush(stdout);
        /* Each round frees the children of the last one, until the whole tree is gone. */
        for (int round = 0; round < 100 && !drain(50); round++) {
                char ignored[NAMES_MAX] = "";
                children(SIGKILL, ignored);
        }
        return status > 0 ? status : 1;
}
