/* stack_copy.c - see stack.h: what a box wrote so far, copied as a frozen layer, for a box that
 * goes on. Called while its processes stand still. On failure nothing is left of the copy. */
#include "workspace/stack.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/openfiles.h"
#include "base/str.h"
#include "base/strs.h"
#include "workspace/stack_int.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINKS ".links" /* second names of files that have several, while the copy is made */

struct copy {
        int links_fd;
        struct err *err;
};

/* copy_named(c, from, name, st, to): a regular file; of one with several names the second is a
 * link to the copy of the first. */
static int copy_named(struct copy *c, int from, const char *name, const struct stat *st, int to)
{
        char known[64];
        if (st->st_nlink < 2)
                return stack_copy_file(from, name, st, to, c->err);
        snprintf(known, sizeof known, "%" PRIx64, (uint64_t)st->st_ino);
        if (linkat(c->links_fd, known, to, name, 0) == 0)
                return 0;
        if (stack_copy_file(from, name, st, to, c->err) < 0)
                return -1;
        /* ENOENT above: the first. EMLINK: as many as fit; the next ones are another file. */
        unlinkat(c->links_fd, known, 0);
        if (linkat(to, name, c->links_fd, known, 0) < 0)
                return err_sys(c->err, "note the names of a file");
        return 0;
}

static int copy_dir(struct copy *c, const struct stack_dir *from, int to, int depth);

static int copy_sub(struct copy *c, int from, const char *name, int to, int depth)
{
        struct stack_dir sub;
        if (stack_dir_open(from, name, &sub) < 0) {
                stack_dir_close(&sub);
                _cleanup_free_ char *shown = str_quote(name);
                return err_sys(c->err, "open the directory %s", shown);
        }
        int r = mkdirat(to, name, 0700) < 0 ? err_sys(c->err, "make a directory") : 0;
        _cleanup_close_ int made =
                r < 0 ? -1 : openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (r == 0 && made < 0)
                r = err_sys(c->err, "open a directory");
        if (r == 0)
                r = copy_dir(c, &sub, made, depth + 1);
        stack_dir_close(&sub);
        return r;
}

static int copy_dir(struct copy *c, const struct stack_dir *from, int to, int depth)
{
        if (depth > STACK_DEPTH_MAX)
                return err_set(c->err, E_INPUT, "its directories are more than %d levels deep",
                               STACK_DEPTH_MAX);
        _cleanup_closedir_ DIR *d = fdio_opendir(from->fd);
        if (!d)
                return err_sys(c->err, "read a directory");
        for (struct dirent *e; (e = readdir(d));) {
                struct stat st;
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                if (fstatat(from->fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        return err_sys(c->err, "look at a file");
                int r = S_ISDIR(st.st_mode) ? copy_sub(c, from->fd, e->d_name, to, depth)
                        : S_ISREG(st.st_mode)
                                ? copy_named(c, from->fd, e->d_name, &st, to)
                                : stack_copy_other(from->fd, e->d_name, &st, to, c->err);
                if (r < 0)
                        return -1;
        }
        /* Last, because filling it changed its time, and its mode may forbid filling it. */
        if (stack_attrs(from->fd, to, &from->st, true) < 0)
                return err_sys(c->err, "set the attributes of a directory");
        return 0;
}

/* copy_layer(layers, name, entry, err): one upper. */
static int copy_layer(int layers, const char *name, int entry, struct err *err)
{
        _cleanup_close_ int layer =
                openat(layers, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        struct stack_dir upper = {.fd = -1};
        struct copy c = {.links_fd = -1, .err = err};
        int r = 0;
        if (layer < 0 || stack_dir_open(layer, "upper", &upper) < 0)
                r = err_sys(err, "open the layer %s", name);
        if (r == 0 && (mkdirat(entry, name, 0700) < 0 || mkdirat(entry, LINKS, 0700) < 0))
                r = err_sys(err, "make a frozen layer");
        _cleanup_close_ int to =
                r < 0 ? -1 : openat(entry, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        c.links_fd = r < 0 ? -1 : openat(entry, LINKS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (r == 0 && (to < 0 || c.links_fd < 0))
                r = err_sys(err, "open a frozen layer");
        if (r == 0)
                r = copy_dir(&c, &upper, to, 0);
        stack_dir_close(&upper);
        close_fd(&c.links_fd);
        if (r == 0)
                r = beneath_remove_tree(entry, LINKS, err);
        return r;
}

int stack_copy(int box_dir_fd, int frozen_fd, const char *kind, const char *label,
               char id[STACK_ID_LEN + 1], struct err *err)
{
        _cleanup_strs_ struct strs names = {0};
        struct stack_fresh f;
        id[0] = 0;
        _cleanup_close_ int layers = stack_layers(box_dir_fd, &names, err);
        if (layers == -1)
                return -1;
        if (names.n == 0)
                return 0;
        openfiles_raise(); /* a deep tree needs a descriptor or two per level */
        if (stack_fresh_make(frozen_fd, kind, label, &f, err) < 0)
                return -1;
        int r = 0;
        for (size_t i = 0; r == 0 && i < names.n; i++)
                r = copy_layer(layers, names.v[i], f.entry_fd, err);
        if (r == 0)
                memcpy(id, f.id, sizeof f.id);
        else if (err && (err->sys == ENOSPC || err->sys == EDQUOT))
                err_hint(err, "the disk that holds the state directory is full");
        stack_fresh_end(frozen_fd, &f, r == 0);
        return r;
}
