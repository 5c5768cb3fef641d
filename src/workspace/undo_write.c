/* undo_write.c - a record of undo, written: lines are collected, written in large pieces, and on
 * disk before anything they name is touched. Called by apply, undo and a live run's checkpoint. */
#include "base/beneath.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/kv.h"
#include "base/str.h"
#include "workspace/undo.h"
#include "workspace/undo_int.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

struct undo_writer {
        int undo_fd;
        int fd;
        uint64_t n;
        char temp[40];
        struct buf out;
        int failed; /* errno of a write that went wrong */
};

enum { FLUSH_AT = 1 << 18 };

int undo_store_open(const char *state, struct err *err)
{
        _cleanup_close_ int dir = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0)
                return err_sys(err, "open %s", state);
        _cleanup_close_ int objects = beneath_mkdirs(dir, "undo/objects", 0700, err);
        if (objects < 0)
                return -1;
        int fd = openat(dir, "undo", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? err_sys(err, "open the undo directory") : fd;
}

int undo_objects(int undo_fd, struct err *err)
{
        int fd = openat(undo_fd, "objects", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? err_sys(err, "open the kept contents") : fd;
}

int undo_lock(int undo_fd, struct err *err)
{
        _cleanup_close_ int fd =
                openat(undo_fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
                return err_sys(err, "open the lock of the undo directory");
        while (flock(fd, LOCK_EX) < 0)
                if (errno != EINTR)
                        return err_sys(err, "lock the undo directory");
        return take_fd(&fd);
}

void undo_field_put(struct buf *b, const char *text)
{
        for (; *text; text++) {
                if (*text == '\t')
                        buf_put_str(b, "\\t");
                else if (*text == '\\')
                        buf_put_str(b, "\\\\");
                else
                        buf_put_u8(b, (uint8_t)*text);
        }
}

static void flush(struct undo_writer *w)
{
        if (w->out.is_broken)
                w->failed = w->failed ? w->failed : ENOMEM;
        if (!w->failed && w->out.len && fdio_write_all(w->fd, w->out.data, w->out.len) < 0)
                w->failed = errno;
        w->out.len = 0;
}

static void put_fields(struct undo_writer *w, const char *key, struct buf *fields)
{
        if (fields->is_broken)
                w->out.is_broken = true;
        kv_put(&w->out, key, buf_cstr(fields));
        if (w->out.len >= FLUSH_AT)
                flush(w);
}

/* make_number(undo_fd): the directory of a number that nobody has had. */
static int make_number(int undo_fd, uint64_t *n, struct err *err)
{
        _cleanup_free_ uint64_t *numbers = NULL;
        size_t numbers_n;
        if (undo_numbers(undo_fd, &numbers, &numbers_n, err) < 0)
                return -1;
        *n = numbers_n ? numbers[0] : 0;
        char name[24];
        do {
                if (*n == UINT64_MAX)
                        return err_set(err, E_INPUT, "the undo directory has no number left");
                snprintf(name, sizeof name, "%" PRIu64, ++*n);
        } while (mkdirat(undo_fd, name, 0700) < 0 && errno == EEXIST);
        int fd = openat(undo_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? err_sys(err, "make a record of undo") : fd;
}

struct undo_writer *undo_begin(int undo_fd, const struct undo_head *h, struct err *err)
{
        uint64_t n, r[2];
        _cleanup_close_ int dir = make_number(undo_fd, &n, err);
        if (dir < 0)
                return NULL;
        _cleanup_close_ int fd =
                openat(dir, "record",
                       O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 || getrandom(r, sizeof r, 0) < 0) {
                err_sys(err, "make a record of undo");
                char name[24];
                snprintf(name, sizeof name, "%" PRIu64, n);
                (void)beneath_remove_tree(undo_fd, name, NULL);
                return NULL;
        }
        struct undo_writer *w = calloc(1, sizeof *w);
        if (!w)
                str_no_memory();
        w->undo_fd = undo_fd;
        w->n = n;
        w->fd = take_fd(&fd);
        snprintf(w->temp, sizeof w->temp, "%016" PRIx64 "%016" PRIx64, r[0], r[1]);
        kv_put(&w->out, "what", h->what);
        kv_put(&w->out, "box", h->box);
        kv_put(&w->out, "layer", h->layer);
        kv_put(&w->out, "root", h->root);
        buf_put_fmt(&w->out, "id %" PRIu64 ":%" PRIu64 "\n", h->dev, h->ino);
        kv_put_u64(&w->out, "when_us", clock_real_us());
        kv_put(&w->out, "temp", w->temp);
        if (h->of)
                kv_put_u64(&w->out, "of", h->of);
        return w;
}

struct undo_writer *undo_again(int undo_fd, uint64_t n, struct err *err)
{
        char path[48], last = '\n';
        struct stat st;
        snprintf(path, sizeof path, "%" PRIu64 "/record", n);
        _cleanup_close_ int fd = openat(undo_fd, path, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) < 0) {
                err_sys(err, "open record %" PRIu64 " of undo", n);
                return NULL;
        }
        struct undo_writer *w = calloc(1, sizeof *w);
        if (!w)
                str_no_memory();
        w->undo_fd = undo_fd;
        w->n = n;
        /* A line that a full disk or a kill cut off must not swallow the next one. */
        if (st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) == 1 && last != '\n')
                buf_put_u8(&w->out, '\n');
        w->fd = take_fd(&fd);
        return w;
}

uint64_t undo_number(const struct undo_writer *w)
{
        return w->n;
}

const char *undo_temp(const struct undo_writer *w)
{
        return w->temp;
}

void undo_add(struct undo_writer *w, const char *path, const struct undo_state *before,
              const struct undo_state *after)
{
        _cleanup_buf_ struct buf b = {0}, state = {0};
        undo_field_put(&b, path);
        buf_put_u8(&b, '\t');
        undo_state_put(&state, before);
        undo_field_put(&b, buf_cstr(&state));
        buf_put_u8(&b, '\t');
        state.len = 0;
        undo_state_put(&state, after);
        undo_field_put(&b, buf_cstr(&state));
        put_fields(w, "path", &b);
}

void undo_skip(struct undo_writer *w, const char *path)
{
        kv_put(&w->out, "skip", path);
        if (w->out.len >= FLUSH_AT)
                flush(w);
}

void undo_ref_add(struct undo_writer *w, const struct undo_ref *r)
{
        _cleanup_buf_ struct buf b = {0};
        undo_field_put(&b, r->tree);
        buf_put_u8(&b, '\t');
        undo_field_put(&b, r->name);
        buf_put_fmt(&b, "\t%s\t%s", *r->from ? r->from : "-", *r->to ? r->to : "-");
        put_fields(w, "ref", &b);
}

void undo_opened(struct undo_writer *w, const struct undo_shut *s)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_fmt(&b, "%o\t%" PRIu64 "\t", (unsigned)s->mode, s->ino);
        undo_field_put(&b, s->path);
        put_fields(w, "open", &b);
}

void undo_undone(struct undo_writer *w, uint64_t by, const char *path)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_fmt(&b, "%" PRIu64, by);
        if (path) {
                buf_put_u8(&b, '\t');
                undo_field_put(&b, path);
        }
        put_fields(w, "undone", &b);
}

void undo_swept(struct undo_writer *w)
{
        kv_put_bool(&w->out, "swept", true);
        flush(w);
        if (!w->failed)
                (void)fchmod(w->fd, UNDO_OVER);
}

int undo_sync(struct undo_writer *w, struct err *err)
{
        flush(w);
        errno = w->failed;
        if (w->failed)
                return err_sys(err, "write the record of undo");
        undo_disk_start(w->fd);
        return undo_disk_commit(w->fd, err) < 0 ? err_add(err, "write the record of undo") : 0;
}

int undo_done(struct undo_writer *w, struct err *err)
{
        kv_put_bool(&w->out, "done", true);
        flush(w);
        errno = w->failed;
        if (w->failed)
                return err_sys(err, "finish the record of undo");
        (void)fchmod(w->fd, UNDO_OVER);
        return 0;
}

void undo_close(struct undo_writer *w)
{
        if (!w)
                return;
        flush(w);
        close_fd(&w->fd);
        buf_free(&w->out);
        free(w);
}

void undo_drop(struct undo_writer *w)
{
        if (!w)
                return;
        char name[24];
        snprintf(name, sizeof name, "%" PRIu64, w->n);
        (void)beneath_remove_tree(w->undo_fd, name, NULL);
        w->out.len = 0;
        undo_close(w);
}
