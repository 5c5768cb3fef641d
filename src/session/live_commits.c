/* live_commits.c - see live_commits.h. */
#include "session/live_commits.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "git/since.h"

#include <string.h>
#include <unistd.h>

enum { TIPS_MAX = 64 << 20 };

int live_commits_begin(const char *workspace, int dir_fd, struct err *err)
{
        _cleanup_free_ char *git = str_fmt("%s/.git", workspace);
        if (access(git, F_OK) < 0 || !git_call_is_there())
                return 0;
        _cleanup_strs_ struct strs ids = {0};
        if (git_since_tips(workspace, &ids, err) < 0)
                return -1;
        _cleanup_buf_ struct buf b = {.max = TIPS_MAX};
        for (size_t i = 0; i < ids.n; i++)
                buf_put_fmt(&b, "%s\n", ids.v[i]);
        return fdio_write_file(dir_fd, "git-tips", buf_cstr(&b), 0600, err);
}

int live_commits_since(const char *workspace, int dir_fd, const struct file_classes *classes,
                       size_t *commits_n, struct git_paths *paths, struct err *err)
{
        *commits_n = 0;
        _cleanup_free_ char *text = fdio_read_file(dir_fd, "git-tips", TIPS_MAX, NULL);
        if (!text)
                return 0;
        _cleanup_strs_ struct strs ids = {0};
        char *rest = text;
        for (char *line; (line = strsep(&rest, "\n"));)
                if (*line)
                        strs_add(&ids, line);
        return git_since(workspace, &ids, classes, commits_n, paths, err);
}
