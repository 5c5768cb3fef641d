/* proc.c - cases 14, 28, 30: pid 1 of the box, and processes of the host, seen through /proc.
 *
 * pid 1 runs with the same user id as the attacker and holds the control socket, so it must not be
 * readable. What is written is what stood there. TARGET_PID replaces pid 1 outside a box. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static long target_pid(void)
{
        long pid = planted_num("TARGET_PID");
        return pid > 0 ? pid : 1;
}

/* first_writable(pid, &address): the start of the first private writable mapping. */
static int first_writable(long pid, unsigned long *address)
{
        char path[64], line[512];
        snprintf(path, sizeof path, "/proc/%ld/maps", pid);
        FILE *f = fopen(path, "re");
        int found = -1;

        while (f && fgets(line, sizeof line, f))
                if (strstr(line, " rw-p ") && sscanf(line, "%lx-", address) == 1) {
                        found = 0;
                        break;
                }
        if (f)
                fclose(f);
        return found;
}

/* take_memory(out, pid, who): read and write back one byte by every way there is. */
static int take_memory(struct outcome *o, long pid, const char *who)
{
        unsigned long address = 0;
        unsigned char byte = 0;
        char path[64];
        int err = 0;

        bool mapped = first_writable(pid, &address) == 0;
        snprintf(path, sizeof path, "/proc/%ld/mem", pid);
        int fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd < 0) {
                err = errno;
        } else {
                if (mapped && pread(fd, &byte, 1, (off_t)address) == 1 &&
                    pwrite(fd, &byte, 1, (off_t)address) == 1)
                        out_escaped(o, "memory of %s was read and written", who);
                close(fd);
        }
        struct iovec mine = {&byte, 1}, theirs = {(void *)address, 1};
        if (mapped && process_vm_readv((pid_t)pid, &mine, 1, &theirs, 1, 0) == 1)
                out_escaped(o, "memory of %s was read with process_vm_readv", who);

        int pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
        if (pidfd >= 0) {
                for (int n = 0; n < 16; n++)
                        if (syscall(SYS_pidfd_getfd, pidfd, n, 0) >= 0)
                                out_escaped(o, "descriptor %d of %s was taken", n, who);
                close(pidfd);
        }
        if (ptrace(PTRACE_SEIZE, (pid_t)pid, 0, 0) == 0) {
                ptrace(PTRACE_DETACH, (pid_t)pid, 0, 0);
                out_escaped(o, "%s was traced", who);
        }
        return err ? err : errno;
}

static void case_pid1_memory(struct outcome *o)
{
        int err = take_memory(o, target_pid(), "pid 1");
        out_blocked(o, err, "pid 1 can be neither read nor traced");
}

static void case_host_memory(struct outcome *o)
{
        long pid = planted_num("VICTIM_PID");

        if (pid < 0) {
                out_na(o, "the harness planted no process");
                return;
        }
        int err = take_memory(o, pid, "a process of the host");
        out_blocked(o, err, "no process of the host can be read or traced");
}

/* Any process of our own that is not of the box would do: pid 1 is the launcher's own program. A
 * write that fails with ETXTBSY alone is an escape: it succeeds when the program ends. */
static void case_launcher_exe(struct outcome *o)
{
        char path[64];
        snprintf(path, sizeof path, "/proc/%ld/exe", target_pid());
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        int err = errno;

        if (fd >= 0)
                out_escaped(o, "the launcher's program file was opened for writing");
        if (err == ETXTBSY)
                out_escaped(o, "the launcher's program file is writable once it has ended");
        out_blocked(o, err, "the launcher's program file is out of reach");
}

/* reads_any(out, pid): the parts of /proc/PID that show more than a name. */
static int reads_any(struct outcome *o, long pid, const char *who)
{
        static const char *const files[] = {"environ", "maps", "auxv", "syscall", "stack"};
        static const char *const links[] = {"root", "cwd", "exe", "fd/0", "fd/1", "fd/3"};
        static char buf[65536];
        char path[96];
        int err = 0;

        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
                snprintf(path, sizeof path, "/proc/%ld/%s", pid, files[i]);
                long n = slurp(path, buf, sizeof buf);
                if (n < 0)
                        err = errno;
                else if (has_canary(buf, n))
                        out_escaped(o, "%s of %s holds the user's environment", files[i], who);
                else if (n > 0)
                        out_escaped(o, "%s of %s was read", files[i], who);
        }
        for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
                snprintf(path, sizeof path, "/proc/%ld/%s", pid, links[i]);
                ssize_t n = readlink(path, buf, sizeof buf - 1);
                if (n < 0)
                        err = errno == ENOENT ? err : errno;
                else
                        out_escaped(o, "%s of %s leads to %.*s", links[i], who, (int)n, buf);
        }
        return err;
}

static void case_pid1_proc(struct outcome *o)
{
        int err = reads_any(o, target_pid(), "pid 1");
        out_blocked(o, err, "pid 1 shows neither environment nor descriptors");
}

/* A command line can be read by everybody who sees the process at all. */
static void case_host_proc(struct outcome *o)
{
        char path[64], buf[4096];
        long pid = planted_num("VICTIM_PID");

        if (pid < 0) {
                out_na(o, "the harness planted no process");
                return;
        }
        snprintf(path, sizeof path, "/proc/%ld/cmdline", pid);
        long n = slurp(path, buf, sizeof buf);
        int err = errno;
        if (n > 0 && has_canary(buf, n))
                out_escaped(o, "the command line of a host process was read");
        out_blocked(o, n < 0 ? err : ESRCH, "no process of the host is to be seen");
}

/* Every process of the box, the attacker's own included. */
static void case_environment(struct outcome *o)
{
        static char buf[262144];
        char path[64];

        for (long pid = 0; pid < 64; pid++) {
                snprintf(path, sizeof path, pid ? "/proc/%ld/environ" : "/proc/self/environ", pid);
                long n = slurp(path, buf, sizeof buf);
                if (has_canary(buf, n))
                        out_escaped(o, "the user's environment stands in %s", path);
        }
        out_blocked_why(o, "ABSENT", "the user's variables are in no environment of the box");
}

const struct attack_case proc_cases[] = {
        {"14", "pid 1 traced, read, written, its descriptors taken", EXEC, REAL, 0,
         case_pid1_memory, "dumpable", "dumpable"},
        {"14h", "a host process traced, read, written", EXEC, REAL, 0, case_host_memory, "kernel",
         "kernel"},
        {"28", "the launcher's program overwritten", EXEC, SURFACE, 0, case_launcher_exe,
         "dumpable", "dumpable+highuid"},
        {"30", "/proc/1: environment, root, descriptors", READ, REAL, 0, case_pid1_proc, "dumpable",
         "dumpable"},
        {"30h", "processes of the host in /proc", READ, REAL, 0, case_host_proc, "pidns", "pidns"},
        {"30e", "the user's environment variables", READ, REAL, 0, case_environment, "env", "env"},
        {0},
};
