/* change.c - see change.h: changes as values, and as a list. Called by whoever keeps more than the
 * one change that the walk has in hand. */
#include "workspace/change.h"

#include "base/err.h"
#include "base/str.h"

#include <stdlib.h>

void ws_change_free(struct ws_change *c)
{
        free(c->path);
        free(c->from);
        *c = (struct ws_change){0};
}

void ws_tally_free(struct ws_tally *t)
{
        for (size_t i = 0; i < t->ignored_n; i++)
                free(t->ignored[i].path);
        free(t->ignored);
        strs_free(&t->git_trees);
        strs_free(&t->git_output);
        *t = (struct ws_tally){0};
}

void ws_changes_free(struct ws_changes *l)
{
        for (size_t i = 0; i < l->n; i++)
                ws_change_free(&l->v[i]);
        free(l->v);
        *l = (struct ws_changes){0};
}

const char *ws_what_name(enum ws_what w)
{
        static const char *const names[] = {
                [WS_ADDED] = "added",  [WS_MODIFIED] = "modified", [WS_MODE] = "mode",
                [WS_RETYPED] = "type", [WS_DELETED] = "deleted",   [WS_RENAMED] = "renamed",
        };
        return names[w];
}

struct keeper {
        struct ws_changes *list;
        struct err *err;
};

static int keep(void *ctx, const struct ws_change *c)
{
        struct keeper *k = ctx;
        struct ws_changes *l = k->list;
        if (l->n >= WS_CHANGES_MAX)
                return err_set(
                        k->err, E_INPUT,
                        "the box changed more than %d files, too many to be shown or applied "
                        "at once: name the paths you mean",
                        WS_CHANGES_MAX);
        if ((l->n & (l->n - 1)) == 0) { /* room doubles at powers of two */
                struct ws_change *more = reallocarray(l->v, l->n ? l->n * 2 : 1, sizeof *more);
                if (!more)
                        str_no_memory();
                l->v = more;
        }
        l->v[l->n] = *c;
        l->v[l->n].path = str_dup(c->path);
        l->n++;
        return 0;
}

int ws_changes_of(const struct ws_root *root, const struct ws_query *query, struct ws_changes *l,
                  struct ws_tally *tally, struct err *err)
{
        struct keeper k = {.list = l, .err = err};
        *l = (struct ws_changes){0};
        if (ws_walk(root, query, keep, &k, tally, err) == 0)
                return 0;
        ws_changes_free(l);
        return -1;
}
