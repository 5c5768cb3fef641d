/* custody_body_int.h - the inside of a body on its way through custody, for the two files that work
 * on it: custody_body.c (the stream) and custody_body_make.c (what kind of body it is). */
#ifndef EGRESS_CUSTODY_BODY_INT_H
#define EGRESS_CUSTODY_BODY_INT_H

#include "egress/custody_body.h"
#include "egress/custody_body_slots.h"
#include "egress/door.h"
#include "egress/pack.h"
#include "egress/scan.h"
#include "egress/undo.h"

/* A slot that a line declares. */
struct slot {
        const struct custody_secret *secret;
        size_t form;
};

struct custody_body {
        struct door *door;
        struct custody_request *q;
        const struct custody_body_ops *ops;
        void *ctx;
        bool is_model, is_over, is_full;
        bool is_ending; /* nothing more is fed */
        bool is_end;    /* and all that was fed has been read */
        bool is_watch;  /* nothing of it is passed on, and the keeper is not asked */

        struct buf pend; /* fed, and not looked at yet */
        size_t pend_at;
        size_t charged;      /* for what it holds */
        struct work_job job; /* waits for its next turn */
        struct undo *undo;
        struct pack *pack; /* looks into what is packed; NULL where slots are read */
        bool is_packing;   /* that goes on */
        struct pack_lag lagging;
        struct buf lag; /* compressed and packed bytes that were not passed on yet */
        const char *where;
        struct scan scan;
        struct buf tail; /* what the scanner holds back */
        size_t ahead;    /* bytes that it holds back and that went on all the same */
        struct loop_timer timer;

        struct slot slots[CUSTODY_BODY_SLOTS_MAX];
        const char *names[CUSTODY_BODY_SLOTS_MAX];
        size_t slots_n;
        struct custody_sink sink;
        struct custody_json *json;
        struct custody_form *form;
        struct keeper_call *call; /* while the keeper is asked */
        bool is_asked;
        struct buf waiting; /* what came meanwhile, decoded */
};

/* For the timer, and for whoever reads slots; ${ctx} is the body. */
void custody_body_quiet(void *ctx);
void custody_body_turn(void *ctx);
/* custody_body_charge(b): what it holds, for the account. */
void custody_body_charge(struct custody_body *);
void custody_body_pass(void *ctx, const void *, size_t);
bool custody_body_slot(void *ctx, size_t which, const char *text, size_t n);

#endif
