/* trees.c - what the plan says the box sees of the host's files: read-only trees, the home, the
 * workspace.
 *
 * A read-only bind still lets connect() reach a socket and write() reach a FIFO (B1, case 36);
 * through an overlay that has only lower layers both are dead objects. So read-only trees are such
 * overlays. */
#include "box/step.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "box/mnt.h"
#include "box/submounts.h"
#include "box/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

/* here(b, staged_fd, stage, index, path, is_judged, err): an O_PATH descriptor of a host directory
 * *in our own mount namespace*, which overlay insists on. Unprivileged we open the path; by root
 * the supervisor handed over a detached copy, which is attached to a staging place first. */
static int here(struct build *b, int staged_fd, const char *stage, size_t index, const char *path,
                bool is_judged, struct err *err)
{
        if (staged_fd < 0 && is_judged)
                return mnt_source(path, err);
        if (staged_fd < 0) {
                int fd = open(path, O_PATH | O_CLOEXEC);
                return fd < 0 ? err_sys(err, "open %s", path) : fd;
        }
        char place[32];
        struct stat st;
        snprintf(place, sizeof place, "%s/%zu", stage, index);
        if (fstat(staged_fd, &st) < 0)
                return err_sys(err, "look at %s", path);
        int made = S_ISDIR(st.st_mode) ? mkdirat(b->stage_fd, place, 0700)
                                       : mknodat(b->stage_fd, place, S_IFREG | 0600, 0);
        _cleanup_close_ int to = openat(b->stage_fd, place, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (made < 0 || to < 0)
                return err_sys(err, "make a place for %s", path);
        if (mnt_attach(staged_fd, to, err) < 0)
                return err_add(err, "stage %s", path);
        return openat(b->stage_fd, place, O_PATH | O_CLOEXEC);
}

static int bind_ro(int src_fd, struct err *err)
{
        return mnt_clone(src_fd, "", true, MNT_SAFE | MOUNT_ATTR_RDONLY, err);
}

static int mount_tree(struct build *b, const struct box_mount *m, int src_fd, struct err *err)
{
        _cleanup_close_ int mnt = box_weak(WEAK_OVERLAY_RO)
                                          ? bind_ro(src_fd, err)
                                          : mnt_overlay_ro(src_fd, b->empty_fd, err);
        if (mnt < 0) {
                /* A tree with mounts inside cannot be a lower layer in a user namespace. */
                if (err->sys == EINVAL && submounts_below(m->source))
                        return submounts_tree(b, m->source, m->target, err);
                return -1;
        }
        _cleanup_close_ int to = step_target(b, m->target, true, err);
        if (to < 0)
                return -1;
        return mnt_attach(mnt, to, err);
}

static int mount_file(struct build *b, const struct box_mount *m, int src_fd, struct err *err)
{
        _cleanup_close_ int mnt = bind_ro(src_fd, err);
        struct stat st;
        if (mnt < 0)
                return -1;
        /* A bind of a socket or FIFO would be live; only a plain file may be shown this way. */
        if (fstat(mnt, &st) < 0 || !S_ISREG(st.st_mode))
                return err_set(err, E_INPUT, "%s is not a regular file", m->source);
        _cleanup_close_ int to = step_target(b, m->target, false, err);
        if (to < 0)
                return -1;
        return mnt_attach(mnt, to, err);
}

/* mount_shield(b, m, src_fd, err): the same file or directory over itself, read-only; being a mount
 * it can be neither replaced nor removed. Sockets and FIFOs in it are masked one by one. */
static int mount_shield(struct build *b, const struct box_mount *m, int src_fd, struct err *err)
{
        _cleanup_close_ int mnt = bind_ro(src_fd, err);
        struct stat st;
        if (mnt < 0)
                return -1;
        if (fstat(mnt, &st) < 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
                return err_set(err, E_INPUT, "%s is neither a file nor a directory any more",
                               m->source);
        _cleanup_close_ int to = step_target(b, m->target, S_ISDIR(st.st_mode), err);
        if (to < 0)
                return -1;
        return mnt_attach(mnt, to, err);
}

/* open_lowers(b, i, v, err): the frozen layers of mount ${i}, topmost first; ${v} has room. */
static int open_lowers(struct build *b, size_t i, int *v, struct err *err)
{
        const struct box_mount *m = &b->plan->mounts[i];
        const int *staged = b->lower_fds ? b->lower_fds[i] : NULL;
        char stage[40];
        for (size_t k = 0; k < m->lowers.n; k++) {
                snprintf(stage, sizeof stage, "lower%zu", i);
                if (staged && k == 0 && mkdirat(b->stage_fd, stage, 0700) < 0)
                        return err_sys(err, "make a place for frozen layers");
                v[k] = here(b, staged ? staged[k] : -1, stage, k, m->lowers.v[k], false, err);
                if (v[k] < 0)
                        return -1;
        }
        return 0;
}

static int mount_cow(struct build *b, size_t i, int src_fd, int layer_fd, struct err *err)
{
        const struct box_mount *m = &b->plan->mounts[i];
        int mnt = -1;
        size_t n = m->lowers.n;
        if (src_fd < 0 && n == 0) {
                /* a home without an accepted layer needs no overlay: it is the upper */
                mnt = mnt_clone(layer_fd, "upper", false, MNT_SAFE, err);
        } else {
                _cleanup_free_ int *v = malloc((n + 2) * sizeof *v);
                if (!v)
                        return err_set(err, E_SYSTEM, "out of memory");
                for (size_t k = 0; k < n; k++)
                        v[k] = -1;
                v[n] = src_fd;
                v[n + (src_fd >= 0)] = b->empty_fd;
                if (open_lowers(b, i, v, err) == 0)
                        mnt = layer_fd < 0
                                      ? mnt_overlay_view(v, n + (src_fd >= 0) + 1, b->stage_fd, err)
                                      : mnt_overlay_rw(v, n + (src_fd >= 0), layer_fd, b->stage_fd,
                                                       err);
                for (size_t k = 0; k < n; k++)
                        close_fd(&v[k]);
        }
        _cleanup_close_ int own = mnt;
        if (mnt < 0) {
                if (err->sys == EINVAL && m->source && submounts_below(m->source))
                        return err_hint(err, "%s %s", m->source, SUBMOUNTS_WORDS);
                if (err->sys == EINVAL)
                        err_hint(err, "its filesystem, or the one of the state directory, cannot "
                                      "carry an overlay: try --live, or set XDG_STATE_HOME");
                return -1;
        }
        _cleanup_close_ int to = step_target(b, m->target, true, err);
        if (to < 0)
                return -1;
        return mnt_attach(mnt, to, err);
}

static int mount_live(struct build *b, const struct box_mount *m, int src_fd, struct err *err)
{
        /* Recursive: in a user namespace a tree cannot be taken without what is mounted in it. */
        _cleanup_close_ int mnt = mnt_clone(src_fd, "", true, MNT_SAFE, err);
        if (mnt < 0)
                return -1;
        struct stat st;
        if (fstat(mnt, &st) < 0)
                return err_sys(err, "look at %s", m->source);
        _cleanup_close_ int to = step_target(b, m->target, S_ISDIR(st.st_mode), err);
        if (to < 0)
                return -1;
        return mnt_attach(mnt, to, err);
}

static int mount_one(struct build *b, size_t i, struct err *err)
{
        const struct box_mount *m = &b->plan->mounts[i];
        int staged_src = b->source_fds ? b->source_fds[i] : -1;
        int staged_layer = b->layer_fds ? b->layer_fds[i] : -1;
        _cleanup_close_ int src = -1;
        _cleanup_close_ int layer = -1;

        /* Layers, and the accepted home, are our own and may lie behind a symlink of the user's. */
        bool is_judged = m->kind != BOX_MOUNT_HOME;
        if (m->source && (src = here(b, staged_src, "src", i, m->source, is_judged, err)) < 0)
                return -1;
        if (m->layer && (layer = here(b, staged_layer, "layer", i, m->layer, false, err)) < 0)
                return -1;
        switch (m->kind) {
        case BOX_MOUNT_TREE:
                return mount_tree(b, m, src, err);
        case BOX_MOUNT_FILE:
                return mount_file(b, m, src, err);
        case BOX_MOUNT_COW:
        case BOX_MOUNT_HOME:
                return mount_cow(b, i, src, layer, err);
        case BOX_MOUNT_LIVE:
                return mount_live(b, m, src, err);
        case BOX_MOUNT_SHIELD:
                return mount_shield(b, m, src, err);
        }
        return err_set(err, E_PROTO, "unknown kind of mount");
}

int step_trees(struct build *b, struct err *err)
{
        for (size_t i = 0; i < b->plan->mounts_n; i++) {
                const struct box_mount *m = &b->plan->mounts[i];
                if (mount_one(b, i, err) < 0)
                        return err_add(err, "show %s (%s)", m->target, m->why);
        }
        return 0;
}
