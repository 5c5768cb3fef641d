/* committed.c - see committed.h. Reads the box's file through its view; never runs git. */
#include "session/committed.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "git/blob.h"
#include "session/fetched.h"

#include <string.h>
#include <sys/stat.h>

static bool committed_file(const struct ws_change *ch, const struct git_path *p)
{
        struct ws_node node;
        char id[GIT_ID_MAX + 1];
        bool is_exec = ch->after.mode & S_IXUSR;
        if (p->mode != (is_exec ? 0100755u : 0100644u))
                return false;
        _cleanup_close_ int fd = ws_view_file(&ch->root->after, ch->path, &node, NULL);
        return fd >= 0 && git_blob_of_file(fd, node.size, strlen(p->id), id) &&
               strcmp(id, p->id) == 0;
}

static bool committed_link(const struct ws_change *ch, const struct git_path *p)
{
        _cleanup_buf_ struct buf target = {0};
        char id[GIT_ID_MAX + 1];
        if (p->mode != 0120000u || ws_view_link(&ch->root->after, ch->path, &target, NULL) < 0)
                return false;
        git_blob_of(buf_cstr(&target), target.len, strlen(p->id), id);
        return strcmp(id, p->id) == 0;
}

/* committed_same(ch, p): has the box's work tree what its HEAD has? */
static bool committed_same(const struct ws_change *ch, const struct git_path *p)
{
        switch (ch->after.kind) {
        case WS_NONE:
                return p->mode == 0;
        case WS_FILE:
                return committed_file(ch, p);
        case WS_LINK:
                return committed_link(ch, p);
        case WS_DIR:
        case WS_SPECIAL:
                break;
        }
        return false;
}

enum committed committed_of(const struct git_fetch *f, const struct ws_change *ch,
                            struct git_repo **repo)
{
        struct git_repo *r = strcmp(ch->root->name, "ws") == 0 ? fetched_repo(f, ch->path) : NULL;
        if (repo)
                *repo = r;
        /* Files of a work tree that the host does not have stay with it. */
        if (r && r->is_spare)
                return COMMITTED_AND_CHANGED;
        const struct git_path *p =
                r ? git_paths_find(&r->touched, fetched_path(r, ch->path)) : NULL;
        if (!p)
                return COMMITTED_NOT_TOUCHED;
        return committed_same(ch, p) ? COMMITTED_WHOLLY : COMMITTED_AND_CHANGED;
}

bool committed_is_in_tree(const struct ws_root *root, const struct git_repo *r,
                          const struct git_path *p)
{
        _cleanup_free_ char *path =
                *r->path ? str_fmt("%s/%s", r->path, p->path) : str_dup(p->path);
        struct ws_change ch = {.root = root, .path = path};
        return ws_view_look(&root->after, path, &ch.after, NULL) == 0 && committed_same(&ch, p);
}
