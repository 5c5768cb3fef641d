/* mount.c - cases 5, 24, 25, 26: mounts of every kind, control groups, device nodes.
 *
 * A mount that succeeds here is seen by the harness in the host's mount table if it leaks
 * ("ostiary-attack-26"); it goes away with the box's namespace, or is taken off at once. */
#include "attack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

static void case_new_mount_api(struct outcome *o)
{
        long fd = syscall(SYS_fsopen, "tmpfs", 0);
        int err = errno;

        if (fd >= 0)
                out_escaped(o, "fsopen made a file system context");
        fd = syscall(SYS_open_tree, AT_FDCWD, "/", 1 /* OPEN_TREE_CLONE */ | AT_RECURSIVE);
        if (fd >= 0)
                out_escaped(o, "open_tree cloned the whole tree");
        /* An empty change: success alters nothing, and needs the same right as making /usr
         * writable. */
        struct {
                unsigned long set, clr, propagation, userns_fd;
        } nothing = {0};
        if (syscall(SYS_mount_setattr, AT_FDCWD, "/usr", 0, &nothing, sizeof nothing) == 0)
                out_escaped(o, "mount_setattr was carried out");
        if (syscall(SYS_move_mount, -1, "", -1, "", 0) < 0 && errno == EBADF)
                out_escaped(o, "move_mount reached the mount code");
        out_blocked(o, err, "no file system context, no cloned tree");
}

/* try_mount(out, source, type, data, dir): mount, look, take off. Returns 0 when it was mounted. */
static int try_mount(const char *source, const char *type, const char *data, const char *dir)
{
        if (mount(source, dir, type, MS_NOSUID | MS_NODEV | MS_NOEXEC, data) < 0)
                return -1;
        /* Long enough for the harness, which polls the host's mount table, to see a leak. */
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
        umount2(dir, MNT_DETACH);
        return 0;
}

static char *mount_point(char dir[static 64])
{
        snprintf(dir, 64, "/tmp/attack-mnt-XXXXXX");
        return mkdtemp(dir);
}

/* cgroup_visible(out): is a control-group tree already there, and can its release agent be set? */
static void cgroup_visible(struct outcome *o)
{
        static char text[65536];
        char point[256], path[320];
        long n = slurp("/proc/self/mountinfo", text, sizeof text);

        for (char *line = n > 0 ? text : NULL; line && *line;) {
                char *end = strchr(line, '\n');
                if (end)
                        *end = 0;
                if (strstr(line, " - cgroup") &&
                    sscanf(line, "%*s %*s %*s %*s %255s", point) == 1) {
                        static const char *const files[] = {"release_agent", "notify_on_release",
                                                            "cgroup.procs"};
                        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
                                snprintf(path, sizeof path, "%s/%s", point, files[i]);
                                int fd = open(path, O_WRONLY | O_CLOEXEC);
                                if (fd >= 0)
                                        out_escaped(o, "%s can be opened for writing", path);
                        }
                }
                line = end ? end + 1 : NULL;
        }
}

static void case_cgroup(struct outcome *o)
{
        static const char *const v1[] = {"pids", "memory", "cpu", "devices", "none,name=systemd"};
        char dir[64];

        cgroup_visible(o);
        if (!mount_point(dir)) {
                out_na(o, "no directory to mount on");
                return;
        }
        int err = 0;
        if (try_mount("cgroup2", "cgroup2", NULL, dir) == 0)
                out_escaped(o, "the control-group tree (v2) was mounted");
        else
                err = errno;
        for (size_t i = 0; i < sizeof v1 / sizeof *v1; i++)
                if (try_mount("cgroup", "cgroup", v1[i], dir) == 0)
                        out_escaped(o, "the control-group tree (v1, %s) was mounted", v1[i]);
        rmdir(dir);
        out_blocked(o, err, "no control-group tree in reach");
}

/* expected_device(st): the harmless devices that every program may have. */
static bool expected_device(const struct stat *st)
{
        unsigned maj = major(st->st_rdev), min = minor(st->st_rdev);

        if (!S_ISCHR(st->st_mode))
                return false;
        return (maj == 1 && (min == 3 || min == 5 || min == 7 || min == 8 || min == 9)) ||
               (maj == 5 && (min == 0 || min == 1 || min == 2)) || maj == 136;
}

static void case_devices(struct outcome *o)
{
        char path[320];
        struct stat st;
        DIR *d = opendir("/dev");

        /* major 1 minor 11 is the kernel log, 1:1 was memory, 254:0 or 8:0 a disk */
        const dev_t wanted[] = {makedev(1, 11), makedev(1, 1), makedev(254, 0), makedev(8, 0)};
        int err = EPERM;
        snprintf(path, sizeof path, "attack-node-%d", (int)getpid());
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
                if (mknod(path, (i > 1 ? S_IFBLK : S_IFCHR) | 0600, wanted[i]) == 0) {
                        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
                        unlink(path);
                        if (fd >= 0)
                                out_escaped(o, "a device node was made and opened");
                        err = errno;
                } else {
                        err = errno;
                }
        }
        for (struct dirent *e; d && (e = readdir(d));) {
                snprintf(path, sizeof path, "/dev/%s", e->d_name);
                if (lstat(path, &st) < 0 || !(S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)))
                        continue;
                if (expected_device(&st))
                        continue;
                int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
                if (fd >= 0)
                        out_escaped(o, "%s of the host can be opened", path);
                if (fd >= 0)
                        close(fd);
        }
        if (d)
                closedir(d);
        out_blocked(o, err, "no device node can be made, /dev holds only harmless ones");
}

static void case_mount(struct outcome *o)
{
        char dir[64];

        if (!mount_point(dir)) {
                out_na(o, "no directory to mount on");
                return;
        }
        if (try_mount("ostiary-attack-26m", "tmpfs", "size=64k", dir) == 0)
                out_escaped(o, "a file system was mounted");
        int err = errno;
        rmdir(dir);
        out_blocked(o, err, "nothing can be mounted");
}

/* Whether the mount leaks is seen from the host alone: the harness turns this into an escape when
 * its own mount table shows the name. */
static void case_propagation(struct outcome *o)
{
        mkdir("attack-mnt", 0700);
        if (try_mount("ostiary-attack-26", "tmpfs", "size=64k", "attack-mnt") < 0)
                out_blocked(o, errno, "nothing can be mounted on the workspace");
        else
                out_blocked_why(o, "PRIVATE", "mounted on the workspace, in the box alone");
        rmdir("attack-mnt");
}

const struct attack_case mount_cases[] = {
        {"5", "the new mount calls", EXEC, SURFACE, 0, case_new_mount_api, "seccomp+caps",
         "seccomp+caps"},
        {"24", "control-group tree and its release agent", EXEC, SURFACE, 0, case_cgroup,
         "seccomp+caps+landlock", "seccomp+caps+landlock"},
        {"25", "device nodes: made, or left in /dev", READ, REAL, 0, case_devices, "kernel",
         "kernel"},
        {"26", "a mount of the box spreads to the host", WRITE, REAL, BY_HOST, case_propagation,
         "-", "seccomp+caps+landlock+propagation"},
        {"26m", "a file system mounted inside", WRITE, SURFACE, 0, case_mount,
         "seccomp+caps+landlock", "seccomp+caps+landlock"},
        {0},
};
