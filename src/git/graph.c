/* graph.c - see graph.h. Three calls of git for any number of commits: which there are, what they
 * change, and for those that are shown what their messages say. */
#include "git/graph.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { GRAPH_SAID_MAX = 1 << 20, GRAPH_WORDS_MAX = 1000 };

/* A few trees that contain each other many times are millions of paths; this is where it ends. */
size_t git_graph_max = (size_t)512 << 20;

void graph_free(struct git_graph *g)
{
        for (size_t i = 0; i < g->n; i++) {
                free(g->v[i].parents);
                free(g->v[i].subject);
                free(g->v[i].author);
        }
        free(g->v);
        free(g->slots);
        free(g->raws);
        buf_free(&g->text);
        buf_free(&g->firsts);
        *g = (struct git_graph){0};
}

static void *graph_alloc(size_t n, size_t size)
{
        void *p = calloc(n ? n : 1, size);
        if (!p)
                str_no_memory();
        return p;
}

static size_t graph_slot(const struct git_graph *g, const char *id)
{
        char head[17];
        memcpy(head, id, 16);
        head[16] = 0;
        size_t at = strtoull(head, NULL, 16) % g->slots_n;
        while (g->slots[at] && strcmp(g->v[g->slots[at] - 1].id, id) != 0)
                at = (at + 1) % g->slots_n;
        return at;
}

size_t graph_find(const struct git_graph *g, const char *id)
{
        if (!g->slots_n || strlen(id) < 16)
                return g->n;
        size_t at = g->slots[graph_slot(g, id)];
        return at ? at - 1 : g->n;
}

size_t graph_from(struct git_graph *g, const char *id)
{
        size_t start = graph_find(g, id), found = 0, left_n = 0;
        g->round++;
        if (start == g->n)
                return 0;
        size_t *left = graph_alloc(g->n, sizeof *left);
        g->v[start].seen = g->round;
        left[left_n++] = start;
        while (left_n) {
                struct git_node *c = &g->v[left[--left_n]];
                found++;
                for (size_t i = 0; i < c->parents_n; i++) {
                        if (g->v[c->parents[i]].seen == g->round)
                                continue;
                        g->v[c->parents[i]].seen = g->round;
                        left[left_n++] = c->parents[i];
                }
        }
        free(left);
        return found;
}

/* graph_lines(g, text, id_len, err): "ID PARENT..." lines; parents are put in afterwards. */
static int graph_lines(struct git_graph *g, const char *text, size_t id_len, struct err *err)
{
        size_t n = 0;
        for (const char *p = text; *p; p++)
                n += *p == '\n';
        if (n > GRAPH_COMMITS_MAX)
                return err_set(err, E_INPUT,
                               "it has %zu commits that the host does not have, and "
                               "%d is the limit",
                               n, GRAPH_COMMITS_MAX);
        g->v = graph_alloc(n, sizeof *g->v);
        g->slots_n = n * 2 + 1;
        g->slots = graph_alloc(g->slots_n, sizeof *g->slots);
        for (const char *p = text; *p;) {
                struct git_node *c = &g->v[g->n];
                size_t len = strcspn(p, "\n");
                if (len < id_len || !git_names_id(p, id_len, id_len, c->id) ||
                    (len - id_len) % (id_len + 1) != 0)
                        return err_set(err, E_PROTO, "git printed something else than commits");
                size_t at = graph_slot(g, c->id);
                g->slots[at] = ++g->n;
                c->parents_all = (len - id_len) / (id_len + 1);
                p += len + (p[len] != 0);
        }
        return 0;
}

/* graph_parents(g, text, id_len): the same lines again, now that every node is known. */
static void graph_parents(struct git_graph *g, const char *text, size_t id_len)
{
        for (size_t i = 0; i < g->n; i++) {
                struct git_node *c = &g->v[i];
                c->parents = graph_alloc(c->parents_all, sizeof *c->parents);
                for (size_t k = 0; k < c->parents_all; k++) {
                        char id[GIT_ID_MAX + 1] = "";
                        git_names_id(text + (k + 1) * (id_len + 1), id_len, id_len, id);
                        size_t at = graph_find(g, id);
                        if (k == 0 && c->parents_all > 1)
                                memcpy(c->first, id, sizeof id);
                        if (at < g->n)
                                c->parents[c->parents_n++] = at;
                }
                text += strcspn(text, "\n") + 1;
        }
}

static int graph_commits(struct git_graph *g, struct fetch *f, const struct strs *tips,
                         struct err *err)
{
        _cleanup_buf_ struct buf in = {0}, out = {.max = 256 << 20};
        for (size_t i = 0; i < tips->n; i++)
                buf_put_fmt(&in, "%s\n", tips->v[i]);
        for (size_t i = 0; i < f->known.n; i++)
                buf_put_fmt(&in, "^%s\n", f->known.v[i]);
        if (fetch_ours(f, FETCH_ARGV("rev-list", "--parents", "--date-order", "--stdin"), &in, &out,
                       err) != 0)
                return -1;
        const char *text = buf_cstr(&out);
        if (graph_lines(g, text, f->id_len, err) < 0)
                return -1;
        graph_parents(g, text, f->id_len);
        return 0;
}

static void graph_add(struct git_raw **v, size_t *n, size_t *cap, const struct git_raw *r)
{
        if (*n == *cap) {
                *cap = *cap ? *cap * 2 : 256;
                *v = realloc(*v, *cap * sizeof **v);
                if (!*v)
                        str_no_memory();
        }
        (*v)[(*n)++] = *r;
}

/* graph_entries(g, f, &text, end, id, err): a head line and its entries. */
static int graph_entries(struct git_graph *g, size_t id_len, char **text, const char *end,
                         const char *id, struct err *err)
{
        char said[GIT_ID_MAX + 1];
        struct git_raw r;
        int got = 1;
        if (git_raw_head(text, end, id_len, said) < 0 || strcmp(said, id) != 0)
                return err_set(err, E_PROTO, "git did not say what commit %s changes", id);
        while ((got = git_raw_next(text, end, id_len, &r)) > 0) {
                graph_add(&g->raws, &g->raws_n, &g->raws_cap, &r);
                if (g->raws_n > GIT_PATHS_MAX)
                        return err_set(err, E_INPUT, "its commits change more than %d paths",
                                       GIT_PATHS_MAX);
        }
        return got < 0 ? err_set(err, E_PROTO, "commit %s has a path that makes no sense", id) : 0;
}

/* graph_ask(f, in, out, err): what the commits of ${in} change; "ID PARENT" is compared with that
 * parent alone. */
static int graph_ask(struct fetch *f, const struct buf *in, struct buf *out, struct err *err)
{
        out->max = git_graph_max;
        if (in->len &&
            fetch_ours(f,
                       FETCH_ARGV("diff-tree", "--stdin", "-c", "-r", "--root", "--no-renames",
                                  "-z", "--raw", "--no-abbrev", "--always"),
                       in, out, err) != 0)
                return -1;
        (void)buf_cstr(out); /* ends it with a NUL */
        return 0;
}

/* graph_changes(g, f, err): each commit. A merge twice: against all its parents at once, which leaves
 * out what any of them has, and against the first one, since what came from another may be an old
 * state that the branch had left. */
static int graph_changes(struct git_graph *g, struct fetch *f, struct err *err)
{
        _cleanup_buf_ struct buf in = {0}, merges = {0};
        for (size_t i = 0; i < g->n; i++) {
                buf_put_fmt(&in, "%s\n", g->v[i].id);
                if (g->v[i].first[0])
                        buf_put_fmt(&merges, "%s %s\n", g->v[i].id, g->v[i].first);
        }
        if (graph_ask(f, &in, &g->text, err) < 0 || graph_ask(f, &merges, &g->firsts, err) < 0)
                return -1;
        char *text = (char *)g->text.data, *firsts = (char *)g->firsts.data;
        const char *end = text + g->text.len, *firsts_end = firsts + g->firsts.len;
        for (size_t i = 0; i < g->n; i++) {
                struct git_node *c = &g->v[i];
                c->raw_at = g->raws_n;
                if (graph_entries(g, f->id_len, &text, end, c->id, err) < 0)
                        return -1;
                c->raw_n = g->raws_n - c->raw_at;
                c->first_at = g->raws_n;
                if (c->first[0] && graph_entries(g, f->id_len, &firsts, firsts_end, c->id, err) < 0)
                        return -1;
                c->first_n = g->raws_n - c->first_at;
        }
        return text == end && firsts == firsts_end
                       ? 0
                       : err_set(err, E_PROTO, "git printed more than it was asked for");
}

int graph_load(struct git_graph *g, struct fetch *f, const struct strs *tips, struct err *err)
{
        if (tips->n == 0)
                return 0;
        if (graph_commits(g, f, tips, err) < 0)
                return -1;
        return g->n ? graph_changes(g, f, err) : 0;
}

int graph_raws(struct fetch *f, const char *const *argv, struct buf *text, struct git_raw **v,
               size_t *n, struct err *err)
{
        size_t cap = 0;
        text->max = git_graph_max;
        *v = NULL;
        *n = 0;
        if (fetch_ours(f, argv, NULL, text, err) != 0)
                return -1;
        (void)buf_cstr(text);
        char *at = (char *)text->data;
        const char *end = at + text->len;
        struct git_raw r;
        int got = 1;
        while ((got = git_raw_next(&at, end, f->id_len, &r)) > 0 && *n < GIT_PATHS_MAX)
                graph_add(v, n, &cap, &r);
        if (got != 0 || at != end) {
                free(*v);
                *v = NULL;
                *n = 0;
                return err_set(err, E_PROTO,
                               "a tree of the box has a path that makes no sense, or "
                               "too many");
        }
        return 0;
}

/* graph_author(line, n, c): "NAME <MAIL> SECONDS ZONE". */
static void graph_author(const char *line, size_t n, struct git_node *c)
{
        const char *close = memrchr(line, '>', n);
        size_t who = close ? (size_t)(close - line) + 1 : n;
        c->author = str_fmt("%.*s", (int)(who < GRAPH_WORDS_MAX ? who : GRAPH_WORDS_MAX), line);
        char digits[24] = "";
        size_t left = n - who;
        if (close && left > 1)
                memcpy(digits, close + 2,
                       left - 1 < sizeof digits - 1 ? left - 1 : sizeof digits - 1);
        c->when_s = strtoll(digits, NULL, 10);
}

void graph_commit(const char *data, size_t len, struct git_node *c)
{
        const char *end = data + len;
        while (data < end && *data != '\n') {
                const char *nl = memchr(data, '\n', (size_t)(end - data));
                size_t n = (size_t)((nl ? nl : end) - data);
                if (n > 7 && strncmp(data, "author ", 7) == 0 && !c->author)
                        graph_author(data + 7, n - 7, c);
                data += n + (nl != NULL);
        }
        while (data < end && *data == '\n')
                data++;
        const char *nl = memchr(data, '\n', (size_t)(end - data));
        size_t n = (size_t)((nl ? nl : end) - data);
        free(c->subject);
        c->subject = str_fmt("%.*s", (int)(n < GRAPH_WORDS_MAX ? n : GRAPH_WORDS_MAX), data);
}

static void graph_said(void *arg, const char *id, const char *data, size_t len)
{
        struct git_graph *g = arg;
        size_t at = graph_find(g, id);
        if (at < g->n && !g->v[at].author)
                graph_commit(data, len, &g->v[at]);
}

int graph_describe(struct git_graph *g, struct fetch *f, struct err *err)
{
        _cleanup_buf_ struct buf ids = {0};
        for (size_t i = 0; i < g->n; i++)
                if (g->v[i].is_listed)
                        buf_put_fmt(&ids, "%s\n", g->v[i].id);
        if (ids.len == 0)
                return 0;
        return fetch_objects(f, "commit", &ids, GRAPH_SAID_MAX, 256 << 20, graph_said, g, err);
}
