/* walk_above.c - what is ignored by files outside of the workspace: ignore files of the repository
 * that the workspace is a directory of, with that repository's index, and the ignore file that the
 * user's own git settings name. Called by walk_ignore.c when nothing within the workspace spoke.
 *
 * All of them are the host's; no box of this workspace can reach them. A repository above that
 * belongs to somebody else (/tmp/.git) says nothing, as for git itself: who made it could hide
 * changes. Runs no git. */
#include "workspace/walk_int.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "workspace/git_user.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ABOVE_MAX = 64 };

struct walk_above {
        struct {
                struct ignore *rules;
                char *prefix; /* from there to the workspace, with a slash at the end */
        } v[ABOVE_MAX];       /* the nearest first; the last has the repository */
        size_t n;
        struct walk_repo *repo;
};

void walk_above_free(struct walk_above *a)
{
        if (!a)
                return;
        for (size_t i = 0; i < a->n; i++) {
                ignore_free(a->v[i].rules);
                free(a->v[i].prefix);
        }
        walk_repo_free(a->repo);
        free(a);
}

/* says(a, path, is_dir): ${path} from the workspace on; "" is the workspace itself. */
static enum ignore_says says(const struct walk_above *a, const char *path, bool is_dir)
{
        for (size_t i = 0; i < a->n; i++) {
                _cleanup_free_ char *full = str_fmt("%s%s", a->v[i].prefix, path);
                size_t len = strlen(full);
                if (len && full[len - 1] == '/')
                        full[len - 1] = '\0';
                enum ignore_says s = ignore_match(a->v[i].rules, full, is_dir);
                if (s == IGNORE_SILENT && i == a->n - 1)
                        s = walk_repo_says(a->repo, full, is_dir);
                if (s != IGNORE_SILENT)
                        return s;
        }
        return IGNORE_SILENT;
}

enum ignore_says walk_above_says(const struct walk_above *a, const char *path, bool is_dir)
{
        return a ? says(a, path, is_dir) : IGNORE_SILENT;
}

enum walk_tracked walk_above_tracked(const struct walk_above *a, const char *path)
{
        if (!a)
                return WALK_NO_REPO;
        _cleanup_free_ char *full = str_fmt("%s%s", a->v[a->n - 1].prefix, path);
        return walk_repo_tracked(a->repo, full);
}

/* is_trusted(dir, name, root): whose word counts: one's own, root's, and of whoever has the
 * workspace itself. */
static bool is_trusted(int dir, const char *name, const struct stat *root)
{
        struct stat st;
        return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
               (st.st_uid == geteuid() || st.st_uid == 0 || st.st_uid == root->st_uid);
}

/* step_up(fd, name): the directory above, if ${fd} is there under that name, on one filesystem. */
static int step_up(int fd, const char *name)
{
        struct stat here, above, there;
        _cleanup_close_ int up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (up < 0 || fstat(fd, &here) < 0 || fstat(up, &above) < 0 ||
            fstatat(up, name, &there, AT_SYMLINK_NOFOLLOW) < 0)
                return -1;
        bool is_same = here.st_dev == there.st_dev && here.st_ino == there.st_ino;
        return is_same && above.st_dev == here.st_dev && above.st_ino != here.st_ino ? take_fd(&up)
                                                                                     : -1;
}

/* find(w, a): true when there is a repository above. */
static bool find(struct walk *w, struct walk_above *a)
{
        struct stat root, st;
        _cleanup_free_ char *path = str_dup(w->root->host), *prefix = str_dup("");
        _cleanup_close_ int fd = dup(w->root->host_fd);
        if (fd < 0 || fstat(fd, &root) < 0)
                return false;
        while (a->n < ABOVE_MAX) {
                char *slash = strrchr(path, '/');
                if (!slash || !slash[1])
                        return false;
                int up = step_up(fd, slash + 1);
                if (up < 0)
                        return false;
                close_fd(&fd);
                fd = up;
                char *longer = str_fmt("%s/%s", slash + 1, prefix);
                free(prefix);
                prefix = longer;
                *slash = '\0';
                a->v[a->n].rules = is_trusted(fd, ".gitignore", &root)
                                           ? walk_ignore_read(fd, ".gitignore")
                                           : NULL;
                a->v[a->n++].prefix = str_dup(prefix);
                if (fstatat(fd, ".git", &st, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                if (!is_trusted(fd, ".git", &root))
                        return false;
                a->repo = walk_repo_open(w, fd);
                return true;
        }
        return false;
}

struct walk_above *walk_above_read(struct walk *w)
{
        struct walk_above *a = calloc(1, sizeof *a);
        if (!a)
                str_no_memory();
        bool is_found = find(w, a);
        /* Who works in a directory that is ignored wants to see what changes there. */
        for (size_t i = 0; is_found && i < a->n; i++) {
                _cleanup_free_ char *whole = str_dup(a->v[a->n - 1].prefix);
                size_t keep = strlen(whole) - (i ? strlen(a->v[i - 1].prefix) : 0);
                whole[keep ? keep - 1 : 0] = '\0';
                is_found = ignore_match(a->v[a->n - 1].rules, whole, true) != IGNORE_YES &&
                           walk_repo_says(a->repo, whole, true) != IGNORE_YES;
        }
        if (is_found && says(a, "", true) != IGNORE_YES)
                return a;
        walk_above_free(a);
        return NULL;
}

/* --- the user's own ignore file ----------------------------------------------------------------
 */

struct ignore *walk_above_user(void)
{
        _cleanup_git_user_ struct git_user u;
        _cleanup_buf_ struct buf b = {0};
        git_user_open(&u);
        const char *named = git_user_last(&u, "core.excludesfile");
        _cleanup_free_ char *path =
                named ? git_user_path(&u, named, NULL) : str_fmt("%s/git/ignore", u.config_dir);
        if (!*u.home || *path != '/' || git_user_bytes(path, WALK_RULES_MAX, &b) < 0 || b.len == 0)
                return NULL;
        return ignore_parse((const char *)b.data, b.len);
}
