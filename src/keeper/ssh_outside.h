/* ssh_outside.h - keys of ssh whose private half only the user's own agent has (a passphrase, a
 * security token): the keeper judges, the supervisor has that agent sign. For ssh_sign.c. */
#ifndef KEEPER_SSH_OUTSIDE_H
#define KEEPER_SSH_OUTSIDE_H

#include "keeper/keeper_int.h"
#include "role/ssh_proof.h"

/* ssh_outside_holds(blob): did the supervisor say that the agent has this key? */
bool ssh_outside_holds(const struct ssh_bytes *blob);

/* ssh_outside_sign(k, a, blob, login, data, flags): DOOR_SSH_ASK; egress is answered when the agent
 * has signed. 0, or -1 when somebody is gone. */
int ssh_outside_sign(struct keeper *, struct keeper_ask *, const struct ssh_bytes *blob,
                     const struct ssh_login *, const struct ssh_bytes *data, uint32_t flags);

/* DOOR_SSH_HELD and DOOR_SSH_ASKED of the supervisor. */
keeper_handler ssh_held_serve, ssh_asked_serve;

#endif
