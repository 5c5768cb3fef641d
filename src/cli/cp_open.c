/* cp_open.c - see cp_open.h. Called by cmd_cp.c only; opens nothing for writing. */
#include "cli/cp_open.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

void cp_roots_load(struct cp_roots *roots, const struct store *store)
{
        struct box_meta *metas = NULL;
        size_t n = 0;
        *roots = (struct cp_roots){0};
        if (store_list(store, &metas, &n, NULL) < 0)
                return;
        roots->v = calloc(n ? n : 1, sizeof *roots->v);
        if (!roots->v)
                str_no_memory();
        for (size_t i = 0; i < n; i++) {
                struct stat st;
                if (metas[i].workspace && stat(metas[i].workspace, &st) == 0)
                        roots->v[roots->n++] = (struct cp_root){st.st_dev, st.st_ino};
                box_meta_free(&metas[i]);
        }
        free(metas);
}

void cp_roots_free(struct cp_roots *roots)
{
        free(roots->v);
        *roots = (struct cp_roots){0};
}

bool cp_roots_has(const struct cp_roots *roots, int fd)
{
        struct stat st;
        if (fstat(fd, &st) < 0)
                return false;
        for (size_t i = 0; i < roots->n; i++)
                if (roots->v[i].dev == st.st_dev && roots->v[i].ino == st.st_ino)
                        return true;
        return false;
}

/* absolute(path): from "/", with the current directory in front. The kernel's name of that has no
 * links in it, so the ".." that a path begins with can be taken off it as text; otherwise "../x",
 * typed in a workspace, would look like a way out of it. */
static char *absolute(const char *path, struct err *err)
{
        char cwd[PATH_MAX];
        if (*path == '/')
                return str_dup(path);
        if (!getcwd(cwd, sizeof cwd)) {
                err_sys(err, "find the current directory");
                return NULL;
        }
        for (;;) {
                size_t n = strcspn(path, "/");
                bool is_up = n == 2 && path[0] == '.' && path[1] == '.';
                bool is_here = n == 0 || (n == 1 && path[0] == '.');
                if (!*path || (!is_up && !is_here))
                        break;
                char *slash = strrchr(cwd, '/');
                if (is_up && slash)
                        slash[slash == cwd] = 0;
                path += n + (path[n] == '/');
        }
        return str_fmt("%s%s%s", cwd, strcmp(cwd, "/") ? "/" : "", path);
}

static int say(const char *path, struct err *err)
{
        int saved = errno;
        _cleanup_free_ char *shown = str_quote(path);
        if (saved == EXDEV)
                err_set(err, E_REFUSED,
                        "%s leads out of a workspace through a link, which a box may have made. "
                        "Name the place itself if that is what you mean.",
                        shown);
        else
                err_sys(err, "open %s", shown);
        errno = saved;
        return -1;
}

int cp_open(const struct cp_roots *roots, const char *path, int flags, struct err *err)
{
        _cleanup_free_ char *whole = absolute(path, err);
        if (!whole)
                return -1;
        _cleanup_close_ int at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        char *p = whole;
        if (at < 0)
                return say(path, err);
        for (;;) {
                while (*p == '/')
                        p++;
                if (cp_roots_has(roots, at)) {
                        int fd = beneath_open(at, p, flags, 0, NULL);
                        return fd < 0 ? say(path, err) : fd;
                }
                char *end = p + strcspn(p, "/");
                bool is_last = !*end;
                if (is_last)
                        break;
                *end = 0;
                int next = openat(at, p, O_PATH | O_DIRECTORY | O_CLOEXEC);
                *end = '/';
                if (next < 0)
                        return say(path, err);
                close(at);
                at = next;
                p = end;
        }
        int fd = openat(at, *p ? p : ".", flags | O_CLOEXEC);
        return fd < 0 ? say(path, err) : fd;
}

int cp_open_dir(void *roots, const char *path, struct err *err)
{
        return cp_open(roots, path, O_PATH | O_DIRECTORY, err);
}
