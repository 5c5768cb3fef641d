/* undo_find.c - see undo_find.h. */
#include "cli/undo_find.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "workspace/undo.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void undo_find_free(struct undo_find *f)
{
        for (size_t i = 0; i < f->n; i++)
                strs_free(&f->v[i].paths);
        free(f->v);
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

struct parity {
        uint64_t n, of;
        bool is_undo;
};
struct here {
        const char *cwd;
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
        h->v[h->n++] = (struct parity){r->n, r->of, strcmp(r->what, "undo") == 0};
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

static int pick(void *ctx, const struct undo_record *r)
{
        struct here *h = ctx;
        if (r->is_undone || !*r->root || is_taking_back(h, r->n) || (r->entries_n == 0 && r->refs_n == 0) ||
            !str_is_beneath(h->cwd, r->root))
                return 0;
        add(h->found, r->n);
        return 1;
}

static int find_here(int undo_fd, struct undo_find *f, struct err *err)
{
        char cwd[PATH_MAX];
        if (!getcwd(cwd, sizeof cwd))
                return err_sys(err, "find the current directory");
        struct here h = {.cwd = cwd, .found = f};
        int rc = undo_list(undo_fd, false, learn, &h, err);
        if (rc == 0)
                rc = undo_list(undo_fd, true, pick, &h, err);
        free(h.v);
        if (rc < 0)
                return -1;
        if (f->n == 0)
                return err_set(err, E_ABSENT,
                               "nothing was applied in %s that could be taken back; `ostiary "
                               "history` lists all records",
                               cwd);
        return 0;
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

int undo_find(int undo_fd, const struct strs *words, struct undo_find *f, struct err *err)
{
        uint64_t n;
        *f = (struct undo_find){0};
        if (words->n == 0)
                return find_here(undo_fd, f, err);
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
