/* land.c - see land.h. Runs the host's git on the host's repository, with the quarantine as its
 * object directory and the user's objects as alternate. */
#include "git/land.h"

#include "base/beneath.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "git/beneath.h"
#include "git/land_index.h"
#include "git/land_lock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECTS_MAX = 1 << 30, REFS_BYTES_MAX = 64 << 20 };

struct git_land {
        struct git_repo *repo;
        struct git_move *moves;
        size_t moves_n, cap;
        struct strs stale; /* refs of an older box with that name */
        struct land_index index;
        bool has_index;
        bool has_head; /* the last move is the work tree's branch */
};

/* land_git(repo, argv, in, env, out, err): one call; a status other than 0 is a failure. */
static int land_git(const struct git_repo *r, const char *const *argv, const struct buf *in,
                    const struct strs *more, struct buf *out, struct err *err)
{
        _cleanup_strs_ struct strs env = {0};
        git_beneath_env(r, &env);
        for (size_t i = 0; more && i < more->n; i++)
                strs_add(&env, more->v[i]);
        struct git_call call = {.dir = r->dir,
                                .argv = argv,
                                .in = in ? in->data : NULL,
                                .in_len = in ? in->len : 0,
                                .out = out,
                                .out_fd = -1};
        int status = git_call_host(&call, &env, err);
        return status > 0 ? err_add(err, "git %s", argv[0]) : status;
}

/* land_move(l, ref, from, to): one more; NULL: it is there already. */
static struct git_move *land_move(struct git_land *l, const char *ref, const char *from,
                                  const char *to)
{
        if (strcmp(from, to) == 0)
                return NULL;
        if (l->moves_n == l->cap) {
                l->cap = l->cap ? l->cap * 2 : 8;
                l->moves = reallocarray(l->moves, l->cap, sizeof *l->moves);
                if (!l->moves)
                        str_no_memory();
        }
        struct git_move *m = &l->moves[l->moves_n++];
        *m = (struct git_move){.ref = str_dup(ref)};
        memcpy(m->from, from, strlen(from) + 1);
        memcpy(m->to, to, strlen(to) + 1);
        return m;
}

/* land_objects(repo, takes, err): what the chosen tips reach and no ref of the host does, as one
 * pack in the user's object directory. Nothing names it yet. */
static int land_objects(const struct git_repo *r, const bool *takes, struct err *err)
{
        _cleanup_buf_ struct buf tips = {0}, list = {.max = OBJECTS_MAX};
        for (size_t i = 0; i < r->refs_n; i++)
                if (takes[i])
                        buf_put_fmt(&tips, "%s\n", r->refs[i].tip);
        if (tips.len == 0 || !r->quarantine)
                return 0;
        _cleanup_strs_ struct strs env = {0};
        strs_addf(&env, "GIT_OBJECT_DIRECTORY=%s", r->quarantine);
        strs_addf(&env, "GIT_ALTERNATE_OBJECT_DIRECTORIES=%s/objects", r->host_common);
        static const char *const which[] = {"rev-list", "--objects", "--stdin",
                                            "--not",    "--all",     NULL};
        if (land_git(r, which, &tips, &env, &list, err) < 0)
                return -1;
        if (list.len == 0)
                return 0;
        _cleanup_free_ char *base = str_fmt("%s/objects/pack/pack", r->host_common);
        const char *const pack[] = {"pack-objects", "-q", "--delta-base-offset", base, NULL};
        return land_git(r, pack, &list, &env, NULL, err);
}

/* land_place(repo, err): the work tree's directory, made when it is missing, through no link. */
static int land_place(const struct git_repo *r, struct err *err)
{
        size_t top_len = strlen(r->dir) - strlen(r->path) - (*r->path != 0);
        _cleanup_free_ char *top = str_fmt("%.*s", (int)top_len, r->dir);
        _cleanup_close_ int fd = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return err_sys(err, "open %s", top);
        if (!*r->path)
                return 0;
        _cleanup_close_ int made = beneath_mkdirs(fd, r->path, 0777, err);
        return made < 0 ? -1 : 0;
}

/* land_make(repo, err): a repository that only the box has: made by the host's git, with nothing
 * of the box's configuration or hooks. */
static int land_make(struct git_repo *r, struct err *err)
{
        const char *branch = r->head && str_starts(r->head, "refs/heads/")
                                     ? r->head + strlen("refs/heads/")
                                     : "main";
        bool is_sha256 = strlen(r->head_id) == 64;
        _cleanup_free_ char *initial = str_fmt("--initial-branch=%s", branch);
        const char *const argv[] = {"init", "-q", initial,
                                    is_sha256 ? "--object-format=sha256" : "--object-format=sha1",
                                    NULL};
        struct git_call call = {.dir = r->dir, .argv = argv, .out_fd = -1};
        _cleanup_free_ char *git = str_fmt("%s/.git", r->dir);
        _cleanup_strs_ struct strs env = {0};
        strs_addf(&env, "GIT_DIR=%s", git);
        strs_addf(&env, "GIT_WORK_TREE=%s", r->dir);
        if (land_place(r, err) < 0 || git_call_host(&call, &env, err) != 0)
                return err_add(err, "make the repository %s", r->dir);
        r->host_git = take_ptr(&git);
        r->host_common = str_dup(r->host_git);
        free(r->host_head);
        r->host_head = r->head ? str_dup(r->head) : NULL;
        return 0;
}

/* land_stale(l, box, known, err): refs that an older box of this name left. */
static int land_stale(struct git_land *l, const char *box, const struct strs *known,
                      struct err *err)
{
        _cleanup_buf_ struct buf out = {.max = REFS_BYTES_MAX};
        _cleanup_free_ char *below = str_fmt("refs/ostiary/%s/", box);
        const char *const argv[] = {"for-each-ref", "--format=%(objectname) %(refname)", below,
                                    NULL};
        if (land_git(l->repo, argv, NULL, NULL, &out, err) < 0)
                return -1;
        _cleanup_free_ char *text = str_dup(buf_cstr(&out));
        char *rest = text;
        for (char *line; (line = strsep(&rest, "\n"));) {
                char *name = strchr(line, ' ');
                if (!name)
                        continue;
                *name++ = 0;
                if (known && strs_has(known, name))
                        continue;
                strs_add(&l->stale, name);
                land_move(l, name, line, "");
        }
        return 0;
}

/* land_is_below(a, b): is one of the two names a directory of the other? */
static bool land_is_below(const char *a, const char *b)
{
        return strcmp(a, b) != 0 && (str_is_beneath(a, b) || str_is_beneath(b, a));
}

/* land_keep(l, box, id): a tip that is about to lose its ref, though nothing else on the host may name
 * it: it stays under a name of its own. */
static void land_keep(struct git_land *l, const char *box, const char *id)
{
        _cleanup_free_ char *name = str_fmt("refs/ostiary/%s/was/%.12s", box, id);
        for (size_t i = 0; i < l->moves_n; i++)
                if (strcmp(l->moves[i].ref, name) == 0)
                        return;
        _cleanup_buf_ struct buf now = {0};
        struct err none = {0};
        const char *const argv[] = {"rev-parse", "--verify", "-q", name, NULL};
        if (land_git(l->repo, argv, NULL, NULL, &now, &none) == 0)
                return;
        struct git_move *m = land_move(l, name, "", id);
        if (m)
                m->is_kept = true;
}

/* land_is_named(l, id): will another ref be there? A stash moves on when a newer one comes. */
static bool land_is_named(const struct git_land *l, const char *id)
{
        for (size_t i = 0; i < l->moves_n; i++)
                if (strcmp(l->moves[i].to, id) == 0)
                        return true;
        return false;
}

/* land_is_lost(l, from, to): is ${from} not among what ${to} reaches? */
static bool land_is_lost(const struct git_land *l, const char *from, const char *to)
{
        const struct git_repo *r = l->repo;
        _cleanup_strs_ struct strs env = {0};
        struct err none = {0};
        if (r->quarantine) {
                strs_addf(&env, "GIT_OBJECT_DIRECTORY=%s", r->quarantine);
                strs_addf(&env, "GIT_ALTERNATE_OBJECT_DIRECTORIES=%s/objects", r->host_common);
        }
        const char *const argv[] = {"merge-base", "--is-ancestor", from, to, NULL};
        return land_git(r, argv, NULL, &env, NULL, &none) < 0;
}

/* land_make_room(l, ref, known): names that earlier applies of this box made, that it has no more
 * use for, and that are in the way of a new one. */
static void land_make_room(struct git_land *l, const char *box, const struct git_ref *ref,
                           const struct strs *known)
{
        for (size_t i = 0; known && i < known->n; i++) {
                if (!land_is_below(known->v[i], ref->local) || strs_has(&l->stale, known->v[i]))
                        continue;
                _cleanup_buf_ struct buf id = {0};
                struct err none = {0};
                const char *const argv[] = {"rev-parse", "--verify", "-q", known->v[i], NULL};
                if (land_git(l->repo, argv, NULL, NULL, &id, &none) < 0)
                        continue;
                _cleanup_free_ char *text =
                        str_fmt("%.*s", (int)strcspn(buf_cstr(&id), "\n"), buf_cstr(&id));
                strs_add(&l->stale, known->v[i]);
                land_move(l, known->v[i], text, "");
                if (land_is_lost(l, text, ref->tip))
                        land_keep(l, box, text);
        }
}

/* land_plan(l, takes, takes_head, known): every ref that moves; the work tree's branch last. */
static void land_plan(struct git_land *l, const char *box, const bool *takes, bool takes_head,
                      const struct strs *known)
{
        const struct git_repo *r = l->repo;
        for (size_t i = 0; i < r->refs_n; i++)
                if (takes[i])
                        land_make_room(l, box, &r->refs[i], known);
        for (size_t i = 0; i < r->refs_n; i++) {
                const struct git_ref *ref = &r->refs[i];
                bool is_stale = strs_has(&l->stale, ref->local);
                if (!takes[i])
                        continue;
                land_move(l, ref->local, is_stale ? "" : ref->landed, ref->tip);
        }
        for (size_t i = 0; i < r->refs_n; i++) {
                const struct git_ref *ref = &r->refs[i];
                bool is_stale = strs_has(&l->stale, ref->local);
                if (takes[i] && !is_stale && *ref->landed && strcmp(ref->landed, ref->tip) != 0 &&
                    !land_is_named(l, ref->landed) && land_is_lost(l, ref->landed, ref->tip))
                        land_keep(l, box, ref->landed);
        }
        l->has_head = takes_head;
        if (takes_head)
                land_move(l, r->head, r->host_head_id, r->head_id);
}

struct git_land *git_land_begin(struct git_repo *r, const char *box, const bool *takes,
                                bool takes_head, const struct strs *known, struct err *err)
{
        struct git_land *l = calloc(1, sizeof *l);
        if (!l)
                str_no_memory();
        l->repo = r;
        l->index.lock_fd = -1;
        if (land_place(r, err) < 0 || (!r->host_git && land_make(r, err) < 0))
                goto fail;
        if (land_stale(l, box, known, err) < 0 || land_objects(r, takes, err) < 0)
                goto fail;
        land_plan(l, box, takes, takes_head, known);
        if (takes_head) {
                l->has_index = true;
                if (land_index_lock(&l->index, r->dir, r->host_git, r->head, r->head_id, err) < 0 ||
                    land_index_set(&l->index, &r->touched, err) < 0)
                        goto fail;
        }
        return l;
fail:
        git_land_end(l);
        return NULL;
}

const struct git_move *git_land_moves(const struct git_land *l, size_t *n)
{
        *n = l->moves_n;
        return l->moves;
}

/* land_update(repo, moves, n, is_removal, err): one transaction: all of them or none. */
static int land_update(const struct git_repo *r, const struct git_move *v, size_t n,
                       bool is_removal, struct err *err)
{
        static const char zeros[] =
                "0000000000000000000000000000000000000000000000000000000000000000";
        _cleanup_buf_ struct buf in = {.max = REFS_BYTES_MAX};
        for (size_t i = 0; i < n; i++) {
                size_t id_len = strlen(*v[i].to ? v[i].to : v[i].from);
                if (!*v[i].to != is_removal)
                        continue;
                if (is_removal)
                        buf_put_fmt(&in, "delete %s %s\n", v[i].ref, v[i].from);
                else
                        buf_put_fmt(&in, "update %s %s %.*s\n", v[i].ref, v[i].to, (int)id_len,
                                    *v[i].from ? v[i].from : zeros);
        }
        if (in.len == 0)
                return 0;
        static const char *const argv[] = {"update-ref", "-m", "ostiary: apply", "--stdin", NULL};
        return land_git(r, argv, &in, NULL, NULL, err);
}

/* land_one_by_one(l, err): the branch first; a name that cannot be made keeps no other from it. */
static int land_one_by_one(struct git_land *l, struct err *err)
{
        size_t n = l->moves_n;
        if (l->has_head && land_update(l->repo, &l->moves[n - 1], 1, false, err) < 0)
                return -1;
        for (size_t i = 0; i < n - l->has_head; i++) {
                struct err why = {0};
                if (land_update(l->repo, &l->moves[i], 1, false, &why) < 0)
                        l->moves[i].failed = str_dup(why.text);
        }
        return 0;
}

int git_land_commit(struct git_land *l, struct err *err)
{
        struct err why = {0};
        /* Names of an older box first: one of them may be a directory of a new name. */
        if (land_update(l->repo, l->moves, l->moves_n, true, err) < 0)
                return -1;
        if (l->has_index && (land_index_sparse(&l->index, &l->repo->touched, err) < 0 ||
                             land_index_swap(&l->index, err) < 0))
                return -1;
        if (land_update(l->repo, l->moves, l->moves_n, false, &why) == 0 ||
            land_one_by_one(l, err) == 0)
                return 0;
        if (l->has_index)
                land_index_back(&l->index);
        return -1;
}

int git_land_recover(const char *git_dir)
{
        return land_lock_recover(git_dir);
}

void git_land_end(struct git_land *l)
{
        if (!l)
                return;
        if (l->has_index)
                land_index_free(&l->index);
        for (size_t i = 0; i < l->moves_n; i++) {
                free(l->moves[i].ref);
                free(l->moves[i].failed);
        }
        free(l->moves);
        strs_free(&l->stale);
        free(l);
}
