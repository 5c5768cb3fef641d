/* undo_land.c - many paths of one root, from one state to another: recorded and synced first, then
 * done in an order in which every parent is there when it is needed. Called by apply and undo.
 *
 * Files are prepared in batches, without names where the filesystem can, and synced together, so
 * that ten thousand of them cost a few dozen syncs. Killed at any moment it leaves each path in one
 * of its two states. */
#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "workspace/undo_int.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BATCH_MAX = 400, TEMP_LEN = 80 };
#define BATCH_BYTES ((uint64_t)256 << 20)

/* The opened parent of the path at hand; neighbours share it. */
struct parent {
        int root_fd;
        int fd; /* -1: none */
        char path[PATH_MAX];
};

/* A file that waits for its batch. */
struct slot {
        struct undo_op *op;
        int dir_fd, file_fd;
        bool is_named;
};

struct batch {
        struct slot v[BATCH_MAX];
        size_t n, max;
        uint64_t bytes;
};

static const char *name_of(const struct undo_op *op)
{
        const char *slash = strrchr(op->path, '/');
        return slash ? slash + 1 : op->path;
}

static void temp_of(const struct undo_land *l, const struct undo_op *op, char temp[TEMP_LEN])
{
        snprintf(temp, TEMP_LEN, ".ostiary-%s-%zu", undo_temp(l->writer), (size_t)(op - l->v));
}

/* parent_of(p, op): descriptor of its directory, or -1 with the operation left. */
static int parent_of(struct parent *p, struct undo_op *op)
{
        size_t n = (size_t)(name_of(op) - op->path);
        n -= n > 0;
        if (p->fd >= 0 && strlen(p->path) == n && memcmp(p->path, op->path, n) == 0)
                return p->fd;
        close_fd(&p->fd);
        memcpy(p->path, op->path, n);
        p->path[n] = 0;
        p->fd = beneath_open_nosym(p->root_fd, p->path, O_RDONLY | O_DIRECTORY, 0, NULL);
        if (p->fd < 0) {
                op->landing = UNDO_LEFT;
                op->why = errno == EACCES ? "the host does not let you into its directory"
                                          : "its directory is not there, or is a link";
        }
        return p->fd;
}

static void slot_close(struct batch *b)
{
        for (size_t i = 0; i < b->n; i++) {
                close_fd(&b->v[i].dir_fd);
                close_fd(&b->v[i].file_fd);
        }
        b->n = 0;
        b->bytes = 0;
}

/* give_up(l, b): temporary files that have a name go. */
static int give_up(struct undo_land *l, struct batch *b)
{
        char temp[TEMP_LEN];
        for (size_t i = 0; i < b->n; i++) {
                temp_of(l, b->v[i].op, temp);
                if (b->v[i].is_named && b->v[i].file_fd >= 0)
                        (void)unlinkat(b->v[i].dir_fd, temp, 0);
        }
        slot_close(b);
        return -1;
}

/* land_batch(l, b): all of them on disk, then each to its name. */
static int land_batch(struct undo_land *l, struct batch *b, struct err *err)
{
        char temp[TEMP_LEN];
        if (b->n && undo_disk_commit(b->v[b->n - 1].file_fd, err) < 0) {
                err_add(err, "write the files");
                return give_up(l, b);
        }
        for (size_t i = 0; i < b->n; i++) {
                struct slot *s = &b->v[i];
                temp_of(l, s->op, temp);
                int r = undo_place_file(s->op, s->dir_fd, name_of(s->op), temp, s->file_fd,
                                        s->is_named, err);
                close_fd(&s->file_fd);
                if (r < 0)
                        return give_up(l, b);
        }
        slot_close(b);
        return 0;
}

/* prepare(l, b, op, dir_fd): the content beside its place. */
static int prepare(struct undo_land *l, struct batch *b, struct undo_op *op, int dir_fd,
                   struct err *err)
{
        char temp[TEMP_LEN], sha[SHA256_HEX_LEN + 1];
        uint64_t size;
        struct slot s = {.op = op, .dir_fd = dup(dir_fd)};
        temp_of(l, op, temp);
        s.file_fd = undo_place_open(op, dir_fd, temp, &s.is_named, err);
        if (s.file_fd < 0 || s.dir_fd < 0) {
                bool is_denied = s.dir_fd >= 0 && (errno == EACCES || errno == EPERM);
                close_fd(&s.dir_fd);
                op->landing = is_denied ? UNDO_LEFT : UNDO_WAITS;
                op->why = "the host does not let you write there";
                return is_denied ? 0 : -1;
        }
        b->v[b->n++] = s;
        b->bytes += op->after.size;
        if (l->fill(l->arg, op, s.file_fd, sha, &size, err) < 0) {
                _cleanup_free_ char *quoted = str_quote(op->path);
                return err_add(err, "%s", quoted);
        }
        if (size != op->after.size || strcmp(sha, op->after.sha) != 0) {
                op->landing = UNDO_LEFT;
                op->why = "the box changed it at this moment";
                b->n--;
                if (s.is_named)
                        (void)unlinkat(dir_fd, temp, 0);
                close_fd(&s.dir_fd);
                close_fd(&s.file_fd);
                return 0;
        }
        /* Whose it was it stays, where that can be. */
        if (op->before.kind == 'f' && op->ident.uid_known &&
            fchown(s.file_fd, op->ident.uid, op->ident.gid) < 0 &&
            fchown(s.file_fd, (uid_t)-1, op->ident.gid) < 0)
                errno = 0;
        undo_disk_start(s.file_fd);
        return 0;
}

static void progress(struct undo_land *l, uint64_t *done_n)
{
        if (l->on_progress)
                l->on_progress(l->arg, ++*done_n, l->n);
}

static int remove_all(struct undo_land *l, uint64_t *done_n, struct err *err)
{
        struct parent p = {.root_fd = l->root_fd, .fd = -1};
        char temp[TEMP_LEN];
        int r = 0;
        for (size_t i = l->n; r == 0 && i-- > 0;) {
                struct undo_op *op = &l->v[i];
                if (op->after.kind != '-' || op->landing != UNDO_WAITS)
                        continue;
                int dir = parent_of(&p, op);
                temp_of(l, op, temp);
                if (dir >= 0)
                        r = undo_place_remove(op, dir, name_of(op), temp, err);
                progress(l, done_n);
        }
        close_fd(&p.fd);
        return r;
}

/* chmod_dir(l, op, mode): by descriptor, and only if it is the directory that was judged. */
static int chmod_dir(const struct undo_land *l, const struct undo_op *op, mode_t mode)
{
        struct stat st;
        _cleanup_close_ int path_fd =
                beneath_open_nosym(l->root_fd, op->path, O_PATH | O_NOFOLLOW, 0, NULL);
        char by_fd[40];
        if (path_fd < 0 || fstat(path_fd, &st) < 0 || !S_ISDIR(st.st_mode) ||
            (op->before.kind == 'd' && st.st_ino != op->ident.ino)) {
                errno = ENOENT;
                return -1;
        }
        if ((st.st_mode & 0777) == mode)
                return 0;
        /* The path of a descriptor leads to that directory and nowhere else; it may be one that
         * cannot be opened for reading. That it hands its group on is the host's matter. */
        snprintf(by_fd, sizeof by_fd, "/proc/self/fd/%d", path_fd);
        return chmod(by_fd, (st.st_mode & 07000) | mode);
}

static int make_dirs(struct undo_land *l, uint64_t *done_n, struct err *err)
{
        struct parent p = {.root_fd = l->root_fd, .fd = -1};
        char temp[TEMP_LEN];
        int r = 0;
        for (size_t i = 0; r == 0 && i < l->n; i++) {
                struct undo_op *op = &l->v[i];
                if (op->after.kind != 'd' || op->landing != UNDO_WAITS)
                        continue;
                int dir = parent_of(&p, op);
                temp_of(l, op, temp);
                if (dir >= 0)
                        r = undo_place_dir(op, dir, name_of(op), temp, err);
                progress(l, done_n);
        }
        close_fd(&p.fd);
        return r;
}

/* A file with other names is made anew: they keep their mode. */
static bool is_mode_only(const struct undo_op *op)
{
        return !op->ident.is_linked && op->before.kind == 'f' && op->after.kind == 'f' &&
               op->before.size == op->after.size && strcmp(op->before.sha, op->after.sha) == 0;
}

static int fill_all(struct undo_land *l, uint64_t *done_n, struct err *err)
{
        struct parent p = {.root_fd = l->root_fd, .fd = -1};
        struct rlimit files = {.rlim_cur = 256};
        _cleanup_free_ struct batch *b = calloc(1, sizeof *b);
        if (!b)
                str_no_memory();
        (void)getrlimit(RLIMIT_NOFILE, &files);
        b->max = files.rlim_cur < 200 ? 8 : (size_t)(files.rlim_cur - 100) / 2;
        if (b->max > BATCH_MAX)
                b->max = BATCH_MAX;
        int r = 0;
        for (size_t i = 0; r == 0 && i < l->n; i++) {
                struct undo_op *op = &l->v[i];
                if (op->landing != UNDO_WAITS || (op->after.kind != 'f' && op->after.kind != 'l'))
                        continue;
                int dir = parent_of(&p, op);
                char temp[TEMP_LEN];
                temp_of(l, op, temp);
                if (dir >= 0)
                        r = op->after.kind == 'l' ? undo_place_link(op, dir, name_of(op), temp, err)
                            : is_mode_only(op)    ? undo_place_mode(op, dir, name_of(op), err)
                                                  : prepare(l, b, op, dir, err);
                progress(l, done_n);
                if (r == 0 && (b->n == b->max || b->bytes >= BATCH_BYTES))
                        r = land_batch(l, b, err);
        }
        close_fd(&p.fd);
        return r < 0 ? give_up(l, b) : land_batch(l, b, err);
}

/* set_modes(l): of directories, deepest first, when nothing is to be written in them any more. */
static int set_modes(struct undo_land *l, struct err *err)
{
        for (size_t i = l->n; i-- > 0;) {
                struct undo_op *op = &l->v[i];
                bool is_made = op->after.kind == 'd' && op->landing == UNDO_LANDED;
                if (!is_made || chmod_dir(l, op, op->after.mode) == 0)
                        continue;
                if (errno != EPERM && errno != EACCES && errno != ENOENT)
                        return err_sys(err, "set the mode of a directory");
                op->landing = UNDO_LEFT;
                op->why = "its mode cannot be set: the directory is not yours";
        }
        return 0;
}

int undo_land_run(struct undo_land *l, struct err *err)
{
        uint64_t done_n = 0;
        undo_land_sort(l);
        for (size_t i = 0; i < l->n; i++)
                if (l->v[i].landing == UNDO_WAITS)
                        undo_add(l->writer, l->v[i].path, &l->v[i].before, &l->v[i].after);
        undo_shut_find(l);
        if (undo_sync(l->writer, err) < 0)
                return -1;
        undo_shut_open(l);
        int r = remove_all(l, &done_n, err);
        if (r == 0)
                r = make_dirs(l, &done_n, err);
        if (r == 0)
                r = fill_all(l, &done_n, err);
        if (set_modes(l, r == 0 ? err : NULL) < 0)
                r = -1;
        undo_shut_close(l);
        for (size_t i = 0; i < l->n; i++)
                if (l->v[i].landing == UNDO_LEFT)
                        undo_skip(l->writer, l->v[i].path);
        return r;
}
