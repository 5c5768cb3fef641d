/* stack_file.c - one thing of a layer brought into another layer: a file with its content, or what
 * is no file. Called by stack_copy.c and stack_squash.c. What is read was written by a box: opened
 * by name beneath a descriptor, never followed, never waited for. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "workspace/stack_int.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { CHUNK = 1 << 20 };

bool stack_is_whiteout(const struct stat *st)
{
        return S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0);
}

int stack_dir_open(int parent_fd, const char *name, struct stack_dir *d)
{
        const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
        *d = (struct stack_dir){.fd = -1};
        if (fstatat(parent_fd, name, &d->st, AT_SYMLINK_NOFOLLOW) < 0)
                return -1;
        if (!S_ISDIR(d->st.st_mode)) {
                errno = ENOTDIR;
                return -1;
        }
        if ((d->st.st_mode & 0500) != 0500 && geteuid() != 0) {
                if (fchmodat(parent_fd, name, (d->st.st_mode & 07777) | 0500, 0) < 0)
                        return -1;
                d->was_opened_up = true;
        }
        d->fd = openat(parent_fd, name, flags);
        return d->fd < 0 ? -1 : 0;
}

void stack_dir_close(struct stack_dir *d)
{
        if (d->fd >= 0 && d->was_opened_up)
                fchmod(d->fd, d->st.st_mode & 07777);
        close_fd(&d->fd);
}

/* open_file(from, name, st): for reading, also when its mode says no. */
static int open_file(int from, const char *name, const struct stat *st)
{
        const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
        int fd = openat(from, name, flags);
        if (fd >= 0 || errno != EACCES)
                return fd;
        if (fchmodat(from, name, (st->st_mode & 07777) | 0400, 0) < 0)
                return -1;
        fd = openat(from, name, flags);
        int e = errno;
        if (fchmodat(from, name, st->st_mode & 07777, 0) < 0 && fd >= 0) {
                close(fd);
                return -1;
        }
        errno = e;
        return fd;
}

/* copy_range(from, to, at, end): the bytes between, by the kernel where it can. */
static int copy_range(int from, int to, off_t at, off_t end)
{
        while (at < end) {
                off_t in = at, out = at;
                ssize_t n = copy_file_range(from, &in, to, &out, (size_t)(end - at), 0);
                if (n > 0) {
                        at += n;
                        continue;
                }
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && errno != EXDEV && errno != EINVAL && errno != ENOSYS &&
                    errno != EOPNOTSUPP)
                        return -1;
                _cleanup_free_ char *chunk = malloc(CHUNK);
                if (!chunk)
                        str_no_memory();
                size_t want = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
                ssize_t got = pread(from, chunk, want, at);
                if (got <= 0)
                        return got < 0 ? -1 : 0; /* shorter than it was */
                if (lseek(to, at, SEEK_SET) < 0 || fdio_write_all(to, chunk, (size_t)got) < 0)
                        return -1;
                at += got;
        }
        return 0;
}

/* copy_data(from, to, size): holes stay holes. */
static int copy_data(int from, int to, off_t size)
{
        if (size == 0 || ioctl(to, FICLONE, from) == 0)
                return 0;
        for (off_t at = 0; at < size;) {
                off_t data = lseek(from, at, SEEK_DATA);
                if (data < 0 && errno == ENXIO)
                        break;
                if (data < 0)
                        data = at;
                off_t hole = lseek(from, data, SEEK_HOLE);
                if (hole < 0 || hole > size)
                        hole = size;
                if (copy_range(from, to, data, hole) < 0)
                        return -1;
                at = hole > at ? hole : size;
        }
        return ftruncate(to, size);
}

int stack_copy_file(int from_fd, const char *name, const struct stat *st, int to_fd,
                    struct err *err)
{
        _cleanup_free_ char *shown = str_quote(name);
        _cleanup_close_ int from = open_file(from_fd, name, st);
        struct stat now;
        if (from < 0 || fstat(from, &now) < 0)
                return err_sys(err, "read %s", shown);
        if (!S_ISREG(now.st_mode) || now.st_ino != st->st_ino)
                return err_set(err, E_SYSTEM, "%s was replaced while it was being copied", shown);
        _cleanup_close_ int to =
                openat(to_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (to < 0 || copy_data(from, to, now.st_size) < 0 || stack_attrs(from, to, st, true) < 0)
                return err_sys(err, "copy %s", shown);
        return 0;
}

int stack_copy_other(int from_fd, const char *name, const struct stat *st, int to_fd,
                     struct err *err)
{
        int r = 0;
        if (S_ISLNK(st->st_mode)) {
                char target[PATH_MAX + 1];
                ssize_t n = readlinkat(from_fd, name, target, PATH_MAX);
                if (n >= 0)
                        target[n] = 0;
                r = n < 0 ? -1 : symlinkat(target, to_fd, name);
        } else if (stack_is_whiteout(st) || S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode)) {
                r = mknodat(to_fd, name, st->st_mode, 0);
                if (r == 0 && !stack_is_whiteout(st))
                        r = fchmodat(to_fd, name, st->st_mode & 07777, 0);
        } else {
                return 0;
        }
        if (r == 0 && geteuid() == 0)
                r = fchownat(to_fd, name, st->st_uid, st->st_gid, AT_SYMLINK_NOFOLLOW);
        if (r == 0)
                r = utimensat(to_fd, name, (const struct timespec[]){st->st_atim, st->st_mtim},
                              AT_SYMLINK_NOFOLLOW);
        if (r < 0) {
                _cleanup_free_ char *shown = str_quote(name);
                return err_sys(err, "copy %s", shown);
        }
        return 0;
}
