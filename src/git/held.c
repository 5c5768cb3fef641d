/* held.c - see held.h, and held_find of fetch_int.h. */
#include "git/held.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "git/fetch_int.h"
#include "git/land_dirty.h"

#include <stdlib.h>
#include <string.h>

/* held_is_merged(f): does a branch of the host's own contain the box's HEAD? */
static bool held_is_merged(struct fetch *f)
{
        const struct git_repo *r = f->repo;
        _cleanup_buf_ struct buf out = {.max = 1 << 16};
        struct err none = {0};
        if (strcmp(r->head_id, r->host_head_id) == 0 || strcmp(r->head_id, r->base_id) == 0)
                return true;
        return fetch_host(f,
                          FETCH_ARGV("for-each-ref", "--count=1", "--format=%(refname)",
                                     "--contains", r->head_id, "refs/heads"),
                          NULL, &out, &none) == 0 &&
               out.len > 0;
}

/* held_is_taken(f): is it a ref that an apply of this box, or of one of its name, made? */
static bool held_is_taken(const struct fetch *f)
{
        _cleanup_free_ char *below = str_fmt("refs/ostiary/%s/", f->want->box);
        const struct git_tips *host = &f->owner->host;
        for (size_t i = 0; i < host->n; i++)
                if (str_starts(host->v[i].name, below) &&
                    strcmp(host->v[i].id, f->repo->head_id) == 0)
                        return true;
        return false;
}

void held_find(struct fetch *f)
{
        struct git_repo *r = f->repo;
        if (!r->host_git || !r->head_id[0] || !held_is_merged(f))
                return;
        r->held = held_is_taken(f) ? GIT_HELD_TAKEN : GIT_HELD_MERGED;
}

/* held_line(line, p): "100644 blob ID\tPATH". */
static bool held_line(const char *line, struct git_path *p)
{
        const char *tab = strchr(line, '\t'), *id = tab;
        while (id && id > line && id[-1] != ' ')
                id--;
        if (!tab || id == line || (size_t)(tab - id) > GIT_ID_MAX)
                return false;
        *p = (struct git_path){.path = str_dup(tab + 1), .mode = (unsigned)strtoul(line, NULL, 8)};
        memcpy(p->id, id, (size_t)(tab - id));
        return true;
}

static int held_order(const void *a, const void *b)
{
        const struct git_path *x = a, *y = b;
        return strcmp(x->path, y->path);
}

static void held_read(struct git_repo *r)
{
        const char *const argv[] = {"ls-tree", "-r", "-z", "--full-tree", r->head_id, NULL};
        _cleanup_buf_ struct buf out = {.max = (size_t)1 << 30};
        struct err none = {0};
        struct git_paths *t = &r->head_tree;
        size_t lines = 0;
        r->is_head_read = true;
        if (land_host_ask(r, argv, &out, &none) < 0)
                return;
        const char *p = buf_cstr(&out), *end = p + out.len;
        for (const char *q = p; q < end; q++)
                lines += *q == 0;
        t->v = calloc(lines + 1, sizeof *t->v);
        if (!t->v)
                str_no_memory();
        for (; p < end && t->n < lines; p += strlen(p) + 1)
                t->n += held_line(p, &t->v[t->n]);
        if (t->n)
                qsort(t->v, t->n, sizeof *t->v, held_order);
}

const struct git_path *git_held_entry(struct git_repo *r, const char *path)
{
        if (r->held == GIT_HELD_NOT)
                return NULL;
        if (!r->is_head_read)
                held_read(r);
        return git_paths_find(&r->head_tree, path);
}
