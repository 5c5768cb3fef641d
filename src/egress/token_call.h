/* token_call.h - calls of the box to the token endpoint of one of its secrets: a client that wants
 * to refresh what it has, or to exchange a service account's assertion. What it has are
 * placeholders, so the keeper answers in the endpoint's place, with placeholders, after it has seen
 * to it that they stand for something. A call that holds nothing of ours (a login that begins in
 * the box) goes on. */
#ifndef EGRESS_TOKEN_CALL_H
#define EGRESS_TOKEN_CALL_H

#include "egress/custody.h"

struct token_call;

/* token_call_whose(d, host, port, head): the secret at whose token endpoint this request is; NULL:
 * none. Then the body has to be here whole (TOKEN_CALL_MAX) before token_call_begin. */
const struct custody_secret *token_call_whose(struct door *, const struct host_name *,
                                              uint16_t port, const struct head *);
enum { TOKEN_CALL_MAX = 32 << 10 };

/* token_call_begin(d, secret, to, body, n, fn, ctx): ${fn} is called once, later: 200 and the
 * answer in JSON; 403 and a sentence; or 0: it is not ours to answer. */
struct token_call *token_call_begin(struct door *, const struct custody_secret *,
                                    const struct door_toward *, const void *body, size_t n,
                                    void (*fn)(void *ctx, int status, const char *text), void *ctx);
void token_call_cancel(struct token_call *);

#endif
