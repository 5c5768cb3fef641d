/* port_watch.h - connections to ports that no rule names. The kernel refuses them before the door
 * could say a word, so they are told of from a copy of their first packet. */
#ifndef EGRESS_PORT_WATCH_H
#define EGRESS_PORT_WATCH_H

struct door;

/* port_watch_begin(d, fd): ${fd} is DOOR_PORT_WATCH of wire/door.h, and becomes the door's. */
void port_watch_begin(struct door *, int fd);

#endif
