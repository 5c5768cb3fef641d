/* timeline_json.c - see timeline.h. A record is passed on as it stands in the log, which is JSON of
 * our own writing with everything escaped that a terminal would act on. */
#include "base/buf.h"
#include "base/json.h"
#include "cli/story_text.h"
#include "cli/timeline.h"
#include "session/story.h"
#include "session/story_time.h"

#include <stdio.h>

void timeline_json_change(struct json *j, const char *key, const struct story_change *c)
{
        char mode[16], t[STORY_TIME_LEN];
        json_open(j, key, '{');
        json_str(j, "path", c->name);
        if (c->from)
                json_str(j, "from", c->from);
        json_str(j, "what", ws_what_name(c->what));
        json_str(j, "class", file_class_name(c->class));
        if (*c->why)
                json_str(j, "why", c->why);
        static const char *const kinds[] = {"none", "file", "directory", "link", "special"};
        json_str(j, "type", kinds[c->kind]);
        snprintf(mode, sizeof mode, "%04o", (unsigned)c->mode & 07777);
        json_str(j, "mode", mode);
        json_u64(j, "size", c->size);
        if (story_text_is_odd_time(c))
                json_str(j, "mtime", story_time_utc(c->mtime_us, t));
        if (c->refused)
                json_str(j, "refused", c->refused);
        if (c->is_applied)
                json_bool(j, "applied", true);
        if (c->is_at_latest)
                json_bool(j, "at_latest", true);
        if (c->is_odd)
                json_bool(j, "odd_name", true);
        if (c->is_masked)
                json_bool(j, "masked", true);
        json_close(j, '}');
}

static void put_undo(struct json *j, const struct story_undo *u)
{
        json_open(j, "undo", '{');
        json_u64(j, "number", u->n);
        json_str(j, "root", u->root);
        json_u64(j, "paths", u->paths_n);
        json_bool(j, "done", u->is_done);
        json_bool(j, "undone", u->is_undone);
        json_close(j, '}');
}

void timeline_json(struct buf *out, const struct story_event *e)
{
        char t[STORY_TIME_LEN];
        struct json j = json_of(out);
        json_open(&j, NULL, '{');
        json_str(&j, "time", story_time_utc(e->time_us, t));
        json_str(&j, "kind", e->kind);
        json_str(&j, "group", story_group_name(e->group));
        if (e->change)
                timeline_json_change(&j, "change", e->change);
        if (e->undo)
                put_undo(&j, e->undo);
        if (e->record) {
                buf_put_str(out, ",\"record\":");
                buf_put(out, e->line, e->line_len);
        }
        json_close(&j, '}');
}
