/* tree_place.c - where a copy goes, by the rules that people know from cp.
 *
 * Called by both receiving ends before the first record is read. Opens directories only, through
 * the function that its caller gives: the CLI's keeps beneath workspaces, the box's is plain. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "wire/tree.h"

#include <errno.h>
#include <string.h>

void tree_place_free(struct tree_place *p)
{
        close_fd(&p->dir_fd);
        close_fd(&p->parent_fd);
        free(p->name);
        free(p->base);
        *p = (struct tree_place){.dir_fd = -1, .parent_fd = -1};
}

char *tree_base(const char *path)
{
        size_t end = strlen(path);
        while (end && path[end - 1] == '/')
                end--;
        size_t at = end;
        while (at && path[at - 1] != '/')
                at--;
        char *base = strndup(path + at, end - at);
        if (!base)
                str_no_memory();
        if (strcmp(base, ".") == 0 || strcmp(base, "..") == 0)
                *base = 0;
        return base;
}

int tree_place_open(struct tree_place *p, const char *path, const char *base,
                    tree_open_dir_fn *open_dir, void *arg, struct err *err)
{
        *p = (struct tree_place){.dir_fd = -1, .parent_fd = -1};
        if (*base && !tree_name_is_one(base))
                return err_set(err, E_INPUT, "%s is not the name of a file.", base);
        p->base = str_dup(base);

        p->dir_fd = open_dir(arg, *path ? path : ".", err);
        if (p->dir_fd >= 0)
                return 0;
        if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
                return -1;

        /* Not a directory, or not there yet: then its parent must be one. */
        p->wants_dir = str_ends(path, "/");
        p->name = tree_base(path);
        if (!*p->name)
                return -1;
        _cleanup_free_ char *parent = str_dup(path);
        size_t n = strlen(parent);
        while (n && parent[n - 1] == '/')
                n--;
        while (n && parent[n - 1] != '/')
                n--;
        while (n > 1 && parent[n - 1] == '/')
                n--;
        parent[n] = 0;
        p->parent_fd = open_dir(arg, n ? parent : ".", err);
        return p->parent_fd < 0 ? -1 : 0;
}
