/* apply_items.c - the changes of a box as one list: found, judged against the host as it is now,
 * and applied root by root. Asks nobody and prints nothing. */
#include "cli/apply.h"
#include "git/show.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/committed.h"

#include <stdlib.h>
#include <string.h>

/* names_ignored(j, root, t): did the user name a path within what is only counted? */
static bool names_ignored(const struct apply_job *j, size_t root, const struct ws_tally *t)
{
        const struct strs *asked = j->l.c->paths ? &j->l.c->paths[root] : NULL;
        for (size_t i = 0; asked && i < asked->n; i++)
                for (size_t k = 0; k < t->ignored_n; k++)
                        if (*asked->v[i] && str_is_beneath(asked->v[i], t->ignored[k].path))
                                return true;
        return false;
}

/* is_named(j, root, path): is an ignored file below a path that is ignored itself and was named? */
static bool is_named(const struct apply_job *j, size_t root, const struct ws_tally *t,
                     const char *path)
{
        const struct strs *asked = &j->l.c->paths[root];
        for (size_t i = 0; i < asked->n; i++)
                for (size_t k = 0; k < t->ignored_n; k++)
                        if (*asked->v[i] && str_is_beneath(asked->v[i], t->ignored[k].path) &&
                            str_is_beneath(path, asked->v[i]))
                                return true;
        return false;
}

/* leave_halves(j, root, l, t): of an ignored directory whose output stays, nothing lands: half of it
 * would be neither the box's nor the host's. Who names it, or says --all, has chosen; what commits
 * touch is no output. */
static void leave_halves(const struct apply_job *j, size_t root, struct ws_changes *l,
                         const struct ws_tally *t)
{
        for (size_t i = 0; i < l->n && !j->with_all; i++) {
                struct ws_change *c = &l->v[i];
                const struct ws_ignored *in = c->in_ignored ? &t->ignored[c->in_ignored - 1] : NULL;
                if (!in || !in->files_n || (j->l.c->paths && is_named(j, root, t, c->path)) ||
                    committed_touches(&j->l.fetch, c, NULL))
                        continue;
                c->refused = "it lies in an ignored directory, which stays in the box as a whole "
                             "(name the directory, or --all)";
        }
}

static int pass_over(void *ctx, const struct ws_change *c)
{
        (void)ctx;
        (void)c;
        return 0;
}

/* find_trees(j, root, t, err): work trees whose git directories the box touched. Paths that were
 * asked for may be part of commits: then all of the root is looked at for them. */
static int find_trees(struct apply_job *j, size_t root, const struct ws_tally *t, struct err *err)
{
        struct ws_tally all = {0};
        struct ws_query q = j->l.c->query;
        int rc = 0;
        if (j->l.c->paths && !j->l.is_files)
                rc = ws_walk(&j->l.c->roots.v[root], &q, pass_over, NULL, &all, err);
        const struct strs *trees = j->l.c->paths ? &all.git_trees : &t->git_trees;
        for (size_t i = 0; rc == 0 && i < trees->n; i++)
                if (!strs_has(&j->l.git_trees, trees->v[i]))
                        strs_add(&j->l.git_trees, trees->v[i]);
        ws_tally_free(&all);
        return rc;
}

/* walk(j, root): its changes; ignored ones only where they were asked for. */
static int walk(struct apply_job *j, size_t root, struct err *err)
{
        struct ws_query q;
        if (!changes_query(j->l.c, root, &q))
                return 0;
        const struct ws_root *r = &j->l.c->roots.v[root];
        struct ws_changes *l = &j->lists[root];
        struct ws_tally t = {0}, again = {0};
        q.with_ignored = j->with_all;
        int rc = ws_changes_of(r, &q, l, &t, err);
        if (rc == 0)
                leave_halves(j, root, l, &t);
        if (rc == 0 && !j->with_all && names_ignored(j, root, &t)) {
                ws_changes_free(l);
                *l = (struct ws_changes){0};
                q.with_ignored = true;
                rc = ws_changes_of(r, &q, l, &again, err);
                size_t kept = 0;
                for (size_t i = 0; rc == 0 && i < l->n; i++) {
                        if (!l->v[i].is_ignored || is_named(j, root, &t, l->v[i].path))
                                l->v[kept++] = l->v[i];
                        else
                                ws_change_free(&l->v[i]);
                }
                l->n = rc == 0 ? kept : l->n;
                if (rc == 0)
                        leave_halves(j, root, l, &again);
        } else {
                for (size_t k = 0; k < t.ignored_n; k++)
                        j->ignored_n += t.ignored[k].files_n;
        }
        if (rc == 0)
                rc = find_trees(j, root, &t, err);
        ws_tally_free(&t);
        ws_tally_free(&again);
        return rc;
}

/* has_child(l, i): is something of the list in the directory that change ${i} adds? */
static bool has_child(const struct ws_changes *l, size_t i)
{
        return i + 1 < l->n && str_is_beneath(l->v[i + 1].path, l->v[i].path);
}

static int judge(struct apply_job *j, struct landing_item *it, bool is_parent, struct err *err)
{
        const struct ws_change *c = it->change;
        if (c->is_masked && changes_is_untouched(j->l.c, c)) {
                it->fate = FATE_MASKED;
                return 0;
        }
        if (c->is_masked || c->refused) {
                it->fate = FATE_REFUSED;
                it->why = c->refused ? c->refused
                                     : "a secret of the host is masked there; what the box wrote "
                                       "over the stand-in is not taken";
                return 0;
        }
        if (is_parent && c->what == WS_ADDED && c->after.kind == WS_DIR &&
            c->class.class == FILE_PLAIN) {
                it->fate = FATE_IMPLIED;
                return 0;
        }
        struct err why = {0};
        if (apply_judge(c, j->l.c->applied, &it->conflict, &why) < 0) {
                if (!apply_unreadable(&why)) {
                        *err = why;
                        return -1;
                }
                it->fate = FATE_REFUSED;
                it->why = APPLY_HOST_UNREADABLE;
                return 0;
        }
        it->fate = it->conflict == APPLY_CLEAR                          ? FATE_OPEN
                   : committed_is_held(&j->l.fetch, c, j->l.c->applied) ? FATE_HELD
                                                                        : FATE_CONFLICT;
        return 0;
}

/* is_kept(j, c): ignored output that commits touch lands with them. */
static bool is_kept(const struct apply_job *j, const struct ws_change *c)
{
        return !c->is_ignored || committed_touches(&j->l.fetch, c, NULL);
}

/* add_committed(j, root, err): the host's ignore files hide what nobody tracks; what the box has
 * committed is tracked, also when it was added by force. */
static int add_committed(struct apply_job *j, size_t root, struct err *err)
{
        struct ws_query q;
        struct ws_tally t = {0};
        struct ws_changes *l = &j->lists[root];
        bool has_touched = false;
        for (size_t i = 0; i < j->l.fetch.n; i++)
                has_touched |= j->l.fetch.v[i].touched.n != 0;
        if (!has_touched || !j->ignored_n || j->with_all || j->l.c->paths ||
            strcmp(j->l.c->roots.v[root].name, "ws") != 0 || !changes_query(j->l.c, root, &q))
                return 0;
        ws_changes_free(l);
        *l = (struct ws_changes){0};
        q.with_ignored = true;
        int rc = ws_changes_of(&j->l.c->roots.v[root], &q, l, &t, err);
        if (rc == 0)
                leave_halves(j, root, l, &t);
        ws_tally_free(&t);
        size_t kept = 0;
        for (size_t i = 0; rc == 0 && i < l->n; i++) {
                bool was_ignored = l->v[i].is_ignored;
                if (is_kept(j, &l->v[i])) {
                        j->ignored_n -= was_ignored && j->ignored_n > 0;
                        l->v[kept++] = l->v[i];
                } else {
                        ws_change_free(&l->v[i]);
                }
        }
        l->n = rc == 0 ? kept : l->n;
        return rc;
}

int apply_items_find(struct apply_job *j, struct err *err)
{
        size_t roots_n = j->l.c->roots.n;
        j->lists = calloc(roots_n + 1, sizeof *j->lists);
        j->l.results = calloc(roots_n + 1, sizeof *j->l.results);
        if (!j->lists || !j->l.results)
                str_no_memory();
        size_t n = 0;
        for (size_t i = 0; i < roots_n; i++) {
                /* The home's kept part is taken over when the box ends; a live directory is the
                 * host's own. */
                if (j->l.c->roots.v[i].kind == WS_ROOT_COW && walk(j, i, err) < 0)
                        return -1;
        }
        if (landing_fetch(&j->l, err) < 0)
                return -1;
        if (j->l.has_yes && !j->l.is_files && !j->l.is_hunks)
                git_show_prove(&j->l.fetch);
        for (size_t i = 0; i < roots_n; i++) {
                if (j->l.c->roots.v[i].kind == WS_ROOT_COW && add_committed(j, i, err) < 0)
                        return -1;
                n += j->lists[i].n;
        }
        j->l.v = calloc(n + 1, sizeof *j->l.v);
        if (!j->l.v)
                str_no_memory();
        for (size_t i = 0; i < roots_n; i++) {
                const struct ws_changes *l = &j->lists[i];
                for (size_t k = 0; k < l->n; k++) {
                        struct landing_item *it = &j->l.v[j->l.n++];
                        *it = (struct landing_item){.change = &l->v[k], .root = i};
                        if (judge(j, it, has_child(l, k), err) < 0)
                                return -1;
                }
        }
        return 0;
}

void apply_items_free(struct apply_job *j)
{
        for (size_t i = 0; i < j->l.n; i++)
                buf_free(&j->l.v[i].bytes);
        for (size_t i = 0; j->lists && i < j->l.c->roots.n; i++)
                ws_changes_free(&j->lists[i]);
        free(j->l.v);
        free(j->lists);
        free(j->l.results);
}

/* settle_above(j): what lands makes the directories above it, so their classes must have been approved
 * as well, though they may not be in the list (PATHs name what is in them). */
static void settle_above(struct apply_job *j)
{
        unsigned approved = 1U << FILE_PLAIN;
        for (int k = 0; k < FILE_CLASS_COUNT; k++)
                approved |= j->l.yes[k] ? 1U << k : 0;
        for (size_t i = 0; i < j->l.n; i++)
                if (j->l.v[i].fate == FATE_TAKE)
                        approved |= 1U << j->l.v[i].change->class.class;
        for (size_t i = 0; i < j->l.n; i++)
                if (j->l.v[i].fate == FATE_TAKE && (j->l.v[i].change->above & ~approved))
                        j->l.v[i].fate = FATE_UNASKED;
}

/* first_below(j, i): where the run of changes begins that end before ${i} and lie in its directory. */
static size_t first_below(const struct apply_job *j, size_t i)
{
        size_t from = 0, to = i;
        while (from < to) {
                size_t at = from + (to - from) / 2;
                const struct landing_item *in = &j->l.v[at];
                if (in->root == j->l.v[i].root &&
                    str_is_beneath(in->change->path, j->l.v[i].change->path))
                        to = at;
                else
                        from = at + 1;
        }
        return from;
}

void apply_items_settle(struct apply_job *j)
{
        settle_above(j);
        /* A deleted directory comes after everything that was in it; it goes when all of that
         * goes. left[i]: how many before i stay; declined[i], waits[i]: of these, by the user's
         * word, or with commits. */
        _cleanup_free_ size_t *left = calloc(3 * (j->l.n + 1), sizeof *left);
        if (!left)
                str_no_memory();
        size_t *declined = left + j->l.n + 1, *waits = declined + j->l.n + 1;
        for (size_t i = 0; i < j->l.n; i++) {
                struct landing_item *it = &j->l.v[i];
                if (it->fate == FATE_TAKE && it->change->what == WS_DELETED &&
                    it->change->before.kind == WS_DIR) {
                        size_t first = first_below(j, i);
                        if (left[i] > left[first])
                                it->fate = declined[i] > declined[first] ? FATE_DECLINED
                                           : waits[i] > waits[first]     ? FATE_WAITS
                                                                         : FATE_UNASKED;
                        if (it->fate == FATE_WAITS)
                                it->why = "it holds files that wait";
                }
                left[i + 1] = left[i] + (it->fate != FATE_TAKE);
                declined[i + 1] = declined[i] + (it->fate == FATE_DECLINED);
                waits[i + 1] = waits[i] + (it->fate == FATE_WAITS);
        }
}

struct teller {
        struct apply_job *j;
        size_t root;
        size_t n;
};

static struct landing_item *item_of(const struct teller *t, const struct ws_change *c)
{
        const struct ws_changes *l = &t->j->lists[t->root];
        size_t first = 0;
        for (size_t i = 0; i < t->root; i++)
                first += t->j->lists[i].n;
        return &t->j->l.v[first + (size_t)(c - l->v)];
}

static void on_conflict(void *arg, const struct ws_change *c, enum apply_conflict k)
{
        struct landing_item *it = item_of(arg, c);
        it->fate = FATE_CONFLICT;
        it->conflict = k;
}

static void on_refused(void *arg, const struct ws_change *c, const char *why)
{
        struct landing_item *it = item_of(arg, c);
        it->fate = FATE_REFUSED;
        it->why = why;
}

static int run_root(struct apply_job *j, size_t root, int undo_fd, struct err *err)
{
        size_t first = 0, n = 0;
        for (size_t i = 0; i < root; i++)
                first += j->lists[i].n;
        struct landing_item *items = j->l.v + first;
        _cleanup_free_ struct apply_choice *choices = calloc(j->lists[root].n + 1, sizeof *choices);
        if (!choices)
                str_no_memory();
        for (size_t i = 0; i < j->lists[root].n; i++) {
                struct landing_item *it = &items[i];
                if (it->fate != FATE_TAKE)
                        continue;
                choices[n++] = (struct apply_choice){
                        .change = it->change,
                        .how = it->how,
                        .bytes = it->bytes.data ? (const void *)it->bytes.data : "",
                        .bytes_len = it->bytes.len,
                        .host_sha = it->host_sha,
                        .shown = it->shown};
        }
        if (n == 0)
                return 0;
        struct teller t = {.j = j, .root = root};
        struct apply_hooks hooks = {
                .on_conflict = on_conflict, .on_refused = on_refused, .arg = &t};
        int rc = apply_run(j->l.c->box_fd, j->l.c->id, undo_fd, &j->l.c->roots.v[root], choices, n,
                           &hooks, &j->l.results[root], err);
        for (size_t i = 0; rc == 0 && i < j->lists[root].n; i++)
                if (items[i].fate == FATE_TAKE)
                        items[i].fate = FATE_APPLIED;
        return rc;
}

int apply_items_run(struct apply_job *j, int undo_fd, struct err *err)
{
        for (size_t i = 0; i < j->l.c->roots.n; i++)
                if (run_root(j, i, undo_fd, err) < 0)
                        return -1;
        return 0;
}
