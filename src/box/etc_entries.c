/* etc_entries.c - the box's /etc entry by entry: for a host whose /etc has mounts inside it (every
 * container: resolv.conf, hosts), which cannot be an overlay's layer. Files are copied, directories
 * bound read-only; what is not on the list does not exist. Slower than the mask of etc.c. */
#include "box/etc.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "box/mnt.h"
#include "box/step.h"
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

static int copy_file(int from_fd, int to_dir, const char *name, mode_t mode, struct err *err)
{
        _cleanup_close_ int to =
                openat(to_dir, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode & 0555);
        if (to < 0)
                return errno == EEXIST ? 0 : err_sys(err, "create /etc/%s", name);
        ssize_t n = sendfile(to, from_fd, NULL, FILE_MAX);
        return n < 0 ? err_sys(err, "copy /etc/%s", name) : 0;
}

struct etc {
        int host;   /* the host's /etc, to read from */
        int staged; /* a read-only copy of it, to take directories from */
        int fd;     /* the box's */
};

static int place_link(const struct etc *e, const char *path, int at, const char *name,
                      struct err *err)
{
        char target[4096];
        ssize_t n = readlinkat(e->host, path, target, sizeof target - 1);
        if (n < 0)
                return 0;
        target[n] = 0;
        if (symlinkat(target, at, name) < 0 && errno != EEXIST)
                return err_sys(err, "link /etc/%s", path);
        return 0;
}

/* merge_dir(e, path, at, name, err): one that holds something of ours already: both, ours first. */
static int merge_dir(const struct etc *e, const char *path, int at, const char *name,
                     struct err *err)
{
        _cleanup_close_ int ours = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        _cleanup_close_ int host =
                openat(e->staged, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (ours < 0 || host < 0)
                return err_sys(err, "open /etc/%s", path);
        _cleanup_close_ int mnt = mnt_overlay_ro(ours, host, err);
        return mnt < 0 ? -1 : mnt_attach(mnt, ours, err);
}

static int place_dir(const struct etc *e, const char *path, int at, const char *name,
                     struct err *err)
{
        if (mkdirat(at, name, 0755) < 0)
                return errno == EEXIST ? merge_dir(e, path, at, name, err)
                                       : err_sys(err, "make /etc/%s", path);
        _cleanup_close_ int mnt = mnt_clone(e->staged, path, false, 0, err);
        if (mnt < 0)
                return -1;
        _cleanup_close_ int to = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return to < 0 ? err_sys(err, "open /etc/%s", path) : mnt_attach(mnt, to, err);
}

/* place(e, path, err): show one entry if it exists on the host. One that cannot be opened could not
 * be read by the user either: left out. */
static int place(const struct etc *e, const char *path, struct err *err)
{
        struct stat st;
        if (fstatat(e->host, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return 0;
        const char *slash = strrchr(path, '/');
        const char *name = slash ? slash + 1 : path;
        _cleanup_close_ int parent = -1;
        if (slash) {
                char dir[256];
                snprintf(dir, sizeof dir, "%.*s", (int)(slash - path), path);
                if ((parent = beneath_mkdirs(e->fd, dir, 0755, err)) < 0)
                        return -1;
        }
        int at = slash ? parent : e->fd;

        if (S_ISLNK(st.st_mode))
                return place_link(e, path, at, name, err);
        if (S_ISDIR(st.st_mode))
                return place_dir(e, path, at, name, err);
        if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX)
                return 0;
        _cleanup_close_ int from = openat(e->host, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        return from < 0 ? 0 : copy_file(from, at, name, st.st_mode, err);
}

/* place_all(e, err): one pass over the host's directory for the entries of one part, then the few
 * that lie deeper. */
static int place_all(const struct etc *e, struct err *err)
{
        int fd = openat(e->host, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return err_sys(err, "read /etc");
        _cleanup_closedir_ DIR *d = fdopendir(fd);
        struct dirent *x;
        while (d && (x = readdir(d))) {
                if (x->d_name[0] == '.' ||
                    (!etc_list_allows(x->d_name) && !box_weak(WEAK_ETC_FILTER)))
                        continue;
                if (place(e, x->d_name, err) < 0)
                        return err_add(err, "show /etc/%s", x->d_name);
        }
        for (const struct etc_entry *l = etc_list; l->name; l++)
                if (strchr(l->name, '/') && !box_weak(WEAK_ETC_FILTER) &&
                    place(e, l->name, err) < 0)
                        return err_add(err, "show /etc/%s", l->name);
        return 0;
}

int etc_entries(struct build *b, int etc, int host, struct err *err)
{
        _cleanup_close_ int mnt = mnt_clone(host, "", true, MNT_SAFE | MOUNT_ATTR_RDONLY, err);
        if (mnt < 0)
                return -1;
        _cleanup_close_ int to = openat(b->stage_fd, "etc", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (to < 0)
                return err_sys(err, "open the stage");
        if (mnt_attach(mnt, to, err) < 0)
                return -1;
        struct etc e = {.host = host, .staged = mnt, .fd = etc};
        return place_all(&e, err);
}

int etc_copy(int from, int to, struct err *err)
{
        _cleanup_closedir_ DIR *d = fdio_opendir(from);
        struct dirent *x;
        if (!d)
                return err_sys(err, "read what lies over /etc");
        while ((x = readdir(d))) {
                struct etc e = {.host = dirfd(d)};
                if (strcmp(x->d_name, ".") == 0 || strcmp(x->d_name, "..") == 0)
                        continue;
                if (x->d_type == DT_LNK) {
                        if (place_link(&e, x->d_name, to, x->d_name, err) < 0)
                                return -1;
                        continue;
                }
                _cleanup_close_ int in =
                        openat(dirfd(d), x->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
                if (in < 0)
                        return err_sys(err, "read %s", x->d_name);
                if (x->d_type != DT_DIR) {
                        if (copy_file(in, to, x->d_name, 0444, err) < 0)
                                return -1;
                        continue;
                }
                _cleanup_close_ int sub = beneath_mkdirs(to, x->d_name, 0755, err);
                if (sub < 0 || etc_copy(in, sub, err) < 0)
                        return -1;
        }
        return 0;
}
