/* land_back.c - a ref that an apply moved, moved back by undo: only if it still is where the apply
 * put it. Of the branch that is checked out the index follows, entry by entry, as far as it is as
 * the apply left it. Objects stay: nothing names them any more. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "git/land.h"
#include "git/land_index.h"
#include "git/raw.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BACK_MAX = 512 << 20 };

/* back_ask(tree, argv, out, err): what git prints; its status. */
static int back_ask(const char *tree, const char *const *argv, struct buf *out, struct err *err)
{
        struct git_call call = {.dir = tree, .argv = argv, .out = out, .out_fd = -1};
        return git_call_host(&call, NULL, err);
}

/* back_line(tree, argv, line, err): one line of output without its end; "" when git says no. */
static int back_line(const char *tree, const char *const *argv, char **line, struct err *err)
{
        _cleanup_buf_ struct buf out = {.max = 1 << 16};
        int status = back_ask(tree, argv, &out, err);
        if (status < 0)
                return -1;
        const char *text = status == 0 ? buf_cstr(&out) : "";
        *line = str_fmt("%.*s", (int)strcspn(text, "\n"), text);
        return 0;
}

/* back_raw(out, id_len, paths): what diff-tree or diff-index printed, as entries; sorted, since git
 * is. The host's git prints it of the host's own repository. */
static int back_raw(struct buf *out, size_t id_len, struct git_paths *paths, struct err *err)
{
        size_t cap = 0;
        buf_put_u8(out, 0);
        if (out->is_broken)
                return err_set(err, E_INPUT, "two commits differ in too many files");
        char *at = (char *)out->data;
        const char *end = at + out->len - 1;
        struct git_raw raw;
        int got;
        while ((got = git_raw_next(&at, end, id_len, &raw)) > 0) {
                if (paths->n == cap) {
                        cap = cap ? cap * 2 : 64;
                        paths->v = reallocarray(paths->v, cap, sizeof *paths->v);
                        if (!paths->v)
                                str_no_memory();
                }
                struct git_path *p = &paths->v[paths->n++];
                *p = (struct git_path){
                        .path = str_dup(raw.path), .what = raw.what, .mode = raw.mode};
                memcpy(p->id, raw.id, id_len + 1);
        }
        return got < 0 ? err_set(err, E_PROTO, "git compared two commits in words of its own") : 0;
}

/* back_between(tree, a, b, paths, err): what makes tree ${b} of tree ${a}; ${a} may be "". */
static int back_between(const char *tree, const char *a, const char *b, struct git_paths *paths,
                        struct err *err)
{
        static const char *const empty_argv[] = {"hash-object", "-t", "tree", "/dev/null", NULL};
        _cleanup_free_ char *empty = NULL;
        if ((!*a || !*b) && back_line(tree, empty_argv, &empty, err) < 0)
                return -1;
        const char *const argv[] = {"diff-tree",
                                    "-r",
                                    "-z",
                                    "--raw",
                                    "--no-renames",
                                    "--full-index",
                                    "--no-commit-id",
                                    *a ? a : empty,
                                    *b ? b : empty,
                                    NULL};
        _cleanup_buf_ struct buf out = {.max = BACK_MAX};
        int status = back_ask(tree, argv, &out, err);
        if (status != 0)
                return status < 0 ? -1 : err_add(err, "compare two commits of %s", tree);
        return back_raw(&out, strlen(*a ? a : b), paths, err);
}

/* back_keep(paths, now): only those whose index entry is what the move made of it. ${now} is the
 * difference between that commit and the index. */
static void back_keep(struct git_paths *paths, const struct git_paths *now)
{
        size_t kept = 0;
        for (size_t i = 0; i < paths->n; i++) {
                if (git_paths_find(now, paths->v[i].path))
                        free(paths->v[i].path);
                else
                        paths->v[kept++] = paths->v[i];
        }
        paths->n = kept;
}

/* back_staged(tree, commit, paths, err): what is staged on top of ${commit}. */
static int back_staged(const char *tree, const char *commit, struct git_paths *paths,
                       struct err *err)
{
        const char *const argv[] = {"diff-index",   "--cached",     "-z",   "--raw",
                                    "--no-renames", "--full-index", commit, NULL};
        _cleanup_buf_ struct buf out = {.max = BACK_MAX};
        int status = back_ask(tree, argv, &out, err);
        if (status != 0)
                return status < 0 ? -1 : err_add(err, "read the git index of %s", tree);
        return back_raw(&out, strlen(commit), paths, err);
}

/* back_index(tree, move, index, err): the next index, locked. */
static int back_index(const char *tree, const struct git_move *m, struct land_index *index,
                      struct err *err)
{
        static const char *const argv[] = {"rev-parse", "--absolute-git-dir", NULL};
        _cleanup_free_ char *git_dir = NULL;
        if (back_line(tree, argv, &git_dir, err) < 0 ||
            land_index_lock(index, tree, git_dir, m->ref, m->from, err) < 0)
                return -1;
        struct git_paths paths = {0}, staged = {0};
        int rc = back_between(tree, m->to, m->from, &paths, err);
        if (rc == 0 && *m->to)
                rc = back_staged(tree, m->to, &staged, err);
        if (rc == 0) {
                back_keep(&paths, &staged);
                rc = land_index_set(index, &paths, err);
        }
        if (rc == 0)
                rc = land_index_sparse(index, &paths, err);
        git_paths_free(&paths);
        git_paths_free(&staged);
        return rc;
}

static int back_ref(const char *tree, const struct git_move *m, struct err *err)
{
        const char *const set[] = {"update-ref", "-m", "ostiary: undo", m->ref, m->from,
                                   m->to,        NULL};
        const char *const drop[] = {"update-ref", "-m", "ostiary: undo", "-d", m->ref, m->to, NULL};
        /* Zeros as the old value: it must not be there. */
        char zeros[GIT_ID_MAX + 1];
        memset(zeros, '0', sizeof zeros - 1);
        zeros[strlen(m->from)] = 0;
        const char *const make[] = {"update-ref", "-m", "ostiary: undo", m->ref, m->from,
                                    zeros,        NULL};
        int status = back_ask(tree, !*m->from ? drop : *m->to ? set : make, NULL, err);
        return status > 0 ? err_add(err, "move %s back", m->ref) : status;
}

/* back_is_tree(tree, err): is it still the top of a repository? Else git would look above it. */
static int back_is_tree(const char *tree, struct err *err)
{
        static const char *const argv[] = {"rev-parse", "--show-toplevel", NULL};
        _cleanup_free_ char *top = NULL;
        if (access(tree, F_OK) < 0)
                return 0;
        return back_line(tree, argv, &top, err) < 0 ? -1 : strcmp(top, tree) == 0;
}

int git_land_back(const char *tree, const struct git_move *m, bool is_dry, char **why,
                  struct err *err)
{
        *why = NULL;
        int is_tree = back_is_tree(tree, err);
        if (is_tree <= 0) {
                *why = is_tree ? NULL : str_fmt("%s is no repository any more", tree);
                return is_tree;
        }
        const char *const now_argv[] = {"rev-parse", "--verify", "-q", m->ref, NULL};
        static const char *const head_argv[] = {"symbolic-ref", "-q", "HEAD", NULL};
        _cleanup_free_ char *now = NULL, *head = NULL;
        if (back_line(tree, now_argv, &now, err) < 0 || back_line(tree, head_argv, &head, err) < 0)
                return -1;
        /* An apply that was killed told what it would move, and did not. */
        if (*now && strcmp(now, m->from) == 0) {
                *why = str_dup("it is where it was before");
                return 0;
        }
        if (strcmp(now, m->to) != 0) {
                *why = str_fmt("it has moved since%s%s", *now ? " and is at " : "; it is gone",
                               now);
                return 0;
        }
        const char *const has_argv[] = {"cat-file", "-e", m->from, NULL};
        struct err unheard = {0};
        if (*m->from && back_ask(tree, has_argv, NULL, &unheard) != 0)
                return err_set(err, E_INPUT,
                               "%s cannot go back to %.12s, which the repository does not have any "
                               "more; to take files back alone, name their paths",
                               m->ref, m->from);
        if (is_dry)
                return 1;
        struct land_index index = {.lock_fd = -1};
        bool is_head = strcmp(head, m->ref) == 0;
        int rc = is_head ? back_index(tree, m, &index, err) : 0;
        if (rc == 0 && is_head)
                rc = land_index_swap(&index, err);
        if (rc == 0 && back_ref(tree, m, err) < 0) {
                if (is_head)
                        land_index_back(&index);
                rc = -1;
        }
        land_index_free(&index);
        return rc < 0 ? -1 : 1;
}
