/* banner.c - see banner.h. Before: what the supervisor says of the box that it has started. After: read
 * from the box's own directory. */
#include "cli/banner.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/out.h"
#include "cli/refwords.h"
#include "cli/stream.h"
#include "session/changes.h"
#include "session/fetched.h"
#include "session/store.h"
#include "wire/msg.h"
#include "workspace/print.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* repository_above(workspace): the repository that it is only a part of, or NULL; the caller frees. */
static char *repository_above(const char *workspace)
{
        _cleanup_free_ char *at = str_dup(workspace ? workspace : "");
        for (bool is_first = true; *at; is_first = false) {
                _cleanup_free_ char *git = str_fmt("%s/.git", at);
                if (access(git, F_OK) == 0)
                        return is_first ? NULL : take_ptr(&at);
                char *slash = strrchr(at, '/');
                if (!slash)
                        break;
                *slash = 0;
        }
        return NULL;
}

void banner_before(const struct stream *s, const struct msg_started *m)
{
        if (s->is_quiet || !m->tier || !*m->tier)
                return;
        _cleanup_free_ char *path = out_path(m->workspace);
        _cleanup_free_ char *shown = str_quote(path);
        _cleanup_free_ char *where = NULL;
        if (!*shown)
                where = str_dup("no workspace");
        else if (m->is_live)
                where = str_fmt("%s LIVE (what it changes lands at once, commits too: its git "
                                "directory is the host's; ostiary undo takes it back)",
                                shown);
        else
                where = str_fmt("%s copy-on-write (nothing lands before: ostiary diff %s, ostiary "
                                "apply %s)",
                                shown, s->id, s->id);
        _cleanup_free_ char *key = NULL;
        if (s->is_tty && !s->detach.is_off)
                key = str_fmt("; detach: Ctrl-%c d", toupper((int)s->detach.base));
        out_say("box %s, tier %s, %s, %s%s", s->id, m->tier, where,
                *m->grants ? m->grants : "no network", key ? key : "");
        _cleanup_free_ char *above = repository_above(m->workspace);
        if (above) {
                _cleanup_free_ char *top = out_path(above), *words = str_quote(top);
                out_say("%s is a part of the repository %s, which is not in the box: git does not "
                        "work there; start the box in %s to have it",
                        shown, words, words);
        }
        for (size_t i = 0; i < m->masked.n; i++)
                out_say("%s", m->masked.v[i]);
}

/* --- afterwards ---------------------------------------------------------------------------------
 */

enum {
        COUNT_MAX = 100000, /* changes that are looked at: a prompt should not wait for more */
        NAMES_MAX = 4       /* files that are named, per class */
};

struct summary {
        struct changes *c;
        struct strs commits; /* ids; a commit may be on several refs */
        struct strs refs;    /* that have new commits, in words */
        bool is_cut;         /* more commits than are listed */
        char *untold;        /* why commits of the box cannot be told now; or NULL */
        uint64_t all_n, added, modified, deleted;
        uint64_t classes_n[FILE_CLASS_COUNT];
        struct strs names[FILE_CLASS_COUNT];
        struct out_names programs;
};

static void name_class(struct summary *m, enum file_class class, const char *name)
{
        _cleanup_free_ char *shown = str_quote(name);
        if (strs_has(&m->names[class], shown))
                return; /* its file was told */
        m->classes_n[class]++;
        if (m->names[class].n < NAMES_MAX)
                strs_add(&m->names[class], shown);
}

static int count(void *ctx, const struct ws_change *ch)
{
        struct summary *m = ctx;
        if (ch->is_masked && changes_is_untouched(m->c, ch))
                return 0;
        enum file_class class = ch->class.class;
        bool is_home = ch->root->kind == WS_ROOT_HOME;
        /* An agent's own notes and settings stay in its home: the host does not see them. */
        if (class != FILE_PLAIN && !(is_home && class == FILE_STEERS_AGENT)) {
                _cleanup_free_ char *name = changes_name(m->c, ch->root, ch->path);
                name_class(m, class, name);
        }
        if (ch->is_program) {
                _cleanup_free_ char *name = changes_name(m->c, ch->root, ch->path);
                _cleanup_free_ char *shown = str_quote(name);
                out_names_add(&m->programs, shown);
        }
        /* What an agent keeps in its home is its own; only what is not plain is told. */
        bool is_dir = (ch->after.kind == WS_NONE ? ch->before.kind : ch->after.kind) == WS_DIR;
        if (!is_dir && !is_home) {
                m->added += ch->what == WS_ADDED;
                m->deleted += ch->what == WS_DELETED;
                m->modified += ch->what != WS_ADDED && ch->what != WS_DELETED;
        }
        return ++m->all_n > COUNT_MAX;
}

/* untold(m, why): the first reason counts; diff has all of them. */
static void untold(struct summary *m, const char *why)
{
        if (why && !m->untold)
                m->untold = str_dup(why);
}

/* count_commits(m, store, trees): what the box committed, or why that cannot be told. */
static void count_commits(struct summary *m, const struct store *store, const struct strs *trees)
{
        struct git_fetch f;
        struct err err = {0};
        bool is_cut = false;
        if (fetched_get(m->c, store, trees, &f, &err) < 0) {
                untold(m, err.text);
                return;
        }
        untold(m, f.waits);
        for (size_t i = 0; i < f.n; i++)
                untold(m, f.v[i].is_spare ? NULL : f.v[i].waits);
        for (size_t i = 0; i < f.n; i++) {
                _cleanup_free_ char *in = refwords_in(&f.v[i]);
                for (size_t k = 0; k < f.v[i].refs_n; k++) {
                        const struct git_ref *ref = &f.v[i].refs[k];
                        if (ref->refused) {
                                _cleanup_free_ char *name = refwords(ref);
                                _cleanup_free_ char *why =
                                        str_fmt("%s%s: %s", name, in, ref->refused);
                                untold(m, why);
                        }
                        if (!ref->is_new || ref->refused)
                                continue;
                        for (size_t n = 0; n < ref->commits_n; n++)
                                strs_add(&m->commits, ref->commits[n].id);
                        is_cut |= ref->commits_all > ref->commits_n;
                        _cleanup_free_ char *words = refwords(ref);
                        strs_addf(&m->refs, "%s%s", words, in);
                        for (size_t p = 0; p < ref->paths.n; p++) {
                                const struct git_path *one = &ref->paths.v[p];
                                if (one->class.class == FILE_PLAIN)
                                        continue;
                                _cleanup_free_ char *name = str_fmt(
                                        "%s%s%s", f.v[i].path, *f.v[i].path ? "/" : "", one->path);
                                name_class(m, one->class.class, name);
                        }
                }
        }
        git_fetch_free(&f);
        m->is_cut = is_cut;
}

static int by_id(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

/* unique(l): how many different ones. */
static size_t unique(struct strs *l)
{
        size_t n = 0;
        if (l->n)
                qsort(l->v, l->n, sizeof *l->v, by_id);
        for (size_t i = 0; i < l->n; i++)
                n += i == 0 || strcmp(l->v[i], l->v[i - 1]) != 0;
        return n;
}

static void say_commits(struct summary *m, const char *id)
{
        size_t n = unique(&m->commits);
        _cleanup_buf_ struct buf b = {0};
        for (size_t i = 0; i < m->refs.n && i < NAMES_MAX; i++)
                buf_put_fmt(&b, "%s%s", i ? ", " : "", m->refs.v[i]);
        if (m->refs.n > NAMES_MAX)
                buf_put_fmt(&b, " and %zu more", m->refs.n - NAMES_MAX);
        if (m->untold)
                out_say("box %s: what it committed cannot be told now: %s", id, m->untold);
        if (m->refs.n)
                out_say("box %s: %s%zu commit%s on %s", id, m->is_cut ? "over " : "", n,
                        n == 1 ? "" : "s", buf_cstr(&b));
}

static void say_classes(const struct summary *m)
{
        _cleanup_buf_ struct buf b = {0};
        for (int i = FILE_PLAIN + 1; i < FILE_CLASS_COUNT; i++) {
                if (m->names[i].n == 0)
                        continue;
                buf_put_fmt(&b, "%s%s: ", b.len ? "; " : "", file_class_words((enum file_class)i));
                for (size_t k = 0; k < m->names[i].n; k++)
                        buf_put_fmt(&b, "%s%s", k ? ", " : "", m->names[i].v[k]);
                if (m->classes_n[i] > m->names[i].n)
                        buf_put_fmt(&b, " and %llu more",
                                    (unsigned long long)(m->classes_n[i] - m->names[i].n));
        }
        _cleanup_free_ char *programs = out_names_words(&m->programs);
        if (*programs)
                buf_put_fmt(&b, "%scan be run: %s", b.len ? "; " : "", programs);
        if (b.len)
                out_say("look before you apply: %s", buf_cstr(&b));
}

static void say_changes(const struct summary *m, const struct ws_tally *t, const char *id)
{
        char n[3][32], more[32];
        _cleanup_free_ char *ignored = str_dup("");
        uint64_t ignored_n = 0;
        for (size_t i = 0; i < t->ignored_n; i++)
                ignored_n += t->ignored[i].files_n;
        if (ignored_n) {
                free(ignored);
                ignored = str_fmt("; %s ignored", ws_print_number(ignored_n, more));
        }
        if (m->added + m->modified + m->deleted + ignored_n == 0)
                return;
        out_say("box %s: %s%s file%s added, %s modified, %s deleted%s", id,
                m->all_n > COUNT_MAX ? "over " : "", ws_print_number(m->added, n[0]),
                m->added == 1 ? "" : "s", ws_print_number(m->modified, n[1]),
                ws_print_number(m->deleted, n[2]), ignored);
}

/* is_live(c): does what the box changed lie on the host already? */
static bool is_live(const struct changes *c)
{
        for (size_t i = 0; i < c->roots.n; i++)
                if (c->roots.v[i].kind == WS_ROOT_LIVE)
                        return true;
        return false;
}

void banner_after(const struct stream *s)
{
        if (s->is_quiet || !s->is_ended || !s->is_kept)
                return;
        struct err err = {0};
        struct store store;
        if (store_paths(&store, &err) < 0) {
                out_say("box %s is kept; what it changed cannot be told: %s", s->id, err.text);
                return;
        }
        _cleanup_box_changes_ struct changes c = {.box_fd = -1, .frozen_fd = -1};
        struct summary m = {.c = &c};
        struct ws_tally t = {0};
        out_wait("looking at what the box changed");
        int rc = changes_open(&c, &store, s->id, 0, &err);
        for (size_t i = 0; rc == 0 && i < c.roots.n; i++) {
                struct ws_query q;
                if (changes_query(&c, i, &q))
                        rc = ws_walk(&c.roots.v[i], &q, count, &m, &t, &err);
        }
        if (rc >= 0 && t.git_trees.n)
                count_commits(&m, &store, &t.git_trees);
        out_wait(NULL);
        if (rc >= 0)
                say_changes(&m, &t, s->id);
        else
                out_say("box %s: what it changed cannot be told: %s", s->id, err.text);
        say_commits(&m, s->id);
        say_classes(&m);
        if (rc == 0 && is_live(&c))
                out_say("box %s is kept; what it changed live: ostiary history, ostiary undo; "
                        "ostiary rm %s",
                        s->id, s->id);
        else
                out_say("box %s is kept: ostiary diff %s, ostiary apply %s, ostiary rm %s", s->id,
                        s->id, s->id, s->id);
        for (size_t i = 0; i < FILE_CLASS_COUNT; i++)
                strs_free(&m.names[i]);
        strs_free(&m.refs);
        strs_free(&m.commits);
        strs_free(&m.programs.v);
        free(m.untold);
        ws_tally_free(&t);
        store_free(&store);
}
