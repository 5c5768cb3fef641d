/* git_user.c - see git_user.h. Called by the walk (which ignore file) and by classify (which hooks
 * and configurations of a workspace the user's own settings name). Runs no git. */
#include "workspace/git_user.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/str.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int git_user_bytes(const char *path, size_t max, struct buf *b)
{
        struct stat st;
        _cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        b->max = max + 1;
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
                return -1;
        return fdio_read_all(fd, b, max);
}

static void add(struct git_user *u, const char *path)
{
        _cleanup_buf_ struct buf b = {0};
        if (git_user_bytes(path, GIT_CONFIG_MAX, &b) < 0)
                return;
        char *real = realpath(path, NULL);
        /* What came before a fault was read by git too. */
        (void)git_config_parse(buf_cstr(&b), b.len, &u->v[u->n].config);
        u->v[u->n++].path = real ? real : str_dup(path);
}

void git_user_open(struct git_user *u)
{
        const char *home = getenv("HOME"), *xdg = getenv("XDG_CONFIG_HOME");
        const char *global = getenv("GIT_CONFIG_GLOBAL");
        bool has_home = home && *home == '/';
        *u = (struct git_user){.home = str_dup(has_home ? home : "")};
        u->config_dir = xdg && *xdg == '/' ? str_dup(xdg)
                        : has_home         ? str_fmt("%s/.config", home)
                                           : str_dup("");
        if (global) {
                add(u, global);
                return;
        }
        _cleanup_free_ char *of_xdg = str_fmt("%s/git/config", u->config_dir);
        _cleanup_free_ char *of_home = str_fmt("%s/.gitconfig", u->home);
        if (*u->config_dir)
                add(u, of_xdg);
        if (has_home)
                add(u, of_home);
}

void git_user_free(struct git_user *u)
{
        for (size_t i = 0; i < u->n; i++) {
                git_config_free(&u->v[i].config);
                free(u->v[i].path);
        }
        free(u->home);
        free(u->config_dir);
        *u = (struct git_user){0};
}

const char *git_user_last(const struct git_user *u, const char *key)
{
        const char *last = NULL;
        for (size_t i = 0; i < u->n; i++) {
                const char *v = git_config_last(&u->v[i].config, key);
                last = v ? v : last;
        }
        return last;
}

char *git_user_path(const struct git_user *u, const char *value, const char *beside)
{
        if (str_starts(value, "~/"))
                return str_fmt("%s%s", u->home, value + 1);
        const char *slash = beside && *value != '/' ? strrchr(beside, '/') : NULL;
        return slash ? str_fmt("%.*s/%s", (int)(slash - beside), beside, value) : str_dup(value);
}
