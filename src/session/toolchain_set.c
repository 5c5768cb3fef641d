/* toolchain_set.c - the list of what a box shall see, kept small: nothing twice, nothing inside
 * something else. Called by the other toolchain files and, for freeing, by the planner. */
#include "base/buf.h"
#include "base/str.h"
#include "session/toolchain_int.h"

#include <stdlib.h>
#include <string.h>

static const char *const visible[] = {"/usr",   "/bin",   "/sbin",   "/lib",
                                      "/lib32", "/lib64", "/libx32", "/opt"};

bool toolchain_is_visible(const char *path)
{
        for (size_t i = 0; i < sizeof visible / sizeof *visible; i++)
                if (str_is_beneath(path, visible[i]))
                        return true;
        return false;
}

void toolchain_add(struct toolchain_set *set, enum toolchain_kind kind, const char *path,
                   const char *link, const char *why)
{
        struct toolchain_item *more = reallocarray(set->items, set->items_n + 1, sizeof *more);
        if (!more)
                str_no_memory();
        set->items = more;
        set->items[set->items_n++] = (struct toolchain_item){
                .kind = kind,
                .path = str_dup(path),
                .link = link ? str_dup(link) : NULL,
                .why = str_dup(why),
        };
}

bool toolchain_has(const struct toolchain_set *set, const char *path)
{
        for (size_t i = 0; i < set->items_n; i++) {
                const struct toolchain_item *it = &set->items[i];
                if (it->kind == TOOLCHAIN_TREE
                            ? str_is_beneath(path, it->path)
                            : it->kind == TOOLCHAIN_FILE && strcmp(it->path, path) == 0)
                        return true;
        }
        return false;
}

static void item_free(struct toolchain_item *it)
{
        free(it->path);
        free(it->link);
        free(it->why);
}

void toolchain_free(struct toolchain_set *set)
{
        for (size_t i = 0; i < set->items_n; i++)
                item_free(&set->items[i]);
        free(set->items);
        free(set->exe);
        strs_free(&set->path);
        strs_free(&set->env);
        strs_free(&set->left_out);
        memset(set, 0, sizeof *set);
}

/* Trees before links before files of the same path, so that the first of equals is the one to keep.
 */
static int by_path(const void *a, const void *b)
{
        const struct toolchain_item *x = a, *y = b;
        int d = strcmp(x->path, y->path);
        return d ? d : (int)x->kind - (int)y->kind;
}

void toolchain_tidy(struct toolchain_set *set)
{
        if (set->items_n == 0)
                return;
        qsort(set->items, set->items_n, sizeof *set->items, by_path);
        size_t kept = 0;
        for (size_t i = 0; i < set->items_n; i++) {
                struct toolchain_item *it = &set->items[i];
                bool is_inside = false;
                for (size_t k = 0; k < kept && !is_inside; k++)
                        is_inside = set->items[k].kind == TOOLCHAIN_TREE
                                            ? str_is_beneath(it->path, set->items[k].path)
                                            : strcmp(it->path, set->items[k].path) == 0;
                if (is_inside)
                        item_free(it);
                else
                        set->items[kept++] = *it;
        }
        set->items_n = kept;
}

char *toolchain_path_env(const struct toolchain_set *set)
{
        _cleanup_buf_ struct buf b = {0};
        for (size_t i = 0; i < set->path.n; i++) {
                if (i)
                        buf_put_u8(&b, ':');
                buf_put_str(&b, set->path.v[i]);
        }
        return str_dup(buf_cstr(&b));
}
