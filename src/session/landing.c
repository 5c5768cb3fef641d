/* landing.c - see landing.h: what belongs to commits, what stands in their way, and who decides. */
#include "session/landing.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/committed.h"
#include "session/fetched.h"

#include <stdlib.h>
#include <string.h>

struct landing_unit *landing_unit_of(const struct landing *l, const struct landing_item *it)
{
        return it->unit ? &l->units[it->unit - 1] : NULL;
}

void landing_unit_waits(struct landing_unit *u, char *why)
{
        u->takes_head = false;
        if (u->waits)
                free(why);
        else
                u->waits = why;
}

char *landing_name(const struct landing *l, const struct landing_item *it)
{
        _cleanup_free_ char *told = changes_name(l->c, &l->c->roots.v[it->root], it->change->path);
        return str_quote(told);
}

/* owner_of(l, u, fate): the ref that the work tree's branch is, where its repository's refs are
 * told: a linked work tree shares them with another one; of a detached HEAD the one that it has of its
 * own. NULL: there is none. */
static struct git_ref *owner_of(const struct landing *l, const struct landing_unit *u,
                                enum landing_fate **fate)
{
        const struct git_repo *r = u->repo;
        struct git_repo *o = &l->fetch.v[r->owner];
        for (size_t k = 0; k < o->refs_n; k++) {
                const char *tree = o->refs[k].tree;
                if (r->head ? strcmp(o->refs[k].name, r->head) != 0
                            : !tree || strcmp(tree, r->dir) != 0)
                        continue;
                *fate = &l->units[r->owner].refs[k];
                return &o->refs[k];
        }
        return NULL;
}

/* belongs(l, it): does it land with the commits of a repository? Then which one's. */
static size_t belongs(const struct landing *l, const struct landing_item *it)
{
        struct git_repo *r = NULL;
        if (it->fate != FATE_OPEN && it->fate != FATE_CONFLICT && it->fate != FATE_REFUSED)
                return 0;
        if (!committed_touches(&l->fetch, it->change, &r))
                return 0;
        return (size_t)(r - l->fetch.v) + 1;
}

/* is_wanted(l, i, ref): is there anything to decide about a ref of repository ${i}? It may be here
 * already, and a work tree's branch not yet where it is. */
static bool is_wanted(const struct landing *l, size_t i, const struct git_ref *ref)
{
        for (size_t k = 0; k < l->fetch.n; k++) {
                const struct git_repo *r = &l->fetch.v[k];
                if (r->owner == i && r->is_ff && r->head && strcmp(r->head, ref->name) == 0)
                        return true;
        }
        return ref->is_new;
}

/* is_limited(l): chosen paths and hunks are no whole commits. */
static bool is_limited(const struct landing *l)
{
        return l->is_files || l->is_hunks || l->c->paths;
}

static void unit_begin(struct landing *l, size_t i)
{
        struct landing_unit *u = &l->units[i];
        u->repo = &l->fetch.v[i];
        u->takes_head = u->repo->is_ff && !u->repo->waits && !is_limited(l);
        u->refs = calloc(u->repo->refs_n + 1, sizeof *u->refs);
        if (!u->refs)
                str_no_memory();
        for (size_t k = 0; k < u->repo->refs_n; k++) {
                const struct git_ref *ref = &u->repo->refs[k];
                u->refs[k] = ref->refused           ? FATE_REFUSED
                             : is_wanted(l, i, ref) ? FATE_OPEN
                                                    : FATE_WAITS;
        }
}

int landing_fetch(struct landing *l, struct err *err)
{
        return fetched_get(l->c, l->store, &l->git_trees, &l->fetch, err);
}

void landing_find(struct landing *l)
{
        l->units = calloc(l->fetch.n + 1, sizeof *l->units);
        if (!l->units)
                str_no_memory();
        for (size_t i = 0; i < l->fetch.n; i++)
                unit_begin(l, i);
        for (size_t i = 0; i < l->n; i++) {
                l->v[i].unit = belongs(l, &l->v[i]);
                if (l->v[i].unit && l->v[i].fate == FATE_OPEN)
                        l->v[i].fate = FATE_UNIT;
        }
}

static bool may_class(const struct landing *l, enum file_class class)
{
        if (class == FILE_PLAIN)
                return l->has_yes || l->is_dry;
        return l->yes[class];
}

/* may_paths(l, paths): is every class among them one that --yes names? */
static bool may_paths(const struct landing *l, const struct git_paths *p)
{
        for (size_t i = 0; i < p->n; i++)
                if (!may_class(l, p->v[i].class.class))
                        return false;
        return true;
}

/* may_items(l, unit): the same of the files that belong to the unit. */
static bool may_items(const struct landing *l, const struct landing_unit *u)
{
        for (size_t i = 0; i < l->n; i++)
                if (landing_unit_of(l, &l->v[i]) == u && !may_class(l, l->v[i].change->class.class))
                        return false;
        return true;
}

/* is_here(ref): an earlier apply has brought it. */
static bool is_here(const struct git_ref *ref)
{
        return strcmp(ref->landed, ref->tip) == 0;
}

/* decide_ref(l, u, k): by --yes, by a person, or not at all. A ref that brings no path (a tag, a new
 * name, an empty commit) is a ref of the host's all the same: a person is asked for it too. */
static enum landing_fate decide_ref(struct landing *l, struct landing_unit *u, size_t k)
{
        if (l->is_over)
                return FATE_DECLINED;
        bool is_by_flag = l->has_yes || l->is_dry;
        const struct git_ref *ref = &u->repo->refs[k];
        if (is_by_flag && u->repo->host_git && may_paths(l, &ref->paths))
                return FATE_TAKE;
        if (!is_by_flag && is_here(ref))
                return FATE_TAKE; /* an earlier answer; whether a branch moves to it is another */
        if (is_by_flag || !l->has_terminal)
                return FATE_UNASKED;
        return l->asks.ref(l->asks.arg, l, u, k) ? FATE_TAKE : FATE_DECLINED;
}

static int pending_order(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

/* pending_paths(l, u, paths): what the box changed of the unit, from the top of its work tree; sorted. */
static void pending_paths(const struct landing *l, const struct landing_unit *u, struct strs *paths)
{
        for (size_t i = 0; i < l->n; i++)
                if (landing_unit_of(l, &l->v[i]) == u)
                        strs_add(paths, fetched_path(u->repo, l->v[i].change->path));
        if (paths->n)
                qsort(paths->v, paths->n, sizeof *paths->v, pending_order);
}

/* The files of a unit, beside the host's. */
struct box_files {
        const struct landing *l;
        const struct landing_unit *u;
        struct strs pending; /* sorted */
};

static enum git_land_box box_file(void *arg, const char *path)
{
        const struct box_files *f = arg;
        const struct strs *p = &f->pending;
        if (p->n && bsearch(&path, p->v, p->n, sizeof *p->v, pending_order))
                return GIT_LAND_BOX_OTHER;
        const char *top = f->u->repo->path;
        _cleanup_free_ char *whole = str_fmt("%s%s%s", top, *top ? "/" : "", path);
        for (size_t i = 0; i < f->l->c->roots.n; i++) {
                const struct ws_root *root = &f->l->c->roots.v[i];
                struct ws_node node;
                if (strcmp(root->name, "ws") == 0)
                        return ws_view_look(&root->after, whole, &node, NULL) == 0 &&
                                               node.kind != WS_NONE && node.layer < root->top_n
                                       ? GIT_LAND_BOX_SAME
                                       : GIT_LAND_BOX_NONE;
        }
        return GIT_LAND_BOX_NONE;
}

/* has_commit(m, id): will the host's repository of a submodule have this commit? */
static bool has_commit(const struct landing_unit *m, const char *id)
{
        struct err none = {0};
        const char *const argv[] = {"cat-file", "-e", id, NULL};
        struct git_call call = {.dir = m->repo->dir, .argv = argv, .out_fd = -1};
        for (size_t k = 0; k < m->repo->refs_n; k++) {
                const struct git_ref *ref = &m->repo->refs[k];
                for (size_t i = 0; m->refs[k] == FATE_TAKE && i < ref->commits_n; i++)
                        if (strcmp(ref->commits[i].id, id) == 0)
                                return true;
        }
        return git_call_host(&call, NULL, &none) == 0;
}

/* find_module(l, u): a submodule that the commits set to one of its commits that the host does not
 * get: whoever checked them out would look for it in vain. Submodules are decided before. */
static const struct git_path *find_module(const struct landing *l, const struct landing_unit *u)
{
        for (size_t i = 0; i < u->repo->touched.n; i++) {
                const struct git_path *p = &u->repo->touched.v[i];
                if (p->mode != 0160000)
                        continue;
                _cleanup_free_ char *path =
                        str_fmt("%s%s%s", u->repo->path, *u->repo->path ? "/" : "", p->path);
                for (size_t k = 0; k < l->fetch.n; k++)
                        if (l->units[k].repo->host_git &&
                            strcmp(l->units[k].repo->path, path) == 0 &&
                            !has_commit(&l->units[k], p->id))
                                return p;
        }
        return NULL;
}

/* find_masked(l, u): a path that the commits touch and where the box saw a stand-in of ours: the
 * user's own file must not become the one that git takes for changed. */
static const struct git_path *find_masked(const struct landing *l, const struct landing_unit *u)
{
        const struct ws_query *q = &l->c->query;
        for (size_t i = 0; q->is_masked && i < u->repo->touched.n; i++) {
                const struct git_path *p = &u->repo->touched.v[i];
                _cleanup_free_ char *path =
                        str_fmt("%s%s%s", u->repo->path, *u->repo->path ? "/" : "", p->path);
                if (q->is_masked(q->arg, "ws", path))
                        return p;
        }
        return NULL;
}

/* is_as_head(u, it): the host's file was written since the box started, and has what the host's HEAD
 * has: git would put the commits' file there, and so do we, as long as it is this one. */
static bool is_as_head(const struct landing_unit *u, struct landing_item *it)
{
        const char *path = fetched_path(u->repo, it->change->path);
        if (it->fate != FATE_CONFLICT || it->conflict != APPLY_HOST_CHANGED ||
            apply_host_sha(it->change, it->host_sha) < 0)
                return false;
        if (path && git_land_is_as_head(u->repo, path))
                return true;
        it->host_sha[0] = 0;
        return false;
}

/* find_obstacle(l, u): what keeps the branch from moving, before anybody is asked. */
static void find_obstacle(struct landing *l, struct landing_unit *u)
{
        char *why = NULL;
        struct err err = {0};
        if (!u->takes_head)
                return;
        for (size_t i = 0; i < l->n; i++) {
                struct landing_item *it = &l->v[i];
                if (landing_unit_of(l, it) != u || it->fate == FATE_UNIT || is_as_head(u, it))
                        continue;
                _cleanup_free_ char *name = landing_name(l, it);
                landing_unit_waits(u, str_fmt("%s: %s", name,
                                              it->fate == FATE_CONFLICT
                                                      ? apply_conflict_words(it->conflict)
                                                      : it->why));
                return;
        }
        const struct git_path *masked = find_masked(l, u);
        if (masked) {
                _cleanup_free_ char *name = str_quote(masked->path);
                landing_unit_waits(
                        u, str_fmt("%s holds a secret on the host, and its commits have the "
                                   "stand-in for it",
                                   name));
                return;
        }
        const struct git_path *module = find_module(l, u);
        if (module) {
                _cleanup_free_ char *name = str_quote(module->path);
                landing_unit_waits(
                        u, str_fmt("it sets the submodule %s to a commit that stays in the box",
                                   name));
                return;
        }
        struct box_files files = {.l = l, .u = u};
        pending_paths(l, u, &files.pending);
        if (git_land_obstacle(u->repo, box_file, &files, &why, &err) < 0)
                landing_unit_waits(u, str_dup(err.text));
        else if (why)
                landing_unit_waits(u, why);
        strs_free(&files.pending);
}

/* head_worst(l, u): the first class that moving the branch brings into the work tree and that is
 * not plain, by its commits or by the box's files on top of them; ${what} is a path of it. */
static enum file_class head_worst(const struct landing *l, const struct landing_unit *u,
                                  const char **what)
{
        for (size_t i = 0; i < u->repo->touched.n; i++) {
                *what = u->repo->touched.v[i].path;
                if (u->repo->touched.v[i].class.class != FILE_PLAIN)
                        return u->repo->touched.v[i].class.class;
        }
        for (size_t i = 0; i < l->n; i++) {
                *what = l->v[i].change->path;
                if (landing_unit_of(l, &l->v[i]) == u && l->v[i].change->class.class != FILE_PLAIN)
                        return l->v[i].change->class.class;
        }
        return FILE_PLAIN;
}

/* head_on_top(l, u): mark what lands with the branch and is not in its commits, which are all that the
 * question about the ref shows. Is there any? */
static bool head_on_top(const struct landing *l, const struct landing_unit *u)
{
        bool has_any = false;
        for (size_t i = 0; i < l->n; i++) {
                struct landing_item *it = &l->v[i];
                if (landing_unit_of(l, it) != u || it->fate == FATE_REFUSED)
                        continue;
                it->is_on_top = committed_of(&l->fetch, it->change, NULL) == COMMITTED_AND_CHANGED;
                has_any |= it->is_on_top;
        }
        return has_any;
}

/* settle_head(l, u): the branch moves only when its ref was taken, and what its move brings into
 * the work tree is approved. */
static void settle_head(struct landing *l, struct landing_unit *u)
{
        enum landing_fate *fate = NULL;
        struct git_ref *ref = owner_of(l, u, &fate);
        const char *what = "";
        if (!u->takes_head)
                return;
        if (!ref || *fate != FATE_TAKE) {
                landing_unit_waits(
                        u, str_dup(ref && *fate == FATE_DECLINED  ? "its commits were not taken"
                                   : ref && *fate == FATE_REFUSED ? ref->refused
                                                                  : "its commits were not "
                                                                    "approved"));
                return;
        }
        if (may_paths(l, &u->repo->touched) && may_items(l, u))
                return;
        enum file_class worst = head_worst(l, u, &what);
        bool has_person = !l->has_yes && !l->is_dry && l->has_terminal && !l->is_over;
        bool has_on_top = has_person && head_on_top(l, u);
        /* With the ref, just now: that question shows commits alone. */
        bool is_asked = worst == FILE_PLAIN && !is_here(ref) && !has_on_top;
        if (has_person && (is_asked || l->asks.head(l->asks.arg, l, u)))
                return;
        _cleanup_free_ char *name = str_quote(what);
        u->is_declined |= has_person || l->is_over;
        landing_unit_waits(u, has_person || l->is_over
                                      ? str_dup("its files were not taken")
                                      : str_fmt("%s %s, which --yes alone does not take (--yes=%s)",
                                                name, file_class_words(worst),
                                                file_class_name(worst)));
}

/* settle_items(l): what belongs to commits follows them. A repository that the host does not have,
 * and does not get, is in nobody's way: its files are files. */
static void settle_items(struct landing *l)
{
        for (size_t i = 0; i < l->n; i++) {
                struct landing_item *it = &l->v[i];
                const struct landing_unit *u = landing_unit_of(l, it);
                if (!u || it->fate == FATE_REFUSED)
                        continue;
                if (u->takes_head) {
                        it->fate = FATE_TAKE;
                } else if (l->is_files ||
                           (!u->repo->host_git && !u->repo->is_spare && it->fate == FATE_UNIT)) {
                        it->fate = it->fate == FATE_UNIT ? FATE_OPEN : it->fate;
                        it->unit = 0;
                } else {
                        it->fate = FATE_WAITS;
                        it->why = u->items_wait;
                }
        }
}

/* is_behind(r, ref): the box's HEAD is an older commit of the host's branch, or one of another branch
 * that the host has; nothing waits to be merged. */
static bool is_behind(const struct git_repo *r, const struct git_ref *ref)
{
        if (!r->host_git || !r->head_id[0] || strcmp(r->head_id, r->host_head_id) == 0)
                return false;
        return strcmp(r->base_id, r->head_id) == 0 || (ref && strcmp(ref->host, r->head_id) == 0);
}

/* wait_words(l, u): of files whose branch does not move: how they arrive. */
static char *wait_words(const struct landing *l, struct landing_unit *u)
{
        enum landing_fate *fate = NULL;
        const struct git_ref *ref = owner_of(l, u, &fate);
        if (is_limited(l))
                return str_dup("it is part of the box's commits, which land as a whole: apply "
                               "without paths, or with --files to have it without its commit");
        if (u->repo->is_spare)
                return str_dup(u->repo->waits);
        if (is_behind(u->repo, ref))
                return str_fmt("the box stands on commit %.12s, which the host has already, and "
                               "apply moves no branch back: git checkout or git reset does, or "
                               "apply --files for the files alone",
                               u->repo->head_id);
        if (!ref || u->repo->waits)
                return str_dup("it waits in the box with the commits that it is part of");
        if (*fate != FATE_TAKE && strcmp(ref->landed, ref->tip) != 0)
                return str_dup("it waits in the box with the commits that it is part of");
        _cleanup_free_ char *local = str_shell(ref->local + strlen("refs/"));
        _cleanup_free_ char *path = str_shell(u->repo->path);
        return str_fmt("it comes with the commits that it is part of: git %s%s%smerge %s",
                       *u->repo->path ? "-C " : "", *u->repo->path ? path : "",
                       *u->repo->path ? " " : "", local);
}

void landing_decide(struct landing *l)
{
        for (size_t i = 0; i < l->fetch.n; i++) {
                struct landing_unit *u = &l->units[i];
                find_obstacle(l, u);
                for (size_t k = 0; k < u->repo->refs_n; k++)
                        if (u->refs[k] == FATE_OPEN)
                                u->refs[k] = is_limited(l)    ? FATE_WAITS
                                             : u->repo->waits ? FATE_REFUSED
                                                              : decide_ref(l, u, k);
        }
        for (size_t i = 0; i < l->fetch.n; i++) {
                enum landing_fate *fate = NULL;
                bool has_ref = owner_of(l, &l->units[i], &fate) != NULL;
                l->units[i].is_declined = has_ref && *fate == FATE_DECLINED;
                settle_head(l, &l->units[i]);
                l->units[i].items_wait = wait_words(l, &l->units[i]);
        }
        settle_items(l);
}
