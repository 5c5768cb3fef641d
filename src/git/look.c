/* look.c - which work trees are repositories: in the box, where git in a box says so, and on the
 * host. Candidates come from the caller; submodules that either side names, and work trees that the
 * host has, are added. Nothing that the box prints is used as a path before it was checked. */
#include "git/beneath.h"
#include "git/fetch_int.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { LOOK_REPOS_MAX = 1000, LOOK_OUT_MAX = 1 << 20, LOOK_PATH_MAX = 2048 };

/* What rev-parse says of a directory. */
struct look {
        bool is_bare, is_inside, is_shallow;
        bool is_odd; /* its .git is here, and says that its work tree is not */
        size_t id_len;
        char *common, *git_dir; /* absolute */
};

static void look_free(struct look *l)
{
        free(l->common);
        free(l->git_dir);
}
#define _cleanup_look_ __attribute__((cleanup(look_free)))

static const char *const look_argv[] = {"rev-parse",
                                        "--is-bare-repository",
                                        "--is-inside-work-tree",
                                        "--is-shallow-repository",
                                        "--show-object-format",
                                        "--show-prefix",
                                        "--git-common-dir",
                                        "--absolute-git-dir",
                                        NULL};

/* look_parse(text, dir, l): 1 when ${dir} is the top of a work tree (or a bare repository), 0 when
 * it lies below one, -1 when the answer makes no sense. */
static int look_parse(char *text, const char *dir, struct look *l)
{
        char *line[7] = {0};
        for (size_t i = 0; i < 7; i++) {
                char *end = strchr(text, '\n');
                if (!end)
                        return -1;
                *end = 0;
                line[i] = text;
                text = end + 1;
        }
        if (*text || line[6][0] != '/' || !*line[5])
                return -1;
        l->is_bare = strcmp(line[0], "true") == 0;
        l->is_inside = strcmp(line[1], "true") == 0;
        l->is_shallow = strcmp(line[2], "true") == 0;
        l->id_len = strcmp(line[3], "sha1") == 0 ? 40 : strcmp(line[3], "sha256") == 0 ? 64 : 0;
        l->git_dir = str_dup(line[6]);
        /* Absolute ones are resolved by git; ".git" may be a link, and the git directory is what it
         * leads to. */
        l->common = line[5][0] == '/'              ? str_dup(line[5])
                    : strcmp(line[5], ".git") == 0 ? str_dup(line[6])
                                                   : str_fmt("%s/%s", dir, line[5]);
        l->is_odd = (l->is_bare || !l->is_inside) && strcmp(line[5], ".git") == 0;
        if (l->is_bare)
                return strcmp(line[5], ".") == 0;
        return l->is_inside && !*line[4];
}

/* look_settle(path): "/a/b/../c" names the same as another spelling of it; only for what exists on
 * the host. */
static void look_settle(char **path)
{
        char *real = realpath(*path, NULL);
        if (!real)
                return;
        free(*path);
        *path = real;
}

/* look_host(want, repo, l): 1 the host has a repository there, 0 not, -1 and repo->waits. Through no
 * link of the host's: where one stands in the way, another directory would be judged. */
static int look_host(const struct git_want *want, struct git_repo *r, struct look *l)
{
        _cleanup_free_ char *dot = str_fmt("%s/.git", r->dir);
        struct stat st;
        struct err err = {0};
        int inside = git_beneath(want->workspace, r->path);
        if (inside < 0)
                return fetch_waits(r, "on the host a link stands where the box has a directory");
        if (inside == 0 || lstat(dot, &st) < 0)
                return 0;
        _cleanup_buf_ struct buf out = {.max = LOOK_OUT_MAX};
        struct git_call call = {.dir = r->dir, .argv = look_argv, .out = &out};
        int status = git_call_host(&call, NULL, &err);
        if (status != 0)
                return fetch_waits(r, "git on the host cannot read this repository: %s", err.text);
        _cleanup_free_ char *text = str_dup(buf_cstr(&out));
        int is_top = look_parse(text, r->dir, l);
        if (is_top < 0)
                return fetch_waits(r, "git on the host says nothing sensible of this repository");
        if (is_top) {
                look_settle(&l->common);
                look_settle(&l->git_dir);
        }
        return is_top;
}

/* look_match(f, host): can one side's objects be the other's? */
static int look_match(struct fetch *f, const struct look *box, const struct look *host, int has)
{
        struct git_repo *r = f->repo;
        if (box->is_bare)
                return fetch_waits(r, "it is a bare repository, which has no work tree to review; "
                                      "clone it in the workspace to take its commits over");
        if (box->id_len == 0)
                return fetch_waits(r, "it names its objects by a hash that is not known here");
        if (has && host->id_len != box->id_len)
                return fetch_waits(r,
                                   "the box's repository names its objects by %s and the "
                                   "host's by %s",
                                   box->id_len == 40 ? "SHA-1" : "SHA-256",
                                   host->id_len == 40 ? "SHA-1" : "SHA-256");
        return 0;
}

/* What is looked for, and how long it may take. */
struct look_for {
        const struct git_want *want;
        struct fetch_left *left;
};

/* look_add(out, works, what, path): a new repository in the list. */
static struct fetch *look_add(struct git_fetch *out, struct fetch **works,
                              const struct look_for *what, const char *path)
{
        size_t n = out->n;
        out->v = realloc(out->v, (n + 1) * sizeof *out->v);
        *works = realloc(*works, (n + 1) * sizeof **works);
        if (!out->v || !*works)
                str_no_memory();
        out->v[n] = (struct git_repo){.path = str_dup(path),
                                      .dir = *path ? str_fmt("%s/%s", what->want->workspace, path)
                                                   : str_dup(what->want->workspace)};
        (*works)[n] = (struct fetch){.want = what->want, .left = what->left};
        out->n++;
        return &(*works)[n];
}

/* look_drop(out, works): the last one is none. */
static void look_drop(struct git_fetch *out)
{
        struct git_repo *r = &out->v[--out->n];
        free(r->path);
        free(r->dir);
        free(r->waits);
}

/* look_is_place(path): can a work tree be there? Not within a git directory. */
static bool look_is_place(const char *path)
{
        if (!git_raw_is_path(path) || strlen(path) >= LOOK_PATH_MAX)
                return false;
        for (const char *p = path; *p;) {
                size_t n = strcspn(p, "/");
                if (n == 4 && strncasecmp(p, ".git", 4) == 0)
                        return false;
                p += n + (p[n] == '/');
        }
        return true;
}

/* look_modules(text, len, base, todo): "submodule.NAME.path" NL PATH NUL ... */
static void look_modules(const char *text, size_t len, const char *base, struct strs *todo)
{
        for (const char *end = text + len; text < end;) {
                size_t n = strnlen(text, (size_t)(end - text));
                const char *path = memchr(text, '\n', n);
                if (path && text + n < end && look_is_place(path + 1) && todo->n < LOOK_REPOS_MAX)
                        strs_addf(todo, "%s%s%s", base, *base ? "/" : "", path + 1);
                text += n + 1;
        }
}

/* look_trees(f, todo): linked work trees of the host's repository that lie in the workspace. */
static void look_trees(struct fetch *f, struct strs *todo)
{
        _cleanup_buf_ struct buf out = {.max = LOOK_OUT_MAX};
        struct err none = {0};
        const char *top = f->want->workspace;
        if (!f->repo->host_git ||
            fetch_host(f, FETCH_ARGV("worktree", "list", "--porcelain"), NULL, &out, &none) != 0)
                return;
        _cleanup_free_ char *text = str_dup(buf_cstr(&out));
        char *rest = text;
        for (char *line; (line = strsep(&rest, "\n"));) {
                const char *path = str_starts(line, "worktree ") ? line + strlen("worktree ") : "";
                if (str_is_beneath(path, top) && strlen(path) > strlen(top) + 1 &&
                    git_raw_is_path(path + strlen(top) + 1) && todo->n < LOOK_REPOS_MAX)
                        strs_add(todo, path + strlen(top) + 1);
        }
}

/* look_below(f, todo): submodules that the box's or the host's .gitmodules names. */
static void look_below(struct fetch *f, struct strs *todo)
{
        const char *const *argv = FETCH_ARGV("config", "-z", "-f", ".gitmodules", "--get-regexp",
                                             "^submodule\\..*\\.path$");
        for (int side = 0; side < 2; side++) {
                _cleanup_buf_ struct buf out = {.max = LOOK_OUT_MAX};
                struct err none = {0};
                if (side && !f->repo->host_git)
                        return;
                if ((side ? fetch_host : fetch_inside)(f, argv, NULL, &out, &none) == 0)
                        look_modules((const char *)out.data, out.len, f->repo->path, todo);
        }
}

/* look_fill(f, box, host): what was found. */
static void look_fill(struct fetch *f, struct look *box, struct look *host, int has)
{
        struct git_repo *r = f->repo;
        f->id_len = box->id_len;
        f->is_box_shallow = box->is_shallow;
        f->box_common = take_ptr(&box->common);
        r->box_common = f->box_common ? str_dup(f->box_common) : NULL;
        f->is_linked = box->git_dir && f->box_common && strcmp(box->git_dir, f->box_common) != 0;
        r->is_module = box->git_dir && strstr(box->git_dir, "/.git/modules/");
        if (has <= 0)
                return;
        f->is_host_shallow = host->is_shallow;
        r->host_git = take_ptr(&host->git_dir);
        r->host_common = take_ptr(&host->common);
}

/* look_one(out, works, what, path, todo, err): 0; -1 when git cannot be run at all. */
static int look_one(struct git_fetch *out, struct fetch **works, const struct look_for *what,
                    const char *path, struct strs *todo, struct err *err)
{
        struct fetch *f = look_add(out, works, what, path);
        struct git_repo *r = f->repo = &out->v[out->n - 1];
        _cleanup_look_ struct look box = {0}, host = {0};
        _cleanup_buf_ struct buf text = {.max = LOOK_OUT_MAX};
        struct err why = {0};
        int status = fetch_inside(f, look_argv, NULL, &text, &why);
        bool is_gone = status < 0 && str_starts(why.text, "enter "); /* box/spawn.c */
        if (status < 0 && !is_gone && why.code != E_INPUT) {
                look_drop(out);
                *err = why;
                return -1;
        }
        _cleanup_free_ char *copy = str_dup(buf_cstr(&text));
        int is_top = status ? 0 : look_parse(copy, r->dir, &box);
        if (status && str_starts(why.text, "Stopping at filesystem boundary"))
                fetch_waits(r, "it has a .git that git takes for no repository: HEAD, objects or "
                               "refs are missing or damaged");
        if (status && !is_gone && !strstr(why.text, "not a git repository"))
                fetch_waits(r, "git cannot read the box's repository: %s", why.text);
        if (is_top < 0)
                fetch_waits(r, strchr(r->dir, '\n')
                                       ? "a line ends in the path of the repository, and git's "
                                         "answers are lines; rename the directory"
                                       : "git says nothing sensible of the box's repository");
        if (is_top == 0 && box.is_odd)
                fetch_waits(r,
                            "its configuration in the box says that it is bare, or that its work "
                            "tree is elsewhere (core.bare, core.worktree)");
        if (is_top == 0 && !r->waits) {
                look_drop(out);
                return 0;
        }
        if (r->waits)
                return 0;
        int has = look_host(f->want, r, &host);
        if (has >= 0 && look_match(f, &box, &host, has) == 0) {
                look_fill(f, &box, &host, has);
                look_below(f, todo);
                look_trees(f, todo);
        }
        return 0;
}

static size_t look_depth(const char *path)
{
        size_t n = *path != 0;
        for (; *path; path++)
                n += *path == '/';
        return n;
}

static int look_order(const void *a, const void *b)
{
        const char *x = *(char *const *)a, *y = *(char *const *)b;
        size_t dx = look_depth(x), dy = look_depth(y);
        return dx != dy ? (dx > dy ? -1 : 1) : strcmp(x, y);
}

/* look_is_same(a, b): one repository, by the box's word and by the host's. */
static bool look_is_same(const struct fetch *a, const struct fetch *b)
{
        const char *x = a->repo->host_common, *y = b->repo->host_common;
        return a->box_common && b->box_common && strcmp(a->box_common, b->box_common) == 0 &&
               (x && y ? strcmp(x, y) == 0 : x == y);
}

/* look_home(out, works, i): the repository of the host's that the .git of ${i} leads to in the box;
 * out->n when it is its own, or none. */
static size_t look_home(const struct git_fetch *out, const struct fetch *works, size_t i)
{
        const char *box = works[i].box_common, *own = out->v[i].host_common;
        size_t also = out->n;
        if (!box || (own && strcmp(box, own) == 0))
                return out->n;
        for (size_t k = 0; k < out->n; k++) {
                const char *host = out->v[k].host_common;
                if (k == i || !host || (own && strcmp(host, own) == 0))
                        continue;
                if (strcmp(host, box) == 0)
                        return k;
                if (works[k].box_common && strcmp(works[k].box_common, box) == 0)
                        also = k;
        }
        return also;
}

/* look_away(out, works, i): one whose .git leads to another repository of the host's. A linked work
 * tree that the host does not have is no fault: its commits come with that one's refs. Anything else
 * would have the commits of one repository offered as another's. */
static void look_away(struct git_fetch *out, struct fetch *works, size_t i)
{
        struct git_repo *r = &out->v[i];
        size_t home = look_home(out, works, i);
        if (home == out->n)
                return;
        _cleanup_free_ char *name =
                str_quote(*out->v[home].path ? out->v[home].path : out->v[home].dir);
        if (!r->host_common) {
                r->is_spare = r->shares = true;
                r->owner = home;
        }
        if (r->is_spare && works[i].is_linked)
                fetch_waits(r, "it is a linked work tree that only the box has; what it committed "
                               "comes with the branches, or as worktrees/PATH/HEAD (git worktree "
                               "add makes one here)");
        else
                fetch_waits(r,
                            "its .git leads in the box to the repository of %s, whose commits are "
                            "not this one's",
                            name);
}

/* look_share(out, works): linked work trees of one repository have their refs in common. */
static void look_share(struct git_fetch *out, struct fetch *works)
{
        for (size_t i = 0; i < out->n; i++) {
                works[i].repo = &out->v[i];
                works[i].owner = &works[i];
                out->v[i].owner = i;
        }
        for (size_t i = 0; i < out->n; i++) {
                for (size_t k = 0; k < i && !out->v[i].shares; k++) {
                        if (works[k].owner != &works[k] || out->v[k].is_spare ||
                            !look_is_same(&works[i], &works[k]))
                                continue;
                        works[i].owner = &works[k];
                        out->v[i].shares = true;
                        out->v[i].owner = k;
                }
                look_away(out, works, i);
        }
}

int look_all(struct git_fetch *out, struct fetch **works, const struct git_want *want,
             struct fetch_left *left, struct err *err)
{
        const struct look_for what = {.want = want, .left = left};
        _cleanup_strs_ struct strs todo = {0}, seen = {0};
        for (size_t i = 0; i < want->trees->n; i++)
                if (!*want->trees->v[i] || look_is_place(want->trees->v[i]))
                        strs_add(&todo, want->trees->v[i]);
        /* Twice: first to know them all, then in the order that they are wanted in. */
        for (size_t i = 0; i < todo.n && out->n < LOOK_REPOS_MAX; i++) {
                if (strs_has(&seen, todo.v[i]))
                        continue;
                strs_add(&seen, todo.v[i]);
                if (look_one(out, works, &what, todo.v[i], &todo, err) < 0)
                        return -1;
        }
        for (size_t i = 0; i + 1 < out->n; i++) { /* few: by selection, both lists at once */
                size_t first = i;
                for (size_t k = i + 1; k < out->n; k++)
                        if (look_order(&out->v[k].path, &out->v[first].path) < 0)
                                first = k;
                struct git_repo r = out->v[i];
                struct fetch f = (*works)[i];
                out->v[i] = out->v[first];
                (*works)[i] = (*works)[first];
                out->v[first] = r;
                (*works)[first] = f;
        }
        look_share(out, *works);
        return 0;
}
