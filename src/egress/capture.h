/* capture.h - tokens that are born in an answer: where they stand in the body of an OAuth or STS
 * token endpoint, so that the keeper gets them and the box a placeholder. Pure. */
#ifndef EGRESS_CAPTURE_H
#define EGRESS_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;

enum { CAPTURE_BODY_MAX = 256 << 10, CAPTURE_MAX = 16 };

enum capture_kind { CAPTURE_NOT, CAPTURE_JSON, CAPTURE_FORM, CAPTURE_XML };

/* capture_is_place(host, path): do tokens come from there? ${path} is canonical. */
bool capture_is_place(const char *host, const char *path);
/* capture_kind(type): how a body of that Content-Type is read; CAPTURE_NOT: it holds no tokens. */
enum capture_kind capture_kind(const char *type);

struct capture_token {
        size_t start, len; /* in the body, as written */
        char *name;        /* "access_token" */
        char *value;       /* with its escapes undone */
};

struct capture {
        enum capture_kind kind;
        struct capture_token tokens[CAPTURE_MAX];
        size_t n;
};

/* capture_find(kind, body, n, c, err): in the order in which they stand. -1 and a sentence when the
 * body cannot be read, or holds too many. */
int capture_find(enum capture_kind, const char *, size_t, struct capture *, struct err *);
void capture_free(struct capture *); /* wipes */
/* capture_put(kind, text, out): a placeholder as such a body writes it. */
void capture_put(enum capture_kind, const char *text, struct buf *out);

#endif
