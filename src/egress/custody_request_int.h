/* custody_request_int.h - one request on its way past the keeper, for the two files that carry it:
 * custody_request.c (asking, placing, signing) and custody_request_judge.c (what the head shows,
 * and whether it may). Nobody else looks in here. */
#ifndef EGRESS_CUSTODY_REQUEST_INT_H
#define EGRESS_CUSTODY_REQUEST_INT_H

#include "egress/custody_request.h"
#include "egress/custody_slots.h"
#include "egress/door.h"

enum { CUSTODY_SHOWN_MAX = 16 };

/* One question to the keeper. */
struct custody_asked {
        struct custody_request *q;
        struct keeper_call *call;
};

struct custody_request {
        struct door *door;
        struct host_name host;
        struct origin origin;
        const struct head *in;
        struct head out;
        bool has_out, is_over;
        bool is_tripped;          /* custody_request_trip found nothing */
        uint64_t trip_generation; /* of the list of secrets, then */
        struct custody_uses uses;
        struct custody_asked asked[CUSTODY_USES_MAX];
        size_t asked_n; /* that are not answered */

        const struct custody_secret *signer; /* whose signature is made anew */
        size_t signer_form;
        struct sign *sign;
        bool is_placed, is_body_here;
        const void *body;
        size_t body_n;

        uint32_t shown[CUSTODY_SHOWN_MAX];
        size_t shown_n;
        struct buf names;
        uint32_t rung[CUSTODY_LEAKS_MAX]; /* secrets whose alarm it has rung */
        size_t rung_n;

        void (*fn)(void *, const struct custody_verdict *);
        void *ctx;
};

/* custody_request_judge(q, place): find its slots and its signer; NULL, or why it is refused, which
 * the caller frees. */
char *custody_request_judge(struct custody_request *, const struct custody_place *);

#endif
