/* undo_ops.c - the list of what is to land: sorted so that parents come before what is in them,
 * completed by the directories that are missing. Called by apply and undo before undo_land_run. */
#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "workspace/undo_int.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* by_path(a, b): component by component, so that "a/b" comes before "a-b". */
static int by_path(const char *a, const char *b)
{
        while (*a && *a == *b)
                a++, b++;
        int x = *a == '/' ? 1 : *a ? 2 + (unsigned char)*a : 0;
        int y = *b == '/' ? 1 : *b ? 2 + (unsigned char)*b : 0;
        return x - y;
}

static int by_op(const void *a, const void *b)
{
        return by_path(((const struct undo_op *)a)->path, ((const struct undo_op *)b)->path);
}

struct undo_op *undo_land_add(struct undo_land *l, const char *path, struct undo_state *before,
                              struct undo_state *after, const struct undo_ident *id)
{
        if (l->n == l->cap) {
                l->cap = l->cap ? l->cap * 2 : 64;
                l->v = reallocarray(l->v, l->cap, sizeof *l->v);
                if (!l->v)
                        str_no_memory();
        }
        struct undo_op *op = &l->v[l->n++];
        *op = (struct undo_op){
                .path = str_dup(path), .before = *before, .after = *after, .ident = *id};
        before->target = after->target = NULL;
        return op;
}

void undo_land_free(struct undo_land *l)
{
        for (size_t i = 0; i < l->n; i++) {
                free(l->v[i].path);
                undo_state_free(&l->v[i].before);
                undo_state_free(&l->v[i].after);
        }
        for (size_t i = 0; i < l->shut_n; i++)
                free(l->shut[i].path);
        free(l->shut);
        free(l->v);
        l->shut = NULL;
        l->shut_n = 0;
        l->v = NULL;
        l->n = l->cap = 0;
}

void undo_land_sort(struct undo_land *l)
{
        if (l->n)
                qsort(l->v, l->n, sizeof *l->v, by_op);
}

struct undo_op *undo_land_find(const struct undo_land *l, const char *path)
{
        struct undo_op key = {.path = (char *)path};
        return l->n ? bsearch(&key, l->v, l->n, sizeof *l->v, by_op) : NULL;
}

enum above {
        ABOVE_THERE,
        ABOVE_NEW, /* will be there, in the place of something else: nothing is in it yet */
        ABOVE_MISSING,
        ABOVE_ODD
};

/* look_above(l, sorted_n, path, is_below_new): is there, or will there be, a directory at ${path}?
 * Below one that will be new, what the host has now says nothing. */
static enum above look_above(const struct undo_land *l, size_t sorted_n, const char *path,
                             bool is_below_new)
{
        struct undo_land sorted = {.v = l->v, .n = sorted_n};
        const struct undo_op *op = undo_land_find(&sorted, path);
        struct stat st;
        if (op && op->landing == UNDO_WAITS)
                return op->after.kind == 'd'   ? op->before.kind == 'd' ? ABOVE_THERE : ABOVE_NEW
                       : op->after.kind == '-' ? ABOVE_MISSING
                                               : ABOVE_ODD;
        if (is_below_new)
                return ABOVE_MISSING;
        _cleanup_close_ int fd = beneath_open_nosym(l->root_fd, path, O_PATH | O_NOFOLLOW, 0, NULL);
        if (fd < 0)
                return errno == ENOENT ? ABOVE_MISSING : ABOVE_ODD;
        return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) ? ABOVE_THERE : ABOVE_ODD;
}

/* shared(done, parent): how much of ${parent}, in whole components, is the beginning of ${done}. */
static size_t shared(const char *done, const char *parent)
{
        size_t n = 0, whole = 0;
        for (;; n++) {
                bool is_end = done[n] == 0 || done[n] == '/';
                if (is_end && (parent[n] == 0 || parent[n] == '/'))
                        whole = n;
                if (done[n] == 0 || done[n] != parent[n])
                        return whole;
        }
}

/* above_of(l, sorted_n, parent, done, new_at, mode_of): look at the directories of ${parent} that
 * ${done}, the last one that was looked at, does not share; ${new_at} is how long the path of the
 * topmost of those is that will be new, or 0. false: one is no directory; ${done} is what is. */
static bool above_of(struct undo_land *l, size_t sorted_n, char *parent, char *done, size_t *new_at,
                     mode_t (*mode_of)(void *arg, const char *path))
{
        size_t at = shared(done, parent);
        if (*new_at > at)
                *new_at = 0;
        memcpy(done, parent, at);
        done[at] = 0;
        while (parent[at]) {
                size_t end = at + (at > 0);
                end += strcspn(parent + end, "/");
                char kept = parent[end];
                parent[end] = 0;
                enum above a = look_above(l, sorted_n, parent, *new_at > 0);
                if (a == ABOVE_NEW && *new_at == 0)
                        *new_at = end;
                if (a == ABOVE_MISSING) {
                        struct undo_state before = {.kind = '-'};
                        struct undo_state after = {.kind = 'd', .mode = mode_of(l->arg, parent)};
                        undo_land_add(l, parent, &before, &after, &(struct undo_ident){0});
                }
                if (a == ABOVE_ODD)
                        return false;
                memcpy(done, parent, end + 1);
                parent[end] = kept;
                at = end;
        }
        return true;
}

int undo_land_parents(struct undo_land *l, mode_t (*mode_of)(void *arg, const char *path),
                      struct err *err)
{
        (void)err;
        char done[PATH_MAX] = ""; /* the last parent that was looked at, as far as it is fine */
        size_t new_at = 0;
        undo_land_sort(l);
        size_t sorted_n = l->n;
        /* In this order each directory is above a run of paths: it is looked at once. */
        for (size_t i = 0; i < sorted_n; i++) {
                char parent[PATH_MAX];
                if (l->v[i].after.kind == '-' || l->v[i].landing != UNDO_WAITS)
                        continue;
                snprintf(parent, sizeof parent, "%s", l->v[i].path);
                char *slash = strrchr(parent, '/');
                if (!slash)
                        continue;
                *slash = 0;
                if (strcmp(parent, done) == 0 ||
                    above_of(l, sorted_n, parent, done, &new_at, mode_of))
                        continue;
                l->v[i].landing = UNDO_LEFT;
                l->v[i].why = "something that is no directory is in the way";
        }
        undo_land_sort(l);
        return 0;
}
