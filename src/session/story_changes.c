/* story_changes.c - the files that a box left changed, as a list by time. Called by story.c; reads
 * through session/changes.h and keeps no more than STORY_CHANGES_MAX. */
#include "base/err.h"
#include "base/str.h"
#include "session/changes.h"
#include "session/story.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct gather {
        struct story *s;
        const struct changes *c;
        int64_t tick_us;
};

static int64_t us_of(int64_t ns)
{
        return ns / 1000;
}

static void keep(struct story *s, const struct story_change *c)
{
        if ((s->changes_n & (s->changes_n - 1)) == 0) {
                size_t cap = s->changes_n ? s->changes_n * 2 : 1;
                struct story_change *v = reallocarray(s->changes, cap, sizeof *v);
                if (!v)
                        str_no_memory();
                s->changes = v;
        }
        s->changes[s->changes_n++] = *c;
}

static int on_change(void *ctx, const struct ws_change *w)
{
        struct gather *g = ctx;
        struct story *s = g->s;
        if (w->is_masked && changes_is_untouched(g->c, w))
                return 0; /* nothing of the box is in it */
        const struct ws_node *now = w->after.kind == WS_NONE ? &w->before : &w->after;
        struct story_change c = {
                .time_us = us_of(w->after.ctime_ns),
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
                .is_at_latest = w->after.kind == WS_NONE && w->after.nlink > 1,
        };
        c.order_us = c.time_us + g->tick_us;
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
        keep(s, &c);
        return 0;
}

static int by_time(const void *a, const void *b)
{
        const struct story_change *x = a, *y = b;
        if (x->order_us != y->order_us)
                return x->order_us < y->order_us ? -1 : 1;
        return strcmp(x->name, y->name);
}

static int walk(struct story *s, const struct changes *c, struct err *err)
{
        struct timespec tick = {0};
        clock_getres(CLOCK_REALTIME_COARSE, &tick);
        struct gather g = {
                .s = s, .c = c, .tick_us = (int64_t)tick.tv_sec * 1000000 + tick.tv_nsec / 1000};
        for (size_t i = 0; i < c->roots.n; i++) {
                struct ws_query q;
                struct ws_tally t = {0};
                if (!changes_query(c, i, &q))
                        continue;
                int got = ws_walk(&c->roots.v[i], &q, on_change, &g, &t, err);
                for (size_t j = 0; j < t.ignored_n; j++) {
                        s->ignored_n += t.ignored[j].files_n;
                        s->ignored_bytes += t.ignored[j].bytes;
                }
                ws_tally_free(&t);
                if (got < 0)
                        return -1;
        }
        return 0;
}

void story_changes_read(struct story *s, const struct store *store, const char *id)
{
        struct err err = {0};
        struct changes c = {0};
        if (changes_open(&c, store, id, 0, &err) < 0 || walk(s, &c, &err) < 0)
                snprintf(s->no_changes, sizeof s->no_changes, "%.250s", err.text);
        changes_close(&c);
        if (s->changes_n)
                qsort(s->changes, s->changes_n, sizeof *s->changes, by_time);
}
