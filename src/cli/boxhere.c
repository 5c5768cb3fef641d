/* boxhere.c - see boxhere.h. Looks only; used by diff, apply and undo. */
#include "cli/boxhere.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/pending.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAMED_MAX = 8 }; /* boxes that a refusal lists */

struct here {
        struct box_meta *all; /* every box, newest first */
        size_t n;
        const char *workspace; /* the innermost one around us; NULL: none */
};

static bool here_is_of(const struct here *h, const struct box_meta *m)
{
        return h->workspace && strcmp(m->workspace, h->workspace) == 0;
}

/* here_workspace(h, cwd): a box of a directory inside of another box's counts before that one. */
static void here_workspace(struct here *h, const char *cwd)
{
        for (size_t i = 0; i < h->n; i++) {
                const char *w = h->all[i].workspace;
                if (*w == '/' && str_is_beneath(cwd, w) &&
                    (!h->workspace || strlen(w) > strlen(h->workspace)))
                        h->workspace = w;
        }
}

/* here_refuse(h, holding, holding_n, err): more than one could be meant; indexes of them. */
static int here_refuse(const struct here *h, const size_t *holding, size_t holding_n,
                       struct err *err)
{
        _cleanup_buf_ struct buf names = {0};
        for (size_t i = 0; i < holding_n && i < NAMED_MAX; i++)
                buf_put_fmt(&names, "%s%s", i ? ", " : "", h->all[holding[i]].id);
        if (holding_n > NAMED_MAX)
                buf_put_fmt(&names, " and %zu more", holding_n - NAMED_MAX);
        _cleanup_free_ char *shown = str_quote(h->workspace);
        err_set(err, E_USAGE, "%zu boxes hold changes of %s that were not applied: %s", holding_n,
                shown, buf_cstr(&names));
        return err_hint(err, "name the one you mean; `ostiary ps -a` says what each of them ran");
}

/* here_choose(h, store, &id, err): of the boxes of this workspace. */
static int here_choose(const struct here *h, const struct store *store, char **id, struct err *err)
{
        _cleanup_free_ size_t *holding = NULL;
        size_t count = 0, holding_n = 0;
        size_t newest = h->n;
        for (size_t i = h->n; i-- > 0;) {
                if (here_is_of(h, &h->all[i])) {
                        count++;
                        newest = i;
                }
        }
        holding = calloc(count + 1, sizeof *holding);
        if (!holding)
                str_no_memory();

        for (size_t i = 0; i < h->n; i++) {
                const struct box_meta *m = &h->all[i];
                struct err unheard = {0}; /* what cannot be told counts as holding something */
                if (!here_is_of(h, m))
                        continue;
                if (count > 1 && pending_any(store, m->id, &unheard) != 0)
                        holding[holding_n++] = i;
        }
        if (holding_n > 1)
                return here_refuse(h, holding, holding_n, err);
        *id = str_dup(h->all[holding_n ? holding[0] : newest].id);
        return 0;
}

int boxhere_workspace(const struct store *store, const char *dir, char **workspace, struct err *err)
{
        struct here h = {0};
        *workspace = NULL;
        if (store_list(store, &h.all, &h.n, err) < 0)
                return -1;
        here_workspace(&h, dir);
        if (h.workspace)
                *workspace = str_dup(h.workspace);
        store_list_free(h.all, h.n);
        return 0;
}

int boxhere_find(struct boxarg *b, struct err *err)
{
        char cwd[PATH_MAX];
        struct here h = {0};
        *b = (struct boxarg){0};
        if (!getcwd(cwd, sizeof cwd))
                return err_sys(err, "find the current directory");
        if (store_open(&b->store, err) < 0 || store_list(&b->store, &h.all, &h.n, err) < 0)
                return -1;

        int rc = -1;
        here_workspace(&h, cwd);
        if (h.workspace) {
                rc = here_choose(&h, &b->store, &b->id, err);
        } else {
                _cleanup_free_ char *shown = str_quote(cwd);
                err_set(err, E_ABSENT, "no box has worked in %s", shown);
                err_hint(err,
                         "name a box; `ostiary ps -a` lists all of them with their workspaces");
        }
        store_list_free(h.all, h.n);
        return rc;
}
