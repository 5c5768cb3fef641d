/* custody_body_slots.h - bodies in which a secret has a slot: JSON and forms, read as they come,
 * split anywhere. Pure but for memory; for custody_body.c and websocket.c.
 *
 * The reader hands on every byte through `pass`, but for the value of a slot, which is held until
 * it is whole and then shown to `slot`: when that one takes it, the reader stops behind it, and
 * whoever took it writes something in its place. */
#ifndef EGRESS_CUSTODY_BODY_SLOTS_H
#define EGRESS_CUSTODY_BODY_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct err;

enum { CUSTODY_BODY_SLOTS_MAX = 16 };

struct custody_sink {
        void (*pass)(void *ctx, const void *, size_t);
        /* ${which} is the index of the pointer or field; ${text} is decoded. True: taken; then a
         * value, and of JSON the closing quote, is the taker's to write. */
        bool (*slot)(void *ctx, size_t which, const char *text, size_t n);
        void *ctx;
};

/* custody_json_new(pointers, n, longest, sink): ${longest} is that of a decoded value that matters;
 * ${pointers} must live as long as this. */
struct custody_json;
struct custody_json *custody_json_new(const char *const *pointers, size_t n, size_t longest,
                                      const struct custody_sink *);
void custody_json_free(struct custody_json *);
/* custody_json_feed(j, p, n, err): how many bytes were used: all, or up to a slot that was taken.
 * -1: this is not JSON that everybody reads alike. */
ssize_t custody_json_feed(struct custody_json *, const char *, size_t, struct err *);
int custody_json_end(struct custody_json *, struct err *);

/* The same for a form (application/x-www-form-urlencoded). custody_form_end may still find a slot,
 * whose value ends with the body: 1 when it was taken. */
struct custody_form;
struct custody_form *custody_form_new(const char *const *names, size_t n, size_t longest,
                                      const struct custody_sink *);
void custody_form_free(struct custody_form *);
ssize_t custody_form_feed(struct custody_form *, const char *, size_t, struct err *);
int custody_form_end(struct custody_form *, struct err *);

#endif
