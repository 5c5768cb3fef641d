/* fetched.c - see fetched.h. The file `git-refs` in a box's directory lists the refs that applies of
 * this box made: "COMMON<TAB>REF" each. */
#include "session/fetched.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "session/changes.h"
#include "session/committed.h"
#include "session/errand.h"
#include "session/store.h"
#include "workspace/classify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KNOWN_MAX = 16 << 20 };

/* fetched_want(c, store, trees, errand, inside, scratch, want): everything that the git room asks. */
static void fetched_judge(void *arg, const char *path, struct file_class_verdict *v)
{
        classify_place(arg, path, WS_FILE, v);
}

static void fetched_want(const struct changes *c, const struct strs *trees, struct errand *errand,
                         struct git_inside *inside, const char *scratch, struct git_want *want)
{
        *inside = (struct git_inside){.run = errand_inside, .arg = errand};
        *want = (struct git_want){.inside = inside,
                                  .box = c->id,
                                  .workspace = c->workspace,
                                  .trees = trees,
                                  .classes = c->classes,
                                  .scratch = scratch,
                                  .confine = errand_confined,
                                  .confine_arg = errand};
}

/* Where quarantines of a fetch lie. The place that is kept for the next one is locked; who finds it
 * taken, by a question that somebody has not answered yet, has one of its own. */
struct fetched_place {
        char *dir;
        char *private; /* the same, when it is to be removed; or NULL */
        int lock_fd;
};

static int fetched_place(const struct changes *c, const struct store *store,
                         struct fetched_place *p, struct err *err)
{
        *p = (struct fetched_place){.dir = str_fmt("%s/boxes/%s/git", store->state, c->id)};
        if (mkdirat(c->box_fd, "git", 0700) < 0 && errno != EEXIST)
                return err_sys(err, "make a place for what the box committed");
        p->lock_fd = openat(c->box_fd, "git/lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (p->lock_fd < 0)
                return err_sys(err, "lock the place for what the box committed");
        if (flock(p->lock_fd, LOCK_EX | LOCK_NB) == 0)
                return 0;
        char *own = str_fmt("%s/own.XXXXXX", p->dir);
        free(p->dir);
        p->dir = own;
        if (!mkdtemp(own))
                return err_sys(err, "make a place for what the box committed");
        p->private = str_dup(own);
        return 0;
}

typedef int fetched_fn(const struct git_want *, struct git_fetch *, struct err *);

static enum git_in_tree fetched_in_tree(void *arg, struct git_repo *r, const struct git_path *p)
{
        return committed_in_tree(arg, r, p);
}

/* fetched_with(c, store, trees, fn, f, landed, err): run ${fn} with everything in place. */
static int fetched_with(const struct changes *c, const struct store *store,
                        const struct strs *trees, fetched_fn *fn, struct git_fetch *f,
                        struct buf *landed, struct err *err)
{
        struct git_inside inside;
        struct git_want want;
        struct fetched_place place;
        if (trees->n == 0 || !*c->workspace)
                return 0;
        int rc = fetched_place(c, store, &place, err);
        _cleanup_errand_ struct errand *errand = rc < 0 ? NULL : errand_open(store, c->id, err);
        if (rc == 0 && !errand)
                rc = err_add(err, "read what the box committed");
        if (rc == 0) {
                /* The workspace comes first (changes.c): the judge of its files is the commits' too. */
                struct classify *classify = classify_new(&c->roots.v[0], c->classes);
                fetched_want(c, trees, errand, &inside, place.dir, &want);
                want.landed = landed;
                want.judge = fetched_judge;
                want.judge_arg = classify;
                want.in_tree = fetched_in_tree;
                want.in_tree_arg = &c->roots.v[0];
                rc = fn(&want, f, err);
                classify_free(classify);
        }
        f->lock_fd = place.lock_fd;
        f->private = place.private;
        free(place.dir);
        if (rc < 0)
                git_fetch_free(f);
        return rc;
}

static int fetched_do(const struct git_want *want, struct git_fetch *f, struct err *err)
{
        return git_fetch(f, want, err);
}

static int fetched_shown(const struct git_want *want, struct git_fetch *f, struct err *err)
{
        struct git_want all = *want;
        all.wants_tree = true;
        return git_fetch(f, &all, err);
}

/* fetched_by(c, store, trees, fn, f, err): unless there is no git. */
static int fetched_by(const struct changes *c, const struct store *store, const struct strs *trees,
                      fetched_fn *fn, struct git_fetch *f, struct err *err)
{
        *f = (struct git_fetch){0};
        if (trees->n && !git_call_is_there()) {
                f->waits = str_dup("there is no git on this machine: what the box committed waits "
                                   "in it");
                return 0;
        }
        return fetched_with(c, store, trees, fn, f, NULL, err);
}

int fetched_get(const struct changes *c, const struct store *store, const struct strs *trees,
                struct git_fetch *f, struct err *err)
{
        return fetched_by(c, store, trees, fetched_do, f, err);
}

int fetched_show(const struct changes *c, const struct store *store, const struct strs *trees,
                 struct git_fetch *f, struct err *err)
{
        return fetched_by(c, store, trees, fetched_shown, f, err);
}

static int fetched_ask(const struct git_want *want, struct git_fetch *f, struct err *err)
{
        (void)f;
        return git_fetch_pending(want, err);
}

int fetched_pending(const struct changes *c, const struct store *store, const struct strs *trees,
                    struct buf *landed, struct err *err)
{
        struct git_fetch f = {0};
        if (trees->n && !git_call_is_there())
                return 1; /* nobody can tell: the box may have the only copy */
        int rc = fetched_with(c, store, trees, fetched_ask, &f, landed, err);
        git_fetch_free(&f);
        return rc;
}

void fetched_known(int box_dir_fd, const char *common, struct strs *refs)
{
        _cleanup_free_ char *text = fdio_read_file(box_dir_fd, "git-refs", KNOWN_MAX, NULL);
        _cleanup_free_ char *key = str_quote(common);
        size_t key_len = strlen(key);
        char *rest = text;
        for (char *line; text && (line = strsep(&rest, "\n"));)
                if (strncmp(line, key, key_len) == 0 && line[key_len] == '\t')
                        strs_add(refs, line + key_len + 1);
}

int fetched_note(int box_dir_fd, const char *common, const char *ref, struct err *err)
{
        _cleanup_strs_ struct strs known = {0};
        fetched_known(box_dir_fd, common, &known);
        if (strs_has(&known, ref))
                return 0;
        _cleanup_close_ int fd =
                openat(box_dir_fd, "git-refs",
                       O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        _cleanup_free_ char *key = str_quote(common), *line = str_fmt("%s\t%s\n", key, ref);
        if (fd < 0 || fdio_write_all(fd, line, strlen(line)) < 0)
                return err_sys(err, "remember what was fetched from the box");
        return 0;
}

int fetched_drop(int box_dir_fd, struct err *err)
{
        _cleanup_free_ char *text = fdio_read_file(box_dir_fd, "git-refs", KNOWN_MAX, NULL);
        char *rest = text;
        for (char *line; text && (line = strsep(&rest, "\n"));) {
                char *ref = strchr(line, '\t');
                if (!ref || line[0] != '/' || !str_starts(ref + 1, "refs/ostiary/"))
                        continue;
                *ref++ = 0;
                /* Gone, or a name that is not written as it is: then its refs stay. */
                if (access(line, F_OK) < 0)
                        continue;
                const char *const argv[] = {"update-ref", "-d", ref, NULL};
                struct git_call call = {.dir = line, .argv = argv, .out_fd = -1};
                _cleanup_strs_ struct strs env = {0};
                strs_addf(&env, "GIT_DIR=%s", line);
                if (git_call_host(&call, &env, err) != 0)
                        return err_add(err, "remove %s from %s", ref, line);
        }
        return 0;
}

const char *fetched_path(const struct git_repo *r, const char *path)
{
        size_t n = strlen(r->path);
        if (n == 0)
                return path;
        if (!str_is_beneath(path, r->path))
                return NULL;
        return path[n] == '/' ? &path[n + 1] : &path[n];
}

struct git_repo *fetched_repo(const struct git_fetch *f, const char *path)
{
        struct git_repo *best = NULL;
        for (size_t i = 0; i < f->n; i++)
                if (fetched_path(&f->v[i], path) &&
                    (!best || strlen(f->v[i].path) > strlen(best->path)))
                        best = &f->v[i];
        return best;
}
