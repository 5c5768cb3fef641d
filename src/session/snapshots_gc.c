/* snapshots_gc.c - see snapshots.h: which frozen layers somebody still lists, how large they are,
 * and sweeping the others. Mark and sweep under the lock that everybody holds who makes a layer;
 * deleting itself happens out of sight and without the lock. A list that cannot be read stops the
 * sweep: what it names is not known. */
#include "session/snapshots.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "session/frozen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GONE ".gone-"
enum { DEPTH_MAX = 2000 };

struct marks {
        struct snapshot_layer *v;
        size_t n;
};

static struct snapshot_layer *find(const struct marks *m, const char *id)
{
        for (size_t i = 0; i < m->n; i++)
                if (strcmp(m->v[i].id, id) == 0)
                        return &m->v[i];
        return NULL;
}

/* all_layers(frozen, m, err): what lies there, marked by nobody yet. */
static int all_layers(int frozen, struct marks *m, struct err *err)
{
        _cleanup_closedir_ DIR *d = fdio_opendir(frozen);
        if (!d)
                return err_sys(err, "list the frozen layers");
        for (struct dirent *e; (e = readdir(d));) {
                if (!stack_is_id(e->d_name))
                        continue;
                struct snapshot_layer *v = realloc(m->v, (m->n + 1) * sizeof *v);
                if (!v)
                        str_no_memory();
                m->v = v;
                v[m->n] = (struct snapshot_layer){0};
                memcpy(v[m->n++].id, e->d_name, STACK_ID_LEN);
        }
        return 0;
}

static void mark(struct marks *m, const struct stack *s)
{
        for (size_t i = 0; i < s->n; i++) {
                struct snapshot_layer *l = find(m, s->v[i].id);
                if (l)
                        l->users_n++;
        }
}

/* mark_dir(store, sub, file, m, err): every list in boxes/?/stack or snapshots/?. */
static int mark_dir(const struct store *store, const char *sub, const char *file, struct marks *m,
                    struct err *err)
{
        _cleanup_free_ char *path = str_fmt("%s/%s", store->state, sub);
        _cleanup_closedir_ DIR *d = opendir(path);
        if (!d)
                return errno == ENOENT ? 0 : err_sys(err, "open %s", path);
        for (struct dirent *e; (e = readdir(d));) {
                /* A box that is on its way out lists nothing any more; one that is being made is
                 * held by its maker. */
                if (!store_is_name(e->d_name) || strstr(e->d_name, ".new."))
                        continue;
                _cleanup_stack_ struct stack s = {0};
                _cleanup_free_ char *at =
                        file ? str_fmt("%s/%s", e->d_name, file) : str_dup(e->d_name);
                if (stack_read(dirfd(d), at, &s, err) < 0)
                        return err_add(err,
                                       "no frozen layer is removed, because %s/%s cannot be "
                                       "understood",
                                       sub, e->d_name);
                mark(m, &s);
        }
        return 0;
}

static int mark_all(const struct store *store, int frozen, struct marks *m, struct err *err)
{
        return all_layers(frozen, m, err) < 0 || mark_dir(store, "boxes", "stack", m, err) < 0 ||
                               mark_dir(store, "snapshots", NULL, m, err) < 0
                       ? -1
                       : 0;
}

/* tree_bytes(dir_fd, depth): on disk; of a file with several names, the part of one name, so that
 * the sum over all layers is what they take. */
static uint64_t tree_bytes(int dir_fd, const char *name, int depth)
{
        struct stat st;
        if (depth > DEPTH_MAX || fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return 0;
        uint64_t sum = (uint64_t)st.st_blocks * 512;
        int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        _cleanup_closedir_ DIR *d = fd < 0 ? NULL : fdopendir(fd);
        if (!d)
                return sum;
        for (struct dirent *e; (e = readdir(d));) {
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
                    fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                if (S_ISDIR(st.st_mode))
                        sum += tree_bytes(fd, e->d_name, depth + 1);
                else
                        sum += (uint64_t)st.st_blocks * 512 / (st.st_nlink ? st.st_nlink : 1);
        }
        return sum;
}

int snapshots_layers(const struct store *store, struct snapshot_layer **v, size_t *n,
                     struct err *err)
{
        struct marks m = {0};
        *v = NULL;
        *n = 0;
        _cleanup_close_ int frozen = frozen_open(store, err);
        _cleanup_close_ int hold = frozen < 0 ? -1 : stack_hold(frozen, false, err);
        if (hold < 0)
                return -1;
        if (mark_all(store, frozen, &m, err) < 0) {
                free(m.v);
                return -1;
        }
        for (size_t i = 0; i < m.n; i++)
                m.v[i].bytes = tree_bytes(frozen, m.v[i].id, 0);
        *v = m.v;
        *n = m.n;
        return 0;
}

uint64_t snapshots_size(const struct stack *s, const struct snapshot_layer *v, size_t n,
                        uint64_t *own)
{
        const struct marks m = {.v = (struct snapshot_layer *)(uintptr_t)v, .n = n};
        uint64_t all = 0;
        *own = 0;
        for (size_t i = 0; i < s->n; i++) {
                const struct snapshot_layer *l = find(&m, s->v[i].id);
                if (!l)
                        continue;
                all += l->bytes;
                *own += l->users_n <= 1 ? l->bytes : 0;
        }
        return all;
}

/* sweep(frozen, m): put what nobody lists out of sight. */
static void sweep(int frozen, const struct marks *m)
{
        for (size_t i = 0; i < m->n; i++) {
                char gone[64];
                if (m->v[i].users_n)
                        continue;
                snprintf(gone, sizeof gone, GONE "%s", m->v[i].id);
                renameat(frozen, m->v[i].id, frozen, gone);
        }
}

/* empty(frozen, removed_n, freed): delete what was put out of sight, also by somebody before. */
static int empty(int frozen, size_t *removed_n, uint64_t *freed, struct err *err)
{
        _cleanup_closedir_ DIR *d = fdio_opendir(frozen);
        if (!d)
                return err_sys(err, "list the frozen layers");
        for (struct dirent *e; (e = readdir(d));) {
                if (!str_starts(e->d_name, GONE))
                        continue;
                if (freed)
                        *freed += tree_bytes(frozen, e->d_name, 0);
                if (beneath_remove_tree(frozen, e->d_name, err) < 0)
                        return -1;
                if (removed_n)
                        (*removed_n)++;
        }
        return 0;
}

int snapshots_gc(const struct store *store, size_t *removed_n, uint64_t *freed, struct err *err)
{
        struct marks m = {0};
        _cleanup_free_ char *path = str_fmt("%s/frozen", store->state);
        _cleanup_close_ int frozen = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (frozen < 0)
                return errno == ENOENT ? 0 : err_sys(err, "open %s", path);
        int r;
        {
                _cleanup_close_ int alone = stack_hold(frozen, true, err);
                if (alone < 0)
                        return -1;
                r = mark_all(store, frozen, &m, err);
                if (r == 0)
                        sweep(frozen, &m);
        }
        free(m.v);
        return r < 0 ? -1 : empty(frozen, removed_n, freed, err);
}
