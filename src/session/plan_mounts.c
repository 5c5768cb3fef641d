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

/* What one bind is, and who wants it. */
struct bind {
        const char *path, *mode;
        char *where;      /* "system policy:3", or NULL for a flag */
        bool is_optional; /* a line for every box: what does not exist is left out */
        bool is_system;   /* the administrator's: the others may show no more */
};

struct binds {
        struct bind *v;
        size_t n;
};

static void binds_free(struct binds *b)
{
        for (size_t i = 0; i < b->n; i++)
                free(b->v[i].where);
        free(b->v);
}

#define _cleanup_binds_ __attribute__((cleanup(binds_free)))

static void binds_add(struct binds *b, struct bind one)
{
        struct bind *v = reallocarray(b->v, b->n + 1, sizeof *v);
        if (!v)
                str_no_memory();
        b->v = v;
        v[b->n++] = one;
}

/* binds_lines(b, policy, rank): the "bind" lines of the layers of that rank, the first one last:
 * of two for one place the later is mounted, and of two lines the first counts. */
static void binds_lines(struct binds *b, const struct policy *p, enum policy_rank rank)
{
        for (size_t k = p->layers_n; k-- > 0;) {
                const struct policy_layer *l = &p->layers[k];
                for (size_t i = l->rank == rank ? l->lines_n : 0; i-- > 0;)
                        if (l->lines[i].kind == RULE_LINE_BIND)
                                binds_add(b, (struct bind){.path = l->lines[i].bind.path,
                                                           .mode = l->lines[i].bind.mode,
                                                           .where = str_fmt("%s:%zu", l->name,
                                                                            l->lines[i].line_no),
                                                           .is_optional = true,
                                                           .is_system = rank == POLICY_SYSTEM});
        }
}

/* bind_width(mode): how much it lets the box do to the host. */
static int bind_width(const char *mode)
{
        return strcmp(mode, "rw") == 0 ? 2 : strcmp(mode, "cow") == 0 ? 1 : 0;
}

static char *bind_real(const struct session_plan *plan, const char *path)
{
        _cleanup_free_ char *want = path[0] == '~' && path[1] == '/'
                                            ? str_fmt("%s%s", plan->box.home, path + 1)
                                            : str_dup(path);
        return realpath(want, NULL);
}

/* bind_held(plan, all, one): the administrator's line that shows the same place, or one above it,
 * with less than ${one} asks for; NULL when there is none. */
static const struct bind *bind_held(const struct session_plan *plan, const struct binds *all,
                                    const struct bind *one)
{
        _cleanup_free_ char *real = bind_real(plan, one->path);
        for (size_t i = 0; real && !one->is_system && i < all->n; i++) {
                const struct bind *s = &all->v[i];
                if (!s->is_system || bind_width(s->mode) >= bind_width(one->mode))
                        continue;
                _cleanup_free_ char *above = bind_real(plan, s->path);
                if (above && str_is_beneath(real, above))
                        return s;
        }
        return NULL;
}

static int plan_bind(struct session_plan *plan, const char *path, const char *mode,
                     bool is_optional, size_t index, struct err *err)
{
        char layer[4096];
        _cleanup_free_ char *real = bind_real(plan, path);
        struct stat st;
        if (!real || stat(real, &st) < 0) {
                if (is_optional) {
                        session_plan_note(plan, true, path, "it does not exist");
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

/* plan_bind_one(plan, all, i, err): where the administrator shows less, a line gets that much, with
 * a note; a flag, which somebody just typed, is refused. */
static int plan_bind_one(struct session_plan *plan, const struct binds *all, size_t i,
                         struct err *err)
{
        const struct bind *b = &all->v[i], *held = bind_held(plan, all, b);
        const char *mode = held ? held->mode : b->mode;
        if (held && !b->where)
                return err_set(
                        err, E_REFUSED,
                        "the bind %s:%s is more than %s allows, which is %s (only who writes "
                        "that file can allow it)",
                        b->path, b->mode, held->where, held->mode);
        if (held) {
                _cleanup_free_ char *what = str_fmt("%s, %s", b->path, b->mode);
                _cleanup_free_ char *why =
                        str_fmt("%s wants it, %s allows %s", b->where, held->where, held->mode);
                session_plan_note(plan, true, what, why);
        }
        if (plan_bind(plan, b->path, mode, b->is_optional, i, err) == 0)
                return 0;
        return b->where ? err_add(err, "%s", b->where) : -1;
}

static int plan_binds(const struct session_opts *opts, const struct profile *profile,
                      const struct store *store, struct session_plan *plan, struct err *err)
{
        _cleanup_binds_ struct binds all = {0};
        for (size_t i = 0; i < profile->binds_n; i++)
                binds_add(&all, (struct bind){.path = profile->binds[i].path,
                                              .mode = profile->binds[i].mode,
                                              .where = str_dup("the profile"),
                                              .is_optional = true});
        binds_lines(&all, &plan->door.parsed, POLICY_SYSTEM);
        binds_lines(&all, &plan->door.parsed, POLICY_PROFILE);
        binds_lines(&all, &plan->door.parsed, POLICY_USER);
        for (size_t i = 0; i < opts->binds_n; i++)
                binds_add(&all,
                          (struct bind){.path = opts->binds[i].path, .mode = opts->binds[i].mode});
        for (size_t i = 0; i < all.n; i++)
                if (plan_bind_one(plan, &all, i, err) < 0)
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
