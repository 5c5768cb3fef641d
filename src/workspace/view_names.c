/* view_names.c - what is in a directory of a view: the names of all its layers, each once, sorted
 * by bytes. Called by the walk. Memory grows with one directory, a million names included (case
 * 78). */
#include "workspace/view_int.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* A directory may be that large: sixteen million names of the longest kind. */
static const size_t space_max = (size_t)4 << 30;

void ws_names_free(struct ws_names *n)
{
        free(n->v);
        free(n->space);
        *n = (struct ws_names){0};
}

static int read_part(const struct ws_part *p, struct buf *space, size_t *n, struct err *err)
{
        _cleanup_closedir_ DIR *dir = fdio_opendir(p->fd);
        if (!dir) {
                err_sys(err, "read a directory of a layer");
                return -1;
        }
        struct dirent *e;
        while ((errno = 0, e = readdir(dir))) {
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                buf_put(space, e->d_name, strlen(e->d_name) + 1);
                (*n)++;
        }
        if (errno)
                return err_sys(err, "read a directory of a layer");
        return space->is_broken ? err_set(err, E_INPUT, "a directory has too many names") : 0;
}

static int by_bytes(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

/* drop_hidden(d, names, err): without those that the view does not show. */
static int drop_hidden(const struct ws_dir *d, struct ws_names *names, struct err *err)
{
        size_t kept = 0;
        for (size_t i = 0; i < names->n; i++) {
                struct ws_node node;
                if (ws_dir_look(d, names->v[i], &node, err) < 0)
                        return -1;
                if (node.kind != WS_NONE)
                        names->v[kept++] = names->v[i];
        }
        names->n = kept;
        return 0;
}

int ws_dir_list(const struct ws_dir *d, size_t top_n, struct ws_names *names, struct err *err)
{
        _cleanup_buf_ struct buf space = {.max = space_max};
        size_t n = 0;
        bool may_hide = false;

        *names = (struct ws_names){0};
        for (size_t i = 0; i < d->n; i++) {
                const struct ws_part *p = &d->parts[i];
                if (top_n && p->layer >= top_n)
                        break;
                may_hide |= d->view->layers[p->layer].is_overlay;
                if (read_part(p, &space, &n, err) < 0)
                        return -1;
        }
        if (n == 0)
                return 0;
        names->v = calloc(n, sizeof *names->v);
        if (!names->v)
                str_no_memory();
        names->space = (char *)take_ptr(&space.data);
        for (char *p = names->space; names->n < n; p += strlen(p) + 1)
                names->v[names->n++] = p;
        qsort(names->v, n, sizeof *names->v, by_bytes);
        size_t kept = 0;
        for (size_t i = 0; i < n; i++)
                if (i == 0 || strcmp(names->v[i], names->v[kept - 1]) != 0)
                        names->v[kept++] = names->v[i];
        names->n = kept;
        if (top_n == 0 && may_hide && drop_hidden(d, names, err) < 0) {
                ws_names_free(names);
                return -1;
        }
        return 0;
}
