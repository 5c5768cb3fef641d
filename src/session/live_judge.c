/* live_judge.c - see live.h: which new file in a live workspace is taken away at once. Narrower
 * than the classes of a diff, because nobody is asked: git must be able to clone, to add a worktree
 * and to rebase in there. Called by live_watch.c for each file that appears. */
#include "session/live.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "policy/git_config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool live_is_guarded(enum file_class c)
{
        return c == FILE_RUNS_ON_COMMIT || c == FILE_RUNS_ON_OPEN || c == FILE_STEERS_AGENT ||
               c == FILE_CONFIGURES_OSTIARY;
}

bool live_is_installed(const char *path)
{
        struct file_class_verdict v;
        file_class_of(NULL, path, &v);
        return v.class == FILE_RUNS_ON_BUILD && strcmp(v.why, "installed packages") == 0;
}

/* Keys that a clone, a submodule or a bare repository cannot do without: they run nothing. */
static bool is_needed(const struct git_config_entry *e, const char *path)
{
        const char *v = e->value;
        if (git_config_key_is("remote.*.url", e->key) ||
            git_config_key_is("submodule.*.url", e->key))
                return v && v[0] != '-' && !strstr(v, "::");
        if (git_config_key_is("core.worktree", e->key))
                return v && v[0] != '/' && strstr(path, "/modules/");
        return git_config_key_is("core.bare", e->key) ||
               git_config_key_is("remote.*.fetch", e->key) ||
               git_config_key_is("remote.*.mirror", e->key) ||
               git_config_key_is("submodule.*.path", e->key) ||
               git_config_key_is("submodule.*.active", e->key) ||
               git_config_key_is("submodule.active", e->key);
}

static bool is_tame_config(struct live_tree *t, const char *path)
{
        struct ws_node node = {0};
        _cleanup_buf_ struct buf text = {0};
        _cleanup_git_config_ struct git_config c = {0};
        _cleanup_close_ int fd = ws_view_file(&t->ws.after, path, &node, NULL);
        if (fd < 0 || fdio_read_all(fd, &text, GIT_CONFIG_MAX) < 0 ||
            git_config_parse(buf_cstr(&text), text.len, &c) < 0)
                return false;
        for (size_t i = 0; i < c.n; i++)
                if (!git_config_is_plain(&c.v[i]) && !is_needed(&c.v[i], path))
                        return false;
        return true;
}

/* A pointer (.git, gitdir, commondir) that stays within the tree leads to a git directory that is
 * judged itself. */
static bool is_tame_pointer(struct live_tree *t, const char *path)
{
        struct ws_node node = {0};
        _cleanup_buf_ struct buf text = {0};
        _cleanup_close_ int fd = ws_view_file(&t->ws.after, path, &node, NULL);
        if (fd < 0 || fdio_read_all(fd, &text, 4096) < 0)
                return false;
        const char *to = buf_cstr(&text);
        size_t depth = 0;
        if (str_starts(to, "gitdir: "))
                to += 8;
        if (*to == '/') {
                size_t n = strlen(t->root);
                if (strncmp(to, t->root, n) != 0 || to[n] != '/')
                        return false;
                to += n + 1;
        } else {
                for (const char *p = path; *p; p++)
                        depth += *p == '/';
        }
        for (const char *p = to; *p && *p != '\n';) {
                size_t n = strcspn(p, "/\n");
                if (n == 2 && p[0] == '.' && p[1] == '.') {
                        if (depth-- == 0)
                                return false;
                } else if (n > 0 && !(n == 1 && p[0] == '.')) {
                        depth++;
                }
                p += n + (p[n] == '/');
        }
        return true;
}

bool live_judge(struct live_tree *t, const char *path, mode_t mode, bool is_end,
                struct file_class_verdict *v)
{
        /* Content decides for some: only these are opened. */
        enum ws_kind kind = S_ISREG(mode)   ? WS_FILE
                            : S_ISLNK(mode) ? WS_LINK
                            : S_ISDIR(mode) ? WS_DIR
                                            : WS_SPECIAL;
        if (kind == WS_DIR || kind == WS_SPECIAL)
                return false;
        classify_path(t->classify, path, kind, v);
        if (!live_is_guarded(v->class))
                return false;
        if (kind != WS_FILE || v->is_odd)
                return true;
        struct file_class_verdict by_path;
        file_class_of(t->classes, path, &by_path);
        const char *why = by_path.class == FILE_RUNS_ON_COMMIT ? by_path.why : v->why;
        if (classify_makes_git(v))
                return false; /* its config and hooks are judged */
        if (str_starts(why, "commands of a rebase"))
                return is_end;
        if (str_ends(why, "pointer"))
                return !is_tame_pointer(t, path);
        /* By its keys: the verdict names one of them. */
        const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
        if (strcmp(name, "config") == 0 || strcmp(name, "config.worktree") == 0 ||
            strcmp(name, ".gitmodules") == 0)
                return !is_tame_config(t, path);
        return true;
}
