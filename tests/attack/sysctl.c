/* sysctl.c - cases 20-22: kernel settings, the core-dump helper, the masked files of /proc.
 *
 * A setting that can be written gets its own value back. sysrq is only opened, never written. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

/* The first line is the box's own limit on nested namespaces: who writes it takes that wall down.
 * The next belong to its network and ipc namespace, the rest to the whole machine. */
static const char *const settings[] = {
        "/proc/sys/user/max_user_namespaces",
        "/proc/sys/user/max_net_namespaces",
        "/proc/sys/net/ipv4/ip_unprivileged_port_start",
        "/proc/sys/net/ipv4/ping_group_range",
        "/proc/sys/kernel/shmmax",
        "/proc/sys/kernel/hostname",
        "/proc/sys/kernel/randomize_va_space",
        "/proc/sys/kernel/modprobe",
        "/proc/sys/kernel/ns_last_pid",
        "/proc/sys/vm/overcommit_memory",
        "/proc/sys/vm/drop_caches",
        "/proc/sys/fs/binfmt_misc/register",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/kernel/uevent_helper",
        "/sys/power/state",
};

static void writes_any(struct outcome *o, const char *const *paths, size_t n)
{
        int err = 0;

        for (size_t i = 0; i < n; i++) {
                if (write_back(paths[i]) == 0)
                        out_escaped(o, "%s can be written", paths[i]);
                else if (i == 0 || !err)
                        err = errno;
        }
        out_blocked(o, err, "no setting can be written");
}

static void case_settings(struct outcome *o)
{
        writes_any(o, settings, sizeof settings / sizeof *settings);
}

/* Outside of /proc/sys nothing is left to the namespaces: only the kernel's uid 0 writes here. */
static void case_machine(struct outcome *o)
{
        static const char *const paths[] = {"/proc/irq/default_smp_affinity", "/proc/mtrr",
                                            "/proc/bus/pci/devices"};
        writes_any(o, paths, sizeof paths / sizeof *paths);
}

static void case_sysrq(struct outcome *o)
{
        if (planted_num("HOST_SYSRQ") == 0) {
                out_na(o, "this kernel has no sysrq-trigger");
                return;
        }
        int fd = open("/proc/sysrq-trigger", O_WRONLY | O_CLOEXEC);
        struct stat st;

        if (fd < 0) {
                out_blocked(o, errno, "sysrq-trigger cannot be opened for writing");
                return;
        }
        if (fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3))
                out_blocked_why(o, "NULL", "sysrq-trigger is the null device");
        else
                out_escaped(o, "sysrq-trigger was opened for writing");
        close(fd);
}

static void case_core_pattern(struct outcome *o)
{
        if (write_back("/proc/sys/kernel/core_pattern") == 0)
                out_escaped(o, "the helper that the host runs on a crash can be chosen");
        out_blocked(o, errno, "core_pattern cannot be written");
}

static int crash(void *arg)
{
        (void)arg;
        struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
        if (setrlimit(RLIMIT_CORE, &all) < 0) {
                getrlimit(RLIMIT_CORE, &all);
                all.rlim_cur = all.rlim_max;
                setrlimit(RLIMIT_CORE, &all);
        }
        getrlimit(RLIMIT_CORE, &all);
        /* Small enough to be no burden, and the wait status tells that a core was written. */
        if (all.rlim_cur > 65536) {
                all.rlim_cur = 65536;
                setrlimit(RLIMIT_CORE, &all);
        }
        return all.rlim_cur > 0 ? 42 : 0;
}

/* Where core_pattern names a program, the host runs it as root with the memory of whoever crashed:
 * a limit of zero is what keeps it from being started. */
static void case_core_size(struct outcome *o)
{
        if (in_child(crash, NULL) == 42)
                out_escaped(o, "a crash would write a core: the limit can be above zero");
        out_blocked_why(o, "ZERO", "the core size is zero and cannot be raised");
}

/* reads_any(out, paths, n): does one of these show something? */
static void reads_any(struct outcome *o, const char *const *paths, size_t n)
{
        static char buf[4096];
        int err = ENOENT;

        if (access("/proc/self/stat", R_OK) < 0) {
                out_na(o, "there is no /proc");
                return;
        }
        for (size_t i = 0; i < n; i++) {
                long got = slurp(paths[i], buf, sizeof buf);
                if (got < 0)
                        err = errno;
                else if (got > 0)
                        out_escaped(o, "%s shows the host", paths[i]);
        }
        out_blocked(o, err, "these files show nothing");
}

static void case_masked(struct outcome *o)
{
        static const char *const paths[] = {"/proc/kcore", "/proc/keys", "/proc/kmsg"};
        reads_any(o, paths, sizeof paths / sizeof *paths);
}

/* The kernel keeps these for its uid 0, which needs no capability to read them. */
static void case_root_files(struct outcome *o)
{
        static const char *const paths[] = {"/proc/timer_list", "/proc/slabinfo",
                                            "/proc/vmallocinfo", "/proc/pagetypeinfo"};
        reads_any(o, paths, sizeof paths / sizeof *paths);
}

const struct attack_case sysctl_cases[] = {
        {"20", "kernel settings written", WRITE, REAL, 0, case_settings, "masks+caps",
         "masks+caps"},
        {"20r", "the machine's interrupts and buses", WRITE, REAL, 0, case_machine, "kernel",
         "highuid+masks"},
        {"20s", "sysrq-trigger", CRASH, SURFACE, 0, case_sysrq, "kernel", "highuid+masks"},
        {"21", "core_pattern names a helper", EXEC, REAL, 0, case_core_pattern, "kernel",
         "highuid+masks"},
        {"21c", "a crash starts the host's core helper", EXEC, STATE, 0, case_core_size, "rlimits",
         "rlimits"},
        {"22", "masked files of /proc", READ, REAL, 0, case_masked, "masks", "masks"},
        {"22r", "files of /proc for uid 0", READ, REAL, 0, case_root_files, "kernel",
         "highuid+masks"},
        {0},
};
