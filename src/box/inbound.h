/* inbound.h - pid 1 makes a connection to a server in the box, for somebody outside. */
#ifndef BOX_INBOUND_H
#define BOX_INBOUND_H

#include <stdint.h>

/* inbound_connect(ctl_fd, id, port): connect to ${port} of the box's own loopback, and answer with
 * MSG_CONNECTED: the socket, or why not. Never waits for the box. */
void inbound_connect(int ctl_fd, uint32_t id, uint32_t port);

#endif
