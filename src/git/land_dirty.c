/* land_dirty.c - see land_dirty.h. Which paths count is said by the commits, not by the box's layer: a
 * commit can take a file out of the index that the layer never touched, and what the user wrote there
 * would be an ignored file that the next checkout replaces.
 *
 * Three questions. `git status` tells what is staged, changed and untracked. The index tells which
 * entries status leaves out, because they are marked skip-worktree or assume-unchanged. The work tree
 * tells what is neither tracked nor untracked: ignored files. Reads the host alone. */
#include "git/land_dirty.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "git/beneath.h"
#include "git/blob.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIRTY_MAX = 256 << 20, DIRTY_GITLINK = 0160000, DIRTY_ASKED_MAX = 2000 };

struct dirty {
        const struct git_repo *repo;
        git_land_box_fn *box;
        void *arg;
        bool *is_known; /* one per touched path: git told of it, or it is in the index */
        char **why;
};

int land_host_ask(const struct git_repo *r, const char *const *argv, struct buf *out,
                  struct err *err)
{
        struct git_call call = {.dir = r->dir, .argv = argv, .out = out, .out_fd = -1};
        _cleanup_strs_ struct strs env = {0};
        git_beneath_env(r, &env);
        int status = git_call_host(&call, &env, err);
        return status > 0 ? err_add(err, "ask git %s in %s", argv[0], r->dir) : status;
}

/* --- which of the touched paths a path of the host's meets ------------------------------------- */

/* dirty_above(p, path): a touched path that the commits bring and that contains ${path}. */
static const struct git_path *dirty_above(const struct git_paths *p, const char *path)
{
        _cleanup_free_ char *part = str_dup(path);
        for (char *slash; (slash = strrchr(part, '/'));) {
                *slash = 0;
                const struct git_path *to = git_paths_find(p, part);
                if (to && to->mode)
                        return to;
        }
        return NULL;
}

/* dirty_below(p, path): one that lies below ${path}. */
static const struct git_path *dirty_below(const struct git_paths *p, const char *path)
{
        _cleanup_free_ char *head = str_fmt("%s/", path);
        size_t low = 0, high = p->n;
        while (low < high) {
                size_t mid = (low + high) / 2;
                if (strcmp(p->v[mid].path, head) < 0)
                        low = mid + 1;
                else
                        high = mid;
        }
        for (; low < p->n && str_starts(p->v[low].path, head); low++)
                if (p->v[low].mode)
                        return &p->v[low];
        return NULL;
}

/* dirty_meets(d, path): the touched path itself, or one that cannot be there beside it. */
static const struct git_path *dirty_meets(struct dirty *d, const char *path)
{
        const struct git_paths *p = &d->repo->touched;
        const struct git_path *to = git_paths_find(p, path);
        if (to)
                d->is_known[to - p->v] = true;
        if (!to)
                to = dirty_above(p, path);
        return to ? to : dirty_below(p, path);
}

static void dirty_say(const struct dirty *d, const char *path, const struct git_path *to,
                      const char *how)
{
        _cleanup_free_ char *shown = str_quote(path), *other = str_quote(to->path);
        *d->why = strcmp(path, to->path) == 0
                          ? str_fmt("%s is %s on the host", shown, how)
                          : str_fmt("%s is %s on the host, where the commits have %s", shown, how,
                                    other);
}

/* --- contents ----------------------------------------------------------------------------------- */

/* dirty_is(d, path, id): has the host's file the content ${id}, as it is or as git would add it? An
 * absent file is the zero id, that of a path that goes. */
static bool dirty_is(const struct dirty *d, const char *path, const char *id)
{
        _cleanup_free_ char *whole = str_fmt("%s/%s", d->repo->dir, path);
        size_t len = strlen(id);
        char found[GIT_ID_MAX + 1], target[PATH_MAX];
        struct stat st;
        if (lstat(whole, &st) < 0)
                return strspn(id, "0") == len;
        if (S_ISLNK(st.st_mode)) {
                ssize_t n = readlink(whole, target, sizeof target);
                if (n < 0)
                        return false;
                git_blob_of(target, (size_t)n, len, found);
                return strcmp(found, id) == 0;
        }
        if (!S_ISREG(st.st_mode))
                return false;
        _cleanup_close_ int fd = open(whole, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
            git_blob_of_file(fd, (uint64_t)st.st_size, len, found) && strcmp(found, id) == 0)
                return true;
        /* Line ends and filters, as status itself applies them; for so many that it costs little. */
        static unsigned asked_n;
        if (asked_n++ >= DIRTY_ASKED_MAX)
                return false;
        const char *const argv[] = {"hash-object", "--", path, NULL};
        _cleanup_buf_ struct buf out = {.max = 4096};
        struct err none = {0};
        return land_host_ask(d->repo, argv, &out, &none) == 0 && str_starts(buf_cstr(&out), id);
}

bool git_land_is_as_head(const struct git_repo *r, const char *path)
{
        const struct git_path *p = git_paths_find(&r->touched, path);
        const struct dirty d = {.repo = r};
        return p && r->is_ff && strspn(p->was, "0") < strlen(p->was) && dirty_is(&d, path, p->was);
}

/* dirty_is_kept(d, path, to): a tracked file that was changed: is it what the commits make of it? Or
 * what the box itself has there, by its own layer, and the path stays tracked: so does an apply leave
 * it that was killed before the branch moved. */
static bool dirty_is_kept(const struct dirty *d, const char *path, const struct git_path *to)
{
        if (strcmp(path, to->path) != 0 || to->mode == DIRTY_GITLINK)
                return false;
        return dirty_is(d, path, to->id) || (to->mode && d->box(d->arg, path) == GIT_LAND_BOX_SAME);
}

/* --- what git tells ----------------------------------------------------------------------------- */

/* One line of `git status --porcelain=v2 -z`. */
struct status_line {
        char index, tree; /* X and Y; '?' twice when it is not tracked */
        bool is_module;
        const char *id; /* in the index; NULL: unmerged or untracked */
        size_t id_len;
        const char *path;
};

/* status_read(line, s): "1 XY sub mH mI mW hH hI path", "u XY ... path", "? path". */
static bool status_read(const char *line, struct status_line *s)
{
        *s = (struct status_line){0};
        size_t fields = line[0] == '1' ? 8 : line[0] == 'u' ? 10 : 0;
        if (line[0] == '?' && line[1] == ' ') {
                *s = (struct status_line){.index = '?', .tree = '?', .path = line + 2};
                return true;
        }
        if (fields == 0 || strlen(line) < 6)
                return false;
        s->index = line[2];
        s->tree = line[3];
        s->is_module = line[5] == 'S';
        const char *at = line;
        for (size_t i = 0; i < fields; i++) {
                if (i == 7 && line[0] == '1') {
                        s->id = at;
                        s->id_len = strcspn(at, " ");
                }
                at = strchr(at, ' ');
                if (!at)
                        return false;
                at++;
        }
        s->path = at;
        return true;
}

/* status_untracked(d, path, to): "lib/" is a repository of the user's, and a gitlink may name it. */
static bool status_untracked(const struct dirty *d, const char *path, bool is_repo,
                             const struct git_path *to)
{
        if (strcmp(path, to->path) != 0)
                return true;
        if (is_repo)
                return to->mode != DIRTY_GITLINK;
        return !to->mode || !dirty_is(d, path, to->id);
}

/* status_line(d, s): say what is in the way: staged as something else than the commits make it,
 * changed, or a file of the user's where the commits bring one. */
static void status_line(struct dirty *d, const struct status_line *s)
{
        size_t len = strlen(s->path);
        bool is_repo = s->index == '?' && len && s->path[len - 1] == '/';
        _cleanup_free_ char *path = str_fmt("%.*s", (int)(len - is_repo), s->path);
        const struct git_path *to = dirty_meets(d, path);
        if (!to)
                return;
        if (s->index == '?') {
                if (status_untracked(d, path, is_repo, to))
                        dirty_say(d, path, to, "changed");
                return;
        }
        bool is_same = s->id && strcmp(path, to->path) == 0 && strlen(to->id) == s->id_len &&
                       strncmp(s->id, to->id, s->id_len) == 0;
        if (s->index != '.' && !is_same)
                dirty_say(d, path, to, "staged");
        /* Where a submodule stands is its own repository's affair. */
        else if (s->tree != '.' && !s->is_module && !dirty_is_kept(d, path, to))
                dirty_say(d, path, to, "changed");
}

static int dirty_status(struct dirty *d, struct err *err)
{
        static const char *const argv[] = {"status",
                                           "--porcelain=v2",
                                           "-z",
                                           "--no-renames",
                                           "--untracked-files=all",
                                           "--ignore-submodules=dirty",
                                           NULL};
        _cleanup_buf_ struct buf out = {.max = DIRTY_MAX};
        if (land_host_ask(d->repo, argv, &out, err) < 0)
                return -1;
        buf_put_u8(&out, 0);
        struct status_line s;
        for (const char *line = (const char *)out.data; *line && !*d->why; line += strlen(line) + 1)
                if (status_read(line, &s))
                        status_line(d, &s);
        return 0;
}

/* index_line(d, line): "H 100644 ID 0\tPATH"; a small letter is assume-unchanged, S skip-worktree. */
static void index_line(struct dirty *d, char *line)
{
        char *tab = strchr(line, '\t'), *id = line;
        for (int i = 0; i < 2 && id; i++)
                id = (id = strchr(id, ' ')) ? id + 1 : NULL;
        if (!tab || !id || id > tab)
                return;
        const char *path = tab + 1;
        const struct git_path *to = dirty_meets(d, path);
        bool is_hidden = islower((unsigned char)line[0]) || line[0] == 'S';
        if (!to || !is_hidden || str_starts(line + 2, "160000 "))
                return;
        id[strcspn(id, " ")] = 0;
        _cleanup_free_ char *whole = str_fmt("%s/%s", d->repo->dir, path);
        struct stat st;
        if (lstat(whole, &st) < 0 || S_ISDIR(st.st_mode)) /* left out, or no work of anybody's */
                return;
        if (!dirty_is(d, path, id) && !dirty_is_kept(d, path, to))
                dirty_say(d, path, to, "changed");
}

static int dirty_index(struct dirty *d, struct err *err)
{
        static const char *const argv[] = {"ls-files", "-z", "-v", "-s", NULL};
        _cleanup_buf_ struct buf out = {.max = (size_t)1 << 30};
        if (land_host_ask(d->repo, argv, &out, err) < 0)
                return -1;
        buf_put_u8(&out, 0);
        for (char *line = (char *)out.data, *next; *line && !*d->why; line = next) {
                next = line + strlen(line) + 1;
                index_line(d, line);
        }
        return 0;
}

/* --- what git does not tell ---------------------------------------------------------------------- */

/* dirty_is_written(d, path): the box's own file lands there, and the host's was compared with it. */
static bool dirty_is_written(const struct dirty *d, const char *path)
{
        return d->box(d->arg, path) == GIT_LAND_BOX_OTHER;
}

/* place_last(d, to, st): something is where the commits bring ${to}, and git says nothing of it. */
static bool place_is_free(const struct dirty *d, const struct git_path *to, const struct stat *st)
{
        if (S_ISDIR(st->st_mode) && to->mode == DIRTY_GITLINK)
                return true; /* files in it were told one by one */
        return (!S_ISDIR(st->st_mode) && dirty_is(d, to->path, to->id)) ||
               dirty_is_written(d, to->path);
}

/* dirty_place(d, to): of a path that the host does not track: what is there, or in place of a
 * directory on the way to it? Ignored files are told nowhere else. */
static void dirty_place(struct dirty *d, const struct git_path *to)
{
        _cleanup_free_ char *part = str_dup(to->path);
        for (size_t len = strcspn(part, "/");; len += 1 + strcspn(part + len + 1, "/")) {
                bool is_last = !to->path[len];
                part[len] = 0;
                _cleanup_free_ char *whole = str_fmt("%s/%s", d->repo->dir, part);
                struct stat st;
                if (lstat(whole, &st) < 0)
                        return;
                if (is_last && !place_is_free(d, to, &st))
                        dirty_say(d, part, to, "changed");
                if (is_last)
                        return;
                const struct git_path *goes = git_paths_find(&d->repo->touched, part);
                bool is_told = goes && d->is_known[goes - d->repo->touched.v];
                if (!S_ISDIR(st.st_mode)) {
                        if (!is_told && !dirty_is_written(d, part))
                                dirty_say(d, part, to, "changed");
                        return;
                }
                part[len] = '/';
        }
}

int land_dirty(const struct git_repo *r, git_land_box_fn *box, void *arg, char **why,
               struct err *err)
{
        const struct git_paths *p = &r->touched;
        _cleanup_free_ bool *is_known = calloc(p->n + 1, sizeof *is_known);
        struct dirty d = {.repo = r, .box = box, .arg = arg, .is_known = is_known, .why = why};
        if (!is_known)
                str_no_memory();
        if (dirty_status(&d, err) < 0 || (!*why && dirty_index(&d, err) < 0))
                return -1;
        for (size_t i = 0; i < p->n && !*why; i++)
                if (p->v[i].mode && !is_known[i])
                        dirty_place(&d, &p->v[i]);
        return 0;
}
