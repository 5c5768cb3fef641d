/* classify.c - see classify.h. Called by the walk for each change, and by live workspaces for each
 * file that protects or endangers the host. Reads at most GIT_CONFIG_MAX bytes of a file, and only
 * of files whose keys decide. */
#include "workspace/classify.h"

#include "base/beneath.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "policy/file_class_trail.h"
#include "policy/git_config.h"
#include "policy/git_shape.h"
#include "workspace/classify_int.h"
#include "workspace/links.h"
#include "workspace/scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool by_place(struct classify *, const char *path, bool is_dir, struct file_class_verdict *);

static const char MAKES_GIT[] = "makes this a git directory";

enum {
        CLASSIFY_GIT_MAX = 16,
        LINK_DEPTH_MAX = 4,      /* links that lead to what other links are reached by */
        LINK_STEPS_MAX = 1000000 /* for all paths together: who needs more is not judged plain */
};
#define NO_LEVEL SIZE_MAX

enum shape {
        SHAPE_UNKNOWN,
        SHAPE_NONE,
        SHAPE_GIT, /* the host has a git directory there */
        SHAPE_NEW, /* it has none, and could have one when something of the box landed */
};
/* A directory above the path that is judged. */
struct classify_level {
        size_t len; /* of its path; 0 is the root */
        enum shape shape;
        size_t linked; /* the nearest level, this one or above, that links lead to, or NO_LEVEL */
};

struct classify {
        const struct ws_root *root;
        const struct file_classes *classes;
        struct classify_said said;
        struct file_trail *trail;
        struct buf path; /* that was judged last */
        struct classify_level *levels;
        size_t levels_n, levels_cap;
        size_t git[CLASSIFY_GIT_MAX]; /* levels that are git directories, or could become one */
        size_t git_n;
        size_t over;                    /* the first level with more than that above it, or 0 */
        struct links *links;            /* read when they are first needed */
        uint64_t link_steps_n;          /* names that were looked at because of them */
        char *clean, *holds;            /* a directory without, and a path with, a class */
        struct file_class_verdict held; /* of ${holds} */
        const struct ws_dir *at_before, *at_after; /* where the walk stands, if is_at */
        bool is_at, is_here;
        bool is_new_git; /* what was judged last is a part of what could become a git directory */
        char judged[SHA256_HEX_LEN + 1]; /* the content that decided last, or "" */
};

struct classify *classify_new(const struct ws_root *root, const struct file_classes *classes)
{
        struct classify *c = calloc(1, sizeof *c);
        if (!c)
                str_no_memory();
        c->root = root;
        c->classes = classes;
        c->trail = file_trail_new(classes);
        classify_said_host(&c->said, root);
        classify_said_user(&c->said, root);
        classify_said_read(&c->said, root, &root->before);
        classify_said_read(&c->said, root, &root->after);
        return c;
}

void classify_free(struct classify *c)
{
        if (!c)
                return;
        classify_said_free(&c->said);
        file_trail_free(c->trail);
        buf_free(&c->path);
        free(c->levels);
        links_free(c->links);
        free(c->clean);
        free(c->holds);
        free(c);
}

static void say(struct file_class_verdict *v, enum file_class class, const char *why)
{
        *v = (struct file_class_verdict){.class = class};
        snprintf(v->why, sizeof v->why, "%s", why);
}

/* --- git directories by their shape (case 62) ------------------------------------------------- */

static bool classify_has(struct classify *c, size_t level, bool is_after, const char *name)
{
        const struct ws_view *view = is_after ? &c->root->after : &c->root->before;
        const struct ws_dir *dir = is_after ? c->at_after : c->at_before;
        struct ws_node node = {0};
        if (view->n == 0)
                return false;
        /* By descriptor where the walk stands; by the whole path elsewhere. */
        if (c->is_here)
                return dir && ws_dir_look(dir, name, &node, NULL) == 0 && node.kind != WS_NONE;
        size_t n = c->levels[level].len;
        _cleanup_free_ char *path =
                str_fmt("%.*s%s%s", (int)n, buf_cstr(&c->path), n ? "/" : "", name);
        return ws_view_look(view, path, &node, NULL) == 0 && node.kind != WS_NONE;
}

/* As git decides: HEAD, and objects and refs here or where commondir says. */
static bool classify_is_git(struct classify *c, size_t level, bool is_after)
{
        return classify_has(c, level, is_after, "HEAD") &&
               (classify_has(c, level, is_after, "commondir") ||
                (classify_has(c, level, is_after, "objects") &&
                 classify_has(c, level, is_after, "refs")));
}

/* What makes a directory look like one, beside HEAD. Whatever of a box's work lands, now or by a
 * later apply, is some of what the host has and some of what the box has: so both sides together
 * are looked at, and one part more than HEAD is enough. */
static const char *const parts[] = {"HEAD",   "objects", "refs",       "commondir",
                                    "config", "hooks",   "packed-refs"};
enum { PARTS_GIT_ASKS_FOR = 4 };

static bool classify_is_part(const struct classify *c, const char *rel)
{
        /* Where there is nothing to compare with (a live workspace), the rest is judged by what it
         * holds: git itself makes it there. */
        size_t n = c->root->before.n ? sizeof parts / sizeof parts[0] : PARTS_GIT_ASKS_FOR;
        for (size_t i = 0; i < n; i++)
                if (strcmp(rel, parts[i]) == 0)
                        return true;
        return false;
}

static bool classify_may_be_git(struct classify *c, size_t level)
{
        if (c->root->before.n == 0)
                return classify_is_git(c, level, true);
        if (!classify_has(c, level, false, "HEAD") && !classify_has(c, level, true, "HEAD"))
                return false;
        for (size_t i = 1; i < sizeof parts / sizeof parts[0]; i++)
                if (classify_has(c, level, false, parts[i]) ||
                    classify_has(c, level, true, parts[i]))
                        return true;
        return false;
}

/* Most names cannot begin a path within a git directory: a cheap no (case 78). */
static bool classify_may_begin(const char *rel)
{
        static const char *const first[] = {
                "HEAD",      "commondir",       "gitdir",       "config",       "hooks",
                "info",      "objects",         "refs",         "remotes",      "branches",
                "safe",      "config.worktree", "rebase-apply", "rebase-merge", "modules",
                "worktrees", "sequencer",       "packed-refs"};
        size_t n = strcspn(rel, "/");
        for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
                if (strlen(first[i]) == n && strncasecmp(first[i], rel, n) == 0)
                        return true;
        return false;
}

bool classify_is_git_part(const char *name)
{
        return classify_may_begin(name);
}

static bool classify_in_dot_git(const char *path, size_t len)
{
        _cleanup_free_ char *dir = str_fmt("%.*s", (int)len, path);
        return git_shape_path(dir) != GIT_NAME_OTHER;
}

/* classify_look(c, level, is_last): its shape, when something in it could be part of a git
 * directory. ${is_last}: the directory that the path itself is in, where the walk stands. */
static void classify_look(struct classify *c, size_t level, bool is_last)
{
        struct classify_level *l = &c->levels[level];
        if (l->shape != SHAPE_UNKNOWN)
                return;
        c->is_here = c->is_at && is_last;
        l->shape = classify_is_git(c, level, false) ? SHAPE_GIT
                   : classify_may_be_git(c, level)  ? SHAPE_NEW
                                                    : SHAPE_NONE;
        if (l->shape == SHAPE_NEW && classify_in_dot_git(buf_cstr(&c->path), l->len))
                l->shape = SHAPE_NONE;
        if (l->shape == SHAPE_NONE)
                return;
        if (c->git_n < CLASSIFY_GIT_MAX)
                c->git[c->git_n++] = level;
        else if (!c->over)
                c->over = level;
}

static void classify_level_add(struct classify *c, size_t len)
{
        if (c->levels_n == c->levels_cap) {
                c->levels_cap = c->levels_cap ? c->levels_cap * 2 : 64;
                c->levels = reallocarray(c->levels, c->levels_cap, sizeof *c->levels);
                if (!c->levels)
                        str_no_memory();
        }
        size_t first, up = c->levels_n ? c->levels[c->levels_n - 1].linked : NO_LEVEL;
        bool is_linked = len && c->links && links_at(c->links, buf_cstr(&c->path), len, &first);
        c->levels[c->levels_n] =
                (struct classify_level){.len = len, .linked = is_linked ? c->levels_n : up};
        c->levels_n++;
        if (len)
                classify_said_at(&c->said, c->root, buf_cstr(&c->path), len);
}

/* classify_go(c, path): the directories above ${path}, from the root down; those that it shares with
 * the path before stay as they are known. */
static void classify_go(struct classify *c, const char *path)
{
        const char *was = buf_cstr(&c->path);
        size_t same = 0;
        while (same < c->path.len && path[same] && path[same] == was[same])
                same++;
        /* A level is kept if its directory is above the new path too. */
        while (c->levels_n > 1) {
                size_t len = c->levels[c->levels_n - 1].len;
                if (len < same || (len == same && path[same] == '/'))
                        if (path[len] == '/')
                                break;
                c->levels_n--;
        }
        while (c->git_n > 0 && c->git[c->git_n - 1] >= c->levels_n)
                c->git_n--;
        if (c->over >= c->levels_n)
                c->over = 0;
        c->path.len = 0;
        buf_put_str(&c->path, path);
        if (c->levels_n == 0)
                classify_level_add(c, 0);
        size_t from = c->levels[c->levels_n - 1].len;
        from += from > 0;
        for (;;) {
                const char *slash = strchr(path + from, '/');
                if (classify_may_begin(path + from))
                        classify_look(c, c->levels_n - 1, slash == NULL);
                if (!slash)
                        return;
                classify_level_add(c, (size_t)(slash - path));
                from = (size_t)(slash - path) + 1;
        }
}

/* classify_by_shape(c, path, verdict): is a directory above ${path} a git directory, or about to be
 * one, and the path from there one of the files that count? 1, or 2 when no content can change it. */
static int classify_by_shape(struct classify *c, const char *path, struct file_class_verdict *v)
{
        c->is_new_git = false;
        classify_go(c, path);
        if (c->over) {
                say(v, FILE_RUNS_ON_COMMIT, "git directories in each other");
                return 2;
        }
        for (size_t i = 0; i < c->git_n; i++) {
                const struct classify_level *l = &c->levels[c->git[i]];
                const char *rel = path + l->len + (l->len > 0);
                struct file_class_verdict in;
                bool is_new = l->shape == SHAPE_NEW && classify_is_part(c, rel);
                file_class_in_git(rel, &in);
                if (is_new && (in.class == FILE_PLAIN || !c->root->before.n)) {
                        say(v, FILE_RUNS_ON_COMMIT, MAKES_GIT);
                        return 2;
                }
                if (in.class == FILE_PLAIN)
                        continue;
                c->is_new_git = is_new;
                *v = in;
                return 1;
        }
        return 0;
}

/* --- what is in it ---------------------------------------------------------------------------- */

/* read_side(view, path, kind, text): 1 read, 0 nothing there, -1 cannot be judged. */
static int read_side(const struct ws_view *view, const char *path, enum ws_kind kind,
                     struct buf *text)
{
        if (kind == WS_NONE)
                return 0;
        return kind == WS_FILE && classify_read(view, path, text) == 0 ? 1 : -1;
}

enum content { CONTENT_NONE, CONTENT_CONFIG, CONTENT_ATTRIBUTES };

static enum content content_of(const struct file_class_verdict *v)
{
        if (v->class != FILE_RUNS_ON_COMMIT || v->is_odd)
                return CONTENT_NONE;
        if (str_starts(v->why, "git config") || strcmp(v->why, "submodules") == 0)
                return CONTENT_CONFIG;
        return str_starts(v->why, "git attributes") ? CONTENT_ATTRIBUTES : CONTENT_NONE;
}

static void by_content(struct classify *c, const char *path, enum ws_kind before,
                       enum ws_kind after, struct file_class_verdict *v)
{
        enum content content = content_of(v);
        _cleanup_buf_ struct buf was = {.max = GIT_CONFIG_MAX + 1},
                                 is = {.max = GIT_CONFIG_MAX + 1};
        if (content == CONTENT_NONE)
                return;
        int has_was = read_side(&c->root->before, path, before, &was);
        int has_is = read_side(&c->root->after, path, after, &is);
        if (has_was < 0 || has_is < 0)
                return;
        const char *a = has_was ? buf_cstr(&was) : NULL, *b = has_is ? buf_cstr(&is) : NULL;
        if (has_is)
                sha256_hex(b, is.len, c->judged);
        if (content == CONTENT_CONFIG)
                file_class_git_config(a, was.len, b, is.len, v);
        else
                file_class_attributes(a, was.len, b, is.len, v);
}

/* --- what leads to it ------------------------------------------------------------------------- */

static void classify_by_links(struct classify *, const char *path, unsigned depth,
                              struct file_class_verdict *);

static bool classify_has_at(const struct ws_view *view, const char *path, size_t len,
                            const char *name)
{
        struct ws_node node = {0};
        _cleanup_free_ char *full = str_fmt("%.*s%s%s", (int)len, path, len ? "/" : "", name);
        return view->n && ws_view_look(view, full, &node, NULL) == 0 && node.kind != WS_NONE;
}

/* classify_alias_shape(c, name, verdict): the name of a link may be one of a git directory that is
 * called otherwise (`srv/hooks/post-receive -> ../../tools/t1`). */
static void classify_alias_shape(struct classify *c, const char *name, struct file_class_verdict *v)
{
        const struct ws_view *views[] = {&c->root->before, &c->root->after};
        for (const char *rel = name; rel && v->class == FILE_PLAIN;) {
                struct file_class_verdict in = {.class = FILE_PLAIN};
                size_t len = rel == name ? 0 : (size_t)(rel - name) - 1;
                if (classify_may_begin(rel))
                        file_class_in_git(rel, &in);
                for (size_t i = 0; in.class != FILE_PLAIN && i < 2; i++)
                        if (classify_has_at(views[i], name, len, "HEAD") &&
                            (classify_has_at(views[i], name, len, "commondir") ||
                             classify_has_at(views[i], name, len, "refs")))
                                *v = in;
                rel = strchr(rel, '/');
                rel = rel ? rel + 1 : NULL;
        }
}

/* by_alias(c, path, len, depth, verdict): by the names of all links that lead to the first ${len}
 * bytes of ${path}. */
static void classify_by_alias(struct classify *c, const char *path, size_t len, unsigned depth,
                              struct file_class_verdict *v)
{
        size_t first, n = links_at(c->links, path, len, &first);
        for (size_t i = first; i < first + n && v->class == FILE_PLAIN; i++) {
                bool is_exact;
                const char *as = links_as(c->links, i, &is_exact);
                if (is_exact && path[len])
                        continue;
                if (c->link_steps_n++ >= LINK_STEPS_MAX) {
                        say(v, FILE_RUNS_ON_OPEN, "too many links lead to it");
                        return;
                }
                _cleanup_free_ char *name = str_fmt("%s%s", as, path + len);
                file_class_of(c->classes, name, v);
                if (v->class == FILE_PLAIN)
                        classify_said_judge(&c->said, name, v);
                if (v->class == FILE_PLAIN)
                        classify_alias_shape(c, name, v);
                if (v->class == FILE_PLAIN) {
                        classify_by_links(c, name, depth + 1, v);
                        continue;
                }
                size_t at = strlen(v->why);
                snprintf(v->why + at, sizeof v->why - at, ", through a link");
        }
}

/* classify_by_links(c, path, depth, verdict): what a link of a classed name leads to has the class,
 * and so has what is in a directory that one leads to (`.envrc -> scripts/env`, `.github -> gh`). */
static void classify_by_links(struct classify *c, const char *path, unsigned depth,
                              struct file_class_verdict *v)
{
        if (!c->links) {
                c->links = links_new(c->root);
                classify_forget(c); /* which levels links lead to is not known yet */
                classify_go(c, path);
        }
        if (links_is_lost(c->links)) {
                say(v, FILE_RUNS_ON_OPEN,
                    "links lead through each other for too long to tell where");
                return;
        }
        if (links_n(c->links) == 0 || depth > LINK_DEPTH_MAX)
                return;
        classify_by_alias(c, path, strlen(path), depth, v);
        if (depth == 0 && c->levels_n > 0) { /* the path that is judged: its levels are known */
                for (size_t i = c->levels[c->levels_n - 1].linked;
                     i != NO_LEVEL && v->class == FILE_PLAIN;
                     i = i ? c->levels[i - 1].linked : NO_LEVEL)
                        classify_by_alias(c, path, c->levels[i].len, depth, v);
                return;
        }
        for (const char *p = strrchr(path, '/'); p && v->class == FILE_PLAIN;
             p = memrchr(path, '/', (size_t)(p - path)))
                classify_by_alias(c, path, (size_t)(p - path), depth, v);
}

/* --- modes ------------------------------------------------------------------------------------ */

struct classify_hold {
        struct classify *c;
        const char *dir;
};

static enum scan_next classify_find(void *ctx, int dir_fd, const char *name, const char *path,
                                    unsigned char type)
{
        const struct classify_hold *h = ctx;
        (void)dir_fd;
        (void)name;
        if (type == DT_DIR)
                return SCAN_GO;
        _cleanup_free_ char *full = str_fmt("%s/%s", h->dir, path);
        file_class_of(h->c->classes, full, &h->c->held);
        if (h->c->held.class == FILE_PLAIN)
                return SCAN_GO;
        free(h->c->holds);
        h->c->holds = str_dup(full);
        return SCAN_STOP;
}

/* classify_by_mode(c, path, verdict): who may write to a directory may replace what is in it, so
 * another mode of a directory that holds something classed, at any depth, has that class. What was
 * found last is kept: directories come in the order of the tree. */
static void classify_by_mode(struct classify *c, const char *path, struct file_class_verdict *v)
{
        _cleanup_free_ char *in = str_fmt("%s/_", path);
        say(v, FILE_PLAIN, "");
        c->is_at = false;
        by_place(c, in, false, v);
        if (v->class != FILE_PLAIN || (c->clean && str_is_beneath(path, c->clean)))
                return;
        if (!c->holds || !str_is_beneath(c->holds, path)) {
                struct classify_hold h = {c, path};
                c->held.class = FILE_PLAIN;
                for (size_t i = 0; i < c->root->after.n && c->held.class == FILE_PLAIN; i++) {
                        _cleanup_close_ int fd = beneath_open_nosym(
                                c->root->after.layers[i].fd, path, O_RDONLY | O_DIRECTORY, 0, NULL);
                        if (fd >= 0)
                                scan_tree(fd, classify_find, &h);
                }
                if (c->held.class == FILE_PLAIN) {
                        free(c->clean);
                        c->clean = str_dup(path);
                        return;
                }
        }
        *v = c->held;
        snprintf(v->why, sizeof v->why, "holds what is: %.60s", c->held.why);
}

/* by_place(c, path, is_dir, verdict): path, shape and settings. true when nothing that the file
 * holds can change it. */
static bool by_place(struct classify *c, const char *path, bool is_dir,
                     struct file_class_verdict *v)
{
        struct file_class_verdict shape;
        file_trail_judge(c->trail, path, v);
        int by_shape = classify_by_shape(c, path, &shape);
        if (v->class == FILE_RUNS_ON_COMMIT)
                return false;
        if (by_shape) {
                *v = shape;
                return by_shape == 2;
        }
        if (is_dir)
                return false;
        classify_said_judge(&c->said, path, v);
        if (v->class == FILE_PLAIN)
                classify_by_links(c, path, 0, v);
        return false;
}

static void judge(struct classify *c, const char *path, enum ws_kind before, enum ws_kind after,
                  bool is_mode, struct file_class_verdict *v)
{
        bool is_dir =
                (after == WS_DIR || after == WS_NONE) && (before == WS_DIR || before == WS_NONE);
        if (by_place(c, path, is_dir, v))
                return;
        if (is_dir && is_mode)
                classify_by_mode(c, path, v);
        else if (is_dir)
                say(v, FILE_PLAIN, "");
        else if (!is_mode) /* who may write to it is no matter of what it holds */
                by_content(c, path, before, after, v);
        /* A harmless configuration is still what makes it one. */
        if (v->class == FILE_PLAIN && c->is_new_git && !is_dir)
                say(v, FILE_RUNS_ON_COMMIT, MAKES_GIT);
}

void classify_at(struct classify *c, const struct ws_dir *before, const struct ws_dir *after)
{
        c->at_before = before;
        c->at_after = after;
        c->is_at = true;
}

/* classify_home(path, verdict): of a private home nothing lands; what the next box gets of it is what
 * the agent keeps: sessions, histories, snapshots. Their place says nothing, since all of it lies in
 * the agent's own directory. What is left is what the next agent obeys, by its own name. */
static void classify_home(const char *path, bool is_dir, struct file_class_verdict *v)
{
        const char *slash = strrchr(path, '/');
        file_class_of(NULL, slash ? slash + 1 : path, v);
        if (v->class != FILE_STEERS_AGENT || is_dir)
                say(v, FILE_PLAIN, "");
}

void classify_change(struct classify *c, struct ws_change *change)
{
        c->judged[0] = 0;
        if (c->root->kind == WS_ROOT_HOME) {
                classify_home(change->path,
                              change->after.kind == WS_DIR || change->before.kind == WS_DIR,
                              &change->class);
                change->judged[0] = 0;
                c->is_at = false;
                return;
        }
        judge(c, change->path, change->before.kind, change->after.kind,
              change->what == WS_MODE && (change->before.mode ^ change->after.mode) & 07777,
              &change->class);
        memcpy(change->judged, c->judged, sizeof change->judged);
        c->is_at = false;
}

void classify_path(struct classify *c, const char *path, enum ws_kind kind,
                   struct file_class_verdict *v)
{
        judge(c, path, WS_NONE, kind, false, v);
}

void classify_place(struct classify *c, const char *path, enum ws_kind kind,
                    struct file_class_verdict *v)
{
        by_place(c, path, kind == WS_DIR, v);
        if (classify_makes_git(v))
                say(v, FILE_PLAIN, "");
}

bool classify_makes_git(const struct file_class_verdict *v)
{
        return strcmp(v->why, MAKES_GIT) == 0;
}

void classify_forget(struct classify *c)
{
        c->path.len = c->levels_n = c->git_n = 0;
}

const struct strs *classify_named(const struct classify *c, const struct strs **configs,
                                  const struct git_words **run)
{
        *configs = &c->said.configs;
        *run = &c->said.named;
        return &c->said.hooks;
}
