/* share.c - what a box shares with its owner's other programs: counters that the kernel keeps per
 * user, files that others wait for, and pid 1, which has the box's user id and serves the owner.
 *
 * These run with the default limits, as a plain box does. Nothing is held for longer than a case
 * takes, and what is set is set to what it was. */
#include "attack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* More than half of what the owner has in all is more than a share. */
static void case_inotify_instances(struct outcome *o)
{
        enum { MOST = 4000 };
        char text[32] = "";
        int n = 0;
        slurp("/proc/sys/fs/inotify/max_user_instances", text, sizeof text);
        int all = atoi(text), err = 0;
        if (all <= 0 || all > MOST) {
                out_na(o, "the machine's limit of instances is %d", all);
                return;
        }
        while (n < all && inotify_init1(IN_CLOEXEC) >= 0)
                n++;
        err = errno;
        if (n > all / 2)
                out_escaped(o, "%d of the owner's %d inotify instances were taken", n, all);
        out_blocked(o, err, "%d of the owner's %d inotify instances were had", n, all);
}

/* The next program of the host that opens the file for writing would wait for us. */
static void case_lease(struct outcome *o)
{
        int fd = open("/tmp/attack-lease", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0) {
                out_na(o, "no file can be made (%s)", errno_name(errno));
                return;
        }
        if (fcntl(fd, F_SETLEASE, F_WRLCK) == 0)
                out_escaped(o, "a write lease on a file was given");
        int err = errno;
        if (fcntl(fd, F_NOTIFY, DN_CREATE) == 0 || errno == ENOTDIR)
                out_escaped(o, "dnotify, which nothing counts, was reached");
        unlink("/tmp/attack-lease");
        out_blocked(o, err, "leases and dnotify are refused");
}

/* 64 such pipes are all that a user has (fs.pipe-user-pages-soft). */
static void case_pipe_size(struct outcome *o)
{
        int p[2];
        if (pipe2(p, O_CLOEXEC) < 0) {
                out_na(o, "no pipe can be made (%s)", errno_name(errno));
                return;
        }
        if (fcntl(p[1], F_SETPIPE_SZ, 1 << 20) >= 0)
                out_escaped(o, "a pipe of 1 MiB was had");
        out_blocked(o, errno, "a pipe of 1 MiB is refused");
}

/* pid 1 starts what the owner asks for. Whatever slows it down or takes its descriptors away is the
 * end of `exec` and `cp`. */
static void case_first_process(struct outcome *o)
{
        struct rlimit l;
        struct sched_param zero = {0};
        cpu_set_t cpus;
        long ioprio = syscall(SYS_ioprio_get, 1, 1);
        if (prlimit(1, RLIMIT_NOFILE, NULL, &l) == 0 && prlimit(1, RLIMIT_NOFILE, &l, NULL) == 0)
                out_escaped(o, "the limits of pid 1 can be set");
        int err = errno;
        if (sched_getaffinity(1, sizeof cpus, &cpus) == 0 &&
            sched_setaffinity(1, sizeof cpus, &cpus) == 0)
                out_escaped(o, "the processors of pid 1 can be set");
        if (sched_setscheduler(1, SCHED_OTHER, &zero) == 0)
                out_escaped(o, "the scheduling of pid 1 can be set");
        if (setpriority(PRIO_PROCESS, 1, getpriority(PRIO_PROCESS, 1)) == 0)
                out_escaped(o, "the priority of pid 1 can be set");
        if (setpriority(PRIO_USER, getuid(), getpriority(PRIO_PROCESS, 0)) == 0)
                out_escaped(o, "the priority of all processes of the user can be set");
        if (ioprio >= 0 && syscall(SYS_ioprio_set, 1, 1, (int)ioprio) == 0)
                out_escaped(o, "the I/O priority of pid 1 can be set");
        out_blocked(o, err, "no call changes pid 1");
}

/* Files of /proc that a box may read. The rest is the machine's. */
static bool is_for_boxes(const char *name)
{
        static const char *const good[] = {
                "cpuinfo", "filesystems", "loadavg", "meminfo", "mounts",  "net",        "self",
                "stat",    "sys",         "sysvipc", "uptime",  "version", "thread-self"};
        for (size_t i = 0; i < sizeof good / sizeof *good; i++)
                if (strcmp(name, good[i]) == 0)
                        return true;
        return name[0] == '.' || (name[0] >= '0' && name[0] <= '9');
}

static void case_proc_files(struct outcome *o)
{
        DIR *d = opendir("/proc");
        char path[300], text[64];
        int n = 0;
        for (struct dirent *e; d && (e = readdir(d));) {
                if (is_for_boxes(e->d_name))
                        continue;
                snprintf(path, sizeof path, "/proc/%s", e->d_name);
                n++;
                DIR *in = opendir(path);
                struct dirent *child = NULL;
                while (in && (child = readdir(in)) && child->d_name[0] == '.')
                        ;
                if (child)
                        out_escaped(o, "%s has %s in it", path, child->d_name);
                if (in)
                        closedir(in);
                else if (slurp(path, text, sizeof text) > 0)
                        out_escaped(o, "%s says: %.20s", path, text);
        }
        if (d)
                closedir(d);
        out_blocked_why(o, "EMPTY", "%d files of the machine say nothing", n);
}

/* Room on the disk that is reserved and not written takes no time: nobody could be quick enough. */
static void case_reserve(struct outcome *o)
{
        int fd = open("attack-reserve", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0) {
                out_na(o, "no file can be made (%s)", errno_name(errno));
                return;
        }
        int err = 0;
        for (int mode = 0; mode < 0x80; mode++) {
                if (mode & 2 || mode & 8)
                        continue; /* gives room back */
                struct stat st = {0};
                if (fallocate(fd, mode, 0, 8 << 20) == 0 && fstat(fd, &st) == 0 && st.st_blocks)
                        out_escaped(o, "%lld blocks were reserved in one call (mode %d)",
                                    (long long)st.st_blocks, mode);
                err = errno;
        }
        unlink("attack-reserve");
        close(fd);
        out_blocked(o, err, "room is had by writing only");
}

/* All of the machine, root included, has one budget of these. */
static void case_aio(struct outcome *o)
{
        unsigned long ring = 0;
        if (syscall(SYS_io_setup, 128, &ring) == 0) {
                syscall(SYS_io_destroy, ring);
                out_escaped(o, "a ring of asynchronous I/O was had");
        }
        out_blocked(o, errno, "asynchronous I/O is refused");
}

/* Pages that somebody set aside for a database or a virtual machine. */
static void case_huge_pages(struct outcome *o)
{
        int fd = (int)syscall(SYS_memfd_create, "attack", 4u | 1u); /* MFD_HUGETLB */
        int err = errno;
        if (fd >= 0)
                out_escaped(o, "a file of huge pages was had");
        void *at = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
        if (at != MAP_FAILED)
                out_escaped(o, "a huge page was had");
        out_blocked(o, err, "huge pages are refused");
}

/* A thread with descriptors of its own is one whose descriptors /proc/PID/fd does not list. */
static void case_hidden_fds(struct outcome *o)
{
        if (unshare(CLONE_FILES) == 0)
                out_escaped(o, "unshare gives a thread a table of descriptors of its own");
        int err = errno;
        if (syscall(SYS_close_range, 1000u, 1000u, 2u) == 0)
                out_escaped(o, "close_range does");
        out_blocked(o, err, "the descriptors of a process are in one table");
}

const struct attack_case share_cases[] = {
        {"R11", "all inotify instances of the owner", STARVE, REAL, 0, case_inotify_instances,
         "userns-limits", "userns-limits"},
        {"R12", "leases and dnotify", STARVE, REAL, 0, case_lease, "seccomp", "seccomp"},
        {"R13", "large pipes", STARVE, REAL, 0, case_pipe_size, "seccomp", "seccomp"},
        {"R14", "limits and priority of pid 1", STARVE, REAL, 0, case_first_process, "seccomp",
         "seccomp"},
        {"R15", "files of /proc that speak for the machine", READ, REAL, 0, case_proc_files,
         "masks", "masks"},
        {"R16", "a disk reserved in one call", STARVE, REAL, 0, case_reserve, "seccomp", "seccomp"},
        {"R17", "the machine's asynchronous I/O", STARVE, REAL, 0, case_aio, "seccomp", "seccomp"},
        {"R18", "descriptors that /proc does not list", STARVE, STATE, 0, case_hidden_fds,
         "seccomp", "seccomp"},
        {"R19", "huge pages that others were promised", STARVE, REAL, 0, case_huge_pages, "seccomp",
         "seccomp"},
        {0},
};
