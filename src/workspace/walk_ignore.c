/* walk_ignore.c - which changes are output that the user's repository ignores: asked of the ignore
 * files as they are on the HOST, never of what a box wrote (it would hide its changes), and of the
 * host's index, because a tracked file is never ignored. Called by walk_judge.c; runs no git. */
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

enum { RULES_FILE_MAX = 4 << 20 };

/* A repository of the host that the walk is in. */
struct walk_repo {
        int git_fd; /* its .git, or -1 when that is a pointer elsewhere */
        struct ignore *exclude;
        bool is_asked, is_known; /* the index */
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

static struct ignore *read_rules(int dir, const char *path)
{
        _cleanup_buf_ struct buf b = {0};
        if (read_plain(dir, path, RULES_FILE_MAX, &b) < 0 || b.len == 0)
                return NULL;
        return ignore_parse((const char *)b.data, b.len);
}

void walk_ignore_enter(const struct walk *w, struct walk_frame *f)
{
        struct stat st;
        int dir = w->root->kind == WS_ROOT_COW ? host_fd(w, f) : -1;
        if (dir < 0 || f->ignored)
                return;
        f->rules = read_rules(dir, ".gitignore");
        if (fstatat(dir, ".git", &st, AT_SYMLINK_NOFOLLOW) < 0)
                return;
        f->repo = calloc(1, sizeof *f->repo);
        if (!f->repo)
                str_no_memory();
        f->repo->git_fd = openat(dir, ".git", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (f->repo->git_fd >= 0)
                f->repo->exclude = read_rules(f->repo->git_fd, "info/exclude");
}

void walk_ignore_leave(struct walk_frame *f)
{
        ignore_free(f->rules);
        if (!f->repo)
                return;
        close_fd(&f->repo->git_fd);
        ignore_free(f->repo->exclude);
        git_index_free(&f->repo->index);
        free(f->repo);
}

enum ignore_says walk_ignore_says(const struct walk_frame *f, const char *path, bool is_dir)
{
        for (; f; f = f->up) {
                enum ignore_says says = ignore_match(f->rules, path + f->path_len, is_dir);
                if (says == IGNORE_SILENT && f->repo)
                        says = ignore_match(f->repo->exclude, path + f->path_len, is_dir);
                if (says != IGNORE_SILENT || f->repo)
                        return says;
        }
        return IGNORE_SILENT;
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

enum walk_tracked walk_is_tracked(struct walk_frame *f, const char *path)
{
        while (f && !f->repo)
                f = f->up;
        if (!f)
                return WALK_NO_REPO;
        if (!f->repo->is_asked)
                index_read(f->repo);
        if (!f->repo->is_known)
                return WALK_TRACKED_UNKNOWN;
        return git_index_has(&f->repo->index, path + f->path_len) ? WALK_TRACKED : WALK_UNTRACKED;
}
