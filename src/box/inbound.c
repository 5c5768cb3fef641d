/* inbound.c - see inbound.h. Only pid 1 is in the box's network, so only it can make the socket; it
 * hands it out at once and never reads a byte from it. It can reach nothing but the box's own
 * loopback, whatever it is asked for. */
#include "box/inbound.h"

#include "base/cleanup.h"
#include "wire/frame.h"
#include "wire/msg.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

/* A server that lives answers on loopback before this is over; one with a full queue may not, and
 * then the socket goes out unfinished. */
enum { PATIENCE_MS = 20 };

/* try(addr, len): a socket that is connected or about to be, or -1 with errno. */
static int try(const struct sockaddr *a, socklen_t len)
{
        _cleanup_close_ int fd =
                socket(a->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
        int one = 1, why = 0;
        socklen_t n = sizeof why;
        if (fd < 0)
                return -1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (connect(fd, a, len) < 0 && errno != EINPROGRESS)
                return -1;
        struct pollfd p = {.fd = fd, .events = POLLOUT};
        poll(&p, 1, PATIENCE_MS);
        if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &n) < 0)
                return -1;
        if (why) {
                errno = why;
                return -1;
        }
        return take_fd(&fd);
}

void inbound_connect(int ctl_fd, uint32_t id, uint32_t port)
{
        struct sockaddr_in v4 = {.sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
                                  .sin6_port = htons((uint16_t)port),
                                  .sin6_addr = IN6ADDR_LOOPBACK_INIT};
        errno = EINVAL;
        bool is_port = port > 0 && port <= 65535;
        _cleanup_close_ int fd = is_port ? try((struct sockaddr *)&v4, sizeof v4) : -1;
        /* Many a server takes "localhost" for ::1 alone. */
        if (fd < 0 && errno == ECONNREFUSED)
                fd = try((struct sockaddr *)&v6, sizeof v6);
        int why = fd < 0 ? errno : 0;
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, id);
        buf_put_u32(&b, (uint32_t)why);
        frame_send(ctl_fd, MSG_CONNECTED, &b, &fd, fd >= 0 ? 1 : 0);
}
