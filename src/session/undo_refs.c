/* undo_refs.c - see undo_refs.h. */
#include "session/undo_refs.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <string.h>

static struct undo_writer *refs_writer(int undo_fd, const struct undo_head *head, uint64_t record,
                                       struct err *err)
{
        return record ? undo_again(undo_fd, record, err) : undo_begin(undo_fd, head, err);
}

int undo_refs_note(int undo_fd, const struct undo_head *head, const char *tree,
                   const struct git_move *v, size_t n, uint64_t *record, struct err *err)
{
        if (n == 0)
                return 0;
        struct undo_writer *w = refs_writer(undo_fd, head, *record, err);
        if (!w)
                return -1;
        for (size_t i = 0; i < n; i++) {
                struct undo_ref r = {.tree = (char *)(uintptr_t)tree,
                                     .name = v[i].ref,
                                     .from = (char *)(uintptr_t)v[i].from,
                                     .to = (char *)(uintptr_t)v[i].to};
                undo_ref_add(w, &r);
        }
        int rc = undo_sync(w, err);
        if (rc == 0 && *record == 0)
                rc = undo_done(w, err);
        *record = undo_number(w);
        undo_close(w);
        return rc;
}

/* refs_mark(undo_fd, of, by, err): a record that holds nothing but refs is taken back with them. */
static int refs_mark(int undo_fd, const struct undo_record *of, uint64_t by, struct err *err)
{
        if (of->entries_n)
                return 0;
        struct undo_writer *w = undo_again(undo_fd, of->n, err);
        if (!w)
                return -1;
        undo_undone(w, by, NULL);
        int rc = undo_sync(w, err);
        undo_close(w);
        return rc;
}

/* refs_one(undo_fd, of, r, is_dry, hooks, by, err): 1 moved, 0 left, -1. */
static int refs_one(int undo_fd, const struct undo_record *of, const struct undo_ref *r,
                    bool is_dry, const struct undo_refs_hooks *hooks, uint64_t *by, struct err *err)
{
        struct git_move move = {.ref = r->name}, back = {.ref = r->name};
        strncpy(move.from, r->from, GIT_ID_MAX);
        strncpy(move.to, r->to, GIT_ID_MAX);
        memcpy(back.from, move.to, sizeof back.from);
        memcpy(back.to, move.from, sizeof back.to);
        _cleanup_free_ char *why = NULL;
        int may = git_land_back(r->tree, &move, true, &why, err);
        if (may > 0 && !is_dry) {
                struct undo_head head = {.what = "undo",
                                         .box = *of->box ? of->box : NULL,
                                         .layer = *of->layer ? of->layer : NULL,
                                         .root = of->root,
                                         .dev = of->dev,
                                         .ino = of->ino,
                                         .of = of->n};
                may = undo_refs_note(undo_fd, &head, r->tree, &back, 1, by, err) < 0
                              ? -1
                              : git_land_back(r->tree, &move, false, &why, err);
        }
        if (may > 0 && hooks->on_done)
                hooks->on_done(hooks->arg, r, *r->from == 0);
        if (may == 0 && hooks->on_left)
                hooks->on_left(hooks->arg, r, why ? why : "");
        return may;
}

int undo_refs_back(int undo_fd, const struct undo_record *of, bool is_dry,
                   const struct undo_refs_hooks *hooks, uint64_t *by, struct err *err)
{
        if (of->refs_n == 0)
                return 0;
        _cleanup_close_ int lock = is_dry ? -1 : undo_lock(undo_fd, err);
        if (!is_dry && lock < 0)
                return -1;
        size_t moved_n = 0;
        for (size_t i = of->refs_n; i-- > 0;) {
                int rc = refs_one(undo_fd, of, &of->refs[i], is_dry, hooks, by, err);
                if (rc < 0)
                        return -1;
                moved_n += rc > 0;
        }
        return moved_n && !is_dry ? refs_mark(undo_fd, of, *by, err) : 0;
}
