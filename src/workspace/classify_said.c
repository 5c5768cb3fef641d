/* classify_said.c - see classify_int.h. core.hooksPath = tools/hooks makes tools/hooks/pre-commit a
 * hook, include.path = ../shared.cfg makes shared.cfg a configuration, core.fsmonitor = tools/watch
 * makes that a program which git runs, and .git/hooks may be a link. What the host's own settings say
 * is followed to its end (git_host.h), for the repositories that the root lies in and for those within
 * it; what the box made of .git/config, one step. Nothing here trusts what it reads: it can
 * only make more files ask. */
#include "workspace/classify_int.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/str.h"
#include "policy/file_class.h"
#include "policy/git_config.h"
#include "workspace/git_host.h"
#include "workspace/git_user.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Of the views, where a box may write as many as it likes; and of the host. */
enum { SAID_VIEW_MAX = 64, SAID_MAX = 4096 };

int classify_read(const struct ws_view *view, const char *path, struct buf *text)
{
        struct ws_node node = {0};
        _cleanup_close_ int fd = ws_view_file(view, path, &node, NULL);
        if (fd < 0 || node.size > GIT_CONFIG_MAX)
                return -1;
        return fdio_read_all(fd, text, GIT_CONFIG_MAX);
}

/* Join ${base} and ${path} by their words alone; false when that leads outside of the root. */
static bool join(const char *base, const char *path, struct buf *out)
{
        _cleanup_strs_ struct strs parts = {0};
        char *all = str_fmt("%s/%s", base, path);
        bool is_inside = true;
        for (char *at = all, *word; is_inside && (word = strsep(&at, "/"));) {
                if (!*word || strcmp(word, ".") == 0)
                        continue;
                if (strcmp(word, "..") != 0)
                        strs_add(&parts, word);
                else if (parts.n > 0)
                        strs_remove(&parts, parts.n - 1);
                else
                        is_inside = false;
        }
        for (size_t i = 0; i < parts.n; i++)
                buf_put_fmt(out, "%s%s", i ? "/" : "", parts.v[i]);
        free(all);
        return is_inside;
}

/* put(s, list, path): the root itself holds hooks, perhaps, or programs, but is no file. */
static void put(struct classify_said *s, struct strs *list, const char *path)
{
        bool is_dirs = list == &s->hooks || list == &s->named.tops || list == &s->named.dirs;
        if ((!*path && !is_dirs) || strs_has(list, path))
                return;
        if (list->n < SAID_MAX)
                strs_add(list, path);
        else
                s->is_over = true;
}

static void add_beneath(struct classify_said *s, struct strs *list, const char *path,
                        const char *top)
{
        if (!top || !*top || !str_is_beneath(path, top))
                return;
        path += strlen(top);
        put(s, list, path + (*path == '/'));
}

static void add(struct classify_said *s, struct strs *list, const struct ws_root *root,
                const char *base, const char *path)
{
        _cleanup_buf_ struct buf full = {0};
        if (!path || !*path || *path == '~')
                return;
        if (*path == '/') {
                buf_put_u8(&full, '/');
                if (!join("", path, &full))
                        return;
                add_beneath(s, list, buf_cstr(&full), root->host);
                add_beneath(s, list, buf_cstr(&full), s->real);
        } else if (join(base, path, &full))
                put(s, list, buf_cstr(&full));
}

/* --- what a view of the root says ------------------------------------------------------------- */

static void add_seen(struct classify_said *s, struct strs *list, const struct ws_root *root,
                     const char *base, const char *path)
{
        if (s->seen_n++ < SAID_VIEW_MAX)
                add(s, list, root, base, path);
}

static void read_config(struct classify_said *s, const struct ws_root *root,
                        const struct ws_view *view, const char *git_dir, const char *path)
{
        _cleanup_buf_ struct buf text = {0};
        _cleanup_git_config_ struct git_config config = {0};
        if (classify_read(view, path, &text) < 0)
                return;
        /* What came before a fault was read by git too. */
        (void)git_config_parse(buf_cstr(&text), text.len, &config);
        for (size_t i = 0; i < config.n; i++) {
                const struct git_config_entry *e = &config.v[i];
                if (strcmp(e->key, "core.hookspath") == 0)
                        add_seen(s, &s->hooks, root, "", e->value);
                else if (git_user_is_include(e->key))
                        add_seen(s, &s->configs, root, git_dir, e->value);
        }
}

void classify_said_read(struct classify_said *s, const struct ws_root *root,
                        const struct ws_view *view)
{
        _cleanup_buf_ struct buf target = {0};
        if (view->n == 0)
                return;
        read_config(s, root, view, ".git", ".git/config");
        read_config(s, root, view, ".git", ".git/config.worktree");
        if (ws_view_link(view, ".git/hooks", &target, NULL) == 0 && target.len > 0)
                add(s, &s->hooks, root, ".git", buf_cstr(&target));
}

/* --- what the host says ----------------------------------------------------------------------- */

static void add_all(struct classify_said *s, struct strs *list, const struct ws_root *root,
                    const struct strs *paths)
{
        for (size_t i = 0; i < paths->n; i++)
                add(s, list, root, "", paths->v[i]);
}

/* add_tail(s, root, tail): a part of it may be the way to the root: `$HOME/src/ws/tools/x`. */
static void add_tail(struct classify_said *s, const struct ws_root *root, const char *tail)
{
        const char *hosts[] = {root->host, s->real};
        put(s, &s->named.tails, tail);
        for (size_t i = 0; i < 2; i++)
                for (const char *p = strchr(tail, '/'); hosts[i] && p; p = strchr(p + 1, '/')) {
                        _cleanup_free_ char *head = str_fmt("/%.*s", (int)(p - tail), tail);
                        if (str_ends(hosts[i], head))
                                put(s, &s->named.trees, p + 1);
                }
}

/* add_named(s, root, n): what settings that run something name. */
static void add_named(struct classify_said *s, const struct ws_root *root,
                      const struct git_words *n)
{
        struct git_words *to = &s->named;
        s->is_over |= n->is_over;
        add_all(s, &to->trees, root, &n->trees);
        add_all(s, &to->files, root, &n->files);
        add_all(s, &to->attributes, root, &n->attributes);
        add_all(s, &to->tops, root, &n->tops);
        add_all(s, &to->dirs, root, &n->dirs);
        for (size_t i = 0; i < n->words.n; i++)
                put(s, &to->words, n->words.v[i]);
        for (size_t i = 0; i < n->tails.n; i++)
                add_tail(s, root, n->tails.v[i]);
}

static void read_host(struct classify_said *s, const struct ws_root *root, const char *top)
{
        _cleanup_git_host_ struct git_host h = {0};
        if (!git_host_has(top) || strs_has(&s->tops, top))
                return;
        if (s->tops.n >= SAID_MAX) {
                s->is_over = true;
                return;
        }
        strs_add(&s->tops, top);
        git_host_read(&h, top);
        add_all(s, &s->hooks, root, &h.hooks);
        add_all(s, &s->linked, root, &h.linked);
        add_all(s, &s->configs, root, &h.configs);
        add_named(s, root, &h.named);
}

static bool has_host(const struct ws_root *root)
{
        return root->kind != WS_ROOT_HOME && root->host && *root->host == '/' && !root->gone;
}

void classify_said_host(struct classify_said *s, const struct ws_root *root)
{
        if (!has_host(root))
                return;
        s->real = git_host_real(root->host);
        _cleanup_free_ char *top = str_dup(s->real);
        for (char *slash; (slash = strrchr(top, '/')); *slash = 0)
                read_host(s, root, top);
}

void classify_said_at(struct classify_said *s, const struct ws_root *root, const char *path,
                      size_t len)
{
        if (!has_host(root) || len >= PATH_MAX) /* where no git gets to */
                return;
        _cleanup_free_ char *top = str_fmt("%s/%.*s", root->host, (int)len, path);
        read_host(s, root, top);
}

void classify_said_user(struct classify_said *s, const struct ws_root *root)
{
        _cleanup_git_user_ struct git_user u;
        _cleanup_git_words_ struct git_words named = {0};
        _cleanup_strs_ struct strs bases = {0};
        git_user_open(&u);
        if (has_host(root))
                strs_add(&bases, root->host);
        for (size_t i = 0; i < u.n; i++) {
                const char *own = u.v[i].path;
                add(s, &s->configs, root, "", *own == '/' ? own : NULL);
                for (size_t k = 0; k < u.v[i].config.n; k++) {
                        const struct git_config_entry *e = &u.v[i].config.v[k];
                        bool is_hooks = strcmp(e->key, "core.hookspath") == 0;
                        git_words_add(&named, &u, e, &bases);
                        if (!e->value || (!is_hooks && !git_user_is_include(e->key)))
                                continue;
                        _cleanup_free_ char *path =
                                git_user_path(&u, e->value, is_hooks ? NULL : u.v[i].as);
                        add(s, is_hooks ? &s->hooks : &s->configs, root, "", path);
                }
        }
        if (has_host(root))
                add_named(s, root, &named);
}

/* Where the root itself is the directory of hooks, not all that lies there is one. */
static bool is_hook_name(const char *path)
{
        return path[strspn(path, "abcdefghijklmnopqrstuvwxyz0123456789-")] == 0;
}

/* is_tail(path, tail): does the path end so, or a directory above it if the tail is more than a name? */
static bool is_tail(const char *path, const char *tail)
{
        size_t n = strlen(tail);
        bool is_name = !strchr(tail, '/');
        for (const char *p = strstr(path, tail); p; p = strstr(p + 1, tail))
                if ((p == path || p[-1] == '/') && (p[n] == 0 || (p[n] == '/' && !is_name)))
                        return true;
        return false;
}

/* is_word(n, path): a plain word of a setting, in a directory where that would be the file. */
static bool is_word(const struct git_words *n, const char *path)
{
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
        size_t len = slash ? (size_t)(slash - path) : 0;
        bool is_top = false, is_dir = false;
        for (size_t i = 0; i < n->tops.n && !is_top; i++)
                is_top = strlen(n->tops.v[i]) == len && strncmp(n->tops.v[i], path, len) == 0;
        for (size_t i = 0; i < n->dirs.n && !is_dir; i++)
                is_dir = strlen(n->dirs.v[i]) == len && strncmp(n->dirs.v[i], path, len) == 0;
        return ((is_top || is_dir) && strs_has(&n->words, name)) ||
               (is_dir && len && git_words_is_entry(name));
}

static bool is_named(const struct git_words *n, const char *path)
{
        if (strs_has(&n->files, path) || is_word(n, path))
                return true;
        for (size_t i = 0; i < n->trees.n; i++)
                if (str_is_beneath(path, n->trees.v[i]))
                        return true;
        for (size_t i = 0; i < n->tails.n; i++)
                if (is_tail(path, n->tails.v[i]))
                        return true;
        return false;
}

void classify_said_judge(const struct classify_said *s, const char *path,
                         struct file_class_verdict *v)
{
        if (s->is_over) {
                *v = (struct file_class_verdict){.class = FILE_RUNS_ON_COMMIT,
                                                 .why = "git settings name too many places"};
                return;
        }
        for (size_t i = 0; i < s->hooks.n; i++) {
                const char *dir = s->hooks.v[i];
                if (*dir ? !str_is_beneath(path, dir) : !is_hook_name(path))
                        continue;
                *v = (struct file_class_verdict){.class = FILE_RUNS_ON_COMMIT,
                                                 .why = "git hook, by core.hooksPath"};
                return;
        }
        for (size_t i = 0; i < s->linked.n; i++) {
                if (!str_is_beneath(path, s->linked.v[i]))
                        continue;
                *v = (struct file_class_verdict){.class = FILE_RUNS_ON_COMMIT,
                                                 .why = "git hook, through a link"};
                return;
        }
        if (strs_has(&s->configs, path))
                *v = (struct file_class_verdict){.class = FILE_RUNS_ON_COMMIT,
                                                 .why = "git config, included"};
        else if (is_named(&s->named, path))
                *v = (struct file_class_verdict){.class = FILE_RUNS_ON_COMMIT,
                                                 .why = "a git setting names it"};
        else if (strs_has(&s->named.attributes, path))
                *v = (struct file_class_verdict){.class = FILE_RUNS_ON_COMMIT,
                                                 .why = "git attributes, by core.attributesFile"};
}

void classify_said_free(struct classify_said *s)
{
        strs_free(&s->hooks);
        strs_free(&s->linked);
        strs_free(&s->configs);
        strs_free(&s->tops);
        git_words_free(&s->named);
        free(s->real);
}
