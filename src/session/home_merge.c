/* home_merge.c - what a box did to a path that persists, brought into the new version.
 *
 * Called by home_accept when the box is dead. The upper layer is hostile: it is walked by
 * descriptors without following a link, only files, directories and links that stay inside are
 * taken (case 77), and there are bounds (case 78). Overlay's own signs are read as the kernel
 * writes them: a 0/0 character device is a deletion, an opaque directory hides what was below. */
#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "session/home_int.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { DEPTH_MAX = 48, FILE_MAX = 256 << 20, COPY_CHUNK = 64 << 10 };

static int copy_bytes(int from, int to, uint64_t len)
{
        if (ioctl(to, FICLONE, from) == 0)
                return 0;
        char chunk[COPY_CHUNK];
        while (len > 0) {
                ssize_t n = read(from, chunk, sizeof chunk < len ? sizeof chunk : (size_t)len);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -1;
                if (n == 0)
                        return 0;
                if (fdio_write_all(to, chunk, (size_t)n) < 0)
                        return -1;
                len -= (uint64_t)n;
        }
        return 0;
}

static int take_file(struct home_run *run, const struct home_node *n, int to_fd, const char *name,
                     const char *path, struct err *err)
{
        uint64_t size = (uint64_t)n->st.st_size;
        if (size > FILE_MAX || size > run->bytes_left || run->files_left == 0) {
                home_note(run, path, "it is too large to be kept, or there are too many files");
                return 0;
        }
        _cleanup_close_ int from = home_node_reopen(n, O_RDONLY);
        if (from < 0) {
                home_note(run, path, "it cannot be read");
                return 0;
        }
        run->files_left--;
        run->bytes_left -= size;
        /* Never into the file that is there: it may be one with an older version's. */
        if (beneath_remove_tree(to_fd, name, err) < 0)
                return -1;
        _cleanup_close_ int to =
                openat(to_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (to < 0)
                return err_sys(err, "keep %s", path);
        if (copy_bytes(from, to, size) < 0 || fchmod(to, (n->st.st_mode & 0100) | 0600) < 0)
                return err_sys(err, "keep %s", path);
        /* Agents list their conversations by age. */
        futimens(to, (const struct timespec[]){n->st.st_atim, n->st.st_mtim});
        return home_own(run, to_fd, name, err);
}

/* Does the text of a link, seen from ${path} (below the home), stay below the home? By its words
 * only: ".." may not climb out, and an absolute link means another place in another box. */
static bool stays_inside(const char *path, const char *link)
{
        if (link[0] == '/')
                return false;
        long depth = 0;
        for (const char *p = path; (p = strchr(p, '/')); p++)
                depth++;
        while (*link) {
                size_t n = strcspn(link, "/");
                if (n == 2 && link[0] == '.' && link[1] == '.')
                        depth--;
                else if (n > 0 && !(n == 1 && link[0] == '.'))
                        depth++;
                if (depth < 0)
                        return false;
                link += n + (link[n] == '/');
        }
        return true;
}

static int take_link(struct home_run *run, const struct home_node *n, int to_fd, const char *name,
                     const char *path, struct err *err)
{
        char link[PATH_MAX];
        ssize_t len = readlinkat(n->fd, "", link, sizeof link - 1);
        if (len <= 0)
                return err_sys(err, "read the link %s", path);
        link[len] = 0;
        if (!stays_inside(path, link) || run->files_left == 0) {
                home_note(run, path, "it is a link that leads out of the home");
                return 0;
        }
        run->files_left--;
        if (beneath_remove_tree(to_fd, name, err) < 0)
                return -1;
        if (symlinkat(link, to_fd, name) < 0)
                return err_sys(err, "keep the link %s", path);
        return home_own(run, to_fd, name, err);
}

static int take(struct home_run *run, int from_fd, int to_fd, const char *name, const char *path,
                int depth, struct err *err);

static int take_dir(struct home_run *run, const struct home_node *n, int to_fd, const char *name,
                    const char *path, int depth, struct err *err)
{
        if (depth >= DEPTH_MAX || run->files_left == 0) {
                home_note(run, path, "it is too deep, or there are too many files");
                return 0;
        }
        run->files_left--;
        struct stat st;
        bool is_there = fstatat(to_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
        if (is_there && (!S_ISDIR(st.st_mode) || home_node_is_opaque(n)) &&
            beneath_remove_tree(to_fd, name, err) < 0)
                return -1;
        _cleanup_close_ int to = home_dir(run, to_fd, name, err);
        if (to < 0)
                return -1;
        _cleanup_close_ int from = home_node_reopen(n, O_RDONLY | O_DIRECTORY);
        _cleanup_closedir_ DIR *d = from < 0 ? NULL : fdopendir(from);
        if (!d) {
                home_note(run, path, "it cannot be read");
                return 0;
        }
        int from_fd = take_fd(&from);
        for (struct dirent *e; (e = readdir(d));) {
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                _cleanup_free_ char *sub = str_fmt("%s/%s", path, e->d_name);
                if (strlen(sub) >= PATH_MAX) {
                        home_note(run, path, "a path below it is too long");
                        continue;
                }
                if (take(run, from_fd, to, e->d_name, sub, depth + 1, err) < 0)
                        return -1;
        }
        return 0;
}

static int take(struct home_run *run, int from_fd, int to_fd, const char *name, const char *path,
                int depth, struct err *err)
{
        _cleanup_node_ struct home_node n;
        if (home_node_open(from_fd, name, &n) < 0)
                return errno == ENOENT ? 0 : err_sys(err, "look at %s", path);
        if (home_node_is_whiteout(&n))
                return beneath_remove_tree(to_fd, name, err);
        if (S_ISDIR(n.st.st_mode))
                return take_dir(run, &n, to_fd, name, path, depth, err);
        if (S_ISREG(n.st.st_mode))
                return take_file(run, &n, to_fd, name, path, err);
        if (S_ISLNK(n.st.st_mode))
                return take_link(run, &n, to_fd, name, path, err);
        home_note(run, path, "it is neither a file, a directory nor a link");
        return 0;
}

/* Go down the directories of ${path} in the upper. Returns the descriptor of the last one and in
 * ${name} what is left; -1 when the upper says nothing about it; -2 when ${path} was done away with
 * by something above it. ${is_hidden} when a directory on the way is opaque. */
static int descend(int upper_fd, const char *path, const char **name, bool *is_hidden)
{
        _cleanup_close_ int dir = openat(upper_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        for (const char *slash; dir >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
                _cleanup_free_ char *part = str_fmt("%.*s", (int)(slash - path), path);
                _cleanup_node_ struct home_node n;
                if (home_node_open(dir, part, &n) < 0)
                        return *is_hidden ? -2 : -1;
                if (!S_ISDIR(n.st.st_mode))
                        return -2;
                *is_hidden |= home_node_is_opaque(&n);
                /* Passing through needs the x bit, which the box may have taken away. */
                int next = home_node_reopen(&n, O_RDONLY | O_DIRECTORY);
                if (next < 0)
                        return -1;
                close(dir);
                dir = next;
        }
        *name = path;
        return take_fd(&dir);
}

bool home_is_touched(int upper_fd, const char *path)
{
        const char *name = path;
        bool is_hidden = false;
        _cleanup_close_ int dir = descend(upper_fd, path, &name, &is_hidden);
        if (dir == -1)
                return false;
        if (dir == -2 || is_hidden)
                return true;
        struct stat st;
        return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

int home_merge(struct home_run *run, int root_fd, const char *path, struct err *err)
{
        const char *name = path, *slash = strrchr(path, '/');
        bool is_hidden = false;
        _cleanup_close_ int from = descend(run->a->upper_fd, path, &name, &is_hidden);
        if (from == -1)
                return 0;
        _cleanup_free_ char *parent = str_fmt("%.*s", slash ? (int)(slash - path) : 0, path);
        _cleanup_close_ int to = home_dir(run, root_fd, parent, err);
        if (to < 0)
                return -1;
        const char *base = slash ? slash + 1 : path;
        if ((from == -2 || is_hidden) && beneath_remove_tree(to, base, err) < 0)
                return -1;
        return from < 0 ? 0 : take(run, from, to, base, path, 0, err);
}
