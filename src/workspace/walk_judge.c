/* walk_judge.c - what a change is besides its content: its class, whether it is build output that
 * nobody asked about, a stand-in of ours, or something that is never applied. Called by walk.c for
 * each change it found. */
#include "workspace/walk_int.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "wire/tree.h"

#include <string.h>
#include <sys/stat.h>

enum { IGNORED_MAX = 4096 }; /* ignored trees that are counted apart; the rest together */

void walk_judge_root(struct walk *w, struct walk_frame *f)
{
        (void)w;
        f->is_setgid = false;
}

/* ignored_at(t, path): a line of the tally for an ignored tree, as index plus one. */
static size_t ignored_at(struct ws_tally *t, const char *path)
{
        if (t->ignored_n && strcmp(t->ignored[t->ignored_n - 1].path, path) == 0)
                return t->ignored_n;
        if (t->ignored_n >= IGNORED_MAX)
                return t->ignored_n;
        if ((t->ignored_n & (t->ignored_n - 1)) == 0) {
                size_t cap = t->ignored_n ? t->ignored_n * 2 : 1;
                struct ws_ignored *more = reallocarray(t->ignored, cap, sizeof *more);
                if (!more)
                        str_no_memory();
                t->ignored = more;
        }
        t->ignored[t->ignored_n++] = (struct ws_ignored){
                .path = str_dup(t->ignored_n < IGNORED_MAX ? path : "elsewhere")};
        return t->ignored_n;
}

void walk_judge_dir(struct walk *w, struct walk_frame *f, struct walk_frame *sub, const char *name,
                    const struct ws_change *c)
{
        sub->ignored = f->ignored;
        if (!sub->ignored && c->before.kind == WS_NONE && file_class_is_ignored_name(name))
                sub->ignored = ignored_at(w->tally, c->path);
}

static const char *link_refusal(const struct walk_frame *f, const char *name,
                                const struct ws_change *c)
{
        static const char outside[] = "it is a link that leads outside of the directory";
        _cleanup_buf_ struct buf now = {0}, was = {0};
        if (ws_dir_link(f->after, name, &c->after, &now, NULL) < 0)
                return WALK_UNREADABLE;
        if (tree_link_is_inside(buf_cstr(&now), f->depth))
                return NULL;
        /* The user's own link, touched and not changed: it leads where it led. */
        if (c->before.kind == WS_LINK &&
            ws_dir_link(f->before, name, &c->before, &was, NULL) == 0 && was.len == now.len &&
            memcmp(was.data, now.data, now.len) == 0)
                return NULL;
        return outside;
}

static const char *refusal(const struct walk_frame *f, const char *name, const struct ws_change *c)
{
        mode_t bits = c->after.mode & ~c->before.mode & (S_ISUID | S_ISGID | S_ISVTX);
        if (c->after.kind == WS_SPECIAL)
                return "it is a device, FIFO or socket";
        if (c->before.kind == WS_SPECIAL)
                return "the host has a device, FIFO or socket there";
        if (c->after.kind == WS_DIR && f->is_setgid)
                bits &= ~(mode_t)S_ISGID;
        if (c->after.kind != WS_NONE && c->after.kind != WS_LINK && bits)
                return "it has a setuid, setgid or sticky bit";
        return c->after.kind == WS_LINK ? link_refusal(f, name, c) : NULL;
}

int walk_judge(struct walk *w, struct walk_frame *f, const char *name, struct ws_change *c,
               struct err *err)
{
        const struct ws_query *q = w->query;
        (void)err;
        if (!w->classify)
                w->classify = classify_new(w->root, q->classes);
        classify_change(w->classify, c);
        c->is_masked = q->is_masked && q->is_masked(q->arg, w->root->name, c->path);
        if (!c->refused)
                c->refused = refusal(f, name, c);
        /* Installed packages are a class of their own, and still nothing to list one by one. */
        c->is_ignored = f->ignored && c->before.kind == WS_NONE && !c->refused &&
                        (c->class.class == FILE_PLAIN || c->class.class == FILE_RUNS_ON_BUILD);
        if (!f->ignored && c->after.kind == WS_DIR && c->what == WS_ADDED &&
            file_class_is_ignored_name(name) && c->class.class == FILE_PLAIN && !c->refused)
                c->is_ignored = true;
        return 0;
}

int walk_tell(struct walk *w, struct walk_frame *f, const struct ws_change *c)
{
        struct ws_tally *t = w->tally;
        if (c->is_ignored) {
                struct ws_ignored *at = f->ignored ? &t->ignored[f->ignored - 1] : NULL;
                if (at && c->after.kind != WS_DIR) {
                        at->files_n++;
                        at->bytes += c->after.size;
                }
                if (!w->query->with_ignored)
                        return 0;
        } else {
                t->files_n[c->what]++;
                t->classes_n[c->class.class]++;
                t->refused_n += c->refused != NULL;
        }
        return w->fn ? w->fn(w->ctx, c) : 0;
}
