/* tree_send.c - walk a directory and send it, without trusting it to stand still.
 *
 * Called in the box (to copy out) and in the CLI (to copy in). Every step is by descriptor: a
 * directory swapped for a link during the walk is not entered, and what was opened is looked at
 * after it is open (case 72). Sockets, FIFOs and devices are left out with a note. Memory is
 * bounded by the depth of the tree, not by its size. */
#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "base/strs.h"
#include "wire/tree_int.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* One directory on the way down. Above the window only its remaining names are kept. */
struct level {
        DIR *dir;
        struct strs left;
        size_t left_at;
        bool is_drained;
        bool is_linked; /* entered through a link: ".." leads elsewhere */
        dev_t dev;
        ino_t ino;
};

struct walk {
        int sock;
        int root_fd;
        const struct tree_opts *opts;
        struct tree_count *count;
        struct level *v;
        size_t n, cap;
        struct buf path;
        size_t kept_bytes; /* of all remaining names */
};

enum { KEPT_MAX = 64 << 20, OPEN_FLAGS = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC };

static void level_close(struct level *l)
{
        if (l->dir)
                closedir(l->dir);
        strs_free(&l->left);
        *l = (struct level){0};
}

static int lost(struct err *err)
{
        return err_sys(err, "send to the other side");
}

/* A record that says nothing else. */
static int send_bare(struct walk *w, uint32_t type, struct err *err)
{
        return frame_send_data(w->sock, type, NULL, 0) < 0 ? lost(err) : 0;
}

/* note(w, name, why, err): something is left out. On the user's side it is said at once, in the box
 * it travels. */
static int note(struct walk *w, const char *name, const char *why, struct err *err)
{
        _cleanup_free_ char *where = tree_path_words(&w->path, name);
        _cleanup_free_ char *words = str_fmt("%s %s", where, why);
        w->count->skipped++;
        if (w->opts->on_note) {
                w->opts->on_note(w->opts->arg, words);
                return 0;
        }
        _cleanup_buf_ struct buf b = {0};
        buf_put_lstr(&b, words);
        return frame_send(w->sock, TREE_NOTE, &b, NULL, 0) < 0 ? lost(err) : 0;
}

static int note_errno(struct walk *w, const char *name, struct err *err)
{
        if (errno == ENOENT || errno == ELOOP || errno == ENOTDIR)
                return note(w, name, "changed while it was copied and was left out.", err);
        _cleanup_free_ char *why = str_fmt("cannot be read and was left out: %s.", strerror(errno));
        return note(w, name, why, err);
}

static int send_entry(struct walk *w, uint32_t type, enum tree_kind kind, const struct stat *st,
                      const char *name, const char *target, struct err *err)
{
        struct tree_entry e = {.kind = kind,
                               .mode = st->st_mode & 0777,
                               .mtime_s = st->st_mtim.tv_sec,
                               .mtime_ns = (uint32_t)st->st_mtim.tv_nsec,
                               .size = kind == TREE_FILE ? (uint64_t)st->st_size : 0};
        snprintf(e.name, sizeof e.name, "%s", name);
        snprintf(e.target, sizeof e.target, "%s", target);
        _cleanup_buf_ struct buf b = {0};
        tree_entry_put(&b, &e);
        if (frame_send(w->sock, type, &b, NULL, 0) < 0)
                return lost(err);
        w->count->files++;
        if (w->opts->on_progress)
                w->opts->on_progress(w->opts->arg, w->count);
        return 0;
}

/* drain(w, l, err): close a directory far above and keep what it has left to visit. */
static int drain(struct walk *w, struct level *l, struct err *err)
{
        struct dirent *e;
        while ((errno = 0, e = readdir(l->dir))) {
                strs_add(&l->left, e->d_name);
                w->kept_bytes += strlen(e->d_name) + 32;
                if (w->kept_bytes > KEPT_MAX)
                        return err_set(err, E_INPUT,
                                       "The tree is too deep and too wide at the same time.");
        }
        if (errno)
                return err_sys(err, "read a directory");
        closedir(l->dir);
        l->dir = NULL;
        l->is_drained = true;
        return 0;
}

/* enter(w, &fd, st, name, is_linked, err): go down; the descriptor becomes the walk's. */
static int enter(struct walk *w, int *fd, const struct stat *st, const char *name, bool is_linked,
                 struct err *err)
{
        if (w->n == w->cap) {
                size_t cap = w->cap ? w->cap * 2 : 64;
                struct level *v = reallocarray(w->v, cap, sizeof *v);
                if (!v)
                        str_no_memory();
                w->v = v;
                w->cap = cap;
        }
        struct level *l = &w->v[w->n];
        *l = (struct level){.dev = st->st_dev, .ino = st->st_ino, .is_linked = is_linked};
        l->dir = fdopendir(*fd);
        if (!l->dir)
                return err_sys(err, "read a directory");
        take_fd(fd);
        w->n++;
        if (*name)
                tree_path_push(&w->path, name);
        if (w->n > TREE_WINDOW && w->v[w->n - 1 - TREE_WINDOW].dir)
                return drain(w, &w->v[w->n - 1 - TREE_WINDOW], err);
        return 0;
}

/* leave(w, err): the directory is done; the one above is opened again if it had to be closed. */
static int leave(struct walk *w, struct err *err)
{
        struct level *l = &w->v[w->n - 1];
        if (w->n > 1 && !w->v[w->n - 2].dir) {
                struct level *up = &w->v[w->n - 2];
                _cleanup_close_ int fd =
                        tree_reopen_parent(dirfd(l->dir), up->dev, up->ino, OPEN_FLAGS, err);
                if (fd < 0)
                        return -1;
                up->dir = fdopendir(fd);
                if (!up->dir)
                        return err_sys(err, "read a directory");
                take_fd(&fd);
        }
        level_close(l);
        w->n--;
        tree_path_pop(&w->path);
        return send_bare(w, TREE_UP, err);
}

/* visit_dir: a directory below; one that cannot be read is left out. */
static int visit_dir(struct walk *w, int *fd, const struct stat *st, const char *name,
                     bool is_linked, struct err *err)
{
        bool is_loop = false;
        for (size_t i = 0; is_linked && i < w->n; i++)
                is_loop |= w->v[i].dev == st->st_dev && w->v[i].ino == st->st_ino;
        if (is_loop)
                return note(w, name, "is a link to a directory above itself and was left out.",
                            err);
        if (w->n >= (w->opts->is_follow ? TREE_WINDOW : TREE_DEPTH_MAX))
                return note(w, name, "lies too deep and was left out.", err);
        const char *left = w->opts->leaves ? w->opts->leaves(*fd, name) : NULL;
        if (left)
                return note(w, name, left, err);
        if (send_entry(w, TREE_ENTRY, TREE_DIR, st, name, "", err) < 0)
                return -1;
        return enter(w, fd, st, name, is_linked, err);
}

static int visit_file(struct walk *w, int fd, const struct stat *st, const char *name,
                      struct err *err)
{
        if (send_entry(w, *name ? TREE_ENTRY : TREE_ROOT, TREE_FILE, st, name, "", err) < 0)
                return -1;
        int r = tree_send_file(w->sock, fd, (uint64_t)st->st_size, w->count, w->opts, err);
        if (r > 0)
                return note(w, name, "became shorter while it was copied and was left out.", err);
        return r;
}

/* visit_open: whatever was opened is looked at again before it counts. */
static int visit_open(struct walk *w, int *fd, const char *name, bool is_linked, struct err *err)
{
        struct stat st;
        if (fstat(*fd, &st) < 0)
                return note_errno(w, name, err);
        if (S_ISDIR(st.st_mode))
                return visit_dir(w, fd, &st, name, is_linked, err);
        if (S_ISREG(st.st_mode))
                return visit_file(w, *fd, &st, name, err);
        return note(w, name, "is neither file, directory nor link and was left out.", err);
}

/* follow(w, name, err): copy what a link points at. On the user's side it must lie in the tree that
 * he named, so the link is resolved from there (case 71). */
static int follow(struct walk *w, const char *name, struct err *err)
{
        struct stat st;
        int here = dirfd(w->v[w->n - 1].dir);
        _cleanup_close_ int fd = -1;
        if (w->opts->is_follow_any) {
                if (fstatat(here, name, &st, 0) < 0)
                        return note(w, name, "is a link to nothing and was left out.", err);
                if (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode))
                        fd = openat(here, name, OPEN_FLAGS);
        } else {
                _cleanup_free_ char *way =
                        str_fmt("%s%s%s", buf_cstr(&w->path), w->path.len ? "/" : "", name);
                _cleanup_close_ int at = beneath_open(w->root_fd, way, O_PATH, 0, NULL);
                if (at < 0)
                        return note(w, name,
                                    "is a link that leads to nothing or out of the tree and was "
                                    "left out.",
                                    err);
                if (fstat(at, &st) == 0 && (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)))
                        fd = beneath_open(w->root_fd, way, OPEN_FLAGS, 0, NULL);
        }
        if (fd < 0)
                return note(w, name, "is a link to something unreadable and was left out.", err);
        return visit_open(w, &fd, name, true, err);
}

static int visit_link(struct walk *w, const char *name, const struct stat *st, struct err *err)
{
        char target[PATH_MAX + 1];
        if (w->opts->is_follow)
                return follow(w, name, err);
        ssize_t n = readlinkat(dirfd(w->v[w->n - 1].dir), name, target, sizeof target - 1);
        if (n < 0)
                return note_errno(w, name, err);
        target[n] = 0;

        /* The receiver decides this again; here it is only said where somebody can read it. */
        if (w->opts->on_note && !tree_link_is_inside(target, w->n - 1)) {
                _cleanup_free_ char *why = str_fmt(
                        "is a link out of the copied tree, to %s, and was left out.", target);
                return note(w, name, why, err);
        }
        return send_entry(w, TREE_ENTRY, TREE_LINK, st, name, target, err);
}

static int visit(struct walk *w, const char *name, struct err *err)
{
        struct stat st;
        int here = dirfd(w->v[w->n - 1].dir);
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
                return 0;
        if (fstatat(here, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return note_errno(w, name, err);
        if (S_ISLNK(st.st_mode))
                return visit_link(w, name, &st, err);
        if (S_ISSOCK(st.st_mode))
                return note(w, name, "is a socket and was left out.", err);
        if (S_ISFIFO(st.st_mode))
                return note(w, name, "is a FIFO and was left out.", err);
        if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
                return note(w, name, "is a device and was left out.", err);

        _cleanup_close_ int fd = openat(here, name, OPEN_FLAGS | O_NOFOLLOW);
        if (fd < 0)
                return note_errno(w, name, err);
        return visit_open(w, &fd, name, false, err);
}

/* next_name(l): the next entry of the directory, NULL at its end; errno tells a failure. */
static const char *next_name(struct level *l)
{
        errno = 0;
        if (l->is_drained)
                return l->left_at < l->left.n ? l->left.v[l->left_at++] : NULL;
        struct dirent *e = readdir(l->dir);
        return e ? e->d_name : NULL;
}

static int walk_all(struct walk *w, struct err *err)
{
        while (w->n) {
                const char *name = next_name(&w->v[w->n - 1]);
                if (!name && errno)
                        return err_sys(err, "read a directory");
                if (name ? visit(w, name, err) < 0 : leave(w, err) < 0)
                        return -1;
        }
        return 0;
}

static int send_root(struct walk *w, struct err *err)
{
        struct stat st;
        if (fstat(w->root_fd, &st) < 0)
                return err_sys(err, "look at what is to be copied");
        if (S_ISREG(st.st_mode))
                return visit_file(w, w->root_fd, &st, "", err);
        if (!S_ISDIR(st.st_mode))
                return err_set(err, E_INPUT, "Only files and directories can be copied.");

        _cleanup_close_ int fd = openat(w->root_fd, ".", OPEN_FLAGS | O_DIRECTORY);
        if (fd < 0)
                return err_sys(err, "read the directory");
        const char *left = w->opts->leaves ? w->opts->leaves(fd, "") : NULL;
        if (left)
                return err_set(err, E_REFUSED, "It %s", left);
        if (send_entry(w, TREE_ROOT, TREE_DIR, &st, "", "", err) < 0 ||
            enter(w, &fd, &st, "", false, err) < 0)
                return -1;
        return walk_all(w, err);
}

/* answer(sock, err): what the receiver made of it. */
static int answer(int sock, struct err *err)
{
        _cleanup_free_ struct frame *f = malloc(sizeof *f);
        if (!f)
                str_no_memory();
        int r = frame_recv(sock, f, false);
        if (r <= 0)
                return err_set(err, E_PROTO, "The other side ended before the copy was complete.");
        uint32_t sys;
        char *words = NULL;
        if (f->type == TREE_ERROR && cur_u32(&f->body, &sys) == 0 &&
            cur_lstr(&f->body, TREE_SENTENCE_MAX, &words) == 0) {
                err_set(err, E_INPUT, "the box says: %s", words);
                r = -1;
        } else if (f->type != TREE_DONE) {
                r = err_set(err, E_PROTO, "The other side gave an answer that makes no sense.");
        } else {
                r = 0;
        }
        free(words);
        frame_release(f);
        return r;
}

int tree_send(int stream_fd, int root_fd, const struct tree_opts *opts, struct tree_count *count,
              struct err *err)
{
        struct walk w = {.sock = stream_fd, .root_fd = root_fd, .opts = opts, .count = count};
        int r = send_root(&w, err);
        if (r == 0)
                r = send_bare(&w, TREE_END, err);
        for (size_t i = 0; i < w.n; i++)
                level_close(&w.v[i]);
        free(w.v);
        buf_free(&w.path);

        if (r < 0 && err && (err->sys == EPIPE || err->sys == ECONNRESET)) {
                /* The receiver went away and left a sentence, which says more than "broken pipe".
                 */
                struct err said = {0};
                if (answer(stream_fd, &said) < 0 && said.code)
                        *err = said;
                return -1;
        }
        return r < 0 ? -1 : answer(stream_fd, err);
}

void tree_send_error(int stream_fd, const struct err *err)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, (uint32_t)err->sys);
        buf_put_lstr(&b, err->text);
        (void)frame_send(stream_fd, TREE_ERROR, &b, NULL, 0);
}
