/* body.h - a request's body as policy sees it: JSON pointers and form fields, after undoing the
 * content coding. Pure; bounded; anything that two programs could read in two ways is unreadable:
 * duplicate keys, broken UTF-8, trailing bytes, unknown or wrong coding, bombs. */
#ifndef EGRESS_BODY_H
#define EGRESS_BODY_H

#include "policy/match.h"

enum { BODY_MAX = 1 << 20 }; /* as sent; decoded at most 8 times that */

struct body;

/* body_read(type, coding, bytes, n): ${type} and ${coding} are the values of Content-Type and
 * Content-Encoding, or "". Always gives something; body_state tells whether it could be read. */
struct body *body_read(const char *type, const char *coding, const void *, size_t);
enum request_body body_state(const struct body *);
const char *body_why(const struct body *); /* why it is unreadable */
/* What struct request wants in body_each; body_ctx is the body. */
void body_each(void *body, enum rule_where, const char *name, request_visit *, void *ctx);
void body_free(struct body *);

#endif
