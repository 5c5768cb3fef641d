/* judge.c - the box's HEAD against the host's: can the branch simply go on, and which paths of the
 * work tree do its commits change? */
#include "git/fetch_int.h"

#include "base/err.h"
#include "base/str.h"

#include <string.h>

/* judge_is_there(f): is the box's HEAD readable: known to the host, or taken over? */
static bool judge_is_there(const struct fetch *f)
{
        const struct git_repo *r = f->repo, *o = f->owner->repo;
        if (tips_is_known(f->owner, r->head_id))
                return true;
        for (size_t i = 0; i < o->refs_n; i++)
                if (!o->refs[i].refused && strcmp(o->refs[i].tip, r->head_id) == 0)
                        return true;
        return false;
}

int judge_head(struct fetch *f)
{
        struct git_repo *r = f->repo;
        struct err err = {0};
        if (!r->head_id[0] || strcmp(r->head_id, r->host_head_id) == 0 || !judge_is_there(f))
                return 0;
        if (r->host_head_id[0] &&
            read_base(f->owner, r->host_head_id, r->head_id, r->base_id, &err) < 0)
                return fetch_waits(r, "%s", err.text);
        bool is_same = r->head && r->host_head && strcmp(r->head, r->host_head) == 0;
        r->is_ff = r->host_git && is_same && strcmp(r->base_id, r->host_head_id) == 0;
        /* Elsewhere than straight on, whatever the two trees have otherwise is no change of the box's
         * work tree: what the host committed since must not be taken back as a loose file. */
        const char *from = r->is_ff ? r->base_id : r->host_head_id;
        if (read_compare(f->owner, from, r->head_id, &r->touched, &err) < 0)
                return fetch_waits(r, "%s", err.text);
        return 0;
}
