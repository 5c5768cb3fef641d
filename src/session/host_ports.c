/* host_ports.c - see host_ports.h. Asks the kernel for listening sockets alone (sock_diag), because
 * /proc/net/tcp lists every connection of the machine. Called by sup_door.c once a box is built. */
#include "session/host_ports.h"

#include "base/cleanup.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

struct found {
        uint16_t *ports;
        size_t n, max;
};

/* add(f, port): kept in order; the largest falls out when there is no room. */
static void add(struct found *f, uint16_t port)
{
        size_t i = 0;
        while (i < f->n && f->ports[i] < port)
                i++;
        if (i == f->max || (i < f->n && f->ports[i] == port))
                return;
        size_t rest = f->n - i - (f->n == f->max);
        memmove(&f->ports[i + 1], &f->ports[i], rest * sizeof *f->ports);
        f->ports[i] = port;
        f->n += f->n < f->max;
}

static int ask(int fd, uint8_t family)
{
        struct {
                struct nlmsghdr head;
                struct inet_diag_req_v2 want;
        } m = {.head = {.nlmsg_len = sizeof m,
                        .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                        .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
               .want = {.sdiag_family = family,
                        .sdiag_protocol = IPPROTO_TCP,
                        .idiag_states = 1u << TCP_LISTEN}};
        return send(fd, &m, sizeof m, 0) == (ssize_t)sizeof m ? 0 : -1;
}

/* read_some(fd, f): one piece of the answer; false at its end. */
static bool read_some(int fd, struct found *f)
{
        union {
                struct nlmsghdr align;
                char bytes[16384];
        } in;
        ssize_t n = recv(fd, &in, sizeof in, 0);
        if (n <= 0)
                return false;
        size_t left = (size_t)n;
        for (struct nlmsghdr *h = &in.align; NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
                if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
                        return false;
                struct inet_diag_msg d;
                if (h->nlmsg_len < NLMSG_LENGTH(sizeof d))
                        return false;
                memcpy(&d, NLMSG_DATA(h), sizeof d);
                add(f, ntohs(d.id.idiag_sport));
        }
        return true;
}

size_t host_ports(uint16_t *ports, size_t max)
{
        static const uint8_t families[] = {AF_INET, AF_INET6};
        struct found f = {.ports = ports, .max = max};
        _cleanup_close_ int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
        /* The kernel answers at once; a limit all the same, because a box waits behind us. */
        struct timeval limit = {.tv_usec = 200000};
        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) < 0)
                return 0;
        for (size_t i = 0; i < sizeof families; i++)
                if (ask(fd, families[i]) == 0)
                        while (read_some(fd, &f))
                                ;
        return f.n;
}
