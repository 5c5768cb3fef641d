/* land_obstacle.c - may the branch of a work tree move now? Asked before anything is touched; what
 * stands in the way is a sentence, and the ref and its files wait. Reads the host's repository
 * alone. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "git/beneath.h"
#include "git/blob.h"
#include "git/land.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STATUS_MAX = 256 << 20 };

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

static int ask(const struct git_repo *r, const char *const *argv, struct buf *out, struct err *err)
{
        struct git_call call = {.dir = r->dir, .argv = argv, .out = out, .out_fd = -1};
        _cleanup_strs_ struct strs env = {0};
        git_beneath_env(r, &env);
        int status = git_call_host(&call, &env, err);
        return status > 0 ? err_add(err, "ask git %s in %s", argv[0], r->dir) : status;
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
        _cleanup_buf_ struct buf out = {.max = STATUS_MAX};
        if (ask(r, argv, &out, err) < 0)
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

/* One line of `git status --porcelain=v2 -z`. */
struct status_line {
        char index, tree; /* X and Y; '?' twice when it is not tracked */
        const char *id;   /* in the index; NULL: unmerged or untracked */
        size_t id_len;
        const char *path;
};

/* status_read(line, s): "1 XY sub mH mI mW hH hI path", "u XY ... path", "? path". */
static bool status_read(const char *line, struct status_line *s)
{
        *s = (struct status_line){0};
        size_t fields = line[0] == '1' ? 8 : line[0] == 'u' ? 10 : 0;
        if (line[0] == '?' && line[1] == ' ') {
                *s = (struct status_line){.index = '?', .tree = '?', .path = line + 2};
                return true;
        }
        if (fields == 0 || strlen(line) < 5)
                return false;
        s->index = line[2];
        s->tree = line[3];
        const char *at = line;
        for (size_t i = 0; i < fields; i++) {
                if (i == 7 && line[0] == '1') {
                        s->id = at;
                        s->id_len = strcspn(at, " ");
                }
                at = strchr(at, ' ');
                if (!at)
                        return false;
                at++;
        }
        s->path = at;
        return true;
}

/* is_target(tree, s, to): has the host's own file what the commits make of it? */
static bool is_target(const char *tree, const struct status_line *s, const struct git_path *to)
{
        _cleanup_free_ char *path = str_fmt("%s/%s", tree, s->path);
        _cleanup_close_ int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        struct stat st;
        char id[GIT_ID_MAX + 1];
        return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
               git_blob_of_file(fd, (uint64_t)st.st_size, strlen(to->id), id) &&
               strcmp(id, to->id) == 0;
}

/* is_in_the_way(tree, s, to, is_pending, arg): staged as something else than the commits make it,
 * changed where the box's file is another one, or a file of the user's where the commits bring one. */
static bool is_in_the_way(const char *tree, const struct status_line *s, const struct git_path *to,
                          bool (*is_pending)(void *, const char *), void *arg)
{
        bool is_staged = s->index != '.' && s->index != '?';
        if (is_staged && (!s->id || strncmp(s->id, to->id, s->id_len) != 0))
                return true;
        if (s->index == '?' && to->mode && !is_target(tree, s, to))
                return true;
        return s->tree != '.' && is_pending(arg, s->path);
}

static int dirty(const struct git_repo *r, bool (*is_pending)(void *, const char *), void *arg,
                 char **why, struct err *err)
{
        static const char *const argv[] = {"status",
                                           "--porcelain=v2",
                                           "-z",
                                           "--no-renames",
                                           "--untracked-files=all",
                                           "--ignore-submodules=all",
                                           NULL};
        _cleanup_buf_ struct buf out = {.max = STATUS_MAX};
        if (ask(r, argv, &out, err) < 0)
                return -1;
        buf_put_u8(&out, 0);
        for (const char *line = (const char *)out.data; *line; line += strlen(line) + 1) {
                struct status_line s;
                if (!status_read(line, &s))
                        continue;
                const struct git_path *to = git_paths_find(&r->touched, s.path);
                if (!to || !is_in_the_way(r->dir, &s, to, is_pending, arg))
                        continue;
                _cleanup_free_ char *shown = str_quote(s.path);
                *why = str_fmt("%s is %s on the host", shown,
                               s.index != '.' && s.index != '?' ? "staged" : "changed");
                return 0;
        }
        return 0;
}

int git_land_obstacle(const struct git_repo *r, bool (*is_pending)(void *, const char *), void *arg,
                      char **why, struct err *err)
{
        *why = NULL;
        if (!r->host_git)
                return 0;
        *why = busy_words(r);
        if (*why)
                return 0;
        if (elsewhere(r, why, err) < 0)
                return -1;
        return *why ? 0 : dirty(r, is_pending, arg, why, err);
}
