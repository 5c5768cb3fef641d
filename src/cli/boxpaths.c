/* boxpaths.c - see boxpaths.h. */
#include "cli/boxpaths.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "cli/args.h"
#include "cli/boxhere.h"

#include <string.h>
#include <sys/stat.h>

int boxpaths_read(struct boxpaths *p, struct args *a)
{
        for (char *word; (word = args_next(a));)
                strs_add(&p->paths, word);
        if (a->is_over)
                return -1;
        p->is_all_paths = a->has_dashes && p->paths.n == 0;
        for (char **rest = args_rest(a); a->has_dashes && *rest; rest++)
                strs_add(&p->paths, *rest);
        return 0;
}

/* is_path(word): nobody would call a box that, or there is such a file here. */
static bool is_path(const char *word)
{
        struct stat st;
        return strpbrk(word, "/~") || word[0] == '.' || lstat(word, &st) == 0;
}

int boxpaths_find(struct boxpaths *p, struct err *err)
{
        if (p->paths.n == 0 || p->is_all_paths)
                return boxhere_find(&p->box, err);
        const char *first = p->paths.v[0];
        if (boxarg_find(&p->box, first, err) == 0) {
                strs_remove(&p->paths, 0);
                return 0;
        }
        if (!err || err->code != E_ABSENT || !is_path(first))
                return -1;
        boxarg_free(&p->box);
        *err = (struct err){0};
        return boxhere_find(&p->box, err);
}

void boxpaths_free(struct boxpaths *p)
{
        boxarg_free(&p->box);
        strs_free(&p->paths);
}
