/* capture.h - tokens that are born in an answer: where they stand in the body of a place that lends
 * credentials (policy/lenders.h), so that the keeper gets them and the box a placeholder. Pure.
 *
 * Such a body is read with certainty or not at all: what it is decides itself, since servers send
 * JSON as text/plain and as nothing; what its Content-Type says must not contradict. Each string in
 * it is judged by its name and by its looks (policy/cred_look.h): a credential is taken out under
 * any name, and one that stands where nothing can take its place (in a text, in a name, in the
 * address of something) is an error. */
#ifndef EGRESS_CAPTURE_H
#define EGRESS_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;

enum { CAPTURE_BODY_MAX = 256 << 10, CAPTURE_MAX = 64 };

/* How an answer is read: of a place where every text is a credential, or its "id" (see
 * lenders_place); as one that says that nothing was lent, so that a name alone makes no credential. */
enum { CAPTURE_ALL = 1, CAPTURE_ERROR = 2, CAPTURE_ID = 4 };

enum capture_kind { CAPTURE_NOT, CAPTURE_JSON, CAPTURE_FORM, CAPTURE_XML };

/* capture_kind(type, body, n): how this body is read; CAPTURE_NOT: not at all. ${type} is the
 * Content-Type, or "". */
enum capture_kind capture_kind(const char *type, const char *body, size_t n);

struct capture_token {
        size_t start, len; /* in the body, as written */
        char *name;        /* "access_token"; a piece of a key of AWS as STS calls it */
        char *value;       /* with its escapes undone */
        bool is_sure;      /* its name says so, and it looks like nothing that others have, too */
};

struct capture {
        enum capture_kind kind;
        unsigned how; /* CAPTURE_ALL and so on */
        struct capture_token tokens[CAPTURE_MAX];
        size_t n;
};

/* capture_find(type, body, n, how, c, err): in the order in which they stand. -1 and a sentence
 * when the body cannot be read with certainty, or holds too many. */
int capture_find(const char *type, const char *, size_t, unsigned how, struct capture *,
                 struct err *);
/* capture_is_clean(p, n): is there nothing in a text that looks like a credential? For the pages of
 * errors, which are in no form. */
bool capture_is_clean(const char *, size_t);
/* capture_address(p, n): does an address (of a redirection) carry a credential? */
bool capture_address(const char *, size_t);
void capture_free(struct capture *); /* wipes */
/* capture_put(kind, text, out): a placeholder as such a body writes it. */
void capture_put(enum capture_kind, const char *text, struct buf *out);

/* --- for capture_xml.c --- */
/* capture_add(c, name, name_n, value, start, len, err): one string of the body: taken out when it is
 * a credential; -1 when it holds one that cannot be. */
int capture_add(struct capture *, const char *name, size_t, const struct buf *value, size_t start,
                size_t len, struct err *);
int capture_xml(const char *, size_t, struct capture *, struct err *);

#endif
