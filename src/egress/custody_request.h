/* custody_request.h - one request and the box's secrets: between an exchange and custody.
 *
 * When the gate has let a request pass, exchange_request.c makes one of these. Its head is looked
 * through at once: a placeholder in a slot that its line declares is to be exchanged, one anywhere
 * else is a leak, a credential that is none of ours is taken out or refused. Then the keeper is
 * asked; when it has answered, custody_request_head is what goes to the origin, and the head that
 * came stays as it was, for policy and for the log. The body passes through custody_body.h. */
#ifndef EGRESS_CUSTODY_REQUEST_H
#define EGRESS_CUSTODY_REQUEST_H

#include "egress/custody.h"
#include "egress/exchange.h"
#include "egress/head.h"

struct custody_request;

/* How it ended: status 0, or a refusal. */
struct custody_verdict {
        int status;
        char *why; /* the verdict's owner frees it */
};

/* custody_request_new(d, host, origin, head, fn, ctx): ${head} must stay where it is. NULL when the
 * box has no secrets: then there is nothing to do at all. */
struct custody_request *custody_request_new(struct door *, const struct host_name *,
                                            const struct origin *, const struct head *,
                                            void (*fn)(void *ctx, const struct custody_verdict *),
                                            void *ctx);
void custody_request_free(struct custody_request *);
/* custody_request_trip(q): the tripwire alone, before policy is asked: is a placeholder anywhere in
 * the head but in a slot that its line declares for this place? Rings the alarm. The sentence for
 * whoever is refused (the caller frees), or NULL. What it has seen is not looked through again by
 * custody_request_begin, unless the box was given another secret since. */
char *custody_request_trip(struct custody_request *);
/* custody_request_stop(q): its answer is of no use any more; nobody is called back. */
void custody_request_stop(struct custody_request *);

/* custody_request_begin(q): look through the head and ask the keeper. Calls back now or later. */
void custody_request_begin(struct custody_request *);
/* custody_request_needs_body(q): the body must be here whole before it can be signed;
 * custody_request_body then brings it, which must stay where it is; ${fn} is called after that
 * only. */
bool custody_request_needs_body(const struct custody_request *);
void custody_request_body(struct custody_request *, const void *, size_t);

/* custody_request_head(q): what goes to the origin, to be changed by whoever must.
 * custody_request_sent(q): the same, or NULL when it is the head that came. */
struct head *custody_request_head(struct custody_request *);
struct head *custody_request_sent(struct custody_request *);
/* custody_request_is_sent(q): the head is on its way; what was placed in it is wiped. */
void custody_request_is_sent(struct custody_request *);

/* custody_request_shows(q, number): is that secret in it (DOOR_SECRET_ALL: any)? */
bool custody_request_shows(const struct custody_request *, uint32_t number);
/* custody_request_first(q): the number of the first secret that it shows, or 0. */
uint32_t custody_request_first(const struct custody_request *);
/* custody_request_names(q): of all of them, separated by blanks; "" when there are none. The pool
 * of upstreams is kept apart by it, and the log has it. */
const char *custody_request_names(const struct custody_request *);
/* custody_request_shown(q, secret): one more was placed, in the body. */
void custody_request_shown(struct custody_request *, const struct custody_secret *);
struct sign *custody_request_sign(const struct custody_request *); /* with chunks, or NULL */

/* custody_request_leaks(q, number, where): ring the alarm; the sentence for whoever is refused. The
 * caller frees. */
char *custody_request_leaks(struct custody_request *, uint32_t number, const char *where);
/* custody_request_rings(q, leaks), custody_request_hit(q, hit, where): the same for each secret that
 * was found; each rings once in a request. The sentence of the first, or NULL. ${leaks} is freed. */
struct custody_leaks;
struct scan_hit;
char *custody_request_rings(struct custody_request *, struct custody_leaks *);
char *custody_request_hit(struct custody_request *, const struct scan_hit *, const char *where);
/* custody_request_flag(q, number): the placeholder is in a conversation with a model: told once per
 * box and secret, and it passes. */
void custody_request_flag(struct custody_request *, uint32_t number);
/* custody_request_toward(q): as the keeper judges it. */
struct door_toward custody_request_toward(const struct custody_request *);

#endif
