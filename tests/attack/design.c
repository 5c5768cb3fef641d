/* design.c - cases that are answered by what the box is, not by a refusal: 23, 32, 33, 40, B6.
 * Where something can be shown it is; the rest says why it does not apply.
 *
 * 32, 33 and B6 run a program in a way that some would tell apart, by its name, its file or its
 * lack of one, and ask it whether the filter still stands around it. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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

/* ask_10(argv, fd, out): run a program, by its path or from ${fd}, that tries case 10 and says how
 * it went. What is ours to refuse is refused to every program, whatever it is called or was made
 * of. */
static void ask_10(char *const argv[], int fd, const char *how, struct outcome *o)
{
        char answer[1024] = "", *envp[] = {"PATH=/usr/bin:/bin", NULL};
        size_t have = 0;
        int p[2];

        if (pipe(p) < 0)
                return;
        pid_t pid = fork();
        if (pid == 0) {
                dup2(p[1], 1);
                if (fd >= 0)
                        fexecve(fd, argv, envp);
                else
                        execve(argv[0], argv + 1, envp);
                _exit(127);
        }
        close(p[1]);
        for (ssize_t n; have < sizeof answer - 1 &&
                        (n = read(p[0], answer + have, sizeof answer - 1 - have)) > 0;)
                have += (size_t)n;
        close(p[0]);
        waitpid(pid, NULL, 0);
        if (strstr(answer, "case 10 escaped"))
                out_escaped(o, "%s is outside of the filter", how);
        else if (strstr(answer, "case 10 blocked"))
                out_blocked_why(o, "SAME", "%s runs, behind the same walls", how);
        else if (o->kind == OUT_NONE)
                out_na(o, "%s did not run", how);
}

/* Nothing of ours goes by the name of a file, so a copy under another name, or the loader in its
 * place, is what the file is. */
static void case_loader(struct outcome *o)
{
        static const char *const loaders[] = {"/lib64/ld-linux-x86-64.so.2",
                                              "/lib/ld-linux-aarch64.so.1"};
        char self[4096] = "", command[4200];
        int copy = open("attack-copy", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);

        if (copy >= 0 && copy_self(copy) == 0) {
                close(copy);
                ask_10((char *[]){"./attack-copy", "harmless", "10", NULL}, -1, "a copy", o);
        }
        unlink("attack-copy");
        if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
                return;
        snprintf(command, sizeof command, "exec '%s' 10", self);
        for (size_t i = 0; i < sizeof loaders / sizeof *loaders; i++)
                if (access(loaders[i], X_OK) == 0)
                        ask_10((char *[]){(char *)loaders[i], "loader", "/bin/sh", "-c", command,
                                          NULL},
                               -1, "what the loader was told to run", o);
}

static void case_memfd(struct outcome *o)
{
        int fd = memfd_create("attack", MFD_CLOEXEC);

        if (fd < 0 || copy_self(fd) < 0)
                out_blocked(o, errno, "no program in memory");
        else
                ask_10((char *[]){"inside", "10", NULL}, fd, "a program in memory", o);
}

static void case_side_channels(struct outcome *o)
{
        out_na(o,
               "out of scope of this tier: caches and branch predictors are shared with whatever "
               "runs on the processor, and no wall of ours stands there (docs/threat-model.md)");
}

/* The names that one might trust: ours, and those of programs that the box was made for. The second
 * word is what /proc shows as the command line; the short name is set too, and stays for threads.
 */
static void case_argv_policy(struct outcome *o)
{
        static const char *const names[] = {"/usr/bin/ostiary", "ostiary-witness", "ostiary-door",
                                            "/usr/bin/git",     "claude",          ""};
        char self[4096] = "";

        if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) {
                out_na(o, "/proc does not say what we are");
                return;
        }
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                prctl(PR_SET_NAME, names[i], 0, 0, 0);
                ask_10((char *[]){self, (char *)names[i], "10", NULL}, -1,
                       "a program under a trusted name", o);
        }
}

const struct attack_case design_cases[] = {
        {"23", "a procfs write redirected during set-up", WRITE, STATE, 0, case_proc_is_proc,
         "shape", "shape"},
        {"32", "a denied program through the loader or a copy", EXEC, REAL, 0, case_loader,
         "seccomp", "seccomp"},
        {"33", "a program run from memory", EXEC, REAL, 0, case_memfd, "seccomp", "seccomp"},
        {"40", "hardware side channels", READ, STATE, 0, case_side_channels, "-", "-"},
        {"B6", "a rule that trusts the command line", EXEC, REAL, 0, case_argv_policy, "seccomp",
         "seccomp"},
        {0},
};

/* Judged from outside: run.sh does these by starting, starving and killing boxes. */
const struct attack_case host_cases[] = {
        {"22w", "the workspace swapped for a link during set-up", READ, REAL, BY_HOST, NULL,
         "shape", "shape"},
        {"23w", "what is shown swapped for a link to /proc during set-up", WRITE, REAL, BY_HOST,
         NULL, "shape", "shape"},
        {"26h", "a later mount of the host spreads to the box", READ, REAL, BY_HOST, NULL, "-",
         "propagation"},
        {"43", "a number used again while its call is held", WRITE, REAL, BY_HOST, NULL,
         "notify-id", "notify-id"},
        {"43k", "callers killed, stopped and interrupted in flight", CRASH, REAL, BY_HOST, NULL,
         "shape", "shape"},
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
