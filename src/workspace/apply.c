/* apply.c - see apply.h. Everything is looked at and kept first, with the lock held; then it lands
 * (undo_land.c). What the box has is read again at that moment, and only taken if it is still what
 * was shown to the user (cases 71, 72, 77). */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "wire/tree.h"
#include "workspace/apply_int.h"
#include "workspace/objects.h"
#include "workspace/undo_int.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

enum { BASE_MAX = 1 << 18 };

struct run {
        const struct ws_root *root;
        const struct apply_hooks *hooks;
        struct apply_result *result;
        struct applied *applied;
        struct undo_land land;
        struct apply_ground ground;
        struct buf will, put; /* lines of `applied` */
        int objects_fd;
        uint64_t landed_n; /* directories that had to be made included */
};

static void refuse(struct run *a, const struct ws_change *c, const char *why)
{
        a->result->refused_n++;
        if (a->hooks->on_refused)
                a->hooks->on_refused(a->hooks->arg, c, why);
}

static void conflict(struct run *a, const struct ws_change *c, enum apply_conflict k)
{
        a->result->conflicts_n++;
        if (a->hooks->on_conflict)
                a->hooks->on_conflict(a->hooks->arg, c, k);
}

static bool same_node(const struct ws_node *a, const struct ws_node *b)
{
        if (a->kind != b->kind || a->ino != b->ino || a->dev != b->dev || a->mode != b->mode)
                return false;
        return a->kind == WS_DIR ||
               (a->size == b->size && a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns);
}

static const char moved_on[] = "the box changed it since it was shown; look at it again";

/* box_file(a, ch, s): what its content is. 0, -1, or 1 when it is not what was shown. */
static int box_file(struct run *a, const struct apply_choice *ch, struct undo_state *s,
                    struct err *err)
{
        const struct ws_change *c = ch->change;
        if (ch->how != APPLY_TAKE) {
                sha256_hex(ch->bytes, ch->bytes_len, s->sha);
                s->size = ch->bytes_len;
                return 0;
        }
        struct ws_node node, after;
        _cleanup_close_ int fd = ws_view_file(&a->root->after, c->path, &node, err);
        if (fd < 0)
                return -1;
        if (!same_node(&node, &c->after))
                return 1;
        /* A small one is kept: should both sides go on with it, it is the base of their merge. */
        bool is_base = c->before.kind == WS_FILE && node.size <= BASE_MAX;
        if (is_base ? objects_put(a->objects_fd, fd, s->sha, &s->size, err) < 0
                    : objects_hash(fd, s->sha, err) < 0)
                return -1;
        s->size = node.size;
        /* What was judged by its content lands as it was judged, or not at all: a store to a mapped
         * page moves no time. */
        if ((*c->judged && strcmp(c->judged, s->sha) != 0) ||
            (ch->shown && *ch->shown && strcmp(ch->shown, s->sha) != 0))
                return 1;
        return ws_view_look(&a->root->after, c->path, &after, err) < 0 ? -1
                                                                       : !same_node(&after, &node);
}

/* link_is_fit(a, c, target): still one that does not lead outside, or the host's own. The walk
 * looked, but a link made anew within the same tick can have the inode and the times of the old. */
static bool link_is_fit(const struct run *a, const struct ws_change *c, const char *target)
{
        size_t depth = 0;
        for (const char *p = c->path; *p; p++)
                depth += *p == '/';
        if (tree_link_is_inside(target, depth))
                return true;
        _cleanup_buf_ struct buf was = {0};
        return c->before.kind == WS_LINK &&
               ws_view_link(&a->root->before, c->path, &was, NULL) == 0 &&
               strcmp(buf_cstr(&was), target) == 0;
}

/* box_state(a, ch, s): what the host is to have. 0, -1, or 1 when it is not what was shown. */
static int box_state(struct run *a, const struct apply_choice *ch, struct undo_state *s,
                     struct err *err)
{
        const struct ws_change *c = ch->change;
        struct ws_node node;
        *s = (struct undo_state){.kind = '-', .mode = c->after.mode & 0777};
        if (ws_view_look(&a->root->after, c->path, &node, err) < 0)
                return -1;
        if (!same_node(&node, &c->after))
                return 1;
        switch (c->after.kind) {
        case WS_NONE:
                s->mode = 0;
                return 0;
        case WS_DIR:
                s->kind = 'd';
                return 0;
        case WS_FILE:
                s->kind = 'f';
                return box_file(a, ch, s, err);
        case WS_LINK: {
                _cleanup_buf_ struct buf target = {0};
                if (ws_view_link(&a->root->after, c->path, &target, err) < 0)
                        return -1;
                s->kind = 'l';
                s->target = str_dup(buf_cstr(&target));
                return link_is_fit(a, c, s->target) ? 0 : 1;
        }
        case WS_SPECIAL:
                break;
        }
        return 1;
}

/* why_never(a, c): what no consent lets through. */
static const char *why_never(struct run *a, const struct ws_change *c)
{
        const char *of_git = apply_ground_refuses(&a->ground, c);
        if (of_git)
                return of_git;
        if (c->refused)
                return c->refused;
        if (c->is_masked)
                return "a stand-in of ours for a secret, not a file of the box";
        if (c->after.kind == WS_SPECIAL)
                return "a device, FIFO or socket";
        if (c->after.kind == WS_FILE && (c->after.mode & 07000))
                return "it has a setuid, setgid or sticky bit";
        return undo_path_is_fit(c->path) ? NULL : "its path is not one that can be written";
}

/* is_weighed(ch): it was decided what to do about the host's change. */
static bool is_weighed(const struct apply_choice *ch)
{
        return ch->how == APPLY_MERGE || (ch->host_sha && *ch->host_sha);
}

/* weigh_up(a, ch, host, id): may it be written over what is there? */
static bool weigh_up(struct run *a, const struct apply_choice *ch, const struct undo_state *host,
                     const struct undo_ident *id)
{
        enum apply_conflict k;
        if (is_weighed(ch) && apply_host_is(host, ch->host_sha))
                return true;
        apply_judge_state(ch->change, a->applied, host, id, &k);
        if (k != APPLY_CLEAR)
                conflict(a, ch->change, k);
        return k == APPLY_CLEAR;
}

/* leave(a, c, why, words, err): what may not be read is named and left, and the rest goes on;
 * everything else stops. */
static int leave(struct run *a, const struct ws_change *c, const struct err *why, const char *words,
                 struct err *err)
{
        if (apply_unreadable(why))
                return refuse(a, c, words), 0;
        if (err)
                *err = *why;
        return -1;
}

/* take(a, ch): one choice into the list of what lands. */
static int take(struct run *a, const struct apply_choice *ch, struct err *err)
{
        const struct ws_change *c = ch->change;
        struct undo_state host, box;
        struct undo_ident id;
        enum apply_conflict k = APPLY_CLEAR;
        struct err why_not = {0};
        const char *why = why_never(a, c);
        if (why)
                return refuse(a, c, why), 0;
        /* first without keeping anything: what is in conflict is not to be kept */
        if (!is_weighed(ch)) {
                if (apply_judge(c, a->applied, &k, &why_not) < 0)
                        return leave(a, c, &why_not, APPLY_HOST_UNREADABLE, err);
                if (k != APPLY_CLEAR)
                        return conflict(a, c, k), 0;
        }
        int r = box_state(a, ch, &box, &why_not);
        if (r != 0) {
                undo_state_free(&box);
                if (r > 0 || why_not.sys == ENOENT || why_not.sys == ESTALE)
                        return refuse(a, c, moved_on), 0;
                return leave(a, c, &why_not, APPLY_BOX_UNREADABLE, err);
        }
        if (undo_state_of(a->root->host_fd, c->path, a->objects_fd, &host, &id, &why_not) < 0) {
                undo_state_free(&box);
                return leave(a, c, &why_not, APPLY_HOST_UNREADABLE, err);
        }
        mode_t wanted = box.mode;
        box.mode = apply_mode(wanted, host.kind == box.kind ? host.mode : 0);
        if (!weigh_up(a, ch, &host, &id)) {
                undo_state_free(&box);
                undo_state_free(&host);
                return 0;
        }
        /* Told as another mode and nothing else: then nothing else lands. */
        if (c->what == WS_MODE && ch->how == APPLY_TAKE && box.kind == 'f' && host.kind == 'f' &&
            strcmp(host.sha, box.sha) != 0) {
                undo_state_free(&box);
                undo_state_free(&host);
                return refuse(a, c, moved_on), 0;
        }
        if (c->what == WS_MODE && host.kind == box.kind && host.mode == box.mode &&
            wanted != box.mode) {
                undo_state_free(&box);
                undo_state_free(&host);
                return refuse(a, c, "your umask forbids the rights that it adds"), 0;
        }
        const struct ws_node *whole = ch->how == APPLY_BYTES ? NULL : &c->after;
        if (undo_state_same(&host, &box) && (host.kind != 'd' || host.mode == box.mode)) {
                applied_put_done(&a->put, a->root->name, c->path, whole, &box);
                undo_state_free(&box);
                undo_state_free(&host);
                return 0;
        }
        applied_put_will(&a->will, a->root->name, c->path, &box);
        if (host.kind == 'f')
                applied_put_took(&a->will, a->root->name, id.ino);
        a->result->kept_bytes += host.kind == 'f' ? host.size : 0;
        undo_land_add(&a->land, c->path, &host, &box, &id)->user = (void *)ch;
        return 0;
}

static int fill(void *arg, const struct undo_op *op, int dst_fd, char sha[SHA256_HEX_LEN + 1],
                uint64_t *size, struct err *err)
{
        struct run *a = arg;
        const struct apply_choice *ch = op->user;
        if (ch->how != APPLY_TAKE) {
                if (fdio_write_all(dst_fd, ch->bytes, ch->bytes_len) < 0)
                        return err_sys(err, "write it");
                memcpy(sha, op->after.sha, SHA256_HEX_LEN + 1);
                *size = ch->bytes_len;
                return 0;
        }
        struct ws_node node;
        _cleanup_close_ int fd = ws_view_file(&a->root->after, op->path, &node, err);
        return fd < 0 ? -1 : objects_copy(fd, dst_fd, sha, size, err);
}

/* mode_of(a, path): of a directory above something that is taken, as the box has it. */
static mode_t mode_of(void *arg, const char *path)
{
        struct run *a = arg;
        struct ws_node node;
        if (ws_view_look(&a->root->after, path, &node, NULL) < 0 || node.kind != WS_DIR)
                return apply_mode(0755, 0);
        return apply_mode(node.mode, 0);
}

static void on_progress(void *arg, uint64_t done_n, uint64_t all_n)
{
        struct run *a = arg;
        if (a->hooks->on_progress)
                a->hooks->on_progress(a->hooks->arg, done_n, all_n);
}

/* tell(a): what became of each, and what of it the box has not got pending any more. */
static void tell(struct run *a)
{
        for (size_t i = 0; i < a->land.n; i++) {
                const struct undo_op *op = &a->land.v[i];
                const struct apply_choice *ch = op->user;
                if (op->landing == UNDO_LEFT && ch) {
                        refuse(a, ch->change, op->why);
                } else if (op->landing == UNDO_LANDED && !ch) {
                        struct ws_node node;
                        a->landed_n++;
                        if (ws_view_look(&a->root->after, op->path, &node, NULL) == 0 &&
                            node.kind == WS_DIR)
                                applied_put_done(&a->put, a->root->name, op->path, &node,
                                                 &op->after);
                } else if (op->landing == UNDO_LANDED) {
                        a->landed_n++;
                        a->result->applied_n++;
                        applied_put_done(&a->put, a->root->name, op->path,
                                         ch->how == APPLY_BYTES ? NULL : &ch->change->after,
                                         &op->after);
                }
        }
}

static int land(struct run *a, int box_dir_fd, const char *box_id, int undo_fd, struct err *err)
{
        struct stat st;
        if (undo_land_parents(&a->land, mode_of, err) < 0)
                return -1;
        if (fstat(a->root->host_fd, &st) < 0)
                return err_sys(err, "look at %s", a->root->host);
        struct undo_head h = {.what = "apply",
                              .box = box_id,
                              .layer = a->root->name,
                              .root = a->root->host,
                              .dev = st.st_dev,
                              .ino = st.st_ino};
        struct undo_writer *w = undo_begin(undo_fd, &h, err);
        if (!w)
                return err_hint(err, "nothing was touched");
        a->land.writer = w;
        a->result->record_n = undo_number(w);
        int r = applied_append(box_dir_fd, &a->will, err);
        if (r == 0)
                r = undo_land_run(&a->land, err);
        tell(a);
        if (r == 0)
                r = undo_done(w, err);
        if (a->landed_n == 0) {
                a->result->record_n = 0;
                undo_drop(w);
                return r < 0 ? err_hint(err, "nothing was changed on the host") : 0;
        }
        undo_close(w);
        if (r < 0)
                err_hint(err,
                         "%" PRIu64 " changes were applied before that, and everything else is as "
                         "it was: apply again, or take them back with `ostiary undo %" PRIu64 "`",
                         a->result->applied_n, a->result->record_n);
        return r;
}

int apply_run(int box_dir_fd, const char *box_id, int undo_fd, const struct ws_root *root,
              const struct apply_choice *choices, size_t n, const struct apply_hooks *hooks,
              struct apply_result *result, struct err *err)
{
        static const struct apply_hooks none;
        *result = (struct apply_result){0};
        if (root->gone || root->host_fd < 0)
                return err_set(err, E_REFUSED, "%s %s; nothing was applied", root->host,
                               root->gone ? root->gone : "is not there");
        _cleanup_close_ int lock = undo_lock(undo_fd, err);
        _cleanup_close_ int objects_fd = lock < 0 ? -1 : undo_objects(undo_fd, err);
        struct run a = {.root = root,
                        .hooks = hooks ? hooks : &none,
                        .result = result,
                        .objects_fd = objects_fd,
                        .land = {.root_fd = root->host_fd,
                                 .undo_fd = undo_fd,
                                 .fill = fill,
                                 .on_progress = on_progress},
                        .will = {.max = (size_t)2 << 30},
                        .put = {.max = (size_t)2 << 30}};
        a.land.arg = &a;
        if (objects_fd < 0 || applied_read(box_dir_fd, &a.applied, err) < 0)
                return -1;
        ws_view_again(&root->before);
        ws_view_again(&root->after);
        int r = undo_sweep(undo_fd, root->host_fd, err);
        apply_ground_open(&a.ground, root, choices, n);
        for (size_t i = 0; r == 0 && i < n; i++)
                if (choices[i].how != APPLY_SKIP)
                        r = take(&a, &choices[i], err);
        if (r < 0)
                err_hint(err, "nothing was touched");
        if (r == 0 && a.land.n)
                r = land(&a, box_dir_fd, box_id, undo_fd, err);
        /* also after a failure: what has landed is not pending */
        if (applied_append(box_dir_fd, &a.put, r == 0 ? err : NULL) < 0)
                r = -1;
        apply_ground_close(&a.ground);
        applied_free(a.applied);
        undo_land_free(&a.land);
        buf_free(&a.will);
        buf_free(&a.put);
        return r;
}
