/* seccomp_programs_test.c - ordinary programs run under the filter, and the table prints itself.
 *
 * Each program is run once without the filter, to know that it works here at all, and once with it.
 * What the filter refuses is in seccomp_test.c. */
#include "base/err.h"
#include "box/seccomp.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static int failed_n;

static void ok(bool good, const char *name, const char *why)
{
        if (good)
                printf("ok %s\n", name);
        else
                printf("not ok %s: %s\n", name, why);
        failed_n += !good;
}

/* Runs a program in silence; its status, or 1000 + the signal that ended it. */
static int outcome(char *const *argv, bool walled)
{
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
                struct err err = {0};
                alarm(60);
                setsid();
                int null = open("/dev/null", O_RDWR);
                if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
                        _exit(124);
                if (walled &&
                    (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || box_seccomp_install(&err) < 0))
                        _exit(125);
                execvp(argv[0], argv);
                _exit(127);
        }
        int status;
        if (pid < 0 || waitpid(pid, &status, 0) < 0)
                return -1;
        return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void programs(void)
{
        static char *const list[][6] = {
                {"sh", "-c", "test \"$(echo hi | cat)\" = hi", NULL},
                {"bash", "-c", "set -m; sleep 0.05 & fg >/dev/null; wait", NULL},
                {"python3", "-c",
                 "import subprocess, threading, socket; "
                 "t = threading.Thread(target=int); t.start(); t.join(); "
                 "assert subprocess.check_output(['echo', 'x']) == b'x\\n'; "
                 "socket.socket(); socket.if_nameindex()",
                 NULL},
                {"node", "-e",
                 "require('child_process').execSync('true'); require('os').networkInterfaces(); "
                 "new (require('worker_threads').Worker)('1', {eval: true})",
                 NULL},
                {"gcc", "-xc", "-o/dev/null", "-c", "/dev/null", NULL},
                {"git", "--version", NULL},
                {"gdb", "-batch", "-ex", "run", "/bin/true", NULL},
                {"java", "-version", NULL},
        };
        for (size_t i = 0; i < LEN(list); i++) {
                char name[80], why[80];
                snprintf(name, sizeof name, "%s runs under the filter", list[i][0]);
                int bare = outcome(list[i], false), walled = outcome(list[i], true);
                snprintf(why, sizeof why, "it ends with %d", walled);
                if (bare != 0)
                        printf("skip %s: %s\n", name,
                               bare == 127 ? "it is not installed"
                                           : "it does not run here without the filter either");
                else
                        ok(walled == 0, name, why);
        }
}

static void printing(void)
{
        char *text = NULL;
        size_t len = 0;
        FILE *f = open_memstream(&text, &len);
        box_seccomp_print(f, false);
        fclose(f);
        ok(strstr(text, "  ENOSYS  clone3\n") && strstr(text, "TIOCSTI"),
           "the table is printed as text", "clone3 or TIOCSTI is not in it");
        size_t longest = 0;
        for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
                longest = strcspn(line, "\n") > longest ? strcspn(line, "\n") : longest;
        ok(longest <= 80, "the text fits 80 columns", "a line is longer");
        free(text);

        f = open_memstream(&text, &len);
        box_seccomp_print(f, true);
        fclose(f);
        json_t *j = json_loads(text, 0, NULL);
        ok(json_array_size(json_object_get(j, "rows")) > 30, "the table is printed as JSON",
           "it does not parse, or has few rows");
        json_decref(j);
        free(text);
        ok(box_seccomp_size() > 50 && box_seccomp_size() < 1000, "the filter has a sane length",
           "it is very short or very long");
}

int main(void)
{
        programs();
        printing();
        return failed_n != 0;
}
