/* land_sparse.c - see land_sparse.h. Patterns mean what git makes of them: the host's git applies them to
 * an index of ours that has these paths alone, in an empty repository that is removed again. No object
 * is read, and no file is written to a work tree of the user's. */
#include "git/land_sparse.h"

#include "base/beneath.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "git/land_index.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SPARSE_PATTERNS_MAX = 16 << 20 };

struct sparse {
        char *dir; /* the empty repository */
        struct strs env;
        char *patterns, *cone;
};

/* sparse_ask(git_dir, key, said): a switch of the host's repository; "" when it is not set. */
static char *sparse_ask(const char *git_dir, const char *key)
{
        const char *const argv[] = {"config", "--type=bool", key, NULL};
        _cleanup_strs_ struct strs env = {0};
        _cleanup_buf_ struct buf out = {.max = 4096};
        struct err none = {0};
        strs_addf(&env, "GIT_DIR=%s", git_dir);
        struct git_call call = {.dir = git_dir, .argv = argv, .out = &out, .out_fd = -1};
        bool is_set = git_call_host(&call, &env, &none) == 0;
        const char *text = is_set ? buf_cstr(&out) : "";
        return str_fmt("%.*s", (int)strcspn(text, "\n"), text);
}

static int sparse_git(const struct sparse *s, const char *const *argv, const struct buf *in,
                      struct buf *out, struct err *err)
{
        struct git_call call = {.dir = s->dir,
                                .argv = argv,
                                .in = in ? in->data : NULL,
                                .in_len = in ? in->len : 0,
                                .out = out,
                                .out_fd = -1};
        int status = git_call_host(&call, &s->env, err);
        return status > 0 ? err_add(err, "apply the patterns of a sparse checkout") : status;
}

/* sparse_make(s, id_len, err): the repository, with the user's patterns. */
static int sparse_make(struct sparse *s, size_t id_len, struct err *err)
{
        const char *format = id_len == 64 ? "--object-format=sha256" : "--object-format=sha1";
        const char *const argv[] = {"init", "-q", "--template=", format, NULL};
        _cleanup_free_ char *info = str_fmt("%s/.git/info", s->dir);
        _cleanup_free_ char *file = str_fmt("%s/sparse-checkout", info);
        strs_addf(&s->env, "GIT_DIR=%s/.git", s->dir);
        strs_addf(&s->env, "GIT_WORK_TREE=%s", s->dir);
        strs_add(&s->env, "GIT_CONFIG_GLOBAL=/dev/null");
        strs_add(&s->env, "GIT_CONFIG_NOSYSTEM=1");
        if (sparse_git(s, argv, NULL, NULL, err) < 0)
                return -1;
        if (mkdir(info, 0700) < 0)
                return err_sys(err, "make %s", info);
        return fdio_write_file(AT_FDCWD, file, s->patterns, 0600, err);
}

/* sparse_split(s, entries, out, err): "S NAME" are left out, "H NAME" are not. */
static int sparse_split(struct sparse *s, const struct buf *entries, struct buf *out,
                        struct err *err)
{
        static const char *const fill[] = {"update-index", "-z", "--index-info", NULL};
        static const char *const list[] = {"ls-files", "-z", "-t", NULL};
        _cleanup_free_ char *cone =
                str_fmt("core.sparseCheckoutCone=%s", *s->cone ? s->cone : "false");
        const char *const again[] = {"-c",
                                     "core.sparseCheckout=true",
                                     "-c",
                                     cone,
                                     "-c",
                                     "index.sparse=false",
                                     "sparse-checkout",
                                     "reapply",
                                     NULL};
        _cleanup_buf_ struct buf said = {.max = (size_t)1 << 30};
        if (sparse_git(s, fill, entries, NULL, err) < 0 ||
            sparse_git(s, again, NULL, NULL, err) < 0 || sparse_git(s, list, NULL, &said, err) < 0)
                return -1;
        const char *end = buf_cstr(&said) + said.len;
        for (const char *p = buf_cstr(&said); p < end; p += strlen(p) + 1)
                if (str_starts(p, "S "))
                        buf_put(out, p + 2, strlen(p + 2) + 1);
        return 0;
}

static void sparse_end(struct sparse *s)
{
        if (s->dir)
                (void)beneath_remove_tree(AT_FDCWD, s->dir, NULL);
        free(s->dir);
        free(s->patterns);
        free(s->cone);
        strs_free(&s->env);
}

int land_sparse_out(const char *git_dir, const struct git_paths *paths,
                    bool (*wanted)(void *arg, const struct git_path *), void *arg, struct buf *out,
                    struct err *err)
{
        _cleanup_free_ char *is_sparse = sparse_ask(git_dir, "core.sparseCheckout");
        if (strcmp(is_sparse, "true") != 0)
                return 0;
        _cleanup_free_ char *file = str_fmt("%s/info/sparse-checkout", git_dir);
        _cleanup_buf_ struct buf entries = {.max = (size_t)1 << 30};
        size_t id_len = 0;
        for (size_t i = 0; i < paths->n; i++) {
                const struct git_path *p = &paths->v[i];
                if (!p->mode || !wanted(arg, p))
                        continue;
                id_len = strlen(p->id);
                land_index_entry(&entries, p);
        }
        struct sparse s = {.patterns = fdio_read_file(AT_FDCWD, file, SPARSE_PATTERNS_MAX, NULL)};
        int rc = 0;
        if (entries.len && s.patterns) {
                const char *tmp = getenv("TMPDIR");
                s.cone = sparse_ask(git_dir, "core.sparseCheckoutCone");
                s.dir = str_fmt("%s/ostiary-sparse.XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
                if (!mkdtemp(s.dir)) {
                        rc = err_sys(err, "make %s", s.dir);
                        free(take_ptr(&s.dir));
                }
                if (rc == 0)
                        rc = sparse_make(&s, id_len, err);
                if (rc == 0)
                        rc = sparse_split(&s, &entries, out, err);
        }
        sparse_end(&s);
        return rc;
}
