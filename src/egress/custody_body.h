/* custody_body.h - the body of a request on its way out of a box that has secrets: looked through
 * for placeholders as it streams, whatever its coding, and with secrets written into the slots that
 * a line declares in it (json, form).
 *
 * Between exchange_request.c and the upstream. No placeholder leaves whole: bytes that may be the
 * beginning of one are held back, for as long as more comes. */
#ifndef EGRESS_CUSTODY_BODY_H
#define EGRESS_CUSTODY_BODY_H

#include "egress/custody_request.h"

struct custody_body;

struct custody_body_ops {
        /* These may go on. False when whoever gets them is full: no reason to stop, but the box
         * should. */
        bool (*out)(void *ctx, const void *, size_t);
        void (*end)(void *ctx); /* everything went out */
        void (*bad)(void *ctx, int status, const char *why);
        void (*idle)(void *ctx); /* it takes more, after it said false */
        /* A placeholder is in it, and it goes on being looked through (custody_body_watch). */
        void (*leak)(void *ctx, const char *why);
};

/* custody_body_new(d, q, host, origin, head, ops, ctx, &why): NULL with ${why} NULL when nothing is
 * to be done; with a sentence (static or the caller's to leave alone) when its coding cannot be
 * read. Changes what is sent: a body whose length may change becomes a stream. */
struct custody_body *custody_body_new(struct door *, struct custody_request *,
                                      const struct host_name *, const struct origin *,
                                      const struct head *, const struct custody_body_ops *,
                                      void *ctx, char **why);
/* custody_body_message(d, q, host, origin, head, ops, ctx): one message of the WebSocket that
 * ${head} asked for. */
struct custody_body *custody_body_message(struct door *, struct custody_request *,
                                          const struct host_name *, const struct origin *,
                                          const struct head *, const struct custody_body_ops *,
                                          void *ctx);
/* custody_body_watch(d, q, host, origin, head, ops, ctx): the body of a request that will not be
 * passed on: looked through alone. Slots that are declared for its place are none of a leak, and
 * the keeper is not asked. NULL when there is nothing to look for, or it cannot be read. */
struct custody_body *custody_body_watch(struct door *, struct custody_request *,
                                        const struct host_name *, const struct origin *,
                                        const struct head *, const struct custody_body_ops *,
                                        void *ctx);
/* custody_body_stop(b): nobody waits for it any more: it has no further turn, and calls nobody back. */
void custody_body_stop(struct custody_body *);
void custody_body_free(struct custody_body *);
/* custody_body_has_slots(b): may its length change? Then a short one is better sent when all of it
 * is there. */
bool custody_body_has_slots(const struct custody_body *);

/* custody_body_feed(b, p, n): false: it waits for the keeper or for its turn, or the other end is
 * full. */
bool custody_body_feed(struct custody_body *, const void *, size_t);
/* custody_body_drained(b): whoever gets them has room again. True: so has it. */
bool custody_body_drained(struct custody_body *);
void custody_body_end(struct custody_body *);

#endif
