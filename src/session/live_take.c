/* live_take.c - see live_take in live_watch.h. One file that appeared in a live workspace goes into
 * the box's own directory, out of the way of every program of the host. By descriptor and without
 * following anything: whoever made it may be changing it meanwhile. */
#include "session/live_watch.h"

#include "base/beneath.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/kv.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPY_MAX = 64 << 20, LIST_MAX = 16 << 20, WRITTEN_MS = 50 };

static int copy_link(int from, const char *name, int to, const char *as)
{
        char target[PATH_MAX];
        ssize_t n = readlinkat(from, name, target, sizeof target - 1);
        if (n < 0)
                return -1;
        target[n] = '\0';
        return symlinkat(target, to, as);
}

static int copy_file(int in, int to, const char *as)
{
        char piece[65536];
        uint64_t all = 0;
        _cleanup_close_ int out = openat(to, as, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (out < 0)
                return -1;
        for (;;) {
                ssize_t n = read(in, piece, sizeof piece);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return (int)n;
                all += (uint64_t)n;
                /* It grows as we read: what there is of it is enough to be looked at. */
                if (all > COPY_MAX)
                        return 0;
                if (fdio_write_all(out, piece, (size_t)n) < 0)
                        return -1;
        }
}

/* Another filesystem: the file goes, and a copy of it is kept. A moment passes before that is made,
 * because who made the file is about to write to it. */
static int copy_away(int from, const char *name, const struct stat *st, int to, const char *as)
{
        int r = 0;
        _cleanup_close_ int in = -1;
        if (S_ISLNK(st->st_mode))
                r = copy_link(from, name, to, as);
        else
                in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (unlinkat(from, name, 0) < 0)
                return -1;
        if (in >= 0) {
                poll(NULL, 0, WRITTEN_MS);
                r = copy_file(in, to, as);
        }
        return r;
}

static void note(int quarantine, const char *as, const char *root, const char *path,
                 const struct file_class_verdict *v)
{
        _cleanup_buf_ struct buf b = {0};
        _cleanup_free_ char *line =
                str_fmt("%s\t%s\t%s\t%s/%s", as, file_class_name(v->class), v->why, root, path);
        kv_put(&b, "file", line);
        _cleanup_close_ int fd = openat(
                quarantine, "list", O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0)
                (void)fdio_write_all(fd, b.data, b.len);
}

uint64_t live_quarantined(const struct store *s, const char *id)
{
        uint64_t n = 0;
        struct err err = {0};
        _cleanup_close_ int dir = store_box_dir(s, id, &err);
        _cleanup_free_ char *text =
                dir < 0 ? NULL : fdio_read_file(dir, "quarantine/list", LIST_MAX, &err);
        for (const char *p = text; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
                n += str_starts(p, "file ");
        return n;
}

int live_take(struct live_tree *t, int dir_fd, const char *path, const struct file_class_verdict *v)
{
        static unsigned number;
        struct err err = {0};
        struct stat st;
        char as[80];
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
        _cleanup_free_ char *parent = str_fmt("%.*s", slash ? (int)(slash - path) : 0, path);
        _cleanup_close_ int from =
                beneath_open_nosym(t->fd, *parent ? parent : ".", O_RDONLY | O_DIRECTORY, 0, &err);
        if (from < 0 || fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return 0;
        if (mkdirat(dir_fd, "quarantine", 0700) < 0 && errno != EEXIST)
                return -1;
        _cleanup_close_ int to =
                openat(dir_fd, "quarantine", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (to < 0)
                return -1;
        for (int tries = 0; tries < 100000; tries++) {
                snprintf(as, sizeof as, "%04u-%.40s", ++number, name);
                if (faccessat(to, as, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
                        break;
        }
        int r = renameat2(from, name, to, as, RENAME_NOREPLACE);
        if (r < 0 && (errno == EXDEV || errno == EINVAL))
                r = copy_away(from, name, &st, to, as);
        if (r < 0)
                return errno == ENOENT ? 0 : -1;
        /* Nothing in there is for running. */
        if (S_ISREG(st.st_mode) && fchmodat(to, as, 0600, 0) < 0 && errno != ENOENT)
                return -1;
        note(to, as, t->root, path, v);
        return 1;
}
