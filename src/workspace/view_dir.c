/* view_dir.c - one directory of a view: the layers that take part in it, looking up a name in them,
 * opening what was found. Called by view.c and the walk. Everything by descriptor and one component
 * at a time; nothing is ever followed (cases 71, 72, B3). */
#include "workspace/view_int.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "wire/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static const int dir_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
/* A FIFO that was swapped in must not hold us up. */
static const int file_flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

static struct ws_dir *dir_new(const struct ws_view *v, size_t n)
{
        struct ws_dir *d = calloc(1, sizeof *d + n * sizeof d->parts[0]);
        if (!d)
                str_no_memory();
        d->view = v;
        return d;
}

void ws_dir_close(struct ws_dir *d)
{
        if (!d)
                return;
        for (size_t i = 0; i < d->n && !d->is_root; i++)
                close_fd(&d->parts[i].fd);
        free(d);
}

/* dir_add(d, layer, fd, marks, err): one more part; takes over ${fd}. */
static int dir_add(struct ws_dir *d, size_t layer, int fd, struct ws_marks *m, struct err *err)
{
        struct ws_part *p = &d->parts[d->n];
        struct stat st;
        *p = (struct ws_part){.layer = layer, .fd = fd};
        d->n++;
        *m = (struct ws_marks){0};
        if (fstat(fd, &st) < 0)
                return err_sys(err, "look at a directory of a layer");
        if (d->view->layers[layer].is_overlay && view_marks(fd, m, err) < 0)
                return -1;
        p->has_xattr_wh = m->has_xattr_wh;
        p->dev = st.st_dev;
        p->ino = st.st_ino;
        return 0;
}

struct ws_dir *ws_dir_root(const struct ws_view *v, struct err *err)
{
        struct ws_dir *d = dir_new(v, v->n);
        d->is_root = true;
        for (size_t i = 0; i < v->n; i++) {
                struct ws_marks m;
                if (dir_add(d, i, v->layers[i].fd, &m, err) < 0) {
                        ws_dir_close(d);
                        return NULL;
                }
                if (m.is_opaque)
                        break;
        }
        return d;
}

/* open_marks(dir_fd, name, is_dir, marks, err): by opening it; 1 when it is not there any more.
 * Unreadable: its marks stay unknown. The walk tells such an entry as one that cannot be read, so
 * nothing hides behind it. */
static int open_marks(int dir_fd, const char *name, bool is_dir, struct ws_marks *m,
                      struct err *err)
{
        _cleanup_close_ int fd = openat(dir_fd, name, is_dir ? dir_flags : file_flags);
        if (fd >= 0)
                return view_marks(fd, m, err);
        if (errno == EACCES || errno == EPERM)
                return 0;
        return errno == ENOENT ? 1 : err_sys(err, "open an entry of a layer");
}

/* found(d, part, name, st, marks, err): what one layer has by that name: 1 something, 0 nothing
 * that shows but what is below does, 2 nothing and nothing below either; -1 an error. Directories
 * and files of overlays come with their marks. */
static int found(const struct ws_dir *d, const struct ws_part *p, const char *name, struct stat *st,
                 struct ws_marks *m, struct err *err)
{
        *m = (struct ws_marks){0};
        if (fstatat(p->fd, name, st, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? 0 : err_sys(err, "look at an entry of a layer");
        if (!d->view->layers[p->layer].is_overlay)
                return 1;
        if (S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0))
                return 2;
        if (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode))
                return 1;
        int asks = view_marks_at(p->fd, name, m, err);
        if (asks > 0)
                asks = open_marks(p->fd, name, S_ISDIR(st->st_mode), m, err);
        if (asks != 0)
                return asks < 0 ? -1 : 0;
        bool is_hidden = S_ISREG(st->st_mode) && st->st_size == 0 && p->has_xattr_wh;
        return is_hidden && m->is_whiteout ? 2 : 1;
}

int ws_dir_look(const struct ws_dir *d, const char *name, struct ws_node *node, struct err *err)
{
        *node = (struct ws_node){.kind = WS_NONE};
        if (!tree_name_is_one(name))
                return err_set(err, E_INPUT, "that is no name of an entry");
        for (size_t i = 0; i < d->n; i++) {
                struct stat st;
                struct ws_marks m;
                int what = found(d, &d->parts[i], name, &st, &m, err);
                if (what < 0)
                        return -1;
                if (what == 2) { /* since when it is gone is part of the story */
                        node->ctime_ns =
                                (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec;
                        node->ino = st.st_ino; /* overlayfs gives many names one mark */
                        node->layer = d->parts[i].layer;
                        return 0;
                }
                if (what == 0)
                        continue;
                view_node_of(&st, d->parts[i].layer, node);
                node->is_opaque = S_ISDIR(st.st_mode) && m.is_opaque;
                node->has_origin = m.has_origin;
                node->origin_ino = m.origin_ino;
                return 0;
        }
        return 0;
}

static void set_no_dir(struct err *err, int sys)
{
        errno = sys;
        err_sys(err, "open a directory of a layer");
}

struct ws_dir *ws_dir_open(const struct ws_dir *parent, const char *name, struct err *err)
{
        if (!tree_name_is_one(name)) {
                set_no_dir(err, ENOENT);
                return NULL;
        }
        struct ws_dir *d = dir_new(parent->view, parent->n);
        for (size_t i = 0; i < parent->n; i++) {
                const struct ws_part *p = &parent->parts[i];
                struct ws_marks m;
                int fd = openat(p->fd, name, dir_flags);
                if (fd < 0 && errno == ENOENT)
                        continue;
                if (fd < 0 && (errno == ENOTDIR || errno == ELOOP)) {
                        /* A file or a link hides what is below it; a whiteout does too. */
                        if (d->n > 0)
                                break;
                        struct stat st;
                        int what = found(parent, p, name, &st, &m, NULL);
                        set_no_dir(err, what == 2 ? ENOENT : ENOTDIR);
                        goto fail;
                }
                if (fd < 0) {
                        err_sys(err, "open a directory of a layer");
                        goto fail;
                }
                if (dir_add(d, p->layer, fd, &m, err) < 0)
                        goto fail;
                if (m.is_opaque)
                        break;
        }
        if (d->n > 0)
                return d;
        set_no_dir(err, ENOENT);
fail:
        ws_dir_close(d);
        return NULL;
}

static const struct ws_part *part_of(const struct ws_dir *d, size_t layer)
{
        for (size_t i = 0; i < d->n; i++)
                if (d->parts[i].layer == layer)
                        return &d->parts[i];
        return NULL;
}

int ws_dir_file(const struct ws_dir *d, const char *name, const struct ws_node *node,
                struct err *err)
{
        const struct ws_part *p = part_of(d, node->layer);
        struct stat st;
        if (!p || node->kind != WS_FILE || !tree_name_is_one(name))
                return err_set(err, E_INPUT, "there is no such file in the layer");
        _cleanup_close_ int fd = openat(p->fd, name, file_flags);
        if (fd < 0)
                return err_sys(err, "open a file of a layer");
        if (fstat(fd, &st) < 0)
                return err_sys(err, "look at a file of a layer");
        if (!S_ISREG(st.st_mode) || st.st_dev != node->dev || st.st_ino != node->ino) {
                errno = ESTALE;
                return err_sys(err, "a file was replaced while it was looked at");
        }
        return take_fd(&fd);
}

int ws_dir_link(const struct ws_dir *d, const char *name, const struct ws_node *node,
                struct buf *target, struct err *err)
{
        const struct ws_part *p = part_of(d, node->layer);
        char text[PATH_MAX + 1];
        if (!p || node->kind != WS_LINK || !tree_name_is_one(name))
                return err_set(err, E_INPUT, "there is no such link in the layer");
        ssize_t n = readlinkat(p->fd, name, text, sizeof text);
        if (n < 0)
                return err_sys(err, "read a link of a layer");
        buf_put(target, text, (size_t)n);
        return 0;
}

void ws_dir_sleep(struct ws_dir *d, const struct ws_dir *child)
{
        for (size_t i = 0, c = 0; i < d->n && !d->is_root; i++) {
                while (c < child->n && child->parts[c].layer < d->parts[i].layer)
                        c++;
                if (c < child->n && child->parts[c].layer == d->parts[i].layer)
                        close_fd(&d->parts[i].fd);
        }
}

int ws_dir_wake(struct ws_dir *d, const struct ws_dir *child, struct err *err)
{
        for (size_t i = 0; i < d->n && !d->is_root; i++) {
                struct ws_part *p = &d->parts[i];
                struct stat st;
                if (p->fd >= 0)
                        continue;
                const struct ws_part *from = part_of(child, p->layer);
                if (!from || (p->fd = openat(from->fd, "..", dir_flags)) < 0)
                        return err_sys(err, "go back to a directory of a layer");
                if (fstat(p->fd, &st) < 0)
                        return err_sys(err, "look at a directory of a layer");
                if (st.st_dev != p->dev || st.st_ino != p->ino)
                        return err_set(err, E_INPUT,
                                       "a directory was moved while it was read: the box is "
                                       "running; try again, or stop it first");
        }
        return 0;
}
