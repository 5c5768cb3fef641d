/* beneath.c - see beneath.h. openat2 is used directly: glibc 2.36 has no wrapper. */
#include "base/beneath.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static int open_resolved(int root_fd, const char *path, int flags, mode_t mode, uint64_t resolve)
{
        struct open_how how = {
                .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
                .mode = flags & (O_CREAT | O_TMPFILE) ? mode : 0,
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
        _cleanup_close_ int dir = open_resolved(root_fd, ".", O_PATH | O_DIRECTORY, 0, 0);
        if (dir < 0)
                return err_sys(err, "open the root of %s", path);

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
                if (mkdirat(dir, name, mode) < 0 && errno != EEXIST)
                        return err_sys(err, "make the directory %s of %s", name, path);
                int next = open_resolved(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0,
                                         RESOLVE_NO_SYMLINKS);
                if (next < 0)
                        return err_sys(err, "open the directory %s of %s", name, path);
                close(dir);
                dir = next;
        }
        return take_fd(&dir);
}

/* A hostile tree may be deeper than our stack or our descriptor table would like, so the walk
 * keeps one descriptor and moves what it finds too deep up to the top before going on. */
enum { REMOVE_DEPTH = 64 };

static int remove_below(int top_fd, int dir_fd, int depth, unsigned *moved, struct err *err)
{
        int copy = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (copy < 0)
                return err_sys(err, "open a directory to remove");
        _cleanup_closedir_ DIR *d = fdopendir(copy);
        if (!d) {
                close(copy);
                return err_sys(err, "read a directory to remove");
        }
        struct dirent *e;
        while ((errno = 0, e = readdir(d))) {
                const char *name = e->d_name;
                if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
                        continue;
                if (unlinkat(dir_fd, name, 0) == 0)
                        continue;
                if (errno != EISDIR && errno != EPERM)
                        return err_sys(err, "remove %s", name);
                if (unlinkat(dir_fd, name, AT_REMOVEDIR) == 0)
                        continue;
                if (errno != ENOTEMPTY && errno != EEXIST && errno != EACCES)
                        return err_sys(err, "remove the directory %s", name);
                fchmodat(dir_fd, name, 0700, 0);
                if (depth >= REMOVE_DEPTH) {
                        char to[32];
                        snprintf(to, sizeof to, ".ostiary-rm.%u", (*moved)++);
                        if (renameat(dir_fd, name, top_fd, to) < 0)
                                return err_sys(err, "move the directory %s up", name);
                        continue;
                }
                _cleanup_close_ int sub =
                        openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (sub < 0)
                        return err_sys(err, "open the directory %s", name);
                if (remove_below(top_fd, sub, depth + 1, moved, err) < 0)
                        return -1;
                if (unlinkat(dir_fd, name, AT_REMOVEDIR) < 0)
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
        fchmodat(dir_fd, name, 0700, 0);
        _cleanup_close_ int top =
                openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (top < 0)
                return err_sys(err, "open %s", name);
        unsigned moved = 0, before;
        do {
                before = moved;
                if (remove_below(top, top, 0, &moved, err) < 0)
                        return err_add(err, "remove %s", name);
        } while (moved != before);
        if (unlinkat(dir_fd, name, AT_REMOVEDIR) < 0)
                return err_sys(err, "remove %s", name);
        return 0;
}
