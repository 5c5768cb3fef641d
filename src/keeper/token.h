/* token.h - secrets that are not shown themselves: they are exchanged for tokens that live an hour.
 *
 *   as oauth       a refresh token, or a client's id and secret
 *   as gcp         a service account's JSON
 *   as github-app  an app's private key; tokens are narrowed to the repositories of the line
 *   from login     what an agent's login left on the host; both stay logged in
 *
 * The box has a placeholder for the token (part "access") from the start. The first use, and the
 * first after it has become old, fetches a real one through egress (DOOR_FETCH): one call at a
 * time, whoever asks meanwhile waits. A refresh token that comes back new is kept on the host
 * before anything else is done with it (DOOR_ROTATED). A failure is an answer (DOOR_NO_VALUE),
 * never the old value (S14). */
#ifndef KEEPER_TOKEN_H
#define KEEPER_TOKEN_H

#include "keeper/keeper_int.h"

/* token_is(secret): is it one of these? */
bool token_is(const struct store_secret *);

/* token_load(k, secret, value, n, err): what its source gave, taken apart into parts. Again when
 * the source was asked again. */
int token_load(struct keeper *, struct store_secret *, const uint8_t *, size_t n, struct err *);

/* token_line(k, secret): its line with the token endpoint that only the value told (a service
 * account's), so that egress knows it; the caller frees. NULL: the line is as it is. */
char *token_line(struct keeper *, const struct store_secret *);

enum token_state_now {
        TOKEN_FRESH,  /* part "access" can be used */
        TOKEN_PARKED, /* it is being fetched; ${again} will be called with the question */
        TOKEN_FAILED, /* err says why */
};
/* token_want(k, secret, type, body, again, err): before part "access" is used for the question that
 * has this type and body. */
enum token_state_now token_want(struct keeper *, struct store_secret *, uint32_t type,
                                struct cur body, keeper_handler *again, struct err *);

/* token_owe(k, secret): before its values are wiped: a call that is on its way will bring the
 * host's only refresh token, and what belongs with it must not be lost (token_keep.c). */
void token_owe(struct keeper *, const struct store_secret *);
/* token_gone(k, number): the secret was revoked or has expired: drop its key, answer who waits.
 * token_forget(k): all of them, at the end of the process. */
int token_gone(struct keeper *, uint32_t number);
void token_forget(struct keeper *);

/* DOOR_FETCHED, DOOR_TOKEN of egress; DOOR_KEPT of the supervisor. */
keeper_handler token_fetched, token_call, token_kept;

#endif
