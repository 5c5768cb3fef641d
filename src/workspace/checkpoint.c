/* checkpoint.c - see checkpoint.h. Taken by whoever starts a live box, closed by its supervisor.
 * The tree may be changed by a box while it is closed: everything by descriptor, nothing followed.
 */
#include "workspace/checkpoint.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "policy/file_class.h"
#include "workspace/checkpoint_int.h"
#include "workspace/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static int64_t ns(const struct timespec *t)
{
        return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static void look(struct checkpoint_entry *e, const struct stat *st)
{
        e->ino = st->st_ino;
        e->size = (uint64_t)st->st_size;
        e->mtime_ns = ns(&st->st_mtim);
        e->ctime_ns = ns(&st->st_ctim);
        e->mode = st->st_mode;
}

bool checkpoint_same(const struct checkpoint_entry *a, const struct checkpoint_entry *b)
{
        return a->ino == b->ino && a->size == b->size && a->mtime_ns == b->mtime_ns &&
               a->ctime_ns == b->ctime_ns && a->mode == b->mode;
}

struct checkpoint_entry *checkpoint_add(struct checkpoint_list *l, const char *path)
{
        if (l->n == l->cap) {
                size_t cap = l->cap ? 2 * l->cap : 256;
                struct checkpoint_entry *v = reallocarray(l->v, cap, sizeof *v);
                if (!v)
                        str_no_memory();
                l->v = v;
                l->cap = cap;
        }
        l->v[l->n] = (struct checkpoint_entry){.path = str_dup(path)};
        return &l->v[l->n++];
}

void checkpoint_list_free(struct checkpoint_list *l)
{
        for (size_t i = 0; i < l->n; i++)
                free(l->v[i].path);
        free(l->v);
        *l = (struct checkpoint_list){0};
}

static int by_path(const void *a, const void *b)
{
        return strcmp(((const struct checkpoint_entry *)a)->path,
                      ((const struct checkpoint_entry *)b)->path);
}

void checkpoint_sort(struct checkpoint_list *l)
{
        if (l->n)
                qsort(l->v, l->n, sizeof *l->v, by_path);
}

struct checkpoint_entry *checkpoint_find(const struct checkpoint_list *l, const char *path)
{
        struct checkpoint_entry key = {.path = (char *)(uintptr_t)path};
        return l->n ? bsearch(&key, l->v, l->n, sizeof *l->v, by_path) : NULL;
}

/* --- what is there ---------------------------------------------------------------------------- */

static void leave(struct strs *left, const char *path, const char *why)
{
        if (left && left->n < 1000)
                strs_addf(left, "%s\t%s", path, why);
}

/* is_large(dir_fd, name): more than is worth keeping of an ignored directory? Looks no further than
 * it takes to know. */
static bool is_large(int dir_fd, uint64_t *files, uint64_t *bytes, int depth)
{
        _cleanup_closedir_ DIR *d = fdio_opendir(dir_fd);
        if (!d)
                return true;
        for (struct dirent *e; (e = readdir(d));) {
                struct stat st;
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                ++*files;
                *bytes += S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
                if (*files > CHECKPOINT_IGNORED_FILES ||
                    *bytes > (uint64_t)CHECKPOINT_IGNORED_MIB << 20 || depth > 40)
                        return true;
                if (!S_ISDIR(st.st_mode))
                        continue;
                _cleanup_close_ int sub = openat(dirfd(d), e->d_name,
                                                 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (sub >= 0 && is_large(sub, files, bytes, depth + 1))
                        return true;
        }
        return false;
}

static int walk(struct checkpoint_walk *w, int dir_fd, const char *path, int depth)
{
        _cleanup_closedir_ DIR *d = fdio_opendir(dir_fd);
        if (!d) {
                leave(w->left, *path ? path : ".", "cannot be read with your rights");
                return 0;
        }
        for (struct dirent *e; (e = readdir(d));) {
                struct stat st;
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
                    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                _cleanup_free_ char *full = str_fmt("%s%s%s", path, *path ? "/" : "", e->d_name);
                bool is_dir = S_ISDIR(st.st_mode);
                if (w->skipped && strs_has(w->skipped, full))
                        continue;
                if (!is_dir && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
                        continue;
                if (w->out->n >= CHECKPOINT_FILES_MAX || depth > CHECKPOINT_DEPTH_MAX) {
                        leave(w->left, full, "is beyond what a checkpoint holds");
                        continue;
                }
                _cleanup_close_ int sub = -1;
                if (is_dir)
                        sub = openat(dirfd(d), e->d_name,
                                     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                uint64_t files = 0, bytes = 0;
                bool is_known = w->was && checkpoint_find(w->was, full);
                if (sub >= 0 && !is_known && file_class_is_ignored_name(e->d_name) &&
                    is_large(sub, &files, &bytes, 0)) {
                        leave(w->left, full, "is output that can be made again, and large");
                        strs_add(w->out_skipped, full);
                        continue;
                }
                if (S_ISREG(st.st_mode) && !is_known &&
                    (uint64_t)st.st_size > (uint64_t)CHECKPOINT_FILE_MIB << 20) {
                        leave(w->left, full, "is too large to be kept");
                        strs_add(w->out_skipped, full);
                        continue;
                }
                look(checkpoint_add(w->out, full), &st);
                if (is_dir && sub < 0)
                        leave(w->left, full, "cannot be read with your rights");
                if (sub >= 0 && walk(w, sub, full, depth + 1) < 0)
                        return -1;
        }
        return 0;
}

int checkpoint_look(struct checkpoint_walk *w, int root_fd)
{
        int r = walk(w, root_fd, "", 0);
        checkpoint_sort(w->out);
        return r;
}

/* --- before the run --------------------------------------------------------------------------- */

/* keep(c, e, old, state, err): the state of one entry, from the last checkpoint if it can be. 1:
 * gone meanwhile, or cannot be read. */
static int keep(struct checkpoint *c, struct checkpoint_entry *e,
                const struct checkpoint_entry *old, struct undo_state *state, struct err *err)
{
        if (S_ISREG(e->mode) && old && checkpoint_same(e, old) && old->sha[0] &&
            objects_has(c->objects_fd, old->sha)) {
                *state = (struct undo_state){.kind = 'f', .mode = e->mode & 0777, .size = e->size};
                memcpy(state->sha, old->sha, sizeof state->sha);
                memcpy(e->sha, old->sha, sizeof e->sha);
                return 0;
        }
        if (undo_state_of(c->root_fd, e->path, c->objects_fd, state, NULL, err) < 0) {
                bool is_theirs = err->sys == EACCES || err->sys == EPERM || err->sys == ENOENT;
                if (is_theirs)
                        *err = (struct err){0};
                return is_theirs ? 1 : -1;
        }
        if (state->kind == 'f') {
                memcpy(e->sha, state->sha, sizeof e->sha);
                c->read_bytes += state->size;
        }
        return 0;
}

static int record(struct checkpoint *c, const struct checkpoint_ask *ask,
                  const struct checkpoint_list *old, struct strs *left, struct err *err)
{
        static const struct undo_state unknown = {.kind = '?'};
        time_t told = 0;
        for (size_t i = 0; i < c->was.n; i++) {
                struct checkpoint_entry *e = &c->was.v[i];
                struct undo_state state;
                int r = keep(c, e, checkpoint_find(old, e->path), &state, err);
                if (r < 0)
                        return err_add(err, "keep %s", e->path);
                if (r > 0) {
                        leave(left, e->path, "cannot be read with your rights");
                        e->is_left = true;
                        continue;
                }
                undo_add(c->writer, e->path, &state, &unknown);
                undo_state_free(&state);
                time_t now = time(NULL);
                if (ask->on_progress && now != told)
                        ask->on_progress(ask->arg, i + 1, c->read_bytes);
                told = now;
        }
        return undo_sync(c->writer, err);
}

struct checkpoint *checkpoint_take(const struct checkpoint_ask *ask, struct strs *left,
                                   struct err *err)
{
        struct checkpoint *c = calloc(1, sizeof *c);
        struct checkpoint_list old = {0};
        _cleanup_close_ int lock = -1;
        struct stat st;
        if (!c)
                str_no_memory();
        *c = (struct checkpoint){.undo_fd = -1, .objects_fd = -1, .root_fd = -1};
        c->root = str_dup(ask->root);
        c->root_fd = open(ask->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (c->root_fd < 0 || fstat(c->root_fd, &st) < 0) {
                err_sys(err, "open %s", ask->root);
                goto fail;
        }
        struct undo_head head = {.what = "live",
                                 .box = ask->box,
                                 .layer = ask->layer,
                                 .root = ask->root,
                                 .dev = st.st_dev,
                                 .ino = st.st_ino};
        if ((c->undo_fd = undo_store_open(ask->state, err)) < 0 ||
            (c->objects_fd = undo_objects(c->undo_fd, err)) < 0)
                goto fail;
        if ((lock = undo_lock(c->undo_fd, err)) < 0)
                goto fail;
        struct checkpoint_walk w = {.out = &c->was, .left = left, .out_skipped = &c->skipped};
        checkpoint_manifest_read(c->undo_fd, ask->root, &old);
        if (checkpoint_look(&w, c->root_fd) < 0 ||
            !(c->writer = undo_begin(c->undo_fd, &head, err)))
                goto fail;
        c->number = undo_number(c->writer);
        if (record(c, ask, &old, left, err) < 0) {
                undo_drop(take_ptr(&c->writer));
                goto fail;
        }
        undo_close(take_ptr(&c->writer));
        checkpoint_manifest_write(c->undo_fd, ask->root, &c->was);
        checkpoint_list_free(&old);
        return c;
fail:
        checkpoint_list_free(&old);
        checkpoint_free(c);
        err_add(err, "keep %s as it is before the run", ask->root);
        return NULL;
}

uint64_t checkpoint_number(const struct checkpoint *c)
{
        return c->number;
}

size_t checkpoint_fds(const struct checkpoint *c, int to[3])
{
        to[0] = c->undo_fd;
        to[1] = c->objects_fd;
        to[2] = c->root_fd;
        return 3;
}

void checkpoint_free(struct checkpoint *c)
{
        if (!c)
                return;
        checkpoint_list_free(&c->was);
        strs_free(&c->skipped);
        undo_close(c->writer);
        close_fd(&c->undo_fd);
        close_fd(&c->objects_fd);
        close_fd(&c->root_fd);
        free(c->root);
        free(c);
}
