/* exchange.h - one request and its answer on their way through the door: between the engine that
 * talks to the box (h1 or h2, server side) and the one that talks to the origin (client side).
 *
 * The client's engine calls exchange_new, exchange_request, _request_data, _request_end. The
 * exchange asks the gate, waits for a body when a rule wants one, parks when a rule asks, gets an
 * upstream, and drives it through `struct side_ops`; the upstream's engine answers with
 * exchange_answer, _answer_data, _answer_end or exchange_fail. Either engine may be any protocol:
 * that is all the translation there is. Refusals and failures are answers that the exchange writes
 * itself.
 *
 * Back-pressure: a function that takes data returns false when the other end is full; the caller
 * then stops reading until its `resume` is called. It may not lose the data it has passed.
 *
 * Life: the client's engine owns it by calling exchange_release when its side is over (answer
 * written to the end, or client gone). The upstream's engine lets go when it calls _answer_end or
 * _fail, or when its `reset` is called. After that neither may touch it. */
#ifndef EGRESS_EXCHANGE_H
#define EGRESS_EXCHANGE_H

#include "egress/head.h"

#include <stdbool.h>
#include <stddef.h>

struct door;
struct exchange;

/* What an exchange can tell an engine; ${side} is the engine's own. */
struct side_ops {
        /* Upstream: send this request head. Client: send this answer head (1xx too).
         * ${is_end}: no body follows. */
        void (*head)(void *side, struct exchange *, const struct head *, bool is_end);
        /* true: go on; false: full, stop until exchange_drained is called by this engine. */
        bool (*data)(void *side, struct exchange *, const void *, size_t);
        void (*end)(void *side, struct exchange *, const struct head *trailers); /* NULL: none */
        /* Give this message up: the other end failed in the middle (h2: RST_STREAM, h1: close). To
         * the upstream it also means: let go of the exchange. */
        void (*reset)(void *side, struct exchange *);
        /* There is room again on the other end: read on. */
        void (*resume)(void *side, struct exchange *);
        /* WebSocket was agreed on (h1: 101 was sent; h2: 200): from now on data is frames, both
         * ways, until end. */
        void (*upgraded)(void *side, struct exchange *);
};

/* Where a client's connection went and how far we know whom it meant. */
struct origin {
        struct host_name host; /* DNS name behind the synthetic address, or the literal address, or
                                  after TLS the SNI (which agrees with the former) */
        uint16_t port;
        bool is_tls;
        bool is_keeper;       /* a call of the keeper's own (fetch.h): it carries values and no
                                 placeholders, and its answer is not for the box: neither placed,
                                 looked through, scrubbed nor captured */
        bool is_literal;      /* the program connected to an address of the real world */
        uint16_t source_port; /* of the box's socket */
        const char *protocol; /* "http/1.1", "h2" */
};

/* --- for client engines --- */
struct exchange *exchange_new(struct door *, const struct origin *, const struct side_ops *,
                              void *side);
/* exchange_request(x, h, is_end): ${h} is moved (the caller's is empty afterwards). */
void exchange_request(struct exchange *, struct head *, bool is_end);
bool exchange_request_data(struct exchange *, const void *, size_t);
void exchange_request_end(struct exchange *, struct head *trailers); /* moved; NULL: none */
/* exchange_refuse(x, status, sentence): the request could not even be read; answer so and log. */
void exchange_refuse(struct exchange *, int status, const char *sentence);
/* exchange_refuse_head(x, h, status, sentence): the same for a head of which some could be read:
 * that is looked through for placeholders first. */
void exchange_refuse_head(struct exchange *, const struct head *, int status, const char *sentence);
/* exchange_refuse_leak(x, sentence): a placeholder was found in what came; the alarm was rung. */
void exchange_refuse_leak(struct exchange *, const char *sentence);
void exchange_release(struct exchange *);

/* --- for upstream engines --- */
/* exchange_attach(x, ops, side): the upstream is there; the exchange sends its head at once. */
void exchange_attach(struct exchange *, const struct side_ops *, void *side);
/* exchange_address(x, a): whom the upstream is connected to, for the log. */
void exchange_address(struct exchange *, const char *);
void exchange_answer(struct exchange *, struct head *,
                     bool is_end); /* moved; 1xx may come before */
bool exchange_answer_data(struct exchange *, const void *, size_t);
void exchange_answer_end(struct exchange *, struct head *trailers); /* moved; NULL: none */
/* exchange_fail(x, may_retry, sentence): no answer, or it broke off. ${may_retry}: nothing of an
 * answer came, on a connection that had been used before. */
void exchange_fail(struct exchange *, bool may_retry, const char *sentence);
/* exchange_fail_short(x): the same when the account has no room for what the origin sends. */
void exchange_fail_short(struct exchange *);

/* --- for both --- */
/* exchange_cut(x, words): the answer has begun and cannot be finished; both sides are reset. */
void exchange_cut(struct exchange *, const char *words);
/* exchange_drained(x, side): this engine, which had said false, has room again. */
void exchange_drained(struct exchange *, void *side);

/* exchange_held(x): bytes of memory that are held for it. */
size_t exchange_held(const struct exchange *);
const struct head *exchange_request_head(const struct exchange *);
bool exchange_is_head_request(const struct exchange *);
/* exchange_is_h2(x): did it come by HTTP/2? */
bool exchange_is_h2(const struct exchange *);
/* exchange_secrets(x): names of the secrets that it shows, separated by blanks; "" for none. */
const char *exchange_secrets(const struct exchange *);

#endif
