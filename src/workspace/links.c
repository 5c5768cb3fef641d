/* links.c - see links.h. Called by classify.c. The targets are bytes that a box may have written:
 * they are joined by their words alone, with bounded work for each link and for all of them. Beyond
 * the root only the host's own links are followed, and only by the host's own: a box must not choose
 * what is looked at there (an automounter would go and fetch it). */
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
        HOPS_MAX = 40,    /* links on the way to one target, as the kernel counts them */
        STEPS_MAX = 256,  /* of all ways from one link together */
        NAMES_MAX = 4096, /* components on all these ways */
        NAMES_EACH =
                64, /* and for each link there is, on the ways of all of them: many times what */
        NAMES_SPARE = 1 << 18, /* links have that somebody made who wanted to use them */
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
        size_t host_n;  /* so many were found first, in the host's own tree */
        size_t names_n; /* components that all ways had */
        bool is_lost;   /* one of them was too long to be gone to its end */
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

/* By where they lead, then by where they are; of two that are alike the one that says more, which is
 * the one that is not exact, comes first. */
static int links_by_to(const void *a, const void *b)
{
        const struct link_alias *x = a, *y = b;
        int d = strcmp(x->to, y->to);
        if (d == 0)
                d = strcmp(x->as, y->as);
        return d ? d : x->is_exact - y->is_exact;
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
        unsigned steps_n, names_n;
};

/* Where a way stands: a path in the root, or beyond it an absolute one ("" is "/"). */
struct links_place {
        struct buf at;
        bool is_out;
        bool is_host; /* all links so far are the host's own */
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

/* links_may_go(w): false when this way, or all of them together, have been too long. */
static bool links_may_go(struct links_way *w)
{
        struct links *l = w->l;
        size_t most = l->n * NAMES_EACH + NAMES_SPARE;
        if (w->names_n++ < NAMES_MAX && l->names_n++ < most)
                return true;
        l->is_lost = true;
        return false;
}

static void links_up(struct links_place *p)
{
        const char *slash = strrchr(buf_cstr(&p->at), '/');
        p->at.len = slash ? (size_t)(slash - (const char *)p->at.data) : 0;
}

/* links_leave(w, p): from the root's top to the directory above it. */
static bool links_leave(const struct links_way *w, struct links_place *p)
{
        if (!p->is_host || w->l->host[0] != '/')
                return false;
        p->is_out = true;
        buf_put_str(&p->at, w->l->host);
        links_up(p);
        return true;
}

/* links_enter(w, p): beyond the root, and perhaps in it again. */
static void links_enter(const struct links_way *w, struct links_place *p)
{
        const char *host = w->l->host, *at = buf_cstr(&p->at);
        size_t n = strlen(host);
        if (!p->is_out || strncmp(at, host, n) != 0 || (at[n] && at[n] != '/'))
                return;
        _cleanup_free_ char *rest = str_dup(at[n] ? at + n + 1 : "");
        p->at.len = 0;
        buf_put_str(&p->at, rest);
        p->is_out = false;
}

static void links_go(struct links_way *w, const struct links_place *from, const char *rest,
                     unsigned hops);

/* links_follow(w, p, dir_len, target, rest, hops, is_host): go on from the directory that the link in
 * hand lies in. */
static void links_follow(struct links_way *w, const struct links_place *p, size_t dir_len,
                         const char *target, const char *rest, unsigned hops, bool is_host)
{
        _cleanup_free_ char *on = str_fmt("%s%s%s", target, *rest ? "/" : "", rest);
        struct links_place from = {.is_out = p->is_out, .is_host = p->is_host && is_host};
        buf_put(&from.at, p->at.data, dir_len);
        links_go(w, &from, on, hops + 1);
        buf_free(&from.at);
}

/* links_pass(w, p, dir_len, rest, hops): the way stands at a name: is it a link? True when no other way
 * goes on from here. A component that is a link in one layer may be a directory in another: both ways
 * are gone. */
static bool links_pass(struct links_way *w, struct links_place *p, size_t dir_len, const char *rest,
                       unsigned hops)
{
        const struct links *l = w->l;
        if (p->is_out) {
                char target[PATH_MAX];
                ssize_t n = readlink(buf_cstr(&p->at), target, sizeof target - 1);
                if (n <= 0)
                        return false;
                target[n] = 0;
                links_follow(w, p, dir_len, target, rest, hops, true);
                return true;
        }
        const struct link *to = links_first(l, buf_cstr(&p->at));
        if (to)
                links_add(w, buf_cstr(&p->at), true);
        for (; to && to < l->v + l->n && strcmp(to->path, buf_cstr(&p->at)) == 0; to++)
                links_follow(w, p, dir_len, to->target, rest, hops, to->order < l->host_n);
        return false;
}

/* links_absolute(w, p, rest): an absolute target, as the host means it. False when it leads out. */
static bool links_absolute(const struct links_way *w, struct links_place *p, const char **rest)
{
        const char *host = w->l->host;
        size_t n = strlen(host);
        p->at.len = 0;
        if (n && strncmp(*rest, host, n) == 0 && (!(*rest)[n] || (*rest)[n] == '/')) {
                p->is_out = false;
                *rest += n;
                return true;
        }
        p->is_out = true;
        return p->is_host && n;
}

/* links_go(w, from, rest, hops): from a directory along ${rest}. */
static void links_go(struct links_way *w, const struct links_place *from, const char *rest,
                     unsigned hops)
{
        if (hops > HOPS_MAX)
                return;
        if (w->steps_n++ > STEPS_MAX) {
                w->l->is_lost = true;
                return;
        }
        struct links_place p = {.is_out = from->is_out, .is_host = from->is_host};
        buf_put(&p.at, from->at.data, from->at.len);
        bool is_on = *rest != '/' || links_absolute(w, &p, &rest);
        for (const char *s = rest; is_on && *s;) {
                size_t n = strcspn(s, "/");
                const char *name = s;
                s += n + (s[n] == '/');
                is_on = links_may_go(w);
                if (n == 0 || (n == 1 && *name == '.'))
                        continue;
                size_t dir_len = p.at.len;
                if (n == 2 && memcmp(name, "..", 2) == 0) {
                        if (p.at.len || p.is_out)
                                links_up(&p);
                        else
                                is_on &= links_leave(w, &p);
                        links_enter(w, &p);
                        continue;
                }
                if (p.at.len || p.is_out)
                        buf_put_u8(&p.at, '/');
                buf_put(&p.at, name, n);
                links_enter(w, &p);
                if (is_on && p.at.len)
                        is_on = !links_pass(w, &p, dir_len, s, hops);
        }
        if (is_on && !p.is_out)
                links_add(w, buf_cstr(&p.at), false);
        buf_free(&p.at);
}

/* links_sort(l): by path, each target of a path once. */
static void links_sort(struct links *l)
{
        size_t kept = 0;
        if (l->n)
                qsort(l->v, l->n, sizeof *l->v, links_by_path);
        for (size_t i = 0; i < l->n; i++) {
                bool is_new = true;
                for (size_t k = kept; is_new && k-- > 0 && strcmp(l->v[k].path, l->v[i].path) == 0;)
                        is_new = strcmp(l->v[k].target, l->v[i].target) != 0;
                if (is_new) {
                        l->v[kept++] = l->v[i];
                        continue;
                }
                free(l->v[i].path);
                free(l->v[i].target);
        }
        l->n = kept;
}

/* links_resolve(l, is_host): the ways of the host's own links, or of the others. */
static void links_resolve(struct links *l, bool is_host)
{
        for (size_t i = 0; i < l->n; i++) {
                struct links_way w = {.l = l, .from = &l->v[i]};
                const char *path = l->v[i].path, *slash = strrchr(path, '/');
                struct links_place from = {.is_host = l->v[i].order < l->host_n};
                if (from.is_host != is_host)
                        continue;
                buf_put(&from.at, path, slash ? (size_t)(slash - path) : 0);
                links_go(&w, &from, l->v[i].target, 0);
                buf_free(&from.at);
        }
}

/* links_sort_aliases(l): each once. A link that leads to itself comes by the same place on each of its
 * ways, and whoever follows aliases of aliases would follow every copy. */
static void links_sort_aliases(struct links *l)
{
        size_t kept = 0;
        if (l->aliases_n)
                qsort(l->aliases, l->aliases_n, sizeof *l->aliases, links_by_to);
        for (size_t i = 0; i < l->aliases_n; i++) {
                struct link_alias *a = &l->aliases[i], *last = &l->aliases[kept - (kept > 0)];
                if (kept == 0 || strcmp(last->to, a->to) != 0 || strcmp(last->as, a->as) != 0) {
                        l->aliases[kept++] = *a;
                        continue;
                }
                free(a->to);
                free(a->as);
        }
        l->aliases_n = kept;
}

struct links *links_new(const struct ws_root *root)
{
        struct links *l = calloc(1, sizeof *l);
        if (!l)
                str_no_memory();
        l->host = root->host ? root->host : "";
        /* The lowest layer, which is the host's own, first: what a box makes up crowds out nothing. In
         * a live root nobody can tell whose they are. */
        for (size_t i = root->after.n; i-- > 0 && l->n < LINKS_MAX;) {
                scan_tree(root->after.layers[i].fd, links_take, l);
                if (i == root->after.n - 1 && root->kind != WS_ROOT_LIVE)
                        l->host_n = l->n;
        }
        links_sort(l);
        links_resolve(l, true);
        links_resolve(l, false);
        links_sort_aliases(l);
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

bool links_is_lost(const struct links *l)
{
        return l->is_lost;
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
