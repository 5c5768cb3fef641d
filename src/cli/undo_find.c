/* undo_find.c - see undo_find.h. */
#include "cli/undo_find.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/boxhere.h"
#include "session/store.h"
#include "workspace/undo.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void undo_find_free(struct undo_find *f)
{
        for (size_t i = 0; i < f->n; i++)
                strs_free(&f->v[i].paths);
        free(f->v);
        free(f->said);
        *f = (struct undo_find){0};
}

static struct undo_find_one *add(struct undo_find *f, uint64_t n)
{
        for (size_t i = 0; i < f->n; i++)
                if (f->v[i].n == n)
                        return &f->v[i];
        f->v = reallocarray(f->v, f->n + 1, sizeof *f->v);
        if (!f->v)
                str_no_memory();
        f->v[f->n] = (struct undo_find_one){.n = n};
        return &f->v[f->n++];
}

/* real_dir(path): the longest existing directory above, without symlinks; what is missing is added
 * as it was written. */
char *undo_path(const char *word, struct err *err)
{
        char here[PATH_MAX], real[PATH_MAX];
        if (word[0] != '/' && !getcwd(here, sizeof here)) {
                err_sys(err, "find the current directory");
                return NULL;
        }
        _cleanup_free_ char *whole = word[0] == '/' ? str_dup(word) : str_fmt("%s/%s", here, word);
        _cleanup_free_ char *parent = str_dup(whole);
        /* The last component is the thing itself, which may be a link; only its directory is
         * resolved. */
        char *rest = parent + strlen(parent);
        while (rest > parent && rest[-1] == '/')
                *--rest = 0;
        _cleanup_free_ char *tail = str_dup("");
        for (;;) {
                char *slash = strrchr(parent, '/');
                const char *name = slash ? slash + 1 : parent;
                if (strcmp(name, "..") == 0 || strcmp(name, ".") == 0 || !*name) {
                        /* a directory by its nature */
                        if (realpath(*parent ? parent : "/", real))
                                return *tail ? str_fmt("%s/%s", real, tail) : str_dup(real);
                        err_set(err, E_INPUT, "%s is not a path that can be resolved", word);
                        return NULL;
                }
                char *longer = *tail ? str_fmt("%s/%s", name, tail) : str_dup(name);
                free(tail);
                tail = longer;
                if (slash)
                        *slash = 0;
                else
                        *parent = 0;
                if (realpath(*parent ? parent : "/", real))
                        return str_fmt("%s%s%s", strcmp(real, "/") == 0 ? "" : real, "/", tail);
        }
}

/* --- without a word -----------------------------------------------------------------------------
 */

enum { OTHERS_MAX = 8 }; /* boxes that are named beside the one that is meant */

struct parity {
        uint64_t n, of;
        size_t root_n; /* how long its root is, when we are in it; else 0 */
        bool is_undo, is_here;
};
struct here {
        const char *cwd;
        char *dir; /* the workspace that is meant; NULL: none */
        char *box; /* whose record was found */
        struct undo_find *found;
        struct parity *v; /* of every record, newest first */
        size_t n, cap;
};

static int learn(void *ctx, const struct undo_record *r)
{
        struct here *h = ctx;
        if (h->n == h->cap) {
                h->cap = h->cap ? h->cap * 2 : 64;
                h->v = reallocarray(h->v, h->cap, sizeof *h->v);
                if (!h->v)
                        str_no_memory();
        }
        bool is_around = h->cwd && *r->root == '/' && str_is_beneath(h->cwd, r->root);
        h->v[h->n++] = (struct parity){.n = r->n,
                                       .of = r->of,
                                       .root_n = is_around ? strlen(r->root) : 0,
                                       .is_undo = strcmp(r->what, "undo") == 0};
        if (is_around && (!h->dir || strlen(r->root) > strlen(h->dir))) {
                free(h->dir);
                h->dir = str_dup(r->root);
        }
        return 0;
}

/* is_taking_back(h, n): does this record take something back? An undo does, an undo of an undo does
 * not. A record that is gone was an apply. */
static bool is_taking_back(const struct here *h, uint64_t n)
{
        bool is_back = false;
        for (size_t i = 0; i < h->n; i++) {
                if (h->v[i].n != n)
                        continue;
                if (!h->v[i].is_undo)
                        break;
                is_back = !is_back;
                n = h->v[i].of; /* always an older one: further on in the list */
        }
        return is_back;
}

/* is_open(h, r): can it be taken back, and is it no taking back itself? */
static bool is_open(const struct here *h, const struct undo_record *r)
{
        return !r->is_undone && (r->entries_n || r->refs_n) && !is_taking_back(h, r->n);
}

static int pick(void *ctx, const struct undo_record *r)
{
        struct here *h = ctx;
        if (strcmp(r->root, h->dir) != 0 || !is_open(h, r))
                return 0;
        add(h->found, r->n);
        h->found->said =
                str_fmt("record %" PRIu64 ", %s of box %s", r->n, r->what, *r->box ? r->box : "?");
        h->box = str_dup(r->box);
        return 1;
}

/* here_others(h, undo_fd, store, said): how many other boxes have something in this workspace that
 * could be taken back, and the newest of each in words. A box that is gone stands in nobody's way: its
 * records are old work. */
static size_t here_others(const struct here *h, int undo_fd, const struct store *store,
                          struct buf *said)
{
        _cleanup_strs_ struct strs told = {0};
        strs_add(&told, h->box);
        for (size_t i = 0; i < h->n && told.n <= OTHERS_MAX; i++) {
                struct err unheard = {0};
                _cleanup_record_ struct undo_record r = {0};
                if (!h->v[i].is_here || undo_read(undo_fd, h->v[i].n, &r, &unheard) < 0 ||
                    !is_open(h, &r) || !*r.box || strs_has(&told, r.box))
                        continue;
                strs_add(&told, r.box);
                _cleanup_close_ int box_fd = store_box_dir(store, r.box, &unheard);
                if (box_fd >= 0)
                        buf_put_fmt(said, "%s%" PRIu64 " of box %s", said->len ? ", " : "", r.n,
                                    r.box);
        }
        return said->len;
}

/* here_several(h, undo_fd, store, found, err): as apply and diff: when more than one box could be
 * meant they are named, and nothing is done. */
static int here_several(const struct here *h, int undo_fd, const struct store *store,
                        const struct undo_find *f, struct err *err)
{
        _cleanup_buf_ struct buf said = {0};
        if (here_others(h, undo_fd, store, &said) == 0)
                return 0;
        _cleanup_free_ char *dir = str_quote(h->dir);
        err_set(err, E_USAGE,
                "several boxes were applied in %s: say which record is to be taken back, %" PRIu64
                " of box %s, %s",
                dir, f->v[0].n, h->box, buf_cstr(&said));
        return err_hint(err, "ostiary undo %" PRIu64 " takes back the newest", f->v[0].n);
}

/* here_dir(h, store, err): the innermost directory around us that a box worked in or a record is of.
 */
static int here_dir(struct here *h, const struct store *store, struct err *err)
{
        _cleanup_free_ char *workspace = NULL;
        if (boxhere_workspace(store, h->cwd, &workspace, err) < 0)
                return -1;
        if (workspace && (!h->dir || strlen(workspace) > strlen(h->dir))) {
                free(h->dir);
                h->dir = take_ptr(&workspace);
        }
        return 0;
}

/* here_none(h, err): with the record that an outer directory has, if any: it must be named. */
static int here_none(const struct here *h, struct err *err)
{
        _cleanup_free_ char *shown = str_quote(h->dir ? h->dir : h->cwd);
        err_set(err, E_ABSENT, "nothing was applied in %s that could be taken back", shown);
        return err_hint(err, "`ostiary history` lists the records of all directories; one that is "
                             "named is taken back from anywhere: ostiary undo N");
}

static int find_here(int undo_fd, const struct store *store, struct undo_find *f, struct err *err)
{
        char cwd[PATH_MAX];
        if (!getcwd(cwd, sizeof cwd))
                return err_sys(err, "find the current directory");
        struct here h = {.cwd = cwd, .found = f};
        int rc = undo_list(undo_fd, false, learn, &h, err);
        if (rc == 0)
                rc = here_dir(&h, store, err);
        if (rc == 0 && h.dir)
                rc = undo_list(undo_fd, true, pick, &h, err);
        if (rc >= 0 && f->n == 0)
                rc = here_none(&h, err);
        if (rc >= 0) {
                size_t dir_n = h.dir ? strlen(h.dir) : 0;
                for (size_t i = 0; i < h.n; i++)
                        h.v[i].is_here = h.v[i].root_n == dir_n;
                rc = here_several(&h, undo_fd, store, f, err);
        }
        free(h.v);
        free(h.dir);
        free(h.box);
        return rc < 0 ? -1 : 0;
}

/* --- by path ------------------------------------------------------------------------------------
 */

struct by_path {
        const char *path; /* absolute */
        struct here *h;
        struct undo_find *found;
};

static int match(void *ctx, const struct undo_record *r)
{
        struct by_path *b = ctx;
        if (!*r->root || !str_is_beneath(b->path, r->root) || is_taking_back(b->h, r->n))
                return 0;
        const char *below = b->path + strlen(r->root);
        below += *below == '/';
        for (size_t i = 0; i < r->entries_n; i++) {
                const struct undo_entry *e = &r->v[i];
                if (e->is_undone || e->is_skipped || r->is_undone ||
                    (*below && !str_is_beneath(e->path, below)))
                        continue;
                strs_add(&add(b->found, r->n)->paths, below);
                return 1;
        }
        return 0;
}

static int find_paths(int undo_fd, const struct strs *words, struct undo_find *f, struct err *err)
{
        struct here h = {0};
        int rc = undo_list(undo_fd, false, learn, &h, err);
        for (size_t i = 0; rc == 0 && i < words->n; i++) {
                _cleanup_free_ char *path = undo_path(words->v[i], err);
                struct by_path b = {.path = path, .h = &h, .found = f};
                rc = path ? undo_list(undo_fd, true, match, &b, err) : -1;
                if (rc == 0) {
                        _cleanup_free_ char *shown = str_quote(words->v[i]);
                        rc = err_set(err, E_ABSENT,
                                     "no record that could be taken back has touched %s; `ostiary "
                                     "history` lists all records",
                                     shown);
                } else if (rc > 0) {
                        rc = 0;
                }
        }
        free(h.v);
        return rc;
}

int undo_find(int undo_fd, const struct store *store, const struct strs *words, struct undo_find *f,
              struct err *err)
{
        uint64_t n;
        *f = (struct undo_find){0};
        if (words->n == 0)
                return find_here(undo_fd, store, f, err);
        if (str_u64(words->v[0], &n) < 0)
                return find_paths(undo_fd, words, f, err);
        if (words->n > 1)
                return err_set(err, E_USAGE,
                               "one record at a time; a file whose name is a number is written "
                               "./%s",
                               words->v[0]);
        add(f, n);
        return 0;
}
