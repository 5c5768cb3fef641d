/* story_follow.c - a story that goes on: what a living box does after the story of it was told.
 * Called by timeline -f, again and again.
 *
 * Records come as they are written, not by time any more: whoever waits does not want to wait for
 * what may still come from before. Changed files and undos are looked for anew, and what was told
 * already is known by its name and time; a file that changes twice is told twice. */
#include "base/cleanup.h"
#include "base/err.h"
#include "session/store.h"
#include "session/story.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
        const struct story_change *x = a, *y = b;
        int names = strcmp(x->name, y->name);
        if (names)
                return names;
        if (x->ctime_us != y->ctime_us)
                return x->ctime_us < y->ctime_us ? -1 : 1;
        return (x->what > y->what) - (x->what < y->what);
}

/* is_known(old, n, c): was it told? */
static bool is_known(const struct story_change *old, size_t n, const struct story_change *c)
{
        return n && bsearch(c, old, n, sizeof *old, by_name);
}

static void look_at_changes(struct story *s, const struct store *store, const char *id)
{
        struct story_change *old = s->changes;
        size_t n = s->changes_n;
        s->changes = NULL;
        s->changes_n = s->changes_at = 0;
        s->changes_more = s->ignored_n = s->ignored_bytes = 0;
        s->no_changes[0] = '\0';
        story_changes_read(s, store, id);
        if (n)
                qsort(old, n, sizeof *old, by_name);
        for (size_t i = 0; i < s->changes_n; i++)
                s->changes[i].is_told = is_known(old, n, &s->changes[i]);
        story_changes_free(old, n);
}

static int look_at_undos(struct story *s, const struct store *store, const char *id,
                         struct err *err)
{
        uint64_t last = 0;
        for (size_t i = 0; i < s->undos_n; i++)
                last = s->undos[i].n > last ? s->undos[i].n : last;
        story_undos_free(s->undos, s->undos_n);
        s->undos = NULL;
        s->undos_n = s->undos_at = 0;
        s->undos_more = 0;
        if (story_undos_read(s, store, id, err) < 0)
                return -1;
        while (s->undos_at < s->undos_n && s->undos[s->undos_at].n <= last)
                s->undos_at++;
        return 0;
}

int story_go_on(struct story *s, const struct store *store, const char *id, bool with_files,
                struct err *err)
{
        _cleanup_close_ int dir = store_box_dir(store, id, err);
        if (dir < 0)
                return -1;
        /* The first record of a box makes its log. */
        if (s->log.fd < 0) {
                audit_log_close(&s->log);
                if (audit_log_open(&s->log, dir, err) < 0)
                        return -1;
                s->log.is_unchained = true;
        }
        s->is_following = true;
        s->end_at = UINT64_MAX;
        if (with_files && story_filter_wants_undos(s->filter) &&
            look_at_undos(s, store, id, err) < 0)
                return -1;
        if (with_files && story_filter_wants_changes(s->filter))
                look_at_changes(s, store, id);
        return 0;
}
