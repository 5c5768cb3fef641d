/* awschunk.h - the body of an S3 upload in signed chunks ("aws-chunked"), taken apart as it comes.
 *
 *   1000;chunk-signature=64 digits CRLF  4096 bytes CRLF  ...  0;chunk-signature=... CRLF
 *   then CRLF, or in the trailer form: name:value CRLF ... x-amz-trailer-signature:... CRLF CRLF
 *
 * What comes out are units: a chunk, or the trailer, each with its hash and the place of its
 * signature, which has the same length whoever made it; so a body keeps every length when it is
 * signed anew. Strict: what two readers could take for two things ends the body. Pure but for
 * memory; called by sign_body.c. */
#ifndef EGRESS_AWSCHUNK_H
#define EGRESS_AWSCHUNK_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

enum {
        AWSCHUNK_MAX = 1 << 20, /* a chunk must be here whole before its head can be sent */
        AWSCHUNK_TRAILER_MAX = 8 << 10,
        AWSCHUNK_SIGNATURE = 64,
        AWSCHUNK_HASH = 32,
};

struct awschunk_unit {
        struct buf bytes; /* all of it, as it came */
        size_t signature; /* where the 64 digits stand */
        uint8_t hash[AWSCHUNK_HASH];
        bool is_trailer;
        bool is_last; /* nothing may follow */
};

struct awschunk;

/* awschunk_new(has_trailer, length): ${length} is x-amz-decoded-content-length, UINT64_MAX when
 * nobody said. */
struct awschunk *awschunk_new(bool has_trailer, uint64_t length);
void awschunk_free(struct awschunk *);
size_t awschunk_held(const struct awschunk *); /* bytes of memory */
/* awschunk_more(c, n): by how much the chunk that is read can grow when ${n} bytes come. */
size_t awschunk_more(const struct awschunk *, size_t n);

/* awschunk_feed(c, &p, &n, unit, err): read on; ${p} and ${n} move. 1: ${unit} was filled and is
 * the caller's (awschunk_unit_free), there may be more; 0: everything was taken; -1 with a
 * sentence. */
int awschunk_feed(struct awschunk *, const uint8_t **p, size_t *n, struct awschunk_unit *,
                  struct err *);
void awschunk_unit_free(struct awschunk_unit *);

/* awschunk_is_over(c): has the last unit been given? */
bool awschunk_is_over(const struct awschunk *);

/* --- only the data, of chunks with or without signatures (awschunk_plain.c) --- */
struct awschunk_plain { /* zeroed is ready */
        unsigned state;
        uint64_t left;
        char line[256];
        size_t line_n;
};
/* awschunk_plain_step(c, p, n, &used, to, room, err): some of the data that is in ${p}; what is
 * behind the last chunk counts as data. How many bytes, or -1 and a sentence. */
ssize_t awschunk_plain_step(struct awschunk_plain *, const uint8_t *p, size_t n, size_t *used,
                            uint8_t *to, size_t room, struct err *);
/* awschunk_plain_is_over(c): was the last chunk there? */
bool awschunk_plain_is_over(const struct awschunk_plain *);

#endif
