/* git_host.c - see git_host.h. Called by classify_said.c for the directories above a root and for
 * those within it. Must never write, and never open what is no regular file. */
#include "workspace/git_host.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "policy/git_shape.h"
#include "workspace/git_user.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { POINTER_MAX = 4096 + 16, LINKS_MAX = 8, ENTRIES_MAX = 4096, MODULES_DEPTH_MAX = 8 };

void git_host_free(struct git_host *h)
{
        strs_free(&h->hooks);
        strs_free(&h->linked);
        strs_free(&h->configs);
        git_words_free(&h->named);
}

char *git_host_real(const char *path)
{
        char *full = str_dup(path), *head = str_dup(path);
        for (unsigned links_n = 0; *head;) {
                _cleanup_free_ char *real = realpath(head, NULL);
                char to[PATH_MAX], *slash = strrchr(head, '/');
                const char *rest = full + strlen(head);
                if (real || !slash) {
                        char *all = str_fmt("%s%s", real ? real : head, rest);
                        free(full);
                        full = all;
                        break;
                }
                /* Nothing is there: a link may lead to where something could be. */
                ssize_t n = links_n < LINKS_MAX ? readlink(head, to, sizeof to) : -1;
                *slash = 0;
                if (n <= 0 || n == sizeof to)
                        continue;
                links_n++;
                char *next = str_fmt("%s/%.*s", to[0] == '/' ? "" : head, (int)n, to);
                char *all = str_fmt("%s%s", next, rest);
                free(full);
                free(head);
                full = all;
                head = next;
        }
        free(head);
        return full;
}

/* pointer(dir, name, start): the path that a small file of ${dir} holds after ${start}, or NULL. */
static char *pointer(const char *dir, const char *name, const char *start)
{
        _cleanup_buf_ struct buf b = {0};
        _cleanup_free_ char *file = str_fmt("%s/%s", dir, name);
        if (git_user_bytes(file, POINTER_MAX, &b) < 0 || !str_starts(buf_cstr(&b), start))
                return NULL;
        const char *to = buf_cstr(&b) + strlen(start);
        size_t n = strcspn(to, "\r\n");
        if (n == 0)
                return NULL;
        return str_fmt("%s%s%.*s", *to == '/' ? "" : dir, *to == '/' ? "" : "/", (int)n, to);
}

/* git_dir(top): its git directory, or NULL. */
static char *git_dir(const char *top)
{
        _cleanup_free_ char *dot = str_fmt("%s/.git", top);
        struct stat st;
        if (stat(dot, &st) == 0)
                return S_ISDIR(st.st_mode) ? take_ptr(&dot) : pointer(top, ".git", "gitdir: ");
        _cleanup_close_ int fd = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
        return fd >= 0 && git_shape_is(git_shape_at(fd)) ? str_dup(top) : NULL;
}

bool git_host_has(const char *top)
{
        _cleanup_free_ char *dot = str_fmt("%s/.git", top), *head = str_fmt("%s/HEAD", top);
        return access(dot, F_OK) == 0 || access(head, F_OK) == 0;
}

static void add(struct strs *list, const char *path)
{
        _cleanup_free_ char *real = git_host_real(path);
        if (!strs_has(list, path))
                strs_add(list, path);
        if (!strs_has(list, real))
                strs_add(list, real);
}

/* next_entry(h, d): the next name of a directory, or NULL. */
static const struct dirent *next_entry(struct git_host *h, DIR *d)
{
        const struct dirent *e;
        do
                e = d && h->looked_n++ < ENTRIES_MAX ? readdir(d) : NULL;
        while (e && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0));
        return e;
}

static void close_dir(DIR **d)
{
        if (*d)
                closedir(*d);
}
#define _cleanup_dir_ __attribute__((cleanup(close_dir)))

/* add_linked(h, dir): what links in a directory of hooks lead to; it may lie where nobody looks. */
static void add_linked(struct git_host *h, const char *dir)
{
        _cleanup_dir_ DIR *d = opendir(dir);
        for (const struct dirent *e; (e = next_entry(h, d));) {
                _cleanup_free_ char *link = str_fmt("%s/%s", dir, e->d_name);
                struct stat st;
                if (lstat(link, &st) < 0 || !S_ISLNK(st.st_mode))
                        continue;
                _cleanup_free_ char *real = git_host_real(link);
                strs_add(&h->linked, real);
        }
}

static void add_hooks(struct git_host *h, const char *dir)
{
        if (strs_has(&h->hooks, dir))
                return;
        add(&h->hooks, dir);
        add_linked(h, dir);
}

/* add_own_hooks(h, common): those of the git directory have their class by name, which knows
 * examples from hooks; unless the directory is a link to another. */
static void add_own_hooks(struct git_host *h, const char *common)
{
        _cleanup_free_ char *hooks = str_fmt("%s/hooks", common);
        _cleanup_free_ char *real = git_host_real(hooks), *git = git_host_real(common);
        _cleanup_free_ char *usual = str_fmt("%s/hooks", git);
        if (strcmp(real, usual) != 0)
                add(&h->hooks, real);
        add_linked(h, hooks);
}

static void add_setting(struct git_host *h, const struct git_user *u, const char *file,
                        const struct git_config_entry *e, const struct strs *bases)
{
        if (!e->value || !*e->value)
                return;
        if (git_user_is_include(e->key)) {
                _cleanup_free_ char *path = git_user_path(u, e->value, file);
                if (*path == '/')
                        add(&h->configs, path);
        }
        git_words_add(&h->named, u, e, bases);
        if (strcmp(e->key, "core.hookspath") != 0)
                return;
        /* From where the hook runs: the top of the work tree, or the git directory after a push. */
        _cleanup_free_ char *path = git_user_path(u, e->value, NULL);
        for (size_t i = 0; i < bases->n; i++) {
                _cleanup_free_ char *full = str_fmt("%s/%s", bases->v[i], path);
                add_hooks(h, *path == '/' ? path : full);
        }
}

/* add_trees(h, common, bases): the tops of all linked work trees. */
static void add_trees(struct git_host *h, const char *common, struct strs *bases)
{
        _cleanup_free_ char *trees = str_fmt("%s/worktrees", common);
        _cleanup_dir_ DIR *d = opendir(trees);
        for (const struct dirent *e; (e = next_entry(h, d));) {
                _cleanup_free_ char *git = str_fmt("%s/%s", trees, e->d_name);
                _cleanup_free_ char *dot = pointer(git, "gitdir", "");
                char *slash = dot ? strrchr(dot, '/') : NULL;
                if (slash)
                        strs_addf(bases, "%.*s", (int)(slash - dot), dot);
        }
}

static void read_modules(struct git_host *, const char *dir, unsigned depth);

/* read_repo(h, top, git, depth): ${top} NULL: where core.worktree says. */
static void read_repo(struct git_host *h, const char *top, const char *git, unsigned depth)
{
        _cleanup_free_ char *shared = pointer(git, "commondir", "");
        const char *common = shared ? shared : git;
        _cleanup_free_ char *config = str_fmt("%s/config", common);
        _cleanup_free_ char *own = str_fmt("%s/config.worktree", git);
        _cleanup_free_ char *modules = str_fmt("%s/modules", common);
        _cleanup_git_user_ struct git_user u;
        git_user_open(&u);
        git_user_also(&u, config);
        git_user_also(&u, own);

        _cleanup_strs_ struct strs bases = {0};
        strs_add(&bases, git);
        strs_add(&bases, common);
        if (top)
                strs_add(&bases, top);
        for (size_t i = 0; i < u.n; i++) {
                const char *tree = git_config_last(&u.v[i].config, "core.worktree");
                if (tree && *tree)
                        strs_addf(&bases, "%s%s%s", *tree == '/' ? "" : git,
                                  *tree == '/' ? "" : "/", tree);
        }
        add_trees(h, common, &bases);
        add(&h->configs, config);
        add(&h->configs, own);
        add_own_hooks(h, common);
        for (size_t i = 0; i < u.n; i++)
                for (size_t k = 0; k < u.v[i].config.n; k++)
                        add_setting(h, &u, u.v[i].as, &u.v[i].config.v[k], &bases);
        read_modules(h, modules, depth + 1);
}

/* read_modules(h, dir, depth): git directories of submodules, whose names may have slashes. */
static void read_modules(struct git_host *h, const char *dir, unsigned depth)
{
        _cleanup_dir_ DIR *d = depth <= MODULES_DEPTH_MAX ? opendir(dir) : NULL;
        for (const struct dirent *e; (e = next_entry(h, d));) {
                if (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN)
                        continue;
                _cleanup_free_ char *sub = str_fmt("%s/%s", dir, e->d_name);
                _cleanup_close_ int fd = open(sub, O_PATH | O_DIRECTORY | O_CLOEXEC);
                if (fd >= 0 && git_shape_is(git_shape_at(fd)))
                        read_repo(h, NULL, sub, depth);
                else if (fd >= 0)
                        read_modules(h, sub, depth + 1);
        }
}

void git_host_read(struct git_host *h, const char *top)
{
        _cleanup_free_ char *git = git_dir(top);
        if (git)
                read_repo(h, top, git, 0);
}
