/* scan.c - see scan.h. Called by links.c and by the classifier. It holds at most KEEP_OPEN
 * descriptors: a directory far up is left, and found again by "..", checked by inode. */
#include "workspace/scan.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "base/strs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEEP_OPEN = 64, DEPTH_MAX = 16384 };

static const int scan_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

struct scan_dir {
        struct scan_dir *up;
        int fd; /* -1: left */
        ino_t ino;
        dev_t dev;
        size_t path_len, depth;
        struct strs subs; /* directories in it that are still to be entered; the last one next */
};

struct scan {
        scan_fn *fn;
        void *ctx;
        struct buf path;
        struct scan_dir *top;
        dev_t dev;
};

static unsigned char scan_type(int fd, const struct dirent *e)
{
        struct stat st;
        if (e->d_type != DT_UNKNOWN)
                return e->d_type;
        return fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? IFTODT(st.st_mode)
                                                                     : DT_UNKNOWN;
}

static void scan_path(struct scan *s, const struct scan_dir *d, const char *name)
{
        s->path.len = d->path_len;
        if (d->path_len)
                buf_put_u8(&s->path, '/');
        buf_put_str(&s->path, name);
}

/* scan_list(s, d): tell what is in it. true: enough. */
static bool scan_list(struct scan *s, struct scan_dir *d)
{
        int fd = openat(d->fd, ".", scan_flags);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);
        bool is_over = false;
        if (!dir && fd >= 0)
                close(fd);
        for (struct dirent *e; !is_over && dir && (e = readdir(dir));) {
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                unsigned char type = scan_type(d->fd, e);
                scan_path(s, d, e->d_name);
                enum scan_next next = s->fn(s->ctx, d->fd, e->d_name, buf_cstr(&s->path), type);
                is_over = next == SCAN_STOP;
                if (next == SCAN_GO && type == DT_DIR && d->depth < DEPTH_MAX)
                        strs_add(&d->subs, e->d_name);
        }
        if (dir)
                closedir(dir);
        return is_over;
}

/* scan_push(s, fd): takes over ${fd}; false when it is on another filesystem. */
static bool scan_push(struct scan *s, int fd)
{
        struct stat st;
        if (fstat(fd, &st) < 0 || (s->top && st.st_dev != s->dev)) {
                close(fd);
                return false;
        }
        struct scan_dir *d = calloc(1, sizeof *d);
        if (!d)
                str_no_memory();
        *d = (struct scan_dir){.up = s->top,
                               .fd = fd,
                               .ino = st.st_ino,
                               .dev = st.st_dev,
                               .path_len = s->path.len,
                               .depth = s->top ? s->top->depth + 1 : 0};
        s->dev = st.st_dev;
        s->top = d;
        struct scan_dir *far = d;
        for (int i = 0; far && i < KEEP_OPEN; i++)
                far = far->up;
        if (far)
                close_fd(&far->fd);
        return true;
}

/* scan_pop(s): back to the directory above; all that is open of it is found again. */
static void scan_pop(struct scan *s)
{
        struct scan_dir *d = s->top, *up = d->up;
        struct stat st;
        if (up && up->fd < 0) {
                up->fd = openat(d->fd, "..", scan_flags);
                if (up->fd < 0 || fstat(up->fd, &st) < 0 || st.st_ino != up->ino ||
                    st.st_dev != up->dev)
                        strs_free(&up->subs); /* moved meanwhile: nothing more is found there */
        }
        s->top = up;
        close_fd(&d->fd);
        strs_free(&d->subs);
        free(d);
}

void scan_tree(int fd, scan_fn *fn, void *ctx)
{
        struct scan s = {.fn = fn, .ctx = ctx, .path = {.max = (size_t)1 << 30}};
        int root = openat(fd, ".", scan_flags);
        bool is_over = root < 0 || !scan_push(&s, root) || scan_list(&s, s.top);
        while (s.top) {
                struct scan_dir *d = s.top;
                if (is_over || d->subs.n == 0 || d->fd < 0) {
                        scan_pop(&s);
                        continue;
                }
                scan_path(&s, d, d->subs.v[d->subs.n - 1]);
                int sub = openat(d->fd, d->subs.v[d->subs.n - 1], scan_flags);
                strs_remove(&d->subs, d->subs.n - 1);
                if (sub >= 0 && scan_push(&s, sub))
                        is_over = scan_list(&s, s.top);
        }
        buf_free(&s.path);
}
