/* frame_fuzz.c - a peer that sends any bytes, with and without a descriptor: frame_recv answers or
 * refuses, and no descriptor stays open. */
#include "wire/frame.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static int s[2] = {-1, -1}, zero = -1;
        static struct frame f;
        if (s[0] < 0) {
                zero = open("/dev/null", O_RDONLY | O_CLOEXEC);
                if (zero < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s) < 0)
                        abort();
        }
        if (size < 2 || size > FRAME_INLINE_MAX)
                return 0;
        int next = dup(0);
        close(next);
        int fds[3] = {zero, zero, zero};
        if (fdio_send(s[0], data + 1, size - 1, fds, data[0] & 3) < 0)
                return 0;
        if (frame_recv(s[1], &f, data[0] & 4) == 1)
                frame_release(&f);
        int after = dup(0);
        close(after);
        if (after != next)
                abort();
        return 0;
}
