/* body.h - a request's body as policy sees it: JSON pointers and form fields, after undoing the
 * content coding. Pure; bounded; anything that two programs could read in two ways is unreadable:
 * duplicate keys, broken UTF-8, trailing bytes, unknown or wrong coding, bombs. */
#ifndef EGRESS_BODY_H
#define EGRESS_BODY_H

#include "policy/match.h"

struct path_canon;

enum { BODY_MAX = 1 << 20 }; /* as sent; decoded at most 8 times that */

struct body;

/* body_read(type, coding, bytes, n): ${type} and ${coding} are the values of Content-Type and
 * Content-Encoding, or "". Always gives something; body_state tells whether it could be read. */
struct body *body_read(const char *type, const char *coding, const void *, size_t);
/* body_fits_path(type, path): a body that calls itself a git push goes to where pushes go, and
 * nothing else does: otherwise the two ends could read it in two ways. */
bool body_fits_path(const char *type, const struct path_canon *);
/* body_has_tail(type, coding): does what is judged stand in front of bytes that mean nothing to any
 * rule? Then the first BODY_MAX bytes are enough for body_read: a git push, whose pack may be of
 * any size. */
bool body_has_tail(const char *type, const char *coding);
enum request_body body_state(const struct body *);
const char *body_why(const struct body *); /* why it is unreadable */
/* What struct request wants in body_each; body_ctx is the body. */
void body_each(void *body, enum rule_where, const char *name, request_visit *, void *ctx);
void body_free(struct body *);

#endif
