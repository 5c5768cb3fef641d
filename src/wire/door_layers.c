/* door_layers.c - policy as it travels from the supervisor to egress and dial: layers of text in a
 * memfd that is sealed, so that what was checked is what is used. See door.h. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "wire/door.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { SEALS = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK };

void door_layers_put(struct buf *b, uint32_t rank, const char *name, bool has_lines,
                     const char *text)
{
        buf_put_u32(b, rank);
        buf_put_lstr(b, name);
        buf_put_u32(b, has_lines);
        buf_put_lstr(b, text);
}

int door_sealed_make(const char *name, const struct buf *b, struct err *err)
{
        if (b->is_broken)
                return err_set(err, E_SYSTEM, "there is not enough memory for %s", name);
        _cleanup_close_ int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (fd < 0)
                return err_sys(err, "make a memory file for %s", name);
        if (b->len && fdio_write_all(fd, b->data, b->len) < 0)
                return err_sys(err, "write %s", name);
        if (fcntl(fd, F_ADD_SEALS, SEALS | F_SEAL_SEAL) < 0)
                return err_sys(err, "seal %s", name);
        return take_fd(&fd);
}

int door_sealed_read(int fd, size_t max, struct buf *b, struct err *err)
{
        int seals = fcntl(fd, F_GET_SEALS);
        if (seals < 0)
                return err_sys(err, "read the seals of what was sent");
        if ((seals & SEALS) != SEALS)
                return err_set(err, E_PROTO, "what was sent is not sealed");
        struct stat st;
        if (fstat(fd, &st) < 0)
                return err_sys(err, "measure what was sent");
        if (st.st_size < 0 || (uint64_t)st.st_size > max)
                return err_set(err, E_PROTO, "what was sent is larger than %zu bytes", max);
        size_t size = (size_t)st.st_size, at = 0;
        if (size == 0)
                return 0;
        uint8_t *to = buf_room(b, size);
        if (!to)
                return err_set(err, E_SYSTEM, "there is not enough memory for what was sent");
        while (at < size) {
                ssize_t n = pread(fd, to + at, size - at, (off_t)at);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return err_sys(err, "read what was sent");
                at += (size_t)n;
        }
        return 0;
}
