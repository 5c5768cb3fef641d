/* apply_ground.c - what never lands, whoever chose it: anything of a git directory, and what would make
 * a directory of the host one. The walk does not tell the first and refuses the second; here both
 * are judged once more by the paths that are to land and by the host as it is, so that no list of
 * choices and no sequence of applies can do what one may not (cases 62, 75). Called by apply.c. */
#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "policy/git_shape.h"
#include "workspace/apply_int.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A directory in which a part of a git directory is to land. */
struct apply_ground_dir {
        const char *path; /* borrowed; the first ${len} bytes of it */
        size_t len;
        unsigned bits;
};

/* --- the host --------------------------------------------------------------------------------- */

/* host_shape(root_fd, dir, len): which parts of a git directory are there. */
static unsigned host_shape(int root_fd, const char *dir, size_t len)
{
        struct stat st;
        unsigned bits = 0;
        const char *name;
        _cleanup_free_ char *path = len ? str_fmt("%.*s", (int)len, dir) : str_dup(".");
        _cleanup_close_ int fd =
                beneath_open_nosym(root_fd, path, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0, NULL);
        for (unsigned i = 0; fd >= 0 && (name = git_shape_bit_name(i)); i++)
                if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
                        bits |= 1U << i;
        return bits;
}

/* common(a, b): the length of the directories that both paths begin with. */
static size_t common(const char *a, const char *b)
{
        size_t n = 0, end = 0;
        while (a[n] && a[n] == b[n]) {
                n++;
                if ((a[n] == '/' || !a[n]) && (b[n] == '/' || !b[n]))
                        end = n;
        }
        return end;
}

/* is_in_git(g, path): is a directory above it one of git's on the host? Paths come mostly in order,
 * so what was found clean for the last one is not looked at again. */
static bool is_in_git(struct apply_ground *g, const char *path)
{
        const char *last = strrchr(path, '/');
        size_t end = last ? (size_t)(last - path) : 0;
        size_t done = g->clean ? common(g->clean, path) : 0;
        if (done > end)
                done = end;
        if (!g->clean && git_shape_is(host_shape(g->root->host_fd, "", 0)))
                return true;
        for (size_t n = done; n < end;) {
                n += path[n] == '/';
                n += strcspn(path + n, "/");
                if (git_shape_is(host_shape(g->root->host_fd, path, n)))
                        return true;
        }
        free(g->clean);
        g->clean = str_fmt("%.*s", (int)end, path);
        return false;
}

/* --- what is to land -------------------------------------------------------------------------- */

/* next_part(path, at, bit): the next component at or after ${at} that is a part of a git directory;
 * its start, or SIZE_MAX. */
static size_t next_part(const char *path, size_t at, unsigned *bit)
{
        while (path[at]) {
                size_t n = strcspn(path + at, "/");
                *bit = git_shape_bit(path + at, n);
                if (*bit)
                        return at;
                at += n + (path[at + n] == '/');
        }
        return SIZE_MAX;
}

static int by_path(const void *x, const void *y)
{
        const struct apply_ground_dir *a = x, *b = y;
        int order = memcmp(a->path, b->path, a->len < b->len ? a->len : b->len);
        return order ? order : (a->len > b->len) - (a->len < b->len);
}

static void add(struct apply_ground *g, const char *path, size_t at, unsigned bit)
{
        if ((g->n & (g->n - 1)) == 0) {
                size_t cap = g->n ? g->n * 2 : 1;
                g->v = reallocarray(g->v, cap, sizeof *g->v);
                if (!g->v)
                        str_no_memory();
        }
        g->v[g->n++] = (struct apply_ground_dir){path, at ? at - 1 : 0, bit};
}

static void merge(struct apply_ground *g)
{
        size_t n = 0;
        if (g->n)
                qsort(g->v, g->n, sizeof *g->v, by_path);
        for (size_t i = 0; i < g->n; i++) {
                if (n && by_path(&g->v[n - 1], &g->v[i]) == 0)
                        g->v[n - 1].bits |= g->v[i].bits;
                else
                        g->v[n++] = g->v[i];
        }
        g->n = n;
        for (size_t i = 0; i < n; i++)
                g->v[i].bits |= host_shape(g->root->host_fd, g->v[i].path, g->v[i].len);
}

void apply_ground_open(struct apply_ground *g, const struct ws_root *root,
                       const struct apply_choice *v, size_t n)
{
        *g = (struct apply_ground){.root = root};
        for (size_t i = 0; i < n; i++) {
                const char *path = v[i].change->path;
                unsigned bit = 0;
                if (v[i].how == APPLY_SKIP || v[i].change->after.kind == WS_NONE)
                        continue;
                for (size_t at = 0; (at = next_part(path, at, &bit)) != SIZE_MAX;) {
                        add(g, path, at, bit);
                        at += strcspn(path + at, "/");
                        at += path[at] == '/';
                }
        }
        merge(g);
}

void apply_ground_close(struct apply_ground *g)
{
        free(g->v);
        free(g->clean);
}

/* makes_git(g, path): is a part of it one that completes a git directory? */
static bool makes_git(const struct apply_ground *g, const char *path)
{
        unsigned bit = 0;
        for (size_t at = 0; (at = next_part(path, at, &bit)) != SIZE_MAX;) {
                struct apply_ground_dir key = {path, at ? at - 1 : 0, 0};
                const struct apply_ground_dir *d =
                        g->n ? bsearch(&key, g->v, g->n, sizeof *g->v, by_path) : NULL;
                if (d && git_shape_is(d->bits))
                        return true;
                at += strcspn(path + at, "/");
                at += path[at] == '/';
        }
        return false;
}

const char *apply_ground_refuses(struct apply_ground *g, const struct ws_change *c)
{
        static const char copied[] = "it belongs to a git directory: its commits are fetched, and "
                                     "none of its files is copied";
        enum git_name name = git_shape_path(c->path);
        if (name == GIT_NAME_IS || ws_root_is_git(g->root))
                return copied;
        if (name == GIT_NAME_ALIKE)
                return "its path has a name that other systems take for .git";
        bool is_dir = c->before.kind == WS_DIR || c->after.kind == WS_DIR;
        if (is_in_git(g, c->path) ||
            (is_dir && git_shape_is(host_shape(g->root->host_fd, c->path, strlen(c->path)))))
                return copied;
        return c->after.kind != WS_NONE && makes_git(g, c->path)
                       ? "it would make its directory a git directory"
                       : NULL;
}
