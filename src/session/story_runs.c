/* story_runs.c - when a box was there, for the times of its changes. Called by story_log.c, which
 * finds the beginnings and ends in the log, and by story_changes.c.
 *
 * A box changes files only while it is there. The kernel notes a change up to two ticks early, and
 * our own work on the layers of an ended box (freezing, taking a turn back) may move a time past
 * its end: both are mended here. */
#include "base/str.h"
#include "session/story.h"
#include "session/story_time.h"

#include <stdlib.h>
#include <string.h>

static void runs_add(struct story *s, int64_t begin_us, int64_t end_us)
{
        if (s->runs_n == STORY_RUNS_MAX)
                return;
        if (!s->runs || (s->runs_n & (s->runs_n - 1)) == 0) { /* at every power of two */
                size_t cap = s->runs_n ? s->runs_n * 2 : 1;
                struct story_run *v = reallocarray(s->runs, cap, sizeof *v);
                if (!v)
                        str_no_memory();
                s->runs = v;
        }
        s->runs[s->runs_n++] = (struct story_run){.begin_us = begin_us, .end_us = end_us};
}

void story_runs_note(struct story *s, const struct audit_record *r, int64_t us)
{
        struct story_run *last = s->runs_n ? &s->runs[s->runs_n - 1] : NULL;
        if (strcmp(r->kind, "box") != 0)
                return;
        bool is_begin = strcmp(r->method, "start") == 0 || strcmp(r->method, "wake") == 0;
        if (is_begin && (!last || last->end_us != INT64_MAX || last->begin_us > us))
                runs_add(s, us, INT64_MAX);
        else if (strcmp(r->method, "end") == 0 && last && last->end_us == INT64_MAX)
                last->end_us = us;
}

void story_runs_close(struct story *s, const struct story_frame *f)
{
        if (!s->runs_n)
                runs_add(s, f->begin_us, INT64_MAX);
        struct story_run *last = &s->runs[s->runs_n - 1];
        /* The record of the end is written after the box has ended. Woken to be looked at, a box
         * keeps the end of its command, which lies before this run. */
        if (f->end_us >= last->begin_us && f->end_us < last->end_us)
                last->end_us = f->end_us;
        if (f->now_us >= last->begin_us && f->now_us < last->end_us)
                last->end_us = f->now_us;
}

int64_t story_runs_bound(const struct story *s, int64_t ctime_us, int64_t later_us)
{
        /* The last run that had begun by then. */
        size_t low = 0, high = s->runs_n;
        while (low < high) {
                size_t mid = low + (high - low) / 2;
                if (s->runs[mid].begin_us <= ctime_us)
                        low = mid + 1;
                else
                        high = mid;
        }
        int64_t told = ctime_us + later_us;
        if (low == 0 || told < s->runs[low - 1].end_us)
                return told;
        /* One before the end, so that it stands before the record of that. */
        const struct story_run *r = &s->runs[low - 1];
        return r->end_us > r->begin_us ? r->end_us - 1 : r->begin_us;
}
