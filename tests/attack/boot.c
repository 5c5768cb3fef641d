/* boot.c - cases 15, 16, 19, 39: the machine itself: reboot, modules, handles, log, clock.
 *
 * Never with arguments that would do anything: the first check a kernel makes tells whether the
 * right was there (EINVAL, ENOENT, EFAULT) or not (EPERM). */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/quota.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

/* A wrong magic number: after the right is checked the kernel answers EINVAL and does nothing. */
static void case_reboot(struct outcome *o)
{
        if (syscall(SYS_reboot, 0x0badf00dL, 0x0badf00dL, 0L, NULL) < 0 && errno == EINVAL)
                out_escaped(o, "reboot passed the check of rights (and refused a false number)");
        out_blocked(o, errno, "no reboot");
}

/* Quota type 77 does not exist: EINVAL from the quota code. */
static void case_quotactl(struct outcome *o)
{
        if (syscall(SYS_quotactl, QCMD(Q_SYNC, 77), NULL, 0, NULL) < 0 &&
            (errno == EINVAL || errno == ESRCH))
                out_escaped(o, "quotactl reached the kernel");
        out_blocked(o, errno, "no quotactl");
}

static void case_privileged_calls(struct outcome *o)
{
        struct {
                const char *name;
                long result;
                int err;
        } tries[6];
        size_t n = 0;
#define TRY(what, call)                                                                            \
        do {                                                                                       \
                tries[n].name = what;                                                              \
                tries[n].result = (call);                                                          \
                tries[n++].err = errno;                                                            \
        } while (0)
        TRY("init_module", syscall(SYS_init_module, NULL, 0UL, ""));
        TRY("finit_module", syscall(SYS_finit_module, -1, "", 0));
        TRY("delete_module", syscall(SYS_delete_module, "ostiary-no-such-module", O_NONBLOCK));
        TRY("swapon", syscall(SYS_swapon, "/nonexistent-ostiary", 0));
        TRY("acct", syscall(SYS_acct, "/nonexistent-ostiary"));
        TRY("kexec_load", syscall(SYS_kexec_load, 0UL, 99UL, NULL, 0xffff0000UL));
#undef TRY
        for (size_t i = 0; i < n; i++)
                if (tries[i].result == 0 || (tries[i].err != EPERM && tries[i].err != ENOSYS))
                        out_escaped(o, "%s passed the check of rights (%s)", tries[i].name,
                                    errno_name(tries[i].err));
        out_blocked(o, tries[0].err, "no module, no swap, no accounting, no other kernel");
}

/* The "shocker": a handle made from an inode number opens any file of the same file system. */
static void case_handle(struct outcome *o)
{
        struct {
                struct file_handle h;
                unsigned char room[128];
        } handle = {.h.handle_bytes = 128};
        int mount_id, at = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int err = EPERM;

        if (name_to_handle_at(AT_FDCWD, ".", &handle.h, &mount_id, 0) == 0) {
                /* inode 2 is the root directory of the file system on ext4 */
                if (handle.h.handle_type == 1 && handle.h.handle_bytes >= 8)
                        memcpy(handle.h.f_handle, (unsigned[2]){2, 0}, 8);
                int fd = open_by_handle_at(at, &handle.h, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                err = errno;
                if (fd >= 0)
                        out_escaped(o, "a directory was opened by its handle, past every path");
        } else {
                err = errno;
        }
        if (syscall(SYS_open_by_handle_at, at, (void *)8, O_RDONLY) < 0 && errno == EFAULT)
                out_escaped(o, "the call reached the kernel (which itself answered %s)",
                            errno_name(err));
        out_blocked(o, err, "nothing opens by handle");
}

static void case_kernel_log(struct outcome *o)
{
        static char text[65536];
        int n = (int)syscall(SYS_syslog, 3 /* read all */, text, sizeof text);
        int err = errno;
        int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

        if (n > 0)
                out_escaped(o, "%d bytes of the host's kernel log were read", n);
        if (fd >= 0 && read(fd, text, sizeof text) > 0)
                out_escaped(o, "/dev/kmsg was read");
        if (fd >= 0)
                close(fd);
        out_blocked(o, n < 0 ? err : EPERM, "the kernel log is out of reach");
}

/* Not a time: nanoseconds beyond a second. EINVAL comes before the right is asked for. */
static void case_clock(struct outcome *o)
{
        struct timespec bad = {.tv_sec = 1, .tv_nsec = 2000000000};
        struct timex step = {.modes = ADJ_TICK, .tick = 1};

        if (syscall(SYS_clock_settime, CLOCK_REALTIME, &bad) < 0 && errno == EINVAL)
                out_escaped(o, "clock_settime reached the kernel (and refused a false time)");
        int err = errno;
        if (syscall(SYS_adjtimex, &step) < 0 && errno == EINVAL)
                out_escaped(o, "adjtimex passed the check of rights (and refused a false tick)");
        out_blocked(o, err, "the clock cannot be set");
}

const struct attack_case boot_cases[] = {
        {"15", "reboot", CRASH, SURFACE, 0, case_reboot, "seccomp+caps", "seccomp+caps"},
        {"15q", "quotactl", CRASH, SURFACE, 0, case_quotactl, "seccomp", "seccomp"},
        {"15k", "modules, swap, accounting, kexec", CRASH, SURFACE, 0, case_privileged_calls,
         "kernel", "kernel"},
        {"16", "open_by_handle_at", READ, SURFACE, 0, case_handle, "seccomp", "seccomp"},
        {"19", "the kernel log", READ, REAL, 0, case_kernel_log, "seccomp?", "seccomp?"},
        {"39", "the clock is set", CRASH, SURFACE, 0, case_clock, "seccomp", "seccomp"},
        {0},
};
