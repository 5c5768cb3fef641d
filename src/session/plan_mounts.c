/* plan_mounts.c - what a box sees, in the order in which it is decided: the system's trees, its
 * home, the tools it was found to need, what the user binds, and the workspace. */
#include "session/plan.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "box/weak.h"
#include "policy/profile.h"
#include "session/gitdirs.h"
#include "session/home.h"
#include "session/toolchain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* note_pairs(plan, pairs): "what\nwhy" lines of other parts, as things left out. */
static void note_pairs(struct session_plan *plan, const struct strs *pairs)
{
        for (size_t i = 0; i < pairs->n; i++) {
                char *cut = strchr(pairs->v[i], '\n');
                if (!cut)
                        continue;
                *cut = 0;
                session_plan_note(plan, true, pairs->v[i], cut + 1);
                *cut = '\n';
        }
}

/* Top-level names of the system: a symlink stays one (merged /usr), a directory is a read-only
 * tree. */
static void plan_system(struct session_plan *plan)
{
        static const char *const top[] = {"/usr",   "/bin",   "/sbin",   "/lib",
                                          "/lib32", "/lib64", "/libx32", "/opt"};
        for (size_t i = 0; i < sizeof top / sizeof *top; i++) {
                struct stat st;
                char to[256];
                if (lstat(top[i], &st) < 0)
                        continue;
                if (S_ISDIR(st.st_mode)) {
                        box_plan_mount(&plan->box, BOX_MOUNT_TREE, top[i], top[i], NULL, "system");
                        continue;
                }
                ssize_t n = readlink(top[i], to, sizeof to - 1);
                if (n > 0)
                        strs_addf(&plan->box.links, "%.*s\n%s", (int)n, to, top[i]);
        }
        session_plan_note(plan, true, "/home /root /var /run /mnt /media /srv /boot /sys",
                          "never in a box");
}

static void plan_tools(const struct toolchain_set *tools, struct session_plan *plan)
{
        for (size_t i = 0; i < tools->items_n; i++) {
                const struct toolchain_item *t = &tools->items[i];
                if (t->kind == TOOLCHAIN_LINK) {
                        if (str_is_beneath(t->path, plan->box.home))
                                strs_addf(&plan->home_links, "%s\n%s", t->link, t->path);
                        else
                                session_plan_note(plan, true, t->path,
                                                  "a link outside of the home");
                        continue;
                }
                box_plan_mount(&plan->box,
                               t->kind == TOOLCHAIN_TREE ? BOX_MOUNT_TREE : BOX_MOUNT_FILE, t->path,
                               t->path, NULL, t->why);
        }
        note_pairs(plan, &tools->left_out);
}

static int plan_bind(struct session_plan *plan, const char *path, const char *mode,
                     bool is_optional, size_t index, struct err *err)
{
        char layer[4096];
        _cleanup_free_ char *want = path[0] == '~' && path[1] == '/'
                                            ? str_fmt("%s%s", plan->box.home, path + 1)
                                            : str_dup(path);
        _cleanup_free_ char *real = realpath(want, NULL);
        struct stat st;
        if (!real || stat(real, &st) < 0) {
                if (is_optional) {
                        session_plan_note(plan, true, want, "it does not exist");
                        return 0;
                }
                err_sys(err, "the bind %s cannot be used", path);
                err->code = E_INPUT;
                return -1;
        }
        bool is_dir = S_ISDIR(st.st_mode);
        if (!is_dir && !S_ISREG(st.st_mode))
                return err_set(err, E_REFUSED, "%s is neither a file nor a directory", path);
        if (strcmp(mode, "rw") == 0) {
                box_plan_mount(&plan->box, BOX_MOUNT_LIVE, real, real, NULL, "bind, read-write");
        } else if (strcmp(mode, "cow") == 0 && is_dir) {
                snprintf(layer, sizeof layer, "%s/bind%zu", plan->layers_dir, index);
                box_plan_mount(&plan->box, BOX_MOUNT_COW, real, real, layer, "bind, copy-on-write");
        } else if (strcmp(mode, "ro") == 0) {
                box_plan_mount(&plan->box, is_dir ? BOX_MOUNT_TREE : BOX_MOUNT_FILE, real, real,
                               NULL, "bind, read-only");
        } else {
                return err_set(err, E_USAGE, "a bind is ro, rw or (for a directory) cow, not %s",
                               mode);
        }
        return 0;
}

static int plan_binds(const struct session_opts *opts, const struct profile *profile,
                      const struct store *store, struct session_plan *plan, struct err *err)
{
        for (size_t i = 0; i < profile->binds_n; i++)
                if (plan_bind(plan, profile->binds[i].path, profile->binds[i].mode, true, i, err) <
                    0)
                        return -1;
        for (size_t i = 0; i < opts->binds_n; i++)
                if (plan_bind(plan, opts->binds[i].path, opts->binds[i].mode, false,
                              profile->binds_n + i, err) < 0)
                        return -1;
        /* No bind may contain, or lie in, what is ours (B12). */
        const char *const ours[] = {store->state, store->data, store->config};
        for (size_t i = 0; i < plan->box.mounts_n; i++) {
                const struct box_mount *m = &plan->box.mounts[i];
                for (size_t j = 0; m->source && !m->layer && j < sizeof ours / sizeof *ours; j++)
                        if (ours[j] && (str_is_beneath(ours[j], m->source) ||
                                        str_is_beneath(m->source, ours[j])))
                                return err_set(err, E_REFUSED,
                                               "%s cannot be shown in a box: it overlaps ostiary's "
                                               "own directory %s",
                                               m->source, ours[j]);
        }
        return 0;
}

static int plan_work_mounts(const struct session_opts *opts, struct session_plan *plan,
                            struct err *err)
{
        struct box_plan *b = &plan->box;
        char layer[4096];
        if (!plan->workspace)
                return 0;
        if (opts->is_live) {
                box_plan_mount(b, BOX_MOUNT_LIVE, plan->workspace, plan->workspace, NULL,
                               "workspace, live");
        } else {
                snprintf(layer, sizeof layer, "%s/ws", plan->layers_dir);
                box_plan_mount(b, BOX_MOUNT_COW, plan->workspace, plan->workspace, layer,
                               "workspace, copy-on-write");
        }
        _cleanup_strs_ struct strs dirs = {0};
        _cleanup_strs_ struct strs notes = {0};
        if (gitdirs_find(plan->workspace, b->home, &dirs, &notes, err) < 0)
                return -1;
        for (size_t i = 0; i < dirs.n; i++) {
                snprintf(layer, sizeof layer, "%s/git%zu", plan->layers_dir, i);
                box_plan_mount(b, opts->is_live ? BOX_MOUNT_LIVE : BOX_MOUNT_COW, dirs.v[i],
                               dirs.v[i], opts->is_live ? NULL : layer,
                               "git directory of the workspace");
        }
        note_pairs(plan, &notes);
        return 0;
}

static void plan_home_mount(const struct store *store, struct session_plan *plan)
{
        char layer[4096];
        _cleanup_free_ char *accepted =
                plan->persist.n ? home_current(store->data, plan->profile) : NULL;
        if (box_weak(WEAK_HOME_MASK)) {
                box_plan_mount(&plan->box, BOX_MOUNT_LIVE, plan->box.home, plan->box.home, NULL,
                               "the real home (weakened)");
                return;
        }
        snprintf(layer, sizeof layer, "%s/home", plan->layers_dir);
        box_plan_mount(&plan->box, BOX_MOUNT_HOME, accepted, plan->box.home, layer, "private home");
}

static int by_target(const void *a, const void *b)
{
        const struct box_mount *x = a, *y = b;
        return strcmp(x->target, y->target);
}

/* order_mounts(plan): parents before children; of two for one place the one that was planned last
 * (the user's own bind, the workspace) wins. */
static void order_mounts(struct box_plan *b)
{
        for (size_t i = 0; i < b->mounts_n; i++) {
                for (size_t j = i + 1; j < b->mounts_n; j++) {
                        if (strcmp(b->mounts[i].target, b->mounts[j].target) != 0)
                                continue;
                        struct box_mount gone = b->mounts[i];
                        memmove(&b->mounts[i], &b->mounts[i + 1],
                                (b->mounts_n - i - 1) * sizeof gone);
                        b->mounts_n--;
                        box_mount_free(&gone);
                        i--;
                        break;
                }
        }
        qsort(b->mounts, b->mounts_n, sizeof *b->mounts, by_target);
}

int plan_mounts(const struct session_opts *opts, const struct profile *profile,
                const struct toolchain_set *tools, const struct store *store,
                struct session_plan *plan, struct err *err)
{
        plan_system(plan);
        plan_home_mount(store, plan);
        plan_tools(tools, plan);
        if (plan_binds(opts, profile, store, plan, err) < 0 ||
            plan_work_mounts(opts, plan, err) < 0)
                return -1;
        order_mounts(&plan->box);
        return 0;
}
