/* refwords.c - see refwords.h. Names are the box's (cases 76, 80). */
#include "cli/refwords.h"

#include "base/cleanup.h"
#include "base/str.h"

#include <string.h>

/* words_tree(name): "worktrees/PATH/HEAD". */
static char *words_tree(const char *name)
{
        static const char begin[] = "worktrees/", end[] = "/HEAD";
        size_t n = strlen(name) - (sizeof begin - 1) - (sizeof end - 1);
        return str_fmt("the detached HEAD of %.*s", (int)n, name + sizeof begin - 1);
}

char *refwords_in(const struct git_repo *r)
{
        _cleanup_free_ char *path = str_quote(r->path);
        return *r->path ? str_fmt(" in %s", path) : str_dup("");
}

char *refwords(const struct git_ref *ref)
{
        static const char heads[] = "refs/heads/", tags[] = "refs/tags/";
        _cleanup_free_ char *name = str_quote(ref->name);
        if (str_starts(name, heads))
                return str_dup(name + sizeof heads - 1);
        if (str_starts(name, tags))
                return str_fmt("tag %s", name + sizeof tags - 1);
        if (ref->tree && str_starts(name, "worktrees/") && str_ends(name, "/HEAD"))
                return words_tree(name);
        return str_dup(name);
}
