/* changes_paths.c - the paths a user names, as paths within a box's roots. Called by diff and
 * apply. Words are taken apart by their letters: nothing is followed, because what a link in the
 * workspace leads to is no part of it. */
#include "session/changes.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* plain(path): absolute, without ".", ".." and doubled slashes; the caller frees. */
static char *plain(const char *path)
{
        _cleanup_free_ char *copy = str_dup(path);
        char *out = calloc(strlen(path) + 2, 1), *at = copy;
        if (!out)
                str_no_memory();
        for (char *part; (part = strsep(&at, "/"));) {
                if (!*part || strcmp(part, ".") == 0)
                        continue;
                if (strcmp(part, "..") == 0) {
                        char *last = strrchr(out, '/');
                        if (last)
                                *last = 0;
                        continue;
                }
                size_t len = strlen(out);
                out[len] = '/';
                strcpy(out + len + 1, part); // NOLINT(clang-analyzer-security.insecureAPI.strcpy)
        }
        if (!*out)
                out[0] = '/';
        return out;
}

/* below(path, dir): what is left of ${path} below ${dir}, or NULL. */
static const char *below(const char *path, const char *dir)
{
        size_t n = strlen(dir);
        if (n == 0 || !str_is_beneath(path, dir))
                return NULL;
        return path[n] == '/' ? path + n + 1 : path + n;
}

static size_t find_home(const struct changes *c)
{
        for (size_t i = 0; i < c->roots.n; i++)
                if (c->roots.v[i].kind == WS_ROOT_HOME)
                        return i;
        return c->roots.n;
}

/* find_root(c, path, rest): the innermost root that an absolute path lies in, or roots.n. */
static size_t find_root(const struct changes *c, const char *path, const char **rest)
{
        size_t best = c->roots.n, best_len = 0;
        for (size_t i = 0; i < c->roots.n; i++) {
                const char *host = c->roots.v[i].host, *r = below(path, host);
                if (r && strlen(host) >= best_len) {
                        best = i;
                        best_len = strlen(host);
                        *rest = r;
                }
        }
        if (best < c->roots.n)
                return best;
        /* The user's own home stands for the box's. */
        const char *home = getenv("HOME"), *r = home ? below(path, home) : NULL;
        if (r && find_home(c) < c->roots.n) {
                *rest = r;
                return find_home(c);
        }
        return c->roots.n;
}

static int outside(const struct changes *c, const char *word, struct err *err)
{
        _cleanup_free_ char *shown = str_quote(word), *ws = str_quote(c->workspace);
        return err_set(err, E_INPUT,
                       "%s is outside of what box %s sees copy-on-write: its workspace is %s",
                       shown, c->id, *ws ? ws : "none");
}

static int check_there(const struct changes *c, const struct ws_root *r, const char *rel,
                       const char *word, struct err *err)
{
        struct ws_node n = {0};
        if (!*rel)
                return 0;
        /* What cannot be looked at is for the walk to tell. */
        if (ws_view_look(&r->after, rel, &n, NULL) < 0 || n.kind != WS_NONE)
                return 0;
        if (ws_view_look(&r->before, rel, &n, NULL) < 0 || n.kind != WS_NONE)
                return 0;
        _cleanup_free_ char *shown = str_quote(word);
        return err_set(err, E_INPUT, "there is no %s, neither on the host nor in box %s", shown,
                       c->id);
}

static int add_word(struct changes *c, const char *cwd, const char *word, struct err *err)
{
        size_t at = c->roots.n;
        const char *rel = "";
        _cleanup_free_ char *joined = NULL, *path = NULL;
        if (!*word)
                return err_set(err, E_INPUT, "an empty word is no path");
        if (word[0] == '~' && (!word[1] || word[1] == '/')) {
                at = find_home(c);
                /* ".." must not lead out of the home. */
                path = plain(word + 1);
                rel = path + 1;
        } else {
                const char *unused;
                bool is_within = cwd && find_root(c, cwd, &unused) < c->roots.n &&
                                 c->roots.v[find_root(c, cwd, &unused)].kind != WS_ROOT_HOME;
                joined = word[0] == '/' ? str_dup(word)
                                        : str_fmt("%s/%s", is_within ? cwd : c->workspace, word);
                path = plain(joined);
                at = find_root(c, path, &rel);
        }
        if (at == c->roots.n)
                return outside(c, word, err);
        if (check_there(c, &c->roots.v[at], rel, word, err) < 0)
                return -1;
        strs_add(&c->paths[at], rel);
        return 0;
}

int changes_limit(struct changes *c, char *const *words, size_t n, struct err *err)
{
        if (n == 0)
                return 0;
        _cleanup_free_ char *cwd = getcwd(NULL, 0);
        if (!c->paths)
                c->paths = calloc(c->roots.n + 1, sizeof *c->paths);
        if (!c->paths)
                str_no_memory();
        for (size_t i = 0; i < n; i++)
                if (add_word(c, cwd, words[i], err) < 0)
                        return -1;
        return 0;
}

bool changes_query(const struct changes *c, size_t i, struct ws_query *q)
{
        *q = c->query;
        const struct ws_root *r = &c->roots.v[i];
        if (r->gone && r->kind != WS_ROOT_HOME)
                return false;
        if (c->paths) {
                const struct strs *asked = &c->paths[i];
                if (asked->n == 0)
                        return false;
                /* "" is the root itself: all of it. */
                q->paths = strs_has(asked, "") ? NULL : asked;
                return true;
        }
        if (r->kind == WS_ROOT_HOME) {
                q->paths = &c->home_kept;
                return c->home_kept.n > 0;
        }
        return true;
}
