/* stack_freeze.c - see stack.h: what a box wrote becomes a layer that is never written again, by
 * renaming, so that the size plays no part. Called under the box's lock, when nothing runs in it.
 *
 * An empty directory takes the upper's place in the same instant (RENAME_EXCHANGE), so that there
 * is no moment at which a box has no upper. */
#include "workspace/stack.h"

#include "base/beneath.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/kv.h"
#include "base/str.h"
#include "base/strs.h"
#include "workspace/stack_int.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

enum { XATTRS_MAX = 65536 };

int stack_fresh_make(int frozen_fd, const char *kind, const char *label, struct stack_fresh *f,
                     struct err *err)
{
        *f = (struct stack_fresh){.hold_fd = -1, .entry_fd = -1};
        uint8_t r[STACK_ID_LEN / 2];
        if (getrandom(r, sizeof r, 0) != (ssize_t)sizeof r)
                return err_sys(err, "make up a name for a frozen layer");
        for (size_t i = 0; i < sizeof r; i++)
                snprintf(f->id + 2 * i, 3, "%02x", r[i]);
        if ((f->hold_fd = stack_hold(frozen_fd, false, err)) < 0)
                return -1;
        if (mkdirat(frozen_fd, f->id, 0700) < 0) {
                err_sys(err, "make a frozen layer");
                close_fd(&f->hold_fd);
                return -1;
        }
        f->entry_fd = openat(frozen_fd, f->id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        _cleanup_buf_ struct buf b = {0};
        kv_put(&b, "kind", kind);
        kv_put(&b, "label", label);
        kv_put_u64(&b, "made", (uint64_t)time(NULL));
        if (f->entry_fd < 0) {
                err_sys(err, "open a frozen layer");
        } else if (fdio_write_file(f->entry_fd, "info", buf_cstr(&b), 0600, err) == 0) {
                return 0;
        }
        stack_fresh_end(frozen_fd, f, false);
        return -1;
}

void stack_fresh_end(int frozen_fd, struct stack_fresh *f, bool is_kept)
{
        close_fd(&f->entry_fd);
        if (!is_kept && f->id[0])
                beneath_remove_tree(frozen_fd, f->id, NULL);
        close_fd(&f->hold_fd);
}

bool stack_is_empty(int dir_fd)
{
        /* A few names are enough: readdir would have thousands looked up. */
        char names[512] __attribute__((aligned(8)));
        _cleanup_close_ int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        for (long n; fd >= 0 && (n = syscall(SYS_getdents64, fd, names, sizeof names)) > 0;) {
                for (long at = 0; at < n;) {
                        const struct dirent64 *e = (const void *)(names + at);
                        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                                return false;
                        at += e->d_reclen;
                }
        }
        return true;
}

int stack_layers(int box_dir_fd, struct strs *names, struct err *err)
{
        _cleanup_close_ int layers =
                openat(box_dir_fd, "layers", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (layers < 0 && errno == ENOENT)
                return -2;
        _cleanup_closedir_ DIR *d = fdio_opendir(layers);
        if (!d)
                return err_sys(err, "open the box's layers");
        for (struct dirent *e; (e = readdir(d));) {
                if (e->d_name[0] == '.')
                        continue;
                _cleanup_free_ char *path = str_fmt("%s/upper", e->d_name);
                struct err none = {0};
                _cleanup_close_ int upper = beneath_open_nosym(
                        layers, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, &none);
                if (upper < 0 && none.sys != ENOENT) {
                        if (err)
                                *err = none;
                        return err_add(err, "look into the layer %s", e->d_name);
                }
                if (upper >= 0 && !stack_is_empty(upper))
                        strs_add(names, e->d_name);
        }
        return take_fd(&layers);
}

/* xattrs(from, to, with_overlay): what the filesystem will not take is left out: a box's own xattrs
 * are "user.", and those it takes. */
static int xattrs(int from, int to, bool with_overlay)
{
        char names[XATTRS_MAX], value[XATTRS_MAX];
        ssize_t n = flistxattr(from, names, sizeof names);
        if (n < 0)
                return errno == ENOTSUP || errno == EBADF ? 0 : -1;
        for (char *p = names; p < names + n; p += strlen(p) + 1) {
                if (!with_overlay && str_starts(p, "user.overlay."))
                        continue;
                ssize_t len = fgetxattr(from, p, value, sizeof value);
                if (len < 0)
                        continue;
                if (fsetxattr(to, p, value, (size_t)len, 0) < 0 && str_starts(p, "user."))
                        return -1;
        }
        return 0;
}

int stack_attrs(int from_fd, int to_fd, const struct stat *st, bool with_overlay)
{
        /* The owner first: changing it clears setuid bits. Ours belong to us already. */
        struct stat now;
        if (fstat(to_fd, &now) < 0 ||
            ((now.st_uid != st->st_uid || now.st_gid != st->st_gid) &&
             fchown(to_fd, st->st_uid, st->st_gid) < 0) ||
            xattrs(from_fd, to_fd, with_overlay) < 0 || fchmod(to_fd, st->st_mode & 07777) < 0)
                return -1;
        return futimens(to_fd, (const struct timespec[]){st->st_atim, st->st_mtim});
}

/* place(layers, name, entry, err): an empty directory in the new entry that looks like the upper
 * and will be the next one. */
static int place(int layers, const char *name, int entry, struct err *err)
{
        _cleanup_free_ char *path = str_fmt("%s/upper", name);
        _cleanup_close_ int upper =
                beneath_open_nosym(layers, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, err);
        if (upper < 0)
                return -1;
        if (mkdirat(entry, name, 0700) < 0)
                return err_sys(err, "make a frozen layer");
        _cleanup_close_ int to =
                openat(entry, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        struct stat st;
        if (to < 0 || fstat(upper, &st) < 0 || stack_attrs(upper, to, &st, false) < 0)
                return err_sys(err, "make a frozen layer");
        return 0;
}

/* move(layers, name, entry, err): the upper into the entry. */
static int move(int layers, const char *name, int entry, struct err *err)
{
        _cleanup_free_ char *path = str_fmt("%s/upper", name);
        if (renameat2(layers, path, entry, name, RENAME_EXCHANGE) < 0)
                return err_sys(err, "freeze the layer %s", name);
        return 0;
}

int stack_freeze(int box_dir_fd, int frozen_fd, const char *kind, const char *label,
                 char id[STACK_ID_LEN + 1], struct err *err)
{
        _cleanup_strs_ struct strs names = {0};
        _cleanup_stack_ struct stack s = {0};
        struct stack_fresh f;
        id[0] = 0;
        _cleanup_close_ int layers = stack_layers(box_dir_fd, &names, err);
        if (layers == -1)
                return -1;
        if (names.n == 0)
                return 0;
        if (stack_read(box_dir_fd, "stack", &s, err) < 0)
                return -1;
        if (s.n >= STACK_MAX)
                return err_set(err, E_REFUSED,
                               "the box has %zu frozen layers, and no more can be added", s.n);
        if (stack_fresh_make(frozen_fd, kind, label, &f, err) < 0)
                return -1;
        for (size_t i = 0; i < names.n; i++) {
                if (place(layers, names.v[i], f.entry_fd, err) < 0) {
                        stack_fresh_end(frozen_fd, &f, false);
                        return -1;
                }
        }
        stack_add(&s, f.id, kind, label, time(NULL));
        if (stack_write(box_dir_fd, "stack", &s, err) < 0) {
                stack_fresh_end(frozen_fd, &f, false);
                return -1;
        }
        /* From here on the entry is listed: whatever is moved shows through it, what is not is
         * still in the upper. */
        int r = 0;
        for (size_t i = 0; r == 0 && i < names.n; i++)
                r = move(layers, names.v[i], f.entry_fd, err);
        memcpy(id, f.id, sizeof f.id);
        stack_fresh_end(frozen_fd, &f, true);
        return r;
}
