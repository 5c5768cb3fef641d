/* ssh_sign.h - keys of ssh in the keeper: how a value becomes one, how egress hears of it, how it
 * signs. Called by value.c, fingers.c and serve_table.c. */
#ifndef KEEPER_SSH_SIGN_H
#define KEEPER_SSH_SIGN_H

#include "keeper/keeper_int.h"

/* ssh_is_secret(secret): is its form `ssh`? */
bool ssh_is_secret(const struct store_secret *);

/* ssh_take(k, secret, text, n, err): value_take for such a secret: the text of a key file. It has
 * no placeholder: the box sees its public half through the agent socket. 0, or -1 and a sentence
 * with the secret's name and nothing of the value. */
int ssh_take(struct keeper *, struct store_secret *, const uint8_t *text, size_t n, struct err *);

/* ssh_grant(k, secret): DOOR_SSH_KEY; after its DOOR_GRANTED. -1 when egress is gone. */
int ssh_grant(struct keeper *, const struct store_secret *);

/* DOOR_SSH_HOSTS of the supervisor, DOOR_SSH_SIGN of egress. */
keeper_handler ssh_hosts_serve, ssh_sign_serve;

#endif
