/* net.h - making the box's network namespace. */
#ifndef BOX_NET_H
#define BOX_NET_H

/* net_make(to_fd): move the calling process into a fresh network namespace, bring its loopback up,
 * and put a descriptor of it at the number ${to_fd}. 0, or -1 with errno. */
int net_make(int to_fd);

#endif
