/* apply_origin.c - is the host's tree around a path the one that the box saw: is the file gone that
 * the box's copy was made of, was a directory above it moved? Called by apply_judge.c.
 *
 * overlayfs writes on a copied file which inode it came from, and the mark stays when the box
 * renames it. So the mark alone says nothing: the origin is gone when no tree below has that inode
 * any more, and we did not take it away ourselves. It must never stop at a guess: where the mark
 * cannot be read, a directory that nobody touched since the box started has lost nothing. */
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
        bool is_cut; /* deeper than we look: nothing can be said to be gone */
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

static uint64_t origin_of(int dir_fd, const char *name)
{
        struct ws_marks m = {0};
        _cleanup_close_ int fd =
                openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        return fd >= 0 && view_marks(fd, &m, NULL) == 0 ? m.origin_ino : 0;
}

/* collect(o, fd, is_overlay, depth): owns the descriptor. */
static void collect(struct apply_origins *o, int fd, bool is_overlay, unsigned depth)
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
                if (e->d_type == DT_DIR)
                        collect(o,
                                openat(fd, e->d_name,
                                       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
                                is_overlay, depth + 1);
                else if (e->d_type == DT_REG || e->d_type == DT_UNKNOWN)
                        add(o, e->d_ino, is_overlay ? origin_of(fd, e->d_name) : 0);
                if (e->d_type == DT_UNKNOWN)
                        o->is_cut = true;
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
                collect(o, openat(l->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), l->is_overlay,
                        0);
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

bool apply_origin_is_gone(const struct ws_change *c, const struct applied *a, int64_t since_ns)
{
        if (c->after.kind != WS_FILE || !c->after.has_origin || !is_touched(c, since_ns))
                return false;
        if (c->after.origin_ino == 0)
                return true;
        struct apply_origins *own = NULL, **kept = applied_origins(a);
        if (!kept)
                kept = &own;
        if (!*kept)
                *kept = origins_of(c->root);
        bool is_gone = !(*kept)->is_cut && !is_around(*kept, a, c->root->name, c->after.origin_ino);
        apply_origins_free(own);
        return is_gone;
}
