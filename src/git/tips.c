/* tips.c - what the refs name: the box's by git in a box, checked name by name, and the host's. A
 * ref of the box becomes a git_ref with the place where it would land; remote-tracking refs, notes,
 * replacements and everything else of a box are only counted. */
#include "git/fetch_int.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/sha256.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { TIPS_OUT_MAX = 64 << 20, TIPS_STASH_MAX = 1000 };

static const char *const tips_argv[] = {"for-each-ref", "--format=%(objectname) %(refname)", NULL};

static int tips_by_text(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

bool tips_is_known(const struct fetch *f, const char *id)
{
        const struct strs *k = &f->known;
        return k->n && bsearch(&id, k->v, k->n, sizeof *k->v, tips_by_text);
}

/* tips_head(text, name): "refs/heads/main" of what symbolic-ref printed. NULL: none. */
static char *tips_head(struct buf *out)
{
        const char *text = buf_cstr(out);
        size_t n = strcspn(text, "\n");
        _cleanup_free_ char *name = str_fmt("%.*s", (int)n, text);
        return git_names_is_good(name) ? take_ptr(&name) : NULL;
}

/* tips_id(f, out, id): one id. */
static void tips_id(const struct fetch *f, struct buf *out, char id[GIT_ID_MAX + 1])
{
        const char *text = buf_cstr(out);
        if (!git_names_id(text, strcspn(text, "\n"), f->id_len, id))
                id[0] = 0;
}

typedef int tips_run(struct fetch *, const char *const *, const struct buf *, struct buf *,
                     struct err *);

/* tips_head_of(f, run, tips, name, id): where HEAD is. */
static void tips_head_of(struct fetch *f, tips_run *run, const struct git_tips *tips, char **name,
                         char id[GIT_ID_MAX + 1])
{
        _cleanup_buf_ struct buf out = {.max = 4096}, at = {.max = 4096};
        struct err none = {0};
        if (run(f, FETCH_ARGV("symbolic-ref", "-q", "HEAD"), NULL, &out, &none) == 0) {
                *name = tips_head(&out);
                const struct git_tip *t = *name ? git_tips_find(tips, *name) : NULL;
                if (t)
                        memcpy(id, t->id, sizeof t->id);
                return;
        }
        if (run(f, FETCH_ARGV("rev-parse", "-q", "--verify", "HEAD"), NULL, &at, &none) == 0)
                tips_id(f, &at, id);
}

/* tips_host(f, err): the host's refs, and which of what they name is really there. */
static int tips_host(struct fetch *f, struct err *err)
{
        struct git_repo *r = f->repo;
        if (!r->host_git)
                return 0;
        _cleanup_buf_ struct buf out = {.max = TIPS_OUT_MAX}, in = {0}, said = {0};
        if (fetch_host(f, tips_argv, NULL, &out, err) != 0)
                return -1;
        if (git_names_parse((const char *)out.data, out.len, f->id_len, &f->host) < 0)
                return err_set(err, E_PROTO, "a ref of the host that makes no sense");
        tips_head_of(f, fetch_host, &f->host, &r->host_head, r->host_head_id);
        for (size_t i = 0; i < f->host.n; i++)
                buf_put_fmt(&in, "%s\n", f->host.v[i].id);
        if (r->host_head_id[0])
                buf_put_fmt(&in, "%s\n", r->host_head_id);
        _cleanup_buf_ struct buf stash = {.max = TIPS_OUT_MAX};
        struct err none = {0};
        if (git_tips_find(&f->host, "refs/stash") &&
            fetch_host(f, FETCH_ARGV("rev-list", "-g", "refs/stash"), NULL, &stash, &none) == 0)
                buf_put_str(&in, buf_cstr(&stash));
        if (in.len == 0)
                return 0;
        in.max = said.max = TIPS_OUT_MAX;
        if (fetch_host(f, FETCH_ARGV("cat-file", "--batch-check=%(objectname) there"), &in, &said,
                       err) != 0)
                return -1;
        _cleanup_strs_ struct strs all = {0};
        for (const char *p = buf_cstr(&said); *p;) {
                char id[GIT_ID_MAX + 1];
                size_t n = strcspn(p, "\n");
                if (n == f->id_len + 6 && git_names_id(p, f->id_len, f->id_len, id) &&
                    strncmp(p + f->id_len, " there", 6) == 0)
                        strs_add(&all, id);
                p += n + (p[n] != 0);
        }
        if (all.n)
                qsort(all.v, all.n, sizeof *all.v, tips_by_text);
        for (size_t i = 0; i < all.n; i++)
                if (i == 0 || strcmp(all.v[i], all.v[i - 1]) != 0)
                        strs_add(&f->known, all.v[i]);
        return 0;
}

/* tips_ref(f, kind, name, local, id): one more ref of the repository. */
static struct git_ref *tips_ref(struct fetch *f, enum git_ref_kind kind, const char *name,
                                char *local, const char *id)
{
        struct git_repo *r = f->repo;
        struct git_ref *v = realloc(r->refs, (r->refs_n + 1) * sizeof *v);
        if (!v)
                str_no_memory();
        r->refs = v;
        struct git_ref *ref = &v[r->refs_n++];
        *ref = (struct git_ref){.kind = kind, .name = str_dup(name), .local = local};
        memcpy(ref->tip, id, strlen(id) + 1);
        const struct git_tip *t = local ? git_tips_find(&f->host, local) : NULL;
        if (t)
                memcpy(ref->landed, t->id, sizeof t->id);
        t = kind == GIT_REF_STASH ? NULL : git_tips_find(&f->host, name);
        if (t)
                memcpy(ref->host, t->id, sizeof t->id);
        return ref;
}

/* tips_local(f, rest): where it lands; NULL when that is no name for a ref. */
static char *tips_local(const struct fetch *f, const char *rest)
{
        _cleanup_free_ char *local = str_fmt("refs/ostiary/%s/%s", f->want->box, rest);
        return git_names_is_good(local) ? take_ptr(&local) : NULL;
}

/* tips_take(f, kind, tip): a head or a tag, if its name is one that can be taken. */
static void tips_take(struct fetch *f, enum git_ref_kind kind, const struct git_tip *tip)
{
        bool is_good = git_names_is_good(tip->name);
        char *local = is_good ? tips_local(f, tip->name + strlen("refs/")) : NULL;
        struct git_ref *ref = tips_ref(f, kind, tip->name, local, tip->id);
        if (!local)
                ref->refused = str_dup("its name is one that is not taken over (no control "
                                       "characters, blanks, \"..\", \"@{\", \".lock\" or a "
                                       "leading dash or dot)");
}

/* tips_stash(f, tip): every entry of the stash; without its log, the last one. */
static void tips_stash(struct fetch *f, const struct git_tip *tip)
{
        _cleanup_buf_ struct buf out = {.max = 1 << 20};
        _cleanup_strs_ struct strs ids = {0};
        struct err none = {0};
        _cleanup_free_ char *most = str_fmt("--max-count=%d", TIPS_STASH_MAX);
        if (fetch_inside(f, FETCH_ARGV("rev-list", "-g", most, "refs/stash"), NULL, &out, &none) !=
                    0 ||
            git_names_ids((const char *)out.data, out.len, f->id_len, &ids) < 0 || ids.n == 0 ||
            strcmp(ids.v[0], tip->id) != 0) {
                strs_free(&ids);
                strs_add(&ids, tip->id);
        }
        for (size_t i = 0; i < ids.n; i++) {
                _cleanup_free_ char *name = str_fmt("stash@{%zu}", i);
                _cleanup_free_ char *rest = str_fmt("stash/%zu", i);
                char *local = tips_local(f, rest);
                struct git_ref *ref = tips_ref(f, GIT_REF_STASH, name, local, ids.v[i]);
                if (!local)
                        ref->refused = str_dup("the box's name cannot be part of a ref's name");
        }
}

/* tips_is_taken(f, local): a ref of the list lands there already. */
static bool tips_is_taken(const struct fetch *f, const char *local)
{
        for (size_t i = 0; i < f->repo->refs_n; i++)
                if (f->repo->refs[i].local && strcmp(f->repo->refs[i].local, local) == 0)
                        return true;
        return false;
}

/* tips_tree_local(f, place): where the detached HEAD of the work tree at ${place} lands; by a hash of
 * the place when that is no name for a ref. */
static char *tips_tree_local(const struct fetch *f, const char *place)
{
        _cleanup_free_ char *rest = str_fmt("worktrees/%s/HEAD", place);
        _cleanup_free_ char *local = tips_local(f, rest);
        if (local && !tips_is_taken(f, local))
                return take_ptr(&local);
        char key[SHA256_HEX_LEN + 1];
        sha256_hex(place, strlen(place), key);
        _cleanup_free_ char *other = str_fmt("worktrees/%.16s/HEAD", key);
        return tips_local(f, other);
}

/* tips_tree(f, tree, local, name, id): a work tree of the box whose HEAD is on no branch: nothing else
 * may name its commits. Takes ${local} over. */
static void tips_tree(struct fetch *f, const char *tree, const char *name, char *local,
                      const char *id)
{
        struct git_ref *ref = tips_ref(f, GIT_REF_HEAD, name, local, id);
        ref->tree = str_dup(tree);
        if (!local)
                ref->refused = str_dup("the box's name cannot be part of a ref's name");
}

/* tips_tree_linked(f, tree, id): one that is not the repository's main work tree. */
static void tips_tree_linked(struct fetch *f, const char *tree, const char *id)
{
        const char *top = f->want->workspace;
        bool is_in = str_is_beneath(tree, top) && strlen(tree) > strlen(top) + 1;
        const char *place = is_in ? tree + strlen(top) + 1 : tree + (*tree == '/');
        _cleanup_free_ char *name = str_fmt("worktrees/%s/HEAD", place);
        tips_tree(f, tree, name, tips_tree_local(f, place), id);
}

/* tips_trees(f): the work trees that the box's repository has by its own word, wherever they are; the
 * main one comes first. What is said besides is not used, and an id is proved like any other. */
static int tips_trees(struct fetch *f)
{
        struct git_repo *r = f->repo;
        _cleanup_buf_ struct buf out = {.max = TIPS_OUT_MAX};
        struct err none = {0};
        const char *tree = "";
        char id[GIT_ID_MAX + 1] = "";
        size_t n = 0;
        if (fetch_inside(f, FETCH_ARGV("worktree", "list", "--porcelain"), NULL, &out, &none) != 0)
                buf_free(&out);
        _cleanup_free_ char *text = str_dup(buf_cstr(&out));
        char *rest = text;
        for (char *line; (line = strsep(&rest, "\n")) && r->refs_n <= GIT_REFS_MAX;) {
                if (str_starts(line, "worktree ")) {
                        tree = line + strlen("worktree ");
                        id[0] = 0;
                        n++;
                } else if (str_starts(line, "HEAD ")) {
                        if (!git_names_id(line + 5, strlen(line + 5), f->id_len, id))
                                id[0] = 0;
                } else if (strcmp(line, "detached") == 0 && id[0]) {
                        strs_add(&f->detached, id);
                        if (tips_is_known(f, id))
                                continue;
                        if (n > 1)
                                tips_tree_linked(f, tree, id);
                        else /* git tells a submodule's by its git directory */
                                tips_tree(f, f->is_linked ? tree : r->dir, "HEAD",
                                          tips_local(f, "HEAD"), id);
                }
        }
        if (n == 0 && f->is_detached && !tips_is_known(f, r->head_id))
                tips_tree(f, r->dir, "HEAD", tips_local(f, "HEAD"), r->head_id);
        return r->refs_n > GIT_REFS_MAX
                       ? fetch_waits(r, "it has more than %d branches, tags and work trees",
                                     GIT_REFS_MAX)
                       : 0;
}

/* tips_sort(f): the box's list into refs, and the rest into a count. */
static int tips_sort(struct fetch *f)
{
        struct git_repo *r = f->repo;
        for (size_t i = 0; i < f->box.n; i++) {
                const struct git_tip *t = &f->box.v[i];
                bool is_head = str_starts(t->name, "refs/heads/");
                const struct git_tip *there = git_tips_find(&f->host, t->name);
                bool is_same = there && strcmp(there->id, t->id) == 0;
                if (is_same) {
                        continue; /* where the host has it: nothing to say, however many there are */
                } else if (is_head || str_starts(t->name, "refs/tags/")) {
                        tips_take(f, is_head ? GIT_REF_HEAD : GIT_REF_TAG, t);
                } else if (strcmp(t->name, "refs/stash") == 0) {
                        tips_stash(f, t);
                } else {
                        r->notes_n++;
                }
                if (r->refs_n > GIT_REFS_MAX)
                        return fetch_waits(r, "it has more than %d branches and tags",
                                           GIT_REFS_MAX);
        }
        return 0;
}

int tips_list(struct fetch *f)
{
        struct git_repo *r = f->repo;
        struct err err = {0};
        _cleanup_buf_ struct buf out = {.max = TIPS_OUT_MAX};
        if (tips_host(f, &err) < 0)
                return fetch_waits(r, "git on the host cannot list this repository's refs: %s",
                                   err.text);
        if (fetch_inside(f, tips_argv, NULL, &out, &err) != 0)
                return fetch_waits(r, "git cannot list the box's refs: %s", err.text);
        if (git_names_parse((const char *)out.data, out.len, f->id_len, &f->box) < 0)
                return fetch_waits(r, "the box's list of refs makes no sense");
        tips_head_of(f, fetch_inside, &f->box, &r->head, r->head_id);
        f->is_detached = !r->head && r->head_id[0];
        if (r->shares)
                return 0;
        if (tips_sort(f) < 0)
                return -1;
        return tips_trees(f);
}

/* tips_is_more(f, tip): does it reach a commit that no ref of the host reaches? */
static bool tips_is_more(struct fetch *f, const char *tip)
{
        _cleanup_buf_ struct buf in = {0}, out = {.max = 4096};
        struct err none = {0};
        buf_put_fmt(&in, "%s\n", tip);
        for (size_t i = 0; i < f->known.n; i++)
                buf_put_fmt(&in, "^%s\n", f->known.v[i]);
        return fetch_host(f, FETCH_ARGV("rev-list", "--max-count=1", "--stdin"), &in, &out,
                          &none) != 0 ||
               out.len != 0;
}

bool tips_pending(struct fetch *f)
{
        const struct git_repo *r = f->repo;
        /* Notes are somebody's words, and never fetched: they would go with the box. */
        for (size_t i = 0; i < f->box.n; i++) {
                const struct git_tip *t = &f->box.v[i];
                const struct git_tip *there = git_tips_find(&f->host, t->name);
                if (str_starts(t->name, "refs/notes/") && (!there || strcmp(there->id, t->id) != 0))
                        return true;
        }
        for (size_t i = 0; i < r->refs_n; i++) {
                const struct git_ref *ref = &r->refs[i];
                struct err none = {0};
                _cleanup_buf_ struct buf out = {.max = 4096};
                if (ref->refused || strcmp(ref->tip, ref->host) == 0 ||
                    strcmp(ref->tip, ref->landed) == 0)
                        continue;
                bool is_known = tips_is_known(f, ref->tip);
                if (!is_known &&
                    (!r->host_git || ref->kind == GIT_REF_TAG || tips_is_more(f, ref->tip)))
                        return true;
                if (ref->kind == GIT_REF_STASH)
                        continue;
                if (!ref->host[0] || ref->kind == GIT_REF_TAG)
                        return true;
                if (fetch_host(f, FETCH_ARGV("merge-base", "--is-ancestor", ref->tip, ref->host),
                               NULL, &out, &none) != 0)
                        return true;
        }
        return false;
}
