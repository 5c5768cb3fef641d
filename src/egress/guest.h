/* guest.h - a connection whose language is not known yet. */
#ifndef EGRESS_GUEST_H
#define EGRESS_GUEST_H

struct door;
struct sockaddr_in;

/* guest_welcome(d, fd, peer): find out whom ${fd}, which came from ${peer}, means and how it
 * speaks; hand it on, or close it and say why in the log. It counts as a connection of the door
 * from now on. */
void guest_welcome(struct door *, int fd, const struct sockaddr_in *peer);

#endif
