/* committed.c - see committed.h. Reads the box's file through its view; never runs git. */
#include "session/committed.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "git/blob.h"
#include "session/fetched.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* A file up to this size is read; of a larger one the sizes are compared first. */
enum { COMMITTED_SMALL = 1 << 20 };
#define COMMITTED_UNTOLD_MAX ((uint64_t)256 << 20) /* of an entry whose size nobody tells */

/* committed_may_be(r, p, size): can a file of that size be what the entry has? */
static bool committed_may_be(struct git_repo *r, const struct git_path *p, uint64_t size)
{
        uint64_t is;
        if (size <= COMMITTED_SMALL)
                return true;
        return r && git_blob_size(r, p, &is) ? is == size : size <= COMMITTED_UNTOLD_MAX;
}

static bool committed_file(const struct ws_change *ch, struct git_repo *r, const struct git_path *p)
{
        struct ws_node node;
        char id[GIT_ID_MAX + 1];
        bool is_exec = ch->after.mode & S_IXUSR;
        if (p->mode != (is_exec ? 0100755u : 0100644u))
                return false;
        _cleanup_close_ int fd = ws_view_file(&ch->root->after, ch->path, &node, NULL);
        return fd >= 0 && committed_may_be(r, p, node.size) &&
               git_blob_of_file(fd, node.size, strlen(p->id), id) && strcmp(id, p->id) == 0;
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

/* committed_same(ch, r, p): has the box's work tree what its HEAD has? ${r}: whose touched has ${p},
 * or NULL. */
static bool committed_same(const struct ws_change *ch, struct git_repo *r, const struct git_path *p)
{
        switch (ch->after.kind) {
        case WS_NONE:
                return p->mode == 0;
        case WS_FILE:
                return committed_file(ch, r, p);
        case WS_LINK:
                return committed_link(ch, p);
        case WS_DIR:
        case WS_SPECIAL:
                break;
        }
        return false;
}

/* committed_touch(f, path, repo): the deepest repository around ${path} whose commits touch it; one
 * that only the box has hides none of the host's. NULL: none does. */
static const struct git_path *committed_touch(const struct git_fetch *f, const char *path,
                                              struct git_repo **repo)
{
        const struct git_path *best = NULL;
        size_t best_rank = 0;
        for (size_t i = 0; i < f->n; i++) {
                struct git_repo *r = &f->v[i];
                const char *in = fetched_path(r, path);
                const struct git_path *p = in ? git_paths_find(&r->touched, in) : NULL;
                size_t rank = strlen(r->path) + (r->host_git ? PATH_MAX : 0);
                if (!p || (best && rank < best_rank))
                        continue;
                best = p;
                best_rank = rank;
                *repo = r;
        }
        return best;
}

enum committed committed_of(const struct git_fetch *f, const struct ws_change *ch,
                            struct git_repo **repo)
{
        bool is_ws = strcmp(ch->root->name, "ws") == 0;
        struct git_repo *r = is_ws ? fetched_repo(f, ch->path) : NULL;
        /* Files of a work tree that the host does not have stay with it. */
        bool is_spare = r && r->is_spare;
        const struct git_path *p = is_ws && !is_spare ? committed_touch(f, ch->path, &r) : NULL;
        if (repo)
                *repo = r;
        if (is_spare)
                return COMMITTED_AND_CHANGED;
        if (!p)
                return COMMITTED_NOT_TOUCHED;
        return committed_same(ch, r, p) ? COMMITTED_WHOLLY : COMMITTED_AND_CHANGED;
}

bool committed_is_in_tree(const struct ws_root *root, const struct git_repo *r,
                          const struct git_path *p)
{
        _cleanup_free_ char *path =
                *r->path ? str_fmt("%s/%s", r->path, p->path) : str_dup(p->path);
        struct ws_change ch = {.root = root, .path = path};
        return ws_view_look(&root->after, path, &ch.after, NULL) == 0 &&
               committed_same(&ch, NULL, p);
}
