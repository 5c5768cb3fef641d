/* outlog.c - the last megabytes a box's main command wrote, kept for `logs` and `attach`: two
 * files, `output` and the older `output.1`, so that a flood costs a bounded piece of disk (case:
 * log flood). Bytes are stored as they came; whoever shows them filters. */
#include "session/sup.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { OUTLOG_MAX = 4 << 20 };

int outlog_open(struct outlog *l, int dir_fd, struct err *err)
{
        struct stat st;
        l->dir_fd = dir_fd;
        l->fd = openat(dir_fd, "output", O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
                       0600);
        if (l->fd < 0 || fstat(l->fd, &st) < 0)
                return err_sys(err, "open the output log");
        l->len = (uint64_t)st.st_size;
        return 0;
}

void outlog_put(struct outlog *l, const void *p, size_t n)
{
        if (l->fd < 0)
                return;
        if (l->len + n > OUTLOG_MAX) {
                /* A full disk loses the log, never the box: output still reaches its clients. */
                close_fd(&l->fd);
                renameat(l->dir_fd, "output", l->dir_fd, "output.1");
                l->fd = openat(l->dir_fd, "output",
                               O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
                l->len = 0;
                if (l->fd < 0)
                        return;
        }
        if (fdio_write_all(l->fd, p, n) == 0)
                l->len += n;
}

void outlog_tail(struct outlog *l, size_t max, struct buf *b)
{
        if (l->fd < 0)
                return;
        off_t from = l->len > max ? (off_t)(l->len - max) : 0;
        size_t n = (size_t)(l->len - (uint64_t)from);
        uint8_t *at = n ? buf_room(b, n) : NULL;
        if (at && pread(l->fd, at, n, from) != (ssize_t)n)
                b->len = 0;
}

void outlog_close(struct outlog *l)
{
        close_fd(&l->fd);
}
