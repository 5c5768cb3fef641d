/* classify.c - see classify.h. Called by the walk for each change, and by live workspaces for each
 * file that protects or endangers the host. Reads at most GIT_CONFIG_MAX bytes of a file, and only
 * of files whose keys decide. */
#include "workspace/classify.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "policy/git_config.h"
#include "policy/git_shape.h"
#include "workspace/classify_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char MAKES_GIT[] = "makes this a git directory";

struct classify {
        const struct ws_root *root;
        const struct file_classes *classes;
        struct classify_said said;
        char *shape_dir; /* the directory asked about last */
        bool shape_before, shape_after;
        char judged[SHA256_HEX_LEN + 1]; /* the content that decided last, or "" */
};

struct classify *classify_new(const struct ws_root *root, const struct file_classes *classes)
{
        struct classify *c = calloc(1, sizeof *c);
        if (!c)
                str_no_memory();
        c->root = root;
        c->classes = classes;
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
        free(c->shape_dir);
        free(c);
}

static void say(struct file_class_verdict *v, enum file_class class, const char *why)
{
        *v = (struct file_class_verdict){.class = class};
        snprintf(v->why, sizeof v->why, "%s", why);
}

/* --- git directories by their shape (case 62) ------------------------------------------------- */

static bool has(const struct ws_view *view, const char *dir, const char *name)
{
        struct ws_node node = {0};
        char *path = str_fmt("%s%s%s", dir, *dir ? "/" : "", name);
        bool is_there = ws_view_look(view, path, &node, NULL) == 0 && node.kind != WS_NONE;
        free(path);
        return is_there;
}

/* As git decides: HEAD, and objects and refs here or where commondir says. */
static bool is_git_shape(const struct ws_view *view, const char *dir)
{
        if (view->n == 0 || !has(view, dir, "HEAD"))
                return false;
        return has(view, dir, "commondir") || (has(view, dir, "objects") && has(view, dir, "refs"));
}

static void look_at_shape(struct classify *c, const char *dir)
{
        if (c->shape_dir && strcmp(c->shape_dir, dir) == 0)
                return;
        free(c->shape_dir);
        c->shape_dir = str_dup(dir);
        c->shape_before = is_git_shape(&c->root->before, dir);
        c->shape_after = is_git_shape(&c->root->after, dir);
}

static bool is_shape_part(const char *rel)
{
        return strcmp(rel, "HEAD") == 0 || strcmp(rel, "objects") == 0 ||
               strcmp(rel, "refs") == 0 || strcmp(rel, "commondir") == 0;
}

/* Most names cannot begin a path within a git directory: a cheap no for deep trees (case 78). */
static bool may_begin(const char *rel)
{
        static const char *const first[] = {
                "HEAD",      "commondir",       "gitdir",       "config",       "hooks",
                "info",      "objects",         "refs",         "remotes",      "branches",
                "safe",      "config.worktree", "rebase-apply", "rebase-merge", "modules",
                "worktrees", "sequencer"};
        size_t n = strcspn(rel, "/");
        for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
                if (strlen(first[i]) == n && strncasecmp(first[i], rel, n) == 0)
                        return true;
        return false;
}

bool classify_is_git_part(const char *name)
{
        return may_begin(name);
}

/* by_shape(c, path, rel, verdict): is a directory above ${path} a git directory, and the path from
 * there one of the files that count? ${rel} is then that path. */
static bool by_shape(struct classify *c, const char *path, const char **rel,
                     struct file_class_verdict *v)
{
        for (const char *at = path; at;) {
                struct file_class_verdict in = {.class = FILE_PLAIN};
                if (may_begin(at))
                        file_class_in_git(at, &in);
                bool is_part = is_shape_part(at);
                if (in.class != FILE_PLAIN || is_part) {
                        size_t n = at == path ? 0 : (size_t)(at - path) - 1;
                        char *dir = str_fmt("%.*s", (int)n, path);
                        look_at_shape(c, dir);
                        bool is_new = is_part && !c->shape_before && c->shape_after &&
                                      git_shape_path(dir) == GIT_NAME_OTHER;
                        free(dir);
                        if (is_new) {
                                say(v, FILE_RUNS_ON_COMMIT, MAKES_GIT);
                                *rel = at;
                                return true;
                        }
                        if (in.class != FILE_PLAIN && (c->shape_before || c->shape_after)) {
                                *v = in;
                                *rel = at;
                                return true;
                        }
                }
                at = strchr(at, '/');
                at = at ? at + 1 : NULL;
        }
        return false;
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

/* by_place(c, path, is_dir, verdict): path, shape and settings. true when nothing that the file
 * holds can change it. */
static bool by_place(struct classify *c, const char *path, bool is_dir,
                     struct file_class_verdict *v)
{
        const char *rel = path;
        struct file_class_verdict shape;
        file_class_of(c->classes, path, v);
        if (v->class == FILE_RUNS_ON_COMMIT)
                return false;
        if (by_shape(c, path, &rel, &shape)) {
                *v = shape;
                return is_shape_part(rel);
        }
        if (!is_dir)
                classify_said_judge(&c->said, path, v);
        return false;
}

static void judge(struct classify *c, const char *path, enum ws_kind before, enum ws_kind after,
                  struct file_class_verdict *v)
{
        bool is_dir =
                (after == WS_DIR || after == WS_NONE) && (before == WS_DIR || before == WS_NONE);
        if (by_place(c, path, is_dir, v))
                return;
        if (is_dir)
                say(v, FILE_PLAIN, "");
        else
                by_content(c, path, before, after, v);
}

void classify_change(struct classify *c, struct ws_change *change)
{
        c->judged[0] = 0;
        judge(c, change->path, change->before.kind, change->after.kind, &change->class);
        memcpy(change->judged, c->judged, sizeof change->judged);
}

void classify_path(struct classify *c, const char *path, enum ws_kind kind,
                   struct file_class_verdict *v)
{
        judge(c, path, WS_NONE, kind, v);
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
        free(c->shape_dir);
        c->shape_dir = NULL;
}

const struct strs *classify_named(const struct classify *c, const struct strs **configs)
{
        *configs = &c->said.configs;
        return &c->said.hooks;
}
