/* links.c - see links.h. Called by classify.c. The targets are bytes that a box may have written:
 * they are joined by their words alone, with bounded work for each link. */
#include "workspace/links.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "base/strs.h"
#include "policy/file_class.h"
#include "workspace/scan.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
        LINKS_MAX = 1000000,
        HOPS_MAX = 40,  /* links on the way to one target, as the kernel counts them */
        STEPS_MAX = 256 /* of all ways from one link together */
};

struct link {
        char *path, *target;
        size_t order; /* in which they were found: the host's own first */
};
/* A link at ${as} leads to ${to}. */
struct link_alias {
        char *to, *as;
        bool is_exact;
};
struct links {
        const char *host; /* of the root: absolute targets are meant from there */
        struct link *v;
        size_t n, cap;
        struct link_alias *aliases;
        size_t aliases_n, aliases_cap;
};

static void *links_grow(void *v, size_t n, size_t *cap, size_t size)
{
        if (n < *cap)
                return v;
        *cap = *cap ? *cap * 2 : 64;
        v = reallocarray(v, *cap, size);
        if (!v)
                str_no_memory();
        return v;
}

/* --- the links that are there ----------------------------------------------------------------- */

static bool links_is_installed(const char *name)
{
        struct file_class_verdict v;
        file_class_of(NULL, name, &v);
        return v.class == FILE_RUNS_ON_BUILD && strcmp(v.why, "installed packages") == 0;
}

/* Where git keeps what it made up itself: many files, and no link that is followed. */
static bool links_is_git_data(const char *path)
{
        static const char *const ends[] = {".git/objects", ".git/refs", ".git/logs", ".git/lfs"};
        for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
                if (str_ends(path, ends[i]))
                        return true;
        return false;
}

static enum scan_next links_take(void *ctx, int dir_fd, const char *name, const char *path,
                                 unsigned char type)
{
        struct links *l = ctx;
        char target[PATH_MAX];
        if (type == DT_DIR)
                return links_is_git_data(path) || links_is_installed(name) ? SCAN_SKIP : SCAN_GO;
        if (type != DT_LNK)
                return SCAN_GO;
        ssize_t n = readlinkat(dir_fd, name, target, sizeof target - 1);
        if (n <= 0)
                return SCAN_GO;
        target[n] = 0;
        l->v = links_grow(l->v, l->n, &l->cap, sizeof *l->v);
        l->v[l->n] = (struct link){.path = str_dup(path), .target = str_dup(target), .order = l->n};
        l->n++;
        return l->n < LINKS_MAX ? SCAN_GO : SCAN_STOP;
}

static int links_by_path(const void *a, const void *b)
{
        const struct link *x = a, *y = b;
        int d = strcmp(x->path, y->path);
        return d ? d : x->order < y->order ? -1 : 1;
}

static int links_by_to(const void *a, const void *b)
{
        return strcmp(((const struct link_alias *)a)->to, ((const struct link_alias *)b)->to);
}

/* links_first(l, path): the first link at ${path}, or NULL; others of that path, from other layers,
 * come after it. */
static const struct link *links_first(const struct links *l, const char *path)
{
        size_t from = 0, to = l->n;
        while (from < to) {
                size_t at = from + (to - from) / 2;
                if (strcmp(l->v[at].path, path) < 0)
                        from = at + 1;
                else
                        to = at;
        }
        return from < l->n && strcmp(l->v[from].path, path) == 0 ? &l->v[from] : NULL;
}

/* --- where they lead -------------------------------------------------------------------------- */

struct links_way {
        struct links *l;
        const struct link *from;
        unsigned steps_n;
};

static void links_add(struct links_way *w, const char *to, bool is_exact)
{
        struct links *l = w->l;
        if (!*to || strcmp(to, w->from->path) == 0)
                return;
        l->aliases = links_grow(l->aliases, l->aliases_n, &l->aliases_cap, sizeof *l->aliases);
        l->aliases[l->aliases_n++] = (struct link_alias){
                .to = str_dup(to), .as = str_dup(w->from->path), .is_exact = is_exact};
}

/* links_go(w, base, rest, hops): from the directory ${base} (no slash at its end) along ${rest}. A
 * component that is a link in one layer may be a directory in another: both ways are gone. */
static void links_go(struct links_way *w, const char *base, const char *rest, unsigned hops)
{
        _cleanup_buf_ struct buf at = {0};
        if (hops > HOPS_MAX || w->steps_n++ > STEPS_MAX)
                return;
        if (*rest == '/') {
                const char *host = w->l->host;
                size_t n = strlen(host);
                if (n == 0 || strncmp(rest, host, n) != 0 || (rest[n] && rest[n] != '/'))
                        return;
                rest += n;
                base = "";
        }
        buf_put_str(&at, base);
        for (const char *p = rest; *p;) {
                size_t n = strcspn(p, "/");
                const char *name = p;
                p += n + (p[n] == '/');
                if (n == 0 || (n == 1 && *name == '.'))
                        continue;
                size_t dir_len = at.len;
                if (n == 2 && memcmp(name, "..", 2) == 0) {
                        if (at.len == 0)
                                return;
                        const char *slash = strrchr(buf_cstr(&at), '/');
                        at.len = slash ? (size_t)(slash - (const char *)at.data) : 0;
                        continue;
                }
                if (at.len)
                        buf_put_u8(&at, '/');
                buf_put(&at, name, n);
                const struct link *to = links_first(w->l, buf_cstr(&at));
                if (!to)
                        continue;
                links_add(w, buf_cstr(&at), true);
                _cleanup_free_ char *dir = str_fmt("%.*s", (int)dir_len, buf_cstr(&at));
                for (const struct link *end = w->l->v + w->l->n;
                     to < end && strcmp(to->path, buf_cstr(&at)) == 0; to++) {
                        _cleanup_free_ char *on = str_fmt("%s%s%s", to->target, *p ? "/" : "", p);
                        links_go(w, dir, on, hops + 1);
                }
        }
        links_add(w, buf_cstr(&at), false);
}

struct links *links_new(const struct ws_root *root)
{
        struct links *l = calloc(1, sizeof *l);
        if (!l)
                str_no_memory();
        l->host = root->host ? root->host : "";
        /* The lowest layer, which is the host's own, first: what a box makes up crowds out nothing. */
        for (size_t i = root->after.n; i-- > 0 && l->n < LINKS_MAX;)
                scan_tree(root->after.layers[i].fd, links_take, l);
        if (l->n)
                qsort(l->v, l->n, sizeof *l->v, links_by_path);
        for (size_t i = 0; i < l->n; i++) {
                struct links_way w = {.l = l, .from = &l->v[i]};
                const char *slash = strrchr(l->v[i].path, '/');
                _cleanup_free_ char *dir =
                        str_fmt("%.*s", slash ? (int)(slash - l->v[i].path) : 0, l->v[i].path);
                links_go(&w, dir, l->v[i].target, 0);
        }
        if (l->aliases_n)
                qsort(l->aliases, l->aliases_n, sizeof *l->aliases, links_by_to);
        return l;
}

void links_free(struct links *l)
{
        if (!l)
                return;
        for (size_t i = 0; i < l->n; i++) {
                free(l->v[i].path);
                free(l->v[i].target);
        }
        for (size_t i = 0; i < l->aliases_n; i++) {
                free(l->aliases[i].to);
                free(l->aliases[i].as);
        }
        free(l->v);
        free(l->aliases);
        free(l);
}

size_t links_n(const struct links *l)
{
        return l->aliases_n;
}

/* links_order(a, path, len): as strcmp, of the first ${len} bytes of ${path}. */
static int links_order(const char *a, const char *path, size_t len)
{
        int d = strncmp(a, path, len);
        return d ? d : a[len] != 0;
}

size_t links_at(const struct links *l, const char *path, size_t len, size_t *first)
{
        size_t from = 0, to = l->aliases_n;
        while (from < to) {
                size_t at = from + (to - from) / 2;
                if (links_order(l->aliases[at].to, path, len) < 0)
                        from = at + 1;
                else
                        to = at;
        }
        *first = from;
        while (to < l->aliases_n && links_order(l->aliases[to].to, path, len) == 0)
                to++;
        return to - from;
}

const char *links_as(const struct links *l, size_t i, bool *is_exact)
{
        *is_exact = l->aliases[i].is_exact;
        return l->aliases[i].as;
}
