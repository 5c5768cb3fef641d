/* mnt_overlay.c - the writable overlays of a box: a host directory, frozen layers over it, and an
 * upper (see mnt.h). Called by trees.c as the process that becomes pid 1.
 *
 * A list of lower directories is given one by one ("lowerdir+", Linux 6.8). Before that it is one
 * string, and fsconfig takes no more than 255 bytes of it; a longer one goes through mount(2),
 * which takes a page. */
#include "box/mnt.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STRING_MAX = 255, PAGE_MAX = 4000 };

/* Where it is written; NULL in both: nowhere. volatile: the box's own fsync need not reach the disk;
 * the layers are only worth something after the box ended, and what is applied to the host is
 * synced then. */
struct written {
        const char *upper, *work;
};

static int one_by_one(int ctx, const int *lowers, size_t n)
{
        char path[40];
        for (size_t i = 0; i < n; i++) {
                snprintf(path, sizeof path, "/proc/self/fd/%d", lowers[i]);
                if (fsconfig(ctx, FSCONFIG_SET_STRING, "lowerdir+", path, 0) < 0)
                        return -1;
        }
        return 0;
}

static uint64_t attrs_of(const struct written *w)
{
        return w->upper ? MNT_SAFE : MNT_SAFE | MOUNT_ATTR_RDONLY;
}

/* set_written(ctx, w): where the overlay of a context is written. */
static int set_written(int ctx, const struct written *w)
{
        if (fsconfig(ctx, FSCONFIG_SET_FLAG, "userxattr", NULL, 0) < 0)
                return -1;
        if (!w->upper)
                return 0;
        return fsconfig(ctx, FSCONFIG_SET_STRING, "upperdir", w->upper, 0) < 0 ||
                               fsconfig(ctx, FSCONFIG_SET_STRING, "workdir", w->work, 0) < 0 ||
                               fsconfig(ctx, FSCONFIG_SET_FLAG, "volatile", NULL, 0) < 0
                       ? -1
                       : 0;
}

/* many(lowers, n, w, is_old, err): as above, through a context of our own. */
static int many(const int *lowers, size_t n, const struct written *w, bool *is_old, struct err *err)
{
        _cleanup_close_ int ctx = fsopen("overlay", FSOPEN_CLOEXEC);
        if (ctx < 0)
                return err_sys(err, "open the filesystem overlay");
        if (one_by_one(ctx, lowers, n) < 0) {
                *is_old = errno == EINVAL;
                return err_sys(err, "list the layers of an overlay");
        }
        if (set_written(ctx, w) < 0 || fsconfig(ctx, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
                return err_sys(err, "mount an overlay of %zu layers", n);
        int mnt = fsmount(ctx, FSMOUNT_CLOEXEC, (unsigned)attrs_of(w));
        return mnt < 0 ? err_sys(err, "mount overlay") : mnt;
}

/* by_mount(options, attrs, stage_fd, err): attach it beside the new root, take a copy, take it off. */
static int by_mount(const char *options, uint64_t attrs, int stage_fd, struct err *err)
{
        char place[48];
        if (mkdirat(stage_fd, "overlay", 0700) < 0 && errno != EEXIST)
                return err_sys(err, "make a place for an overlay");
        _cleanup_close_ int on = openat(stage_fd, "overlay", O_PATH | O_NOFOLLOW | O_CLOEXEC);
        snprintf(place, sizeof place, "/proc/self/fd/%d", on);
        if (on < 0 || mount("overlay", place, "overlay", MS_NOSUID | MS_NODEV, options) < 0)
                return err_sys(err, "mount a new overlay");
        int mnt = mnt_clone(stage_fd, "overlay", false, attrs, err);
        snprintf(place, sizeof place, "/proc/self/fd/%d/overlay", stage_fd);
        umount2(place, MNT_DETACH);
        return mnt;
}

/* by_string(list, w, err): a list that is short enough for fsconfig. */
static int by_string(const char *list, const struct written *w, struct err *err)
{
        if (!w->upper)
                return mnt_make("overlay", attrs_of(w), err, "lowerdir", list, "userxattr", NULL,
                                NULL);
        return mnt_make("overlay", attrs_of(w), err, "lowerdir", list, "upperdir", w->upper,
                        "workdir", w->work, "userxattr", NULL, "volatile", NULL, NULL);
}

static int overlay(const int *lowers, size_t n, const struct written *w, int stage_fd,
                   struct err *err)
{
        _cleanup_buf_ struct buf list = {.max = PAGE_MAX};
        for (size_t i = 0; i < n; i++)
                buf_put_fmt(&list, "%s/proc/self/fd/%d", i ? ":" : "", lowers[i]);
        if (!list.is_broken && list.len <= STRING_MAX)
                return by_string(buf_cstr(&list), w, err);
        bool is_old = false;
        int mnt = many(lowers, n, w, &is_old, err);
        if (mnt >= 0 || !is_old)
                return mnt;
        buf_put_str(&list, ",userxattr");
        if (w->upper)
                buf_put_fmt(&list, ",upperdir=%s,workdir=%s,volatile", w->upper, w->work);
        if (list.is_broken)
                return err_set(err, E_MACHINE,
                               "this kernel takes no more than about 180 layers, and the box has "
                               "%zu",
                               n);
        _cleanup_buf_ struct buf options = {0};
        buf_put_fmt(&options, "lowerdir=%s", buf_cstr(&list));
        return by_mount(buf_cstr(&options), attrs_of(w), stage_fd, err);
}

int mnt_overlay_rw(const int *lowers, size_t n, int layer_fd, int stage_fd, struct err *err)
{
        char upper[40], work[40];
        snprintf(upper, sizeof upper, "/proc/self/fd/%d/upper", layer_fd);
        snprintf(work, sizeof work, "/proc/self/fd/%d/work", layer_fd);
        return overlay(lowers, n, &(struct written){.upper = upper, .work = work}, stage_fd, err);
}

int mnt_overlay_view(const int *lowers, size_t n, int stage_fd, struct err *err)
{
        return overlay(lowers, n, &(struct written){.upper = NULL}, stage_fd, err);
}
