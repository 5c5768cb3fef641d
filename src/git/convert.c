/* convert.c - which files of a box's work tree are what it committed although their bytes are not: git
 * changed line ends or the encoding when it checked them out. Called by fetch.c, for who shows what is
 * not committed.
 *
 * The host's git decides, in a box without network over the box's layers, by the box's attributes and
 * settings. A path with a filter is left out: its commands would have to run to know. What comes back
 * decides a word of what is shown, and neither what lands nor what is left out. */
#include "git/fetch_int.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { CONVERT_OUT_MAX = 64 << 20, CONVERT_FILES_MAX = 100000 };

/* An entry that git may convert. */
struct convert_one {
        struct git_path *path;
        bool is_converted, has_filter; /* by its attributes */
};
struct convert {
        struct fetch *f;
        struct convert_one *v; /* sorted by path: touched and staged have theirs in order */
        size_t n;
};

static int convert_order(const void *a, const void *b)
{
        const struct convert_one *x = a, *y = b;
        return strcmp(x->path->path, y->path->path);
}

/* convert_add(c, list): its regular files; a name that hash-object would read as a quoted one, or as
 * two, is left out. */
static void convert_add(struct convert *c, struct git_paths *list)
{
        for (size_t i = 0; i < list->n && c->n < CONVERT_FILES_MAX; i++) {
                struct git_path *p = &list->v[i];
                if ((p->mode & 0170000) == 0100000 && p->path[0] != '"' && !strchr(p->path, '\n'))
                        c->v[c->n++] = (struct convert_one){.path = p};
        }
}

/* convert_by_setting(f): does core.autocrlf convert whatever attributes do not mention? */
static bool convert_by_setting(struct fetch *f)
{
        _cleanup_buf_ struct buf out = {.max = 4096};
        struct err none = {0};
        if (fetch_inside(f, FETCH_ARGV("config", "--get", "core.autocrlf"), NULL, &out, &none) != 0)
                return false;
        const char *text = buf_cstr(&out);
        return str_starts(text, "true\n") || str_starts(text, "input\n") ||
               str_starts(text, "yes\n") || str_starts(text, "on\n") || str_starts(text, "1\n");
}

/* convert_mark(c, path, name, value): one attribute of one path, which both lists may have. */
static void convert_mark(struct convert *c, char *path, const char *name, const char *value)
{
        static const char *const known[] = {"text", "crlf", "eol", "ident",
                                            "working-tree-encoding"};
        struct git_path key = {.path = path};
        struct convert_one look = {.path = &key};
        const struct convert_one *found = bsearch(&look, c->v, c->n, sizeof look, convert_order);
        bool is_set = strcmp(value, "unset") != 0 && strcmp(value, "unspecified") != 0;
        bool is_ours = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
                is_ours |= strcmp(name, known[i]) == 0;
        size_t at = found ? (size_t)(found - c->v) : c->n;
        while (at > 0 && at < c->n && convert_order(&c->v[at - 1], &look) == 0)
                at--;
        for (; at < c->n && convert_order(&c->v[at], &look) == 0; at++) {
                c->v[at].is_converted |= is_set && is_ours;
                c->v[at].has_filter |= is_set && strcmp(name, "filter") == 0;
        }
}

/* convert_attributes(c): "PATH" NUL "NAME" NUL "VALUE" NUL, of those that are set. 0 or -1. */
static int convert_attributes(struct convert *c)
{
        _cleanup_buf_ struct buf in = {.max = CONVERT_OUT_MAX}, out = {.max = CONVERT_OUT_MAX};
        struct err none = {0};
        for (size_t i = 0; i < c->n; i++)
                buf_put(&in, c->v[i].path->path, strlen(c->v[i].path->path) + 1);
        if (in.is_broken || fetch_inside(c->f, FETCH_ARGV("check-attr", "-a", "-z", "--stdin"), &in,
                                         &out, &none) != 0)
                return -1;
        (void)buf_cstr(&out);
        char *p = (char *)out.data, *end = p + out.len;
        while (p < end) {
                char *name = p + strlen(p) + 1;
                char *value = name < end ? name + strlen(name) + 1 : end;
                if (value >= end)
                        return -1;
                convert_mark(c, p, name, value);
                p = value + strlen(value) + 1;
        }
        return 0;
}

/* convert_keep(c, by_setting): only files that may be converted, without a filter, whose bytes are
 * others. */
static void convert_keep(struct convert *c, bool by_setting)
{
        const struct git_want *w = c->f->want;
        size_t n = 0;
        for (size_t i = 0; i < c->n; i++) {
                struct convert_one *one = &c->v[i];
                if ((one->is_converted || by_setting) && !one->has_filter && w->in_tree &&
                    w->in_tree(w->in_tree_arg, c->f->repo, one->path) == GIT_IN_TREE_FILE)
                        c->v[n++] = *one;
        }
        c->n = n;
}

/* convert_ask(c): what git would commit of them, a line each. */
static void convert_ask(struct convert *c)
{
        _cleanup_buf_ struct buf in = {.max = CONVERT_OUT_MAX}, out = {.max = CONVERT_OUT_MAX};
        struct err none = {0};
        for (size_t i = 0; i < c->n; i++)
                buf_put_fmt(&in, "%s\n", c->v[i].path->path);
        if (in.len == 0 || in.is_broken ||
            fetch_inside(c->f, FETCH_ARGV("hash-object", "--stdin-paths"), &in, &out, &none) != 0)
                return;
        const char *p = buf_cstr(&out);
        for (size_t i = 0; i < c->n && *p; i++) {
                size_t n = strcspn(p, "\n");
                struct git_path *path = c->v[i].path;
                path->is_converted = n == strlen(path->id) && strncmp(p, path->id, n) == 0;
                p += n + (p[n] != 0);
        }
}

void convert_find(struct fetch *f)
{
        struct convert c = {.f = f};
        c.v = calloc(f->repo->touched.n + f->repo->staged.n + 1, sizeof *c.v);
        if (!c.v)
                str_no_memory();
        convert_add(&c, &f->repo->touched);
        convert_add(&c, &f->repo->staged);
        if (c.n) {
                qsort(c.v, c.n, sizeof *c.v, convert_order);
                bool by_setting = convert_by_setting(f);
                if (convert_attributes(&c) == 0) {
                        convert_keep(&c, by_setting);
                        convert_ask(&c);
                }
        }
        free(c.v);
}
