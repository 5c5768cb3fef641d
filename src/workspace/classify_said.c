/* classify_said.c - see classify_int.h. core.hooksPath = tools/hooks makes tools/hooks/pre-commit a
 * hook, include.path = ../shared.cfg makes shared.cfg a configuration, and .git/hooks may be a
 * link. One repository, the root's own, and one step: an included file that includes another is
 * asked about when it says so. Settings of the user and of the machine are followed to their end. Nothing here trusts what it reads: it can only make more files ask.
 */
#include "workspace/classify_int.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/str.h"
#include "policy/file_class.h"
#include "policy/git_config.h"
#include "workspace/git_user.h"

#include <stdlib.h>
#include <string.h>

enum { SAID_MAX = 64 };

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
        return is_inside && parts.n > 0;
}

static void add(struct strs *list, const struct ws_root *root, const char *base, const char *path)
{
        _cleanup_buf_ struct buf full = {0}, from_top = {0};
        if (!path || !*path || *path == '~' || list->n >= SAID_MAX)
                return;
        if (*path == '/') {
                buf_put_u8(&from_top, '/');
                if (!join("", path, &from_top))
                        return;
                path = buf_cstr(&from_top);
                if (!root->host || !*root->host || !str_is_beneath(path, root->host))
                        return;
                path += strlen(root->host);
                base = "";
        }
        if (join(base, path, &full) && !strs_has(list, buf_cstr(&full)))
                strs_add(list, buf_cstr(&full));
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
                        add(&s->hooks, root, "", e->value);
                else if (git_user_is_include(e->key))
                        add(&s->configs, root, git_dir, e->value);
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
                add(&s->hooks, root, ".git", buf_cstr(&target));
}

void classify_said_user(struct classify_said *s, const struct ws_root *root)
{
        _cleanup_git_user_ struct git_user u;
        git_user_open(&u);
        for (size_t i = 0; i < u.n; i++) {
                const char *own = u.v[i].path;
                add(&s->configs, root, "", *own == '/' ? own : NULL);
                for (size_t k = 0; k < u.v[i].config.n; k++) {
                        const struct git_config_entry *e = &u.v[i].config.v[k];
                        bool is_hooks = strcmp(e->key, "core.hookspath") == 0;
                        if (!e->value || (!is_hooks && !git_user_is_include(e->key)))
                                continue;
                        _cleanup_free_ char *path =
                                git_user_path(&u, e->value, is_hooks ? NULL : own);
                        add(is_hooks ? &s->hooks : &s->configs, root, "", path);
                }
        }
}

void classify_said_judge(const struct classify_said *s, const char *path,
                         struct file_class_verdict *v)
{
        for (size_t i = 0; i < s->hooks.n; i++) {
                if (!str_is_beneath(path, s->hooks.v[i]))
                        continue;
                *v = (struct file_class_verdict){.class = FILE_RUNS_ON_COMMIT,
                                                 .why = "git hook, by core.hooksPath"};
                return;
        }
        if (strs_has(&s->configs, path))
                *v = (struct file_class_verdict){.class = FILE_RUNS_ON_COMMIT,
                                                 .why = "git config, included"};
}

void classify_said_free(struct classify_said *s)
{
        strs_free(&s->hooks);
        strs_free(&s->configs);
}
