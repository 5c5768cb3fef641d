/* root.c - the new root: a tmpfs that starts empty, gets a skeleton, and becomes read-only when the
 * old root is left behind. Nothing of the host is in it unless a later step puts it there. */
#include "box/step.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "box/mnt.h"
#include "box/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

int step_private(struct build *b, struct err *err)
{
        (void)b;
        /* case 26: nothing that is mounted here or on the host later may travel. The kernel has
         * made us a receiver already, because the user namespace is new; the weak build stays one.
         */
        if (!box_weak(WEAK_PROPAGATION) && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
                return err_sys(err, "make all mounts private");
        return 0;
}

int step_target(struct build *b, const char *path, bool is_dir, struct err *err)
{
        const char *rel = path + 1;
        if (is_dir)
                return beneath_mkdirs(b->root_fd, rel, 0755, err);

        char dir[4096];
        const char *slash = strrchr(rel, '/');
        const char *name = slash ? slash + 1 : rel;
        snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - rel) : 0, rel);
        _cleanup_close_ int at = beneath_mkdirs(b->root_fd, dir, 0755, err);
        if (at < 0)
                return -1;
        /* What is there may be a FIFO or a socket that is to be masked: it is not opened. */
        struct stat st;
        if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
                return beneath_open_nosym(at, name, O_PATH | O_NOFOLLOW, 0, err);
        _cleanup_close_ int made =
                openat(at, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (made < 0)
                return err_sys(err, "create %s", path);
        return beneath_open_nosym(at, name, O_PATH | O_NOFOLLOW, 0, err);
}

int step_tmpfs(struct build *b, const char *mode, struct err *err)
{
        unsigned long long memory = b->plan->limits.memory;
        char size[32], inodes[32];

        if (!memory)
                return mnt_make("tmpfs", MNT_SAFE, err, "mode", mode, "size", "50%", NULL);
        /* The kernel's own proportion, one inode for a page, because an inode costs memory too. */
        snprintf(size, sizeof size, "%llu", memory / 2);
        snprintf(inodes, sizeof inodes, "%llu", memory / 2 / 4096);
        return mnt_make("tmpfs", MNT_SAFE, err, "mode", mode, "size", size, "nr_inodes", inodes,
                        NULL);
}

/* One tmpfs is everything of the box that is neither on disk nor the host's: its root, /tmp,
 * /var/tmp, /run, /dev/shm, and while the box is built the places that things are mounted from. It
 * is mounted outside of the new root, so that it goes away with the old one; only its pieces stay.
 */
static const struct {
        const char *name, *path;
        mode_t mode;
} pieces[] = {
        {"root", NULL, 0755},       {"tmp", "/tmp", 01777}, {"vartmp", "/var/tmp", 01777},
        {"shm", "/dev/shm", 01777}, {"run", "/run", 0755},  {"empty", NULL, 0755},
        {"src", NULL, 0700},        {"layer", NULL, 0700},  {"etc", NULL, 0755},
};

static int make_stage(struct build *b, struct err *err)
{
        b->stage_fd = step_tmpfs(b, "0755", err);
        if (b->stage_fd < 0 || mnt_attach(b->stage_fd, b->root_on_fd, err) < 0)
                return -1;
        close_fd(&b->root_on_fd);
        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
                if (mkdirat(b->stage_fd, pieces[i].name, pieces[i].mode) < 0 ||
                    (pieces[i].mode & 01000 &&
                     fchmodat(b->stage_fd, pieces[i].name, pieces[i].mode, 0) < 0))
                        return err_sys(err, "make %s", pieces[i].name);
        b->empty_fd = openat(b->stage_fd, "empty", O_PATH | O_DIRECTORY | O_CLOEXEC);
        return b->empty_fd < 0 ? err_sys(err, "open the stage") : 0;
}

int step_root(struct build *b, struct err *err)
{
        const struct box_plan *p = b->plan;
        if (make_stage(b, err) < 0)
                return -1;
        /* The root is a mount of its own, of one directory of the stage, so that it can be made
         * read-only by itself. */
        _cleanup_close_ int on = openat(b->stage_fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (on < 0)
                return err_sys(err, "open the stage");
        b->root_fd = mnt_clone(on, "", false, 0, err);
        if (b->root_fd < 0 || mnt_attach(b->root_fd, on, err) < 0)
                return -1;

        for (size_t i = 0; i < p->links.n; i++) {
                const char *cut = strchr(p->links.v[i], '\n');
                if (!cut)
                        continue;
                char target[4096];
                snprintf(target, sizeof target, "%.*s", (int)(cut - p->links.v[i]), p->links.v[i]);
                if (symlinkat(target, b->root_fd, cut + 2) < 0)
                        return err_sys(err, "link %s", cut + 1);
        }
        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
                if (!pieces[i].path)
                        continue;
                _cleanup_close_ int mnt = mnt_clone(b->stage_fd, pieces[i].name, false, 0, err);
                if (mnt < 0)
                        return -1;
                _cleanup_close_ int to = step_target(b, pieces[i].path, true, err);
                if (to < 0 || mnt_attach(mnt, to, err) < 0)
                        return err_add(err, "mount %s", pieces[i].path);
        }
        return 0;
}

int step_pivot(struct build *b, struct err *err)
{
        /* The control of case 29: the test build lets the caller's own directory leak in. */
        _cleanup_close_ int leaked = -1;
        if (box_weak(WEAK_CWD))
                leaked = open(b->plan->cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fchdir(b->root_fd) < 0)
                return err_sys(err, "enter the new root");
        if (syscall(SYS_pivot_root, ".", ".") < 0)
                return err_sys(err, "pivot_root");
        /* The old root now lies on top of ours at "/"; take it away, and the stage with it. Lazily:
         * the overlays hold on to what they were made from. */
        if (umount2(".", MNT_DETACH) < 0)
                return err_sys(err, "leave the old root");
        if (chdir("/") < 0)
                return err_sys(err, "chdir /");
        close_fd(&b->empty_fd);
        close_fd(&b->mask_fd);
        close_fd(&b->trust_fd);
        close_fd(&b->stage_fd);
        close_fd(&b->root_fd);
        _cleanup_close_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (root < 0)
                return err_sys(err, "open the new root");
        if (mnt_set(root, MOUNT_ATTR_RDONLY, err) < 0)
                return err_add(err, "make the root read-only");

        /* Read back: "/" is our tmpfs, and cannot be written. */
        if (mkdir("/.probe", 0700) == 0 || errno != EROFS)
                return err_set(err, E_MACHINE, "the new root is writable");
        if (leaked >= 0)
                return fchdir(leaked) < 0 ? err_sys(err, "leak the caller's directory") : 0;
        if (chdir(b->plan->cwd) < 0)
                return err_sys(err, "enter %s", b->plan->cwd);
        /* case 29: the working directory must be reachable by name inside the new root. */
        char cwd[4096];
        if (!getcwd(cwd, sizeof cwd) || cwd[0] != '/')
                return err_set(err, E_MACHINE, "the working directory is outside of the box");
        return 0;
}
