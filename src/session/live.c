/* live.c - see live.h: a live workspace is looked through before the box starts. Called by start.c
 * after the plan is made and secrets are masked. It writes nothing into the user's tree. */
#include "session/live.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/changes.h"
#include "workspace/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- what the box may not change -------------------------------------------------------------- */

struct scan {
        struct session_plan *plan;
        struct live *live;
        struct live_tree *tree;
        const char *inert; /* a file without content */
        char *shown_path;  /* the directory that is shown read-only, while we are in it */
        bool has_aliases;  /* of what is protected there are other names */
        bool is_quiet, is_told;
        uint64_t entries_n;
        time_t begun;
        struct err *err;
};

/* scan_tell(s): a large tree takes a while; say what takes it. */
static void scan_tell(struct scan *s)
{
        enum { EVERY = 4096, AFTER_S = 2 };
        if (s->is_quiet || ++s->entries_n % EVERY != 0 || time(NULL) - s->begun < AFTER_S)
                return;
        if (isatty(STDERR_FILENO))
                fprintf(stderr, "\r\033[Kostiary: looking through %s (%" PRIu64 " entries)",
                        s->tree->root, s->entries_n);
        else if (!s->is_told)
                fprintf(stderr, "ostiary: looking through %s, which the box may write to\n",
                        s->tree->root);
        s->is_told = true;
}

static void scan_told(const struct scan *s)
{
        if (s->is_told && isatty(STDERR_FILENO))
                fprintf(stderr, "\r\033[K");
}

static bool is_mounted(const struct box_plan *b, const char *target)
{
        for (size_t i = 0; i < b->mounts_n; i++)
                if (strcmp(b->mounts[i].target, target) == 0)
                        return true;
        return false;
}

static int show(struct scan *s, enum box_mount_kind kind, const char *source, const char *path,
                const char *why)
{
        _cleanup_free_ char *target = str_fmt("%s/%s", s->tree->root, path);
        /* A mask over secrets is in its place already, and read-only too. */
        if (is_mounted(&s->plan->box, target))
                return 0;
        if (s->live->shown_n + s->live->masked_n >= LIVE_SHOWN_MAX) {
                err_set(s->err, E_REFUSED,
                        "%s has more than %d files and directories that a live box would have to "
                        "be kept from",
                        s->tree->root, LIVE_SHOWN_MAX);
                return err_hint(s->err, "leave --live away: copy-on-write has no such limit");
        }
        box_plan_mount(&s->plan->box, kind, source ? source : target, target, NULL, why);
        return 0;
}

static void know(struct live_tree *t, const char *path, const struct stat *st)
{
        if ((t->known_n & (t->known_n - 1)) == 0) {
                struct live_known *v =
                        reallocarray(t->known, t->known_n ? 2 * t->known_n : 1, sizeof *v);
                if (!v)
                        str_no_memory();
                t->known = v;
        }
        t->known[t->known_n++] = (struct live_known){
                .path = str_dup(path),
                .ino = st->st_ino,
                .ctime_ns = (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec,
                .is_shown = S_ISREG(st->st_mode)};
}

/* Is it of a guarded class by where it lies, whatever it holds now? */
static bool is_guarded(struct scan *s, const char *path, const struct stat *st, bool is_git_dir)
{
        struct file_class_verdict v;
        if (is_git_dir)
                return false;
        classify_place(s->tree->classify, path,
                       S_ISDIR(st->st_mode)   ? WS_DIR
                       : S_ISREG(st->st_mode) ? WS_FILE
                                              : WS_LINK,
                       &v);
        return live_is_guarded(v.class);
}

static int on_entry(void *ctx, const char *path, const struct stat *st)
{
        struct scan *s = ctx;
        const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
        bool is_dir = S_ISDIR(st->st_mode), is_git_dir = is_dir && strcmp(name, ".git") == 0;
        bool is_in = s->shown_path && str_is_beneath(path, s->shown_path);
        scan_tell(s);
        live_modes_note(s->tree, path, st);
        if (is_dir && live_is_installed(path))
                return 1;
        if (is_dir)
                strs_add(&s->tree->dirs, path);
        if (!is_in) {
                free(s->shown_path);
                s->shown_path = NULL;
        }
        if (S_ISSOCK(st->st_mode) || S_ISFIFO(st->st_mode)) {
                s->live->masked_n++;
                return show(s, BOX_MOUNT_FILE, s->inert, path, "masked: a socket or FIFO");
        }
        /* Being a mount, a git directory cannot be renamed, and another put in its place. */
        if (is_git_dir && !is_in) {
                s->live->shown_n++;
                return show(s, BOX_MOUNT_LIVE, NULL, path, "git directory, held in its place");
        }
        bool is_ours = is_guarded(s, path, st, is_git_dir);
        if (is_ours && !is_dir) {
                know(s->tree, path, st);
                s->has_aliases |= S_ISREG(st->st_mode) && st->st_nlink > 1;
        }
        if (!is_ours || is_in)
                return 0;
        if (is_dir)
                s->shown_path = str_dup(path);
        else if (!S_ISREG(st->st_mode))
                return 0; /* a link cannot be mounted over; it is watched */
        s->live->shown_n++;
        return show(s, BOX_MOUNT_SHIELD, NULL, path, "protected in a live workspace");
}

/* case 73: another name of a protected file would be a way to write to it. */
static int on_alias(void *ctx, const char *path, const struct stat *st)
{
        struct scan *s = ctx;
        if (S_ISDIR(st->st_mode))
                return 0;
        for (size_t i = 0; S_ISREG(st->st_mode) && st->st_nlink > 1 && i < s->tree->known_n; i++) {
                if (s->tree->known[i].ino != st->st_ino)
                        continue;
                s->live->shown_n++;
                return show(s, BOX_MOUNT_SHIELD, NULL, path,
                            "protected in a live workspace: another name of a protected file");
        }
        return 0;
}

/* --- the trees -------------------------------------------------------------------------------- */

static int by_known(const void *a, const void *b)
{
        return strcmp(((const struct live_known *)a)->path, ((const struct live_known *)b)->path);
}

static int by_target(const void *a, const void *b)
{
        return strcmp(((const struct box_mount *)a)->target, ((const struct box_mount *)b)->target);
}

static int add_tree(struct live *l, const struct box_mount *m, bool is_workspace, struct err *err)
{
        _cleanup_close_ int fd = open(m->source, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return errno == ENOTDIR ? 0 : err_sys(err, "open %s", m->source);
        if (l->n == LIVE_TREES_MAX)
                return err_set(err, E_INPUT,
                               "a box may write to %d directories of the host at most",
                               LIVE_TREES_MAX);
        struct live_tree *v = reallocarray(l->v, l->n + 1, sizeof *v);
        if (!v)
                str_no_memory();
        l->v = v;
        l->v[l->n++] = (struct live_tree){
                .root = str_dup(m->source), .fd = take_fd(&fd), .is_workspace = is_workspace};
        return 0;
}

static void open_trees(struct live *l)
{
        /* Only now: the array does not move any more. */
        for (size_t i = 0; i < l->n; i++) {
                struct live_tree *t = &l->v[i];
                t->ws = (struct ws_root){.kind = WS_ROOT_LIVE, .host = t->root, .host_fd = t->fd};
                ws_view_add(&t->ws.after, t->fd, false);
                t->classes = l->classes;
                t->classify = classify_new(&t->ws, l->classes);
        }
}

static void progress(void *arg, uint64_t files_n, uint64_t bytes)
{
        char words[16];
        (void)arg;
        if (isatty(STDERR_FILENO))
                fprintf(stderr, "\r\033[Kostiary: keeping %" PRIu64 " files as they are (%s read)",
                        files_n, str_size_words(bytes, words));
}

static int take_checkpoint(struct live_tree *t, const struct store *store, const char *id,
                           size_t index, bool is_quiet, struct err *err)
{
        _cleanup_strs_ struct strs left = {0};
        char layer[24] = "ws";
        if (index > 0)
                snprintf(layer, sizeof layer, "git%zu", index - 1);
        struct checkpoint_ask ask = {.state = store->state,
                                     .box = id,
                                     .layer = layer,
                                     .root = t->root,
                                     .on_progress = is_quiet ? NULL : progress};
        t->checkpoint = checkpoint_take(&ask, &left, err);
        if (!is_quiet && isatty(STDERR_FILENO))
                fprintf(stderr, "\r\033[K");
        if (!t->checkpoint)
                return -1;
        for (size_t i = 0; !is_quiet && i < left.n; i++) {
                char *tab = strrchr(left.v[i], '\t');
                if (i == 5) {
                        fprintf(stderr, "ostiary: and %zu more are not covered\n", left.n - i);
                        break;
                }
                *tab = '\0';
                _cleanup_free_ char *q = str_quote(left.v[i]);
                fprintf(stderr, "ostiary: undo will not cover %s: it %s\n", q, tab + 1);
        }
        return 0;
}

/* inert_file(dir_fd, plan, err): an empty file beside the box, that is bound over what is masked.
 */
static char *inert_file(int dir_fd, const struct session_plan *plan, struct err *err)
{
        if (mkdirat(dir_fd, "masks", 0711) < 0 && errno != EEXIST) {
                err_sys(err, "make room for masks");
                return NULL;
        }
        _cleanup_close_ int fd =
                openat(dir_fd, "masks/inert", O_CREAT | O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0444);
        _cleanup_free_ char *path = str_fmt("%s/../masks/inert", plan->layers_dir);
        char *real = fd < 0 ? NULL : realpath(path, NULL);
        if (!real)
                err_sys(err, "make an empty file to mask others with");
        return real;
}

/* look_through(plan, store, l, dir_fd): the trees, and the mounts that they need. ${dir_fd} -1:
 * nothing is made. */
static int look_through(struct session_plan *plan, const struct store *store, struct live *l,
                        int dir_fd, bool is_quiet, struct err *err)
{
        size_t mounts_n = plan->box.mounts_n;
        for (size_t i = 0; i < mounts_n; i++) {
                const struct box_mount *m = &plan->box.mounts[i];
                if (m->kind != BOX_MOUNT_LIVE || !m->source ||
                    strcmp(m->target, plan->box.home) == 0)
                        continue;
                bool is_ours = plan->workspace && strcmp(m->source, plan->workspace) == 0;
                if (add_tree(l, m, is_ours || str_starts(m->why, "git directory"), err) < 0)
                        return -1;
        }
        if (l->n == 0)
                return 0;
        l->classes = changes_classes(store, err);
        if (!l->classes)
                return -1;
        open_trees(l);
        _cleanup_free_ char *inert =
                dir_fd < 0 ? str_dup("an empty file") : inert_file(dir_fd, plan, err);
        if (!inert)
                return -1;
        for (size_t i = 0; i < l->n; i++) {
                struct live_tree *t = &l->v[i];
                struct scan s = {.plan = plan,
                                 .live = l,
                                 .tree = t,
                                 .inert = inert,
                                 .is_quiet = is_quiet,
                                 .begun = time(NULL),
                                 .err = err};
                live_modes_begin(t);
                int r = live_walk(t->fd, "", LIVE_ENTRIES_MAX, on_entry, &s);
                live_modes_noted(t);
                free(s.shown_path);
                scan_told(&s);
                if (r == 0 && s.has_aliases)
                        r = live_walk(t->fd, "", LIVE_ENTRIES_MAX, on_alias, &s);
                if (r < 0 && err->code)
                        return -1;
                if (r < 0)
                        return err_set(err, E_REFUSED,
                                       "%s is too large to be looked through, which a directory "
                                       "that a box writes to needs; show it copy-on-write instead",
                                       t->root);
                if (t->known_n)
                        qsort(t->known, t->known_n, sizeof *t->known, by_known);
        }
        qsort(plan->box.mounts, plan->box.mounts_n, sizeof *plan->box.mounts, by_target);
        return 0;
}

int live_prepare(struct session_plan *plan, const struct store *store, const char *id, int dir_fd,
                 bool is_quiet, struct live *l, struct err *err)
{
        size_t index = 0;
        *l = (struct live){0};
        if (look_through(plan, store, l, dir_fd, is_quiet, err) < 0)
                return -1;
        for (size_t i = 0; i < l->n; i++)
                if (l->v[i].is_workspace &&
                    take_checkpoint(&l->v[i], store, id, index++, is_quiet, err) < 0)
                        return -1;
        return 0;
}

int live_tell(struct session_plan *plan, const struct store *store, struct err *err)
{
        struct live l = {0};
        int r = look_through(plan, store, &l, -1, true, err);
        live_free(&l);
        return r;
}

void live_drop(struct live *l)
{
        for (size_t i = 0; i < l->n; i++)
                if (l->v[i].checkpoint)
                        checkpoint_drop(l->v[i].checkpoint);
}

size_t live_fds(const struct live *l, int to[LIVE_FDS_MAX])
{
        size_t n = 0;
        for (size_t i = 0; i < l->n; i++) {
                to[n++] = l->v[i].fd;
                if (l->v[i].checkpoint)
                        n += checkpoint_fds(l->v[i].checkpoint, to + n);
        }
        return n;
}

void live_free(struct live *l)
{
        for (size_t i = 0; i < l->n; i++) {
                struct live_tree *t = &l->v[i];
                for (size_t k = 0; k < t->known_n; k++)
                        free(t->known[k].path);
                free(t->known);
                free(t->wide);
                strs_free(&t->dirs);
                classify_free(t->classify);
                ws_view_free(&t->ws.after);
                checkpoint_free(t->checkpoint);
                close_fd(&t->fd);
                free(t->root);
        }
        free(l->v);
        file_classes_free(l->classes);
        *l = (struct live){0};
}
