/* view_trail.c - see ws_view_keep in view.h: the way to the last path, a directory for each component,
 * of which the nearest ones are open. Called by view.c. Without it a look at the bottom of a tree of
 * n levels costs n opens, and a look at each of its files n times n. */
#include "workspace/view_int.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <limits.h>
#include <string.h>

enum { KEEP_PARTS = 128, KEEP_MIN = 3 }; /* descriptors of each view, and levels */

struct view_level {
        struct ws_dir *dir;
        size_t len; /* of its path */
        bool is_asleep;
};
struct view_trail {
        struct view_level *v; /* the root first */
        size_t n, cap;
        struct buf path; /* of the last one */
};

void ws_view_keep(struct ws_view *v)
{
        if (v->trail)
                return;
        v->trail = calloc(1, sizeof *v->trail);
        if (!v->trail)
                str_no_memory();
        v->trail->path.max = (size_t)1 << 30;
}

static void trail_empty(struct view_trail *t)
{
        for (size_t i = 0; i < t->n; i++)
                ws_dir_close(t->v[i].dir);
        t->n = 0;
        t->path.len = 0;
}

void ws_view_again(const struct ws_view *v)
{
        if (v->trail)
                trail_empty(v->trail);
}

void view_trail_free(struct view_trail *t)
{
        if (!t)
                return;
        trail_empty(t);
        buf_free(&t->path);
        free(t->v);
        free(t);
}

static void trail_push(struct view_trail *t, struct ws_dir *dir, size_t len)
{
        if (t->n == t->cap) {
                t->cap = t->cap ? t->cap * 2 : 64;
                t->v = reallocarray(t->v, t->cap, sizeof *t->v);
                if (!t->v)
                        str_no_memory();
        }
        t->v[t->n++] = (struct view_level){.dir = dir, .len = len};
        size_t wide = dir->view->n ? dir->view->n : 1;
        size_t keep = KEEP_PARTS / wide > KEEP_MIN ? KEEP_PARTS / wide : KEEP_MIN;
        size_t far = t->n > keep ? t->n - 1 - keep : 0;
        if (far > 0 && !t->v[far].is_asleep) {
                ws_dir_sleep(t->v[far].dir, t->v[far + 1].dir);
                t->v[far].is_asleep = true;
        }
}

/* trail_pop(t): back to the directory above; false when it is not there any more. */
static bool trail_pop(struct view_trail *t)
{
        struct view_level *last = &t->v[t->n - 1], *up = last - 1;
        bool is_fine = true;
        if (up->is_asleep) {
                is_fine = ws_dir_wake(up->dir, last->dir, NULL) == 0;
                up->is_asleep = false;
        }
        ws_dir_close(last->dir);
        t->n--;
        return is_fine;
}

/* trail_back(t, path, len): up to the last directory that is above ${path}, or is it. */
static void trail_back(struct view_trail *t, const char *path, size_t len)
{
        const char *was = buf_cstr(&t->path);
        size_t same = 0;
        while (same < t->path.len && same < len && path[same] == was[same])
                same++;
        while (t->n > 1) {
                size_t at = t->v[t->n - 1].len;
                if (at <= same && (at == len || path[at] == '/'))
                        break;
                if (!trail_pop(t)) {
                        trail_empty(t);
                        return;
                }
        }
        t->path.len = t->n ? t->v[t->n - 1].len : 0;
}

struct ws_dir *view_trail_dir(const struct ws_view *v, const char *path, size_t len,
                              struct err *err)
{
        struct view_trail *t = v->trail;
        trail_back(t, path, len);
        if (t->n == 0) {
                struct ws_dir *root = ws_dir_root(v, err);
                if (!root)
                        return NULL;
                trail_push(t, root, 0);
        }
        while (t->path.len < len) {
                char name[NAME_MAX + 1];
                size_t from = t->path.len + (t->path.len > 0);
                size_t n = strcspn(path + from, "/");
                if (n > NAME_MAX) {
                        err_set(err, E_INPUT, "the path has a component that names no entry");
                        return NULL;
                }
                memcpy(name, path + from, n);
                name[n] = 0;
                struct ws_dir *dir = ws_dir_open(t->v[t->n - 1].dir, name, err);
                if (!dir)
                        return NULL;
                if (t->path.len)
                        buf_put_u8(&t->path, '/');
                buf_put_str(&t->path, name);
                trail_push(t, dir, t->path.len);
        }
        return t->v[t->n - 1].dir;
}
