/* judge_diff.c - what diff tells, held against the oracle: nothing more, nothing less, parents
 * before what comes to be in them and after what goes. Called by judge.c after every step. */
#include "judge_int.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int what_is(const struct entry *before, const struct entry *after)
{
        if (entry_same(before, after))
                return -1;
        if (!before)
                return WS_ADDED;
        if (!after)
                return WS_DELETED;
        if (before->kind != after->kind)
                return WS_RETYPED;
        if (before->size != after->size || before->hash != after->hash || before->kind == 'l')
                return WS_MODIFIED;
        return WS_MODE;
}

static int by_path(const void *a, const void *b)
{
        return strcmp((*(const struct ws_change *const *)a)->path,
                      (*(const struct ws_change *const *)b)->path);
}

static const struct ws_change *change_at(struct ws_change *const *sorted, size_t n,
                                         const char *path)
{
        struct ws_change key = {.path = (char *)(uintptr_t)path};
        const struct ws_change *p = &key;
        struct ws_change *const *got =
                n == 0 ? NULL : bsearch(&p, sorted, n, sizeof(struct ws_change *), by_path);
        return got ? *got : NULL;
}

/* Parents that come to be stand before what is in them, those that go after it. */
static int check_order(struct judge *j, const struct ws_changes *c, struct ws_change *const *sorted,
                       const char *when)
{
        for (size_t i = 0; i < c->n; i++) {
                const struct ws_change *one = &c->v[i];
                const char *slash = strrchr(one->path, '/');
                if (!slash)
                        continue;
                char *dir = strndup(one->path, (size_t)(slash - one->path));
                const struct ws_change *up = change_at(sorted, c->n, dir);
                free(dir);
                if (!up)
                        continue;
                bool goes = one->what == WS_DELETED &&
                            (up->what == WS_DELETED || up->what == WS_RETYPED);
                bool comes =
                        one->what == WS_ADDED && (up->what == WS_ADDED || up->what == WS_RETYPED);
                if (goes && up->after.kind != WS_DIR && up < one)
                        return fails(j, "%s: %s is told after its directory", when,
                                     path_words(one->path));
                if (comes && up->after.kind == WS_DIR && up > one)
                        return fails(j, "%s: %s is told before its directory", when,
                                     path_words(one->path));
        }
        return 0;
}

int check_diff(struct judge *j, const struct ws_changes *c, const struct tree *before,
               const struct tree *after, const char *when)
{
        struct ws_change **sorted = calloc(c->n + 1, sizeof(struct ws_change *));
        int got = 0;
        for (size_t i = 0; i < c->n; i++)
                sorted[i] = &c->v[i];
        qsort(sorted, c->n, sizeof(struct ws_change *), by_path);
        size_t a = 0, b = 0, k = 0;
        while (got == 0 && (a < before->n || b < after->n || k < c->n)) {
                const char *path = NULL;
                const struct entry *x = a < before->n ? &before->v[a] : NULL;
                const struct entry *y = b < after->n ? &after->v[b] : NULL;
                if (x)
                        path = x->path;
                if (y && (!path || strcmp(y->path, path) < 0))
                        path = y->path;
                if (k < c->n && (!path || strcmp(sorted[k]->path, path) < 0))
                        path = sorted[k]->path;
                x = x && strcmp(x->path, path) == 0 ? &before->v[a++] : NULL;
                y = y && strcmp(y->path, path) == 0 ? &after->v[b++] : NULL;
                int told = -1;
                if (k < c->n && strcmp(sorted[k]->path, path) == 0)
                        told = (int)sorted[k++]->what;
                int wanted = tree_is_git(before, after, path) ? -1 : what_is(x, y);
                if (told != wanted) {
                        char one[128], two[128];
                        got = fails(j, "%s: %s is told as %s and is %s (%s -> %s)", when,
                                    path_words(path),
                                    told < 0 ? "unchanged" : ws_what_name((enum ws_what)told),
                                    wanted < 0 ? "unchanged" : ws_what_name((enum ws_what)wanted),
                                    entry_words(x, one, sizeof one),
                                    entry_words(y, two, sizeof two));
                }
        }
        if (got == 0)
                got = check_order(j, c, sorted, when);
        free(sorted);
        return got;
}

/* A part of the tree, asked for by its path, is told as it is told among all. */
int check_part(struct judge *j, const struct ws_root *root, const struct ws_changes *all)
{
        if (all->n == 0)
                return 0;
        char *path = strdup(all->v[dice_below(&j->dice, (unsigned)all->n)].path);
        char *slash = strrchr(path, '/');
        if (slash && dice_below(&j->dice, 2))
                *slash = 0;
        size_t len = strlen(path), n = 0, m = 0;
        _cleanup_strs_ struct strs paths = {0};
        strs_add(&paths, path);
        _cleanup_changes_ struct ws_changes part = {0};
        struct ws_query q = {.with_ignored = true, .paths = &paths};
        struct ws_tally tally = {0};
        struct err err = {0};
        int got = 0;
        if (ws_changes_of(root, &q, &part, &tally, &err) < 0)
                got = fails(j, "diff of %s: %s", path_words(path), err.text);
        for (size_t i = 0; i < all->n; i++) {
                const char *p = all->v[i].path;
                n += strncmp(p, path, len) == 0 && (p[len] == 0 || p[len] == '/');
        }
        for (size_t i = 0; i < part.n; i++) {
                const char *p = part.v[i].path;
                m += strncmp(p, path, len) == 0 && (p[len] == 0 || p[len] == '/');
        }
        if (got == 0 && (n != m || m != part.n))
                got = fails(j, "diff of %s alone tells %zu changes (%zu below it) instead of %zu",
                            path_words(path), part.n, m, n);
        ws_tally_free(&tally);
        free(path);
        return got;
}

/* diff_now(j, roots, changes, before, when): walk, and hold it against the host as it is now. */
int diff_now(struct judge *j, const struct ws_roots *r, struct ws_changes *c, const char *when)
{
        struct ws_query q = {.with_ignored = true};
        struct ws_tally tally = {0};
        struct err err = {0};
        if (ws_changes_of(&r->v[0], &q, c, &tally, &err) < 0)
                return fails(j, "%s: the walk failed: %s", when, err.text);
        ws_tally_free(&tally);
        if (judge_fault == FAULT_DIFF && c->n > 0)
                ws_change_free(&c->v[--c->n]);
        return check_diff(j, c, &j->now, &j->box, when);
}
