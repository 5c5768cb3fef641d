/* host_tree.c - see host_tree.h. One call of git per commit, read by the host's git. */
#include "git/host_tree.h"

#include "base/err.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

void host_tree_free(struct host_tree *t)
{
        buf_free(&t->text);
        free(t->v);
        *t = (struct host_tree){0};
}

static int host_tree_order(const void *a, const void *b)
{
        const struct host_entry *x = a, *y = b;
        return strcmp(x->path, y->path);
}

/* host_tree_line(line, id_len, e): "100644 blob ID\tPATH"; the id ends at the tab. */
static bool host_tree_line(char *line, size_t id_len, struct host_entry *e)
{
        char *tab = strchr(line, '\t');
        if (!tab || (size_t)(tab - line) < id_len + 8)
                return false;
        *tab = 0;
        *e = (struct host_entry){
                .path = tab + 1, .id = tab - id_len, .mode = (unsigned)strtoul(line, NULL, 8)};
        return true;
}

void host_tree_load(struct host_tree *t, struct fetch *f, const char *commit)
{
        struct err none = {0};
        size_t lines = 0;
        if (strcmp(t->commit, commit) == 0)
                return;
        host_tree_free(t);
        memcpy(t->commit, commit, strlen(commit) + 1);
        t->text.max = (size_t)1 << 30;
        if (!*commit || fetch_ours(f, FETCH_ARGV("ls-tree", "-r", "-z", "--full-tree", commit),
                                   NULL, &t->text, &none) != 0)
                return;
        char *p = (char *)(uintptr_t)buf_cstr(&t->text), *end = p + t->text.len;
        for (const char *q = p; q < end; q++)
                lines += *q == 0;
        t->v = calloc(lines + 1, sizeof *t->v);
        if (!t->v)
                str_no_memory();
        for (char *next; p < end && t->n < lines; p = next) {
                next = p + strlen(p) + 1;
                t->n += host_tree_line(p, f->id_len, &t->v[t->n]);
        }
        if (t->n)
                qsort(t->v, t->n, sizeof *t->v, host_tree_order);
        t->is_read = true;
}

bool host_tree_has(const struct host_tree *t, const struct git_raw *r)
{
        struct host_entry key = {.path = r->path};
        if (!t->is_read)
                return false;
        const struct host_entry *e =
                t->n ? bsearch(&key, t->v, t->n, sizeof key, host_tree_order) : NULL;
        return e ? e->mode == r->mode && strcmp(e->id, r->id) == 0 : r->mode == 0;
}
