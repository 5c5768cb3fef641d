/* refwords.c - see refwords.h. Names are the box's (cases 76, 80). */
#include "cli/refwords.h"

#include "base/cleanup.h"
#include "base/str.h"

char *refwords(const struct git_ref *ref)
{
        static const char heads[] = "refs/heads/", tags[] = "refs/tags/";
        _cleanup_free_ char *name = str_quote(ref->name);
        if (str_starts(name, heads))
                return str_dup(name + sizeof heads - 1);
        if (str_starts(name, tags))
                return str_fmt("tag %s", name + sizeof tags - 1);
        return str_dup(name);
}
