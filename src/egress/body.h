/* body.h - a request's body as policy sees it: JSON pointers and form fields, after undoing the
 * content coding. Pure; bounded; anything that two programs could read in two ways is unreadable:
 * duplicate keys, broken UTF-8, trailing bytes, unknown or wrong coding, bombs. */
#ifndef EGRESS_BODY_H
#define EGRESS_BODY_H

#include "policy/match.h"

struct account;
struct path_canon;
struct work_budget;

/* As sent, and decoded no more than that either. What an agent says to a model has images in it and
 * the whole conversation. */
enum { BODY_MAX = 8 << 20, BODY_CHANGED_MAX = 1 << 20 /* to have secrets written into it */ };

struct body;

/* body_read(type, coding, bytes, n): ${type} and ${coding} are the values of Content-Type and
 * Content-Encoding, or "". Always gives something; body_state tells whether it could be read. */
struct body *body_read(const char *type, const char *coding, const void *, size_t);
/* body_begin(type, coding, bytes, n, work, account): the same, in turns: call body_step until it says
 * true; only then is anything else to be asked of it. ${bytes} need not live longer. */
struct body *body_begin(const char *type, const char *coding, const void *, size_t,
                        struct work_budget *, struct account *);
bool body_step(struct body *);
/* body_message(is_text, bytes, n, work, account): the same for a message of a WebSocket, whole. */
struct body *body_message(bool is_text, const void *, size_t, struct work_budget *,
                          struct account *);
/* body_fits_path(type, path): a body that calls itself a git push goes to where pushes go, and
 * nothing else does: otherwise the two ends could read it in two ways. */
bool body_fits_path(const char *type, const struct path_canon *);
/* body_has_tail(type, coding): does what is judged stand in front of bytes that mean nothing to any
 * rule? Then the first BODY_MAX bytes are enough for body_read: a git push, whose pack may be of
 * any size. */
bool body_has_tail(const char *type, const char *coding);
/* body_cut(b): it was only the beginning of something larger, so it cannot be judged as a whole. */
void body_cut(struct body *);
enum request_body body_state(const struct body *);
/* body_is_partial(b): it is unreadable, and a field may stand where nobody looked: behind the limit,
 * under a coding that was not undone, in a form whose parts were not told apart. */
bool body_is_partial(const struct body *);
const char *body_why(const struct body *); /* why it is unreadable */
/* body_is_short(b): it was not read because the account has no room. */
bool body_is_short(const struct body *);
/* body_looked(b): how many bytes body_each has looked at since this was last asked. */
size_t body_looked(struct body *);
/* What struct request wants in body_each; body_ctx is the body. */
void body_each(void *body, enum rule_where, const char *name, bool is_loose, request_visit *,
               void *ctx);
void body_free(struct body *);

#endif
