/* walk_same.c - is a file that was touched still what it was? Called by the walk for pairs of files
 * and links. Bytes are compared in chunks, so memory is bounded; times are no content. */
#include "workspace/walk_int.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { CHUNK = 128 << 10 };

/* next_data(fd, at, end): where the next byte that is stored lies; ${end} when there is none. A
 * filesystem that knows no holes stores everything. */
static off_t next_data(int fd, off_t at, off_t end)
{
        off_t data = lseek(fd, at, SEEK_DATA);
        if (data < 0)
                return errno == ENXIO ? end : at;
        return data < end ? data : end;
}

int walk_same_bytes(int a_fd, int b_fd)
{
        struct stat a, b;
        if (fstat(a_fd, &a) < 0 || fstat(b_fd, &b) < 0)
                return -1;
        if (a.st_size != b.st_size)
                return 0;
        _cleanup_free_ char *space = malloc(2 * (size_t)CHUNK);
        if (!space)
                return -1;
        for (off_t at = 0; at < a.st_size;) {
                off_t da = next_data(a_fd, at, a.st_size), db = next_data(b_fd, at, a.st_size);
                at = da < db ? da : db;
                if (at >= a.st_size)
                        break;
                /* Chunks end at multiples of their size, however oddly the holes lie. */
                size_t n = (size_t)(CHUNK - at % CHUNK);
                if ((off_t)n > a.st_size - at)
                        n = (size_t)(a.st_size - at);
                ssize_t na = fdio_pread(a_fd, space, n, at);
                ssize_t nb = fdio_pread(b_fd, space + CHUNK, n, at);
                if (na < 0 || nb < 0)
                        return -1;
                if (na != nb || memcmp(space, space + CHUNK, (size_t)na) != 0)
                        return 0;
                if (na == 0)
                        break; /* both were cut meanwhile */
                at += na;
        }
        return 1;
}

static bool same_file(const struct walk_frame *f, const char *name, struct ws_change *c)
{
        struct err why = {0};
        if (c->before.dev == c->after.dev && c->before.ino == c->after.ino)
                return true;
        if (c->before.size != c->after.size)
                return false;
        _cleanup_close_ int a = ws_dir_file(f->after, name, &c->after, &why);
        if (a < 0) {
                if (why.sys == EACCES || why.sys == EPERM)
                        c->refused = WALK_UNREADABLE;
                return false;
        }
        _cleanup_close_ int b = ws_dir_file(f->before, name, &c->before, &why);
        return b >= 0 && walk_same_bytes(a, b) == 1;
}

static bool same_link(const struct walk_frame *f, const char *name, const struct ws_change *c)
{
        _cleanup_buf_ struct buf a = {0}, b = {0};
        if (ws_dir_link(f->after, name, &c->after, &a, NULL) < 0 ||
            ws_dir_link(f->before, name, &c->before, &b, NULL) < 0)
                return false;
        return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

bool walk_same(const struct walk_frame *f, const char *name, struct ws_change *c)
{
        switch (c->after.kind) {
        case WS_FILE:
                return same_file(f, name, c);
        case WS_LINK:
                return same_link(f, name, c);
        case WS_SPECIAL:
                return (c->before.mode & S_IFMT) == (c->after.mode & S_IFMT);
        case WS_NONE:
        case WS_DIR:
                break;
        }
        return true;
}
