/* diff_walk.c - over all roots of a box, from what changed to what is told: what waits, what is
 * summed up, what is left out. Called by cmd_diff.c.
 *
 * Up to LIST_MAX changes of a root are held, so that a deletion and an addition can be told as a
 * rename; more than that are told as they are found, without renames, and memory stays where it is
 * whatever the box did. */
#include "cli/diff.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 20000, TOO_MANY = 2, HOME_NAMED_MAX = 20 };

char *diff_name(const struct diff *d, const char *path)
{
        _cleanup_free_ char *told = changes_name(d->c, &d->c->roots.v[d->root], path);
        _cleanup_buf_ struct buf b = {0};
        ws_print_name(&b, "", told);
        return str_dup(buf_cstr(&b));
}

int diff_note(struct diff *d, struct err *err, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        _cleanup_free_ char *words = str_vfmt(fmt, ap);
        va_end(ap);
        d->noted_n++;
        return d->form->note ? d->form->note(d, words, err) : 0;
}

static int show(struct diff *d, const struct ws_change *c, struct err *err)
{
        d->shown_n++;
        d->tally.files_n[c->what]++;
        d->tally.classes_n[c->class.class]++;
        d->tally.refused_n += c->refused != NULL;
        if (c->is_program) {
                _cleanup_free_ char *name = diff_name(d, c->path);
                out_names_add(&d->programs, name);
        }
        return d->form->change(d, c, err);
}

static int flush_home(struct diff *d, struct err *err)
{
        char n[32];
        int rc = 0;
        if (d->home.files_n)
                rc = diff_note(d, err, "~: %s%s file%s changed; ostiary diff %s '~' shows %s",
                               d->home.named_n ? "in all " : "",
                               ws_print_number(d->home.files_n, n), d->home.files_n == 1 ? "" : "s",
                               d->c->id, d->home.files_n == 1 ? "it" : "them");
        d->home = (struct diff_home){0};
        return rc;
}

/* take_home(d, c): what an agent keeps in its home for its next box (sessions, caches, logs) is
 * counted; what is not plain is named. JSON is for programs, and has everything. */
static int take_home(struct diff *d, const struct ws_change *c, struct err *err)
{
        if (c->root->kind != WS_ROOT_HOME || d->with_all || d->is_asked || d->form == &diff_json)
                return 0;
        if (c->after.kind == WS_DIR || (c->after.kind == WS_NONE && c->before.kind == WS_DIR))
                return 1;
        d->home.files_n++;
        if ((c->class.class == FILE_PLAIN && !c->class.is_odd) || d->home.named_n == HOME_NAMED_MAX)
                return 1;
        d->home.named_n++;
        _cleanup_free_ char *name = diff_name(d, c->path), *why = str_quote(c->class.why);
        return diff_note(d, err, "%s: %s%s%s%s, %s", file_class_words(c->class.class), name,
                         *why ? " (" : "", why, *why ? ")" : "", ws_what_name(c->what)) < 0
                       ? -1
                       : 1;
}

/* flush_new_dir(d): nothing was told in it, so it is told itself. */
static int flush_new_dir(struct diff *d, struct err *err)
{
        int rc = 0;
        if (d->new_dir) {
                d->new_dir_change.path = d->new_dir;
                rc = show(d, &d->new_dir_change, err);
        }
        free(d->new_dir);
        d->new_dir = NULL;
        return rc;
}

static void set(char **to, const char *path)
{
        free(*to);
        *to = str_dup(path);
}

/* skips_dir(d, c): a directory whose content says the same is not told; 1 then, or when it waits
 * for its content. */
static int skips_dir(struct diff *d, const struct ws_change *c, struct err *err)
{
        if (d->new_dir && str_is_beneath(c->path, d->new_dir)) {
                free(d->new_dir);
                d->new_dir = NULL;
        } else if (flush_new_dir(d, err) < 0) {
                return -1;
        }
        bool is_plain = c->class.class == FILE_PLAIN && !c->class.is_odd && !c->refused;
        if (c->what == WS_ADDED && c->after.kind == WS_DIR && is_plain) {
                d->new_dir_change = *c;
                set(&d->new_dir, c->path);
                return 1;
        }
        if (c->what == WS_DELETED) {
                bool has_told = d->last_deleted && c->before.kind == WS_DIR && is_plain &&
                                str_is_beneath(d->last_deleted, c->path);
                set(&d->last_deleted, c->path);
                return has_told;
        }
        return 0;
}

static int on_change(struct diff *d, const struct ws_change *c, struct err *err)
{
        if (c->is_masked && changes_is_untouched(d->c, c))
                return 0;
        if (d->only_applied && !changes_was_applied(d->c, c))
                return 0;
        if (!d->only_applied && diff_git_is_held(d, c))
                return 0;
        int skipped = take_home(d, c, err);
        if (skipped != 0) {
                /* A directory that waits has something in it now. */
                if (d->new_dir && str_is_beneath(c->path, d->new_dir)) {
                        free(d->new_dir);
                        d->new_dir = NULL;
                }
                if (c->what == WS_DELETED)
                        set(&d->last_deleted, c->path);
                return skipped < 0 ? -1 : 0;
        }
        skipped = skips_dir(d, c, err);
        return skipped ? (skipped < 0 ? -1 : 0) : show(d, c, err);
}

/* --- a root ------------------------------------------------------------------------------------
 */

struct list {
        struct ws_changes all;
        size_t cap;
};

static int keep(void *ctx, const struct ws_change *c)
{
        struct list *l = ctx;
        if (l->all.n == LIST_MAX)
                return TOO_MANY;
        if (l->all.n == l->cap) {
                l->cap = l->cap ? l->cap * 2 : 64;
                struct ws_change *v = reallocarray(l->all.v, l->cap, sizeof *v);
                if (!v)
                        str_no_memory();
                l->all.v = v;
        }
        struct ws_change *to = &l->all.v[l->all.n++];
        *to = *c;
        to->path = str_dup(c->path);
        to->from = c->from ? str_dup(c->from) : NULL;
        return 0;
}

struct stream_ctx {
        struct diff *d;
        struct err *err;
};

static int on_stream(void *ctx, const struct ws_change *c)
{
        struct stream_ctx *s = ctx;
        return on_change(s->d, c, s->err);
}

/* asks_ignored(d, t): did the user name a path within what was only counted? */
static bool asks_ignored(const struct diff *d, const struct ws_tally *t)
{
        const struct strs *asked = d->c->paths ? &d->c->paths[d->root] : NULL;
        for (size_t i = 0; asked && i < asked->n; i++)
                for (size_t k = 0; k < t->ignored_n; k++)
                        if (*asked->v[i] && str_is_beneath(asked->v[i], t->ignored[k].path))
                                return true;
        return false;
}

static void add_ignored(struct ws_tally *t, const char *name, const struct ws_ignored *one)
{
        struct ws_ignored *v = reallocarray(t->ignored, t->ignored_n + 1, sizeof *v);
        if (!v)
                str_no_memory();
        t->ignored = v;
        v[t->ignored_n++] = (struct ws_ignored){str_dup(name), one->files_n, one->bytes};
}

static int tell_ignored(struct diff *d, const struct ws_tally *t, struct err *err)
{
        for (size_t i = 0; i < t->ignored_n; i++) {
                char n[32], bytes[16];
                _cleanup_free_ char *name = diff_name(d, t->ignored[i].path);
                add_ignored(&d->tally, name, &t->ignored[i]);
                if (diff_note(d, err, "%s: %s file%s, %s, ignored; --all shows %s", name,
                              ws_print_number(t->ignored[i].files_n, n),
                              t->ignored[i].files_n == 1 ? "" : "s",
                              str_size_words(t->ignored[i].bytes, bytes),
                              t->ignored[i].files_n == 1 ? "it" : "them") < 0)
                        return -1;
        }
        return 0;
}

/* tell_output(d, t): repositories among what is ignored. Their commits come with nothing else. */
static int tell_output(struct diff *d, const struct ws_tally *t, struct err *err)
{
        struct out_names names = {0};
        for (size_t i = 0; i < t->git_output.n; i++) {
                _cleanup_free_ char *name = diff_name(d, t->git_output.v[i]);
                out_names_add(&names, name);
        }
        _cleanup_free_ char *list = out_names_words(&names);
        size_t n = t->git_output.n;
        strs_free(&names.v);
        return n ? diff_note(d, err,
                             "ignored, with a repository that only the box has: %s; --all shows %s "
                             "commits, apply --all brings them",
                             list, n == 1 ? "its" : "their")
                 : 0;
}

static int on_root(struct diff *d, struct ws_query *q, struct err *err)
{
        const struct ws_root *root = &d->c->roots.v[d->root];
        struct list l = {0};
        struct ws_tally t = {0};
        int rc = ws_walk(root, q, keep, &l, &t, err);
        if (rc == 0 && !q->with_ignored && asks_ignored(d, &t)) {
                q->with_ignored = true;
                ws_changes_free(&l.all);
                ws_tally_free(&t);
                l = (struct list){0};
                rc = ws_walk(root, q, keep, &l, &t, err);
        }
        bool is_limited = d->c->paths != NULL;
        if (rc == 0 && !is_limited)
                rc = diff_git_tell(d, &t.git_trees, err);
        if (rc == 0) {
                ws_changes_rename(&l.all);
                for (size_t i = 0; i < l.all.n && rc == 0; i++)
                        rc = on_change(d, &l.all.v[i], err);
        } else if (rc == TOO_MANY) {
                ws_changes_free(&l.all);
                l = (struct list){0};
                ws_tally_free(&t);
                struct stream_ctx s = {d, err};
                rc = diff_note(d, err,
                               "more than %d changes: moved files are told as deleted and added",
                               LIST_MAX);
                if (rc == 0)
                        rc = ws_walk(root, q, on_stream, &s, &t, err);
                if (rc == 0 && !is_limited)
                        rc = diff_git_tell(d, &t.git_trees, err);
        }
        if (rc == 0)
                rc = flush_new_dir(d, err);
        if (rc == 0)
                rc = flush_home(d, err);
        if (rc == 0)
                rc = tell_ignored(d, &t, err);
        if (rc == 0 && !is_limited)
                rc = tell_output(d, &t, err);
        ws_changes_free(&l.all);
        ws_tally_free(&t);
        return rc ? -1 : 0;
}

int diff_run(struct diff *d, struct err *err)
{
        if (d->form->begin && d->form->begin(d, err) < 0)
                return -1;
        for (d->root = 0; d->root < d->c->roots.n; d->root++) {
                struct ws_query q;
                const struct ws_root *r = &d->c->roots.v[d->root];
                if (r->gone && r->kind != WS_ROOT_HOME) {
                        _cleanup_free_ char *host = str_quote(r->host);
                        if (diff_note(d, err, "%s %s: what the box changed there is not shown",
                                      host, r->gone) < 0)
                                return -1;
                }
                if (!changes_query(d->c, d->root, &q))
                        continue;
                q.with_ignored = d->with_all;
                if (d->only_applied)
                        changes_query_raw(&q);
                d->is_asked = d->c->paths != NULL;
                d->is_root_told = false;
                free(d->last_deleted);
                d->last_deleted = NULL;
                if (on_root(d, &q, err) < 0)
                        return -1;
        }
        return d->form->end ? d->form->end(d, err) : 0;
}

void diff_free(struct diff *d)
{
        for (size_t i = 0; i < d->rows_n; i++)
                free(d->rows[i].name);
        free(d->rows);
        ws_tally_free(&d->tally);
        strs_free(&d->programs.v);
        strs_free(&d->notes);
        git_fetch_free(&d->fetch);
        free(d->new_dir);
        free(d->last_deleted);
}
