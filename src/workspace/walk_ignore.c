/* walk_ignore.c - which changes are output that the user's repository ignores: asked of the ignore
 * files as they are on the HOST, never of what a box wrote (it would hide its changes), and of the
 * host's index, because a tracked file is never ignored. Called by walk_judge.c; runs no git. What
 * lies outside of the workspace is in walk_above.c. */
#include "workspace/walk_int.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/str.h"
#include "workspace/git_index.h"
#include "workspace/ignore.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* A repository of the host that the walk is in. */
struct walk_repo {
        int git_fd; /* its .git, or -1 when that is a pointer elsewhere */
        struct ignore *exclude;
        const struct ignore *user; /* the walk's */
        bool is_asked, is_known;   /* the index */
        struct git_index index;
};

/* host_fd(w, f): the host's own part of a directory, or -1. */
static int host_fd(const struct walk *w, const struct walk_frame *f)
{
        if (!f->before || f->before->n == 0 || w->root->host_fd < 0)
                return -1;
        const struct ws_part *p = &f->before->parts[f->before->n - 1];
        return p->layer == w->root->before.n - 1 ? p->fd : -1;
}

/* read_plain(dir, path, max, b): a regular file of the host, through no link. */
static int read_plain(int dir, const char *path, size_t max, struct buf *b)
{
        struct stat st;
        _cleanup_close_ int fd =
                openat(dir, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        b->max = max + 1;
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
                return -1;
        return fdio_read_all(fd, b, max);
}

struct ignore *walk_ignore_read(int dir, const char *path)
{
        _cleanup_buf_ struct buf b = {0};
        if (read_plain(dir, path, WALK_RULES_MAX, &b) < 0 || b.len == 0)
                return NULL;
        return ignore_parse((const char *)b.data, b.len);
}

struct walk_repo *walk_repo_open(struct walk *w, int dir)
{
        struct walk_repo *r = calloc(1, sizeof *r);
        if (!r)
                str_no_memory();
        if (!w->is_user_read)
                w->user = walk_above_user();
        w->is_user_read = true;
        r->user = w->user;
        r->git_fd = openat(dir, ".git", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (r->git_fd >= 0)
                r->exclude = walk_ignore_read(r->git_fd, "info/exclude");
        return r;
}

void walk_repo_free(struct walk_repo *r)
{
        if (!r)
                return;
        close_fd(&r->git_fd);
        ignore_free(r->exclude);
        git_index_free(&r->index);
        free(r);
}

enum ignore_says walk_repo_says(const struct walk_repo *r, const char *path, bool is_dir)
{
        enum ignore_says says = ignore_match(r->exclude, path, is_dir);
        return says == IGNORE_SILENT ? ignore_match(r->user, path, is_dir) : says;
}

bool walk_ignore_is_repo(const struct walk *w, const struct walk_frame *f)
{
        struct stat st;
        int dir = w->root->kind == WS_ROOT_COW ? host_fd(w, f) : -1;
        return dir >= 0 && fstatat(dir, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0;
}

void walk_ignore_enter(struct walk *w, struct walk_frame *f)
{
        int dir = w->root->kind == WS_ROOT_COW ? host_fd(w, f) : -1;
        if (dir < 0 || f->ignored)
                return;
        f->rules = walk_ignore_read(dir, ".gitignore");
        if (walk_ignore_is_repo(w, f))
                f->repo = walk_repo_open(w, dir);
        else if (f->depth == 0)
                f->above = walk_above_read(w);
}

void walk_ignore_leave(struct walk_frame *f)
{
        ignore_free(f->rules);
        walk_repo_free(f->repo);
        walk_above_free(f->above);
}

enum ignore_says walk_ignore_says(const struct walk_frame *f, const char *path, bool is_dir)
{
        const struct walk_above *above = NULL;
        for (f = f->ruled; f; f = f->up ? f->up->ruled : NULL) {
                enum ignore_says says = ignore_match(f->rules, path + f->path_len, is_dir);
                if (says == IGNORE_SILENT && f->repo)
                        says = walk_repo_says(f->repo, path + f->path_len, is_dir);
                if (says != IGNORE_SILENT || f->repo)
                        return says;
                above = f->above;
        }
        return walk_above_says(above, path, is_dir);
}

static void index_read(struct walk_repo *repo)
{
        struct stat st;
        _cleanup_buf_ struct buf b = {0};
        repo->is_asked = true;
        if (repo->git_fd < 0)
                return;
        if (fstatat(repo->git_fd, "index", &st, AT_SYMLINK_NOFOLLOW) < 0) {
                repo->is_known = true; /* a fresh repository: nothing is tracked */
                return;
        }
        repo->is_known = read_plain(repo->git_fd, "index", GIT_INDEX_MAX, &b) == 0 &&
                         git_index_parse(&repo->index, b.data, b.len) == 0;
}

enum walk_tracked walk_repo_tracked(struct walk_repo *repo, const char *path)
{
        if (!repo->is_asked)
                index_read(repo);
        if (!repo->is_known)
                return WALK_TRACKED_UNKNOWN;
        return git_index_has(&repo->index, path) ? WALK_TRACKED : WALK_UNTRACKED;
}

enum walk_tracked walk_is_tracked(struct walk_frame *f, const char *path)
{
        const struct walk_above *above = NULL;
        for (f = f->ruled; f && !f->repo; f = f->up ? f->up->ruled : NULL)
                above = f->above;
        return f ? walk_repo_tracked(f->repo, path + f->path_len) : walk_above_tracked(above, path);
}
