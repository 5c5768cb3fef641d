/* story_undo.c - what was applied of a box and taken back, as a list by time. Called by story.c. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/store.h"
#include "session/story.h"
#include "workspace/undo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

struct gather {
        struct story *s;
        const char *id;
};

static bool has_path(const struct story_filter *f, const struct undo_record *r)
{
        if (!f->path)
                return true;
        for (size_t i = 0; i < r->entries_n; i++)
                if (story_filter_path(f, r->v[i].path))
                        return true;
        return false;
}

static int on_record(void *ctx, const struct undo_record *r)
{
        struct gather *g = ctx;
        struct story *s = g->s;
        if (!r->box || strcmp(r->box, g->id) != 0)
                return 0;
        struct story_undo u = {.time_us = r->when_us,
                               .n = r->n,
                               .paths_n = r->entries_n,
                               .is_done = r->is_done,
                               .is_undone = r->is_undone};
        u.what = str_dup(r->what ? r->what : "");
        if (!story_filter_undo(s->filter, &u) || !story_filter_time(s->filter, u.time_us) ||
            !has_path(s->filter, r) || s->undos_n == STORY_UNDOS_MAX) {
                s->undos_more += s->undos_n == STORY_UNDOS_MAX;
                free(u.what);
                return 0;
        }
        u.root = str_dup(r->root ? r->root : "");
        u.first = str_dup(r->entries_n ? r->v[0].path : "");
        struct story_undo *v = reallocarray(s->undos, s->undos_n + 1, sizeof *v);
        if (!v)
                str_no_memory();
        s->undos = v;
        s->undos[s->undos_n++] = u;
        return 0;
}

static int by_time(const void *a, const void *b)
{
        const struct story_undo *x = a, *y = b;
        if (x->time_us != y->time_us)
                return x->time_us < y->time_us ? -1 : 1;
        return x->n < y->n ? -1 : x->n > y->n;
}

int story_undos_read(struct story *s, const struct store *store, const char *id, struct err *err)
{
        _cleanup_free_ char *place = str_fmt("%s/undo", store->state);
        _cleanup_close_ int fd = open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT)
                return 0;
        if (fd < 0)
                return err_sys(err, "open %s", place);
        struct gather g = {.s = s, .id = id};
        if (undo_list(fd, true, on_record, &g, err) < 0)
                return -1;
        if (s->undos_n)
                qsort(s->undos, s->undos_n, sizeof *s->undos, by_time);
        return 0;
}
