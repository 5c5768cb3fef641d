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
#include <string.h>
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

/* Hashing what a hole of a terabyte reads as takes an hour, and a box makes one in a moment (case
 * 78). So the name of a file of LARGE bytes and more is the hash of its size and of those chunks
 * that are not all zeros, each after its place, complemented: the same for the same bytes, wherever
 * holes lie. */
static const off_t LARGE = (off_t)1 << 30;

static void add_u64(struct sha256 *h, uint64_t v)
{
        uint8_t b[8];
        for (int i = 0; i < 8; i++)
                b[i] = (uint8_t)(v >> (56 - 8 * i));
        sha256_add(h, b, sizeof b);
}

static int stream_large(int src, int dst, off_t end, char hex[SHA256_HEX_LEN + 1], uint64_t *size)
{
        _cleanup_free_ uint8_t *space = calloc(2, CHUNK);
        struct sha256 h;
        if (!space)
                return -1;
        sha256_begin(&h);
        for (off_t at = 0; at < end;) {
                off_t data = lseek(src, at, SEEK_DATA);
                if (data < 0 && errno == ENXIO)
                        break;
                if (data > at)
                        at = data - data % CHUNK > at ? data - data % CHUNK : at;
                if (at >= end)
                        break;
                size_t want = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
                ssize_t n = fdio_pread(src, space, want, at);
                if (n < 0)
                        return -1;
                if (memcmp(space, space + CHUNK, (size_t)n) != 0) {
                        add_u64(&h, (uint64_t)at);
                        sha256_add(&h, space, (size_t)n);
                        if (dst >= 0 && (lseek(dst, at, SEEK_SET) < 0 ||
                                         fdio_write_all(dst, space, (size_t)n) < 0))
                                return -1;
                }
                at += n;
                if ((size_t)n < want)
                        end = at; /* it was cut meanwhile */
        }
        if (dst >= 0 && ftruncate(dst, end) < 0)
                return -1;
        *size = (uint64_t)end;
        add_u64(&h, *size);
        sha256_end(&h, hex);
        /* The complement: no small file can have been written so that it has this name. */
        static const char digits[] = "0123456789abcdef";
        for (char *p = hex; *p; p++)
                *p = digits[15 - strcspn(digits, (char[]){*p, 0})];
        return 0;
}

/* stream(src, dst, hex, size): piece by piece, holes apart. */
static int stream(int src, int dst, char hex[SHA256_HEX_LEN + 1], uint64_t *size)
{
        struct stat st;
        if (fstat(src, &st) < 0)
                return -1;
        if (st.st_size >= LARGE)
                return stream_large(src, dst, st.st_size, hex, size);
        /* Most files are small, and to clear room for large ones would cost more than to read them. */
        static uint8_t zeros[CHUNK]; /* never written */
        _cleanup_free_ uint8_t *space = malloc(st.st_size < CHUNK ? (size_t)st.st_size + 1 : CHUNK);
        if (!space)
                return -1;
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
        /* Whatever a clone left there would show where the source has a hole. */
        if (ftruncate(dst_fd, 0) < 0 || stream(src_fd, dst_fd, hex, size) < 0)
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
