/* links.c - see links.h. */
#include "git/links.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "git/fetch_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINKS_DEPTH = 40, LINKS_NAMES_MAX = 4096, LINKS_NAMES_ALL = 5000000, LINKS_MAX = 1000000 };

void git_links_free(struct git_links *l)
{
        for (size_t i = 0; i < l->n; i++) {
                free(l->v[i].at);
                free(l->v[i].to);
        }
        free(l->v);
        *l = (struct git_links){0};
}

/* links_join(base, target): ${base} and ${target} by their components; NULL when it leaves. */
static char *links_join(const char *base, size_t base_len, const char *target)
{
        _cleanup_free_ char *path = malloc(base_len + strlen(target) + 2);
        if (!path)
                str_no_memory();
        memcpy(path, base, base_len);
        size_t len = base_len;
        for (const char *p = target; *p;) {
                size_t n = strcspn(p, "/");
                if (n == 2 && p[0] == '.' && p[1] == '.') {
                        if (len == 0)
                                return NULL;
                        while (len && path[len - 1] != '/')
                                len--;
                        len -= len > 0;
                } else if (n && !(n == 1 && p[0] == '.')) {
                        if (len)
                                path[len++] = '/';
                        memcpy(path + len, p, n);
                        len += n;
                }
                p += n + (p[n] == '/');
        }
        path[len] = 0;
        return take_ptr(&path);
}

/* links_turns(target): does it go up again after it went down? */
static bool links_turns(const char *target)
{
        bool is_down = false;
        for (const char *p = target; *p;) {
                size_t n = strcspn(p, "/");
                bool is_up = n == 2 && p[0] == '.' && p[1] == '.';
                if (is_up && is_down)
                        return true;
                is_down |= n && !is_up && !(n == 1 && p[0] == '.');
                p += n + (p[n] == '/');
        }
        return false;
}

void git_links_add(struct git_links *l, const char *at, const char *target, const char *top)
{
        const char *slash = strrchr(at, '/');
        size_t base = slash ? (size_t)(slash - at) : 0;
        if (target[0] == '/') {
                if (!str_is_beneath(target, top))
                        return;
                target += strlen(top);
                base = 0;
        }
        l->is_lost |= l->n >= LINKS_MAX || links_turns(target);
        char *to = l->n < LINKS_MAX ? links_join(at, base, target) : NULL;
        if (!to)
                return;
        if (l->n == l->cap) {
                l->cap = l->cap ? l->cap * 2 : 32;
                l->v = realloc(l->v, l->cap * sizeof *l->v);
                if (!l->v)
                        str_no_memory();
        }
        l->v[l->n++] = (struct git_link){.at = str_dup(at), .to = to};
        l->is_sorted = false;
}

bool git_links_leaves(const char *at, const char *target, const char *repo, const char *workspace)
{
        _cleanup_free_ char *whole = str_fmt("%s%s%s", repo, *repo ? "/" : "", at);
        const char *slash = strrchr(whole, '/');
        size_t base = slash ? (size_t)(slash - whole) : 0;
        if (target[0] == '/') {
                if (!str_is_beneath(target, workspace))
                        return true;
                target += strlen(workspace);
                base = 0;
        }
        _cleanup_free_ char *to = links_join(whole, base, target);
        return to == NULL;
}

static int links_order(const void *a, const void *b)
{
        const struct git_link *x = a, *y = b;
        int by_to = strcmp(x->to, y->to);
        return by_to ? by_to : strcmp(x->at, y->at);
}

/* links_first(l, to): the first link that leads there, or l->n. */
static size_t links_first(const struct git_links *l, const char *to)
{
        size_t low = 0, high = l->n;
        while (low < high) {
                size_t mid = (low + high) / 2;
                if (strcmp(l->v[mid].to, to) < 0)
                        low = mid + 1;
                else
                        high = mid;
        }
        return low < l->n && strcmp(l->v[low].to, to) == 0 ? low : l->n;
}

struct links_walk {
        struct git_links *links;
        size_t chain[LINKS_DEPTH + 1]; /* links that led here: none leads anywhere new twice */
        const struct file_classes *table;
        struct file_class_verdict *verdict;
        size_t names_n;
        bool is_link;
};

static void links_name(struct links_walk *w, const char *name)
{
        struct file_class_verdict v;
        file_class_of(w->table, name, &v);
        if (v.class == FILE_PLAIN && w->is_link)
                file_class_leads(w->table, name, &v);
        if (v.class == FILE_PLAIN ||
            git_paths_worse(v.class, w->verdict->class) == w->verdict->class)
                return;
        _cleanup_free_ char *shown = str_quote(name);
        *w->verdict = v;
        snprintf(w->verdict->why, sizeof w->verdict->why, "%.40s, through %.40s", v.why, shown);
}

/* links_from(w, path, depth): every name by which a link to it, or to what contains it, shows it. */
static void links_from(struct links_walk *w, const char *path, int depth)
{
        _cleanup_free_ char *part = str_dup(path);
        for (size_t len = strlen(path);;) {
                part[len] = 0;
                const char *rest = path + len + (path[len] == '/' && len > 0);
                for (size_t i = links_first(w->links, part);
                     i < w->links->n && strcmp(w->links->v[i].to, part) == 0; i++) {
                        bool is_again = false;
                        for (int k = 0; k < depth; k++)
                                is_again |= w->chain[k] == i;
                        if (is_again)
                                continue;
                        if (w->links->names_n++ > LINKS_NAMES_ALL)
                                w->links->is_lost = true;
                        if (w->links->is_lost || w->names_n++ > LINKS_NAMES_MAX ||
                            depth >= LINKS_DEPTH) {
                                *w->verdict = (struct file_class_verdict){
                                        .class = FILE_RUNS_ON_COMMIT,
                                        .why = "too many links lead to it"};
                                return;
                        }
                        _cleanup_free_ char *name =
                                str_fmt("%s%s%s", w->links->v[i].at, *rest ? "/" : "", rest);
                        links_name(w, name);
                        w->chain[depth] = i;
                        links_from(w, name, depth + 1);
                }
                if (len == 0)
                        return;
                while (len && part[len - 1] != '/')
                        len--;
                len -= len > 0;
        }
}

void git_links_class(struct git_links *l, const struct file_classes *table, const char *path,
                     bool is_link, struct file_class_verdict *verdict)
{
        if (l->n == 0)
                return;
        if (l->is_lost && verdict->class == FILE_PLAIN)
                *verdict = (struct file_class_verdict){.class = FILE_RUNS_ON_COMMIT,
                                                       .why = "links that cannot be followed"};
        if (!l->is_sorted)
                qsort(l->v, l->n, sizeof *l->v, links_order);
        l->is_sorted = true;
        struct links_walk w = {.links = l, .table = table, .verdict = verdict, .is_link = is_link};
        links_from(&w, path, 0);
}
