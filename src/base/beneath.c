/* beneath.c - see beneath.h. openat2 is used directly: glibc 2.36 has no wrapper. */
#include "base/beneath.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static int open_resolved(int root_fd, const char *path, int flags, mode_t mode, uint64_t resolve)
{
        /* O_TMPFILE has the bit of O_DIRECTORY in it, and openat2 refuses a mode without need. */
        bool is_making = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
        struct open_how how = {
                .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
                .mode = is_making ? mode : 0,
                .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve,
        };
        long fd;
        int tries = 0;
        /* EAGAIN: a rename elsewhere raced with "..": the kernel asks to try again. */
        do
                fd = syscall(SYS_openat2, root_fd, *path ? path : ".", &how, sizeof how);
        while (fd < 0 && (errno == EINTR || (errno == EAGAIN && ++tries < 128)));
        return (int)fd;
}

int beneath_open(int root_fd, const char *path, int flags, mode_t mode, struct err *err)
{
        int fd = open_resolved(root_fd, path, flags, mode, 0);
        if (fd < 0)
                err_sys(err, "open %s", path);
        return fd;
}

int beneath_open_nosym(int root_fd, const char *path, int flags, mode_t mode, struct err *err)
{
        int fd = open_resolved(root_fd, path, flags, mode, RESOLVE_NO_SYMLINKS);
        if (fd < 0)
                err_sys(err, "open %s", path);
        return fd;
}

int beneath_mkdirs(int root_fd, const char *path, mode_t mode, struct err *err)
{
        _cleanup_close_ int dir = -1; /* -1: still at the root */

        for (const char *p = path; *p;) {
                size_t n = strcspn(p, "/");
                char name[256];
                if (n >= sizeof name)
                        return err_set(err, E_INPUT, "%s has a component that is too long", path);
                memcpy(name, p, n);
                name[n] = 0;
                p += n + (p[n] == '/');
                if (n == 0 || strcmp(name, ".") == 0)
                        continue;
                if (strcmp(name, "..") == 0)
                        return err_set(err, E_INPUT, "%s leads outside by \"..\"", path);
                int at = dir < 0 ? root_fd : dir;
                if (mkdirat(at, name, mode) < 0 && errno != EEXIST)
                        return err_sys(err, "make the directory %s of %s", name, path);
                int next = open_resolved(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0,
                                         RESOLVE_NO_SYMLINKS);
                if (next < 0)
                        return err_sys(err, "open the directory %s of %s", name, path);
                close_fd(&dir);
                dir = next;
        }
        if (dir < 0 && (dir = open_resolved(root_fd, ".", O_PATH | O_DIRECTORY, 0, 0)) < 0)
                return err_sys(err, "open the root of %s", path);
        return take_fd(&dir);
}

/* A hostile tree may be deeper than our stack or our descriptor table would like, so the walk
 * moves what it finds too deep up to the top and takes it from there. */
enum { REMOVE_DEPTH = 64 };

/* open_to_empty(dir_fd, name): the directory, ours to read and write in, whatever its mode was. The
 * mode is changed by descriptor or without following: a link swapped in meanwhile must not have its
 * target changed (case 72). */
static int open_to_empty(int dir_fd, const char *name)
{
        static const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
        struct stat st;
        int fd = openat(dir_fd, name, flags);
        if (fd < 0 && errno == EACCES && fchmodat(dir_fd, name, 0700, AT_SYMLINK_NOFOLLOW) == 0)
                fd = openat(dir_fd, name, flags);
        if (fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & 0700) != 0700)
                (void)fchmod(fd, 0700);
        return fd;
}

/* move_up(dir_fd, name, top_fd, moved): to a name of the top that is free, whatever names the tree
 * was given to begin with. */
static int move_up(int dir_fd, const char *name, int top_fd, unsigned *moved)
{
        for (int tries = 0; tries < 100000; tries++) {
                char to[32];
                snprintf(to, sizeof to, ".ostiary-rm.%u", (*moved)++);
                if (renameat2(dir_fd, name, top_fd, to, RENAME_NOREPLACE) == 0)
                        return 0;
                if (errno != EEXIST)
                        return -1;
        }
        return -1;
}

/* remove_below(top_fd, dir_fd, depth, moved, err): empty a directory; takes over ${dir_fd}. Names
 * that vanish meanwhile are as good as removed. */
static int remove_below(int top_fd, int dir_fd, int depth, unsigned *moved, struct err *err)
{
        _cleanup_closedir_ DIR *d = fdopendir(dir_fd);
        if (!d) {
                err_sys(err, "read a directory to remove");
                close(dir_fd);
                return -1;
        }
        struct dirent *e;
        while ((errno = 0, e = readdir(d))) {
                const char *name = e->d_name;
                if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
                        continue;
                if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
                        continue;
                if (errno != EISDIR && errno != EPERM)
                        return err_sys(err, "remove %s", name);
                if (unlinkat(dir_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
                        continue;
                if (errno != ENOTEMPTY && errno != EEXIST && errno != EACCES)
                        return err_sys(err, "remove the directory %s", name);

                _cleanup_close_ int sub = open_to_empty(dir_fd, name);
                if (sub < 0 && errno == ENOENT)
                        continue;
                if (sub < 0)
                        return err_sys(err, "open the directory %s", name);
                if (depth >= REMOVE_DEPTH) {
                        if (move_up(dir_fd, name, top_fd, moved) < 0)
                                return err_sys(err, "move the directory %s up", name);
                        continue;
                }
                if (remove_below(top_fd, take_fd(&sub), depth + 1, moved, err) < 0)
                        return -1;
                if (unlinkat(dir_fd, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
                        return err_sys(err, "remove the directory %s", name);
        }
        return errno ? err_sys(err, "read a directory to remove") : 0;
}

int beneath_remove_tree(int dir_fd, const char *name, struct err *err)
{
        if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
                return 0;
        if (errno != EISDIR && errno != EPERM)
                return err_sys(err, "remove %s", name);
        _cleanup_close_ int top = open_to_empty(dir_fd, name);
        if (top < 0) /* somebody else who removes it was quicker */
                return errno == ENOENT ? 0 : err_sys(err, "open %s", name);
        unsigned moved = 0, before;
        do {
                before = moved;
                int again = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                if (again < 0)
                        return err_sys(err, "open %s", name);
                if (remove_below(top, again, 0, &moved, err) < 0)
                        return err_add(err, "remove %s", name);
        } while (moved != before);
        if (unlinkat(dir_fd, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
                return err_sys(err, "remove %s", name);
        return 0;
}
