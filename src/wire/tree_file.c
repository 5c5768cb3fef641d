/* tree_file.c - make one received file or link: under a temporary name first, renamed when whole.
 *
 * Called by tree_recv.c with the descriptor of the directory it goes to. A name that exists is
 * replaced only when it is a file or a link, and then itself, never what a link points at. On any
 * failure, a full disk in the middle included, the temporary file is gone and the old one is there.
 */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "wire/tree_int.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* in_the_way(r, dir_fd, name, err): refuse to replace what is neither file nor link: a directory
 * cannot be, and a device or FIFO should not be. */
static int in_the_way(struct tree_recv *r, int dir_fd, const char *name, struct err *err)
{
        struct stat st;
        if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? 0 : err_sys(err, "look at %s", name);
        if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
                return 0;
        _cleanup_free_ char *words = tree_path_words(&r->path, name);
        return err_set(err, E_INPUT, "%s is there already and is %s; move it away first.", words,
                       S_ISDIR(st.st_mode) ? "a directory" : "no ordinary file");
}

static void temp_name(struct tree_recv *r)
{
        snprintf(r->temp, sizeof r->temp, ".ostiary-cp.%d.%u", (int)getpid(), r->temps++);
}

static int over_ceiling(struct tree_recv *r, uint64_t more, struct err *err)
{
        uint64_t sum;
        if (__builtin_add_overflow(r->count->bytes + r->left_bytes, more, &sum) ||
            (r->opts->max_bytes && sum > r->opts->max_bytes)) {
                char words[16];
                return err_set(err, E_REFUSED, "The copy is larger than the %s that --max allows.",
                               str_size_words(r->opts->max_bytes, words));
        }
        return 0;
}

/* failed(r, what, err): a sentence with the file's path; a full disk is the usual reason. */
static int failed(struct tree_recv *r, const char *what, struct err *err)
{
        int saved = errno;
        _cleanup_free_ char *words = tree_path_words(&r->path, r->file.name);
        errno = saved;
        return err_sys(err, "%s %s", what, words);
}

int tree_recv_file_open(struct tree_recv *r, int dir_fd, const struct tree_entry *e,
                        struct err *err)
{
        r->file = *e;
        if (in_the_way(r, dir_fd, e->name, err) < 0 || over_ceiling(r, e->size, err) < 0)
                return -1;
        for (int tries = 0; tries < 100; tries++) {
                temp_name(r);
                r->file_fd = openat(dir_fd, r->temp,
                                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
                if (r->file_fd >= 0 || errno != EEXIST)
                        break;
        }
        if (r->file_fd < 0)
                return failed(r, "create", err);
        r->file_dir_fd = dir_fd;
        r->got = 0;
        r->state = TREE_IN_FILE;
        return 0;
}

void tree_recv_file_leave(struct tree_recv *r, const struct tree_entry *e)
{
        r->file = *e;
        r->got = 0;
        r->is_file_left = true;
        r->state = TREE_IN_FILE;
}

int tree_recv_file_data(struct tree_recv *r, struct cur *c, struct err *err)
{
        size_t n = c->left;
        if (n == 0 || n > r->file.size - r->got)
                return err_set(err, E_PROTO,
                               "The other side sent a file that is not as long as it said; the "
                               "copy was ended.");
        if (over_ceiling(r, n, err) < 0)
                return -1;
        if (r->is_file_left) {
                r->got += n;
                r->left_bytes += n;
                return 0;
        }
        if (fdio_write_all(r->file_fd, c->p, n) < 0)
                return failed(r, "write", err);
        r->got += n;
        r->count->bytes += n;
        return 0;
}

int tree_recv_file_hole(struct tree_recv *r, struct cur *c, struct err *err)
{
        uint64_t n;
        if (cur_u64(c, &n) < 0 || c->left || n == 0 || n > r->file.size - r->got)
                return err_set(err, E_PROTO,
                               "The other side sent a hole that does not fit its file; the copy "
                               "was ended.");
        uint64_t end = r->got + n;
        if (end > INT64_MAX) {
                errno = EFBIG;
                return failed(r, "write", err);
        }
        if (r->is_file_left) {
                r->got = end;
                return 0;
        }
        if (ftruncate(r->file_fd, (off_t)end) < 0 || lseek(r->file_fd, 0, SEEK_END) < 0)
                return failed(r, "write", err);
        r->got = end;
        return 0;
}

/* new_mode(r): rights that the file in its place has may stay; others must be within the mask. */
static mode_t new_mode(const struct tree_recv *r)
{
        struct stat st;
        mode_t had = 0;
        if (fstatat(r->file_dir_fd, r->file.name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(st.st_mode))
                had = st.st_mode & 0777;
        return r->file.mode & 0777 & (had | ~r->opts->mask);
}

int tree_recv_file_end(struct tree_recv *r, struct err *err)
{
        const struct tree_entry *e = &r->file;
        if (r->got != e->size)
                return err_set(err, E_PROTO,
                               "The other side sent a file that is not as long as it said; the "
                               "copy was ended.");
        if (r->is_file_left) {
                tree_recv_file_drop(r);
                r->state = r->levels_n + r->left_n ? TREE_IN_DIR : TREE_WANTS_END;
                return 0;
        }
        if (r->opts->owner_uid != (uid_t)-1 &&
            fchown(r->file_fd, r->opts->owner_uid, r->opts->owner_gid) < 0)
                return failed(r, "give away", err);
        if (fchmod(r->file_fd, new_mode(r)) < 0)
                return failed(r, "set the mode of", err);
        struct timespec both[2] = {{.tv_nsec = UTIME_OMIT},
                                   {.tv_sec = e->mtime_s, .tv_nsec = e->mtime_ns}};
        (void)futimens(r->file_fd, both); /* a filesystem may not hold every time */

        /* Some filesystems report a full disk only here. */
        int fd = take_fd(&r->file_fd);
        if (close(fd) < 0 || renameat(r->file_dir_fd, r->temp, r->file_dir_fd, e->name) < 0) {
                failed(r, "write", err);
                unlinkat(r->file_dir_fd, r->temp, 0);
                return -1;
        }
        r->count->files++;
        r->state = r->levels_n ? TREE_IN_DIR : TREE_WANTS_END;
        return 0;
}

void tree_recv_file_drop(struct tree_recv *r)
{
        r->is_file_left = false;
        if (r->file_fd < 0)
                return;
        close_fd(&r->file_fd);
        unlinkat(r->file_dir_fd, r->temp, 0);
}

int tree_recv_link(struct tree_recv *r, int dir_fd, const struct tree_entry *e, struct err *err)
{
        r->file = *e;
        if (!tree_link_is_inside(e->target, r->levels_n - 1)) {
                if (!r->opts->on_note)
                        return err_set(err, E_PROTO, "The other side sent a link out of its tree.");
                _cleanup_free_ char *where = tree_path_words(&r->path, e->name);
                _cleanup_free_ char *words =
                        str_fmt("%s is a link out of the copied tree, to %s, and was left out.",
                                where, e->target);
                r->count->skipped++;
                r->opts->on_note(r->opts->arg, words);
                return 0;
        }
        if (in_the_way(r, dir_fd, e->name, err) < 0)
                return -1;
        int made = -1;
        for (int tries = 0; made < 0 && tries < 100; tries++) {
                temp_name(r);
                made = symlinkat(e->target, dir_fd, r->temp);
                if (made < 0 && errno != EEXIST)
                        break;
        }
        if (made < 0)
                return failed(r, "create", err);
        struct timespec both[2] = {{.tv_nsec = UTIME_OMIT},
                                   {.tv_sec = e->mtime_s, .tv_nsec = e->mtime_ns}};
        (void)utimensat(dir_fd, r->temp, both, AT_SYMLINK_NOFOLLOW);
        if (r->opts->owner_uid != (uid_t)-1)
                (void)!fchownat(dir_fd, r->temp, r->opts->owner_uid, r->opts->owner_gid,
                                AT_SYMLINK_NOFOLLOW);
        if (renameat(dir_fd, r->temp, dir_fd, e->name) < 0) {
                failed(r, "create", err);
                unlinkat(dir_fd, r->temp, 0);
                return -1;
        }
        r->count->files++;
        return 0;
}
