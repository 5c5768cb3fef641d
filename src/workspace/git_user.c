/* git_user.c - see git_user.h. Called by the walk (which ignore file) and by classify (which hooks
 * and configurations of a workspace the user's own settings name). Runs no git. */
#include "workspace/git_user.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/str.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { PASSWD_MAX = 4 << 20, HOME_FIELD = 5, READ_STEP = 4096 }; /* fdio reads so much at once */

int git_user_bytes(const char *path, size_t max, struct buf *b)
{
        struct stat st;
        char proc[64];
        _cleanup_close_ int at = open(path, O_PATH | O_CLOEXEC);
        b->max = max + READ_STEP + 1;
        if (at < 0 || fstat(at, &st) < 0 || !S_ISREG(st.st_mode))
                return -1;
        snprintf(proc, sizeof proc, "/proc/self/fd/%d", at);
        _cleanup_close_ int fd = open(proc, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        return fd < 0 ? -1 : fdio_read_all(fd, b, max);
}

bool git_user_is_include(const char *key)
{
        return strcmp(key, "include.path") == 0 ||
               (str_starts(key, "includeif.") && str_ends(key, ".path"));
}

static bool user_has(const struct git_user *u, const char *path)
{
        for (size_t i = 0; i < u->n; i++)
                if (strcmp(u->v[i].path, path) == 0)
                        return true;
        return false;
}

static void user_add(struct git_user *u, const char *path, bool is_included)
{
        _cleanup_buf_ struct buf b = {0};
        if (u->n == GIT_USER_FILES_MAX || git_user_bytes(path, GIT_CONFIG_MAX, &b) < 0)
                return;
        _cleanup_free_ char *real = realpath(path, NULL);
        if (user_has(u, real ? real : path))
                return;
        struct git_user_file *f = &u->v[u->n++];
        *f = (struct git_user_file){.path = str_dup(real ? real : path),
                                    .as = str_dup(path),
                                    .is_included = is_included};
        /* What came before a fault was read by git too. */
        (void)git_config_parse(buf_cstr(&b), b.len, &f->config);
}

/* user_follow(u): what the files name, and what those name; ${n} grows meanwhile. */
static void user_follow(struct git_user *u)
{
        for (size_t i = 0; i < u->n; i++)
                for (size_t k = 0; k < u->v[i].config.n; k++) {
                        const struct git_config_entry *e = &u->v[i].config.v[k];
                        if (!e->value || !*e->value || !git_user_is_include(e->key))
                                continue;
                        _cleanup_free_ char *path = git_user_path(u, e->value, u->v[i].as);
                        if (*path == '/')
                                user_add(u, path, true);
                }
}

void git_user_also(struct git_user *u, const char *path)
{
        user_add(u, path, false);
        user_follow(u);
}

/* user_is_true(text): as git reads a boolean of the environment. */
static bool user_is_true(const char *text)
{
        return text && *text && strcmp(text, "0") != 0 && strcasecmp(text, "false") != 0 &&
               strcasecmp(text, "no") != 0 && strcasecmp(text, "off") != 0;
}

static void user_machine(struct git_user *u)
{
        const char *named = getenv("GIT_CONFIG_SYSTEM");
        if (!user_is_true(getenv("GIT_CONFIG_NOSYSTEM")))
                user_add(u, named ? named : "/etc/gitconfig", false);
}

void git_user_open(struct git_user *u)
{
        const char *home = getenv("HOME"), *xdg = getenv("XDG_CONFIG_HOME");
        const char *global = getenv("GIT_CONFIG_GLOBAL");
        bool has_home = home && *home == '/';
        *u = (struct git_user){.home = str_dup(has_home ? home : ""),
                               .v = calloc(GIT_USER_FILES_MAX, sizeof *u->v)};
        if (!u->v)
                str_no_memory();
        u->config_dir = xdg && *xdg == '/' ? str_dup(xdg)
                        : has_home         ? str_fmt("%s/.config", home)
                                           : str_dup("");
        _cleanup_free_ char *of_xdg = str_fmt("%s/git/config", u->config_dir);
        _cleanup_free_ char *of_home = str_fmt("%s/.gitconfig", u->home);
        user_machine(u);
        if (global)
                user_add(u, global, false);
        if (!global && *u->config_dir)
                user_add(u, of_xdg, false);
        if (!global && has_home)
                user_add(u, of_home, false);
        user_follow(u);
}

void git_user_free(struct git_user *u)
{
        for (size_t i = 0; i < u->n; i++) {
                git_config_free(&u->v[i].config);
                free(u->v[i].path);
                free(u->v[i].as);
        }
        free(u->v);
        free(u->home);
        free(u->config_dir);
        *u = (struct git_user){0};
}

const char *git_user_last(const struct git_user *u, const char *key)
{
        const char *last = NULL;
        for (size_t i = 0; i < u->n; i++) {
                const char *v = u->v[i].is_included ? NULL : git_config_last(&u->v[i].config, key);
                last = v ? v : last;
        }
        return last;
}

/* user_home(name): from /etc/passwd by hand, since name services cannot be loaded; NULL: nobody. */
static char *user_home(const char *name, size_t len)
{
        _cleanup_buf_ struct buf b = {0};
        if (git_user_bytes("/etc/passwd", PASSWD_MAX, &b) < 0)
                return NULL;
        char *all = str_dup(buf_cstr(&b)), *home = NULL;
        for (char *rest = all, *line; !home && (line = strsep(&rest, "\n"));) {
                if (strncmp(line, name, len) != 0 || line[len] != ':')
                        continue;
                for (int i = 0; i < HOME_FIELD && line; i++)
                        (void)strsep(&line, ":");
                home = line ? str_fmt("%.*s", (int)strcspn(line, ":"), line) : NULL;
        }
        free(all);
        return home;
}

char *git_user_path(const struct git_user *u, const char *value, const char *beside)
{
        static const char optional[] = ":(optional)";
        if (str_starts(value, optional))
                value += strlen(optional);
        if (*value == '~') {
                size_t n = strcspn(value, "/");
                _cleanup_free_ char *home = n == 1 ? str_dup(u->home) : user_home(value + 1, n - 1);
                return str_fmt("%s%s", home ? home : "", home ? value + n : value);
        }
        const char *slash = beside && *value != '/' ? strrchr(beside, '/') : NULL;
        return slash ? str_fmt("%.*s/%s", (int)(slash - beside), beside, value) : str_dup(value);
}
