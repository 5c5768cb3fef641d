/* land_index.c - see land_index.h. git's own protocol: whoever has created index.lock may replace
 * the index (land_lock.h). The entries are written by the host's git, into a copy beside it. */
#include "git/land_index.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "git/land_lock.h"
#include "git/land_sparse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPY_CHUNK = 1 << 16 };

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

/* index_keep(x, name, err): the index as it is now, under another name, whole or not at all; none when
 * there is none. */
static int index_keep(const struct land_index *x, const char *name, struct err *err)
{
        struct stat st;
        if (lstat(x->path, &st) < 0)
                return errno == ENOENT ? 0 : err_sys(err, "look at %s", x->path);
        _cleanup_free_ char *part = str_fmt("%s.part", name);
        (void)unlink(part); /* of a run that was killed; the lock is ours */
        _cleanup_close_ int fd =
                open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, st.st_mode & 0777);
        if (fd < 0)
                return err_sys(err, "copy the git index of %s", x->tree);
        int rc = index_copy(x->path, fd, err);
        if (rc == 0 && rename(part, name) < 0)
                rc = err_sys(err, "copy the git index of %s", x->tree);
        if (rc < 0)
                (void)unlink(part);
        return rc;
}

int land_index_lock(struct land_index *x, const char *tree, const char *git_dir, const char *ref,
                    const char *id, struct err *err)
{
        *x = (struct land_index){
                .tree = str_dup(tree), .path = str_fmt("%s/index", git_dir), .lock_fd = -1};
        _cleanup_free_ char *lock = str_fmt("%s.lock", x->path);
        x->lock_fd = land_lock_take(git_dir, ref, id);
        if (x->lock_fd < 0)
                return errno == EEXIST
                               ? err_set(err, E_REFUSED,
                                         "git is at work in %s, or was killed there: %s exists",
                                         tree, lock)
                               : err_sys(err, "lock the git index of %s", tree);
        x->lock = str_dup(lock);
        x->next = str_fmt("%s.next", lock);
        (void)unlink(x->next); /* of a run that was killed; the lock is ours */
        return index_keep(x, x->next, err);
}

void land_index_entry(struct buf *b, const struct git_path *p)
{
        static const char zeros[GIT_ID_MAX + 1] =
                "0000000000000000000000000000000000000000000000000000000000000000";
        size_t len = strlen(p->id);
        buf_put_fmt(b, "%o %.*s\t", p->mode, (int)(len ? len : 40), p->mode ? p->id : zeros);
        buf_put(b, p->path, strlen(p->path) + 1);
}

/* put_entries(b, paths): what goes comes first, since a file may have made room for a directory. */
static void put_entries(struct buf *b, const struct git_paths *p)
{
        for (int pass = 0; pass < 2; pass++)
                for (size_t i = 0; i < p->n; i++)
                        if ((p->v[i].mode == 0) == (pass == 0))
                                land_index_entry(b, &p->v[i]);
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

/* index_is_absent(tree, p): the work tree has no such file. */
static bool index_is_absent(void *tree, const struct git_path *p)
{
        _cleanup_free_ char *path = str_fmt("%s/%s", (const char *)tree, p->path);
        struct stat st;
        return lstat(path, &st) < 0;
}

int land_index_sparse(struct land_index *x, const struct git_paths *paths, struct err *err)
{
        static const char *const argv[] = {"update-index", "-z", "--skip-worktree", "--stdin",
                                           NULL};
        _cleanup_free_ char *git_dir =
                str_fmt("%.*s", (int)(strlen(x->path) - strlen("/index")), x->path);
        _cleanup_buf_ struct buf in = {.max = (size_t)1 << 30};
        if (land_sparse_out(git_dir, paths, index_is_absent, x->tree, &in, err) < 0)
                return -1;
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
