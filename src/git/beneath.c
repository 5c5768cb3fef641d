/* beneath.c - see beneath.h. */
#include "git/beneath.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int git_beneath(const char *workspace, const char *path)
{
        struct err err = {0};
        _cleanup_close_ int top = open(workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (top < 0)
                return errno == ENOENT ? 0 : -1;
        if (!*path)
                return 1;
        _cleanup_close_ int fd =
                beneath_open_nosym(top, path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, &err);
        if (fd >= 0)
                return 1;
        return err.sys == ENOENT ? 0 : -1;
}

void git_beneath_env(const struct git_repo *r, struct strs *env)
{
        if (!r->host_git)
                return;
        strs_addf(env, "GIT_DIR=%s", r->host_git);
        strs_addf(env, "GIT_WORK_TREE=%s", r->dir);
}
