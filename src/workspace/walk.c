/* walk.c - see ws_walk in change.h: two views of a tree side by side, and what differs.
 *
 * Only what the box's own layers mention is looked at, so one change among a million files costs
 * one look. The walk keeps a stack of its own (no recursion: case 78) with one frame per level;
 * frames far up give their descriptors back and find them again by "..", checked. It never writes.
 */
#include "workspace/walk_int.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum {
        OPEN_PARTS = 256,       /* about so many descriptors are held by frames */
        DEPTH_MAX = 16384,      /* deeper directories are told and not entered, */
        PATH_BYTES_MAX = 65536, /* nor are those behind longer paths: each entry costs its path */
        PROGRESS_EVERY = 512    /* entries */
};

static void frame_free(struct walk_frame *f)
{
        ws_dir_close(f->before);
        ws_dir_close(f->after);
        ws_names_free(&f->names);
        ws_names_free(&f->more);
        walk_ignore_leave(f);
        free(f->after_it);
        free(f);
}

/* path_set(w, f, name): the path of an entry of the frame. */
static void path_set(struct walk *w, const struct walk_frame *f, const char *name)
{
        w->path.len = f->path_len;
        buf_put_str(&w->path, name);
        (void)buf_cstr(&w->path);
}

/* --- what is asked for ------------------------------------------------------------------------ */

static void paths_set(struct walk *w, const struct strs *paths)
{
        for (size_t i = 0; paths && i < paths->n; i++) {
                _cleanup_buf_ struct buf b = {0};
                for (const char *p = paths->v[i]; *p;) {
                        size_t n = strcspn(p, "/");
                        if (n > 0 && !(n == 1 && *p == '.')) {
                                if (b.len)
                                        buf_put_u8(&b, '/');
                                buf_put(&b, p, n);
                        }
                        p += n + (p[n] == '/');
                }
                strs_add(&w->paths, buf_cstr(&b));
        }
}

enum asked { ASKED_NOT, ASKED_BELOW /* something below it is */, ASKED };

static enum asked is_asked(const struct walk *w, const char *path)
{
        enum asked best = w->paths.n ? ASKED_NOT : ASKED;
        for (size_t i = 0; i < w->paths.n && best != ASKED; i++) {
                const char *p = w->paths.v[i];
                if (!*p || str_is_beneath(path, p))
                        best = ASKED;
                else if (str_is_beneath(p, path))
                        best = ASKED_BELOW;
        }
        return best;
}

/* --- frames ----------------------------------------------------------------------------------- */

/* shines_through(f, top_n): does everything of the side before show on the side after, but for what
 * the layers on top say? */
static bool shines_through(const struct walk_frame *f, size_t top_n)
{
        size_t a = 0;
        while (a < f->after->n && f->after->parts[a].layer < top_n)
                a++;
        if (f->after->n - a != f->before->n)
                return false;
        for (size_t b = 0; b < f->before->n; b++)
                if (f->after->parts[a + b].layer != f->before->parts[b].layer + top_n)
                        return false;
        return true;
}

static int list(const struct walk *w, struct walk_frame *f, struct err *err)
{
        size_t top_n = w->root->top_n;
        switch (f->mode) {
        case WALK_ADDED:
                return ws_dir_list(f->after, 0, &f->names, err);
        case WALK_DELETED:
                return ws_dir_list(f->before, 0, &f->names, err);
        case WALK_BOTH:
                break;
        }
        if (f->after->n && f->after->parts[0].layer < top_n &&
            ws_dir_list(f->after, top_n, &f->names, err) < 0)
                return -1;
        return shines_through(f, top_n) ? 0 : ws_dir_list(f->before, 0, &f->more, err);
}

/* next(f): the next name of both lists, or NULL. */
static const char *next(struct walk_frame *f)
{
        const char *a = f->at < f->names.n ? f->names.v[f->at] : NULL;
        const char *b = f->more_at < f->more.n ? f->more.v[f->more_at] : NULL;
        int order = !a ? 1 : !b ? -1 : strcmp(a, b);
        f->at += a && order <= 0;
        f->more_at += b && order >= 0;
        return order <= 0 ? a : b;
}

/* frame_open(w, up, mode, name, frame, err): the directory ${name} of the frame on top. 0, also
 * with NULL in ${frame} when it is no directory any more; 1 when it may not be read; -1. */
static int frame_open(struct walk *w, struct walk_frame *up, enum walk_mode mode, const char *name,
                      struct walk_frame **frame, struct err *err)
{
        struct err why = {0};
        struct walk_frame *f = calloc(1, sizeof *f);
        if (!f)
                str_no_memory();
        *frame = NULL;
        f->up = up;
        f->mode = mode;
        if (mode != WALK_DELETED)
                f->after = name ? ws_dir_open(up->after, name, &why)
                                : ws_dir_root(&w->root->after, &why);
        if (mode != WALK_ADDED && why.code == E_NONE)
                f->before = name ? ws_dir_open(up->before, name, &why)
                                 : ws_dir_root(&w->root->before, &why);
        if (why.code == E_NONE && list(w, f, &why) == 0) {
                *frame = f;
                return 0;
        }
        frame_free(f);
        if (why.sys == ENOENT || why.sys == ENOTDIR)
                return 0;
        if (why.sys == EACCES || why.sys == EPERM)
                return 1;
        if (err)
                *err = why;
        return -1;
}

static void rest(struct ws_dir *d, const struct ws_dir *child)
{
        if (d && child)
                ws_dir_sleep(d, child);
}

static void push(struct walk *w, struct walk_frame *f)
{
        f->path_len = w->path.len;
        f->depth = f->up ? f->up->depth + 1 : 0;
        f->ruled = f->rules || f->repo || !f->up ? f : f->up->ruled;
        w->top = f;
        size_t wide = w->root->before.n + w->root->after.n;
        size_t keep = wide > OPEN_PARTS / 4 ? 4 : OPEN_PARTS / (wide ? wide : 1);
        struct walk_frame *child = f;
        for (size_t i = 0; i < keep && child->up; i++)
                child = child->up;
        if (child->up && !child->up->is_asleep) {
                rest(child->up->before, child->before);
                rest(child->up->after, child->after);
                child->up->is_asleep = true;
        }
}

static int pop(struct walk *w, struct err *err)
{
        struct walk_frame *f = w->top, *up = f->up;
        int got = 0;
        if (up && up->is_asleep) {
                if (f->before && ws_dir_wake(up->before, f->before, err) < 0)
                        got = -1;
                if (got == 0 && f->after && ws_dir_wake(up->after, f->after, err) < 0)
                        got = -1;
                up->is_asleep = false;
        }
        w->top = up;
        frame_free(f);
        return got;
}

/* --- entries ---------------------------------------------------------------------------------- */

static int tell(struct walk *w, struct walk_frame *f, const char *name, struct ws_change *c)
{
        if (w->query->is_applied &&
            w->query->is_applied(w->query->arg, w->root->name, c->path, &c->after))
                return 0;
        walk_judge(w, f, name, c);
        return walk_tell(w, f, c);
}

/* enter(w, f, mode, name, c, is_after, is_told, err): go down into a directory, and tell ${c}
 * before, or when it is done (${is_after}); nothing is told unless ${is_told}. */
static int enter(struct walk *w, struct walk_frame *f, enum walk_mode mode, const char *name,
                 struct ws_change *c, bool is_after, bool is_told, struct err *err)
{
        struct walk_frame *sub = NULL;
        bool is_deep = f->depth >= DEPTH_MAX || w->path.len > PATH_BYTES_MAX;
        int got = is_deep ? 2 : frame_open(w, f, mode, name, &sub, err);
        if (got < 0)
                return -1;
        if (got > 0) {
                c->refused = got == 2 ? "the directory is too deep" : WALK_UNREADABLE;
                is_told = w->is_asked;
                is_after = false;
        }
        if (sub && walk_git_is_dir(w, f, sub, c)) {
                frame_free(sub);
                return 0;
        }
        if (sub) {
                sub->is_setgid = c->after.mode & S_ISGID;
                sub->is_asked = w->is_asked;
                walk_judge_dir(w, f, sub, name, c);
        }
        if (is_told && !is_after) {
                got = tell(w, f, name, c);
                if (got != 0) {
                        if (sub)
                                frame_free(sub);
                        return got;
                }
        }
        if (!sub)
                return is_told && is_after ? tell(w, f, name, c) : 0;
        if (is_told && is_after) {
                sub->after_it = malloc(sizeof *c);
                if (!sub->after_it)
                        str_no_memory();
                *sub->after_it = *c;
        }
        buf_put_u8(&w->path, '/');
        push(w, sub);
        return 0;
}

/* on_kinds(...): it is something else than it was, or was not there, or is not there any more. */
static int on_kinds(struct walk *w, struct walk_frame *f, const char *name, struct ws_change *c,
                    bool is_told, struct err *err)
{
        bool was_dir = c->before.kind == WS_DIR, is_dir = c->after.kind == WS_DIR;
        c->what = c->before.kind == WS_NONE  ? WS_ADDED
                  : c->after.kind == WS_NONE ? WS_DELETED
                                             : WS_RETYPED;
        if (was_dir)
                return enter(w, f, WALK_DELETED, name, c, true, is_told, err);
        if (is_dir)
                return enter(w, f, WALK_ADDED, name, c, false, is_told, err);
        return is_told ? tell(w, f, name, c) : 0;
}

static int on_pair(struct walk *w, struct walk_frame *f, const char *name, struct ws_change *c,
                   bool is_told, struct err *err)
{
        bool is_same_mode = ((c->before.mode ^ c->after.mode) & 0777) == 0;
        bool is_new_bit = c->after.mode & ~c->before.mode & (S_ISUID | S_ISGID | S_ISVTX);
        if (c->after.kind == WS_DIR) {
                c->what = WS_MODE;
                is_told = is_told && (!is_same_mode || is_new_bit || w->query->is_raw);
                return enter(w, f, WALK_BOTH, name, c, false, is_told, err);
        }
        int same = walk_same(f, name, c);
        c->what = same ? WS_MODE : WS_MODIFIED;
        if (same && is_same_mode && !is_new_bit) {
                if (!w->query->is_raw)
                        return 0;
                c->what = WS_MODIFIED;
        }
        return is_told ? tell(w, f, name, c) : 0;
}

/* look(d, name, node, err): 1 seen, 0 the directory does not let us look, -1. */
static int look(const struct ws_dir *d, const char *name, struct ws_node *node, struct err *err)
{
        struct err why = {0};
        if (ws_dir_look(d, name, node, &why) == 0)
                return 1;
        if (why.sys == EACCES || why.sys == EPERM)
                return 0;
        if (err)
                *err = why;
        return -1;
}

static int on_name(struct walk *w, struct walk_frame *f, const char *name, struct err *err)
{
        struct ws_change c = {.root = w->root};
        path_set(w, f, name);
        if (w->path.is_broken)
                return err_set(err, E_INPUT, "a path is too long to be told");
        c.path = (char *)w->path.data;
        if (++w->seen_n % PROGRESS_EVERY == 0 && w->query->on_progress)
                w->query->on_progress(w->query->arg, w->seen_n);
        enum asked asked = f->is_asked ? ASKED : is_asked(w, c.path);
        bool is_git = walk_git_is_name(w, name);
        if (asked == ASKED_NOT && !is_git)
                return 0;
        w->is_asked = asked == ASKED;
        int seen = f->mode == WALK_DELETED ? 1 : look(f->after, name, &c.after, err);
        /* Found below the box's own layers: it is what it was. */
        if (seen == 1 && f->mode == WALK_BOTH && c.after.kind != WS_NONE &&
            c.after.layer >= w->root->top_n)
                return 0;
        if (seen == 1 && f->mode != WALK_ADDED)
                seen = look(f->before, name, &c.before, err);
        if (seen < 0)
                return -1;
        if (is_git) {
                if (seen == 0 || c.before.kind != WS_NONE || c.after.kind != WS_NONE)
                        walk_git_name(w, f, &c);
                return 0;
        }
        if (seen == 0) {
                c.what = WS_MODIFIED;
                c.refused = WALK_UNREADABLE;
                return w->is_asked ? tell(w, f, name, &c) : 0;
        }
        if (c.before.kind == WS_NONE && c.after.kind == WS_NONE)
                return 0;
        if (c.before.kind != c.after.kind)
                return on_kinds(w, f, name, &c, w->is_asked, err);
        return on_pair(w, f, name, &c, w->is_asked, err);
}

static int leave(struct walk *w, struct err *err)
{
        struct walk_frame *f = w->top;
        struct ws_change *c = take_ptr(&f->after_it);
        size_t path_len = f->path_len;
        bool holds_git = f->mode == WALK_DELETED && f->holds_git;
        int got = pop(w, err);
        if (w->top)
                w->top->holds_git |= holds_git;
        if (got == 0 && c) {
                if (holds_git && !c->refused)
                        c->refused = "the host has a git directory in it, which stays";
                w->path.len = path_len - 1; /* without the slash: the directory itself */
                c->path = (char *)(uintptr_t)buf_cstr(&w->path);
                const char *slash = strrchr(c->path, '/');
                got = tell(w, w->top, slash ? slash + 1 : c->path, c);
        }
        free(c);
        return got;
}

int ws_walk(const struct ws_root *root, const struct ws_query *query,
            int (*fn)(void *ctx, const struct ws_change *), void *ctx, struct ws_tally *tally,
            struct err *err)
{
        struct ws_tally own = {0};
        struct walk w = {.root = root,
                         .query = query,
                         .fn = fn,
                         .ctx = ctx,
                         .tally = tally ? tally : &own,
                         .path = {.max = (size_t)1 << 30}};
        struct walk_frame *f = NULL;
        int got = 0;

        if (root->top_n == 0)
                return 0;
        paths_set(&w, query->paths);
        w.classify = classify_new(root, query->classes);
        got = frame_open(&w, NULL, WALK_BOTH, NULL, &f, err);
        if (got > 0)
                got = err_set(err, E_SYSTEM,
                              "the layer %s of the box cannot be read with your rights",
                              root->name);
        if (f && walk_git_is_root(&w, f)) {
                frame_free(f);
        } else if (f) {
                walk_judge_root(&w, f);
                push(&w, f);
        }
        while (got == 0 && w.top) {
                const char *name = next(w.top);
                got = name ? on_name(&w, w.top, name, err) : leave(&w, err);
        }
        while (w.top) {
                f = w.top;
                w.top = f->up;
                frame_free(f);
        }
        if (got == -1 && err && err->code != E_NONE)
                err_add(err, "look at what the box changed in %s",
                        root->host[0] ? root->host : root->name);
        strs_free(&w.paths);
        buf_free(&w.path);
        classify_free(w.classify);
        ignore_free(w.user);
        ws_tally_free(&own);
        return got;
}
