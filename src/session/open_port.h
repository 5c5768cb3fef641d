/* open_port.h - does an address lead back to this machine's loopback, and to which port? */
#ifndef SESSION_OPEN_PORT_H
#define SESSION_OPEN_PORT_H

#include <stdint.h>

/* open_port_of(url): the port of http://localhost:PORT, 127.0.0.1 or [::1], when ${url} itself or
 * its redirect_uri parameter is such an address; 0 otherwise. */
uint32_t open_port_of(const char *url);

#endif
