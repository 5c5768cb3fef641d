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
        /* case 26: what we mount must not travel back. The weak build leaves it shared. */
        unsigned long how = box_weak(WEAK_PROPAGATION) ? MS_SHARED : MS_PRIVATE;
        if (mount(NULL, "/", NULL, MS_REC | how, NULL) < 0)
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
        _cleanup_close_ int made =
                openat(at, name, O_CREAT | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (made < 0 && errno != EROFS && errno != ETXTBSY)
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

/* One tmpfs holds /tmp, /var/tmp and /run, and while the box is built also the places that things
 * are mounted from (/.stage); taking /.stage away at the end takes all of those at once. */
static int scratch(struct build *b, struct err *err)
{
        static const struct {
                const char *name, *path;
                mode_t mode;
        } dirs[] = {{"tmp", "/tmp", 01777}, {"vartmp", "/var/tmp", 01777}, {"run", "/run", 0755}};

        _cleanup_close_ int mnt = step_tmpfs(b, "0755", err);
        if (mnt < 0)
                return -1;
        _cleanup_close_ int stage = step_target(b, "/.stage", true, err);
        if (stage < 0 || mnt_attach(mnt, stage, err) < 0)
                return -1;

        for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
                if (mkdirat(mnt, dirs[i].name, dirs[i].mode) < 0 ||
                    fchmodat(mnt, dirs[i].name, dirs[i].mode, 0) < 0)
                        return err_sys(err, "make %s", dirs[i].path);
                _cleanup_close_ int sub = mnt_clone(mnt, dirs[i].name, false, 0, err);
                if (sub < 0)
                        return -1;
                _cleanup_close_ int to = step_target(b, dirs[i].path, true, err);
                if (to < 0 || mnt_attach(sub, to, err) < 0)
                        return err_add(err, "mount %s", dirs[i].path);
        }
        b->empty_fd = step_target(b, "/.stage/empty", true, err);
        return b->empty_fd < 0 ? -1 : 0;
}

int step_root(struct build *b, struct err *err)
{
        const struct box_plan *p = b->plan;

        _cleanup_close_ int mnt = mnt_make("tmpfs", MNT_SAFE, err, "mode", "0755", "size", "16m",
                                           "nr_inodes", "16384", NULL);
        if (mnt < 0)
                return -1;
        if (mnt_attach(mnt, b->root_on_fd, err) < 0)
                return -1;
        close_fd(&b->root_on_fd);
        b->root_fd = take_fd(&mnt);

        for (size_t i = 0; i < p->links.n; i++) {
                const char *cut = strchr(p->links.v[i], '\n');
                if (!cut)
                        continue;
                char target[4096];
                snprintf(target, sizeof target, "%.*s", (int)(cut - p->links.v[i]), p->links.v[i]);
                if (symlinkat(target, b->root_fd, cut + 2) < 0)
                        return err_sys(err, "link %s", cut + 1);
        }
        return scratch(b, err);
}

int step_pivot(struct build *b, struct err *err)
{
        if (fchdir(b->root_fd) < 0)
                return err_sys(err, "enter the new root");
        /* Lazily: the overlays hold on to what they were made from. */
        if (umount2(".stage", MNT_DETACH) < 0 || rmdir(".stage") < 0)
                return err_sys(err, "clear the stage");

        if (syscall(SYS_pivot_root, ".", ".") < 0)
                return err_sys(err, "pivot_root");
        /* The old root now lies on top of ours at "/"; take it away. */
        if (umount2(".", MNT_DETACH) < 0)
                return err_sys(err, "leave the old root");
        if (chdir("/") < 0)
                return err_sys(err, "chdir /");
        close_fd(&b->empty_fd);
        close_fd(&b->root_fd);
        _cleanup_close_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (root < 0)
                return err_sys(err, "open the new root");
        if (mnt_set(root, MOUNT_ATTR_RDONLY, err) < 0)
                return err_add(err, "make the root read-only");

        /* Read back: "/" is our tmpfs, and cannot be written. */
        if (mkdir("/.probe", 0700) == 0 || errno != EROFS)
                return err_set(err, E_MACHINE, "the new root is writable");
        if (chdir(b->plan->cwd) < 0)
                return err_sys(err, "enter %s", b->plan->cwd);
        /* case 29: the working directory must be reachable by name inside the new root. */
        char cwd[4096];
        if (!getcwd(cwd, sizeof cwd) || cwd[0] != '/')
                return err_set(err, E_MACHINE, "the working directory is outside of the box");
        return 0;
}
