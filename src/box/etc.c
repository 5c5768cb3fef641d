/* etc.c - the box's /etc: entries of the host's that are on the list (policy/etc_list.c), and a few
 * files made up for this box. Files are copied, directories are read-only overlays; a symlink is
 * made again as a symlink. What is not on the list does not exist. */
#include "box/step.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "box/mnt.h"
#include "box/weak.h"
#include "policy/etc_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

enum { FILE_MAX = 4 << 20 };

/* The host's /etc once more, as a read-only overlay on a staging place: directories are taken from
 * it, so that a socket in them is dead (B1). */
static int stage_host_etc(struct build *b, struct err *err)
{
        _cleanup_close_ int host = open("/etc", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (host < 0)
                return err_sys(err, "open /etc");
        char lower[64];
        snprintf(lower, sizeof lower, "/proc/self/fd/%d:/proc/self/fd/%d", host, b->empty_fd);
        _cleanup_close_ int mnt = mnt_make("overlay", MNT_SAFE | MOUNT_ATTR_RDONLY, err, "lowerdir",
                                           lower, "userxattr", NULL, NULL);
        if (mnt < 0 && err->sys == EINVAL)
                /* /etc/resolv.conf and friends are bind mounts in containers; then plain binds of
                 * the listed directories have to do. */
                mnt = mnt_clone(host, "", true, MNT_SAFE | MOUNT_ATTR_RDONLY, err);
        if (mnt < 0)
                return -1;
        _cleanup_close_ int to = step_target(b, "/.stage/etc", true, err);
        if (to < 0 || mnt_attach(mnt, to, err) < 0)
                return -1;
        return take_fd(&mnt);
}

static int copy_file(int from_fd, int to_dir, const char *name, mode_t mode, struct err *err)
{
        _cleanup_close_ int to =
                openat(to_dir, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode & 0555);
        if (to < 0)
                return errno == EEXIST ? 0 : err_sys(err, "create /etc/%s", name);
        ssize_t n;
        while ((n = sendfile(to, from_fd, NULL, FILE_MAX)) > 0)
                ;
        return n < 0 ? err_sys(err, "copy /etc/%s", name) : 0;
}

/* place(b, host, etc, path, err): show one entry that exists on the host. Unreadable means that the
 * user could not read it either: left out. */
static int place(struct build *b, int host, int etc, const char *path, struct err *err)
{
        struct stat st;
        if (fstatat(host, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return 0;
        const char *slash = strrchr(path, '/');
        _cleanup_close_ int parent = -1;
        if (slash) {
                char dir[256];
                snprintf(dir, sizeof dir, "%.*s", (int)(slash - path), path);
                if ((parent = beneath_mkdirs(etc, dir, 0755, err)) < 0)
                        return -1;
        }
        int at = slash ? parent : etc;
        const char *name = slash ? slash + 1 : path;

        if (S_ISLNK(st.st_mode)) {
                char target[4096];
                ssize_t n = readlinkat(host, path, target, sizeof target - 1);
                if (n < 0)
                        return 0;
                target[n] = 0;
                if (symlinkat(target, at, name) < 0 && errno != EEXIST)
                        return err_sys(err, "link /etc/%s", path);
                return 0;
        }
        if (S_ISREG(st.st_mode) && st.st_size <= FILE_MAX) {
                _cleanup_close_ int from = openat(host, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
                return from < 0 ? 0 : copy_file(from, at, name, st.st_mode, err);
        }
        if (S_ISDIR(st.st_mode)) {
                char full[300];
                snprintf(full, sizeof full, "/etc/%s", path);
                _cleanup_close_ int mnt = mnt_clone(host, path, false, 0, err);
                if (mnt < 0)
                        return -1;
                _cleanup_close_ int to = step_target(b, full, true, err);
                return to < 0 ? -1 : mnt_attach(mnt, to, err);
        }
        return 0;
}

/* place_matching(b, host, etc, pattern, err): an entry with a * in its last part. */
static int place_matching(struct build *b, int host, int etc, const char *pattern, struct err *err)
{
        const char *slash = strrchr(pattern, '/');
        char dir[256];
        snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - pattern) : 1,
                 slash ? pattern : ".");
        int fd = openat(host, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return 0;
        _cleanup_closedir_ DIR *d = fdopendir(fd);
        struct dirent *e;
        while (d && (e = readdir(d))) {
                char path[520];
                if (e->d_name[0] == '.' ||
                    !etc_list_matches(slash ? slash + 1 : pattern, e->d_name))
                        continue;
                if (slash)
                        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
                else
                        snprintf(path, sizeof path, "%s", e->d_name);
                if (place(b, host, etc, path, err) < 0)
                        return -1;
        }
        return 0;
}

static int write_etc(int etc, const char *name, const char *text, struct err *err)
{
        _cleanup_close_ int fd = openat(etc, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0444);
        if (fd < 0 || fdio_write_all(fd, text, strlen(text)) < 0)
                return err_sys(err, "write /etc/%s", name);
        return 0;
}

/* What is made up: one user, one group, this box's name, no resolver. */
static int synthesise(struct build *b, int etc, struct err *err)
{
        const struct box_plan *p = b->plan;
        char text[2048];
        snprintf(text, sizeof text,
                 "root:x:0:0:root:/:/usr/sbin/nologin\n%s:x:%u:%u:%s:%s:%s\n"
                 "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
                 p->user, p->uid, p->gid, p->user, p->home, p->shell);
        if (write_etc(etc, "passwd", text, err) < 0)
                return -1;
        snprintf(text, sizeof text, "root:x:0:\n%s:x:%u:\nnogroup:x:65534:\n", p->user, p->gid);
        if (write_etc(etc, "group", text, err) < 0)
                return -1;
        snprintf(text, sizeof text,
                 "127.0.0.1 localhost\n::1 localhost ip6-localhost\n127.0.1.1 %s\n", p->hostname);
        if (write_etc(etc, "hosts", text, err) < 0)
                return -1;
        snprintf(text, sizeof text, "%s\n", p->hostname);
        if (write_etc(etc, "hostname", text, err) < 0)
                return -1;
        return write_etc(etc, "resolv.conf",
                         "# This box has no network yet; names do not resolve.\n", err);
}

int step_etc(struct build *b, struct err *err)
{
        _cleanup_close_ int etc = step_target(b, "/etc", true, err);
        if (etc < 0 || synthesise(b, etc, err) < 0)
                return -1;
        _cleanup_close_ int host = stage_host_etc(b, err);
        if (host < 0)
                return -1;
        if (box_weak(WEAK_ETC_FILTER))
                return place_matching(b, host, etc, "*", err);
        for (const struct etc_entry *e = etc_list; e->name; e++) {
                int r = strchr(e->name, '*') ? place_matching(b, host, etc, e->name, err)
                                             : place(b, host, etc, e->name, err);
                if (r < 0)
                        return err_add(err, "show /etc/%s", e->name);
        }
        return 0;
}
