/* land_index.c - see land_index.h. git's own protocol: whoever has created index.lock may replace
 * the index. The entries are written by the host's git, into a copy beside it. */
#include "git/land_index.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPY_CHUNK = 1 << 16 };

static const char OURS[] = "ostiary\n"; /* what a lock file of ours holds */

/* index_copy(from, to_fd, err): 0, also when there is no index yet. */
static int index_copy(const char *from, int to_fd, struct err *err)
{
        _cleanup_close_ int fd = open(from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return errno == ENOENT ? 0 : err_sys(err, "open %s", from);
        char chunk[COPY_CHUNK];
        for (;;) {
                ssize_t n = read(fd, chunk, sizeof chunk);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return err_sys(err, "read %s", from);
                if (n == 0)
                        return 0;
                if (fdio_write_all(to_fd, chunk, (size_t)n) < 0)
                        return err_sys(err, "copy the git index");
        }
}

/* index_keep(x, name, err): the index as it is now, under another name; none when there is none. */
static int index_keep(const struct land_index *x, const char *name, struct err *err)
{
        struct stat st;
        if (lstat(x->path, &st) < 0)
                return errno == ENOENT ? 0 : err_sys(err, "look at %s", x->path);
        _cleanup_close_ int fd =
                open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, st.st_mode & 0777);
        if (fd < 0)
                return err_sys(err, "copy the git index of %s", x->tree);
        return index_copy(x->path, fd, err);
}

/* index_is_left(lock): is it a lock of ours whose holder was killed? */
static bool index_is_left(const char *lock)
{
        char mark[sizeof OURS];
        _cleanup_close_ int fd = open(lock, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        return fd >= 0 && read(fd, mark, sizeof mark) == (ssize_t)(sizeof OURS - 1) &&
               memcmp(mark, OURS, sizeof OURS - 1) == 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

void land_index_sweep(const char *git_dir)
{
        static const char *const ends[] = {"lock.next", "lock.before", "lock"};
        _cleanup_free_ char *lock = str_fmt("%s/index.lock", git_dir);
        if (!index_is_left(lock))
                return;
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
                _cleanup_free_ char *name = str_fmt("%s/index.%s", git_dir, ends[i]);
                (void)unlink(name); /* gone is as good */
        }
}

static int index_lock_make(const char *lock)
{
        int fd = open(lock, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST)
                return fd;
        if (index_is_left(lock) && unlink(lock) == 0)
                return open(lock, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        errno = EEXIST; /* of the lock, whatever was asked of it since */
        return -1;
}

int land_index_lock(struct land_index *x, const char *tree, const char *git_dir, struct err *err)
{
        *x = (struct land_index){
                .tree = str_dup(tree), .path = str_fmt("%s/index", git_dir), .lock_fd = -1};
        char *lock = str_fmt("%s.lock", x->path);
        x->lock_fd = index_lock_make(lock);
        if (x->lock_fd < 0) {
                int rc = errno == EEXIST
                                 ? err_set(err, E_REFUSED,
                                           "git is at work in %s, or was killed there: %s exists",
                                           tree, lock)
                                 : err_sys(err, "lock the git index of %s", tree);
                free(lock);
                return rc;
        }
        x->lock = lock;
        if (flock(x->lock_fd, LOCK_EX | LOCK_NB) < 0 ||
            fdio_write_all(x->lock_fd, OURS, sizeof OURS - 1) < 0)
                return err_sys(err, "lock the git index of %s", tree);
        x->next = str_fmt("%s.next", lock);
        (void)unlink(x->next); /* of a run that was killed; the lock is ours */
        return index_keep(x, x->next, err);
}

/* put_entries(b, paths): for update-index --index-info; what goes comes first, since a file may
 * have made room for a directory. */
static void put_entries(struct buf *b, const struct git_paths *p)
{
        static const char zeros[GIT_ID_MAX + 1] =
                "0000000000000000000000000000000000000000000000000000000000000000";
        for (int pass = 0; pass < 2; pass++) {
                for (size_t i = 0; i < p->n; i++) {
                        const struct git_path *one = &p->v[i];
                        bool is_gone = one->mode == 0;
                        if (is_gone != (pass == 0))
                                continue;
                        size_t len = strlen(one->id);
                        buf_put_fmt(b, "%o %.*s\t", one->mode, (int)(len ? len : 40),
                                    is_gone ? zeros : one->id);
                        buf_put(b, one->path, strlen(one->path) + 1);
                }
        }
}

/* index_git(x, argv, in, out, err): git over the next index; its status. */
static int index_git(const struct land_index *x, const char *const *argv, const struct buf *in,
                     struct buf *out, struct err *err)
{
        _cleanup_strs_ struct strs env = {0};
        strs_addf(&env, "GIT_INDEX_FILE=%s", x->next);
        strs_addf(&env, "GIT_DIR=%.*s", (int)(strlen(x->path) - strlen("/index")), x->path);
        strs_addf(&env, "GIT_WORK_TREE=%s", x->tree);
        struct git_call call = {.dir = x->tree,
                                .argv = argv,
                                .in = in ? in->data : NULL,
                                .in_len = in ? in->len : 0,
                                .out = out,
                                .out_fd = -1};
        return git_call_host(&call, &env, err);
}

int land_index_set(struct land_index *x, const struct git_paths *paths, struct err *err)
{
        _cleanup_buf_ struct buf in = {.max = (size_t)1 << 30};
        put_entries(&in, paths);
        if (in.len == 0)
                return 0;
        static const char *const argv[] = {"update-index", "-z", "--index-info", NULL};
        int status = index_git(x, argv, &in, NULL, err);
        if (status > 0)
                return err_add(err, "write the git index of %s", x->tree);
        return status;
}

int land_index_sparse(struct land_index *x, const struct git_paths *paths, struct err *err)
{
        static const char *const is_sparse[] = {"config", "--type=bool", "core.sparseCheckout",
                                                NULL};
        static const char *const argv[] = {"update-index", "-z", "--skip-worktree", "--stdin",
                                           NULL};
        _cleanup_buf_ struct buf said = {.max = 64}, in = {.max = (size_t)1 << 30};
        struct err none = {0};
        if (index_git(x, is_sparse, NULL, &said, &none) != 0 ||
            strncmp(buf_cstr(&said), "true", 4) != 0)
                return 0;
        for (size_t i = 0; i < paths->n; i++) {
                _cleanup_free_ char *path = str_fmt("%s/%s", x->tree, paths->v[i].path);
                struct stat st;
                if (paths->v[i].mode && lstat(path, &st) < 0)
                        buf_put(&in, paths->v[i].path, strlen(paths->v[i].path) + 1);
        }
        int status = in.len ? index_git(x, argv, &in, NULL, err) : 0;
        return status > 0 ? err_add(err, "write the git index of %s", x->tree) : status;
}

int land_index_swap(struct land_index *x, struct err *err)
{
        x->was = str_fmt("%s.before", x->lock);
        (void)unlink(x->was); /* as above */
        if (index_keep(x, x->was, err) < 0)
                return -1;
        if (rename(x->next, x->path) < 0 && errno != ENOENT)
                return err_sys(err, "replace the git index of %s", x->tree);
        return 0;
}

void land_index_back(struct land_index *x)
{
        /* None that was kept is one that was not there. Nothing better can be done than to try. */
        if (x->was && rename(x->was, x->path) < 0 && errno == ENOENT)
                (void)unlink(x->path);
}

void land_index_free(struct land_index *x)
{
        char **const names[] = {&x->next, &x->was, &x->lock};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                if (*names[i])
                        (void)unlink(*names[i]); /* ours; one that is gone was used */
                free(*names[i]);
        }
        if (x->path) /* one that was never locked holds no descriptor */
                close_fd(&x->lock_fd);
        free(x->tree);
        free(x->path);
        *x = (struct land_index){.lock_fd = -1};
}
