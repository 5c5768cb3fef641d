/* cmd_gc.c - `ostiary gc`: remove what killed processes left behind. Never touches a living box,
 * nor a box that holds changes. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/boxend.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "cli/undo_conf.h"
#include "session/ca.h"
#include "session/etcmask.h"
#include "session/home.h"
#include "session/opts.h"
#include "session/pending.h"
#include "session/secret_mask.h"
#include "session/snapshots.h"
#include "session/store.h"

#include <stdio.h>
#include <stdlib.h>

struct swept {
        struct strs boxes; /* removed */
        size_t kept_n;     /* dead, but with changes or asked for */
        size_t homes_n;
        size_t masks_n;
        size_t frozen_n; /* frozen layers that nobody listed any more */
        uint64_t frozen_bytes;
        uint64_t own_bytes, shared_bytes; /* of those that stay */
        size_t layers_n;
        unsigned long authorities_n;
        uint64_t records_n, records_bytes; /* of undo: too old or too many */
        int groups_n, halves_n;
};

/* was_asked_for(s, id): did its user say that it shall stay? */
static bool was_asked_for(const struct store *s, const char *id)
{
        struct session_opts o = {0};
        _cleanup_close_ int dir = store_box_dir(s, id, NULL);
        if (dir < 0 || session_opts_load(&o, dir, NULL) < 0)
                return true;
        bool is_so = o.is_kept || o.is_waiting;
        session_opts_free(&o);
        return is_so;
}

/* holds(m): is there something in the box that its user may want? After a kill nobody wrote down
 * whether there are changes, so it is looked up in the layers. */
static bool holds(const struct store *s, const struct box_meta *m)
{
        /* Kept because of its changes alone, and all of them applied: nothing is lost with it. */
        if (m->was_written && !was_asked_for(s, m->id))
                return pending_any(s, m->id, NULL) != 0;
        if (m->is_kept || m->was_written)
                return true;
        if (m->state != BOX_DEAD)
                return false;
        _cleanup_close_ int dir = store_box_dir(s, m->id, NULL);
        _cleanup_close_ int lock = dir < 0 ? -1 : store_box_lock(dir, NULL);
        if (lock < 0)
                return true; /* somebody has just woken it */
        secret_mask_end(dir);
        return store_box_has_changes(dir);
}

static int sweep_boxes(const struct store *s, struct swept *w, struct err *err)
{
        struct box_meta *all;
        size_t n;
        if (store_list(s, &all, &n, err) < 0)
                return -1;
        for (size_t i = 0; i < n; i++) {
                if (all[i].state != BOX_DEAD && all[i].state != BOX_EXITED)
                        continue;
                if (holds(s, &all[i])) {
                        w->kept_n++;
                } else if (store_remove(s, all[i].id, err) == 0) {
                        strs_add(&w->boxes, all[i].id);
                }
        }
        store_list_free(all, n);
        return 0;
}

/* count(b, n, one, many): ", 3 boxes"; nothing for none. */
static void count(struct buf *b, size_t n, const char *one, const char *many)
{
        if (n)
                buf_put_fmt(b, "%s%zu %s", b->len ? ", " : "", n, n == 1 ? one : many);
}

static int print(const struct swept *w, bool is_json)
{
        if (!is_json) {
                for (size_t i = 0; i < w->boxes.n; i++)
                        puts(w->boxes.v[i]);
                _cleanup_buf_ struct buf words = {0};
                char size[16];
                count(&words, w->boxes.n, "box", "boxes");
                count(&words, (size_t)w->halves_n, "half-removed box", "half-removed boxes");
                count(&words, (size_t)w->groups_n, "control group", "control groups");
                count(&words, w->homes_n, "old home layer", "old home layers");
                count(&words, w->frozen_n, "frozen layer", "frozen layers");
                if (w->frozen_n)
                        buf_put_fmt(&words, " (%s)", str_size_words(w->frozen_bytes, size));
                count(&words, (size_t)w->records_n, "old record of undo", "old records of undo");
                out_say("removed %s%s", words.len ? buf_cstr(&words) : "nothing",
                        w->kept_n ? "" : "; no ended box is kept");
                if (w->kept_n)
                        out_say("%zu ended %s (ostiary ps -a)", w->kept_n,
                                w->kept_n == 1 ? "box holds something and stays"
                                               : "boxes hold something and stay");
                return EXIT_OK;
        }
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        json_open(&j, NULL, '{');
        json_open(&j, "boxes", '[');
        for (size_t i = 0; i < w->boxes.n; i++)
                json_str(&j, NULL, w->boxes.v[i]);
        json_close(&j, ']');
        json_i64(&j, "half_removed", w->halves_n);
        json_i64(&j, "control_groups", w->groups_n);
        json_u64(&j, "home_layers", w->homes_n);
        json_u64(&j, "etc_masks", w->masks_n);
        json_u64(&j, "authorities", w->authorities_n);
        json_u64(&j, "undo_records", w->records_n);
        json_u64(&j, "undo_bytes", w->records_bytes);
        json_u64(&j, "frozen_layers", w->frozen_n);
        json_u64(&j, "frozen_bytes", w->frozen_bytes);
        json_open(&j, "frozen", '{');
        json_u64(&j, "layers", w->layers_n);
        json_u64(&j, "bytes", w->own_bytes + w->shared_bytes);
        json_u64(&j, "own_bytes", w->own_bytes);
        json_u64(&j, "shared_bytes", w->shared_bytes);
        json_close(&j, '}');
        json_u64(&j, "kept", w->kept_n);
        json_close(&j, '}');
        return out_json("gc", &b);
}

/* sweep_frozen(s, w, is_counted, err): layers that no box and no snapshot lists; and how large the
 * others are, each counted once. */
static int sweep_frozen(const struct store *s, struct swept *w, bool is_counted, struct err *err)
{
        struct snapshot_layer *v = NULL;
        if (snapshots_gc(s, &w->frozen_n, &w->frozen_bytes, err) < 0 ||
            (is_counted && snapshots_layers(s, &v, &w->layers_n, err) < 0))
                return -1;
        for (size_t i = 0; v && i < w->layers_n; i++)
                *(v[i].users_n > 1 ? &w->shared_bytes : &w->own_bytes) += v[i].bytes;
        free(v);
        return 0;
}

static int run(int argc, char **argv)
{
        bool is_json = false;
        const struct arg flags[] = {ARG_BOOL(0, "json", &is_json, "as JSON"), ARG_END};
        struct args a = args_of(&cmd_gc, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 0, 0) < 0)
                return a.exit_code;
        struct err err = {0};
        struct store s;
        struct swept w = {0};
        if (store_open(&s, &err) < 0)
                return out_error(&err);
        out_wait("looking for what was left behind");
        int code = EXIT_OK;
        if (sweep_boxes(&s, &w, &err) < 0)
                code = out_error(&err);
        w.halves_n = store_sweep(&s, NULL);
        if (sweep_frozen(&s, &w, is_json, &err) < 0)
                code = out_error(&err);
        w.groups_n = boxend_sweep_groups(&s);
        if (home_gc(s.data, &w.homes_n, &err) < 0)
                code = out_error(&err);
        if (etcmask_gc(&s, &w.masks_n, &err) < 0)
                code = out_error(&err);
        if (ca_gc(&s, &w.authorities_n, &err) < 0)
                code = out_error(&err);
        if (undo_conf_gc(&s, &w.records_n, &w.records_bytes, &err) < 0)
                code = out_error(&err);
        out_wait(NULL);
        int printed = print(&w, is_json);
        strs_free(&w.boxes);
        store_free(&s);
        return code ? code : printed;
}

const struct cmd cmd_gc = {
        .name = "gc",
        .group = CMD_BOX,
        .args = "[--json]",
        .summary = "remove what killed boxes left behind",
        .help = "Removes boxes that have ended and hold no changes, control groups without a box, "
                "and home "
                "and frozen layers that no box and no snapshot uses any more. Boxes with changes "
                "stay until `ostiary rm`.\n"
                "\n"
                "Example:\n"
                "  ostiary gc\n",
        .run = run,
};
