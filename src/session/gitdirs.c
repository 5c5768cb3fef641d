/* gitdirs.c - see gitdirs.h. Called by the planner. Reads a handful of small files by name, never
 * follows a link at their end, and believes a directory only if it names this workspace itself. */
#include "session/gitdirs.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "base/strs.h"
#include "session/gitconf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { POINTER_MAX = 4096 + 16, CONFIG_MAX = 1 << 20 };

/* A small regular file of ${dir}, not through a link; NULL when there is none. The caller frees. */
static char *small_file(const char *dir, const char *name, size_t max)
{
        _cleanup_free_ char *path = str_fmt("%s/%s", dir, name);
        struct stat st;
        if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
                return NULL;
        return fdio_read_file(AT_FDCWD, path, max, NULL);
}

static bool is_dir(const char *dir, const char *name)
{
        _cleanup_free_ char *path = str_fmt("%s/%s", dir, name);
        struct stat st;
        return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A pointer file's content, taken from ${base} if it is relative, resolved. NULL when it leads
 * nowhere. The caller frees. */
static char *resolved(const char *base, char *text)
{
        text[strcspn(text, "\r\n")] = 0;
        if (!*text)
                return NULL;
        _cleanup_free_ char *path = text[0] == '/' ? str_dup(text) : str_fmt("%s/%s", base, text);
        char real[PATH_MAX];
        return realpath(path, real) ? str_dup(real) : NULL;
}

static bool is_repository(const char *dir)
{
        _cleanup_free_ char *head = small_file(dir, "HEAD", POINTER_MAX);
        return head && is_dir(dir, "objects") && is_dir(dir, "refs");
}

/* Is ${git} COMMON/worktrees/NAME, and does its `gitdir` name this workspace's .git? Returns
 * COMMON, the caller's to free. */
static char *worktree_common(const char *git, const char *dot_git)
{
        _cleanup_free_ char *common_text = small_file(git, "commondir", POINTER_MAX);
        _cleanup_free_ char *back_text = small_file(git, "gitdir", POINTER_MAX);
        if (!common_text || !back_text)
                return NULL;
        _cleanup_free_ char *common = resolved(git, common_text);
        _cleanup_free_ char *back = resolved(git, back_text);
        if (!common || !back || strcmp(back, dot_git) != 0 || !is_repository(common))
                return NULL;
        _cleanup_free_ char *trees = str_fmt("%s/worktrees/", common);
        const char *name = git + strlen(trees);
        if (!str_starts(git, trees) || !*name || strchr(name, '/'))
                return NULL;
        return take_ptr(&common);
}

/* Is ${git} a whole repository whose core.worktree names this workspace? (submodules) */
static bool is_module_of(const char *git, const char *workspace)
{
        static const char *const files[] = {"config", "config.worktree"};
        if (!is_repository(git))
                return false;
        for (size_t i = 0; i < 2; i++) {
                _cleanup_free_ char *text = small_file(git, files[i], CONFIG_MAX);
                _cleanup_free_ char *value = text ? gitconf_get(text, "core", "worktree") : NULL;
                _cleanup_free_ char *back = value ? resolved(git, value) : NULL;
                if (back && strcmp(back, workspace) == 0)
                        return true;
        }
        return false;
}

static void refuse(struct strs *notes, const char *path, const char *why)
{
        _cleanup_free_ char *shown = str_quote(path);
        if (notes)
                strs_addf(notes, "%s\n%s", shown, why);
}

/* Even a directory that points back is not shown when it is far more than a repository. */
static const char *too_much(const char *dir, const char *home)
{
        if (strcmp(dir, "/") == 0)
                return "it is the whole machine";
        char real[PATH_MAX];
        if (home &&
            (str_is_beneath(home, dir) || (realpath(home, real) && str_is_beneath(real, dir))))
                return "it is or holds your home directory";
        return NULL;
}

/* A repository that borrows objects of another one: nothing there points back, so it is only said.
 */
static void note_alternates(const char *git, const char *workspace, struct strs *notes)
{
        _cleanup_free_ char *info = str_fmt("%s/objects/info", git);
        _cleanup_free_ char *text = small_file(info, "alternates", CONFIG_MAX);
        for (char *p = text; p && *p;) {
                size_t n = strcspn(p, "\r\n");
                _cleanup_free_ char *line = str_fmt("%.*s", (int)n, p);
                if (line[0] == '/' && !str_is_beneath(line, workspace))
                        refuse(notes, line,
                               "the repository borrows objects from it; show it with --bind");
                p += n + (p[n] != 0);
        }
}

int gitdirs_find(const char *workspace, const char *home, struct strs *dirs, struct strs *notes,
                 struct err *err)
{
        _cleanup_free_ char *dot_git = str_fmt("%s/.git", workspace);
        struct stat st;
        if (lstat(dot_git, &st) < 0) {
                if (errno == ENOENT || errno == ENOTDIR)
                        return 0;
                return err_sys(err, "look at %s", dot_git);
        }
        if (S_ISDIR(st.st_mode)) {
                note_alternates(dot_git, workspace, notes);
                return 0;
        }
        if (!S_ISREG(st.st_mode)) {
                refuse(notes, dot_git, "it is neither a directory nor a pointer to one");
                return 0;
        }

        _cleanup_free_ char *text = small_file(workspace, ".git", POINTER_MAX);
        if (!text || !str_starts(text, "gitdir: ")) {
                refuse(notes, dot_git, "it is not a pointer that git would follow");
                return 0;
        }
        _cleanup_free_ char *git = resolved(workspace, text + strlen("gitdir: "));
        if (!git) {
                refuse(notes, dot_git, "it points to a directory that is not there");
                return 0;
        }
        if (str_is_beneath(git, workspace))
                return 0;

        /* Case 62: only a directory that itself says it belongs to this workspace. */
        _cleanup_free_ char *common = worktree_common(git, dot_git);
        const char *dir = common ? common : git;
        if (!common && !is_module_of(git, workspace)) {
                refuse(notes, git, "the workspace's .git names it, but it does not point back");
                return 0;
        }
        const char *why = too_much(dir, home);
        if (why) {
                refuse(notes, dir, why);
                return 0;
        }
        if (!str_is_beneath(dir, workspace) && !strs_has(dirs, dir))
                strs_add(dirs, dir);
        note_alternates(dir, workspace, notes);
        return 0;
}
