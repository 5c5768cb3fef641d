/* home_node.c - looking at one thing in a tree that a box wrote. Called by home_merge.c and
 * home_clone.c. Nothing is opened for reading before it is known what it is: a FIFO would make us
 * wait, a device would do worse. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "base/strs.h"
#include "session/home_int.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

int home_node_open(int dir_fd, const char *name, struct home_node *n)
{
        n->fd = openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (n->fd < 0)
                return -1;
        if (fstat(n->fd, &n->st) == 0)
                return 0;
        int saved = errno;
        close_fd(&n->fd);
        errno = saved;
        return -1;
}

void home_node_close(struct home_node *n)
{
        close_fd(&n->fd);
}

static void magic(const struct home_node *n, char path[32])
{
        snprintf(path, 32, "/proc/self/fd/%d", n->fd);
}

bool home_node_is_whiteout(const struct home_node *n)
{
        return S_ISCHR(n->st.st_mode) && n->st.st_rdev == makedev(0, 0);
}

bool home_node_is_opaque(const struct home_node *n)
{
        static const char *const names[] = {"user.overlay.opaque", "trusted.overlay.opaque"};
        char path[32], value[4];
        magic(n, path);
        for (size_t i = 0; i < 2; i++)
                if (S_ISDIR(n->st.st_mode) && getxattr(path, names[i], value, sizeof value) == 1 &&
                    value[0] == 'y')
                        return true;
        return false;
}

int home_node_reopen(const struct home_node *n, int flags)
{
        char path[32];
        magic(n, path);
        int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd >= 0 || errno != EACCES)
                return fd;
        /* The box may have taken its own right to read away; the layer is ours. */
        if (chmod(path, S_ISDIR(n->st.st_mode) ? 0700 : 0600) < 0)
                return -1;
        return open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

int home_own(const struct home_run *run, int dir_fd, const char *name, struct err *err)
{
        if (geteuid() == run->a->owner)
                return 0;
        if (fchownat(dir_fd, name, run->a->owner, run->a->group, AT_SYMLINK_NOFOLLOW) < 0)
                return err_sys(err, "give %s to the box", name);
        return 0;
}

int home_dir(const struct home_run *run, int root_fd, const char *path, struct err *err)
{
        _cleanup_close_ int dir = openat(root_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0)
                return err_sys(err, "open the new version");
        while (*path) {
                size_t n = strcspn(path, "/");
                _cleanup_free_ char *name = str_fmt("%.*s", (int)n, path);
                path += n + (path[n] == '/');
                bool is_new = mkdirat(dir, name, 0700) == 0;
                if (!is_new && errno != EEXIST)
                        return err_sys(err, "make the directory %s", name);
                if (is_new && home_own(run, dir, name, err) < 0)
                        return -1;
                int next = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (next < 0)
                        return err_sys(err, "open the directory %s", name);
                close(dir);
                dir = next;
        }
        return take_fd(&dir);
}

void home_note(struct home_run *run, const char *path, const char *why)
{
        _cleanup_free_ char *shown = str_quote(path);
        /* A hostile tree could make us say a million things. */
        if (run->notes && run->notes->n < 64)
                strs_addf(run->notes, "~/%s\n%s", shown, why);
}
