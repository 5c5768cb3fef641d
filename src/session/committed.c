/* committed.c - see committed.h. Reads the box's file through its view; never runs git. */
#include "session/committed.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "git/blob.h"
#include "git/held.h"
#include "session/fetched.h"
#include "workspace/apply.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* A file up to this size is read; of a larger one the sizes are compared first. */
enum { COMMITTED_SMALL = 64 << 10 };
enum { COMMITTED_CONVERT_MAX = 64 << 20 }; /* git reads a file as a whole to convert it */

/* Bytes of larger files, of all together, whose size nobody tells but the box: a file of holes costs
 * it nothing. */
static uint64_t committed_untold_left = (uint64_t)512 << 20;

/* committed_may_be(r, p, size): can a file of that size be what the entry has? */
static bool committed_may_be(struct git_repo *r, const struct git_path *p, uint64_t size)
{
        uint64_t is = size;
        if (size <= COMMITTED_SMALL)
                return true;
        enum git_blob_told told = git_blob_size(r, p, &is);
        if (told == GIT_BLOB_TOLD || is != size)
                return is == size;
        if (size > committed_untold_left)
                return false;
        committed_untold_left -= size;
        return true;
}

/* committed_mode(n): of a regular file, as git knows modes. */
static unsigned committed_mode(const struct ws_node *n)
{
        return n->mode & S_IXUSR ? 0100755u : 0100644u;
}

static bool committed_file(const struct ws_change *ch, struct git_repo *r, const struct git_path *p)
{
        struct ws_node node;
        char id[GIT_ID_MAX + 1];
        if (p->mode != committed_mode(&ch->after))
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

/* committed_bytes(ch, r, p): has the box's work tree what ${p}, an entry of ${r}, has, byte by byte? */
static bool committed_bytes(const struct ws_change *ch, struct git_repo *r,
                            const struct git_path *p)
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

/* committed_same(ch, r, p): that, or what git makes of it by the box's own attributes and settings. The
 * box's word: good enough to call a file committed, and never to leave one out. */
static bool committed_same(const struct ws_change *ch, struct git_repo *r, const struct git_path *p)
{
        if (p->is_converted && ch->after.kind == WS_FILE && p->mode == committed_mode(&ch->after))
                return true;
        return committed_bytes(ch, r, p);
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

/* committed_find(f, ch, repo, is_spare): the entry that a new commit has for it, or NULL. */
static const struct git_path *committed_find(const struct git_fetch *f, const struct ws_change *ch,
                                             struct git_repo **repo, bool *is_spare)
{
        bool is_ws = strcmp(ch->root->name, "ws") == 0;
        *repo = is_ws ? fetched_repo(f, ch->path) : NULL;
        /* Files of a work tree that the host does not have stay with it. */
        *is_spare = *repo && (*repo)->is_spare;
        return is_ws && !*is_spare ? committed_touch(f, ch->path, repo) : NULL;
}

enum committed committed_of(const struct git_fetch *f, const struct ws_change *ch,
                            struct git_repo **repo)
{
        struct git_repo *r = NULL;
        bool is_spare;
        const struct git_path *p = committed_find(f, ch, &r, &is_spare);
        if (repo)
                *repo = r;
        if (is_spare)
                return COMMITTED_AND_CHANGED;
        if (!p)
                return COMMITTED_NOT_TOUCHED;
        return committed_same(ch, r, p) ? COMMITTED_WHOLLY : COMMITTED_AND_CHANGED;
}

bool committed_touches(const struct git_fetch *f, const struct ws_change *ch,
                       struct git_repo **repo)
{
        struct git_repo *r = NULL;
        bool is_spare;
        const struct git_path *p = committed_find(f, ch, &r, &is_spare);
        if (repo)
                *repo = r;
        return is_spare || p;
}

/* committed_entry(r, ch, p): of a repository whose HEAD the host has: what that has at the path. A commit
 * that was fetched from this box before is its own work; of any other only what the host has otherwise
 * by now: the box may have put a file back to what HEAD has, and that is a change. */
static const struct git_path *committed_entry(struct git_repo *r, const struct ws_change *ch,
                                              const struct git_path *touched)
{
        if (touched || r->held != GIT_HELD_TAKEN || ch->after.kind == WS_NONE)
                return touched;
        return git_held_entry(r, fetched_path(r, ch->path));
}

bool committed_is_held(const struct git_fetch *f, const struct ws_change *ch,
                       const struct applied *applied)
{
        struct git_repo *r = NULL;
        bool is_spare;
        enum apply_conflict conflict;
        const struct git_path *touched = committed_find(f, ch, &r, &is_spare);
        if (!r || is_spare || r->waits || r->held == GIT_HELD_NOT ||
            (ch->after.kind != WS_FILE && ch->after.kind != WS_LINK && ch->after.kind != WS_NONE))
                return false;
        const struct git_path *p = committed_entry(r, ch, touched);
        return p && committed_bytes(ch, r, p) && apply_judge(ch, applied, &conflict, NULL) == 0 &&
               conflict != APPLY_CLEAR;
}

enum git_in_tree committed_in_tree(const struct ws_root *root, struct git_repo *r,
                                   const struct git_path *p)
{
        _cleanup_free_ char *path =
                *r->path ? str_fmt("%s/%s", r->path, p->path) : str_dup(p->path);
        struct ws_change ch = {.root = root, .path = path};
        if (ws_view_look(&root->after, path, &ch.after, NULL) < 0)
                return GIT_IN_TREE_OTHER;
        if (committed_same(&ch, r, p))
                return GIT_IN_TREE_SAME;
        bool is_file = ch.after.kind == WS_FILE && p->mode == committed_mode(&ch.after);
        return is_file && ch.after.size <= COMMITTED_CONVERT_MAX ? GIT_IN_TREE_FILE
                                                                 : GIT_IN_TREE_OTHER;
}

bool committed_is_in_tree(const struct ws_root *root, struct git_repo *r, const struct git_path *p)
{
        return committed_in_tree(root, r, p) == GIT_IN_TREE_SAME;
}
