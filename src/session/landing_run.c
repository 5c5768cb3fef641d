/* landing_run.c - see landing.h: the order in which what was decided lands, and the way back when a part
 * of it cannot. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/fetched.h"
#include "session/landing.h"
#include "session/undo_refs.h"

#include <stdlib.h>
#include <string.h>

/* give_up(l, u, why): nothing of it lands. */
static void give_up(struct landing *l, struct landing_unit *u, const char *why)
{
        landing_unit_waits(u, str_dup(why));
        for (size_t k = 0; k < u->repo->refs_n; k++)
                if (u->refs[k] == FATE_TAKE) {
                        u->refs[k] = FATE_REFUSED;
                        free(u->repo->refs[k].refused);
                        u->repo->refs[k].refused = str_dup(why);
                }
        for (size_t i = 0; i < l->n; i++)
                if (landing_unit_of(l, &l->v[i]) == u && l->v[i].fate == FATE_TAKE) {
                        l->v[i].fate = FATE_WAITS;
                        l->v[i].why = u->waits;
                }
}

/* note_names(l, u, err): the names that this box makes below refs/ostiary, so that they are known as
 * its own next time. */
static int note_names(const struct landing *l, struct landing_unit *u, struct err *err)
{
        size_t n = 0;
        const struct git_move *moves = git_land_moves(u->land, &n);
        for (size_t k = 0; k < n; k++) {
                if (!*moves[k].to || !str_starts(moves[k].ref, "refs/ostiary/"))
                        continue;
                if (moves[k].is_kept)
                        strs_add(&u->kept, moves[k].ref);
                if (fetched_note(l->c->box_fd, u->repo->host_common, moves[k].ref, err) < 0)
                        return -1;
        }
        return 0;
}

static void begin_unit(struct landing *l, struct landing_unit *u, int undo_fd)
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
                fetched_known(l->c->box_fd, r->host_common, &known);
        if (u->takes_head && r->host_git && undo_refs_locked(undo_fd, r->host_git, &err) < 0) {
                give_up(l, u, err.text);
                return;
        }
        u->land = git_land_begin(r, l->c->id, takes, u->takes_head, &known, &err);
        if (u->land && note_names(l, u, &err) < 0) {
                git_land_end(u->land);
                u->land = NULL;
        }
        if (!u->land)
                give_up(l, u, err.text);
}

void landing_begin(struct landing *l, int undo_fd)
{
        for (size_t i = 0; i < l->fetch.n; i++)
                begin_unit(l, &l->units[i], undo_fd);
}

/* ws_root(l): the index of the workspace among the roots. */
static size_t ws_root(const struct landing *l)
{
        size_t i = 0;
        while (i + 1 < l->c->roots.n && strcmp(l->c->roots.v[i].name, "ws") != 0)
                i++;
        return i;
}

/* not_landed(l, u): the name of a file of it that is not there; NULL: all are. */
static char *not_landed(const struct landing *l, const struct landing_unit *u)
{
        for (size_t i = 0; u->takes_head && i < l->n; i++)
                if (landing_unit_of(l, &l->v[i]) == u && l->v[i].fate != FATE_APPLIED)
                        return landing_name(l, &l->v[i]);
        return NULL;
}

/* take_back(l, u, undo_fd): its files, from the record of this apply. */
static void take_back(struct landing *l, struct landing_unit *u, int undo_fd)
{
        _cleanup_strs_ struct strs paths = {0};
        uint64_t record = l->results[ws_root(l)].record_n;
        for (size_t i = 0; i < l->n; i++) {
                if (landing_unit_of(l, &l->v[i]) != u || l->v[i].fate != FATE_APPLIED)
                        continue;
                strs_add(&paths, l->v[i].change->path);
                l->v[i].fate = FATE_WAITS;
                l->v[i].why = u->waits;
        }
        struct undo_opts o = {.paths = &paths, .has_box = true, .box_dir_fd = l->c->box_fd};
        struct undo_result result;
        struct err err = {0};
        uint64_t *applied_n = &l->results[ws_root(l)].applied_n;
        *applied_n -= paths.n < *applied_n ? paths.n : *applied_n;
        if (record && paths.n && undo_run(undo_fd, record, &o, &result, &err) < 0)
                u->stuck = str_fmt("its files could not be taken back: %s (ostiary undo %llu)",
                                   err.text, (unsigned long long)record);
}

/* note_refs(l, u, undo_fd): what moves is in the record before it moves. */
static int note_refs(struct landing *l, const struct landing_unit *u, int undo_fd, struct err *err)
{
        const struct ws_root *root = &l->c->roots.v[ws_root(l)];
        struct undo_head head = {.what = "apply",
                                 .box = l->c->id,
                                 .layer = root->name,
                                 .root = root->host,
                                 .dev = root->dev,
                                 .ino = root->ino};
        size_t n;
        const struct git_move *moves = git_land_moves(u->land, &n);
        return undo_refs_note(undo_fd, &head, u->repo->dir, moves, n,
                              &l->results[ws_root(l)].record_n, err);
}

/* end_refs(u): which of them arrived. */
static void end_refs(struct landing_unit *u)
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

static void end_unit(struct landing *l, struct landing_unit *u, int undo_fd)
{
        struct err err = {0};
        _cleanup_free_ char *missing = not_landed(l, u);
        if (missing)
                err_set(&err, E_REFUSED, "%s could not be written as it was shown", missing);
        else if (note_refs(l, u, undo_fd, &err) == 0 && git_land_commit(u->land, &err) == 0)
                u->is_done = true;
        if (u->is_done)
                end_refs(u);
        git_land_end(u->land);
        u->land = NULL;
        if (u->is_done)
                return;
        bool had_head = u->takes_head;
        give_up(l, u, err.text);
        if (had_head)
                take_back(l, u, undo_fd);
}

void landing_end(struct landing *l, int undo_fd)
{
        for (size_t i = 0; i < l->fetch.n; i++)
                if (l->units[i].land)
                        end_unit(l, &l->units[i], undo_fd);
}

void landing_free(struct landing *l)
{
        for (size_t i = 0; l->units && i < l->fetch.n; i++) {
                git_land_end(l->units[i].land);
                free(l->units[i].refs);
                free(l->units[i].waits);
                free(l->units[i].items_wait);
                free(l->units[i].stuck);
                strs_free(&l->units[i].kept);
        }
        free(l->units);
        git_fetch_free(&l->fetch);
        strs_free(&l->git_trees);
}
