/* ssh_agent.h - the box's ssh agent: connections to the socket in the box, and the keys that the
 * keeper said were granted. The private halves are the keeper's. */
#ifndef EGRESS_SSH_AGENT_H
#define EGRESS_SSH_AGENT_H

#include <stdint.h>

struct cur;
struct door;

/* ssh_agent_begin(d, fd): an accepted connection, counted in d->conns_n already. */
void ssh_agent_begin(struct door *, int fd);
/* ssh_agent_key(d, body): DOOR_SSH_KEY. */
void ssh_agent_key(struct door *, struct cur *body);
/* ssh_agent_gone(d, number, sentence): the key cannot be used any more: what was opened to its
 * places is cut. DOOR_SECRET_ALL: every key. */
void ssh_agent_gone(struct door *, uint32_t number, const char *sentence);

#endif
