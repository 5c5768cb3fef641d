/* net.h - a box's user and network namespaces, made ahead of the box by a process of their own
 * (net_maker.c), because they take longer than everything else in a start; joined by pid 1. */
#ifndef BOX_NET_H
#define BOX_NET_H

#include "base/fdio.h"

#include <stdbool.h>
#include <stdint.h>

/* What the maker sends, one datagram each: its user namespace as soon as it runs, and at the end
 * the network. A datagram begins with a net_word. */
struct net_word {
        int32_t sys; /* 0, or the errno of what failed */
        uint32_t at; /* enum net_stage: which that was */
};

enum net_stage {
        NET_USER,     /* open the user namespace; the first datagram: + its descriptor */
        NET_SPACES,   /* make the network namespaces */
        NET_SETTINGS, /* the door's settings */
        NET_LINKS,
        NET_SOCKETS,
        NET_DONE, /* the second datagram: + the box's network namespace and, if the box has a door,
                     its NET_SOCKETS_N sockets */
};

/* The door's sockets in the order in which they are sent. Nobody can make one in that namespace
 * afterwards, so there are some for ports that policy names later. */
enum {
        NET_SOCKET_DNS,     /* UDP, bound to 53, with the wanted address of each datagram */
        NET_SOCKET_DNS_TCP, /* listens on 53 */
        NET_SOCKET_WATCH,   /* raw: a copy of each first packet of a TCP connection */
        NET_SOCKET_FREE,    /* from here on TCP, not bound */
        NET_SPARE_N = 32,
        NET_SOCKETS_N = NET_SOCKET_FREE + NET_SPARE_N,
        NET_BACKLOG = 512,
};
_Static_assert(1 + NET_SOCKETS_N <= FDIO_MAX_FDS, "all in one datagram");

struct err;

/* net_receive(fd, at, fds, cap, &n, err): the maker's next datagram, which is to be the one of
 * ${at}. The descriptors become the caller's. */
int net_receive(int fd, enum net_stage at, int *fds, size_t fds_cap, size_t *fds_n, struct err *);

/* net_explain(err): errno, as the reason why there are no namespaces. Returns -1. */
int net_explain(struct err *);

/* net_door_settle(has_ipv6): settings of the network namespace that the caller is in, the door's,
 * while it has no link but its loopback. 0, or -1 with errno. */
int net_door_settle(bool has_ipv6);

/* net_box_settle(has_ipv6): the same for the box's: links that it gets from now on speak IPv4
 * alone, and a server in it may have any port. */
int net_box_settle(bool has_ipv6);

/* net_door_sockets(fds): make them in the namespace that the caller is in. 0, or -1 with errno. */
int net_door_sockets(int fds[NET_SOCKETS_N]);

/* net_door_listen(fd, port): 0, or -1 with errno. */
int net_door_listen(int fd, uint16_t port);

#endif
