/* toolchain_expose.c - the two tables put to use: which row fits a path, what it shows, what is
 * never shown. Called while PATH is gone through and while a command is resolved. Shows directories
 * by their resolved names only, so that a symlink cannot widen what a row says. */
#include "base/cleanup.h"
#include "base/str.h"
#include "policy/profile.h"
#include "session/toolchain_int.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void toolchain_finder_open(struct toolchain_finder *f, const struct toolchain_query *q,
                           struct toolchain_set *set)
{
        *f = (struct toolchain_finder){.q = q, .set = set};
        if (!q->home || q->home[0] != '/' || strspn(q->home, "/") == strlen(q->home))
                return;
        f->home = str_dup(q->home);
        for (size_t n = strlen(f->home); n > 1 && f->home[n - 1] == '/'; n--)
                f->home[n - 1] = 0;
        char real[PATH_MAX];
        f->home_real = str_dup(realpath(f->home, real) ? real : f->home);
}

void toolchain_finder_close(struct toolchain_finder *f)
{
        free(f->home);
        free(f->home_real);
}

const char *toolchain_env(const struct toolchain_query *q, const char *name)
{
        size_t n = strlen(name);
        for (char *const *e = q->env; e && *e; e++)
                if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
                        return *e + n + 1;
        return NULL;
}

bool toolchain_is_shown(const struct toolchain_finder *f, const char *path)
{
        if (toolchain_is_visible(path))
                return true;
        if (f->q->workspace && str_is_beneath(path, f->q->workspace))
                return true;
        for (const char *const *d = f->q->extra; d && *d; d++)
                if (str_is_beneath(path, *d))
                        return true;
        return toolchain_has(f->set, path);
}

/* "~/x" below ${home}, anything else as it is; NULL when there is no home. The caller frees. */
static char *expand(const char *home, const char *path)
{
        if (path[0] != '~')
                return str_dup(path);
        return home ? str_fmt("%s%s", home, path + 1) : NULL;
}

static bool overlaps(const char *path, const char *never, bool is_whole_tree)
{
        return str_is_beneath(never, path) || (is_whole_tree && str_is_beneath(path, never));
}

const char *toolchain_refused(const struct toolchain_finder *f, const char *path)
{
        for (const struct toolchain_never *n = toolchain_nevers; n->path; n++) {
                _cleanup_free_ char *at = expand(f->home, n->path);
                _cleanup_free_ char *real = expand(f->home_real, n->path);
                if ((at && overlaps(path, at, n->is_whole_tree)) ||
                    (real && overlaps(path, real, n->is_whole_tree)))
                        return n->why;
        }
        for (const char *const *d = f->q->never; d && *d; d++)
                if (overlaps(path, *d, true))
                        return "it is our own";
        return NULL;
}

bool toolchain_show(struct toolchain_finder *f, const char *path, const char *why)
{
        char real[PATH_MAX];
        struct stat st;
        if (!realpath(path, real) || stat(real, &st) < 0)
                return false;
        if (toolchain_is_shown(f, real))
                return true;
        /* A file is refused like a directory that holds only itself. */
        if (toolchain_refused(f, real))
                return false;
        if (S_ISDIR(st.st_mode))
                toolchain_add(f->set, TOOLCHAIN_TREE, real, NULL, why);
        else if (S_ISREG(st.st_mode))
                toolchain_add(f->set, TOOLCHAIN_FILE, real, NULL, why);
        else
                return false;
        return true;
}

/* How many bytes of ${path} (what follows the root, without a slash in front) fit ${match}, or -1.
 */
static int fits(const char *path, const char *match)
{
        const char *at = path;
        while (*match) {
                size_t want = strcspn(match, "/"), have = strcspn(at, "/");
                char pattern[64], part[NAME_MAX + 1];
                if (have == 0 || have >= sizeof part || want >= sizeof pattern)
                        return -1;
                memcpy(pattern, match, want);
                pattern[want] = 0;
                memcpy(part, at, have);
                part[have] = 0;
                if (fnmatch(pattern, part, 0) != 0)
                        return -1;
                at += have;
                match += want + (match[want] == '/');
                if (*match && *at == '/')
                        at++;
        }
        return (int)(at - path);
}

static const struct toolchain_row *row_named(const char *name)
{
        for (const struct toolchain_row *r = toolchain_rows; r->name; r++)
                if (strcmp(r->name, name) == 0)
                        return r;
        return NULL;
}

static void row_env(struct toolchain_finder *f, const struct toolchain_row *r)
{
        for (size_t i = 0; i < TOOLCHAIN_PASS_MAX && r->pass[i]; i++) {
                const char *value = toolchain_env(f->q, r->pass[i]);
                if (value)
                        strs_set_env(&f->set->env, r->pass[i], value);
        }
        for (size_t i = 0; i < TOOLCHAIN_PASS_MAX && r->set[i] && f->home; i++) {
                _cleanup_free_ char *filled = profile_fill(r->set[i], f->home, NULL);
                char *value = strchr(filled, '=');
                *value++ = 0;
                strs_set_env(&f->set->env, filled, value);
        }
}

static void row_show(struct toolchain_finder *f, const struct toolchain_row *r, const char *root,
                     const char *matched)
{
        _cleanup_free_ char *why = str_fmt("toolchain: %s", r->name);
        for (size_t i = 0; i < TOOLCHAIN_SHOW_MAX && r->show[i]; i++) {
                const char *s = r->show[i];
                _cleanup_free_ char *path = NULL;
                if (strcmp(s, "=") == 0)
                        path = str_dup(matched);
                else if (strcmp(s, ".") == 0)
                        path = str_dup(root);
                else if (s[0] == '~')
                        path = expand(f->home, s);
                else
                        path = str_fmt("%s/%s", root, s);
                if (path)
                        toolchain_show(f, path, why);
        }
        row_env(f, r);
}

/* Show a row that comes with another, wherever its root is. */
static void row_also(struct toolchain_finder *f, const char *name)
{
        const struct toolchain_row *r = row_named(name);
        const char *moved = r && r->root_env ? toolchain_env(f->q, r->root_env) : NULL;
        _cleanup_free_ char *root = moved && moved[0] == '/' ? str_dup(moved)
                                    : r                      ? expand(f->home, r->root)
                                                             : NULL;
        if (root)
                row_show(f, r, root, root);
}

static bool row_try(struct toolchain_finder *f, const struct toolchain_row *r, const char *root,
                    const char *path)
{
        if (!root || root[0] != '/' || !root[1] || !str_is_beneath(path, root))
                return false;
        const char *rest = path + strlen(root);
        rest += *rest == '/';
        int n = fits(rest, r->match);
        if (n < 0)
                return false;
        _cleanup_free_ char *matched = str_fmt("%.*s", (int)(rest - path) + n, path);
        size_t len = strlen(matched);
        if (len > 1 && matched[len - 1] == '/')
                matched[len - 1] = 0;
        row_show(f, r, root, matched);
        if (r->also)
                row_also(f, r->also);
        return true;
}

/* A root as the caller's variable gives it, without slashes at its end. */
static char *moved_root(const struct toolchain_finder *f, const struct toolchain_row *r)
{
        const char *value = r->root_env ? toolchain_env(f->q, r->root_env) : NULL;
        if (!value || value[0] != '/')
                return NULL;
        char *root = str_dup(value);
        for (size_t n = strlen(root); n > 1 && root[n - 1] == '/'; n--)
                root[n - 1] = 0;
        return root;
}

bool toolchain_by_row(struct toolchain_finder *f, const char *path)
{
        for (const struct toolchain_row *r = toolchain_rows; r->name; r++) {
                _cleanup_free_ char *moved = moved_root(f, r);
                _cleanup_free_ char *usual = r->root ? expand(f->home, r->root) : NULL;
                _cleanup_free_ char *real = r->root ? expand(f->home_real, r->root) : NULL;
                if (!row_try(f, r, moved, path) && !row_try(f, r, usual, path) &&
                    !row_try(f, r, real, path))
                        continue;
                char there[PATH_MAX];
                if (!realpath(path, there) || !toolchain_is_shown(f, there))
                        continue;
                return true;
        }
        return false;
}
