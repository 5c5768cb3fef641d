/* apply_git.c - the commits of a box: which of its files belong to them, who decides, and the order
 * in which objects, files, index and refs land.
 *
 * Landing has two units: commits, ref by ref, and changes that the box did not commit. A path that
 * new commits of the box's branch touch lands with them or not at all: as a loose file it would be
 * in the way of the merge that brings them later. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/apply.h"
#include "cli/out.h"
#include "git/show.h"
#include "session/committed.h"
#include "session/fetched.h"
#include "session/undo_refs.h"
#include "workspace/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOW_MAX = 64 << 20 };

static struct apply_unit *unit_of(const struct apply_job *j, const struct apply_item *it)
{
        return it->unit ? &j->units[it->unit - 1] : NULL;
}

/* unit_waits(u, why): the branch does not move; the first reason counts. Takes ${why} over. */
static void unit_waits(struct apply_unit *u, char *why)
{
        u->takes_head = false;
        if (u->waits)
                free(why);
        else
                u->waits = why;
}

/* owner_of(j, u, fate): the ref that the work tree's branch is, where its repository's refs are
 * told: a linked work tree shares them with another one. NULL: HEAD is detached, or not there. */
static struct git_ref *owner_of(const struct apply_job *j, const struct apply_unit *u,
                                enum apply_fate **fate)
{
        const struct git_repo *r = u->repo;
        struct git_repo *o = &j->fetch.v[r->owner];
        for (size_t k = 0; r->head && k < o->refs_n; k++) {
                if (strcmp(o->refs[k].name, r->head) != 0)
                        continue;
                *fate = &j->units[r->owner].refs[k];
                return &o->refs[k];
        }
        return NULL;
}

/* --- finding ------------------------------------------------------------------------------------
 */

/* belongs(j, it): does it land with the commits of a repository? Then which one's. */
static size_t belongs(const struct apply_job *j, const struct apply_item *it)
{
        struct git_repo *r = NULL;
        if (it->fate != FATE_OPEN && it->fate != FATE_CONFLICT && it->fate != FATE_REFUSED)
                return 0;
        if (committed_of(&j->fetch, it->change, &r) == COMMITTED_NOT_TOUCHED)
                return 0;
        return (size_t)(r - j->fetch.v) + 1;
}

/* is_wanted(j, i, ref): is there anything to decide about a ref of repository ${i}? It may be here
 * already, and a work tree's branch not yet where it is. */
static bool is_wanted(const struct apply_job *j, size_t i, const struct git_ref *ref)
{
        for (size_t k = 0; k < j->fetch.n; k++) {
                const struct git_repo *r = &j->fetch.v[k];
                if (r->owner == i && r->is_ff && r->head && strcmp(r->head, ref->name) == 0)
                        return true;
        }
        return ref->is_new;
}

/* is_limited(j): chosen paths and hunks are no whole commits. */
static bool is_limited(const struct apply_job *j)
{
        return j->is_files || j->is_hunks || j->c->paths;
}

static void unit_begin(struct apply_job *j, size_t i)
{
        struct apply_unit *u = &j->units[i];
        u->repo = &j->fetch.v[i];
        u->takes_head = u->repo->is_ff && !u->repo->waits && !is_limited(j);
        u->refs = calloc(u->repo->refs_n + 1, sizeof *u->refs);
        if (!u->refs)
                str_no_memory();
        for (size_t k = 0; k < u->repo->refs_n; k++) {
                const struct git_ref *ref = &u->repo->refs[k];
                u->refs[k] = ref->refused           ? FATE_REFUSED
                             : is_wanted(j, i, ref) ? FATE_OPEN
                                                    : FATE_WAITS;
        }
}

int apply_git_fetch(struct apply_job *j, struct err *err)
{
        return fetched_get(j->c, j->store, &j->git_trees, &j->fetch, err);
}

void apply_git_find(struct apply_job *j)
{
        j->units = calloc(j->fetch.n + 1, sizeof *j->units);
        if (!j->units)
                str_no_memory();
        for (size_t i = 0; i < j->fetch.n; i++) {
                unit_begin(j, i);
                git_land_sweep(&j->fetch.v[i]);
        }
        for (size_t i = 0; i < j->n; i++) {
                j->v[i].unit = belongs(j, &j->v[i]);
                if (j->v[i].unit && j->v[i].fate == FATE_OPEN)
                        j->v[i].fate = FATE_UNIT;
        }
}

/* --- asking -------------------------------------------------------------------------------------
 */

static bool may_class(const struct apply_job *j, enum file_class class)
{
        if (class == FILE_PLAIN)
                return j->has_yes || j->is_dry;
        return j->yes[class];
}

/* may_paths(j, paths): is every class among them one that --yes names? */
static bool may_paths(const struct apply_job *j, const struct git_paths *p)
{
        for (size_t i = 0; i < p->n; i++)
                if (!may_class(j, p->v[i].class.class))
                        return false;
        return true;
}

/* may_items(j, unit): the same of the files that belong to the unit. */
static bool may_items(const struct apply_job *j, const struct apply_unit *u)
{
        for (size_t i = 0; i < j->n; i++)
                if (unit_of(j, &j->v[i]) == u && !may_class(j, j->v[i].change->class.class))
                        return false;
        return true;
}

/* show_ref(r, ref): its commits with their patches, safe for a terminal. */
static void show_ref(const struct git_repo *r, const struct git_ref *ref)
{
        struct err err = {0};
        _cleanup_buf_ struct buf log = {.max = SHOW_MAX}, safe = {.max = SHOW_MAX};
        if (git_show_log(r, ref, NULL, true, &log, &err) < 0) {
                out_say("%s", err.text);
                return;
        }
        ws_print_shown(&safe, buf_cstr(&log), log.len, out_has_colour(2));
        fputs(buf_cstr(&safe), stderr);
}

/* ask_ref(j, u, k): somebody at a terminal decides. */
static enum apply_fate ask_ref(struct apply_job *j, struct apply_unit *u, size_t k)
{
        const struct git_repo *r = u->repo;
        const struct git_ref *ref = &r->refs[k];
        apply_git_list(r, ref);
        const char *what = !r->host_git ? "Make the repository with the host's git, and take them?"
                                        : "Take them?";
        _cleanup_free_ char *question =
                str_fmt("%s (%s) [y/N, d shows, q ends]", what, file_class_words(ref->worst));
        for (;;) {
                char got = apply_answer(question, "nydq");
                if (got == 'd') {
                        show_ref(r, ref);
                        continue;
                }
                j->is_over = got == 'q';
                return got == 'y' ? FATE_TAKE : FATE_DECLINED;
        }
}

/* decide_ref(j, u, k): by --yes, by a person, or not at all. */
static enum apply_fate decide_ref(struct apply_job *j, struct apply_unit *u, size_t k)
{
        if (j->is_over)
                return FATE_DECLINED;
        if (u->repo->host_git && may_paths(j, &u->repo->refs[k].paths))
                return FATE_TAKE;
        if (j->has_yes || j->is_dry || !j->has_terminal)
                return FATE_UNASKED;
        return ask_ref(j, u, k);
}

struct pending_of {
        const struct apply_job *j;
        const struct apply_unit *u;
};

static bool is_pending(void *arg, const char *path)
{
        const struct pending_of *p = arg;
        for (size_t i = 0; i < p->j->n; i++) {
                const struct apply_unit *u = unit_of(p->j, &p->j->v[i]);
                if (u && u == p->u &&
                    strcmp(fetched_path(u->repo, p->j->v[i].change->path), path) == 0)
                        return true;
        }
        return false;
}

/* has_commit(m, id): will the host's repository of a submodule have this commit? */
static bool has_commit(const struct apply_unit *m, const char *id)
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

/* find_module(j, u): a submodule that the commits set to one of its commits that the host does not
 * get: whoever checked them out would look for it in vain. Submodules are decided before. */
static const struct git_path *find_module(const struct apply_job *j, const struct apply_unit *u)
{
        for (size_t i = 0; i < u->repo->touched.n; i++) {
                const struct git_path *p = &u->repo->touched.v[i];
                if (p->mode != 0160000)
                        continue;
                _cleanup_free_ char *path =
                        str_fmt("%s%s%s", u->repo->path, *u->repo->path ? "/" : "", p->path);
                for (size_t k = 0; k < j->fetch.n; k++)
                        if (j->units[k].repo->host_git &&
                            strcmp(j->units[k].repo->path, path) == 0 &&
                            !has_commit(&j->units[k], p->id))
                                return p;
        }
        return NULL;
}

/* find_masked(j, u): a path that the commits touch and where the box saw a stand-in of ours: the
 * user's own file must not become the one that git takes for changed. */
static const struct git_path *find_masked(const struct apply_job *j, const struct apply_unit *u)
{
        const struct ws_query *q = &j->c->query;
        for (size_t i = 0; q->is_masked && i < u->repo->touched.n; i++) {
                const struct git_path *p = &u->repo->touched.v[i];
                _cleanup_free_ char *path =
                        str_fmt("%s%s%s", u->repo->path, *u->repo->path ? "/" : "", p->path);
                if (q->is_masked(q->arg, "ws", path))
                        return p;
        }
        return NULL;
}

/* find_obstacle(j, u): what keeps the branch from moving, before anybody is asked. */
static void find_obstacle(struct apply_job *j, struct apply_unit *u)
{
        char *why = NULL;
        struct err err = {0};
        struct pending_of arg = {.j = j, .u = u};
        if (!u->takes_head)
                return;
        for (size_t i = 0; i < j->n; i++) {
                const struct apply_item *it = &j->v[i];
                if (unit_of(j, it) != u || it->fate == FATE_UNIT)
                        continue;
                _cleanup_free_ char *name = apply_name(j, it);
                unit_waits(u, str_fmt("%s: %s", name,
                                      it->fate == FATE_CONFLICT ? apply_conflict_words(it->conflict)
                                                                : it->why));
                return;
        }
        const struct git_path *masked = find_masked(j, u);
        if (masked) {
                _cleanup_free_ char *name = str_quote(masked->path);
                unit_waits(u, str_fmt("%s holds a secret on the host, and its commits have the "
                                      "stand-in for it",
                                      name));
                return;
        }
        const struct git_path *module = find_module(j, u);
        if (module) {
                _cleanup_free_ char *name = str_quote(module->path);
                unit_waits(u, str_fmt("it sets the submodule %s to a commit that stays in the box",
                                      name));
                return;
        }
        if (git_land_obstacle(u->repo, is_pending, &arg, &why, &err) < 0)
                unit_waits(u, str_dup(err.text));
        else if (why)
                unit_waits(u, why);
}

/* head_worst(j, u): the first class that moving the branch brings into the work tree and that is
 * not plain, by its commits or by the box's files on top of them; ${what} is a path of it. */
static enum file_class head_worst(const struct apply_job *j, const struct apply_unit *u,
                                  const char **what)
{
        for (size_t i = 0; i < u->repo->touched.n; i++) {
                *what = u->repo->touched.v[i].path;
                if (u->repo->touched.v[i].class.class != FILE_PLAIN)
                        return u->repo->touched.v[i].class.class;
        }
        for (size_t i = 0; i < j->n; i++) {
                *what = j->v[i].change->path;
                if (unit_of(j, &j->v[i]) == u && j->v[i].change->class.class != FILE_PLAIN)
                        return j->v[i].change->class.class;
        }
        return FILE_PLAIN;
}

/* list_head(j, u): what is not plain of that, by name. */
static void list_head(const struct apply_job *j, const struct apply_unit *u)
{
        for (size_t i = 0; i < u->repo->touched.n; i++) {
                const struct git_path *p = &u->repo->touched.v[i];
                _cleanup_free_ char *name = str_quote(p->path);
                if (p->class.class != FILE_PLAIN)
                        fprintf(stderr, "  committed: %s (%s)\n", name,
                                file_class_words(p->class.class));
        }
        for (size_t i = 0; i < j->n; i++) {
                const struct ws_change *c = j->v[i].change;
                if (unit_of(j, &j->v[i]) != u || c->class.class == FILE_PLAIN)
                        continue;
                _cleanup_free_ char *name = apply_name(j, &j->v[i]);
                fprintf(stderr, "  %-8s %s (%s)\n", ws_what_name(c->what), name,
                        file_class_words(c->class.class));
        }
}

/* ask_head(j, u): the work tree gets what the branch's commits and the files on top of them bring;
 * that is asked for by its own classes, which the ref's may not have named. */
static bool ask_head(struct apply_job *j, const struct apply_unit *u)
{
        _cleanup_free_ char *branch = str_quote(u->repo->head);
        fprintf(stderr, "To move the host's %s to them brings into its work tree:\n", branch);
        list_head(j, u);
        for (;;) {
                char got = apply_answer("Move it, with its files? [y/N, q ends]", "nyq");
                j->is_over = got == 'q';
                return got == 'y';
        }
}

/* settle_head(j, u): the branch moves only when its ref was taken, and what its move brings into
 * the work tree is approved. */
static void settle_head(struct apply_job *j, struct apply_unit *u)
{
        enum apply_fate *fate = NULL;
        struct git_ref *ref = owner_of(j, u, &fate);
        const char *what = "";
        if (!u->takes_head)
                return;
        if (!ref || *fate != FATE_TAKE) {
                unit_waits(u, str_dup(ref && *fate == FATE_DECLINED  ? "its commits were not taken"
                                      : ref && *fate == FATE_REFUSED ? ref->refused
                                                                     : "its commits were not "
                                                                       "approved"));
                return;
        }
        if (may_paths(j, &u->repo->touched) && may_items(j, u))
                return;
        enum file_class worst = head_worst(j, u, &what);
        bool has_person = !j->has_yes && !j->is_dry && j->has_terminal && !j->is_over;
        if (has_person && (worst == FILE_PLAIN || ask_head(j, u)))
                return;
        _cleanup_free_ char *name = str_quote(what);
        unit_waits(u, has_person || j->is_over
                              ? str_dup("its files were not taken")
                              : str_fmt("%s %s, which --yes alone does not take (--yes=%s)", name,
                                        file_class_words(worst), file_class_name(worst)));
}

/* settle_items(j): what belongs to commits follows them. A repository that the host does not have,
 * and does not get, is in nobody's way: its files are files. */
static void settle_items(struct apply_job *j)
{
        for (size_t i = 0; i < j->n; i++) {
                struct apply_item *it = &j->v[i];
                const struct apply_unit *u = unit_of(j, it);
                if (!u || it->fate == FATE_REFUSED)
                        continue;
                if (u->takes_head) {
                        it->fate = FATE_TAKE;
                } else if (j->is_files ||
                           (!u->repo->host_git && !u->repo->is_spare && it->fate == FATE_UNIT)) {
                        it->fate = it->fate == FATE_UNIT ? FATE_OPEN : it->fate;
                        it->unit = 0;
                } else {
                        it->fate = FATE_WAITS;
                        it->why = u->items_wait;
                }
        }
}

/* wait_words(j, u): of files whose branch does not move: how they arrive. */
static char *wait_words(const struct apply_job *j, struct apply_unit *u)
{
        enum apply_fate *fate = NULL;
        const struct git_ref *ref = owner_of(j, u, &fate);
        if (is_limited(j))
                return str_dup("it is part of the box's commits, which land as a whole: apply "
                               "without paths, or with --files to have it without its commit");
        if (u->repo->is_spare)
                return str_dup(u->repo->waits);
        if (!ref || u->repo->waits)
                return str_dup("it waits in the box with the commits that it is part of");
        if (*fate != FATE_TAKE && strcmp(ref->landed, ref->tip) != 0)
                return str_dup("it waits in the box with the commits that it is part of");
        u->is_here = true;
        _cleanup_free_ char *local = str_shell(ref->local + strlen("refs/"));
        _cleanup_free_ char *path = str_shell(u->repo->path);
        return str_fmt("it comes with the commits that it is part of: git %s%s%smerge %s",
                       *u->repo->path ? "-C " : "", *u->repo->path ? path : "",
                       *u->repo->path ? " " : "", local);
}

void apply_git_ask(struct apply_job *j)
{
        for (size_t i = 0; i < j->fetch.n; i++) {
                struct apply_unit *u = &j->units[i];
                find_obstacle(j, u);
                for (size_t k = 0; k < u->repo->refs_n; k++)
                        if (u->refs[k] == FATE_OPEN)
                                u->refs[k] = is_limited(j)    ? FATE_WAITS
                                             : u->repo->waits ? FATE_REFUSED
                                                              : decide_ref(j, u, k);
        }
        for (size_t i = 0; i < j->fetch.n; i++) {
                settle_head(j, &j->units[i]);
                j->units[i].items_wait = wait_words(j, &j->units[i]);
        }
        settle_items(j);
}

/* --- landing ------------------------------------------------------------------------------------
 */

/* give_up(j, u, why): nothing of it lands. */
static void give_up(struct apply_job *j, struct apply_unit *u, const char *why)
{
        unit_waits(u, str_dup(why));
        for (size_t k = 0; k < u->repo->refs_n; k++)
                if (u->refs[k] == FATE_TAKE) {
                        u->refs[k] = FATE_REFUSED;
                        free(u->repo->refs[k].refused);
                        u->repo->refs[k].refused = str_dup(why);
                }
        for (size_t i = 0; i < j->n; i++)
                if (unit_of(j, &j->v[i]) == u && j->v[i].fate == FATE_TAKE) {
                        j->v[i].fate = FATE_WAITS;
                        j->v[i].why = u->waits;
                }
}

/* note_names(j, u, err): the names that this box makes below refs/ostiary, so that they are known as
 * its own next time. */
static int note_names(const struct apply_job *j, struct apply_unit *u, struct err *err)
{
        size_t n = 0;
        const struct git_move *moves = git_land_moves(u->land, &n);
        for (size_t k = 0; k < n; k++) {
                if (!*moves[k].to || !str_starts(moves[k].ref, "refs/ostiary/"))
                        continue;
                if (moves[k].is_kept)
                        strs_add(&u->kept, moves[k].ref);
                if (fetched_note(j->c->box_fd, u->repo->host_common, moves[k].ref, err) < 0)
                        return -1;
        }
        return 0;
}

static void begin_unit(struct apply_job *j, struct apply_unit *u)
{
        struct git_repo *r = u->repo;
        bool has_any = u->takes_head;
        _cleanup_free_ bool *takes = calloc(r->refs_n + 1, sizeof *takes);
        if (!takes)
                str_no_memory();
        for (size_t k = 0; k < r->refs_n; k++) {
                takes[k] = u->refs[k] == FATE_TAKE;
                has_any |= takes[k];
        }
        if (!has_any)
                return;
        struct err err = {0};
        _cleanup_strs_ struct strs known = {0};
        if (r->host_common)
                fetched_known(j->c->box_fd, r->host_common, &known);
        u->land = git_land_begin(r, j->c->id, takes, u->takes_head, &known, &err);
        if (u->land && note_names(j, u, &err) < 0) {
                git_land_end(u->land);
                u->land = NULL;
        }
        if (!u->land)
                give_up(j, u, err.text);
}

void apply_git_begin(struct apply_job *j)
{
        for (size_t i = 0; i < j->fetch.n; i++)
                begin_unit(j, &j->units[i]);
}

/* ws_root(j): the index of the workspace among the roots. */
static size_t ws_root(const struct apply_job *j)
{
        size_t i = 0;
        while (i + 1 < j->c->roots.n && strcmp(j->c->roots.v[i].name, "ws") != 0)
                i++;
        return i;
}

/* not_landed(j, u): the name of a file of it that is not there; NULL: all are. */
static char *not_landed(const struct apply_job *j, const struct apply_unit *u)
{
        for (size_t i = 0; u->takes_head && i < j->n; i++)
                if (unit_of(j, &j->v[i]) == u && j->v[i].fate != FATE_APPLIED)
                        return apply_name(j, &j->v[i]);
        return NULL;
}

/* take_back(j, u, undo_fd): its files, from the record of this apply. */
static void take_back(struct apply_job *j, struct apply_unit *u, int undo_fd)
{
        _cleanup_strs_ struct strs paths = {0};
        uint64_t record = j->results[ws_root(j)].record_n;
        for (size_t i = 0; i < j->n; i++) {
                if (unit_of(j, &j->v[i]) != u || j->v[i].fate != FATE_APPLIED)
                        continue;
                strs_add(&paths, j->v[i].change->path);
                j->v[i].fate = FATE_WAITS;
                j->v[i].why = u->waits;
        }
        struct undo_opts o = {.paths = &paths, .has_box = true, .box_dir_fd = j->c->box_fd};
        struct undo_result result;
        struct err err = {0};
        uint64_t *applied_n = &j->results[ws_root(j)].applied_n;
        *applied_n -= paths.n < *applied_n ? paths.n : *applied_n;
        if (record && paths.n && undo_run(undo_fd, record, &o, &result, &err) < 0)
                out_say("its files could not be taken back: %s (ostiary undo %llu)", err.text,
                        (unsigned long long)record);
}

/* note_refs(j, u, undo_fd): what moves is in the record before it moves. */
static int note_refs(struct apply_job *j, const struct apply_unit *u, int undo_fd, struct err *err)
{
        const struct ws_root *root = &j->c->roots.v[ws_root(j)];
        struct undo_head head = {.what = "apply",
                                 .box = j->c->id,
                                 .layer = root->name,
                                 .root = root->host,
                                 .dev = root->dev,
                                 .ino = root->ino};
        size_t n;
        const struct git_move *moves = git_land_moves(u->land, &n);
        return undo_refs_note(undo_fd, &head, u->repo->dir, moves, n,
                              &j->results[ws_root(j)].record_n, err);
}

/* end_refs(u): which of them arrived. */
static void end_refs(struct apply_unit *u)
{
        size_t n;
        const struct git_move *moves = git_land_moves(u->land, &n);
        for (size_t k = 0; k < u->repo->refs_n; k++) {
                struct git_ref *ref = &u->repo->refs[k];
                if (u->refs[k] != FATE_TAKE)
                        continue;
                u->refs[k] = FATE_APPLIED;
                for (size_t i = 0; i < n; i++) {
                        if (!moves[i].failed || strcmp(moves[i].ref, ref->local) != 0)
                                continue;
                        u->refs[k] = FATE_REFUSED;
                        free(ref->refused);
                        ref->refused = str_dup(moves[i].failed);
                }
        }
}

static void end_unit(struct apply_job *j, struct apply_unit *u, int undo_fd)
{
        struct err err = {0};
        _cleanup_free_ char *missing = not_landed(j, u);
        if (missing)
                err_set(&err, E_REFUSED, "%s could not be written as it was shown", missing);
        else if (note_refs(j, u, undo_fd, &err) == 0 && git_land_commit(u->land, &err) == 0)
                u->is_done = true;
        if (u->is_done)
                end_refs(u);
        git_land_end(u->land);
        u->land = NULL;
        if (u->is_done)
                return;
        bool had_head = u->takes_head;
        give_up(j, u, err.text);
        if (had_head)
                take_back(j, u, undo_fd);
}

void apply_git_end(struct apply_job *j, int undo_fd)
{
        for (size_t i = 0; i < j->fetch.n; i++)
                if (j->units[i].land)
                        end_unit(j, &j->units[i], undo_fd);
}

void apply_git_free(struct apply_job *j)
{
        for (size_t i = 0; j->units && i < j->fetch.n; i++) {
                git_land_end(j->units[i].land);
                free(j->units[i].refs);
                free(j->units[i].waits);
                free(j->units[i].items_wait);
                strs_free(&j->units[i].kept);
        }
        free(j->units);
        git_fetch_free(&j->fetch);
        strs_free(&j->git_trees);
}
