/* boxjson.c - see boxjson.h. */
#include "cli/boxjson.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/json.h"
#include "cli/envelope.h"
#include "cli/out.h"
#include "session/live.h"
#include "session/pending.h"
#include "session/store.h"

#include <stdio.h>

void boxjson_put(struct json *j, const struct store *store, const struct box_meta *m)
{
        bool has_ended = m->state == BOX_EXITED;
        json_open(j, NULL, '{');
        json_str(j, "id", m->id);
        json_str(j, "name", m->name);
        json_str(j, "state", box_state_name(m->state));
        json_str(j, "tier", m->tier);
        json_str(j, "profile", m->profile);
        json_str(j, "workspace", m->workspace);
        json_bool(j, "live", m->is_live);
        json_u64(j, "quarantined", live_quarantined(store, m->id));
        json_str(j, "command", m->command);
        envelope_time(j, "created", m->created_us);
        json_i64(j, "supervisor_pid", m->supervisor_pid);
        if (has_ended) {
                envelope_time(j, "ended", m->ended_us);
                json_i64(j, "exit_code", m->exit_code);
                json_str(j, "why", *m->end_words ? m->end_words : NULL);
        }
        json_bool(j, "has_changes", pending_holds(store, m));
        json_bool(j, "kept", m->is_kept);
        json_close(j, '}');
}

int boxjson_made(const struct store *store, const char *id, bool is_json)
{
        if (!is_json) {
                puts(id);
                return EXIT_OK;
        }
        struct err err = {0};
        struct box_meta m = {0};
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        _cleanup_close_ int dir = store_box_dir(store, id, &err);
        if (dir < 0 || store_meta_read(dir, id, &m, &err) < 0)
                return out_error(&err);
        boxjson_put(&j, store, &m);
        box_meta_free(&m);
        return out_json("box", &b);
}
