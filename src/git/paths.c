/* paths.c - lists of paths with their classes (fetch.h): collected in any order, then sorted and
 * each kept once, with the most dangerous of its classes. */
#include "git/fetch_int.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* Most dangerous first: what runs without anybody meaning to, then what changes who is asked. */
static const enum file_class paths_order[] = {FILE_RUNS_ON_COMMIT,     FILE_RUNS_ON_OPEN,
                                              FILE_CONFIGURES_OSTIARY, FILE_STEERS_AGENT,
                                              FILE_RUNS_ON_BUILD,      FILE_RUNS_IN_CI};

static size_t paths_rank(enum file_class c)
{
        size_t n = sizeof paths_order / sizeof *paths_order;
        for (size_t i = 0; i < n; i++)
                if (paths_order[i] == c)
                        return i;
        return n + (c == FILE_PLAIN);
}

enum file_class git_paths_worse(enum file_class a, enum file_class b)
{
        return paths_rank(a) <= paths_rank(b) ? a : b;
}

void git_paths_free(struct git_paths *p)
{
        for (size_t i = 0; i < p->n; i++)
                free(p->v[i].path);
        free(p->v);
        *p = (struct git_paths){0};
}

static int paths_by_name(const void *a, const void *b)
{
        const struct git_path *x = a, *y = b;
        return strcmp(x->path, y->path);
}

const struct git_path *git_paths_find(const struct git_paths *p, const char *path)
{
        struct git_path key = {.path = (char *)(uintptr_t)path};
        return p->n ? bsearch(&key, p->v, p->n, sizeof key, paths_by_name) : NULL;
}

void git_bag_add(struct git_bag *b, const struct git_raw *raw, const char *commit)
{
        if (b->n == b->cap) {
                b->cap = b->cap ? b->cap * 2 : 64;
                b->v = realloc(b->v, b->cap * sizeof *b->v);
                if (!b->v)
                        str_no_memory();
        }
        b->v[b->n] = (struct git_bagged){.raw = raw, .commit = commit, .at = b->n};
        b->n++;
}

void git_bag_free(struct git_bag *b)
{
        free(b->v);
        *b = (struct git_bag){0};
}

static int bag_order(const void *a, const void *b)
{
        const struct git_bagged *x = a, *y = b;
        int by_path = strcmp(x->raw->path, y->raw->path);
        return by_path ? by_path : x->at < y->at ? -1 : 1;
}

void git_bag_settle(struct git_bag *b, struct fetch_classes *classes, struct git_paths *out)
{
        if (b->n == 0)
                return;
        qsort(b->v, b->n, sizeof *b->v, bag_order);
        size_t unique = 0;
        for (size_t i = 0; i < b->n; i++)
                unique += i == 0 || strcmp(b->v[i].raw->path, b->v[i - 1].raw->path) != 0;
        out->v = calloc(unique, sizeof *out->v);
        if (!out->v)
                str_no_memory();
        for (size_t i = 0; i < b->n; i++) {
                const struct git_raw *r = b->v[i].raw;
                struct file_class_verdict verdict;
                fetch_class_of(classes, r, &verdict);
                struct git_path *last = out->n ? &out->v[out->n - 1] : NULL;
                if (last && strcmp(last->path, r->path) == 0) {
                        if (paths_rank(verdict.class) < paths_rank(last->class.class))
                                last->class = verdict;
                        continue;
                }
                struct git_path *p = &out->v[out->n++];
                *p = (struct git_path){.path = str_dup(r->path),
                                       .what = r->what,
                                       .mode = r->mode,
                                       .class = verdict};
                memcpy(p->id, r->id, strlen(r->id) + 1);
                memcpy(p->was, r->id_was, strlen(r->id_was) + 1);
                if (b->v[i].commit)
                        memcpy(p->commit, b->v[i].commit, strlen(b->v[i].commit) + 1);
        }
}

enum file_class git_paths_worst(const struct git_paths *p)
{
        enum file_class worst = FILE_PLAIN;
        for (size_t i = 0; i < p->n; i++)
                worst = git_paths_worse(worst, p->v[i].class.class);
        return worst;
}
