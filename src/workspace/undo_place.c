/* undo_place.c - one path of the host from one state to another, in a single step that a reader
 * sees whole or not at all, and only if what is there is still what was judged (case 72).
 *
 * Replacing is an exchange of names: what came out is looked at, and goes back if it is not what
 * was expected; so no file that appeared in the last moment is lost. Never follows a symlink, never
 * leaves the parent's descriptor. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "workspace/undo_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char changed[] = "it was changed on the host at this moment";

static int leave(struct undo_op *op, const char *why)
{
        op->landing = UNDO_LEFT;
        op->why = why;
        return 0;
}

static int landed(struct undo_op *op)
{
        op->landing = UNDO_LANDED;
        return 0;
}

/* fail(op, what, err): errno decides: a place that does not want us is left; a disk that does not
 * go on stops everything. */
static int fail(struct undo_op *op, const char *what, struct err *err)
{
        switch (errno) {
        case EACCES:
        case EPERM:
                return leave(op, "the host does not let you write there");
        case ENOENT:
        case EEXIST:
        case ENOTDIR:
        case ELOOP:
        case ESTALE:
                return leave(op, changed);
        case EISDIR:
                return leave(op, "a directory is there");
        case ENOTEMPTY:
                return leave(op, "the directory is not empty on the host");
        case EBUSY:
                return leave(op, "the host uses it (a mount point)");
        case ENAMETOOLONG:
                return leave(op, "its name is too long for the host");
        default:
                err_sys(err, "%s", what);
                char *quoted = str_quote(op->path);
                err_add(err, "%s", quoted);
                free(quoted);
                return -1;
        }
}

static int64_t ns_of(struct timespec t)
{
        return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* is_same(op, st, with_ctime): is this still what was judged? A directory is known by its inode:
 * its times move with every file in it. A rename moves ctime, and so does another name that goes.
 */
static bool is_same(const struct undo_op *op, const struct stat *st, bool with_ctime)
{
        const struct undo_ident *id = &op->ident;
        if (st->st_dev != id->dev || st->st_ino != id->ino)
                return false;
        if (op->before.kind == 'd')
                return S_ISDIR(st->st_mode);
        return (uint64_t)st->st_size == id->size && ns_of(st->st_mtim) == id->mtime_ns &&
               (!with_ctime || id->is_linked || ns_of(st->st_ctim) == id->ctime_ns);
}

static bool is_still(const struct undo_op *op, int dir_fd, const char *name)
{
        struct stat st;
        if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return op->before.kind == '-' && errno == ENOENT;
        return op->before.kind != '-' && is_same(op, &st, true);
}

int undo_place_remove(struct undo_op *op, int dir_fd, const char *name, const char *temp,
                      struct err *err)
{
        if (!is_still(op, dir_fd, name))
                return leave(op, changed);
        if (op->before.kind == 'd') {
                if (unlinkat(dir_fd, name, AT_REMOVEDIR) < 0)
                        return fail(op, "remove the directory", err);
                return landed(op);
        }
        if (renameat2(dir_fd, name, dir_fd, temp, RENAME_NOREPLACE) < 0) {
                if (errno != EINVAL && errno != ENOSYS)
                        return fail(op, "remove it", err);
                if (unlinkat(dir_fd, name, 0) < 0)
                        return fail(op, "remove it", err);
                return landed(op);
        }
        struct stat st;
        if (fstatat(dir_fd, temp, &st, AT_SYMLINK_NOFOLLOW) < 0 || !is_same(op, &st, false)) {
                (void)renameat2(dir_fd, temp, dir_fd, name, RENAME_NOREPLACE);
                return leave(op, changed);
        }
        if (unlinkat(dir_fd, temp, 0) < 0)
                return fail(op, "remove it", err);
        return landed(op);
}

/* take_out(op, dir_fd, name, temp): ${temp} and ${name} were exchanged; the old thing goes if it is
 * the one that was judged, else both go back. */
static int take_out(struct undo_op *op, int dir_fd, const char *name, const char *temp,
                    bool new_is_dir, struct err *err)
{
        struct stat st;
        bool is_ours =
                fstatat(dir_fd, temp, &st, AT_SYMLINK_NOFOLLOW) == 0 && is_same(op, &st, false);
        if (is_ours && unlinkat(dir_fd, temp, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0) == 0)
                return landed(op);
        int why = is_ours ? errno : ESTALE;
        if (renameat2(dir_fd, temp, dir_fd, name, RENAME_EXCHANGE) < 0) {
                err_sys(err, "put back what was there");
                return -1;
        }
        (void)unlinkat(dir_fd, temp, new_is_dir ? AT_REMOVEDIR : 0);
        errno = why;
        return fail(op, "replace it", err);
}

/* swap(op, dir_fd, name, temp): the new thing is at ${temp}; make it the one at ${name}. */
static int swap(struct undo_op *op, int dir_fd, const char *name, const char *temp, bool new_is_dir,
                struct err *err)
{
        int flags = new_is_dir ? AT_REMOVEDIR : 0;
        if (!is_still(op, dir_fd, name)) {
                (void)unlinkat(dir_fd, temp, flags);
                return leave(op, changed);
        }
        unsigned how = op->before.kind == '-' ? RENAME_NOREPLACE : RENAME_EXCHANGE;
        int r = renameat2(dir_fd, temp, dir_fd, name, how);
        if (r == 0)
                return how == RENAME_EXCHANGE ? take_out(op, dir_fd, name, temp, new_is_dir, err)
                                              : landed(op);
        /* A filesystem without these flags: the look above is as near as it gets. */
        if ((errno == EINVAL || errno == ENOSYS) && op->before.kind != 'd' && !new_is_dir &&
            renameat(dir_fd, temp, dir_fd, name) == 0)
                return landed(op);
        int why = errno;
        (void)unlinkat(dir_fd, temp, flags);
        errno = why;
        return fail(op, "replace it", err);
}

int undo_place_dir(struct undo_op *op, int dir_fd, const char *name, const char *temp,
                   struct err *err)
{
        /* Its own mode comes when everything in it has landed. */
        if (op->before.kind == 'd')
                return is_still(op, dir_fd, name) ? landed(op) : leave(op, changed);
        if (op->before.kind == '-') {
                if (mkdirat(dir_fd, name, op->after.mode | 0700) < 0)
                        return fail(op, "make the directory", err);
                return landed(op);
        }
        if (mkdirat(dir_fd, temp, op->after.mode | 0700) < 0)
                return fail(op, "make the directory", err);
        return swap(op, dir_fd, name, temp, true, err);
}

int undo_place_link(struct undo_op *op, int dir_fd, const char *name, const char *temp,
                    struct err *err)
{
        bool is_new = op->before.kind == '-';
        if (symlinkat(op->after.target, dir_fd, is_new ? name : temp) < 0)
                return fail(op, "make the link", err);
        return is_new ? landed(op) : swap(op, dir_fd, name, temp, false, err);
}

int undo_place_open(const struct undo_op *op, int dir_fd, const char *temp, bool *is_named,
                    struct err *err)
{
        *is_named = false;
        int fd = openat(dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
                *is_named = true;
                fd = openat(dir_fd, temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        }
        if (fd < 0) {
                int why = errno;
                err_sys(err, "make a file beside %s", op->path);
                errno = why;
        }
        return fd;
}

int undo_place_file(struct undo_op *op, int dir_fd, const char *name, const char *temp, int file_fd,
                    bool is_named, struct err *err)
{
        if (fchmod(file_fd, op->after.mode) < 0) {
                if (is_named)
                        (void)unlinkat(dir_fd, temp, 0);
                return fail(op, "set its mode", err);
        }
        if (is_named)
                return swap(op, dir_fd, name, temp, false, err);
        char by_fd[40];
        snprintf(by_fd, sizeof by_fd, "/proc/self/fd/%d", file_fd);
        bool is_new = op->before.kind == '-';
        if (linkat(AT_FDCWD, by_fd, dir_fd, is_new ? name : temp, AT_SYMLINK_FOLLOW) < 0)
                return fail(op, "give it its name", err);
        return is_new ? landed(op) : swap(op, dir_fd, name, temp, false, err);
}

int undo_place_mode(struct undo_op *op, int dir_fd, const char *name, struct err *err)
{
        struct stat st;
        char by_fd[40];
        _cleanup_close_ int fd = openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) < 0 || !is_same(op, &st, true))
                return leave(op, changed);
        /* The path of a descriptor leads to that file and nowhere else. */
        snprintf(by_fd, sizeof by_fd, "/proc/self/fd/%d", fd);
        if (chmod(by_fd, op->after.mode) < 0)
                return fail(op, "set its mode", err);
        return landed(op);
}
