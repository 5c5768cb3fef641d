/* h1.h - HTTP/1 as text: strict parsing of heads, chunked bodies, and writing both anew. Pure:
 * bytes in, struct out; no descriptor. Fuzzed (tests/fuzz/door_h1.c).
 *
 * Strict means: CR LF only, one space between the parts of a start line, no folding, no blank
 * before a colon, one Content-Length that is digits, Transfer-Encoding exactly "chunked" and never
 * together with Content-Length or in HTTP/1.0, exactly one Host, no absolute form whose authority
 * differs from Host, no CONNECT, no TRACE, upgrade only to websocket (notes of cases E2, E3). */
#ifndef EGRESS_H1_H
#define EGRESS_H1_H

#include "egress/head.h"

#include <sys/types.h>

/* h1_request(p, n, h, &status, err): > 0: bytes used, ${h} is filled; 0: more bytes are needed; -1:
 * refuse with ${status} (400, 405, 414, 417, 431, 501, 505) and the sentence. ${h} was head_init-ed
 * or head_clear-ed; after 0 and -1 it is empty. At most one empty line before a request is skipped.
 * HTTP/1.0 may come without Host: h->host.len is 0 then. A body of no bytes is HEAD_BODY_NONE. An
 * upgrade that is not a well-formed one to websocket is taken out, and the request goes on without
 * it. */
ssize_t h1_request(const char *, size_t, struct head *, int *status, struct err *);

/* h1_answer(p, n, is_head_request, h, err): the same for an answer; -1 means: the upstream cannot
 * be trusted with framing, give it up. A 1xx is returned like any other (body NONE). 204, 304, and
 * answers to HEAD have no body whatever they say; where they say something that a careless server
 * would also send a body for, is_persistent is false. 101 is returned only with a well-formed
 * upgrade to websocket (is_websocket); whether one was asked for, and Sec-WebSocket-Accept, the
 * caller checks. */
ssize_t h1_answer(const char *, size_t, bool is_head_request, struct head *, struct err *);

/* A body in chunks, fed as it arrives. */
struct h1_chunks {
        int state;
        uint64_t left;
        size_t line; /* length of the line being read */
        bool is_done;
        struct buf trailer; /* trailer section, raw, bounded */
};
/* h1_chunks_feed(c, p, n, &data, &data_len, err): use some of the ${n} bytes; at most one run of
 * ${data} per call (data_len 0 when there is none yet). Returns how many bytes were used, -1 for
 * nonsense. Call again until everything is used or is_done. Chunk extensions are bounded and
 * dropped.
 */
ssize_t h1_chunks_feed(struct h1_chunks *, const char *, size_t, const char **data,
                       size_t *data_len, struct err *);
/* h1_chunks_trailers(c, h, err): the trailer fields, filtered: no framing, routing, authentication,
 * cookie or content fields. */
int h1_chunks_trailers(struct h1_chunks *, struct head *, struct err *);
void h1_chunks_free(struct h1_chunks *);
/* h1_chunks_more(c, n): by how much its memory can grow when ${n} bytes are fed. */
size_t h1_chunks_more(const struct h1_chunks *, size_t n);

/* The writers break ${b} (and put nothing) instead of writing what our own parsers would refuse: a
 * name or value with other characters, or a field of one connection among the fields. */

/* h1_put_request(b, h): start line and fields with framing that follows h->body, ready to send.
 * Adds Host (with the port unless it is the usual one for ${is_tls}), nothing else. */
void h1_put_request(struct buf *, const struct head *, bool is_tls);
/* h1_put_answer(b, h, minor, is_persistent): for a client that speaks HTTP/1.${minor}. A body
 * without a length (HEAD_BODY_STREAM, HEAD_BODY_CLOSE) becomes chunked for 1.1 and ends with the
 * connection for 1.0, whatever ${is_persistent} says. 1.0 gets nothing of a 1xx. */
void h1_put_answer(struct buf *, const struct head *, int minor, bool is_persistent);
/* h1_answer_is_chunked(h, minor): has it just said so? Then chunks and h1_put_last follow. */
bool h1_answer_is_chunked(const struct head *, int minor);
/* h1_put_chunk_head(b, n): the line before a chunk; the caller adds the data and CR LF. A chunk of
 * nothing would be the last one and breaks ${b}. */
void h1_put_chunk_head(struct buf *, size_t n);
/* h1_put_last(b, trailers): the last chunk, with trailer fields unless NULL. */
void h1_put_last(struct buf *, const struct head *trailers);

/* h1_send_data(c, is_chunked, p, n), h1_send_last(c, trailers): a part of a body and the end of a
 * chunked one, onto a connection of either side (h1_send.c). False: it is full. */
struct conn;
bool h1_send_data(struct conn *, bool is_chunked, const void *, size_t);
void h1_send_last(struct conn *, const struct head *trailers);

/* h1_suspect(s, p, n): does the body of which ${p} is the next part hold what an origin that leaves
 * it unread could take for a request? ${s} is zero at first. A request without HTTP/ in its line is
 * of HTTP/0.9, and what is answered to that is no answer to us. */
struct h1_suspect {
        char tail[4]; /* the end of what came before */
        size_t tail_n;
};
bool h1_suspect(struct h1_suspect *, const char *, size_t);

#endif
