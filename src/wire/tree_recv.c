/* tree_recv.c - receive a tree from a sender that may be lying, and make it below one directory.
 *
 * Called in the CLI (copying out of a box) and in the box (copying in). A record that does not fit
 * the state, a name that is more than one component, a file longer than announced: the copy ends.
 * Every name is used with a descriptor of its directory and never followed, so neither the sender
 * nor somebody who moves things about in the destination can lead a write elsewhere (cases 71, 72,
 * B3). Directories that exist keep their mode. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "wire/tree_int.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

void tree_recv_init(struct tree_recv *r, const struct tree_place *place,
                    const struct tree_opts *opts, struct tree_count *count)
{
        *r = (struct tree_recv){.place = place, .opts = opts, .count = count, .file_fd = -1};
}

void tree_recv_close(struct tree_recv *r)
{
        tree_recv_file_drop(r);
        for (size_t i = 0; i < r->levels_n; i++)
                close_fd(&r->levels[i].fd);
        free(r->levels);
        buf_free(&r->path);
        r->levels = NULL;
        r->levels_n = 0;
}

static int nonsense(struct err *err, const char *what)
{
        return err_set(err, E_PROTO, "The other side sent %s; the copy was ended.", what);
}

static int top_fd(const struct tree_recv *r)
{
        return r->levels[r->levels_n - 1].fd;
}

/* enter(r, &fd, e, is_new, err): the descriptor becomes the receiver's. */
static int enter(struct tree_recv *r, int *fd, const struct tree_entry *e, bool is_new,
                 struct err *err)
{
        struct stat st;
        if (r->levels_n >= TREE_DEPTH_MAX)
                return nonsense(err, "a tree that is too deep");
        if (fstat(*fd, &st) < 0)
                return err_sys(err, "look at the directory %s", e->name);
        if (r->levels_n == r->levels_cap) {
                size_t cap = r->levels_cap ? r->levels_cap * 2 : 64;
                struct tree_level *v = reallocarray(r->levels, cap, sizeof *v);
                if (!v)
                        str_no_memory();
                r->levels = v;
                r->levels_cap = cap;
        }
        r->levels[r->levels_n++] = (struct tree_level){
                .fd = take_fd(fd),
                .is_new = is_new,
                .dev = st.st_dev,
                .ino = st.st_ino,
                .mode = e->mode,
                .mtime = {.tv_sec = e->mtime_s, .tv_nsec = e->mtime_ns},
        };
        if (r->levels_n > 1)
                tree_path_push(&r->path, e->name);
        if (r->levels_n > TREE_WINDOW)
                close_fd(&r->levels[r->levels_n - 1 - TREE_WINDOW].fd);
        r->state = TREE_IN_DIR;
        r->count->files++;
        return 0;
}

/* make_dir(r, dir_fd, name, e, err): make the directory or take the one that is there. */
static int make_dir(struct tree_recv *r, int dir_fd, const char *name, const struct tree_entry *e,
                    struct err *err)
{
        _cleanup_free_ char *words = tree_path_words(&r->path, name);
        bool is_new = mkdirat(dir_fd, name, 0700) == 0;
        if (!is_new && errno != EEXIST)
                return err_sys(err, "make the directory %s", words);

        _cleanup_close_ int fd = openat(
                dir_fd, name, (is_new ? O_RDONLY : O_PATH) | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
                return err_set(err, E_INPUT,
                               "%s is there already and is not a directory; move it away first.",
                               words);
        if (fd < 0)
                return err_sys(err, "open the directory %s", words);
        if (is_new && r->opts->owner_uid != (uid_t)-1 &&
            fchown(fd, r->opts->owner_uid, r->opts->owner_gid) < 0)
                return err_sys(err, "give away the directory %s", words);
        return enter(r, &fd, e, is_new, err);
}

/* leave(r, err): mode and time of a directory are set last, or we could not write into it. */
static int leave(struct tree_recv *r, struct err *err)
{
        struct tree_level *l = &r->levels[r->levels_n - 1];
        if (r->levels_n > 1 && l[-1].fd < 0) {
                l[-1].fd = tree_reopen_parent(l->fd, l[-1].dev, l[-1].ino,
                                              l[-1].is_new ? O_RDONLY : O_PATH, err);
                if (l[-1].fd < 0)
                        return -1;
        }
        if (l->is_new) {
                struct timespec both[2] = {{.tv_nsec = UTIME_OMIT}, l->mtime};
                if (fchmod(l->fd, l->mode & 0777 & ~r->opts->mask) < 0)
                        return err_sys(err, "set the mode of a directory");
                (void)futimens(l->fd, both); /* a filesystem may not hold every time */
        }
        close_fd(&l->fd);
        r->levels_n--;
        if (r->levels_n)
                tree_path_pop(&r->path);
        else
                r->state = TREE_WANTS_END;
        return 0;
}

/* judged(r, dir_fd, e, err): what the caller says to an entry; see tree_opts. */
static int judged(struct tree_recv *r, int dir_fd, const struct tree_entry *e, struct err *err)
{
        if (!r->opts->judge)
                return 0;
        _cleanup_free_ char *path =
                str_fmt("%s%s%s", buf_cstr(&r->path), r->path.len ? "/" : "", e->name);
        return r->opts->judge(r->opts->arg, dir_fd, path, e, err);
}

/* left_out(r, verdict, e, err): it and what is below is taken off the stream. */
static int left_out(struct tree_recv *r, int verdict, const struct tree_entry *e, struct err *err)
{
        if (verdict < 0)
                return -1;
        if (!r->left_n)
                r->count->skipped++;
        if (e->kind == TREE_DIR) {
                if (r->levels_n + r->left_n >= TREE_DEPTH_MAX)
                        return nonsense(err, "a tree that is too deep");
                r->left_n++;
                r->state = TREE_IN_DIR;
        } else if (e->kind == TREE_FILE) {
                tree_recv_file_leave(r, e);
        }
        return 0;
}

static void left_up(struct tree_recv *r)
{
        if (--r->left_n == 0 && r->levels_n == 0)
                r->state = TREE_WANTS_END;
}

/* on_root: only now is it known whether a file or a directory comes, which decides its place. */
static int on_root(struct tree_recv *r, struct cur *c, struct err *err)
{
        const struct tree_place *p = r->place;
        struct tree_entry e;
        if (tree_entry_get(c, true, &e) < 0)
                return nonsense(err, "a root that makes no sense");

        if (e.kind == TREE_DIR && p->dir_fd >= 0 && !*p->base) {
                _cleanup_close_ int fd = openat(p->dir_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
                if (fd < 0)
                        return err_sys(err, "open the destination");
                return enter(r, &fd, &e, false, err);
        }
        int dir = p->dir_fd >= 0 ? p->dir_fd : p->parent_fd;
        const char *name = p->dir_fd >= 0 ? p->base : p->name;
        if (e.kind == TREE_DIR) {
                snprintf(e.name, sizeof e.name, "%s", name);
                int left = judged(r, dir, &e, err);
                return left ? left_out(r, left, &e, err) : make_dir(r, dir, name, &e, err);
        }
        if (p->dir_fd < 0 && p->wants_dir)
                return err_set(err, E_INPUT,
                               "%s/ is not a directory; make it first or leave the \"/\" out.",
                               name);
        if (!*name)
                return err_set(err, E_INPUT,
                               "The source is a file; name it without \"/.\" at its end.");
        snprintf(e.name, sizeof e.name, "%s", name);
        int left = judged(r, dir, &e, err);
        return left ? left_out(r, left, &e, err) : tree_recv_file_open(r, dir, &e, err);
}

static int on_entry(struct tree_recv *r, struct cur *c, struct err *err)
{
        struct tree_entry e;
        if (tree_entry_get(c, false, &e) < 0)
                return nonsense(err, "an entry that makes no sense");
        int left = r->left_n ? 1 : judged(r, top_fd(r), &e, err);
        if (left)
                return left_out(r, left, &e, err);
        switch (e.kind) {
        case TREE_DIR:
                return make_dir(r, top_fd(r), e.name, &e, err);
        case TREE_FILE:
                return tree_recv_file_open(r, top_fd(r), &e, err);
        case TREE_LINK:
                return tree_recv_link(r, top_fd(r), &e, err);
        }
        return nonsense(err, "an entry of an unknown kind");
}

static int on_note(struct tree_recv *r, struct cur *c, struct err *err)
{
        _cleanup_free_ char *words = NULL;
        if (cur_lstr(c, TREE_SENTENCE_MAX, &words) < 0 || c->left || !r->opts->on_note)
                return nonsense(err, "a note that makes no sense");
        _cleanup_free_ char *said = str_fmt("the box says: %s", words);
        r->count->skipped++;
        r->opts->on_note(r->opts->arg, said);
        return 0;
}

static int on_error(struct cur *c, struct err *err)
{
        _cleanup_free_ char *words = NULL;
        uint32_t sys;
        if (cur_u32(c, &sys) < 0 || cur_lstr(c, TREE_SENTENCE_MAX, &words) < 0 || c->left)
                return nonsense(err, "an error that makes no sense");
        return err_set(err, E_INPUT, "the box says: %s", words);
}

/* Which record fits which state; everything else ends the copy. */
static const struct {
        enum tree_type type;
        enum tree_state state;
} table[] = {
        {TREE_ROOT, TREE_WANTS_ROOT},  {TREE_ENTRY, TREE_IN_DIR},     {TREE_UP, TREE_IN_DIR},
        {TREE_DATA, TREE_IN_FILE},     {TREE_HOLE, TREE_IN_FILE},     {TREE_FILE_END, TREE_IN_FILE},
        {TREE_FILE_CUT, TREE_IN_FILE}, {TREE_END, TREE_WANTS_END},    {TREE_NOTE, TREE_IN_DIR},
        {TREE_NOTE, TREE_WANTS_END},   {TREE_ERROR, TREE_WANTS_ROOT}, {TREE_ERROR, TREE_IN_DIR},
        {TREE_ERROR, TREE_IN_FILE},    {TREE_ERROR, TREE_WANTS_END},
};

static bool fits(uint32_t type, enum tree_state state)
{
        for (size_t i = 0; i < sizeof table / sizeof *table; i++)
                if (table[i].type == type && table[i].state == state)
                        return true;
        return false;
}

int tree_recv_feed(struct tree_recv *r, uint32_t type, struct cur *body, struct err *err)
{
        if (!fits(type, r->state))
                return nonsense(err, "something out of turn");
        int got = 0;
        switch ((enum tree_type)type) {
        case TREE_ROOT:
                got = on_root(r, body, err);
                break;
        case TREE_ENTRY:
                got = on_entry(r, body, err);
                break;
        case TREE_DATA:
                got = tree_recv_file_data(r, body, err);
                break;
        case TREE_HOLE:
                got = tree_recv_file_hole(r, body, err);
                break;
        case TREE_FILE_END:
                got = body->left ? nonsense(err, "too much") : tree_recv_file_end(r, err);
                break;
        case TREE_FILE_CUT:
                tree_recv_file_drop(r);
                r->state = r->levels_n + r->left_n ? TREE_IN_DIR : TREE_WANTS_END;
                break;
        case TREE_UP:
                if (body->left)
                        got = nonsense(err, "too much");
                else if (r->left_n)
                        left_up(r);
                else
                        got = leave(r, err);
                break;
        case TREE_END:
                r->state = TREE_IS_DONE;
                return 1;
        case TREE_NOTE:
                got = on_note(r, body, err);
                break;
        case TREE_ERROR:
                got = on_error(body, err);
                break;
        case TREE_DONE:
                break;
        }
        if (got == 0 && r->opts->on_progress)
                r->opts->on_progress(r->opts->arg, r->count);
        return got;
}
