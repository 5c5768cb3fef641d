/* live_walk.c - a walk over a live tree by descriptor, however deep. Called by live.c before a
 * start and by the watch while the box runs: what it walks may change under it, and is not
 * believed. */
#include "session/live.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct walk {
        live_fn *fn;
        void *ctx;
        uint64_t seen_n, max;
        struct strs later; /* too deep to go on with so many descriptors open */
};

/* walk(w, dir_fd, path, depth): ${dir_fd} becomes the walk's. */
static int walk(struct walk *w, int dir_fd, const char *path, int depth)
{
        _cleanup_closedir_ DIR *d = fdopendir(dir_fd);
        if (!d)
                close(dir_fd);
        for (struct dirent *e; d && (e = readdir(d));) {
                struct stat st;
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
                    fstatat(dir_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                if (++w->seen_n > w->max) {
                        errno = E2BIG;
                        return -1;
                }
                _cleanup_free_ char *full = str_fmt("%s%s%s", path, *path ? "/" : "", e->d_name);
                int r = w->fn(w->ctx, full, &st);
                if (r < 0)
                        return -1;
                if (r > 0 || !S_ISDIR(st.st_mode))
                        continue;
                if (depth >= LIVE_DEPTH_MAX) {
                        strs_add(&w->later, full);
                        continue;
                }
                int sub =
                        openat(dir_fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (sub >= 0 && walk(w, sub, full, depth + 1) < 0)
                        return -1;
        }
        return 0;
}

int live_walk(int root_fd, const char *from, uint64_t max, live_fn *fn, void *ctx)
{
        struct walk w = {.fn = fn, .ctx = ctx, .max = max};
        int rc = 0;
        strs_add(&w.later, from);
        for (size_t i = 0; rc == 0 && i < w.later.n; i++) {
                struct err err = {0};
                const char *path = w.later.v[i];
                int fd = beneath_open_nosym(root_fd, *path ? path : ".", O_RDONLY | O_DIRECTORY, 0,
                                            &err);
                if (fd >= 0)
                        rc = walk(&w, fd, path, 0);
                else if (err.sys == ENAMETOOLONG)
                        rc = -1; /* nobody can name what is in there, but it is told */
        }
        strs_free(&w.later);
        return rc;
}
