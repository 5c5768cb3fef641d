/* scrub.h - one answer on its way into the box: wherever a secret's value stands in it, in any
 * writing, the placeholder takes its place. Fields of all its heads, the body with its coding
 * undone, the trailers. What cannot be read does not pass.
 *
 * Between an exchange and its client: exchange_answer.c hands in what the origin sends and gets
 * back, through `struct scrub_ops`, what the box may see, now or later: tokens that are born in it
 * (capture.h) are exchanged by the keeper first. A box without secrets has none of this. */
#ifndef EGRESS_SCRUB_H
#define EGRESS_SCRUB_H

#include "egress/door.h"
#include "egress/head.h"

#include <stdbool.h>
#include <stddef.h>

struct scan_set;
struct scrub;

struct scrub_ops {
        void (*head)(void *ctx, struct head *, bool is_end); /* the caller of scrub frees it */
        bool (*data)(void *ctx, const void *, size_t);       /* false: full until scrub_drained */
        void (*end)(void *ctx, struct head *trailers);       /* NULL: none */
        /* It cannot pass: ${status} when nothing of it was sent (502, or 503 for want of memory),
         * else it is cut off. */
        void (*fail)(void *ctx, int status, const char *sentence);
        void (*resume)(void *ctx); /* there is room again after scrub_data said no */
};

/* What the answer is for; the strings must live as long as the scrub. */
struct scrub_for {
        const struct host_name *host;
        uint16_t port;
        const char *path;  /* canonical */
        const char *query; /* or NULL */
        size_t query_len;
        uint32_t number; /* of the first secret that the request showed, or 0 */
        bool is_to_head; /* answers HEAD */
        bool is_moved;   /* a header of the request may have made another path of it */
};

/* scrub_values(d): what is looked for in answers, or NULL when the box has no secrets. */
const struct scan_set *scrub_values(struct door *);
/* scrub_is_needed(d, host, port): does the box have secrets, or does one belong there that has no
 * value yet? Its first value may be born in an answer. */
bool scrub_is_needed(struct door *, const struct host_name *, uint16_t port);

struct scrub *scrub_new(struct door *, const struct scrub_for *, const struct scrub_ops *,
                        void *ctx);
/* scrub_stop(s): the exchange is over; nothing is called back any more. */
void scrub_stop(struct scrub *);
void scrub_free(struct scrub *);
size_t scrub_held(const struct scrub *); /* bytes of memory */

void scrub_answer(struct scrub *, struct head *, bool is_end); /* moved; a final one */
/* scrub_data(s, p, n): false: stop reading until ops->resume. */
bool scrub_data(struct scrub *, const void *, size_t);
void scrub_end(struct scrub *, struct head *trailers); /* moved; NULL: none */
/* scrub_drained(s): the client has room again. True: so has the scrub. */
bool scrub_drained(struct scrub *);

/* scrub_head(values, h, &why): replace values in the fields of a head that is passed on by itself
 * (an interim answer, trailers, a WebSocket's 101). -1 when one is in a name: then it may not pass.
 */
int scrub_head(const struct scan_set *, struct head *, const char **why);

/* scrub_request(d, host, port, h): a request whose answer will be scrubbed asks only for what can
 * be: codings that are known, and the whole of it where a value is shown (${host} NULL: as if it
 * were), since a part may begin or end in the middle of one. Nothing to do for a box without
 * secrets. */
void scrub_request(struct door *, const struct host_name *host, uint16_t port, struct head *);

#endif
