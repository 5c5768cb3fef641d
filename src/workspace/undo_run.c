/* undo_run.c - put back what a record replaced. It lands like an apply and is recorded like one, so
 * an undo can be undone. A path that is not as the record left it is the user's: asked first. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "workspace/apply_int.h"
#include "workspace/box_roots.h"
#include "workspace/objects.h"
#include "workspace/undo.h"
#include "workspace/undo_int.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

struct run {
        const struct undo_opts *opts;
        struct undo_result *result;
        struct undo_record record;
        struct undo_land land;
        int objects_fd;
        mode_t new_dirs;         /* of directories that are gone meanwhile */
        struct applied *applied; /* of the box, or NULL */
        struct buf notes;        /* for its `applied`, before anything lands */
};

static int open_root(const struct undo_record *r, struct err *err)
{
        _cleanup_close_ int fd = open(r->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
                return err_set(err, E_INPUT,
                               "%s, which record %" PRIu64
                               " belongs to, is not there any more; nothing was done (move it back "
                               "and try again)",
                               r->root, r->n);
        if (fd < 0)
                return err_sys(err, "open %s", r->root);
        if ((r->dev || r->ino) && !ws_roots_is_same(fd, r->dev, r->ino, r->when_us * 1000 + 999))
                return err_set(err, E_INPUT,
                               "%s is another directory now than the one record %" PRIu64
                               " belongs to; nothing was done",
                               r->root, r->n);
        return take_fd(&fd);
}

static bool is_wanted(const struct undo_opts *o, const char *path)
{
        if (!o->paths)
                return true;
        for (size_t i = 0; i < o->paths->n; i++)
                if (!*o->paths->v[i] || str_is_beneath(path, o->paths->v[i]))
                        return true;
        return false;
}

static const char *words_of(const struct undo_state *now, const struct undo_state *then)
{
        if (then->kind == '-')
                return "removed";
        return now->kind == '-' ? "put back" : "restored";
}

static void left(struct run *u, const char *path, const char *why)
{
        u->result->left_n++;
        if (u->opts->on_left)
                u->opts->on_left(u->opts->arg, path, why);
}

/* may(u, e, now): is it as the record left it, or does the user say yes? NULL, or why not. */
static const char *why_not(const struct run *u, const struct undo_entry *e,
                           const struct undo_state *now)
{
        const char *why = NULL;
        if (e->before.kind == '?' || e->before.kind == 's')
                return "the record does not know what was there";
        if (now->kind == 's')
                return "something that is no file, directory or link is there now";
        if (e->before.kind == 'f' && !objects_has(u->objects_fd, e->before.sha))
                return "what it held is not kept any more";
        if (e->after.kind == '?')
                why = "the run ended without saying what it left there";
        else if (now->kind == '-' && e->after.kind != '-')
                why = "it was deleted since";
        else if (!undo_state_same(now, &e->after))
                why = "it was changed since";
        if (!why || (u->opts->may_replace && u->opts->may_replace(u->opts->arg, e->path, why)))
                return NULL;
        return why;
}

/* note(u, path, then): for the box, before it lands. What is taken back is pending whatever moment
 * we are killed in: until it has landed both sides are equal, and that is no change. What is done
 * again is pending until it has landed. */
static void note(struct run *u, const char *path, const struct undo_state *then)
{
        static const struct undo_state unknown = {.kind = '?'};
        if (u->applied)
                applied_put_host(&u->notes, u->record.layer, path,
                                 applied_is_put(u->applied, u->record.layer, path, then) ? &unknown
                                                                                         : then);
}

/* plan(u, e): what is to be done for one entry. */
static int plan(struct run *u, struct undo_entry *e, struct err *err)
{
        struct undo_state now, kept, then;
        struct undo_ident id, again;
        if (undo_state_of(u->land.root_fd, e->path, -1, &now, &id, err) < 0)
                return -1;
        bool is_there = undo_state_same(&now, &e->before) &&
                        (now.kind != 'd' || now.mode == e->before.mode);
        const char *why = is_there ? NULL : why_not(u, e, &now);
        if (is_there || why) {
                undo_state_free(&now);
                e->is_undone = is_there;
                if (why)
                        left(u, e->path, why);
                else if (!u->opts->is_dry)
                        note(u, e->path, &e->before);
                return 0;
        }
        if (u->opts->is_dry) {
                u->result->done_n++;
                if (u->opts->on_done)
                        u->opts->on_done(u->opts->arg, e->path, words_of(&now, &e->before));
                undo_state_free(&now);
                return 0;
        }
        if (undo_state_of(u->land.root_fd, e->path, u->objects_fd, &kept, &again, err) < 0) {
                undo_state_free(&now);
                return -1;
        }
        bool is_steady = id.ino == again.ino && id.ctime_ns == again.ctime_ns;
        undo_state_free(&now);
        if (!is_steady) {
                undo_state_free(&kept);
                left(u, e->path, "it was changed at this moment");
                return 0;
        }
        note(u, e->path, &e->before);
        undo_state_copy(&then, &e->before);
        undo_land_add(&u->land, e->path, &kept, &then, &again)->user = e;
        return 0;
}

static int fill(void *arg, const struct undo_op *op, int dst_fd, char sha[SHA256_HEX_LEN + 1],
                uint64_t *size, struct err *err)
{
        struct run *u = arg;
        struct stat st;
        if (objects_get(u->objects_fd, op->after.sha, dst_fd, err) < 0)
                return -1;
        if (fstat(dst_fd, &st) < 0)
                return err_sys(err, "look at what was restored");
        memcpy(sha, op->after.sha, SHA256_HEX_LEN + 1);
        *size = (uint64_t)st.st_size;
        return 0;
}

static mode_t mode_of(void *arg, const char *path)
{
        const struct run *u = arg;
        (void)path;
        return u->new_dirs;
}

/* mark(u, undo_fd, by): what of the old record is taken back now, by record ${by}, or by nobody (0)
 * because it was as before already. */
static int mark(struct run *u, int undo_fd, uint64_t by, struct err *err)
{
        struct undo_record *r = &u->record;
        struct undo_writer *w = undo_again(undo_fd, r->n, err);
        if (!w)
                return -1;
        bool is_all = true;
        for (size_t i = 0; i < r->entries_n; i++)
                is_all = is_all && (r->v[i].is_undone || r->v[i].is_skipped);
        if (is_all)
                undo_undone(w, by, NULL);
        for (size_t i = 0; !is_all && i < r->entries_n; i++)
                if (r->v[i].is_undone)
                        undo_undone(w, by, r->v[i].path);
        int done = undo_sync(w, err);
        undo_close(w);
        return done;
}

/* tell(u): what became of each. */
static int tell(struct run *u, int undo_fd, struct err *err)
{
        const struct undo_record *r = &u->record;
        uint64_t by = undo_number(u->land.writer);
        for (size_t i = 0; i < u->land.n; i++) {
                const struct undo_op *op = &u->land.v[i];
                struct undo_entry *e = op->user;
                if (op->landing == UNDO_LEFT) {
                        left(u, op->path, op->why);
                } else if (op->landing == UNDO_LANDED) {
                        u->result->done_n++;
                        if (e)
                                e->is_undone = true;
                        if (u->applied)
                                applied_put_host(&u->notes, r->layer, op->path, &op->after);
                        if (u->opts->on_done)
                                u->opts->on_done(u->opts->arg, op->path,
                                                 words_of(&op->before, &op->after));
                }
        }
        return mark(u, undo_fd, by, err);
}

static int land(struct run *u, int undo_fd, struct err *err)
{
        const struct undo_record *r = &u->record;
        if (undo_land_parents(&u->land, mode_of, err) < 0)
                return -1;
        struct undo_head h = {
                .what = "undo",
                .box = *r->box ? r->box : NULL,
                .layer = *r->layer ? r->layer : NULL,
                .root = r->root,
                .dev = r->dev,
                .ino = r->ino,
                .of = r->n,
        };
        struct undo_writer *w = undo_begin(undo_fd, &h, err);
        if (!w)
                return -1;
        u->land.writer = w;
        u->result->record_n = undo_number(w);
        int ran = u->applied ? applied_append(u->opts->box_dir_fd, &u->notes, err) : 0;
        u->notes.len = 0;
        if (ran == 0)
                ran = undo_land_run(&u->land, err);
        int told = tell(u, undo_fd, ran == 0 ? err : NULL);
        if (ran == 0 && told == 0)
                told = undo_done(w, err);
        if (u->result->done_n == 0) {
                u->result->record_n = 0;
                undo_drop(w);
        } else {
                undo_close(w);
        }
        return ran < 0 ? ran : told;
}

static int plan_all(struct run *u, struct err *err)
{
        struct undo_record *r = &u->record;
        size_t wanted_n = 0;
        for (size_t i = 0; i < r->entries_n; i++) {
                struct undo_entry *e = &r->v[i];
                if (e->is_skipped || !is_wanted(u->opts, e->path))
                        continue;
                wanted_n++;
                if (!e->is_undone && plan(u, e, err) < 0)
                        return -1;
        }
        if (u->opts->paths && wanted_n == 0)
                return err_set(err, E_ABSENT, "record %" PRIu64 " did not touch that path", r->n);
        return 0;
}

int undo_run(int undo_fd, uint64_t n, const struct undo_opts *opts, struct undo_result *result,
             struct err *err)
{
        struct run u = {.opts = opts, .result = result, .objects_fd = -1};
        *result = (struct undo_result){0};
        _cleanup_close_ int lock = undo_lock(undo_fd, err);
        if (lock < 0 || undo_read(undo_fd, n, &u.record, err) < 0)
                return -1;
        _cleanup_close_ int root_fd = open_root(&u.record, err);
        _cleanup_close_ int objects_fd = undo_objects(undo_fd, err);
        mode_t mask = umask(022);
        (void)umask(mask);
        u.new_dirs = 0777 & ~mask;
        u.objects_fd = objects_fd;
        u.land =
                (struct undo_land){.root_fd = root_fd, .undo_fd = undo_fd, .fill = fill, .arg = &u};
        int r = root_fd < 0 || objects_fd < 0 ? -1 : 0;
        if (r == 0 && !opts->is_dry)
                r = undo_sweep(undo_fd, root_fd, err);
        u.notes.max = (size_t)1 << 30;
        if (r == 0 && opts->has_box && *u.record.layer && !opts->is_dry)
                r = applied_read(opts->box_dir_fd, &u.applied, err);
        if (r == 0 && u.record.is_undone)
                r = err_set(err, E_REFUSED, "record %" PRIu64 " is undone already%s", n,
                            u.record.undone_by ? "" : ": nothing of it is left");
        if (r < 0 && u.record.is_undone && u.record.undone_by)
                err_hint(err, "`ostiary undo %" PRIu64 "` does it again", u.record.undone_by);
        if (r == 0)
                r = plan_all(&u, err);
        if (r == 0 && u.land.n)
                r = land(&u, undo_fd, err);
        else if (r == 0 && !opts->is_dry)
                r = mark(&u, undo_fd, 0, err);
        if (u.applied && applied_append(opts->box_dir_fd, &u.notes, r == 0 ? err : NULL) < 0)
                r = -1;
        applied_free(u.applied);
        buf_free(&u.notes);
        undo_land_free(&u.land);
        undo_record_free(&u.record);
        return r;
}
