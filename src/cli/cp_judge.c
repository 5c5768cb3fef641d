/* cp_judge.c - see cp_judge.h. Called by cmd_cp.c for each entry that a box sends, before anything of
 * it is made. A git directory, or what would complete one, never comes: git on the host would run what
 * its configuration says. What somebody runs or obeys by itself is asked about. Content is not looked
 * at: a file of such a name counts, whatever it holds. */
#include "cli/cp_judge.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/apply.h"
#include "cli/cp_open.h"
#include "policy/file_class.h"
#include "policy/git_shape.h"
#include "session/changes.h"
#include "wire/tree.h"
#include "workspace/classify.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { GROUNDS_MAX = 16 };

/* A directory from which paths are meant: a workspace, the top of a work tree of git; without one the
 * home, or "/". */
struct ground {
        struct ws_root root;
        struct classify *classify; /* NULL: by the table alone */
        size_t len;                /* of its path; 0 is "/" */
};

struct cp_judge {
        struct cp_judge_how how;
        struct file_classes *classes;
        bool has_top; /* the copy has a name of its own in the place */
        char *place;  /* the directory that the copy goes to, without links */
        char *top;    /* the name of the copy there, or "" */
        struct ground grounds[GROUNDS_MAX];
        size_t grounds_n;
        enum { NOT_ASKED, TAKEN, DECLINED } answers[FILE_CLASS_COUNT];
};

static int open_up(int fd)
{
        return openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool is_same(int a, int b)
{
        struct stat x, y;
        return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev &&
               x.st_ino == y.st_ino;
}

/* name_of(fd): the path of an open directory, "" for "/"; NULL when it has none any more. */
static char *name_of(int fd, struct err *err)
{
        char link[64], path[PATH_MAX];
        struct stat by_path, by_fd;
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, path, sizeof path - 1);
        if (n > 0)
                path[n] = 0;
        if (n <= 0 || stat(path, &by_path) < 0 || fstat(fd, &by_fd) < 0 ||
            by_path.st_dev != by_fd.st_dev || by_path.st_ino != by_fd.st_ino) {
                err_set(err, E_INPUT, "The destination was moved or removed meanwhile.");
                return NULL;
        }
        return str_dup(strcmp(path, "/") == 0 ? "" : path);
}

/* ground_add(j, fd, is_whole, err): ${is_whole}: with the links and settings that lie there. */
static int ground_add(struct cp_judge *j, int fd, bool is_whole, struct err *err)
{
        if (j->grounds_n == GROUNDS_MAX)
                return err_set(err, E_REFUSED,
                               "The destination lies in more than %d repositories within each "
                               "other; copy to somewhere else.",
                               GROUNDS_MAX);
        struct ground *g = &j->grounds[j->grounds_n];
        *g = (struct ground){.root = {.kind = WS_ROOT_COW, .name = str_dup("ws"), .host_fd = -1}};
        g->root.host = name_of(fd, err);
        j->grounds_n++;
        if (!g->root.host)
                return -1;
        g->len = strlen(g->root.host);
        if (!is_whole)
                return 0;
        g->root.host_fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (g->root.host_fd < 0)
                return err_sys(err, "read %s", g->root.host);
        ws_view_add(&g->root.before, g->root.host_fd, false);
        ws_view_add(&g->root.after, g->root.host_fd, false);
        g->classify = classify_new(&g->root, j->classes);
        return 0;
}

static bool is_home(int fd)
{
        const char *home = getenv("HOME");
        _cleanup_close_ int at = home && *home ? open(home, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
        return at >= 0 && is_same(at, fd);
}

/* climb(j, from, roots, err): from the place up to "/": is one of them git's own, and which of them
 * do paths count from? */
static int climb(struct cp_judge *j, int from, const struct cp_roots *roots, struct err *err)
{
        _cleanup_close_ int at = openat(from, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        _cleanup_close_ int home = -1;
        struct stat st;
        for (;;) {
                if (at < 0)
                        return err_sys(err, "look at the directories above the destination");
                if (git_shape_is(git_shape_at(at)))
                        return err_set(err, E_REFUSED,
                                       "The destination is in a git directory, into which nothing "
                                       "is copied; commits come with `ostiary apply`.");
                bool is_own = is_home(at);
                if (is_own && home < 0)
                        home = openat(at, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
                bool is_tree = fstatat(at, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0;
                if ((cp_roots_has(roots, at) || (is_tree && !is_own)) &&
                    ground_add(j, at, true, err) < 0)
                        return -1;
                int up = open_up(at);
                if (up >= 0 && is_same(at, up)) {
                        close(up);
                        break;
                }
                close(at);
                at = up;
        }
        return j->grounds_n ? 0 : ground_add(j, home >= 0 ? home : at, false, err);
}

struct cp_judge *cp_judge_new(const struct tree_place *p, const struct cp_roots *roots,
                              const struct store *store, const struct cp_judge_how *how,
                              struct err *err)
{
        struct cp_judge *j = calloc(1, sizeof *j);
        int dir = p->dir_fd >= 0 ? p->dir_fd : p->parent_fd;
        if (!j)
                str_no_memory();
        j->how = *how;
        j->classes = changes_classes(store, err);
        j->place = name_of(dir, err);
        j->top = str_dup("");
        j->has_top = p->dir_fd < 0 || *p->base;
        if (!j->classes || !j->place)
                goto bad;
        if (git_shape_path(j->place) != GIT_NAME_OTHER) {
                err_set(err, E_REFUSED,
                        "The destination is in a git directory, into which nothing is copied; "
                        "commits come with `ostiary apply`.");
                goto bad;
        }
        if (climb(j, dir, roots, err) == 0)
                return j;
bad:
        cp_judge_free(j);
        return NULL;
}

void cp_judge_free(struct cp_judge *j)
{
        if (!j)
                return;
        for (size_t i = 0; i < j->grounds_n; i++) {
                struct ground *g = &j->grounds[i];
                classify_free(g->classify);
                ws_view_free(&g->root.before);
                ws_view_free(&g->root.after);
                close_fd(&g->root.host_fd);
                free(g->root.name);
                free(g->root.host);
        }
        file_classes_free(j->classes);
        free(j->place);
        free(j->top);
        free(j);
}

/* --- one entry -------------------------------------------------------------------------------- */

/* why_git(dir_fd, e): why it must not come, as words after its name; NULL when it may. */
static const char *why_git(int dir_fd, const struct tree_entry *e)
{
        enum git_name name = git_shape_name(e->name);
        if (name == GIT_NAME_IS)
                return "is git's own and was left out: commits come with `ostiary apply`.";
        if (name == GIT_NAME_ALIKE)
                return "has a name that other systems take for .git, and was left out.";
        unsigned bit = git_shape_bit(e->name, strlen(e->name));
        if (bit && git_shape_is(git_shape_at(dir_fd) | bit))
                return "would make its directory a git directory, and was left out.";
        if (e->kind != TREE_DIR)
                return NULL;
        _cleanup_close_ int fd =
                openat(dir_fd, e->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd >= 0 && git_shape_is(git_shape_at(fd))
                       ? "is a git directory on this machine; what the box has of it was left out."
                       : NULL;
}

/* classed(j, full, kind, verdict): by each directory that the path can be meant from. */
static void classed(struct cp_judge *j, const char *full, enum tree_kind kind,
                    struct file_class_verdict *v)
{
        *v = (struct file_class_verdict){.class = FILE_PLAIN};
        for (size_t i = 0; i < j->grounds_n && v->class == FILE_PLAIN; i++) {
                struct ground *g = &j->grounds[i];
                const char *rel = full + g->len + 1;
                if (g->classify)
                        classify_place(g->classify, rel, kind == TREE_LINK ? WS_LINK : WS_FILE, v);
                else
                        file_class_of(j->classes, rel, v);
                if (v->class == FILE_PLAIN && kind == TREE_LINK)
                        file_class_leads(j->classes, rel, v);
        }
}

/* may_take(j, shown, verdict): the user's word on a class, once for all of it. */
static bool may_take(struct cp_judge *j, const char *shown, const struct file_class_verdict *v)
{
        if (j->how.is_yes)
                return true;
        if (j->answers[v->class] == NOT_ASKED && j->how.has_terminal) {
                _cleanup_free_ char *question =
                        str_fmt("%s %s (%s). Copy what %s? [y/N]", shown,
                                file_class_words(v->class), v->why, file_class_words(v->class));
                j->answers[v->class] = apply_answer(question, "ny") == 'y' ? TAKEN : DECLINED;
        }
        return j->answers[v->class] == TAKEN;
}

int cp_judge_entry(struct cp_judge *j, int dir_fd, const char *path, const struct tree_entry *e,
                   struct err *err)
{
        (void)err;
        bool is_top = j->has_top && !*j->top;
        if (is_top) {
                free(j->top);
                j->top = str_dup(e->name);
        }
        _cleanup_free_ char *in =
                is_top || !*j->top ? str_dup(path) : str_fmt("%s/%s", j->top, path);
        _cleanup_free_ char *shown = str_quote(in);
        const char *git = why_git(dir_fd, e);
        if (git) {
                _cleanup_free_ char *words = str_fmt("%s %s", shown, git);
                j->how.on_left(j->how.arg, words);
                return 1;
        }
        if (e->kind == TREE_DIR)
                return 0;
        struct file_class_verdict v;
        _cleanup_free_ char *full = str_fmt("%s/%s", j->place, in);
        classed(j, full, e->kind, &v);
        if (v.class == FILE_PLAIN)
                return 0;
        bool is_taken = may_take(j, shown, &v);
        _cleanup_free_ char *words =
                str_fmt("%s %s (%s) and was %s", shown, file_class_words(v.class), v.why,
                        is_taken                          ? "copied."
                        : j->answers[v.class] == DECLINED ? "left out."
                                                          : "left out; --yes copies it.");
        (is_taken ? j->how.on_taken : j->how.on_left)(j->how.arg, words);
        return is_taken ? 0 : 1;
}
