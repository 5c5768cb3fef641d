/* box_roots.c - see box_roots.h: reading and writing `roots`, and opening what it names. Called by
 * whoever looks at a box's changes, and by the supervisor, which writes the file. The box cannot
 * reach the file; it is read as if it could. */
#include "workspace/box_roots.h"

#include "base/beneath.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/kv.h"
#include "base/str.h"
#include "wire/tree.h"
#include "workspace/stack.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static const char *const kinds[] = {
        [WS_ROOT_COW] = "cow", [WS_ROOT_HOME] = "home", [WS_ROOT_LIVE] = "live"};
enum { KINDS_N = sizeof kinds / sizeof kinds[0], ROOTS_MAX = 1024, FILE_MAX = 16 << 20 };

static int damaged(struct err *err)
{
        return err_set(
                err, E_INPUT,
                "the list of the box's directories (roots) is damaged, so its changes cannot "
                "be told");
}

static struct ws_root *root_new(struct ws_roots *r)
{
        struct ws_root *more = reallocarray(r->v, r->n + 1, sizeof *more);
        if (!more)
                str_no_memory();
        r->v = more;
        r->v[r->n] = (struct ws_root){.host_fd = -1};
        return &r->v[r->n++];
}

/* cut(&at): the field up to the next tab, which is taken off. NULL when there is none. */
static char *cut(char **at)
{
        char *field = *at;
        char *tab = strchr(field, '\t');
        if (!tab)
                return NULL;
        *tab = 0;
        *at = tab + 1;
        return field;
}

static int parse_line(struct ws_roots *r, char *value, struct err *err)
{
        char *name = cut(&value);
        char *kind = name ? cut(&value) : NULL;
        char *id = kind ? cut(&value) : NULL;
        char *since = id ? cut(&value) : NULL;
        char *colon = since ? strchr(id, ':') : NULL;
        uint64_t dev, ino, ns;
        size_t k = 0;
        if (!colon || !tree_name_is_one(name) || r->n >= ROOTS_MAX)
                return damaged(err);
        *colon = 0;
        while (k < KINDS_N && strcmp(kinds[k], kind) != 0)
                k++;
        if (k == KINDS_N || str_u64(id, &dev) < 0 || str_u64(colon + 1, &ino) < 0 ||
            str_u64(since, &ns) < 0 || ns > INT64_MAX || (*value && *value != '/'))
                return damaged(err);
        for (size_t i = 0; i < r->n; i++)
                if (strcmp(r->v[i].name, name) == 0)
                        return damaged(err);
        struct ws_root *root = root_new(r);
        root->name = str_dup(name);
        root->kind = (enum ws_root_kind)k;
        root->host = str_dup(value);
        root->dev = dev;
        root->ino = ino;
        root->since_ns = (int64_t)ns;
        return 0;
}

bool ws_root_is_git(const struct ws_root *r)
{
        return str_starts(r->name, "git") && isdigit((unsigned char)r->name[3]);
}

int ws_roots_parse(struct ws_roots *r, char *text, struct err *err)
{
        size_t len = strlen(text), lines_n = 0, had_n = r->n;
        char *key, *value;
        if (len && text[len - 1] != '\n')
                return damaged(err);
        for (const char *p = text; (p = strchr(p, '\n')); p++)
                lines_n++;
        while (kv_next(&text, &key, &value))
                if (strcmp(key, "root") != 0 || parse_line(r, value, err) < 0)
                        return damaged(err);
        return r->n - had_n == lines_n ? 0 : damaged(err);
}

int ws_roots_write(int box_dir_fd, const struct ws_roots *r, struct err *err)
{
        _cleanup_buf_ struct buf b = {.max = FILE_MAX};
        for (size_t i = 0; i < r->n; i++) {
                const struct ws_root *root = &r->v[i];
                _cleanup_free_ char *line =
                        str_fmt("%s\t%s\t%" PRIu64 ":%" PRIu64 "\t%" PRId64 "\t%s", root->name,
                                kinds[root->kind], root->dev, root->ino, root->since_ns,
                                root->host ? root->host : "");
                kv_put(&b, "root", line);
        }
        if (b.is_broken)
                return err_set(err, E_INPUT, "the box has too many directories");
        return fdio_write_file(box_dir_fd, "roots", buf_cstr(&b), 0600, err);
}

static void keep_fd(struct ws_roots *r, int fd)
{
        int *more = reallocarray(r->fds, r->fds_n + 1, sizeof *more);
        if (!more)
                str_no_memory();
        r->fds = more;
        r->fds[r->fds_n++] = fd;
}

void ws_roots_free(struct ws_roots *r)
{
        for (size_t i = 0; i < r->n; i++) {
                struct ws_root *root = &r->v[i];
                free(root->name);
                free(root->host);
                ws_view_free(&root->before);
                ws_view_free(&root->after);
        }
        for (size_t i = 0; i < r->fds_n; i++)
                close(r->fds[i]);
        free(r->v);
        free(r->fds);
        *r = (struct ws_roots){0};
}

bool ws_roots_is_same(int fd, uint64_t dev, uint64_t ino, int64_t since_ns)
{
        struct statx x;
        if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &x) < 0 || x.stx_ino != ino)
                return false;
        if (makedev(x.stx_dev_major, x.stx_dev_minor) == dev)
                return true;
        int64_t born_ns = (int64_t)x.stx_btime.tv_sec * 1000000000 + x.stx_btime.tv_nsec;
        return (x.stx_mask & STATX_BTIME) && born_ns <= since_ns;
}

/* host_open(r, root): the directory as it is now, if it still is the one. */
static void host_open(struct ws_roots *r, struct ws_root *root)
{
        if (!root->host[0])
                return;
        _cleanup_close_ int fd = open(root->host, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0) {
                root->gone = errno == ENOENT    ? "was deleted or moved"
                             : errno == ENOTDIR ? "is no directory any more"
                                                : "cannot be opened";
                return;
        }
        if (!ws_roots_is_same(fd, root->dev, root->ino, root->since_ns)) {
                root->gone = "is another directory now";
                return;
        }
        root->host_fd = take_fd(&fd);
        keep_fd(r, root->host_fd);
}

/* The uppers of a box that never started are not there yet (a fork): then there are no layers at
 * all. An upper that is missing alone was just frozen, when the newest entry has it, or is lost. */
static int upper_open(int box_dir_fd, const char *name, bool is_in_newest, struct err *err)
{
        _cleanup_free_ char *path = str_fmt("layers/%s/upper", name);
        int fd = beneath_open_nosym(box_dir_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, NULL);
        if (fd >= 0)
                return fd;
        int why = errno;
        if (why == ENOENT && is_in_newest)
                return -1;
        struct stat st;
        if (why == ENOENT &&
            (fstatat(box_dir_fd, "layers", &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_nlink == 2))
                return -1;
        errno = why;
        err_sys(err, "open the layer %s of the box", name);
        err_hint(err, "what the box changed there is lost or damaged; ostiary rm removes the box");
        return -1;
}

/* frozen_open(r, root, frozen_fd, entry, fd, err): -1 in ${fd} when the entry has no such layer. */
static int frozen_open(struct ws_roots *r, const struct ws_root *root, int frozen_fd,
                       const struct stack_entry *e, int *fd, struct err *err)
{
        struct err why = {0};
        *fd = stack_open(frozen_fd, e->id, root->name, &why);
        if (*fd >= 0) {
                keep_fd(r, *fd);
        } else if (why.sys != ENOENT || why.code == E_INPUT) {
                if (err)
                        *err = why;
                return err_add(err, "open the layer %s below the box", root->name);
        }
        return 0;
}

/* Which entries of the stack are the change, and which lie below it; the upper is entry s->n. */
struct span {
        size_t from, to;
};

static int span_of(const struct stack *s, unsigned turn, struct span *span, struct err *err)
{
        *span = (struct span){.from = 0, .to = s->n};
        if (turn == 0)
                return 0;
        size_t at = stack_turn(s, turn);
        /* The turn that is under way, or was the last one, is still in the upper. */
        if (at == s->n && turn > 1 && stack_turn(s, turn - 1) == s->n)
                return err_set(err, E_ABSENT, "the box had no turn %u", turn);
        *span = (struct span){.from = at, .to = at};
        return 0;
}

static int root_open(struct ws_roots *r, struct ws_root *root, int box_dir_fd, int frozen_fd,
                     const struct stack *s, const struct span *span, struct err *err)
{
        host_open(r, root);
        if (root->kind == WS_ROOT_LIVE) { /* the box writes to the host directory itself */
                if (root->host_fd >= 0) {
                        ws_view_add(&root->before, root->host_fd, false);
                        ws_view_add(&root->after, root->host_fd, false);
                }
                return 0;
        }
        bool is_in_newest = false;
        _cleanup_free_ int *fds = calloc(s->n + 1, sizeof *fds);
        if (!fds)
                str_no_memory();
        for (size_t i = 0; i < s->n; i++)
                if (frozen_open(r, root, frozen_fd, &s->v[i], &fds[i], err) < 0)
                        return -1;
        if (s->n)
                is_in_newest = fds[s->n - 1] >= 0;
        struct err why = {0};
        fds[s->n] = upper_open(box_dir_fd, root->name, is_in_newest, &why);
        if (fds[s->n] >= 0)
                keep_fd(r, fds[s->n]);
        if (why.code != E_NONE) {
                if (err)
                        *err = why;
                return -1;
        }

        /* Without a directory of the host below, the lowest layer was no overlay: a home's upper
         * was bound as it is, and what looks like a mark in it was written by the box. */
        size_t plain = s->n + 1;
        for (size_t i = 0; i <= s->n && !root->host[0] && plain > s->n; i++)
                if (fds[i] >= 0)
                        plain = i;
        for (size_t i = span->to + 1; i-- > 0;) {
                if (fds[i] < 0)
                        continue;
                ws_view_add(&root->after, fds[i], i != plain);
                if (i < span->from)
                        ws_view_add(&root->before, fds[i], i != plain);
                else
                        root->top_n++;
        }
        if (root->host_fd >= 0) {
                ws_view_add(&root->after, root->host_fd, false);
                ws_view_add(&root->before, root->host_fd, false);
        }
        return 0;
}

/* Hundreds of layers of several roots are open at once, and the walk adds its own. */
static void want_fds(size_t n)
{
        struct rlimit lim;
        n += 1024;
        if (getrlimit(RLIMIT_NOFILE, &lim) < 0 || lim.rlim_cur >= n)
                return;
        lim.rlim_cur = lim.rlim_max < n ? lim.rlim_max : n;
        (void)setrlimit(RLIMIT_NOFILE, &lim); /* the open that fails will say so */
}

int ws_roots_open(struct ws_roots *r, int box_dir_fd, int frozen_fd, unsigned turn, struct err *err)
{
        *r = (struct ws_roots){0};
        _cleanup_stack_ struct stack s = {0};
        struct span span;
        _cleanup_free_ char *text = fdio_read_file(box_dir_fd, "roots", FILE_MAX, err);
        if (!text) {
                if (err && err->sys == ENOENT)
                        return err_set(err, E_ABSENT,
                                       "the box has no list of its directories: it never started, "
                                       "or was made by an older version");
                return -1;
        }
        if (ws_roots_parse(r, text, err) < 0 || stack_read(box_dir_fd, "stack", &s, err) < 0 ||
            span_of(&s, turn, &span, err) < 0)
                goto fail;
        if (s.n * r->n > 256)
                want_fds((s.n + 1) * r->n);
        for (size_t i = 0; i < r->n; i++)
                if (root_open(r, &r->v[i], box_dir_fd, frozen_fd, &s, &span, err) < 0)
                        goto fail;
        for (size_t i = 0; i < r->n; i++) {
                if (r->v[i].kind == WS_ROOT_LIVE)
                        continue;
                ws_view_keep(&r->v[i].before);
                ws_view_keep(&r->v[i].after);
        }
        return 0;
fail:
        ws_roots_free(r);
        return -1;
}
