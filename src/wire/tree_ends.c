/* tree_ends.c - the four ends of a copy: two in the CLI, two in the box.
 *
 * The CLI's ends make every sentence printable, wherever it came from; the box's ends put their
 * failures into the stream. Sentences of the box are marked as such, so that it cannot speak in our
 * name (case 80). */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "wire/tree_int.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* --- receiving -------------------------------------------------------------------------------- */

static int receive(int stream_fd, const struct tree_place *place, const struct tree_opts *opts,
                   struct tree_count *count, struct err *err)
{
        _cleanup_free_ struct frame *f = malloc(sizeof *f);
        if (!f)
                str_no_memory();
        struct tree_recv r;
        tree_recv_init(&r, place, opts, count);
        int got = 0;
        while (got == 0) {
                int n = frame_recv(stream_fd, f, false);
                if (n <= 0) {
                        got = err_set(err, E_PROTO,
                                      "The other side ended before the copy was complete.");
                        break;
                }
                got = tree_recv_feed(&r, f->type, &f->body, err);
                frame_release(f);
        }
        tree_recv_close(&r);
        if (got < 0)
                return -1;
        (void)frame_send(stream_fd, TREE_DONE, NULL, NULL, 0);
        return 0;
}

/* --- in the CLI ------------------------------------------------------------------------------- */

/* make_printable(err): names in a sentence are the box's or those of files; neither may speak to
 * the terminal. */
static void make_printable(struct err *err)
{
        if (!err)
                return;
        _cleanup_free_ char *words = str_quote(err->text);
        snprintf(err->text, sizeof err->text, "%s", words);
}

static void quoted_note(void *arg, const char *sentence)
{
        const struct tree_opts *real = arg;
        _cleanup_free_ char *words = str_quote(sentence);
        if (real->on_note)
                real->on_note(real->arg, words);
}

static void same_progress(void *arg, const struct tree_count *count)
{
        const struct tree_opts *real = arg;
        real->on_progress(real->arg, count);
}

static int same_judge(void *arg, int dir_fd, const char *path, const struct tree_entry *e,
                      struct err *err)
{
        const struct tree_opts *real = arg;
        return real->judge(real->arg, dir_fd, path, e, err);
}

static struct tree_opts quoting(const struct tree_opts *real)
{
        struct tree_opts o = *real;
        o.on_note = quoted_note;
        o.on_progress = real->on_progress ? same_progress : NULL;
        o.judge = real->judge ? same_judge : NULL;
        o.arg = (void *)(uintptr_t)real;
        return o;
}

int tree_host_out(int stream_fd, const struct tree_place *place, const struct tree_opts *opts,
                  struct tree_count *count, struct err *err)
{
        struct tree_opts o = quoting(opts);
        int r = receive(stream_fd, place, &o, count, err);
        if (r < 0)
                make_printable(err);
        return r;
}

int tree_host_in(int stream_fd, int root_fd, const struct tree_opts *opts, struct tree_count *count,
                 struct err *err)
{
        struct tree_opts o = quoting(opts);
        struct err own = {0};
        int r = tree_send(stream_fd, root_fd, &o, count, err ? err : &own);
        if (r < 0)
                make_printable(err);
        return r;
}

/* --- in the box ------------------------------------------------------------------------------- */

static const struct tree_opts box_opts = {.owner_uid = (uid_t)-1, .owner_gid = (gid_t)-1};

static int open_source(const char *path, struct err *err)
{
        /* Looked at first: opening a device or a FIFO may do something. */
        struct stat st;
        if (stat(path, &st) < 0)
                return err_sys(err, "copy %s out of the box", path);
        if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
                return err_set(err, E_INPUT, "%s is neither a file nor a directory.", path);
        int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        return fd < 0 ? err_sys(err, "read %s in the box", path) : fd;
}

int tree_box_out(int stream_fd, const char *path, bool follow,
                 const char *(*leaves)(int dir_fd, const char *name))
{
        struct err err = {0};
        struct tree_opts o = box_opts;
        struct tree_count count = {0};
        o.is_follow = o.is_follow_any = follow;
        o.leaves = leaves;
        _cleanup_close_ int fd = open_source(*path ? path : ".", &err);
        if (fd >= 0 && tree_send(stream_fd, fd, &o, &count, &err) == 0)
                return 0;
        tree_send_error(stream_fd, &err);
        return 1;
}

static int plain_open_dir(void *arg, const char *path, struct err *err)
{
        (void)arg;
        int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0) {
                int saved = errno;
                err_sys(err, "open %s in the box", path);
                errno = saved;
        }
        return fd;
}

int tree_box_in(int stream_fd, const char *path, const char *base)
{
        struct err err = {0};
        struct tree_count count = {0};
        _cleanup_tree_place_ struct tree_place place = {.dir_fd = -1, .parent_fd = -1};
        if (tree_place_open(&place, path, base, plain_open_dir, NULL, &err) == 0 &&
            receive(stream_fd, &place, &box_opts, &count, &err) == 0)
                return 0;
        tree_send_error(stream_fd, &err);
        return 1;
}
