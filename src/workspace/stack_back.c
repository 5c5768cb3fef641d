/* stack_back.c - see stack.h: taking one frozen layer back while later ones stay. Called for
 * `ostiary undo --turn`. The layer itself is not changed: another takes its place in the list, made
 * of links to what must stay, because something later was built on it. */
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
#include <unistd.h>

struct back {
        const struct stack_back *how;
        struct err *err;
        const char *layer;
        bool is_dry;
        bool is_whole; /* this layer stays as it is, without a word */
};

/* A directory as the later layers have it. */
struct later {
        struct stack_dir *v;
        size_t n;
};

static void later_free(struct later *l)
{
        for (size_t i = 0; i < l->n; i++)
                stack_dir_close(&l->v[i]);
        free(l->v);
        *l = (struct later){0};
}

static void tell(const struct back *b, const char *path, bool is_kept)
{
        if (b->how->on_path && !b->is_whole)
                b->how->on_path(b->how->arg, b->layer, path, is_kept);
}

static bool is_opaque(int fd)
{
        char v[4] = "";
        return fgetxattr(fd, STACK_OPAQUE, v, sizeof v) == 1 && v[0] == 'y';
}

/* is_touched(l, name): does a later layer say anything of it? */
static bool is_touched(const struct later *l, const char *name)
{
        struct stat st;
        for (size_t i = 0; i < l->n; i++)
                if (fstatat(l->v[i].fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
                        return true;
        return false;
}

/* gather(l, name, sub): the later layers that have this directory; 1 when one of them has replaced
 * or removed it. */
static int gather(const struct later *l, const char *name, struct later *sub, struct err *err)
{
        *sub = (struct later){.v = calloc(l->n + 1, sizeof *sub->v)};
        if (!sub->v)
                str_no_memory();
        for (size_t i = 0; i < l->n; i++) {
                struct stat st;
                if (fstatat(l->v[i].fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                if (!S_ISDIR(st.st_mode))
                        return 1;
                sub->n++;
                if (stack_dir_open(l->v[i].fd, name, &sub->v[sub->n - 1]) < 0)
                        return err_sys(err, "open a directory of a layer");
                if (is_opaque(sub->v[sub->n - 1].fd))
                        return 1;
        }
        return 0;
}

static int walk(const struct back *, const struct stack_dir *from, const struct later *, int to,
                const char *path, bool is_all, int depth, size_t *kept_n);

/* walk_sub(...): one directory of the turn; it is made in ${to} when something in it stays. */
static int walk_sub(const struct back *b, int from, const char *name, const struct later *l, int to,
                    const char *path, bool is_all, int depth, size_t *kept_n)
{
        struct stack_dir d;
        struct later sub = {0};
        size_t inside = 0;
        int r = stack_dir_open(from, name, &d) < 0 ? err_sys(b->err, "open a directory of a layer")
                                                   : 0;
        int replaced = r < 0 || is_all ? 0 : gather(l, name, &sub, b->err);
        /* What the turn put in the place of another directory can only stay or go as a whole. */
        bool is_whole = is_all || replaced > 0 || (r == 0 && is_opaque(d.fd) && sub.n > 0);
        if (replaced < 0)
                r = -1;
        if (r == 0 && !b->is_dry && mkdirat(to, name, 0700) < 0)
                r = err_sys(b->err, "make a directory");
        _cleanup_close_ int made =
                r < 0 || b->is_dry
                        ? -1
                        : openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (r == 0 && made < 0 && !b->is_dry)
                r = err_sys(b->err, "open a directory");
        if (r == 0)
                r = walk(b, &d, &sub, made, path, is_whole, depth + 1, &inside);
        bool is_kept = inside || is_whole;
        if (r == 0 && made >= 0 && is_kept && stack_attrs(d.fd, made, &d.st, true) < 0)
                r = err_sys(b->err, "set the attributes of a directory");
        if (r == 0 && made >= 0 && !is_kept)
                unlinkat(to, name, AT_REMOVEDIR);
        *kept_n += is_kept;
        later_free(&sub);
        stack_dir_close(&d);
        return r;
}

static int walk(const struct back *b, const struct stack_dir *from, const struct later *l, int to,
                const char *path, bool is_all, int depth, size_t *kept_n)
{
        if (depth > STACK_DEPTH_MAX)
                return err_set(b->err, E_INPUT, "the layers are more than %d levels deep",
                               STACK_DEPTH_MAX);
        _cleanup_closedir_ DIR *d = fdio_opendir(from->fd);
        if (!d)
                return err_sys(b->err, "read a directory of a layer");
        for (struct dirent *e; (e = readdir(d));) {
                struct stat st;
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                _cleanup_free_ char *sub =
                        *path ? str_fmt("%s/%s", path, e->d_name) : str_dup(e->d_name);
                if (fstatat(from->fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        return err_sys(b->err, "look into a layer");
                if (S_ISDIR(st.st_mode)) {
                        if (walk_sub(b, from->fd, e->d_name, l, to, sub, is_all, depth, kept_n) < 0)
                                return -1;
                        continue;
                }
                bool is_kept = is_all || is_touched(l, e->d_name);
                tell(b, sub, is_kept);
                if (is_kept && !b->is_dry && linkat(from->fd, e->d_name, to, e->d_name, 0) < 0)
                        return err_sys(b->err, "link a file of a layer");
                *kept_n += is_kept;
        }
        return 0;
}

/* open_later(box, frozen, s, at, name, l, err): the trees above entry ${at}, and the upper. */
static int open_later(int box_dir_fd, int frozen_fd, const struct stack *s, size_t at,
                      const char *name, struct later *l, struct err *err)
{
        *l = (struct later){.v = calloc(s->n + 1, sizeof *l->v)};
        if (!l->v)
                str_no_memory();
        for (size_t i = at + 1; i < s->n; i++) {
                _cleanup_close_ int entry = openat(frozen_fd, s->v[i].id,
                                                   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (entry < 0)
                        return err_sys(err, "open the frozen layer %s", s->v[i].id);
                if (stack_dir_open(entry, name, &l->v[l->n]) == 0)
                        l->n++;
                else if (errno != ENOENT)
                        return err_sys(err, "open the frozen layer %s", s->v[i].id);
        }
        _cleanup_free_ char *path = str_fmt("layers/%s", name);
        _cleanup_close_ int layer =
                beneath_open_nosym(box_dir_fd, path, O_RDONLY | O_DIRECTORY, 0, NULL);
        if (layer >= 0 && stack_dir_open(layer, "upper", &l->v[l->n]) == 0)
                l->n++;
        return 0;
}

static bool how_whole(const struct back *b, const char *name)
{
        return b->how->whole && strcmp(b->how->whole, name) == 0;
}

/* back_layer(b, ..., entry_from, entry_to, name, kept_n): one tree of the entry. */
static int back_layer(struct back *b, int box_dir_fd, int frozen_fd, const struct stack *s,
                      size_t at, int entry_from, int entry_to, const char *name, size_t kept_n[2])
{
        struct stack_dir d = {.fd = -1};
        struct later l = {0};
        size_t kept = 0;
        b->layer = name;
        b->is_whole = how_whole(b, name);
        if (b->is_whole && b->is_dry)
                return 0;
        int r = open_later(box_dir_fd, frozen_fd, s, at, name, &l, b->err);
        if (r == 0 && stack_dir_open(entry_from, name, &d) < 0)
                r = err_sys(b->err, "open the frozen layer %s", s->v[at].id);
        if (r == 0 && !b->is_dry && mkdirat(entry_to, name, 0700) < 0)
                r = err_sys(b->err, "make a frozen layer");
        _cleanup_close_ int to =
                r < 0 || b->is_dry
                        ? -1
                        : openat(entry_to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (r == 0 && to < 0 && !b->is_dry)
                r = err_sys(b->err, "open a frozen layer");
        if (r == 0)
                r = walk(b, &d, &l, to, "", b->is_whole, 0, &kept);
        if (r == 0 && to >= 0 && kept && stack_attrs(d.fd, to, &d.st, true) < 0)
                r = err_sys(b->err, "set the attributes of a directory");
        if (r == 0 && to >= 0 && !kept)
                unlinkat(entry_to, name, AT_REMOVEDIR);
        kept_n[b->is_whole] += kept;
        later_free(&l);
        stack_dir_close(&d);
        return r;
}

static int back_all(struct back *b, int box_dir_fd, int frozen_fd, const struct stack *s, size_t at,
                    int entry_to, size_t kept_n[2])
{
        int entry = openat(frozen_fd, s->v[at].id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        _cleanup_closedir_ DIR *d = entry < 0 ? NULL : fdopendir(entry);
        if (!d)
                return err_sys(b->err, "open the frozen layer %s", s->v[at].id);
        for (struct dirent *e; (e = readdir(d));)
                if (e->d_name[0] != '.' && strcmp(e->d_name, "info") != 0 &&
                    back_layer(b, box_dir_fd, frozen_fd, s, at, entry, entry_to, e->d_name,
                               kept_n) < 0)
                        return -1;
        return 0;
}

int stack_back(int box_dir_fd, int frozen_fd, struct stack *s, size_t at,
               const struct stack_back *how, struct err *err)
{
        struct back b = {.how = how, .err = err, .is_dry = how->is_dry};
        struct stack_fresh f = {.hold_fd = -1, .entry_fd = -1};
        size_t kept_n[2] = {0}; /* paths that stay because of something later; of the whole layer */
        openfiles_raise();      /* a deep tree needs a descriptor or two per level */
        if (!b.is_dry && stack_fresh_make(frozen_fd, s->v[at].kind, s->v[at].label, &f, err) < 0)
                return -1;
        int r = back_all(&b, box_dir_fd, frozen_fd, s, at, f.entry_fd, kept_n);
        if (b.is_dry)
                return r;
        bool is_left = kept_n[0] + kept_n[1] != 0;
        if (r == 0 && is_left)
                memcpy(s->v[at].id, f.id, sizeof f.id);
        else if (r == 0)
                stack_drop(s, at);
        if (r == 0 && is_left && !kept_n[0]) {
                free(s->v[at].kind);
                s->v[at].kind = str_dup("snapshot"); /* it is no turn any more */
        }
        if (r == 0)
                r = stack_write(box_dir_fd, "stack", s, err);
        stack_fresh_end(frozen_fd, &f, r == 0 && is_left);
        return r;
}
