/* story.c - see story.h: three sources, each sorted by itself, told as one. */
#include "session/story.h"

#include "audit/audit.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "session/settle.h"
#include "session/store.h"
#include "session/story_time.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int story_open(struct story *s, const struct store *store, const char *id,
               const struct story_filter *filter, struct err *err)
{
        *s = (struct story){.filter = filter, .log.fd = -1};
        _cleanup_close_ int dir = store_box_dir(store, id, err);
        if (dir < 0)
                return -1;
        session_settle(store, id);
        if (story_log_begin(s, dir, err) < 0)
                return -1;
        if (story_filter_wants_undos(filter) && story_undos_read(s, store, id, err) < 0)
                return -1;
        if (story_filter_wants_changes(filter))
                story_changes_read(s, store, id);
        return 0;
}

static void take_undo(struct story *s, struct story_event *e)
{
        const struct story_undo *u = &s->undos[s->undos_at++];
        *e = (struct story_event){.time_us = u->time_us,
                                  .source = STORY_UNDO,
                                  .group = STORY_REVIEW,
                                  .kind = u->what,
                                  .undo = u};
}

static void take_change(struct story *s, struct story_event *e)
{
        const struct story_change *c = &s->changes[s->changes_at++];
        *e = (struct story_event){.time_us = c->time_us,
                                  .source = STORY_FILE,
                                  .group = STORY_FILES,
                                  .kind = "change",
                                  .change = c};
}

int story_next(struct story *s, struct story_event *e, struct err *err)
{
        int64_t log_us = 0;
        int got = story_log_peek(s, &log_us, err);
        if (got < 0)
                return -1;
        while (s->changes_at < s->changes_n && s->changes[s->changes_at].is_told)
                s->changes_at++;
        const struct story_undo *u = s->undos_at < s->undos_n ? &s->undos[s->undos_at] : NULL;
        const struct story_change *c =
                s->changes_at < s->changes_n ? &s->changes[s->changes_at] : NULL;
        if (got && (!u || log_us <= u->time_us) && (!c || log_us <= c->time_us))
                return story_log_take(s, e, err);
        if (u && (!c || u->time_us <= c->time_us)) {
                take_undo(s, e);
                return 1;
        }
        if (c) {
                take_change(s, e);
                return 1;
        }
        return 0;
}

void story_changes_free(struct story_change *v, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                free(v[i].name);
                free(v[i].from);
        }
        free(v);
}

void story_undos_free(struct story_undo *v, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                free(v[i].what);
                free(v[i].root);
                free(v[i].first);
        }
        free(v);
}

void story_close(struct story *s)
{
        audit_log_close(&s->log);
        buf_free(&s->late_line);
        buf_free(&s->late_strings);
        free(s->late);
        free(s->runs);
        story_changes_free(s->changes, s->changes_n);
        story_undos_free(s->undos, s->undos_n);
        *s = (struct story){.log.fd = -1};
}

int story_frame_of(const struct store *store, const char *id, struct story_frame *f,
                   struct err *err)
{
        struct box_meta m;
        struct stat log;
        _cleanup_close_ int dir = store_box_dir(store, id, err);
        if (dir < 0 || store_meta_read(dir, id, &m, err) < 0)
                return -1;
        f->now_us = (int64_t)clock_real_us();
        f->begin_us = m.created_us;
        f->end_us = f->now_us;
        if (m.state == BOX_EXITED && m.ended_us)
                f->end_us = m.ended_us;
        /* Its supervisor was killed, so nobody noted the end; the writer of its log ended with it.
         */
        if (m.state == BOX_DEAD && fstatat(dir, AUDIT_FILE, &log, AT_SYMLINK_NOFOLLOW) == 0)
                f->end_us = (int64_t)log.st_mtim.tv_sec * 1000000 + log.st_mtim.tv_nsec / 1000;
        box_meta_free(&m);
        return 0;
}
