/* h2_head.h - heads as HTTP/2 writes them: pseudo-fields and fields, in and out of struct head.
 * Pure; for h2_server.c, h2_client.c and h2_common.c.
 *
 * nghttp2 has checked the order of pseudo-fields, that none is missing or twice, small letters,
 * connection-specific fields, and content-length against DATA. What policy judges is made here, by
 * the same functions as for HTTP/1, and what HTTP/1 refuses is refused. */
#ifndef EGRESS_H2_HEAD_H
#define EGRESS_H2_HEAD_H

#include "base/buf.h"
#include "egress/head.h"

#include <nghttp2/nghttp2.h>
#include <stdbool.h>
#include <stddef.h>

struct err;

/* A head on its way in. */
struct h2_in {
        struct head head;
        struct h2_text {
                uint32_t at, len; /* in head.store */
        } path, authority, scheme, protocol, host;
        struct buf cookies; /* crumbs, joined */
        size_t bytes, hosts_n;
        bool has_expect;
        int status; /* 0, or the refusal that is certain already */
        const char *why;
};

void h2_in_begin(struct h2_in *); /* forget what was there */
void h2_in_free(struct h2_in *);

/* h2_in_field(in, name, name_len, value, value_len): one more. 0; -1 when it is so much that the
 * stream should be reset instead of answered. */
int h2_in_field(struct h2_in *, const char *, size_t, const char *, size_t);

/* h2_in_request(in, is_tls, is_end, &status, err): make in->head a request. -1: refuse it with
 * ${status} and the sentence. */
int h2_in_request(struct h2_in *, bool is_tls, bool is_end, int *status, struct err *);
/* h2_in_answer(in, is_head_request, is_end, err): make it an answer. -1: give it up. */
int h2_in_answer(struct h2_in *, bool is_head_request, bool is_end, struct err *);
/* h2_in_trailers(in, err): leave only fields that may come after a body. */
int h2_in_trailers(struct h2_in *, struct err *);

/* What nghttp2 wants for a head; it points into the head and into `text`. */
struct h2_out {
        nghttp2_nv nv[HEAD_FIELDS_MAX + 8];
        size_t n;
        char text[HOST_TEXT_MAX + 64];
        size_t text_n;
        struct buf target;
};
void h2_out_request(struct h2_out *, const struct head *, bool is_tls);
/* h2_out_answer(o, h): a 101 becomes 200, which is how HTTP/2 agrees to a WebSocket. */
void h2_out_answer(struct h2_out *, const struct head *);
void h2_out_trailers(struct h2_out *, const struct head *);
void h2_out_free(struct h2_out *);

#endif
