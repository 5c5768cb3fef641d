/* git_extra.c - see git_extra.h. Reads the box's layers through their view; runs nothing. Where the git
 * directory lies is the box's word: it is only looked up below the workspace, through no link. */
#include "session/git_extra.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "base/strs.h"
#include "git/fetch.h"
#include "session/changes.h"
#include "workspace/objects.h"

#include <stdlib.h>
#include <string.h>

/* Directories of a git directory whose files git obeys or runs. */
static const char *const extra_dirs[] = {"hooks", "info", "rr-cache"};
/* And files. */
static const char *const extra_files[] = {"config.worktree", "objects/info/alternates",
                                          "objects/info/http-alternates", "shallow"};

static void extra_close(struct ws_dir **d)
{
        ws_dir_close(*d);
}
#define _cleanup_ws_dir_ __attribute__((cleanup(extra_close)))

/* extra_open(v, path): a directory of the view, or NULL. */
static struct ws_dir *extra_open(const struct ws_view *v, const char *path)
{
        _cleanup_free_ char *copy = str_dup(path);
        struct ws_dir *d = ws_dir_root(v, NULL);
        char *rest = copy;
        for (char *name; d && (name = strsep(&rest, "/"));) {
                if (!*name || strcmp(name, ".") == 0)
                        continue;
                struct ws_dir *below = strcmp(name, "..") ? ws_dir_open(d, name, NULL) : NULL;
                ws_dir_close(d);
                d = below;
        }
        return d;
}

static bool extra_content(const struct ws_view *v, const char *path, char sha[SHA256_HEX_LEN + 1])
{
        struct ws_node node;
        _cleanup_close_ int fd = ws_view_file(v, path, &node, NULL);
        return fd >= 0 && objects_hash(fd, sha, NULL) == 0;
}

/* extra_differs(root, path): is it something else than on the host? */
static bool extra_differs(const struct ws_root *root, const char *path)
{
        struct ws_node was, is;
        char a[SHA256_HEX_LEN + 1], b[SHA256_HEX_LEN + 1];
        _cleanup_buf_ struct buf from = {0}, to = {0};
        if (ws_view_look(&root->before, path, &was, NULL) < 0 ||
            ws_view_look(&root->after, path, &is, NULL) < 0)
                return true;
        if (was.kind != is.kind)
                return true;
        switch (is.kind) {
        case WS_FILE:
                return ((was.mode ^ is.mode) & 0777) || was.size != is.size ||
                       !extra_content(&root->before, path, a) ||
                       !extra_content(&root->after, path, b) || strcmp(a, b) != 0;
        case WS_LINK:
                return ws_view_link(&root->before, path, &from, NULL) < 0 ||
                       ws_view_link(&root->after, path, &to, NULL) < 0 ||
                       strcmp(buf_cstr(&from), buf_cstr(&to)) != 0;
        case WS_NONE:
        case WS_DIR:
        case WS_SPECIAL:
                break;
        }
        return false;
}

static void extra_note(const struct ws_root *root, const char *git, const char *name,
                       struct strs *names)
{
        _cleanup_free_ char *path = str_fmt("%s/%s", git, name);
        if (names->n < GIT_EXTRA_MAX && extra_differs(root, path))
                strs_add(names, name);
}

/* extra_dir(root, git, name, names): only what the box's own layers mention. */
static void extra_dir(const struct ws_root *root, const char *git, const char *name,
                      struct strs *names)
{
        _cleanup_free_ char *path = str_fmt("%s/%s", git, name);
        _cleanup_ws_dir_ struct ws_dir *d = extra_open(&root->after, path);
        struct ws_names all = {0};
        if (d && ws_dir_list(d, root->top_n, &all, NULL) == 0)
                for (size_t i = 0; i < all.n && i < GIT_EXTRA_MAX; i++) {
                        _cleanup_free_ char *one = str_fmt("%s/%s", name, all.v[i]);
                        if (!str_ends(one, ".sample"))
                                extra_note(root, git, one, names);
                }
        ws_names_free(&all);
}

/* extra_git(c, r): the git directory from the top of the workspace; NULL: it lies elsewhere. */
static const char *extra_git(const struct changes *c, const struct git_repo *r)
{
        size_t top = strlen(c->workspace);
        if (!r->box_common || r->shares || !str_is_beneath(r->box_common, c->workspace) ||
            !r->box_common[top])
                return NULL;
        return r->box_common + top + 1;
}

void git_extra_list(const struct changes *c, const struct git_repo *r, struct strs *names)
{
        const struct ws_root *root = c->roots.n ? &c->roots.v[0] : NULL;
        const char *git = extra_git(c, r);
        if (!git || !root || strcmp(root->name, "ws") != 0 || root->host_fd < 0)
                return;
        extra_dir(root, git, extra_dirs[0], names);
        /* What git itself writes into a new repository says nothing. */
        for (size_t i = 1; r->host_git && i < sizeof extra_dirs / sizeof *extra_dirs; i++)
                extra_dir(root, git, extra_dirs[i], names);
        for (size_t i = 0; i < sizeof extra_files / sizeof *extra_files; i++)
                extra_note(root, git, extra_files[i], names);
}
