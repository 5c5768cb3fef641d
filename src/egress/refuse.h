/* refuse.h - the answers that the door gives itself, for people and for models: what was refused,
 * by which rule, and the command that would allow it. */
#ifndef EGRESS_REFUSE_H
#define EGRESS_REFUSE_H

#include "base/buf.h"
#include "egress/head.h"

struct refusal {
        int status;
        const char *what;  /* "GET https://host/path" */
        const char *words; /* "denied by default"; or NULL */
        const char *why;   /* one more sentence, or NULL */
        const char *cure;  /* rule line, or NULL */
        const char *box;   /* the box's id, for the command */
};

/* refuse_sentence(r): all of it on one line; the caller frees. */
char *refuse_sentence(const struct refusal *);

/* refuse_answer(r, request, head, body): plain text, or JSON when the request accepts it; for gRPC
 * a status that its clients show, with no body. ${request} may be NULL. */
void refuse_answer(const struct refusal *, const struct head *request, struct head *,
                   struct buf *body);

#endif
