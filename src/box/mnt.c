/* mnt.c - see mnt.h. */
#include "box/mnt.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "box/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

/* fs_log(fs, words, n): the kernel's own sentence about a failed fsconfig, which says far more than
 * EINVAL does. */
static void fs_log(int fs, char *words, size_t n)
{
        words[0] = 0;
        ssize_t r = read(fs, words, n - 1);
        if (r <= 0)
                return;
        words[r] = 0;
        words[strcspn(words, "\n")] = 0;
        if (words[0] && words[1] == ' ') /* "e overlay: ..." */
                memmove(words, words + 2, strlen(words + 2) + 1);
}

/* attrs_of(attrs): as asked, but for the test build that leaves nosuid out (case 8). */
static uint64_t attrs_of(uint64_t attrs)
{
        return box_weak(WEAK_NOSUID) ? attrs & ~(uint64_t)MOUNT_ATTR_NOSUID : attrs;
}

int mnt_make(const char *fs, uint64_t attrs, struct err *err, ...)
{
        _cleanup_close_ int ctx = fsopen(fs, FSOPEN_CLOEXEC);
        if (ctx < 0)
                return err_sys(err, "open the filesystem %s", fs);

        va_list ap;
        va_start(ap, err);
        const char *key;
        int r = 0;
        while (r == 0 && (key = va_arg(ap, const char *))) {
                const char *value = va_arg(ap, const char *);
                r = fsconfig(ctx, value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG, key, value, 0);
        }
        va_end(ap);
        if (r == 0)
                r = fsconfig(ctx, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
        if (r < 0) {
                char words[256];
                int saved = errno;
                fs_log(ctx, words, sizeof words);
                errno = saved;
                err_sys(err, "mount a new %s", fs);
                return words[0] ? err_hint(err, "%s", words) : -1;
        }
        int mnt = fsmount(ctx, FSMOUNT_CLOEXEC, (unsigned)attrs_of(attrs));
        return mnt < 0 ? err_sys(err, "mount %s", fs) : mnt;
}

int mnt_overlay_ro(int top_fd, int bottom_fd, struct err *err)
{
        char lower[64];
        snprintf(lower, sizeof lower, "/proc/self/fd/%d:/proc/self/fd/%d", top_fd, bottom_fd);
        return mnt_make("overlay", MNT_SAFE | MOUNT_ATTR_RDONLY, err, "lowerdir", lower,
                        "userxattr", NULL, NULL);
}

int mnt_set(int fd, uint64_t attrs, struct err *err)
{
        struct mount_attr a = {.attr_set = attrs_of(attrs)};
        if (mount_setattr(fd, "", AT_EMPTY_PATH, &a, sizeof a) < 0)
                return err_sys(err, "set mount flags");
        return 0;
}

int mnt_clone(int dir_fd, const char *path, bool is_recursive, uint64_t attrs, struct err *err)
{
        unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
        flags |= is_recursive ? AT_RECURSIVE : 0;
        flags |= path[0] ? 0 : AT_EMPTY_PATH;
        _cleanup_close_ int mnt = open_tree(dir_fd, path, flags);
        if (mnt < 0)
                return err_sys(err, "clone the mount of %s", path[0] ? path : "a descriptor");
        /* case 26: a copy of a shared mount is shared as well, and what the host mounts in the
         * original later would show up in the box. By root the copy is made outside of the box. */
        struct mount_attr a = {.attr_set = attrs_of(attrs),
                               .propagation = box_weak(WEAK_PROPAGATION) ? 0 : MS_PRIVATE};
        /* In the box's own namespace everything is private already (step_private). */
        bool is_inside = getpid() == 1;
        if ((a.attr_set || !is_inside) &&
            mount_setattr(mnt, "", AT_EMPTY_PATH | (is_recursive ? AT_RECURSIVE : 0), &a,
                          sizeof a) < 0)
                return err_sys(err, "set the mount flags of %s", path[0] ? path : "a descriptor");
        return take_fd(&mnt);
}

int mnt_source(const char *path, struct err *err)
{
        struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
        int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
        if (fd >= 0)
                return fd;
        err_sys(err, "open %s", path);
        return err->sys == ELOOP ? err_hint(err, "it was replaced by a symlink while the box was "
                                                 "being made")
                                 : -1;
}

int mnt_attach(int mnt_fd, int to_fd, struct err *err)
{
        if (move_mount(mnt_fd, "", to_fd, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) <
            0)
                return err_sys(err, "attach a mount");
        return 0;
}
