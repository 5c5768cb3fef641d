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
#include <unistd.h>

static const char IN_REFUSED[] = "the directory that it is in is not applied";

enum { IGNORED_MAX = 4096 }; /* ignored trees that are counted apart; the rest together */

void walk_judge_root(struct walk *w, struct walk_frame *f)
{
        walk_ignore_enter(w, f);
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
        bool is_last = t->ignored_n == IGNORED_MAX - 1;
        t->ignored[t->ignored_n] =
                (struct ws_ignored){.path = str_dup(is_last ? "elsewhere" : path)};
        return ++t->ignored_n;
}

static bool is_dir(const struct ws_change *c)
{
        return (c->after.kind == WS_NONE ? c->before.kind : c->after.kind) == WS_DIR;
}

/* may_hide(f, c): a tracked file is never ignored. What the host has counts as tracked unless its
 * index is known to say otherwise. */
static bool may_hide(struct walk_frame *f, const struct ws_change *c)
{
        return c->before.kind == WS_NONE || walk_is_tracked(f, c->path) == WALK_UNTRACKED;
}

/* is_output(w, f, name, c): is it ignored by itself, as git decides or by a name that everybody
 * ignores? */
static bool is_output(const struct walk *w, struct walk_frame *f, const char *name,
                      const struct ws_change *c)
{
        if (w->root->kind != WS_ROOT_COW)
                return false;
        enum ignore_says says = walk_ignore_says(f, c->path, is_dir(c));
        if (says != IGNORE_SILENT || !is_dir(c) || !file_class_is_ignored_name(name))
                return says == IGNORE_YES;
        if (c->before.kind == WS_NONE)
                return true;
        enum walk_tracked tracked = walk_is_tracked(f, c->path);
        return tracked == WALK_UNTRACKED || tracked == WALK_NO_REPO;
}

static const char *refusal(const struct walk_frame *f, const char *name, const struct ws_change *c);

/* inherit(w, f, sub, name, c): what a new directory hands on to everything in it. A directory that is
 * left must not come to be as the parent of something that lands. */
static void inherit(struct walk *w, const struct walk_frame *f, struct walk_frame *sub,
                    const char *name, const struct ws_change *c)
{
        struct ws_change dir = *c;
        sub->inherited = f->inherited;
        sub->classes_above = f->classes_above;
        sub->refused = f->refused;
        classify_at(w->classify, f->before, f->after);
        classify_change(w->classify, &dir);
        if (!sub->refused && walk_git_refusal(w, f, name))
                sub->refused = IN_REFUSED;
        if (c->after.kind != WS_DIR || c->before.kind == WS_DIR)
                return;
        if (dir.class.class != FILE_PLAIN) {
                sub->inherited = dir.class;
                sub->classes_above |= 1U << dir.class.class;
        }
        if (!sub->refused && (c->refused || refusal(f, name, &dir)))
                sub->refused = IN_REFUSED;
}

void walk_judge_dir(struct walk *w, struct walk_frame *f, struct walk_frame *sub, const char *name,
                    const struct ws_change *c)
{
        /* A work tree of the host's in a directory that is ignored (.worktrees/x) is somebody's work,
         * and has ignore files of its own. */
        bool is_repo = walk_ignore_is_repo(w, sub);
        sub->ignored = is_repo ? 0 : f->ignored;
        if (!is_repo && !sub->ignored && is_output(w, f, name, c))
                sub->ignored = ignored_at(w->tally, c->path);
        inherit(w, f, sub, name, c);
        walk_ignore_enter(w, sub);
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

/* is_shut(node): a file of one's own that one may not read: by its mode, so that none is opened for
 * the question. */
static bool is_shut(const struct ws_node *node)
{
        return geteuid() != 0 && node->uid == geteuid() && !(node->mode & S_IRUSR);
}

static const char *refusal(const struct walk_frame *f, const char *name, const struct ws_change *c)
{
        mode_t bits = c->after.mode & ~c->before.mode & (S_ISUID | S_ISGID | S_ISVTX);
        if (c->after.kind == WS_SPECIAL)
                return "it is a device, FIFO or socket";
        if (c->before.kind == WS_SPECIAL)
                return "the host has a device, FIFO or socket there";
        if (c->after.kind == WS_FILE && is_shut(&c->after))
                return WALK_UNREADABLE;
        if (c->after.kind == WS_DIR && f->is_setgid)
                bits &= ~(mode_t)S_ISGID;
        if (c->after.kind != WS_NONE && c->after.kind != WS_LINK && bits)
                return "it has a setuid, setgid or sticky bit";
        return c->after.kind == WS_LINK ? link_refusal(f, name, c) : NULL;
}

/* is_program(f, name, c): no table knows every name, so what can be run is at least named. Of what
 * was there before, only what changed in it, or that it may be run now. */
static bool is_program(const struct walk_frame *f, const char *name, const struct ws_change *c)
{
        char head[2];
        bool is_new = c->what != WS_MODE || (c->after.mode & ~c->before.mode & 0111);
        if (c->class.class != FILE_PLAIN || c->is_ignored || c->refused || !is_new ||
            c->after.kind != WS_FILE)
                return false;
        if (c->after.mode & 0111)
                return true;
        if (c->what == WS_MODE || c->after.size < sizeof head)
                return false;
        _cleanup_close_ int fd = ws_dir_file(f->after, name, &c->after, NULL);
        return fd >= 0 && pread(fd, head, sizeof head, 0) == sizeof head && head[0] == '#' &&
               head[1] == '!';
}

void walk_judge(struct walk *w, struct walk_frame *f, const char *name, struct ws_change *c)
{
        const struct ws_query *q = w->query;
        classify_at(w->classify, f->before, f->after);
        classify_change(w->classify, c);
        c->above = f->classes_above;
        if (c->class.class == FILE_PLAIN && f->inherited.class != FILE_PLAIN)
                c->class = f->inherited;
        if (!c->refused)
                c->refused = f->refused;
        c->is_masked = q->is_masked && q->is_masked(q->arg, w->root->name, c->path);
        if (!c->refused)
                c->refused = walk_git_refusal(w, f, name);
        if (!c->refused)
                c->refused = refusal(f, name, c);
        /* Installed packages are a class of their own, and still nothing to list one by one; no
         * other class may be hidden. A link out of the tree is never applied, and output is full of
         * them (.venv/bin/python); anything else that is refused is shown. */
        enum file_class class = c->class.class;
        c->is_ignored = (class == FILE_PLAIN || (class == FILE_RUNS_ON_BUILD && f->ignored)) &&
                        !c->class.is_odd && (!c->refused || c->after.kind == WS_LINK) &&
                        (f->ignored || is_output(w, f, name, c)) && may_hide(f, c);
        c->in_ignored = !c->is_ignored && f->ignored && may_hide(f, c) ? f->ignored : 0;
        c->is_program = w->root->kind == WS_ROOT_COW && is_program(f, name, c);
}

/* count_ignored(w, f, c): by the ignored directory it is in; a file that is ignored by itself, by
 * the directory that holds it. */
static void count_ignored(struct walk *w, const struct walk_frame *f, const struct ws_change *c)
{
        size_t at = f->ignored;
        if (is_dir(c))
                return;
        if (!at) {
                _cleanup_free_ char *dir = str_dup(c->path);
                char *slash = strrchr(dir, '/');
                if (slash)
                        *slash = 0;
                at = ignored_at(w->tally, slash ? dir : ".");
        }
        struct ws_ignored *line = &w->tally->ignored[at - 1];
        line->files_n++;
        line->bytes += c->after.kind == WS_NONE ? 0 : c->after.size;
}

int walk_tell(struct walk *w, struct walk_frame *f, const struct ws_change *c)
{
        struct ws_tally *t = w->tally;
        if (c->is_ignored) {
                count_ignored(w, f, c);
                if (!w->query->with_ignored)
                        return 0;
        } else {
                t->files_n[c->what]++;
                t->classes_n[c->class.class]++;
                t->refused_n += c->refused != NULL;
        }
        return w->fn ? w->fn(w->ctx, c) : 0;
}
