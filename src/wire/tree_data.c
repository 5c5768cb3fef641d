/* tree_data.c - send the bytes of one file, holes as holes.
 *
 * Called by tree_send.c after the file's entry. Sends exactly the announced number of bytes or says
 * that the file was cut; a file that grows meanwhile is sent up to the size it had. */
#include "base/err.h"
#include "wire/tree_int.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int send_hole(int sock, uint64_t n, struct err *err)
{
        struct buf b = {0};
        buf_put_u64(&b, n);
        int r = frame_send(sock, TREE_HOLE, &b, NULL, 0);
        buf_free(&b);
        return r < 0 ? err_sys(err, "send to the other side") : 0;
}

/* send_run(sock, fd, at, end): data up to ${end}. 0 all of it, 1 the file ended early, -1. */
static int send_run(int sock, int fd, uint64_t *at, uint64_t end, struct tree_count *count,
                    const struct tree_opts *opts, struct err *err)
{
        uint8_t chunk[TREE_DATA_MAX];
        while (*at < end) {
                size_t want = end - *at < sizeof chunk ? (size_t)(end - *at) : sizeof chunk;
                ssize_t r = pread(fd, chunk, want, (off_t)*at);
                if (r < 0 && errno == EINTR)
                        continue;
                if (r < 0)
                        return err_sys(err, "read a file");
                if (r == 0)
                        return 1;
                if (frame_send_data(sock, TREE_DATA, chunk, (size_t)r) < 0)
                        return err_sys(err, "send to the other side");
                *at += (uint64_t)r;
                count->bytes += (uint64_t)r;
                if (opts->on_progress)
                        opts->on_progress(opts->arg, count);
        }
        return 0;
}

int tree_send_file(int sock, int fd, uint64_t size, struct tree_count *count,
                   const struct tree_opts *opts, struct err *err)
{
        struct stat st;
        uint64_t at = 0;
        int r = 0;
        bool has_holes = fstat(fd, &st) == 0 && (uint64_t)st.st_blocks * 512 < size;

        while (r == 0 && at < size) {
                uint64_t data = at, end = size;
                if (has_holes) {
                        off_t d = lseek(fd, (off_t)at, SEEK_DATA);
                        off_t h = d < 0 ? -1 : lseek(fd, d, SEEK_HOLE);
                        if (d < 0 && errno == ENXIO)
                                data = size;
                        else if (d >= 0)
                                data = (uint64_t)d < size ? (uint64_t)d : size;
                        if (h >= 0 && (uint64_t)h < size && (uint64_t)h > data)
                                end = (uint64_t)h;
                }
                if (data > at) {
                        if (send_hole(sock, data - at, err) < 0)
                                return -1;
                        at = data;
                }
                r = send_run(sock, fd, &at, end, count, opts, err);
        }
        if (r < 0)
                return -1;
        if (frame_send_data(sock, r ? TREE_FILE_CUT : TREE_FILE_END, NULL, 0) < 0)
                return err_sys(err, "send to the other side");
        return r;
}
