/* probe_calls.c - attempts that are one system call: what the filter, the capabilities and the user
 * namespace's limits stand against. */
#include "cli/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

bool probe_said(char words[128], const char *what, bool is_open)
{
        if (is_open)
                snprintf(words, 128, "%s worked", what);
        else
                snprintf(words, 128, "%s: %s", what, strerror(errno));
        return is_open;
}

bool probe_unshare(const struct probe_ctx *c, char words[128])
{
        (void)c;
        return probe_said(words, "a new user namespace", unshare(CLONE_NEWUSER) == 0);
}

bool probe_mount(const struct probe_ctx *c, char words[128])
{
        (void)c;
        return probe_said(words, "mounting a tmpfs", mount("none", "/tmp", "tmpfs", 0, NULL) == 0);
}

bool probe_chroot(const struct probe_ctx *c, char words[128])
{
        (void)c;
        return probe_said(words, "chroot", chroot("/tmp") == 0);
}

bool probe_ptrace(const struct probe_ctx *c, char words[128])
{
        (void)c;
        return probe_said(words, "tracing pid 1", ptrace(PTRACE_SEIZE, 1, NULL, NULL) == 0);
}

bool probe_mem(const struct probe_ctx *c, char words[128])
{
        (void)c;
        int fd = open("/proc/1/mem", O_RDWR);
        return probe_said(words, "opening /proc/1/mem", fd >= 0);
}

bool probe_keyctl(const struct probe_ctx *c, char words[128])
{
        (void)c;
        long r = syscall(SYS_keyctl, 0L /* get id */, -4L /* user keyring */, 1L);
        return probe_said(words, "keyctl", r >= 0);
}

bool probe_io_uring(const struct probe_ctx *c, char words[128])
{
        char params[256] = {0};
        (void)c;
        return probe_said(words, "io_uring_setup", syscall(SYS_io_uring_setup, 1, params) >= 0);
}

bool probe_bpf(const struct probe_ctx *c, char words[128])
{
        char attr[128] = {0};
        (void)c;
        long r = syscall(SYS_bpf, 0L, attr, sizeof attr);
        /* Wrong arguments: the call itself was let through. */
        return probe_said(words, "bpf", r >= 0 || errno == EINVAL);
}

bool probe_perf(const struct probe_ctx *c, char words[128])
{
        char attr[128] = {0};
        (void)c;
        long r = syscall(SYS_perf_event_open, attr, 0, -1, -1, 0L);
        return probe_said(words, "perf_event_open", r >= 0);
}

bool probe_userfaultfd(const struct probe_ctx *c, char words[128])
{
        (void)c;
        return probe_said(words, "userfaultfd",
                          syscall(SYS_userfaultfd, 1L /* user mode only */) >= 0);
}

/* On a terminal of our own, where nothing but the filter stands against it. */
bool probe_tiocsti(const struct probe_ctx *c, char words[128])
{
        (void)c;
        int master = posix_openpt(O_RDWR | O_NOCTTY);
        if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
                return probe_said(words, "opening a terminal", false);
        setsid();
        int slave = open(ptsname(master), O_RDWR);
        ioctl(slave, TIOCSCTTY, 0);
        return probe_said(words, "typing with TIOCSTI", ioctl(slave, TIOCSTI, "x") == 0);
}

bool probe_mknod(const struct probe_ctx *c, char words[128])
{
        (void)c;
        int r = mknod("/tmp/probe-mem", S_IFCHR | 0600, makedev(1, 1));
        return probe_said(words, "making a memory device", r == 0);
}

bool probe_caps(const struct probe_ctx *c, char words[128])
{
        struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
        struct __user_cap_data_struct data[2] = {0};
        (void)c;
        if (syscall(SYS_capget, &head, data) < 0)
                return probe_said(words, "capget", false);
        unsigned all = data[0].effective | data[0].permitted | data[0].inheritable |
                       data[1].effective | data[1].permitted | data[1].inheritable;
        snprintf(words, 128, all ? "some are there: %#x" : "none are there", all);
        return all != 0;
}

bool probe_setuid(const struct probe_ctx *c, char words[128])
{
        (void)c;
        if (geteuid() == 0) {
                snprintf(words, 128, "already uid 0");
                return true;
        }
        return probe_said(words, "setuid(0)", setuid(0) == 0);
}

bool probe_raw_socket(const struct probe_ctx *c, char words[128])
{
        (void)c;
        bool is_open = socket(AF_PACKET, SOCK_RAW, 0) >= 0 || socket(AF_INET, SOCK_RAW, 1) >= 0;
        return probe_said(words, "raw and packet sockets", is_open);
}

bool probe_vsock(const struct probe_ctx *c, char words[128])
{
        (void)c;
        return probe_said(words, "a vsock socket", socket(AF_VSOCK, SOCK_STREAM, 0) >= 0);
}

bool probe_int80(const struct probe_ctx *c, char words[128])
{
        (void)c;
#ifdef __x86_64__
        long r;
        __asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory"); /* 32-bit getpid */
        snprintf(words, 128, "a 32-bit call returned %ld", r);
        return r > 0;
#else
        snprintf(words, 128, "there is no other architecture to try here");
        return false;
#endif
}

/* status_value(key): "NoNewPrivs:" and friends of /proc/self/status. */
static int status_value(const char *key)
{
        char line[256];
        int v = -1;
        FILE *f = fopen("/proc/self/status", "re");
        while (f && fgets(line, sizeof line, f))
                if (strncmp(line, key, strlen(key)) == 0)
                        v = atoi(line + strlen(key));
        if (f)
                fclose(f);
        return v;
}

bool probe_settings(const struct probe_ctx *c, char words[128])
{
        (void)c;
        int nnp = status_value("NoNewPrivs:"), filter = status_value("Seccomp:");
        snprintf(words, 128, "no_new_privs is %d, seccomp mode is %d", nnp, filter);
        return nnp != 1 || filter != 2;
}
