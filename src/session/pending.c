/* pending.c - see pending.h. A box whose layers cannot be read counts as one that holds something.
 * Writes one note into the box: that its commits are on the host, which costs a box of its own to
 * find out. */
#include "session/pending.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "git/landed.h"
#include "session/changes.h"
#include "session/committed.h"
#include "session/fetched.h"
#include "session/store.h"
#include "workspace/apply.h"
#include "workspace/git_own.h"
#include "workspace/scan.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOUND = 1, NOTE_MAX = 4 << 20 };

static const char git_note[] = "git-landed";

/* What may be pending: a file that the host went on with, maybe after it merged the box's commit. Git is
 * asked only when nothing else is pending. */
struct doubts {
        const struct changes *c;
        struct ws_changes v;
};
enum { DOUBTS_MAX = 4096 };

static bool doubt_it(struct doubts *d, const struct ws_change *c)
{
        enum apply_conflict conflict;
        if (d->v.n == DOUBTS_MAX || strcmp(c->root->name, "ws") != 0 ||
            apply_judge(c, d->c->applied, &conflict, NULL) < 0 || conflict == APPLY_CLEAR)
                return false;
        struct ws_change *v = reallocarray(d->v.v, d->v.n + 1, sizeof *v);
        if (!v)
                str_no_memory();
        d->v.v = v;
        v[d->v.n] = *c;
        v[d->v.n++].path = str_dup(c->path);
        return true;
}

static int on_change(void *ctx, const struct ws_change *c)
{
        struct doubts *d = ctx;
        return (c->is_masked && changes_is_untouched(d->c, c)) || doubt_it(d, c) ? 0 : FOUND;
}

static enum scan_next on_entry(void *ctx, int dir_fd, const char *name, const char *path,
                               unsigned char type)
{
        (void)dir_fd;
        (void)name;
        (void)path;
        (void)type;
        *(bool *)ctx = true;
        return SCAN_STOP;
}

/* wrote_any(r): the box wrote something below this root, whatever it was. */
static bool wrote_any(const struct ws_root *r)
{
        bool has_any = false;
        for (size_t i = 0; i < r->top_n && !has_any; i++)
                scan_tree(r->after.layers[i].fd, on_entry, &has_any);
        return has_any;
}

/* own_repos(c, root, t, repos): of what is ignored. */
static void own_repos(const struct changes *c, const struct ws_root *root, const struct ws_tally *t,
                      struct strs *repos)
{
        for (size_t i = 0; i < t->git_output.n; i++) {
                if (!git_own_commits(&root->after, t->git_output.v[i]))
                        continue;
                _cleanup_free_ char *name = changes_name(c, root, t->git_output.v[i]);
                strs_add(repos, name);
        }
}

/* pending_files(d, trees, err): all but the commits: 1, 0 or -1; 0 also with doubts in ${d}. ${trees}:
 * work trees whose git directories the box touched. */
static int pending_files(struct doubts *d, struct strs *trees, struct err *err)
{
        const struct changes *c = d->c;
        struct stat st;
        bool was_applied = fstatat(c->box_fd, "applied", &st, AT_SYMLINK_NOFOLLOW) == 0;
        for (size_t i = 0; i < c->roots.n; i++) {
                struct ws_query q;
                struct ws_tally t = {0};
                const struct ws_root *r = &c->roots.v[i];
                if (r->kind != WS_ROOT_COW)
                        continue;
                /* Moved, deleted or not to be opened: there is nothing to compare with, and the box
                 * may have the only copy. */
                if (r->gone && wrote_any(r))
                        return 1;
                if (!changes_query(c, i, &q))
                        continue;
                int rc = ws_walk(r, &q, on_change, d, &t, err);
                bool has_output = t.ignored_n > 0;
                for (size_t k = 0; k < t.git_trees.n; k++)
                        if (!strs_has(trees, t.git_trees.v[k]))
                                strs_add(trees, t.git_trees.v[k]);
                _cleanup_strs_ struct strs repos = {0};
                if (rc == 0)
                        own_repos(c, r, &t, &repos);
                ws_tally_free(&t);
                if (rc != 0)
                        return rc;
                if (repos.n || (has_output && !was_applied))
                        return 1;
        }
        return 0;
}

/* The note holds for one end of the box: one that ran again may have committed again. And as long as
 * the host has what it says: an undo takes refs back. */
static bool note_is_there(const struct changes *c, int64_t ended_us)
{
        _cleanup_free_ char *text = fdio_read_file(c->box_fd, git_note, NOTE_MAX, NULL);
        _cleanup_free_ char *want = str_fmt("%" PRId64 "\n", ended_us);
        return text && str_starts(text, want) && git_landed_holds(text + strlen(want), c->id);
}

/* note_put(c, landed): best effort: without it the next one asks again. */
static void note_put(const struct changes *c, struct buf *landed)
{
        struct box_meta m = {0};
        if (!landed->is_broken && store_meta_read(c->box_fd, c->id, &m, NULL) == 0 &&
            m.state == BOX_EXITED) {
                _cleanup_free_ char *text =
                        str_fmt("%" PRId64 "\n%s", m.ended_us, buf_cstr(landed));
                (void)fdio_write_file(c->box_fd, git_note, text, 0600, NULL);
        }
        box_meta_free(&m);
}

/* pending_doubts(s, d, trees, err): 1 when one of them is not what the host merged. */
static int pending_doubts(const struct store *s, const struct doubts *d, const struct strs *trees,
                          struct err *err)
{
        struct git_fetch f = {0};
        int rc = d->v.n ? (trees->n ? fetched_get(d->c, s, trees, &f, err) : 1) : 0;
        for (size_t i = 0; rc == 0 && i < d->v.n; i++)
                rc = !committed_is_held(&f, &d->v.v[i], d->c->applied);
        git_fetch_free(&f);
        return rc;
}

/* pending_look(s, id, known_us, err): ${known_us}: believe a note of this end; 0: ask git. */
static int pending_look(const struct store *s, const char *id, int64_t known_us, struct err *err)
{
        _cleanup_box_changes_ struct changes c = {.box_fd = -1, .frozen_fd = -1};
        _cleanup_strs_ struct strs trees = {0};
        if (changes_open(&c, s, id, 0, err) < 0)
                return -1;
        struct doubts d = {.c = &c};
        int rc = pending_files(&d, &trees, err);
        if (rc == 0)
                rc = pending_doubts(s, &d, &trees, err);
        ws_changes_free(&d.v);
        if (rc != 0 || trees.n == 0 || (known_us && note_is_there(&c, known_us)))
                return rc;
        _cleanup_buf_ struct buf landed = {.max = NOTE_MAX / 2};
        rc = fetched_pending(&c, s, &trees, &landed, err);
        if (rc == 0)
                note_put(&c, &landed);
        return rc;
}

int pending_any(const struct store *s, const char *id, struct err *err)
{
        return pending_look(s, id, 0, err);
}

static int on_any(void *ctx, const struct ws_change *c)
{
        (void)ctx;
        (void)c;
        return 0;
}

void pending_repos(const struct store *s, const char *id, struct strs *repos)
{
        _cleanup_box_changes_ struct changes c = {.box_fd = -1, .frozen_fd = -1};
        if (changes_open(&c, s, id, 0, NULL) < 0)
                return; /* who asks is told so by pending_any */
        for (size_t i = 0; i < c.roots.n; i++) {
                struct ws_query q;
                struct ws_tally t = {0};
                if (c.roots.v[i].kind == WS_ROOT_COW && changes_query(&c, i, &q) &&
                    ws_walk(&c.roots.v[i], &q, on_any, NULL, &t, NULL) == 0)
                        own_repos(&c, &c.roots.v[i], &t, repos);
                ws_tally_free(&t);
        }
}

bool pending_holds(const struct store *s, const struct box_meta *m)
{
        if (m->is_live || (m->state == BOX_EXITED && !m->was_written))
                return false;
        int rc = pending_look(s, m->id, m->ended_us, NULL);
        return box_state_is_alive(m->state) ? rc > 0 : rc != 0;
}

bool pending_is_written(const struct store *s, const char *id)
{
        _cleanup_box_changes_ struct changes c = {.box_fd = -1, .frozen_fd = -1};
        _cleanup_strs_ struct strs trees = {0};
        if (changes_open(&c, s, id, 0, NULL) < 0)
                return true;
        struct doubts d = {.c = &c};
        bool is_written = pending_files(&d, &trees, NULL) != 0 || d.v.n > 0 || trees.n > 0;
        ws_changes_free(&d.v);
        return is_written;
}
