/* frame.c - see frame.h. */
#include "wire/frame.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

/* Set in the type word when the last descriptor of the message holds the body. */
#define SPILLED 0x80000000u

static int send_raw(int sock, uint32_t type, const void *p, size_t n, const int *fds, size_t fds_n)
{
        /* The compiler would clear all of it for each message of a few bytes. */
        uint8_t msg[FRAME_INLINE_MAX + 4] __attribute__((uninitialized));
        msg[0] = (uint8_t)(type >> 24);
        msg[1] = (uint8_t)(type >> 16);
        msg[2] = (uint8_t)(type >> 8);
        msg[3] = (uint8_t)type;
        if (n)
                memcpy(msg + 4, p, n);
        return fdio_send(sock, msg, n + 4, fds, fds_n);
}

static int send_spilled(int sock, uint32_t type, const struct buf *body, const int *fds,
                        size_t fds_n)
{
        int all[FDIO_MAX_FDS];
        if (fds_n + 1 > FDIO_MAX_FDS || body->len > FRAME_SPILL_MAX) {
                errno = EMSGSIZE;
                return -1;
        }
        _cleanup_close_ int mem = memfd_create("ostiary-frame", MFD_CLOEXEC);
        if (mem < 0 || fdio_write_all(mem, body->data, body->len) < 0 ||
            lseek(mem, 0, SEEK_SET) < 0)
                return -1;
        for (size_t i = 0; i < fds_n; i++)
                all[i] = fds[i];
        all[fds_n] = mem;
        return send_raw(sock, type | SPILLED, NULL, 0, all, fds_n + 1);
}

int frame_send(int sock, uint32_t type, const struct buf *body, const int *fds, size_t fds_n)
{
        if (body && body->is_broken) {
                errno = ENOMEM;
                return -1;
        }
        if (body && body->len > FRAME_INLINE_MAX)
                return send_spilled(sock, type, body, fds, fds_n);
        return send_raw(sock, type, body ? body->data : NULL, body ? body->len : 0, fds, fds_n);
}

int frame_send_data(int sock, uint32_t type, const void *p, size_t n)
{
        if (n > FRAME_INLINE_MAX) {
                errno = EMSGSIZE;
                return -1;
        }
        return send_raw(sock, type, p, n, NULL, 0);
}

int frame_recv(int sock, struct frame *f, bool takes_spill)
{
        _cleanup_close_ int mem = -1; /* before the first goto, or its close would see garbage */

        f->spill = (struct buf){.max = FRAME_SPILL_MAX + 4096};
        f->fds_n = 0;
        ssize_t n = fdio_recv(sock, f->raw, sizeof f->raw, f->fds, FDIO_MAX_FDS, &f->fds_n);
        if (n <= 0)
                return (int)n;

        f->body = cur_of(f->raw, (size_t)n);
        if (cur_u32(&f->body, &f->type) < 0)
                goto bad;
        if (!(f->type & SPILLED))
                return 1;

        /* read(), not mmap: the sender could shrink the file under a mapping. */
        if (!takes_spill || f->fds_n == 0)
                goto bad;
        mem = f->fds[--f->fds_n];
        if (fdio_read_all(mem, &f->spill, FRAME_SPILL_MAX) < 0)
                goto bad;
        f->type &= ~SPILLED;
        f->body = cur_of(f->spill.data, f->spill.len);
        return 1;
bad:
        frame_release(f);
        errno = EPROTO;
        return -1;
}

int frame_peek(int sock, uint32_t *type)
{
        uint8_t word[4];
        ssize_t n = recv(sock, word, sizeof word, MSG_PEEK | MSG_DONTWAIT);
        struct cur c = cur_of(word, n > 0 ? (size_t)n : 0);
        if (cur_u32(&c, type) < 0)
                return -1;
        *type &= ~SPILLED;
        return 0;
}

int frame_take_fd(struct frame *f, size_t i)
{
        if (i >= f->fds_n)
                return -1;
        return take_fd(&f->fds[i]);
}

void frame_release(struct frame *f)
{
        for (size_t i = 0; i < f->fds_n; i++)
                close_fd(&f->fds[i]);
        f->fds_n = 0;
        buf_free(&f->spill);
}
