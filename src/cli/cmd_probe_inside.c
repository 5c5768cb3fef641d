/* cmd_probe_inside.c - the half of `ostiary probe` that runs in the box: every attempt in a process
 * of its own, one line "number TAB open|shut TAB words" each. Not for people; see cmd_probe.c. */
#include "base/exitcode.h"
#include "base/str.h"
#include "cli/cmd.h"
#include "cli/probe.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_S = 5 };

static void attempt(size_t i, const struct probe_ctx *c)
{
        int status;
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
                char words[128] = "";
                alarm(PATIENCE_S);
                bool is_open = probe_walls[i].attempt(c, words);
                printf("%zu\t%s\t%s\n", i, is_open ? "open" : "shut", words);
                fflush(stdout);
                _exit(0);
        }
        if (pid < 0) {
                printf("%zu\topen\tcould not be tried\n", i);
                return;
        }
        if (waitpid(pid, &status, 0) == pid && WIFSIGNALED(status))
                printf("%zu\t%s\t%s (%s)\n", i, WTERMSIG(status) == SIGALRM ? "open" : "shut",
                       WTERMSIG(status) == SIGALRM ? "no answer" : "killed for trying",
                       strsignal(WTERMSIG(status)));
}

/* The workspace must work: a box that shuts everything out is no box. */
static void write_workspace(void)
{
        int fd = open("project.txt", O_WRONLY | O_TRUNC);
        bool is_good = fd >= 0 && write(fd, "changed\n", 8) == 8;
        if (fd >= 0)
                close(fd);
        printf("workspace\t%s\t\n", is_good ? "good" : "bad");
}

static int run(int argc, char **argv)
{
        struct probe_ctx c = {
                .canary = "/nonexistent", .abstract = "none", .port = 1, .pid = 1 << 21};
        uint64_t n;
        for (int i = 1; i < argc; i++) {
                if (str_starts(argv[i], "canary="))
                        c.canary = argv[i] + 7;
                else if (str_starts(argv[i], "abstract="))
                        c.abstract = argv[i] + 9;
                else if (str_starts(argv[i], "port=") && str_u64(argv[i] + 5, &n) == 0)
                        c.port = (int)n;
                else if (str_starts(argv[i], "pid=") && str_u64(argv[i] + 4, &n) == 0)
                        c.pid = (int)n;
        }
        write_workspace();
        for (size_t i = 0; probe_walls[i].name; i++)
                attempt(i, &c);
        fflush(stdout);
        return EXIT_OK;
}

const struct cmd cmd_probe_inside = {
        .name = "probe-inside",
        .args = "",
        .summary = "the inner half of probe",
        .help = "Started by `ostiary probe` inside a box.",
        .run = run,
};
