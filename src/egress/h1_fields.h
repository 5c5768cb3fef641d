/* h1_fields.h - the field lines of a message and what they say about its framing: the part that
 * requests, answers and trailers have in common. Only for the h1_*.c files. */
#ifndef EGRESS_H1_FIELDS_H
#define EGRESS_H1_FIELDS_H

#include "egress/head.h"

#include <sys/types.h>

struct h1_span {
        const char *p; /* in the bytes that came in */
        size_t n;
};

enum { H1_CONNECTIONS_MAX = 8, H1_OPTIONS_MAX = 32 };

struct h1_fields {
        size_t lines_n;
        struct h1_span host, upgrade;
        size_t hosts_n, upgrades_n;
        bool has_length, is_chunked, wants_continue, takes_trailers;
        uint64_t length;
        struct h1_span connection[H1_CONNECTIONS_MAX];
        size_t connections_n;
        /* said by Connection */
        bool says_close, says_keep_alive, says_upgrade;
};

/* h1_fields_read(p, n, h, f, &status, err): field lines up to and with the empty line; fields that
 * go from end to end are added to ${h}, the others told in ${f}. > 0: bytes used; 0: more are
 * needed; -1 and a sentence, and ${status} if it is another one than before. */
ssize_t h1_fields_read(const char *, size_t, struct head *, struct h1_fields *, int *status,
                       struct err *);

/* h1_fields_settle(h, f, minor, err): after everything was read: what contradicts itself is
 * refused, and what Connection lists is taken out of ${h}. */
int h1_fields_settle(struct head *, struct h1_fields *, int minor, struct err *);

/* h1_line_end(at, end): does CR LF stand at ${at}? 1: yes; 0: perhaps, more bytes are needed; -1:
 * no.
 */
static inline int h1_line_end(const char *at, const char *end)
{
        if (at == end)
                return 0;
        if (at[0] != '\r')
                return -1;
        if (at + 1 == end)
                return 0;
        return at[1] == '\n' ? 1 : -1;
}

#endif
