/* sign.h - requests that are signed: the keeper's answers to DOOR_SIGN, DOOR_SIGN_CHUNK and
 * DOOR_SIGN_END. The key never leaves this process.
 *
 * The last field of DOOR_SIGN is, for sigv4, the payload line (the value of x-amz-content-sha256,
 * or the hash of the body in hexadecimal digits); for hmac the body when the message holds {body},
 * its SHA-256 in hexadecimal digits when it holds {body_sha256}, else nothing. Headers are all
 * those that will be sent, in order, with "host" (and its port, where it is not the usual one) and
 * "content-length" where there will be one. The target is what will be sent.
 *
 * A signature with signed chunks opens a chain, which lives until DOOR_SIGN_END or until its secret
 * goes; then DOOR_SIGN_CHUNK is answered by DOOR_PLACE_NO. */
#ifndef KEEPER_SIGN_H
#define KEEPER_SIGN_H

#include "keeper/keeper_int.h"

enum { SIGN_CHAINS_MAX = 256 };

keeper_handler sign_serve, sign_chunk_serve, sign_end_serve;

/* sign_gone(k, number): wipe the chains of a secret that is revoked or has expired. sign_forget(k):
 * every chain, at the end of the process. */
void sign_gone(struct keeper *, uint32_t number);
void sign_forget(struct keeper *);

/* --- HMAC by template (hmac.c); pure --- */
struct rule_secret;
struct sigv4_field;

struct hmac_ask {
        const char *method, *host, *target; /* path and query as sent */
        const struct sigv4_field *fields;
        size_t fields_n;
        const void *body; /* or its hash, see above */
        size_t body_n;
        uint64_t now_ms; /* since the epoch */
};
/* hmac_make(line, ask, key, n, out, stamp, err): what stands in the line's header: prefix and
 * signature. ${stamp} gets the text that time-header= is to have, "" when the message has no time.
 * The parts of a message are {method} {path} {query} {target} {host} {time} {time_ms} {body}
 * {body_sha256} {header:NAME} and \n; everything else stands for itself. -1 and a sentence for a
 * part, hash or encoding that nobody knows. */
int hmac_make(const struct rule_secret *, const struct hmac_ask *, const void *key, size_t n,
              struct buf *out, char stamp[24], struct err *);

#endif
