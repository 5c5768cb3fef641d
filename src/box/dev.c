/* dev.c - a /dev of the box's own: six harmless nodes, its own ptys and message queues, and nothing
 * of the host's hardware (/dev/shm is a piece of the stage, see root.c). Bound by descriptor and
 * checked to be the device meant (case 22). */
#include "box/step.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "box/mnt.h"
#include "box/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static const struct {
        const char *name;
        unsigned major, minor;
} nodes[] = {
        {"null", 1, 3}, {"zero", 1, 5},    {"full", 1, 7},
        {"tty", 5, 0},  {"urandom", 1, 9}, {"random", 1, 8},
};

static const struct {
        const char *name, *target;
} links[] = {
        {"fd", "/proc/self/fd"},       {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"},
        {"stderr", "/proc/self/fd/2"}, {"ptmx", "pts/ptmx"},
};

static int bind_node(int dev_fd, size_t i, struct err *err)
{
        char path[32];
        snprintf(path, sizeof path, "/dev/%s", nodes[i].name);
        _cleanup_close_ int mnt = mnt_clone(AT_FDCWD, path, false, 0, err);
        struct stat st;
        if (mnt < 0)
                return -1;
        if (fstat(mnt, &st) < 0 || !S_ISCHR(st.st_mode) ||
            st.st_rdev != makedev(nodes[i].major, nodes[i].minor))
                return err_set(err, E_MACHINE, "%s is not the device it should be", path);
        _cleanup_close_ int to =
                openat(dev_fd, nodes[i].name, O_CREAT | O_EXCL | O_RDONLY | O_CLOEXEC, 0644);
        if (to < 0)
                return err_sys(err, "create %s", path);
        return mnt_attach(mnt, to, err);
}

/* dev_mqueue(b, err): the queues of the box's own IPC namespace. Programs open them by a system call
 * and not by path, but Landlock judges them by their directory: it needs one to name in a rule. */
static int dev_mqueue(struct build *b, struct err *err)
{
        struct err why = {0};
        if (box_weak(WEAK_IPCNS))
                return 0; /* they would be the host's, which may not be mounted */
        _cleanup_close_ int queues = mnt_make(
                "mqueue", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NODEV, &why, NULL);
        if (queues < 0)
                return errno == ENODEV ? 0 : err_set(err, E_MACHINE, "%s", why.text);
        _cleanup_close_ int on = step_target(b, "/dev/mqueue", true, err);
        if (on < 0 || mnt_attach(queues, on, err) < 0)
                return err_add(err, "mount /dev/mqueue");
        return 0;
}

int step_dev(struct build *b, struct err *err)
{
        /* The directory is part of the root tmpfs and becomes read-only with it. */
        _cleanup_close_ int dev = step_target(b, "/dev", true, err);
        if (dev < 0)
                return -1;
        for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
                if (bind_node(dev, i, err) < 0)
                        return -1;
        for (size_t i = 0; i < sizeof links / sizeof *links; i++)
                if (symlinkat(links[i].target, dev, links[i].name) < 0)
                        return err_sys(err, "link /dev/%s", links[i].name);

        _cleanup_close_ int pts =
                mnt_make("devpts", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, err, "newinstance", NULL,
                         "ptmxmode", "0666", "mode", "0620", "max", "256", NULL);
        if (pts < 0)
                return -1;
        _cleanup_close_ int pts_on = step_target(b, "/dev/pts", true, err);
        if (pts_on < 0 || mnt_attach(pts, pts_on, err) < 0)
                return err_add(err, "mount /dev/pts");
        return dev_mqueue(b, err);
}
