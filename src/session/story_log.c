/* story_log.c - the records of a log by time, though it is written in another order: a request's
 * record is written when it ends and tells of when it began.
 *
 * Called by story.c. The log is read twice. First to find the records that are late, which are
 * those whose time lies before that of a record written earlier: what is not late is in order
 * already. Then to tell both, the late ones fetched where they stand. So memory grows with the late
 * ones only, and the order is exact however late one comes. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/story.h"
#include "session/story_time.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct story_late {
        int64_t time_us;
        uint64_t at;
        uint32_t len;
};

/* place(s, r, us): the record's time, and whether it is late. Both readings go through here. */
static bool place(struct story *s, const struct audit_record *r, int64_t *us)
{
        if (story_time_of(r->time, us) < 0)
                *us = s->high_us; /* says no time: it stays where it stands */
        if (*us < s->high_us)
                return true;
        s->high_us = *us;
        return false;
}

static bool is_wanted(const struct story *s, const struct audit_record *r, int64_t us)
{
        return story_filter_time(s->filter, us) && story_filter_record(s->filter, r);
}

static void note_late(struct story *s, int64_t us)
{
        if (s->late_n == STORY_LATE_MAX || s->log.line_len > UINT32_MAX)
                return;
        if ((s->late_n & (s->late_n - 1)) == 0) { /* at every power of two */
                size_t cap = s->late_n ? s->late_n * 2 : 1;
                struct story_late *v = reallocarray(s->late, cap, sizeof *v);
                if (!v)
                        str_no_memory();
                s->late = v;
        }
        s->late[s->late_n++] = (struct story_late){
                .time_us = us, .at = s->log.line_at, .len = (uint32_t)s->log.line_len};
}

static int by_time(const void *a, const void *b)
{
        const struct story_late *x = a, *y = b;
        if (x->time_us != y->time_us)
                return x->time_us < y->time_us ? -1 : 1;
        return x->at < y->at ? -1 : x->at > y->at;
}

int story_log_begin(struct story *s, int dir_fd, struct err *err)
{
        struct audit_record r;
        int64_t us;
        int got;
        if (audit_log_open(&s->log, dir_fd, err) < 0)
                return -1;
        s->log.is_unchained = true; /* verifying is another question: audit verify */
        s->high_us = INT64_MIN;
        while ((got = audit_log_next(&s->log, &r, err)) > 0) {
                s->end_at = s->log.line_at + s->log.line_len + 1;
                bool is_late = place(s, &r, &us);
                story_runs_note(s, &r, us);
                if (is_late && is_wanted(s, &r, us))
                        note_late(s, us);
        }
        audit_log_close(&s->log);
        if (got < 0 || audit_log_open(&s->log, dir_fd, err) < 0)
                return -1;
        s->log.is_unchained = true;
        if (s->late_n)
                qsort(s->late, s->late_n, sizeof *s->late, by_time);
        s->high_us = INT64_MIN;
        return 0;
}

/* advance(s, err): the next wanted record that is not late, into ${record}. 1, 0, -1. */
static int advance(struct story *s, struct err *err)
{
        int got = 0;
        int64_t us;
        if (s->has_beyond && !s->is_following)
                return 0;
        while (!s->has_record &&
               (s->has_beyond || (got = audit_log_next(&s->log, &s->record, err)) > 0)) {
                s->has_beyond = s->log.line_at >= s->end_at;
                if (s->has_beyond)
                        return 0; /* written since: a later story tells it */
                bool is_late = place(s, &s->record, &us);
                if (s->is_following)
                        story_runs_note(s, &s->record, us);
                else if (is_late)
                        continue;
                if (us > s->filter->until_us)
                        return 0; /* those in order only get later */
                if (is_wanted(s, &s->record, us)) {
                        s->record_us = us;
                        s->has_record = true;
                }
        }
        return s->has_record ? 1 : got;
}

/* fetch(s, err): the late record whose turn it is, from where it stands. */
static int fetch(struct story *s, struct err *err)
{
        const struct story_late *l = &s->late[s->late_at];
        s->late_line.len = 0;
        uint8_t *p = buf_room(&s->late_line, l->len);
        if (!p || pread(s->log.fd, p, l->len, (off_t)l->at) != (ssize_t)l->len)
                return err_set(err, E_INPUT, "the log was changed while it was read");
        if (audit_record_parse((const char *)p, l->len, &s->late_record, &s->late_strings) < 0)
                return err_set(err, E_INPUT, "the log was changed while it was read");
        return 0;
}

/* is_late_next(s): does the late one come before the one in order? Equal times: it was written
 * later, so no. */
static bool is_late_next(const struct story *s)
{
        return s->late_at < s->late_n &&
               (!s->has_record || s->late[s->late_at].time_us < s->record_us);
}

int story_log_peek(struct story *s, int64_t *us, struct err *err)
{
        int got = advance(s, err);
        if (got < 0)
                return -1;
        if (is_late_next(s))
                *us = s->late[s->late_at].time_us;
        else if (s->has_record)
                *us = s->record_us;
        else
                return 0;
        return 1;
}

int story_log_take(struct story *s, struct story_event *e, struct err *err)
{
        *e = (struct story_event){.source = STORY_LOG};
        if (is_late_next(s)) {
                if (fetch(s, err) < 0)
                        return -1;
                e->time_us = s->late[s->late_at++].time_us;
                e->record = &s->late_record;
                e->line = (const char *)s->late_line.data;
                e->line_len = s->late_line.len;
        } else {
                s->has_record = false;
                e->time_us = s->record_us;
                e->record = &s->record;
                e->line = s->log.line;
                e->line_len = s->log.line_len;
        }
        e->kind = e->record->kind;
        e->group = story_group_of(e->kind);
        return 1;
}
