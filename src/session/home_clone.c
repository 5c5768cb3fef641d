/* home_clone.c - a new version begins as the one before it: directories made again, files linked.
 *
 * Called by home_accept. Links are safe here and only here, because no version is ever written to
 * once it is there: a change always puts a new file in the place of the old one. */
#include "base/cleanup.h"
#include "base/err.h"
#include "session/home_int.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH_MAX = 64 };

static int clone_dir(const struct home_run *run, const struct home_node *n, const char *name,
                     int to_fd, int depth, struct err *err)
{
        if (depth >= DEPTH_MAX)
                return err_set(err, E_INPUT, "%s is too deep", name);
        if (mkdirat(to_fd, name, 0700) < 0 && errno != EEXIST)
                return err_sys(err, "make the directory %s", name);
        if (home_own(run, to_fd, name, err) < 0)
                return -1;
        _cleanup_close_ int to = openat(to_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        _cleanup_close_ int from = home_node_reopen(n, O_RDONLY | O_DIRECTORY);
        _cleanup_closedir_ DIR *d = from < 0 ? NULL : fdopendir(from);
        if (to < 0 || !d)
                return err_sys(err, "open the directory %s", name);
        int from_fd = take_fd(&from);
        struct dirent *e;
        while ((errno = 0, e = readdir(d))) {
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                if (home_clone(run, from_fd, e->d_name, to, depth + 1, err) < 0)
                        return -1;
        }
        return errno ? err_sys(err, "read the directory %s", name) : 0;
}

int home_clone(const struct home_run *run, int from_fd, const char *name, int to_fd, int depth,
               struct err *err)
{
        _cleanup_node_ struct home_node n;
        if (home_node_open(from_fd, name, &n) < 0)
                return errno == ENOENT ? 0 : err_sys(err, "look at %s", name);
        if (S_ISDIR(n.st.st_mode))
                return clone_dir(run, &n, name, to_fd, depth, err);
        if (!S_ISREG(n.st.st_mode) && !S_ISLNK(n.st.st_mode))
                return 0;
        if (linkat(from_fd, name, to_fd, name, 0) == 0)
                return 0;
        return err_sys(err, "keep %s", name);
}
