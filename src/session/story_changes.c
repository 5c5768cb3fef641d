/* story_changes.c - the files that a box left changed, as a list by time. Called by story.c; reads
 * through session/changes.h and keeps no more than STORY_CHANGES_MAX. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/changes.h"
#include "session/story.h"
#include "session/story_time.h"
#include "workspace/apply.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct gather {
        struct story *s;
        const struct changes *c;
        int64_t tick_us;
        /* the marks of all deletions, to know the shared ones: at most STORY_CHANGES_MAX */
        uint64_t *marks;
        size_t marks_n;
        /* of the directory that was looked up last, see time_above */
        const struct ws_root *root;
        char *dir;
        int64_t dir_us;
};

static int64_t us_of(int64_t ns)
{
        return ns / 1000;
}

/* grow(v, n, size): room for one more; the room doubles at every power of two. */
static void *grow(void *v, size_t n, size_t size)
{
        if (n & (n - 1))
                return v;
        v = reallocarray(v, n ? n * 2 : 1, size);
        if (!v)
                str_no_memory();
        return v;
}

/* time_above(g, w): of something that is gone with no mark of its own, because the directory it was
 * in is gone or was made anew: the time of the nearest directory above that tells one, by when it
 * was gone. Neighbours ask for the same directory. */
static int64_t time_above(struct gather *g, const struct ws_change *w)
{
        _cleanup_free_ char *dir = str_dup(w->path);
        char *slash = strrchr(dir, '/');
        *(slash ? slash : dir) = 0;
        if (g->dir && g->root == w->root && strcmp(g->dir, dir) == 0)
                return g->dir_us;
        free(g->dir);
        g->root = w->root;
        g->dir = str_dup(dir);
        g->dir_us = 0;
        while (*dir && !g->dir_us) {
                struct ws_node node;
                if (ws_view_look(&w->root->after, dir, &node, NULL) == 0)
                        g->dir_us = us_of(node.ctime_ns);
                slash = strrchr(dir, '/');
                *(slash ? slash : dir) = 0;
        }
        return g->dir_us;
}

static int add(struct gather *g, const struct ws_change *w, bool is_applied)
{
        struct story *s = g->s;
        if (w->is_masked && changes_is_untouched(g->c, w))
                return 0; /* nothing of the box is in it */
        const struct ws_node *now = w->after.kind == WS_NONE ? &w->before : &w->after;
        struct story_change c = {
                .ctime_us = us_of(w->after.ctime_ns),
                .mtime_us = w->after.kind == WS_NONE ? 0 : us_of(w->after.mtime_ns),
                .refused = w->refused,
                .size = now->size,
                .mode = now->mode,
                .what = w->what,
                .kind = now->kind,
                .class = w->class.class,
                .is_odd = w->class.is_odd,
                .is_masked = w->is_masked,
                .is_home = w->root->kind == WS_ROOT_HOME,
                .is_applied = is_applied,
        };
        /* The host has it too by now, so only the layer can say whether it was there before. */
        if (is_applied)
                c.what = w->after.has_origin ? WS_MODIFIED : WS_ADDED;
        if (w->after.kind == WS_NONE && !c.ctime_us) {
                c.ctime_us = time_above(g, w);
                c.is_at_latest = true;
        } else if (w->after.kind == WS_NONE && g->marks_n < STORY_CHANGES_MAX) {
                c.mark = w->after.ino;
                g->marks = grow(g->marks, g->marks_n, sizeof *g->marks);
                g->marks[g->marks_n++] = c.mark;
        }
        if (c.ctime_us)
                c.time_us = story_runs_bound(s, c.ctime_us, g->tick_us);
        if (!story_filter_time(s->filter, c.time_us))
                return 0;
        c.name = changes_name(g->c, w->root, w->path);
        c.from = w->from ? changes_name(g->c, w->root, w->from) : NULL;
        snprintf(c.why, sizeof c.why, "%s", w->class.why);
        if (!story_filter_change(s->filter, &c)) {
                free(c.name);
                free(c.from);
                return 0;
        }
        if (s->changes_n == STORY_CHANGES_MAX) {
                s->changes_more++;
                free(c.name);
                free(c.from);
                return 0;
        }
        s->changes = grow(s->changes, s->changes_n, sizeof *s->changes);
        s->changes[s->changes_n++] = c;
        return 0;
}

static int on_change(void *ctx, const struct ws_change *w)
{
        return add(ctx, w, false);
}

/* on_touched(ctx, w): of everything in the layers, what was applied and is no pending change any
 * more: the box did it all the same. */
static int on_touched(void *ctx, const struct ws_change *w)
{
        struct gather *g = ctx;
        return changes_was_applied(g->c, w) ? add(g, w, true) : 0;
}

static int by_number(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
        return x < y ? -1 : x > y;
}

/* tell_shared(g): a mark that two deletions have tells the time of the later one. */
static void tell_shared(struct gather *g)
{
        if (!g->marks_n)
                return;
        qsort(g->marks, g->marks_n, sizeof *g->marks, by_number);
        for (size_t i = 0; i < g->s->changes_n; i++) {
                struct story_change *c = &g->s->changes[i];
                if (!c->mark)
                        continue;
                const uint64_t *at =
                        bsearch(&c->mark, g->marks, g->marks_n, sizeof c->mark, by_number);
                if (at && ((at > g->marks && at[-1] == c->mark) ||
                           (at + 1 < g->marks + g->marks_n && at[1] == c->mark)))
                        c->is_at_latest = true;
        }
}

static int by_time(const void *a, const void *b)
{
        const struct story_change *x = a, *y = b;
        if (x->time_us != y->time_us)
                return x->time_us < y->time_us ? -1 : 1;
        return strcmp(x->name, y->name);
}

static int walk(struct gather *g, struct err *err)
{
        const struct changes *c = g->c;
        struct story *s = g->s;
        bool has_applied = faccessat(c->box_fd, "applied", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
        for (size_t i = 0; i < c->roots.n; i++) {
                struct ws_query q;
                struct ws_tally t = {0};
                if (!changes_query(c, i, &q))
                        continue;
                int got = ws_walk(&c->roots.v[i], &q, on_change, g, &t, err);
                for (size_t j = 0; j < t.ignored_n; j++) {
                        s->ignored_n += t.ignored[j].files_n;
                        s->ignored_bytes += t.ignored[j].bytes;
                }
                ws_tally_free(&t);
                if (got == 0 && has_applied) {
                        changes_query_raw(&q);
                        got = ws_walk(&c->roots.v[i], &q, on_touched, g, NULL, err);
                }
                if (got < 0)
                        return -1;
        }
        return 0;
}

void story_changes_read(struct story *s, const struct store *store, const char *id)
{
        struct err err = {0};
        struct changes c = {0};
        struct timespec tick = {0};
        clock_getres(CLOCK_REALTIME_COARSE, &tick);
        struct gather g = {
                .s = s, .c = &c, .tick_us = (int64_t)tick.tv_sec * 1000000 + tick.tv_nsec / 1000};
        g.tick_us *= 2; /* a busy or virtual machine takes its tick late */
        struct story_frame frame;
        if (story_frame_of(store, id, &frame, &err) == 0)
                story_runs_close(s, &frame);
        if (changes_open(&c, store, id, 0, &err) < 0 || walk(&g, &err) < 0)
                snprintf(s->no_changes, sizeof s->no_changes, "%.250s", err.text);
        changes_close(&c);
        tell_shared(&g);
        free(g.marks);
        free(g.dir);
        if (s->changes_n)
                qsort(s->changes, s->changes_n, sizeof *s->changes, by_time);
}
