/* sign_int.h - what the files behind sign.h share. */
#ifndef EGRESS_SIGN_INT_H
#define EGRESS_SIGN_INT_H

#include "base/cleanup.h"
#include "egress/sign.h"

struct awschunk;
struct sign_unit;

struct sign {
        struct door *door;
        struct head *head;
        struct keeper_call *call;
        void (*fn)(void *ctx, const char *why);
        void *ctx;
        char *why;       /* refused before the keeper was asked */
        bool is_later;   /* a call by door_later is on its way */
        bool is_freed;   /* by sign_free; the memory goes when nobody stands on it */
        unsigned busy_n; /* how many of its functions are on the stack */

        uint32_t chain; /* of the keeper; 0: no chunks */
        bool has_trailer;
        uint64_t length; /* x-amz-decoded-content-length; UINT64_MAX: nobody said */
        struct awschunk *chunks;
        struct sign_unit *units, **units_end; /* that wait for their signature */
        size_t units_n, units_len;
        bool is_end_here; /* nothing more comes in */
        bool is_over;     /* nothing more goes out */
        bool is_full;
        const struct sign_body_ops *ops;
        void *ops_ctx;
};

/* sign_enter(s), sign_leave(s): around whatever calls somebody who may free it. sign_leave is false
 * when that has happened: then nothing of it may be touched. */
void sign_enter(struct sign *);
bool sign_leave(struct sign *);

/* sign_units_drop(s): nobody waits for signatures any more (sign_body.c). */
void sign_units_drop(struct sign *);

/* sign_no_words(body): the sentence of a DOOR_PLACE_NO. The caller frees. */
char *sign_no_words(struct cur *);

/* --- sign_look.c --- */
/* sign_placeholder(secret, part): NULL when it has no such part. */
const char *sign_placeholder(const struct custody_secret *, const char *part);
/* sign_small(s): a copy in small letters. */
char *sign_small(const char *);
/* sign_is_s3(secret, head): is it signed for S3, whose rules differ? */
bool sign_is_s3(const struct custody_secret *, const struct head *);
/* sign_payload(secret, head): the payload line, or NULL when it is the hash of the body. The caller
 * frees. */
char *sign_payload(const struct custody_secret *, const struct head *);

#endif
