/* pending.c - see pending.h. Reads only; a box whose layers cannot be read counts as one that holds
 * something. */
#include "session/pending.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "session/changes.h"
#include "session/fetched.h"
#include "session/store.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { FOUND = 1 };

static int on_change(void *ctx, const struct ws_change *c)
{
        const struct changes *all = ctx;
        return c->is_masked && changes_is_untouched(all, c) ? 0 : FOUND;
}

int pending_any(const struct store *s, const char *id, struct err *err)
{
        struct stat st;
        _cleanup_box_changes_ struct changes c = {.box_fd = -1, .frozen_fd = -1};
        if (changes_open(&c, s, id, 0, err) < 0)
                return -1;
        bool was_applied = fstatat(c.box_fd, "applied", &st, AT_SYMLINK_NOFOLLOW) == 0;
        _cleanup_strs_ struct strs trees = {0};
        for (size_t i = 0; i < c.roots.n; i++) {
                struct ws_query q;
                struct ws_tally t = {0};
                const struct ws_root *r = &c.roots.v[i];
                if (r->kind != WS_ROOT_COW || !changes_query(&c, i, &q))
                        continue;
                if (r->gone)
                        return 1; /* nothing to compare with: the box has the only copy */
                int rc = ws_walk(r, &q, on_change, &c, &t, err);
                bool has_output = t.ignored_n > 0;
                for (size_t k = 0; k < t.git_trees.n; k++)
                        if (!strs_has(&trees, t.git_trees.v[k]))
                                strs_add(&trees, t.git_trees.v[k]);
                ws_tally_free(&t);
                if (rc != 0)
                        return rc;
                if (has_output && !was_applied)
                        return 1;
        }
        return fetched_pending(&c, s, &trees, err);
}
