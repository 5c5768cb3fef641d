/* scrub_int.h - the inside of a scrub, for scrub.c (the flow), scrub_head.c (fields, and what is
 * asked for) and scrub_tokens.c (tokens born in an answer). Nobody else looks in here. */
#ifndef EGRESS_SCRUB_INT_H
#define EGRESS_SCRUB_INT_H

#include "base/buf.h"
#include "egress/custody.h"
#include "egress/pack.h"
#include "egress/scan.h"
#include "egress/scrub.h"

struct tokens;
struct undo;

enum scrub_mode {
        SCRUB_PLAIN, /* as it comes */
        SCRUB_WHOLE, /* held until its tokens are exchanged */
};

struct scrub {
        struct door *door;
        struct scan_set *values; /* what is granted in the middle is in it from then on */
        struct custody_from at;
        struct scrub_for what;
        const struct scrub_ops *ops;
        void *ctx;
        enum scrub_mode mode;
        struct scan scan;
        struct loop_timer timer; /* until what the scanner holds back is let go */
        struct undo *undo;
        struct pack *pack; /* looks into what is packed */
        struct buf lag;    /* searched, and waits until what is packed in it is */
        struct pack_lag lagging;
        bool is_packing;     /* that goes on */
        bool is_unpacked;    /* to the end of the body */
        struct buf pend;     /* came while there was no room, or no turn */
        size_t charged;      /* for it, and for all that is held */
        struct work_job job; /* waits for its next turn */
        struct keeper_call *call;
        bool is_over, is_full, is_told; /* ended for us; client is full; we said no */
        bool is_ended, is_final;        /* the origin's end came; everything was passed on */
        struct head *trailers;

        bool is_shown;  /* the origin knows a value */
        bool is_lent;   /* it is of a place that lends credentials */
        unsigned lends; /* what counts as one there: enum lenders_kind */

        /* gRPC and Connect: where in its frames the stream is */
        bool is_grpc, is_framed;
        uint8_t grpc_head[5];
        uint32_t grpc_head_n, grpc_left;

        /* scrub_tokens.c */
        struct head *head; /* until the body is known */
        struct buf whole;
        struct tokens *tokens;
};

/* scrub_emit(s, p, n, is_end): through the scanner to the client. */
void scrub_emit(struct scrub *, const void *, size_t, bool is_end);
void scrub_fail(struct scrub *, const char *sentence);
/* scrub_short(s): the account has no room for it: 503, since the next try may find some. */
void scrub_short(struct scrub *);
/* scrub_hold(s, to, p, n): keep bytes of it in one of its buffers. False: that was scrub_short. */
bool scrub_hold(struct scrub *, struct buf *to, const void *, size_t);
/* scrub_tokens_held(s): bytes of memory. */
size_t scrub_tokens_held(const struct scrub *);
/* scrub_pump(s): go on with what is waiting. */
void scrub_pump(struct scrub *);
/* scrub_answered(s): the keeper answered; go on, and read on when there is room. */
void scrub_answered(struct scrub *);

/* scrub_is_shown(d, host, port): is a value ever shown there, so that the origin has it to send
 * back? A host where secrets only sign has nothing. */
bool scrub_is_shown(struct door *, const struct host_name *, uint16_t port);
/* scrub_is_ascii(h): does its body write letters as we look for them? Not in UTF-16 and its kind.
 */
bool scrub_is_ascii(const struct head *);

/* scrub_tokens_lent(s): does it come from a place that lends credentials (policy/lenders.h), which
 * one of the box's secrets belongs to? scrub_tokens_head(h): why such an answer's head, or its
 * trailers, may not pass, or NULL; cookies that it would set are taken out. */
bool scrub_tokens_lent(struct scrub *);
const char *scrub_tokens_head(struct head *);
void scrub_tokens_data(struct scrub *, const void *, size_t);
bool scrub_tokens_end(struct scrub *);
void scrub_tokens_free(struct scrub *);

#endif
