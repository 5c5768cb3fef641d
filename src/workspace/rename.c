/* rename.c - a deletion and an addition of the same content are shown as one rename, as are two
 * that are mostly the same text. Called for showing only: apply takes the parts. The work is
 * bounded by counts and bytes, so a box that deletes and adds a million files costs no more than it
 * may; what is beyond stays a deletion and an addition, which is as true. */
#include "workspace/change.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/sha256.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum {
        EXACT_MAX = 50000,       /* candidates on either side */
        EXACT_BYTES = 256 << 20, /* read to find equal ones */
        LIKE_MAX = 256,          /* candidates on either side for comparing text */
        LIKE_FILE = 512 << 10,   /* bytes of one of them */
        LIKE_STEPS = 20000000,   /* lines looked at */
        LIKE_PERCENT = 50        /* less in common is no rename */
};

/* A deletion or an addition that may be half of a rename. */
struct half {
        struct ws_change *c;
        uint64_t size;
        bool is_hashed, is_taken;
        char sha[SHA256_HEX_LEN + 1];
        uint64_t *lines; /* hashes of them, sorted; the low 16 bits are the length */
        size_t lines_n;
};

struct halves {
        struct half *v;
        size_t n;
};

static int half_open(const struct half *h)
{
        const struct ws_change *c = h->c;
        struct ws_node node;
        return ws_view_file(c->what == WS_DELETED ? &c->root->before : &c->root->after, c->path,
                            &node, NULL);
}

static void collect(const struct ws_changes *l, enum ws_what what, struct halves *out)
{
        for (size_t i = 0; i < l->n && out->n < EXACT_MAX; i++) {
                struct ws_change *c = &l->v[i];
                const struct ws_node *node = what == WS_DELETED ? &c->before : &c->after;
                /* An empty file is not where another one came from. */
                if (c->what != what || node->kind != WS_FILE || node->size == 0 || c->is_ignored ||
                    c->is_masked || c->refused)
                        continue;
                if ((out->n & (out->n - 1)) == 0) {
                        struct half *more =
                                reallocarray(out->v, out->n ? out->n * 2 : 1, sizeof *more);
                        if (!more)
                                str_no_memory();
                        out->v = more;
                }
                out->v[out->n++] = (struct half){.c = c, .size = node->size};
        }
}

static int by_size(const void *a, const void *b)
{
        const struct half *x = a, *y = b;
        if (x->size != y->size)
                return x->size < y->size ? -1 : 1;
        return strcmp(x->c->path, y->c->path);
}

static const char *base_of(const char *path)
{
        const char *slash = strrchr(path, '/');
        return slash ? slash + 1 : path;
}

/* join(gone, added, percent): the addition becomes the rename; the deletion is left
 * without a path, to be swept out. What either of them means is kept. */
static void join(struct half *gone, struct half *added, unsigned percent)
{
        struct ws_change *c = added->c;
        c->what = WS_RENAMED;
        c->from = take_ptr(&gone->c->path);
        c->before = gone->c->before;
        c->similarity = percent;
        if (c->class.class == FILE_PLAIN)
                c->class = gone->c->class;
        gone->is_taken = added->is_taken = true;
}

/* --- equal ones ------------------------------------------------------------------------------- */

static bool hash(struct half *h, uint64_t *budget)
{
        char chunk[65536];
        struct sha256 s;
        if (h->is_hashed)
                return true;
        if (h->size > *budget)
                return false;
        *budget -= h->size;
        _cleanup_close_ int fd = half_open(h);
        if (fd < 0)
                return false;
        sha256_begin(&s);
        uint64_t left = h->size;
        for (ssize_t n; left && (n = read(fd, chunk, sizeof chunk)) > 0;) {
                sha256_add(&s, chunk, (size_t)n);
                left -= (uint64_t)n < left ? (uint64_t)n : left;
        }
        sha256_end(&s, h->sha);
        h->is_hashed = left == 0;
        return h->is_hashed;
}

/* join_equal(g, n, a, m, budget): all of one size; files that keep their name go first. */
static void join_equal(struct half *g, size_t g_n, struct half *a, size_t a_n, uint64_t *budget)
{
        for (int is_any = 0; is_any < 2; is_any++) {
                uint64_t looks = 100000;
                for (size_t i = 0; i < g_n; i++) {
                        for (size_t k = 0; k < a_n && !g[i].is_taken && looks; k++, looks--) {
                                if (a[k].is_taken ||
                                    (!is_any &&
                                     strcmp(base_of(g[i].c->path), base_of(a[k].c->path)) != 0))
                                        continue;
                                if (hash(&g[i], budget) && hash(&a[k], budget) &&
                                    strcmp(g[i].sha, a[k].sha) == 0)
                                        join(&g[i], &a[k], 100);
                        }
                }
        }
}

static void equal_ones(struct halves *gone, struct halves *added)
{
        uint64_t budget = EXACT_BYTES;
        for (size_t i = 0, k = 0; i < gone->n && k < added->n;) {
                uint64_t size = gone->v[i].size;
                if (size != added->v[k].size) {
                        *(size < added->v[k].size ? &i : &k) += 1;
                        continue;
                }
                size_t i_n = 0, k_n = 0;
                while (i + i_n < gone->n && gone->v[i + i_n].size == size)
                        i_n++;
                while (k + k_n < added->n && added->v[k + k_n].size == size)
                        k_n++;
                join_equal(gone->v + i, i_n, added->v + k, k_n, &budget);
                i += i_n;
                k += k_n;
        }
}

/* --- mostly the same text --------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
        return x < y ? -1 : x > y;
}

static void read_lines(struct half *h)
{
        _cleanup_buf_ struct buf b = {.max = LIKE_FILE + 1};
        _cleanup_close_ int fd = half_open(h);
        if (fd < 0 || fdio_read_all(fd, &b, LIKE_FILE) < 0 || b.len == 0 ||
            memchr(b.data, 0, b.len))
                return;
        size_t n = 1;
        for (size_t i = 0; i < b.len; i++)
                n += b.data[i] == '\n';
        h->lines = calloc(n, sizeof *h->lines);
        if (!h->lines)
                str_no_memory();
        uint64_t v = 0xcbf29ce484222325u, len = 0;
        for (size_t i = 0; i < b.len; i++) {
                v = (v ^ b.data[i]) * 0x100000001b3u;
                len++;
                if (b.data[i] == '\n' || i + 1 == b.len) {
                        h->lines[h->lines_n++] = (v << 16) | (len < 0xffff ? len : 0xffff);
                        v = 0xcbf29ce484222325u;
                        len = 0;
                }
        }
        qsort(h->lines, h->lines_n, sizeof *h->lines, by_value);
}

/* likeness(a, b, steps): how much of the larger one's bytes are lines of both, in percent. */
static unsigned likeness(const struct half *a, const struct half *b, uint64_t *steps)
{
        uint64_t common = 0, larger = a->size > b->size ? a->size : b->size;
        uint64_t smaller = a->size > b->size ? b->size : a->size;
        if (!a->lines || !b->lines || smaller * 100 < larger * LIKE_PERCENT || *steps == 0)
                return 0;
        size_t i = 0, k = 0;
        for (; i < a->lines_n && k < b->lines_n && *steps; --*steps) {
                if (a->lines[i] == b->lines[k]) {
                        common += a->lines[i] & 0xffff;
                        i++;
                        k++;
                } else if (a->lines[i] < b->lines[k]) {
                        i++;
                } else {
                        k++;
                }
        }
        uint64_t percent = larger ? common * 100 / larger : 0;
        return percent > 99 ? 99 : (unsigned)percent; /* not equal, or it were joined */
}

static void mostly_same(struct halves *gone, struct halves *added)
{
        uint64_t steps = LIKE_STEPS;
        struct half *g[LIKE_MAX], *a[LIKE_MAX];
        size_t g_n = 0, a_n = 0;
        for (size_t i = 0; i < gone->n && g_n < LIKE_MAX; i++)
                if (!gone->v[i].is_taken && gone->v[i].size <= LIKE_FILE)
                        g[g_n++] = &gone->v[i];
        for (size_t i = 0; i < added->n && a_n < LIKE_MAX; i++)
                if (!added->v[i].is_taken && added->v[i].size <= LIKE_FILE)
                        a[a_n++] = &added->v[i];
        if (g_n == 0 || a_n == 0)
                return;
        for (size_t i = 0; i < g_n; i++)
                read_lines(g[i]);
        for (size_t k = 0; k < a_n; k++) {
                struct half *best = NULL;
                unsigned best_percent = LIKE_PERCENT - 1;
                read_lines(a[k]);
                for (size_t i = 0; i < g_n; i++) {
                        unsigned percent = g[i]->is_taken ? 0 : likeness(g[i], a[k], &steps);
                        if (percent > best_percent) {
                                best = g[i];
                                best_percent = percent;
                        }
                }
                if (best)
                        join(best, a[k], best_percent);
        }
        for (size_t i = 0; i < g_n; i++)
                free(g[i]->lines);
        for (size_t k = 0; k < a_n; k++)
                free(a[k]->lines);
}

void ws_changes_rename(struct ws_changes *l)
{
        struct halves gone = {0}, added = {0};
        collect(l, WS_DELETED, &gone);
        collect(l, WS_ADDED, &added);
        if (gone.n && added.n) {
                qsort(gone.v, gone.n, sizeof *gone.v, by_size);
                qsort(added.v, added.n, sizeof *added.v, by_size);
                equal_ones(&gone, &added);
                mostly_same(&gone, &added);
        }
        free(gone.v);
        free(added.v);
        size_t kept = 0;
        for (size_t i = 0; i < l->n; i++)
                if (l->v[i].path)
                        l->v[kept++] = l->v[i];
        l->n = kept;
}
