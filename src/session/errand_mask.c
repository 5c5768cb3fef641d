/* errand_mask.c - see errand_mask.h. */
#include "session/errand_mask.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "policy/git_shape.h"
#include "session/secret_mask_int.h"
#include "session/start.h"
#include "workspace/scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIFOS_MAX = 4096, MASK_LAYERS_MAX = 512 };

/* mask_lay(layer_fd, path, err): a file without content, and the directories above it. */
static int mask_lay(int layer_fd, const char *path, struct err *err)
{
        const char *slash = strrchr(path, '/');
        _cleanup_close_ int dir = -1;
        if (slash) {
                _cleanup_free_ char *above = str_fmt("%.*s", (int)(slash - path), path);
                dir = beneath_mkdirs(layer_fd, above, 0755, err);
        } else {
                dir = fcntl(layer_fd, F_DUPFD_CLOEXEC, 3);
        }
        if (dir < 0)
                return err_add(err, "hide %s from git", path);
        _cleanup_close_ int fd = openat(dir, slash ? slash + 1 : path,
                                        O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
        return fd < 0 ? err_sys(err, "hide %s from git", path) : 0;
}

/* mask_paths(t, list, paths): what was masked when the box began, and what looks like it now. */
static void mask_paths(const struct secret_mask_tree *t, const struct secret_mask_list *list,
                       struct strs *paths)
{
        _cleanup_strs_ struct strs found = {0};
        secret_mask_tree_walk(t, &found);
        for (size_t i = 0; i < list->n; i++)
                if (strcmp(list->v[i].layer, t->layer) == 0 ||
                    strcmp(list->v[i].layer, "live") == 0)
                        strs_add(&found, list->v[i].path);
        for (size_t i = 0; i < found.n; i++)
                if (git_shape_path(found.v[i]) == GIT_NAME_OTHER &&
                    strcmp(found.v[i], "config") != 0)
                        strs_add(paths, found.v[i]);
}

/* FIFOs that a box made, for all of its layers, the topmost first. */
struct mask_fifos {
        int layers[MASK_LAYERS_MAX];
        size_t layers_n, at; /* ${at}: the layer that is looked through */
        struct strs *paths;
        bool is_over;
};

/* mask_is_hidden(f, path): a layer above has something else there, or in place of a directory on the
 * way. */
static bool mask_is_hidden(const struct mask_fifos *f, const char *path)
{
        for (size_t i = 0; i < f->at; i++)
                for (const char *p = strchr(path, '/');; p = strchr(p + 1, '/')) {
                        struct stat st;
                        _cleanup_free_ char *part =
                                p ? str_fmt("%.*s", (int)(p - path), path) : str_dup(path);
                        if (fstatat(f->layers[i], part, &st, AT_SYMLINK_NOFOLLOW) < 0)
                                break;
                        if (!p || !S_ISDIR(st.st_mode))
                                return true;
                }
        return false;
}

static enum scan_next mask_fifo(void *ctx, int dir_fd, const char *name, const char *path,
                                unsigned char type)
{
        struct mask_fifos *f = ctx;
        (void)dir_fd;
        (void)name;
        /* Nor does git get to where a path is too long. */
        if (type != DT_FIFO || strlen(path) >= PATH_MAX || mask_is_hidden(f, path))
                return SCAN_GO;
        f->is_over = f->paths->n >= FIFOS_MAX;
        if (!f->is_over)
                strs_add(f->paths, path);
        return f->is_over ? SCAN_STOP : SCAN_GO;
}

/* mask_fifos(t, paths, err): what the host itself has there is none of a box's. */
static int mask_fifos(const struct secret_mask_tree *t, struct strs *paths, struct err *err)
{
        struct mask_fifos f = {.paths = paths};
        if (t->upper_fd >= 0)
                f.layers[f.layers_n++] = fcntl(t->upper_fd, F_DUPFD_CLOEXEC, 3);
        for (size_t i = 0; i < t->lowers.n && f.layers_n < MASK_LAYERS_MAX; i++)
                f.layers[f.layers_n++] = open(t->lowers.v[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        for (; f.at < f.layers_n && !f.is_over; f.at++)
                if (f.layers[f.at] >= 0)
                        scan_tree(f.layers[f.at], mask_fifo, &f);
        for (size_t i = 0; i < f.layers_n; i++)
                close_fd(&f.layers[i]);
        if (f.is_over)
                return err_set(
                        err, E_REFUSED,
                        "the box has more than %d FIFOs in %s, and git waits in each one that "
                        "it opens: remove them in the box",
                        FIFOS_MAX, t->source);
        return 0;
}

/* mask_layer(m, n, paths, err): the layer of one mount. */
static int mask_layer(const struct errand_mask *m, size_t n, const struct strs *paths,
                      struct err *err)
{
        _cleanup_free_ char *dir = str_fmt("%s/%zu", m->dir, n);
        if (mkdir(dir, 0755) < 0)
                return err_sys(err, "make %s", dir);
        _cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return err_sys(err, "open %s", dir);
        for (size_t i = 0; i < paths->n; i++)
                if (mask_lay(fd, paths->v[i], err) < 0)
                        return -1;
        return 0;
}

/* mask_mount(m, mount, list, store, id, err): when there is something to hide in it. */
static int mask_mount(struct errand_mask *m, const struct box_mount *mount,
                      const struct secret_mask_list *list, const struct store *store,
                      const char *id, struct err *err)
{
        _cleanup_tree_ struct secret_mask_tree t;
        _cleanup_strs_ struct strs paths = {0};
        if (!secret_mask_tree_open(mount, &t))
                return 0;
        if (mask_fifos(&t, &paths, err) < 0)
                return -1;
        mask_paths(&t, list, &paths);
        if (paths.n == 0)
                return 0;
        if (!m->dir) {
                char *dir = str_fmt("%s/boxes/%s/errand.XXXXXX", store->state, id);
                if (!mkdtemp(dir)) {
                        free(dir);
                        return err_sys(err, "make a place for what git must not see");
                }
                m->dir = dir;
        }
        strs_add(&m->targets, mount->target);
        return mask_layer(m, m->targets.n - 1, &paths, err);
}

int errand_mask_make(struct errand_mask *m, const struct session_plan *plan,
                     const struct store *store, const char *id, int dir_fd, struct err *err)
{
        _cleanup_masks_ struct secret_mask_list list = {0};
        secret_mask_list_read(dir_fd, &list);
        for (size_t i = 0; i < plan->box.mounts_n; i++)
                if (mask_mount(m, &plan->box.mounts[i], &list, store, id, err) < 0)
                        return -1;
        return 0;
}

void errand_mask_show(const struct errand_mask *m, struct session_plan *plan)
{
        for (size_t n = 0; n < m->targets.n; n++)
                for (size_t i = 0; i < plan->box.mounts_n; i++) {
                        struct box_mount *mount = &plan->box.mounts[i];
                        if (strcmp(mount->target, m->targets.v[n]) != 0)
                                continue;
                        struct strs all = {0};
                        strs_addf(&all, "%s/%zu", m->dir, n);
                        for (size_t k = 0; k < mount->lowers.n; k++)
                                strs_add(&all, mount->lowers.v[k]);
                        strs_free(&mount->lowers);
                        mount->lowers = all;
                }
}

void errand_mask_drop(struct errand_mask *m)
{
        if (m->dir) {
                char *slash = strrchr(m->dir, '/');
                *slash = 0;
                _cleanup_close_ int up = open(m->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                if (up >= 0)
                        (void)beneath_remove_tree(up, slash + 1, NULL); /* gone with the box else */
        }
        free(m->dir);
        strs_free(&m->targets);
        *m = (struct errand_mask){0};
}
