/* net_link.h - what is in the two network namespaces of a box: links, addresses, routes. */
#ifndef BOX_NET_LINK_H
#define BOX_NET_LINK_H

/* All take route sockets (netlink.h) of the namespace they speak of. 0, or -1 with errno. */

int net_link_loopback(int nl_fd);

/* net_link_join(box_nl, door_nl, door_ns): a cable between the two, both ends up and with their
 * addresses; in the box's namespace the default route leads through it, in the door's every address
 * is our own. ${door_ns} is a descriptor of the door's namespace. */
int net_link_join(int box_nl, int door_nl, int door_ns);

#endif
