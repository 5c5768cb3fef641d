/* host_ports.h - on which TCP ports does this machine listen? The door listens on those too, so
 * that a program which tries one is told by which rule it could reach it, instead of nothing. */
#ifndef SESSION_HOST_PORTS_H
#define SESSION_HOST_PORTS_H

#include <stddef.h>
#include <stdint.h>

/* host_ports(ports, max): at most ${max} of them, each once, the smallest first; how many. None
 * when the kernel does not tell. */
size_t host_ports(uint16_t *ports, size_t max);

#endif
