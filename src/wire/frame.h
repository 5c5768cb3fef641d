/* frame.h - one typed, length-checked message between two of our processes.
 *
 * A frame is one SOCK_SEQPACKET datagram: u32 type, then the body. Up to FDIO_MAX_FDS - 1
 * descriptors ride along. A body over FRAME_INLINE_MAX travels in a memfd instead (ten thousand
 * arguments do not fit a socket buffer), and only where the receiver says that it takes such
 * bodies: what comes out of a box never does. */
#ifndef WIRE_FRAME_H
#define WIRE_FRAME_H

#include "base/buf.h"
#include "base/cur.h"
#include "base/fdio.h"

#include <stdbool.h>

#define FRAME_INLINE_MAX 65536u
#define FRAME_SPILL_MAX  (8u << 20)

struct frame {
        uint32_t type;
        struct cur body; /* points into raw or spill */
        int fds[FDIO_MAX_FDS];
        size_t fds_n;
        uint8_t raw[FRAME_INLINE_MAX + 4];
        struct buf spill;
};

/* frame_send(sock, type, body, fds, fds_n): ${body} may be NULL. The descriptors stay the caller's.
 * Returns 0, or -1 with errno (EAGAIN on a non-blocking socket that is full: nothing was sent). */
int frame_send(int sock, uint32_t type, const struct buf *body, const int *fds, size_t fds_n);

/* frame_send_data(sock, type, p, n): the same for plain bytes, at most FRAME_INLINE_MAX. */
int frame_send_data(int sock, uint32_t type, const void *, size_t n);

/* frame_recv(sock, f, takes_spill): the next frame. Returns 1, 0 at the end, -1 with errno (EPROTO:
 * the peer does not speak our language; close it). Call frame_release before the next one. */
int frame_recv(int sock, struct frame *, bool takes_spill);

/* frame_peek(sock, &type): the type of the next frame, which stays there. 0, or -1 when there is none. */
int frame_peek(int sock, uint32_t *type);

/* frame_take_fd(f, i): descriptor ${i} becomes the caller's; -1 if there is none. */
int frame_take_fd(struct frame *, size_t i);

/* frame_release(f): close the descriptors nobody took and free the spill. */
void frame_release(struct frame *);

#endif
