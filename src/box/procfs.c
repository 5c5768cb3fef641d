/* procfs.c - a fresh /proc that shows only the box's processes, with the parts that speak for the
 * whole machine masked, and a /sys that holds the few lines programs read and nothing of the host.
 */
#include "box/step.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "box/mnt.h"
#include "box/weak.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

/* Read-only: cases 20, 21. */
static const char *const read_only[] = {"sys"};
/* Besides processes this is all of /proc that a box sees: what programs read to know how much
 * machine there is, and what belongs to the box's own namespaces. Whatever else a kernel has there
 * speaks for the whole machine (its locks, interrupts, disks, command line, keys: cases 9, 20, R15)
 * and is hidden, known to us or not. */
static const char *const shown[] = {"cpuinfo", "filesystems", "loadavg",    "meminfo", "mounts",
                                    "net",     "self",        "stat",       "sys",     "sysvipc",
                                    "uptime",  "version",     "thread-self"};

static int mask_read_only(int proc_fd, const char *name, struct err *err)
{
        _cleanup_close_ int at = openat(proc_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (at < 0)
                return errno == ENOENT ? 0 : err_sys(err, "open /proc/%s", name);
        _cleanup_close_ int mnt =
                mnt_clone(at, "", false, MNT_SAFE | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY, err);
        if (mnt < 0 || mnt_attach(mnt, at, err) < 0)
                return err_add(err, "make /proc/%s read-only", name);
        return 0;
}

static int mask_with(int proc_fd, const char *name, int over_fd, uint64_t flags, struct err *err)
{
        _cleanup_close_ int at = openat(proc_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (at < 0)
                return errno == ENOENT ? 0 : err_sys(err, "open /proc/%s", name);
        _cleanup_close_ int mnt = mnt_clone(over_fd, "", false, flags | MOUNT_ATTR_RDONLY, err);
        if (mnt < 0 || mnt_attach(mnt, at, err) < 0)
                return err_add(err, "hide /proc/%s", name);
        return 0;
}

static bool is_shown(const char *name)
{
        if (name[0] == '.' || (name[0] >= '0' && name[0] <= '9'))
                return true;
        for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
                if (strcmp(name, shown[i]) == 0)
                        return true;
        return false;
}

static int mask(struct build *b, int proc_fd, struct err *err)
{
        for (size_t i = 0; i < sizeof read_only / sizeof *read_only; i++)
                if (mask_read_only(proc_fd, read_only[i], err) < 0)
                        return -1;

        /* case 22: what we mask with must really be the null device. */
        _cleanup_close_ int null_fd = beneath_open_nosym(b->root_fd, "dev/null", O_PATH, 0, err);
        struct stat st;
        if (null_fd < 0)
                return -1;
        if (fstat(null_fd, &st) < 0 || !S_ISCHR(st.st_mode) || st.st_rdev != makedev(1, 3))
                return err_set(err, E_MACHINE, "the mask is not the null device");
        _cleanup_closedir_ DIR *d = fdio_opendir(proc_fd);
        if (!d)
                return err_sys(err, "list /proc");
        for (struct dirent *e; (e = readdir(d));) {
                struct stat is;
                if (is_shown(e->d_name) ||
                    fstatat(proc_fd, e->d_name, &is, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                int r = S_ISDIR(is.st_mode) ? mask_with(proc_fd, e->d_name, b->empty_fd,
                                                        MNT_SAFE | MOUNT_ATTR_NOEXEC, err)
                                            : mask_with(proc_fd, e->d_name, null_fd, 0, err);
                if (r < 0)
                        return -1;
        }
        return 0;
}

/* The lines of /sys that language runtimes look at to count processors. */
static int make_sys(struct build *b, struct err *err)
{
        static const char *const names[] = {"online", "possible", "present"};
        _cleanup_close_ int cpu = beneath_mkdirs(b->root_fd, "sys/devices/system/cpu", 0755, err);
        if (cpu < 0)
                return -1;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                char path[64], words[256] = "";
                snprintf(path, sizeof path, "/sys/devices/system/cpu/%s", names[i]);
                _cleanup_close_ int from = open(path, O_RDONLY | O_CLOEXEC);
                if (from < 0 || read(from, words, sizeof words - 1) <= 0)
                        continue;
                _cleanup_close_ int to =
                        openat(cpu, names[i], O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0444);
                if (to < 0 || fdio_write_all(to, words, strlen(words)) < 0)
                        return err_sys(err, "write %s", path);
        }
        return 0;
}

int step_proc(struct build *b, struct err *err)
{
        /* A fresh proc shows a pid namespace of our own; without one there is only the host's. */
        _cleanup_close_ int proc =
                box_weak(WEAK_PIDNS) ? mnt_clone(AT_FDCWD, "/proc", true, MNT_SAFE, err)
                                     : mnt_make("proc", MNT_SAFE | MOUNT_ATTR_NOEXEC, err, NULL);
        if (proc < 0) {
                if (err->sys == EPERM) {
                        err->code = E_MACHINE;
                        return err_hint(err, "the /proc that is visible here is partly masked: are "
                                             "we inside another container?");
                }
                return -1;
        }
        struct statfs fs;
        if (fstatfs(proc, &fs) < 0 || fs.f_type != PROC_SUPER_MAGIC)
                return err_set(err, E_MACHINE, "the new /proc is not a proc filesystem");
        _cleanup_close_ int on = step_target(b, "/proc", true, err);
        if (on < 0 || mnt_attach(proc, on, err) < 0)
                return err_add(err, "mount /proc");
        if (!box_weak(WEAK_MASKS) && mask(b, proc, err) < 0)
                return -1;
        return make_sys(b, err);
}
