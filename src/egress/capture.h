/* capture.h - tokens that are born in an answer: where they stand in the body of a place that lends
 * credentials (policy/lenders.h), so that the keeper gets them and the box a placeholder. Pure.
 *
 * Such a body is read with certainty or not at all: what it is decides itself, since servers send
 * JSON as text/plain and as nothing; what its Content-Type says must not contradict. */
#ifndef EGRESS_CAPTURE_H
#define EGRESS_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;

enum { CAPTURE_BODY_MAX = 256 << 10, CAPTURE_MAX = 64 };

enum capture_kind { CAPTURE_NOT, CAPTURE_JSON, CAPTURE_FORM, CAPTURE_XML };

/* capture_kind(type, body, n): how this body is read; CAPTURE_NOT: not at all. ${type} is the
 * Content-Type, or "". */
enum capture_kind capture_kind(const char *type, const char *body, size_t n);

struct capture_token {
        size_t start, len; /* in the body, as written */
        char *name;        /* "access_token"; a piece of a key of AWS as STS calls it */
        char *value;       /* with its escapes undone */
};

struct capture {
        enum capture_kind kind;
        struct capture_token tokens[CAPTURE_MAX];
        size_t n;
};

/* capture_find(type, body, n, c, err): in the order in which they stand. -1 and a sentence when the
 * body cannot be read with certainty, or holds too many. */
int capture_find(const char *type, const char *, size_t, struct capture *, struct err *);
void capture_free(struct capture *); /* wipes */
/* capture_put(kind, text, out): a placeholder as such a body writes it. */
void capture_put(enum capture_kind, const char *text, struct buf *out);

/* --- for capture_xml.c --- */
/* capture_add(c, name, name_n, value, start, len, err): a token, if its name is one of a
 * credential. */
int capture_add(struct capture *, const char *name, size_t, const struct buf *value, size_t start,
                size_t len, struct err *);
int capture_xml(const char *, size_t, struct capture *, struct err *);

#endif
