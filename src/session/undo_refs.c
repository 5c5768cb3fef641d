/* undo_refs.c - see undo_refs.h. The file `git-locks` in the store of undo lists git directories whose
 * index was locked by a run that may not have ended: one a line. */
#include "session/undo_refs.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOCKS_MAX = 16 << 20 };

static struct undo_writer *refs_writer(int undo_fd, const struct undo_head *head, uint64_t record,
                                       struct err *err)
{
        return record ? undo_again(undo_fd, record, err) : undo_begin(undo_fd, head, err);
}

int undo_refs_note(int undo_fd, const struct undo_head *head, const char *tree,
                   const struct git_move *v, size_t n, uint64_t *record, struct err *err)
{
        if (n == 0)
                return 0;
        struct undo_writer *w = refs_writer(undo_fd, head, *record, err);
        if (!w)
                return -1;
        for (size_t i = 0; i < n; i++) {
                struct undo_ref r = {.tree = (char *)(uintptr_t)tree,
                                     .name = v[i].ref,
                                     .from = (char *)(uintptr_t)v[i].from,
                                     .to = (char *)(uintptr_t)v[i].to};
                undo_ref_add(w, &r);
        }
        int rc = undo_sync(w, err);
        if (rc == 0 && *record == 0)
                rc = undo_done(w, err);
        *record = undo_number(w);
        undo_close(w);
        return rc;
}

/* refs_mark(undo_fd, of, by, err): a record that holds nothing but refs is taken back with them. */
static int refs_mark(int undo_fd, const struct undo_record *of, uint64_t by, struct err *err)
{
        if (of->entries_n)
                return 0;
        struct undo_writer *w = undo_again(undo_fd, of->n, err);
        if (!w)
                return -1;
        undo_undone(w, by, NULL);
        int rc = undo_sync(w, err);
        undo_close(w);
        return rc;
}

/* refs_locks(undo_fd): the list, locked against others that change it. */
static int refs_locks(int undo_fd)
{
        _cleanup_close_ int fd = openat(undo_fd, "git-locks",
                                        O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        while (fd >= 0 && flock(fd, LOCK_EX) < 0)
                if (errno != EINTR)
                        return -1;
        return take_fd(&fd);
}

int undo_refs_locked(int undo_fd, const char *git_dir, struct err *err)
{
        if (strchr(git_dir, '\n'))
                return 0; /* no line; the next apply there recovers it */
        _cleanup_close_ int fd = refs_locks(undo_fd);
        _cleanup_free_ char *line = str_fmt("%s\n", git_dir);
        if (fd < 0 || fdio_write_all(fd, line, strlen(line)) < 0)
                return err_sys(err, "remember that the git index is locked");
        return 0;
}

/* refs_lock_of(undo_fd, tree, err): the same of a work tree whose git directory lies in it. */
static int refs_lock_of(int undo_fd, const char *tree, struct err *err)
{
        _cleanup_free_ char *git_dir = str_fmt("%s/.git", tree);
        struct stat st;
        return lstat(git_dir, &st) == 0 && S_ISDIR(st.st_mode)
                       ? undo_refs_locked(undo_fd, git_dir, err)
                       : 0;
}

/* refs_one(undo_fd, of, r, is_dry, hooks, by, err): 1 moved, 0 left, -1. */
static int refs_one(int undo_fd, const struct undo_record *of, const struct undo_ref *r,
                    bool is_dry, const struct undo_refs_hooks *hooks, uint64_t *by, struct err *err)
{
        struct git_move move = {.ref = r->name}, back = {.ref = r->name};
        strncpy(move.from, r->from, GIT_ID_MAX);
        strncpy(move.to, r->to, GIT_ID_MAX);
        memcpy(back.from, move.to, sizeof back.from);
        memcpy(back.to, move.from, sizeof back.to);
        _cleanup_free_ char *why = NULL;
        int may = git_land_back(r->tree, &move, true, &why, err);
        if (may > 0 && !is_dry && refs_lock_of(undo_fd, r->tree, err) < 0)
                return -1;
        if (may > 0 && !is_dry) {
                struct undo_head head = {.what = "undo",
                                         .box = *of->box ? of->box : NULL,
                                         .layer = *of->layer ? of->layer : NULL,
                                         .root = of->root,
                                         .dev = of->dev,
                                         .ino = of->ino,
                                         .of = of->n};
                may = undo_refs_note(undo_fd, &head, r->tree, &back, 1, by, err) < 0
                              ? -1
                              : git_land_back(r->tree, &move, false, &why, err);
        }
        if (may > 0 && hooks->on_done)
                hooks->on_done(hooks->arg, r, *r->from == 0);
        if (may == 0 && hooks->on_left)
                hooks->on_left(hooks->arg, r, why ? why : "");
        return may;
}

int undo_refs_back(int undo_fd, const struct undo_record *of, bool is_dry,
                   const struct undo_refs_hooks *hooks, uint64_t *by, struct err *err)
{
        if (of->refs_n == 0)
                return 0;
        _cleanup_close_ int lock = is_dry ? -1 : undo_lock(undo_fd, err);
        if (!is_dry && lock < 0)
                return -1;
        size_t moved_n = 0;
        for (size_t i = of->refs_n; i-- > 0;) {
                int rc = refs_one(undo_fd, of, &of->refs[i], is_dry, hooks, by, err);
                if (rc < 0)
                        return -1;
                moved_n += rc > 0;
        }
        return moved_n && !is_dry ? refs_mark(undo_fd, of, *by, err) : 0;
}

void undo_refs_recover(int undo_fd)
{
        struct stat st;
        if (fstatat(undo_fd, "git-locks", &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_size == 0)
                return;
        _cleanup_close_ int fd = refs_locks(undo_fd);
        _cleanup_free_ char *text =
                fd < 0 ? NULL : fdio_read_file(undo_fd, "git-locks", LOCKS_MAX, NULL);
        _cleanup_buf_ struct buf kept = {0};
        char *rest = text;
        for (char *line; text && (line = strsep(&rest, "\n"));)
                if (*line == '/' && git_land_recover(line) > 0)
                        buf_put_fmt(&kept, "%s\n", line); /* of one that is still at work */
        /* A list that stays too long costs a look at each. */
        if (text && ftruncate(fd, 0) == 0)
                (void)fdio_write_all(fd, buf_cstr(&kept), kept.len);
}
