/* der.h - writing DER, backwards: a length stands before what it counts, so the last byte is
 * written first. Enough for a certificate; grows nothing, and a writer that runs out of room stays
 * broken. */
#ifndef KEEPER_DER_H
#define KEEPER_DER_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct der {
        uint8_t *start; /* of the room */
        uint8_t *at;    /* first byte written so far; NULL when it ran out */
        uint8_t *end;
};

enum {
        DER_BOOLEAN = 0x01,
        DER_INTEGER = 0x02,
        DER_BITS = 0x03,
        DER_OCTETS = 0x04,
        DER_UTF8 = 0x0c,
        DER_UTC_TIME = 0x17,
        DER_TIME = 0x18,
        DER_SEQ = 0x30,
        DER_SET = 0x31,
};

struct der der_in(uint8_t *room, size_t n);
/* der_mark(d): where we are, for der_wrap. */
const uint8_t *der_mark(const struct der *);
void der_raw(struct der *, const void *, size_t);
/* der_wrap(d, tag, mark): everything written since ${mark} becomes the content of one ${tag}. */
void der_wrap(struct der *, uint8_t tag, const uint8_t *mark);
/* der_put(d, tag, p, n): one whole element. */
void der_put(struct der *, uint8_t tag, const void *, size_t);
/* der_time(d, t): a point in time in the form that RFC 5280 wants for it. */
void der_time(struct der *, time_t);
/* der_len(d): bytes written; 0 when it ran out of room. They begin at d->at. */
size_t der_len(const struct der *);

#endif
