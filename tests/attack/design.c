/* design.c - cases that are answered by what the box is, not by a refusal: 23, 32, 33, 40, 41, 43,
 * B6, B7. Where something can be shown it is; the rest says why it does not apply.
 *
 * Case 33 runs a program from memory and asks it whether the walls still stand around it. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

/* A write meant for one file of /proc must not end in another: /proc is procfs all the way down,
 * and none of its entries was replaced by a link. */
static void case_proc_is_proc(struct outcome *o)
{
        static const char *const entries[] = {"/proc", "/proc/sys", "/proc/self/attr",
                                              "/proc/sys/kernel/core_pattern", "/proc/self/status"};
        struct statfs fs;
        struct stat st;

        for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
                if (lstat(entries[i], &st) < 0 && errno == ENOENT)
                        continue;
                if (S_ISLNK(st.st_mode))
                        out_escaped(o, "%s is a link", entries[i]);
                if (statfs(entries[i], &fs) == 0 && fs.f_type != PROC_SUPER_MAGIC)
                        out_escaped(o, "%s is not on a proc file system", entries[i]);
        }
        out_blocked_why(o, "PROCFS",
                        "set-up is over before the box's first program; /proc is proc");
}

static void case_loader(struct outcome *o)
{
        out_na(o, "no rule of ours goes by the name of a program file");
}

/* copy_self(fd): this very program into the memory file. */
static int copy_self(int fd)
{
        char buf[65536];
        int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        ssize_t n;

        if (in < 0)
                return -1;
        while ((n = read(in, buf, sizeof buf)) > 0)
                if (write(fd, buf, (size_t)n) != n)
                        break;
        close(in);
        return n == 0 ? 0 : -1;
}

static void case_memfd(struct outcome *o)
{
        char answer[1024] = "";
        int p[2], fd = memfd_create("attack", MFD_CLOEXEC);

        if (fd < 0 || copy_self(fd) < 0 || pipe(p) < 0) {
                out_blocked(o, errno, "no program in memory");
                return;
        }
        pid_t pid = fork();
        if (pid == 0) {
                dup2(p[1], 1);
                char *argv[] = {"inside", "8n", "B8", "B8f", "10", NULL}, *envp[] = {NULL};
                fexecve(fd, argv, envp);
                _exit(127);
        }
        close(p[1]);
        size_t have = 0;
        for (ssize_t n; have < sizeof answer - 1 &&
                        (n = read(p[0], answer + have, sizeof answer - 1 - have)) > 0;)
                have += (size_t)n;
        waitpid(pid, NULL, 0);
        if (!have)
                out_blocked_why(o, "NOEXEC", "a program in memory cannot be run");
        else if (strstr(answer, "escaped"))
                out_escaped(o, "a program run from memory stands outside the walls");
        else
                out_na(o, "allowed by design: a program run from memory is behind the same walls");
}

static void case_side_channels(struct outcome *o)
{
        out_na(o, "out of scope of this tier: one kernel, one processor");
}

static void case_notify(struct outcome *o)
{
        out_na(o, "this build has no notification listener, so nothing is decided by one");
}

static void case_argv_policy(struct outcome *o)
{
        out_na(o, "no rule of ours reads a command line or a process name");
}

const struct attack_case design_cases[] = {
        {"23", "a procfs write redirected during set-up", WRITE, STATE, 0, case_proc_is_proc,
         "shape", "shape"},
        {"32", "a denied program through the loader or a copy", EXEC, STATE, 0, case_loader, "-",
         "-"},
        {"33", "a program run from memory", EXEC, REAL, 0, case_memfd, "-", "-"},
        {"40", "hardware side channels", READ, STATE, 0, case_side_channels, "-", "-"},
        {"41", "a notification's arguments changed after the check", EXEC, STATE, 0, case_notify,
         "-", "-"},
        {"43", "a notification's id used again", EXEC, STATE, 0, case_notify, "-", "-"},
        {"B6", "a rule that trusts the command line", EXEC, STATE, 0, case_argv_policy, "-", "-"},
        {"B7", "races of a notification that continues", EXEC, STATE, 0, case_notify, "-", "-"},
        {0},
};

/* Judged from outside: run.sh does these by starting, starving and killing boxes. */
const struct attack_case host_cases[] = {
        {"22w", "the workspace swapped for a link during set-up", READ, REAL, BY_HOST, NULL,
         "shape", "shape"},
        {"26h", "a later mount of the host spreads to the box", READ, REAL, BY_HOST, NULL, "-",
         "propagation"},
        {"42", "the supervisor is killed", EXEC, REAL, BY_HOST, NULL, "shape", "shape"},
        {"R10", "time without end", STARVE, REAL, BY_HOST, NULL, "shape", "shape"},
        {"B9", "something is left in the user's tree after SIGKILL", WRITE, REAL, BY_HOST, NULL,
         "shape", "shape"},
        {"B10", "no walls can be built: nothing may run", EXEC, REAL, BY_HOST, NULL, "shape",
         "shape"},
        {"B10e", "a variable that switches walls off", EXEC, REAL, BY_HOST, NULL, "shape", "shape"},
        {"B11", "helpers found by a search path", EXEC, REAL, BY_HOST, NULL, "shape", "shape"},
        {0},
};
