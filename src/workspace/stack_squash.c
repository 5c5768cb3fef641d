/* stack_squash.c - see stack.h: many frozen layers made one, so that looking a file up stays short.
 * Called in the background after a freeze, or before a box is woken. Reads the old trees and
 * changes nothing in them; files are hard links, which is right because nobody writes to a frozen
 * layer. What shows through the new layer is what showed through the old ones, over anything that
 * may lie below: whiteouts and opaque directories therefore stay. */
#include "workspace/stack.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/openfiles.h"
#include "base/str.h"
#include "base/strs.h"
#include "workspace/stack_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

/* One directory as several layers have it, topmost first. */
struct merged {
        struct stack_dir *v;
        size_t n;
        bool is_closed; /* nothing below the last one shines through */
};

static void merged_free(struct merged *m)
{
        for (size_t i = 0; i < m->n; i++)
                stack_dir_close(&m->v[i]);
        free(m->v);
        *m = (struct merged){0};
}

/* opaque_of(fd): 'y', 'x' (holds files that are whiteouts by xattr), or 0. */
static char opaque_of(int fd)
{
        char v[4] = "";
        return fgetxattr(fd, STACK_OPAQUE, v, sizeof v) == 1 ? v[0] : 0;
}

/* is_hidden(dir, name, st): does this layer say that the name is gone? */
static bool is_hidden(const struct stack_dir *d, const char *name, const struct stat *st)
{
        if (stack_is_whiteout(st))
                return true;
        if (!S_ISREG(st->st_mode) || st->st_size != 0 || opaque_of(d->fd) != 'x')
                return false;
        _cleanup_close_ int fd =
                openat(d->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        return fd >= 0 && fgetxattr(fd, STACK_WHITEOUT, NULL, 0) >= 0;
}

/* gather(m, from, name, sub): the directory ${name} as it is from layer ${from} downwards. */
static int gather(const struct merged *m, size_t from, const char *name, struct merged *sub,
                  struct err *err)
{
        *sub = (struct merged){.v = calloc(m->n, sizeof *sub->v)};
        if (!sub->v)
                str_no_memory();
        for (size_t i = from; i < m->n && !sub->is_closed; i++) {
                struct stat st;
                if (fstatat(m->v[i].fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
                        if (errno == ENOENT)
                                continue;
                        return err_sys(err, "look into a frozen layer");
                }
                if (!S_ISDIR(st.st_mode)) {
                        sub->is_closed = true;
                        break;
                }
                sub->n++;
                if (stack_dir_open(m->v[i].fd, name, &sub->v[sub->n - 1]) < 0)
                        return err_sys(err, "open a directory of a frozen layer");
                sub->is_closed = opaque_of(sub->v[sub->n - 1].fd) == 'y';
        }
        return 0;
}

static int merge(const struct merged *, int to, int depth, struct err *);

static int merge_sub(const struct merged *m, size_t from, const char *name, int to, int depth,
                     struct err *err)
{
        struct merged sub;
        int r = gather(m, from, name, &sub, err);
        if (r == 0 && mkdirat(to, name, 0700) < 0)
                r = err_sys(err, "make a directory");
        _cleanup_close_ int made =
                r < 0 ? -1 : openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (r == 0 && made < 0)
                r = err_sys(err, "open a directory");
        if (r == 0)
                r = merge(&sub, made, depth + 1, err);
        merged_free(&sub);
        return r;
}

/* merge_one(m, at, name, to): a name that no layer above ${at} has. */
static int merge_one(const struct merged *m, size_t at, const char *name, int to, int depth,
                     struct err *err)
{
        const struct stack_dir *d = &m->v[at];
        struct stat st;
        if (fstatat(d->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return err_sys(err, "look into a frozen layer");
        if (S_ISDIR(st.st_mode))
                return merge_sub(m, at, name, to, depth, err);
        if (!stack_is_whiteout(&st) && is_hidden(d, name, &st))
                return mknodat(to, name, S_IFCHR, 0) < 0 ? err_sys(err, "make a whiteout") : 0;
        if (linkat(d->fd, name, to, name, 0) == 0)
                return 0;
        if (errno != EMLINK && errno != EPERM)
                return err_sys(err, "link a file of a frozen layer");
        return S_ISREG(st.st_mode) ? stack_copy_file(d->fd, name, &st, to, err)
                                   : stack_copy_other(d->fd, name, &st, to, err);
}

static int merge_layer(const struct merged *m, size_t at, int to, int depth, struct err *err)
{
        _cleanup_closedir_ DIR *d = fdio_opendir(m->v[at].fd);
        if (!d)
                return err_sys(err, "read a directory of a frozen layer");
        for (struct dirent *e; (e = readdir(d));) {
                struct stat st;
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                /* What is there came from above, and hides this one. */
                if (fstatat(to, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 &&
                    merge_one(m, at, e->d_name, to, depth, err) < 0)
                        return -1;
        }
        return 0;
}

static int merge(const struct merged *m, int to, int depth, struct err *err)
{
        if (depth > STACK_DEPTH_MAX)
                return err_set(err, E_INPUT, "the layers are more than %d levels deep",
                               STACK_DEPTH_MAX);
        for (size_t i = 0; i < m->n; i++)
                if (merge_layer(m, i, to, depth, err) < 0)
                        return -1;
        if (stack_attrs(m->v[0].fd, to, &m->v[0].st, true) < 0)
                return err_sys(err, "set the attributes of a directory");
        /* Who may not write to a directory may not mark it either, its owner included. */
        mode_t mode = m->v[0].st.st_mode & 07777;
        if (!(mode & S_IWUSR) && fchmod(to, mode | S_IRWXU) < 0)
                return err_sys(err, "open a directory for its mark");
        fremovexattr(to, STACK_OPAQUE);
        if (m->is_closed && fsetxattr(to, STACK_OPAQUE, "y", 1, 0) < 0)
                return err_sys(err, "mark a directory");
        if (!(mode & S_IWUSR) && fchmod(to, mode) < 0)
                return err_sys(err, "set the mode of a directory");
        struct timespec t[2] = {m->v[0].st.st_atim, m->v[0].st.st_mtim};
        futimens(to, t);
        return 0;
}

/* squash_name(frozen_fd, s, from, to, name, entry): the trees of one layer name. */
static int squash_name(int frozen_fd, const struct stack *s, size_t from, size_t to,
                       const char *name, int entry, struct err *err)
{
        struct merged m = {.v = calloc(to - from, sizeof *m.v)};
        int r = 0;
        if (!m.v)
                str_no_memory();
        for (size_t i = to; r == 0 && i-- > from;) {
                _cleanup_close_ int e = openat(frozen_fd, s->v[i].id,
                                               O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                struct stack_dir d = {.fd = -1};
                if (e >= 0 && stack_dir_open(e, name, &d) == 0)
                        m.v[m.n++] = d;
                else if (e < 0 || errno != ENOENT)
                        r = err_sys(err, "open the frozen layer %s", s->v[i].id);
        }
        if (r == 0 && m.n && mkdirat(entry, name, 0700) < 0)
                r = err_sys(err, "make a frozen layer");
        _cleanup_close_ int made =
                r < 0 || !m.n
                        ? -1
                        : openat(entry, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (r == 0 && m.n)
                r = made < 0 ? err_sys(err, "open a frozen layer") : merge(&m, made, 0, err);
        merged_free(&m);
        return r;
}

/* names_of(frozen_fd, s, from, to, names): which layers these entries speak of. */
static int names_of(int frozen_fd, const struct stack *s, size_t from, size_t to,
                    struct strs *names, struct err *err)
{
        for (size_t i = from; i < to; i++) {
                int fd = openat(frozen_fd, s->v[i].id,
                                O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                _cleanup_closedir_ DIR *d = fd < 0 ? NULL : fdopendir(fd);
                if (!d)
                        return err_sys(err, "open the frozen layer %s", s->v[i].id);
                for (struct dirent *e; (e = readdir(d));)
                        if (e->d_name[0] != '.' && !str_starts(e->d_name, "info") &&
                            !strs_has(names, e->d_name))
                                strs_add(names, e->d_name);
        }
        return 0;
}

/* squash_run(frozen_fd, s, from, to): entries from..to-1 become one. */
static int squash_run(int frozen_fd, struct stack *s, size_t from, size_t to, struct err *err)
{
        _cleanup_strs_ struct strs names = {0};
        _cleanup_free_ char *label = str_fmt("%zu layers", to - from);
        struct stack_fresh f;
        if (names_of(frozen_fd, s, from, to, &names, err) < 0 ||
            stack_fresh_make(frozen_fd, "squash", label, &f, err) < 0)
                return -1;
        int r = 0;
        for (size_t i = 0; r == 0 && i < names.n; i++)
                r = squash_name(frozen_fd, s, from, to, names.v[i], f.entry_fd, err);
        if (r == 0) {
                struct stack_entry *e = &s->v[to - 1];
                memcpy(e->id, f.id, sizeof f.id);
                free(e->kind);
                free(e->label);
                e->kind = str_dup("squash");
                e->label = take_ptr(&label);
                for (size_t i = from; i < to - 1; i++)
                        stack_drop(s, from);
        }
        stack_fresh_end(frozen_fd, &f, r == 0);
        return r;
}

int stack_squash(int frozen_fd, struct stack *s, size_t keep_n, struct err *err)
{
        openfiles_raise(); /* a deep tree needs a descriptor or two per level */
        size_t end = s->n > keep_n ? s->n - keep_n : 0;
        /* From the top, so that what is dropped does not move what is still to be looked at. A turn
         * stays by itself: it is diffed and undone apart. */
        while (end > 0) {
                size_t from = end;
                while (from > 0 && strcmp(s->v[from - 1].kind, "turn") != 0)
                        from--;
                if (end - from >= 2 && squash_run(frozen_fd, s, from, end, err) < 0)
                        return -1;
                end = from > 0 ? from - 1 : 0;
        }
        return 0;
}
