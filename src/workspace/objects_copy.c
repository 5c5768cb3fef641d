/* objects_copy.c - the content of one file into another, hashed on the way.
 *
 * Used for what is kept for undo and for what is applied: so a file larger than memory, or one
 * that is nearly all holes, costs what it holds. The source may be written to meanwhile: the hash
 * is of the bytes that were copied. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "workspace/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 18 };

/* add_zeros(h, n): what a hole reads as. */
static void add_zeros(struct sha256 *h, const uint8_t *zeros, uint64_t n)
{
        for (; n; n -= n < CHUNK ? n : CHUNK)
                sha256_add(h, zeros, n < CHUNK ? (size_t)n : CHUNK);
}

/* pass(src, from, to, dst, h, space, at): the bytes of [from, to); stops early at the end of the
 * file. ${dst} -1 only hashes. */
static int pass(int src, off_t from, off_t to, int dst, struct sha256 *h, uint8_t *space, off_t *at)
{
        *at = from;
        while (*at < to) {
                size_t want = to - *at < CHUNK ? (size_t)(to - *at) : CHUNK;
                ssize_t got = pread(src, space, want, *at);
                if (got < 0 && errno == EINTR)
                        continue;
                if (got <= 0)
                        return (int)got;
                sha256_add(h, space, (size_t)got);
                for (ssize_t done = 0; dst >= 0 && done < got;) {
                        ssize_t put = pwrite(dst, space + done, (size_t)(got - done), *at + done);
                        if (put < 0 && errno != EINTR)
                                return -1;
                        done += put > 0 ? put : 0;
                }
                *at += got;
        }
        return 0;
}

/* stream(src, dst, hex, size): piece by piece, holes apart. */
static int stream(int src, int dst, char hex[SHA256_HEX_LEN + 1], uint64_t *size)
{
        struct stat st;
        if (fstat(src, &st) < 0)
                return -1;
        _cleanup_free_ uint8_t *space = calloc(2, CHUNK);
        if (!space)
                return -1;
        const uint8_t *zeros = space + CHUNK;
        struct sha256 h;
        sha256_begin(&h);
        off_t at = 0, end = st.st_size;
        while (at < end) {
                off_t data = lseek(src, at, SEEK_DATA);
                if (data < 0 && errno != ENXIO)
                        data = at; /* a filesystem that does not know holes */
                else if (data < 0 || data > end)
                        data = end;
                add_zeros(&h, zeros, (uint64_t)(data - at));
                off_t stop = data < end ? lseek(src, data, SEEK_HOLE) : end;
                if (stop < 0 || stop > end)
                        stop = end;
                if (pass(src, data, stop, dst, &h, space, &at) < 0)
                        return -1;
                if (at < stop)
                        end = at; /* it was cut meanwhile */
        }
        if (dst >= 0 && ftruncate(dst, end) < 0)
                return -1;
        *size = (uint64_t)end;
        sha256_end(&h, hex);
        return 0;
}

int objects_copy(int src_fd, int dst_fd, char hex[SHA256_HEX_LEN + 1], uint64_t *size,
                 struct err *err)
{
        /* A reflink does not move any more once it is made, so it is what is hashed. */
        if (ioctl(dst_fd, FICLONE, src_fd) == 0 && stream(dst_fd, -1, hex, size) == 0)
                return 0;
        if (stream(src_fd, dst_fd, hex, size) < 0)
                return err_sys(err, "copy a file");
        return 0;
}

int objects_hash(int src_fd, char hex[SHA256_HEX_LEN + 1], struct err *err)
{
        uint64_t size;
        if (stream(src_fd, -1, hex, &size) < 0)
                return err_sys(err, "read a file");
        return 0;
}
