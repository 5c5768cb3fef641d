/* land_obstacle.c - may the branch of a work tree move now? Asked before anything is touched; what
 * stands in the way is a sentence, and the ref and its files wait. Reads the host's repository
 * alone. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "git/land_dirty.h"

#include <string.h>
#include <unistd.h>

enum { TREES_MAX = 256 << 20 };

/* Files in a git directory that say what is under way. */
static const struct {
        const char *name, *words;
} under_way[] = {
        {"rebase-merge", "a rebase is under way"},
        {"rebase-apply", "a rebase or `git am` is under way"},
        {"MERGE_HEAD", "a merge is under way"},
        {"CHERRY_PICK_HEAD", "a cherry-pick is under way"},
        {"REVERT_HEAD", "a revert is under way"},
        {"BISECT_LOG", "a bisect is under way"},
        {"sequencer", "a cherry-pick or revert is under way"},
};

static char *busy_words(const struct git_repo *r)
{
        for (size_t i = 0; i < sizeof under_way / sizeof *under_way; i++) {
                _cleanup_free_ char *path = str_fmt("%s/%s", r->host_git, under_way[i].name);
                if (access(path, F_OK) == 0)
                        return str_dup(under_way[i].words);
        }
        return NULL;
}

/* is_own(r, tree): is it this work tree? Git lists the main work tree of a submodule, and of a git
 * directory that lies elsewhere, by the git directory. */
static bool is_own(const struct git_repo *r, const char *tree)
{
        return strcmp(tree, r->dir) == 0 || strcmp(tree, r->host_git) == 0;
}

/* elsewhere(r, why): is the branch checked out in another work tree too? */
static int elsewhere(const struct git_repo *r, char **why, struct err *err)
{
        static const char *const argv[] = {"worktree", "list", "--porcelain", NULL};
        _cleanup_buf_ struct buf out = {.max = TREES_MAX};
        if (land_host_ask(r, argv, &out, err) < 0)
                return -1;
        _cleanup_free_ char *text = str_dup(buf_cstr(&out));
        _cleanup_free_ char *branch = str_fmt("branch %s", r->head);
        const char *tree = "";
        char *rest = text;
        for (char *line; (line = strsep(&rest, "\n"));) {
                if (str_starts(line, "worktree "))
                        tree = line + strlen("worktree ");
                else if (strcmp(line, branch) == 0 && !is_own(r, tree)) {
                        _cleanup_free_ char *shown = str_quote(tree);
                        *why = str_fmt("the branch is checked out in %s too", shown);
                        return 0;
                }
        }
        return 0;
}

int git_land_obstacle(const struct git_repo *r, git_land_box_fn *box, void *arg, char **why,
                      struct err *err)
{
        *why = NULL;
        if (!r->host_git)
                return 0;
        *why = busy_words(r);
        if (*why)
                return 0;
        if (elsewhere(r, why, err) < 0)
                return -1;
        return *why ? 0 : land_dirty(r, box, arg, why, err);
}
