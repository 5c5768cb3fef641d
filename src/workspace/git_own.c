/* git_own.c - see git_own.h. The reflog of HEAD has a line for each step: a clone has those of cloning,
 * checking out and pulling. */
#include "workspace/git_own.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { REFLOG_MAX = 4 << 20, HEAD_MAX = 4096 };

static char *own_read(const struct ws_view *view, const char *dir, const char *name, size_t max)
{
        struct ws_node node = {0};
        _cleanup_free_ char *path = str_fmt("%s/%s", dir, name);
        _cleanup_buf_ struct buf b = {.max = max + HEAD_MAX};
        _cleanup_close_ int fd = ws_view_file(view, path, &node, NULL);
        return fd >= 0 && fdio_read_all(fd, &b, max) == 0 ? str_dup(buf_cstr(&b)) : NULL;
}

static bool own_has(const struct ws_view *view, const char *dir, const char *name)
{
        struct ws_node node = {0};
        _cleanup_free_ char *path = str_fmt("%s/%s", dir, name);
        return ws_view_look(view, path, &node, NULL) == 0 && node.kind != WS_NONE;
}

/* own_is_step(line): did this step bring nothing that is not elsewhere? */
static bool own_is_step(const char *line)
{
        static const char *const steps[] = {"clone:", "checkout:", "reset:", "branch:", "fetch"};
        const char *tab = strchr(line, '\t'), *words = tab ? tab + 1 : "";
        if (str_starts(words, "pull"))
                return str_ends(words, ": Fast-forward");
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
                if (str_starts(words, steps[i]))
                        return true;
        return false;
}

/* own_without_log(view, git): is there a branch at all? */
static bool own_without_log(const struct ws_view *view, const char *git)
{
        static const char ref[] = "ref: ";
        _cleanup_free_ char *head = own_read(view, git, "HEAD", HEAD_MAX);
        if (own_has(view, git, "packed-refs") || !head || !str_starts(head, ref))
                return true;
        head[strcspn(head, "\r\n")] = 0;
        return own_has(view, git, head + sizeof ref - 1);
}

bool git_own_commits(const struct ws_view *view, const char *repo)
{
        struct ws_node node = {0};
        _cleanup_free_ char *dot = str_fmt("%s/.git", repo);
        bool has_dot = ws_view_look(view, dot, &node, NULL) == 0 && node.kind != WS_NONE;
        if (has_dot && node.kind != WS_DIR)
                return false;
        const char *git = has_dot ? dot : repo;
        _cleanup_free_ char *log = own_read(view, git, "logs/HEAD", REFLOG_MAX);
        if (!log)
                return own_without_log(view, git);
        for (char *rest = log, *line; (line = strsep(&rest, "\n"));)
                if (*line && !own_is_step(line))
                        return true;
        return false;
}
