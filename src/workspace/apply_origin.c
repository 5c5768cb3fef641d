/* apply_origin.c - is the host's tree around a path the one that the box saw: is the file gone that
 * the box's copy was made of, was a directory above it moved? Called by apply_judge.c.
 *
 * overlayfs writes on a copied file which inode it came from, and the mark stays when the box
 * renames it. So the mark alone says nothing: the origin is gone when no tree below has that inode
 * any more, and we did not take it away ourselves. In a user namespace the kernel leaves the inode
 * out; then the file counts as gone only if the box cannot have renamed it: it hides nothing of the
 * host. A directory that nobody touched since the box started has lost nothing in any case. */
#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "workspace/apply_int.h"
#include "workspace/view_int.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { DEPTH_MAX = 500 };

struct origin {
        uint64_t ino, of; /* of: what it was itself copied from, in a frozen layer; 0: nothing */
};
struct apply_origins {
        struct origin *v; /* sorted by ino */
        size_t n, cap;
        bool is_cut;     /* deeper than we look: nothing can be said to be gone */
        bool has_hidden; /* the box deleted, or moved, something of the host */
};

void apply_origins_free(struct apply_origins *o)
{
        if (o)
                free(o->v);
        free(o);
}

static void add(struct apply_origins *o, uint64_t ino, uint64_t of)
{
        if (o->n == o->cap) {
                o->cap = o->cap ? o->cap * 2 : 256;
                o->v = reallocarray(o->v, o->cap, sizeof *o->v);
                if (!o->v)
                        str_no_memory();
        }
        o->v[o->n++] = (struct origin){ino, of};
}

static struct ws_marks marks_of(int dir_fd, const char *name)
{
        struct ws_marks m = {0};
        _cleanup_close_ int fd =
                openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 || view_marks(fd, &m, NULL) < 0)
                m = (struct ws_marks){0};
        return m;
}

/* hides(host_fd, e, m): has something of the host been taken away, so that this could take its
 * place? A file of the host that was only written to has a mark of where it comes from. */
static bool hides(int host_fd, const struct dirent *e, const struct ws_marks *m)
{
        struct stat st;
        if (host_fd < 0 || fstatat(host_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return false;
        if (e->d_type == DT_DIR)
                return !S_ISDIR(st.st_mode);
        return S_ISDIR(st.st_mode) || !m->has_origin;
}

/* collect(o, fd, host_fd, is_overlay, depth): owns ${fd}; ${host_fd} is the host's directory of
 * that path, or -1. */
static void collect(struct apply_origins *o, int fd, int host_fd, bool is_overlay, unsigned depth)
{
        DIR *d = fd < 0 ? NULL : fdopendir(fd);
        struct dirent *e;
        if (!d || depth > DEPTH_MAX) {
                o->is_cut = true;
                if (d)
                        closedir(d);
                else if (fd >= 0)
                        close(fd);
                return;
        }
        while ((e = readdir(d))) {
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                struct ws_marks m = {0};
                if (is_overlay && (e->d_type == DT_DIR || e->d_type == DT_REG))
                        m = marks_of(fd, e->d_name);
                o->has_hidden |= is_overlay && (m.is_opaque || m.is_whiteout ||
                                                e->d_type == DT_CHR || hides(host_fd, e, &m));
                o->is_cut |= e->d_type == DT_UNKNOWN;
                if (e->d_type == DT_DIR) {
                        static const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
                        _cleanup_close_ int below =
                                host_fd < 0 ? -1 : openat(host_fd, e->d_name, flags);
                        collect(o, openat(fd, e->d_name, flags), below, is_overlay, depth + 1);
                } else if (e->d_type == DT_REG)
                        add(o, e->d_ino, m.origin_ino);
        }
        closedir(d);
}

static int by_ino(const void *a, const void *b)
{
        uint64_t x = ((const struct origin *)a)->ino, y = ((const struct origin *)b)->ino;
        return x < y ? -1 : x > y;
}

static struct apply_origins *origins_of(const struct ws_root *r)
{
        struct apply_origins *o = calloc(1, sizeof *o);
        if (!o)
                str_no_memory();
        for (size_t i = 0; i < r->after.n; i++) {
                const struct ws_layer *l = &r->after.layers[i];
                collect(o, openat(l->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                        l->is_overlay ? r->host_fd : -1, l->is_overlay, 0);
        }
        if (o->n > 0)
                qsort(o->v, o->n, sizeof *o->v, by_ino);
        return o;
}

/* is_around(o, a, layer, ino): is it in one of the trees, down to the host's? */
static bool is_around(const struct apply_origins *o, const struct applied *a, const char *layer,
                      uint64_t ino)
{
        for (unsigned hops = 0; hops < 500; hops++) {
                struct origin key = {.ino = ino};
                const struct origin *got =
                        o->n ? bsearch(&key, o->v, o->n, sizeof *o->v, by_ino) : NULL;
                if (!got)
                        return applied_took(a, layer, ino);
                if (got->of == 0 || got->of == ino)
                        return true;
                ino = got->of;
        }
        return true;
}

static int64_t ns_of(struct timespec t)
{
        return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* is_touched(c, since): was the nearest directory that the host has above it changed since then? To
 * delete or move a file is to change its directory. */
static bool is_touched(const struct ws_change *c, int64_t since_ns)
{
        _cleanup_free_ char *path = str_dup(c->path);
        for (;;) {
                char *slash = strrchr(path, '/');
                *(slash ? slash : path) = 0;
                _cleanup_close_ int fd = beneath_open_nosym(c->root->host_fd, *path ? path : ".",
                                                            O_PATH | O_DIRECTORY, 0, NULL);
                struct stat st;
                if (fd >= 0 && fstat(fd, &st) == 0)
                        return ns_of(st.st_ctim) >= since_ns;
                if (!slash)
                        return true;
        }
}

/* To rename a directory changes its ctime and not its mtime; what is in it keeps both. (One that
 * was moved and then written in cannot be told from one that was only written in.) */
bool apply_is_moved(const struct ws_change *c, const struct applied *a, int64_t since_ns)
{
        _cleanup_free_ char *path = str_dup(c->path);
        for (char *slash; (slash = strrchr(path, '/'));) {
                *slash = 0;
                _cleanup_close_ int fd =
                        beneath_open_nosym(c->root->host_fd, path, O_PATH | O_DIRECTORY, 0, NULL);
                struct stat st;
                if (fd < 0 || fstat(fd, &st) < 0)
                        continue;
                struct undo_state now = {.kind = 'd', .mode = st.st_mode & 0777};
                if (ns_of(st.st_ctim) >= since_ns && ns_of(st.st_mtim) < since_ns &&
                    !applied_is_ours(a, c->root->name, path, &now))
                        return true;
        }
        return false;
}

/* is_frozen(c): does a layer below have it? Then that one is the origin. */
static bool is_frozen(const struct ws_change *c)
{
        const struct ws_view *v = &c->root->after;
        for (size_t i = c->after.layer + 1; i < v->n; i++) {
                if (!v->layers[i].is_overlay)
                        continue;
                _cleanup_close_ int fd =
                        beneath_open_nosym(v->layers[i].fd, c->path, O_PATH | O_NOFOLLOW, 0, NULL);
                if (fd >= 0)
                        return true;
        }
        return false;
}

bool apply_origin_is_gone(const struct ws_change *c, const struct applied *a, int64_t since_ns)
{
        if (c->after.kind != WS_FILE || !c->after.has_origin || !is_touched(c, since_ns))
                return false;
        struct apply_origins *own = NULL, **kept = applied_origins(a);
        if (!kept)
                kept = &own;
        if (!*kept)
                *kept = origins_of(c->root);
        const struct apply_origins *o = *kept;
        bool is_gone = !o->is_cut;
        if (is_gone && c->after.origin_ino)
                is_gone = !is_around(o, a, c->root->name, c->after.origin_ino);
        else if (is_gone)
                is_gone = !o->has_hidden && c->after.nlink == 1 && !is_frozen(c);
        apply_origins_free(own);
        return is_gone;
}
