/* read.c - what each ref of the box would bring: its new commits, every path that any of them
 * touches, and what the tip would change in the branch it stands for, with classes. Read by the
 * host's git from the quarantine. */
#include "git/graph.h"
#include "git/host_tree.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* Entries that are looked at for all refs together, and refs that are compared one by one. */
enum { READ_WORK_MAX = 4000000, READ_REFS_MAX = 2000, READ_TRIES_MAX = 64, READ_BASES_MAX = 16 };

#define READ_EMPTY_SHA1   "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
#define READ_EMPTY_SHA256 "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"

int read_base(struct fetch *f, const char *a, const char *b, char base[GIT_ID_MAX + 1],
              struct err *err)
{
        _cleanup_buf_ struct buf out = {.max = 4096};
        base[0] = 0;
        if (take_ready(f, err) < 0)
                return -1;
        int status = fetch_ours(f, FETCH_ARGV("merge-base", a, b), NULL, &out, err);
        if (status == 1 && out.len == 0) {
                *err = (struct err){0};
                return 0;
        }
        const char *text = buf_cstr(&out);
        if (status != 0 || !git_names_id(text, strcspn(text, "\n"), f->id_len, base))
                return -1;
        return 0;
}

/* read_diff(f, from, to, text, &raws, &n, err): two commits. */
static int read_diff(struct fetch *f, const char *from, const char *to, struct buf *text,
                     struct git_raw **raws, size_t *n, struct err *err)
{
        if (!*from)
                from = f->id_len == 64 ? READ_EMPTY_SHA256 : READ_EMPTY_SHA1;
        if (take_ready(f, err) < 0)
                return -1;
        if (graph_raws(f,
                       FETCH_ARGV("diff-tree", "-r", "--no-renames", "-z", "--raw", "--no-abbrev",
                                  from, to),
                       text, raws, n, err) < 0)
                return -1;
        fetch_classes_load(&f->classes, *raws, *n);
        return 0;
}

int read_compare(struct fetch *f, const char *from, const char *to, struct git_paths *paths,
                 struct err *err)
{
        _cleanup_buf_ struct buf text = {0};
        _cleanup_free_ struct git_raw *raws = NULL;
        _cleanup_git_bag_ struct git_bag bag = {0};
        size_t n;
        if (read_diff(f, from, to, &text, &raws, &n, err) < 0)
                return -1;
        for (size_t i = 0; i < n; i++)
                git_bag_add(&bag, &raws[i], NULL);
        git_bag_settle(&bag, &f->classes, paths);
        return 0;
}

/* read_is_same(ref): it is where the host's ref of that name is. */
static bool read_is_same(const struct git_ref *ref)
{
        return strcmp(ref->tip, ref->host) == 0;
}

/* read_peel(f, peeled, err): the commit behind each ref that is looked at; heads are commits
 * themselves, a tag may name a tag. What is none is refused. */
static int read_peel(struct fetch *f, char (*peeled)[GIT_ID_MAX + 1], struct err *err)
{
        struct git_repo *r = f->repo;
        _cleanup_buf_ struct buf in = {0}, out = {.max = 64 << 20};
        for (size_t i = 0; i < r->refs_n; i++)
                if (!r->refs[i].refused && !read_is_same(&r->refs[i]))
                        buf_put_fmt(&in, "%s^{commit}\n", r->refs[i].tip);
        if (in.len == 0)
                return 0;
        if (take_ready(f, err) < 0 ||
            fetch_ours(f, FETCH_ARGV("cat-file", "--batch-check=%(objectname)"), &in, &out, err) !=
                    0)
                return -1;
        const char *p = buf_cstr(&out);
        for (size_t i = 0; i < r->refs_n; i++) {
                struct git_ref *ref = &r->refs[i];
                if (ref->refused || read_is_same(ref))
                        continue;
                size_t n = strcspn(p, "\n");
                if (!git_names_id(p, n, f->id_len, peeled[i]) ||
                    (ref->kind != GIT_REF_TAG && strcmp(peeled[i], ref->tip) != 0)) {
                        peeled[i][0] = 0;
                        ref->refused = str_dup("it does not name a commit");
                }
                p += n + (p[n] != 0);
        }
        return 0;
}

/* read_list(g, ref): the newest of the marked commits. */
static void read_list(struct git_graph *g, struct git_ref *ref)
{
        for (size_t i = 0, n = 0; i < g->n && n < GIT_COMMITS_MAX; i++) {
                if (g->v[i].seen != g->round)
                        continue;
                g->v[i].is_listed = true;
                n++;
        }
        ref->commits_n = ref->commits_all < GIT_COMMITS_MAX ? ref->commits_all : GIT_COMMITS_MAX;
}

/* read_commit(c, out): one for the list. */
static void read_commit(const struct git_node *c, struct git_commit *out)
{
        memcpy(out->id, c->id, sizeof c->id);
        out->subject = str_dup(c->subject ? c->subject : "(a message that is too long)");
        out->author = str_dup(c->author ? c->author : "");
        out->when_s = c->when_s;
}

/* Pairs of commits whose trees are compared for a ref; "" is an empty tree. */
struct read_pairs {
        struct {
                char from[GIT_ID_MAX + 1], to[GIT_ID_MAX + 1];
                struct buf text;
                struct git_raw *raws;
        } v[READ_BASES_MAX + 3];
        size_t n;
};

static void read_pairs_free(struct read_pairs *p)
{
        for (size_t i = 0; i < p->n; i++) {
                buf_free(&p->v[i].text);
                free(p->v[i].raws);
        }
}
#define _cleanup_read_pairs_ __attribute__((cleanup(read_pairs_free)))

static void read_pair(struct read_pairs *p, const char *from, const char *to)
{
        memcpy(p->v[p->n].from, from, strlen(from) + 1);
        memcpy(p->v[p->n++].to, to, strlen(to) + 1);
}

/* read_with(f, ref): where the host's branch is that the ref stands for; "": there is none. */
static const char *read_with(const struct fetch *f, const struct git_ref *ref)
{
        const char *with =
                ref->host[0] && ref->kind == GIT_REF_HEAD ? ref->host : f->repo->host_head_id;
        return *with && tips_is_known(f, with) ? with : "";
}

/* read_firsts(f, g, c, ref, tree, bag): what a merge makes of its first parent. A path that is then as
 * the host's branch has it already is no news: the box merged the host's own commits. */
static void read_firsts(struct fetch *f, const struct git_graph *g, const struct git_node *c,
                        const struct git_ref *ref, struct host_tree *tree, struct git_bag *bag)
{
        if (c->first_n)
                host_tree_load(tree, f, read_with(f, ref));
        for (size_t k = 0; k < c->first_n; k++)
                if (!host_tree_has(tree, &g->raws[c->first_at + k]))
                        git_bag_add(bag, &g->raws[c->first_at + k], c->id);
}

/* read_stands(f, ref, peeled, pairs, err): what the tip would change in the branch it stands for is
 * counted from every commit where the two histories meet: a merge takes all of them for its base. */
static int read_stands(struct fetch *f, const struct git_ref *ref, const char *peeled,
                       struct read_pairs *pairs, struct err *err)
{
        const char *with = read_with(f, ref);
        if (!*with)
                return 0;
        _cleanup_buf_ struct buf out = {.max = 64 << 10};
        int status =
                fetch_ours(f, FETCH_ARGV("merge-base", "--all", with, peeled), NULL, &out, err);
        if (status == 1 && out.len == 0) {
                *err = (struct err){0};
                read_pair(pairs, "", peeled);
                return 0;
        }
        if (status != 0)
                return -1;
        for (const char *p = buf_cstr(&out); *p; p += f->id_len + 1) {
                char base[GIT_ID_MAX + 1];
                if (!git_names_id(p, strcspn(p, "\n"), f->id_len, base))
                        return err_set(err, E_PROTO, "git printed something else than commits");
                if (pairs->n == READ_BASES_MAX)
                        return err_set(err, E_INPUT,
                                       "its history meets the host's in more than %d commits",
                                       READ_BASES_MAX);
                read_pair(pairs, base, peeled);
                if (!p[f->id_len])
                        break;
        }
        return 0;
}

/* read_stash(f, peeled, pairs, err): `git stash apply` brings what a stash and its second parent, the
 * index, have otherwise than the first, and all of the third, which has untracked files. */
static int read_stash(struct fetch *f, const char *peeled, struct read_pairs *pairs,
                      struct err *err)
{
        _cleanup_buf_ struct buf out = {.max = 4096};
        char id[3][GIT_ID_MAX + 1] = {"", "", ""};
        if (fetch_ours(f, FETCH_ARGV("rev-list", "--parents", "--max-count=1", peeled), NULL, &out,
                       err) != 0)
                return -1;
        const char *p = buf_cstr(&out);
        for (size_t i = 0; i < 3 && strcspn(p, "\n") >= (i + 2) * (f->id_len + 1) - 1; i++)
                git_names_id(p + (i + 1) * (f->id_len + 1), f->id_len, f->id_len, id[i]);
        if (id[0][0])
                read_pair(pairs, id[0], peeled);
        if (id[1][0])
                read_pair(pairs, id[0], id[1]);
        if (id[2][0])
                read_pair(pairs, "", id[2]);
        return 0;
}

/* read_weigh(g, work, err): the same paths may come with many refs. */
static int read_weigh(const struct git_graph *g, size_t *work, struct err *err)
{
        size_t more = 0;
        for (size_t i = 0; i < g->n; i++)
                if (g->v[i].seen == g->round)
                        more += g->v[i].raw_n + g->v[i].first_n;
        if (more > READ_WORK_MAX - *work)
                return err_set(err, E_INPUT, "it brings more paths than can be looked through");
        *work += more;
        return 0;
}

/* read_refuse(ref, why): after all. */
static void read_refuse(struct git_ref *ref, const char *why)
{
        ref->refused = str_dup(why);
        ref->is_new = false;
        fetch_drop_commits(ref);
        ref->worst = FILE_PLAIN;
}

/* read_fill(f, g, ref, peeled, tree, work, err): a ref whose commits are known. */
static int read_fill(struct fetch *f, struct git_graph *g, struct git_ref *ref, const char *peeled,
                     struct host_tree *tree, size_t *work, struct err *err)
{
        _cleanup_git_bag_ struct git_bag bag = {0};
        _cleanup_read_pairs_ struct read_pairs pairs = {0};
        size_t listed = 0;
        graph_from(g, peeled);
        if (read_weigh(g, work, err) < 0)
                return -1;
        ref->commits = calloc(ref->commits_n + 1, sizeof *ref->commits);
        if (!ref->commits)
                str_no_memory();
        for (size_t i = 0; i < g->n; i++) {
                const struct git_node *c = &g->v[i];
                if (c->seen != g->round)
                        continue;
                for (size_t k = 0; k < c->raw_n; k++)
                        git_bag_add(&bag, &g->raws[c->raw_at + k], c->id);
                read_firsts(f, g, c, ref, tree, &bag);
                if (listed < ref->commits_n)
                        read_commit(c, &ref->commits[listed++]);
        }
        if (take_ready(f, err) < 0 || read_stands(f, ref, peeled, &pairs, err) < 0 ||
            (ref->kind == GIT_REF_STASH && read_stash(f, peeled, &pairs, err) < 0))
                return -1;
        for (size_t i = 0; i < pairs.n; i++) {
                size_t n = 0;
                if (read_diff(f, pairs.v[i].from, pairs.v[i].to, &pairs.v[i].text, &pairs.v[i].raws,
                              &n, err) < 0)
                        return -1;
                for (size_t k = 0; k < n; k++)
                        git_bag_add(&bag, &pairs.v[i].raws[k], NULL);
        }
        git_bag_settle(&bag, &f->classes, &ref->paths);
        ref->worst = git_paths_worst(&ref->paths);
        return 0;
}

/* read_is_new(f, ref, peeled, &is_new, err) */
static int read_is_new(struct fetch *f, struct git_ref *ref, const char *peeled, struct err *err)
{
        char base[GIT_ID_MAX + 1];
        if (ref->commits_all || (ref->kind == GIT_REF_TAG && !tips_is_known(f, ref->tip)))
                ref->is_new = true;
        else if (strcmp(ref->tip, ref->landed) == 0)
                ref->is_new = false;
        else if (ref->kind == GIT_REF_STASH)
                ref->is_new = true; /* named by its place: a newer one has moved it on */
        else if (!ref->host[0] || ref->kind == GIT_REF_TAG)
                ref->is_new = true;
        else if (read_base(f, ref->host, peeled, base, err) < 0)
                return -1;
        else
                ref->is_new = strcmp(base, peeled) != 0; /* else it is only behind */
        return 0;
}

/* read_tags(f, peeled): new ones that are objects of their own. */
static void read_tags(struct fetch *f, char (*peeled)[GIT_ID_MAX + 1])
{
        const struct git_repo *r = f->repo;
        _cleanup_free_ bool *is_tag = calloc(r->refs_n + 1, sizeof *is_tag);
        if (!is_tag)
                str_no_memory();
        for (size_t i = 0; i < r->refs_n; i++)
                is_tag[i] = r->refs[i].kind == GIT_REF_TAG && r->refs[i].is_new && peeled[i][0] &&
                            strcmp(peeled[i], r->refs[i].tip) != 0;
        tags_read(f, is_tag);
}

/* read_refs(f, g, peeled, err): first what is listed, so that it is described at once. */
static int read_refs(struct fetch *f, struct git_graph *g, char (*peeled)[GIT_ID_MAX + 1],
                     struct err *err)
{
        struct git_repo *r = f->repo;
        size_t work = 0, looked = 0;
        _cleanup_host_tree_ struct host_tree tree = {0};
        for (size_t i = 0; i < r->refs_n; i++) {
                if (!peeled[i][0])
                        continue;
                r->refs[i].commits_all = graph_from(g, peeled[i]);
                read_list(g, &r->refs[i]);
        }
        if (graph_describe(g, f, err) < 0)
                return -1;
        for (size_t i = 0; i < r->refs_n; i++) {
                struct git_ref *ref = &r->refs[i];
                if (!peeled[i][0])
                        continue;
                if (read_is_new(f, ref, peeled[i], err) < 0)
                        return -1;
                if (!ref->is_new)
                        continue;
                if (++looked > READ_REFS_MAX)
                        return err_set(err, E_INPUT, "it has more than %d new branches and tags",
                                       READ_REFS_MAX);
                struct err why = {0};
                if (read_fill(f, g, ref, peeled[i], &tree, &work, &why) < 0)
                        read_refuse(ref, why.text);
        }
        read_tags(f, peeled);
        return 0;
}

/* read_graph(f, g, peeled, tips, err): what the tips bring. When that is too much for all together,
 * each is tried alone, and refused if it is the one. */
static int read_graph(struct fetch *f, struct git_graph *g, char (*peeled)[GIT_ID_MAX + 1],
                      const struct strs *tips, struct err *err)
{
        _cleanup_strs_ struct strs good = {0};
        if (graph_load(g, f, tips, err) == 0)
                return 0;
        for (size_t i = 0; i < tips->n; i++) {
                _cleanup_graph_ struct git_graph one = {0};
                struct err why = *err;
                bool is_tried = tips->n > 1 && i < READ_TRIES_MAX;
                if (is_tried)
                        why = (struct err){0};
                if (is_tried &&
                    graph_load(&one, f, &(struct strs){.v = &tips->v[i], .n = 1}, &why) == 0) {
                        strs_add(&good, tips->v[i]);
                        continue;
                }
                for (size_t k = 0; k < f->repo->refs_n; k++) {
                        if (f->repo->refs[k].refused || strcmp(peeled[k], tips->v[i]) != 0)
                                continue;
                        read_refuse(&f->repo->refs[k], why.text);
                        peeled[k][0] = 0;
                }
        }
        graph_free(g);
        *err = (struct err){0};
        return graph_load(g, f, &good, err);
}

int read_all(struct fetch *f)
{
        struct git_repo *r = f->repo;
        struct err err = {0};
        _cleanup_graph_ struct git_graph g = {0};
        _cleanup_strs_ struct strs tips = {0};
        char(*peeled)[GIT_ID_MAX + 1] = calloc(r->refs_n + 1, sizeof *peeled);
        if (!peeled)
                str_no_memory();
        int got = read_peel(f, peeled, &err);
        for (size_t i = 0; got == 0 && i < r->refs_n; i++)
                if (peeled[i][0] && !tips_is_known(f, peeled[i]) && !strs_has(&tips, peeled[i]))
                        strs_add(&tips, peeled[i]);
        if (got == 0)
                got = read_graph(f, &g, peeled, &tips, &err);
        if (got == 0) {
                fetch_classes_load(&f->classes, g.raws, g.raws_n);
                got = read_refs(f, &g, peeled, &err);
        }
        free(peeled);
        for (size_t i = 0; got < 0 && i < r->refs_n; i++)
                fetch_drop_commits(&r->refs[i]);
        return got < 0 ? fetch_waits(r, "%s", err.text) : 0;
}
