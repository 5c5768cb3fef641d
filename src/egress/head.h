/* head.h - the head of a request or an answer in the one form that everybody here works on,
 * whatever protocol it came in: HTTP/1, HTTP/2, WebSocket, gRPC.
 *
 * A head owns its bytes: names and values point into `store`. Parsers fill it through head_add,
 * which enforces the limits; writers rebuild from it and never see the bytes that came in. */
#ifndef EGRESS_HEAD_H
#define EGRESS_HEAD_H

#include "base/buf.h"
#include "policy/host_name.h"
#include "policy/path_canon.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum {
        HEAD_FIELDS_MAX = 128,
        HEAD_LINE_MAX = 16 << 10,
        HEAD_BYTES_MAX = 64 << 10,
};

struct field {
        uint32_t name, name_len; /* offsets into store; NUL-terminated there; small letters */
        uint32_t value, value_len;
        bool is_secret; /* the keeper gave it: never indexed by anybody's compression */
};

enum head_body {
        HEAD_BODY_NONE,
        HEAD_BODY_LENGTH, /* `length` bytes */
        HEAD_BODY_STREAM, /* ends when its engine says so: chunked, or HTTP/2 without a length */
        HEAD_BODY_CLOSE,  /* an HTTP/1 answer that ends with its connection */
};

struct head {
        /* of a request */
        uint32_t method, method_len; /* in store */
        uint32_t target, target_len; /* path and query as they were sent, raw */
        struct host_name host;       /* from Host or :authority; len 0 when there was none */
        uint16_t port;               /* written there, or 0 */
        struct path_canon path;      /* made from target; forward path.text */
        uint32_t query, query_len;   /* after "?"; query is 0 when there is none */
        bool is_options_star;        /* OPTIONS * */
        bool wants_continue;         /* Expect: 100-continue */
        bool is_websocket;           /* a well-formed upgrade to websocket, h1 or RFC 8441 */
        bool is_grpc;                /* content-type application/grpc... */
        bool takes_trailers;         /* TE: trailers */

        /* of an answer */
        uint16_t status;
        bool is_to_head; /* answers HEAD: no body, and no length unless has_length */
        bool has_length; /* the sender told ${length}; of use where there is no body: HEAD, 304 */

        /* of both */
        bool has_secrets;      /* head_free wipes it */
        bool is_target_secret; /* as a field's is_secret, for path and query */
        uint8_t minor;         /* HTTP/1.x; 1 for HTTP/2 */
        bool is_persistent;    /* HTTP/1: the connection stays open after this message */
        enum head_body body;
        uint64_t length;

        /* End-to-end fields only, in order, names in small letters. What belongs to one connection
         * (connection, keep-alive, transfer-encoding, te, upgrade, proxy-*, host, content-length,
         * expect, trailer, and whatever Connection listed) is taken out by the parser and is in the
         * members above. */
        struct field fields[HEAD_FIELDS_MAX];
        size_t fields_n;
        struct buf store;
};

void head_init(struct head *); /* empty, ready to be filled */
void head_free(struct head *); /* empty again, and ready to be filled */
/* head_clear(h): the same as head_free, but the store's memory is kept for the next message. */
void head_clear(struct head *);
/* head_move(to, from): ${to}, which held nothing, gets everything; ${from} is empty afterwards. */
void head_move(struct head *to, struct head *from);

/* head_put(h, p, n): copy bytes and a NUL into the store; their offset. Offset 0 is given only when
 * the store is full, which head_add and head_target report. */
uint32_t head_put(struct head *, const void *, size_t);

/* head_add(h, name, name_len, value, value_len, err): one more field, lower-casing the name. -1
 * when there are too many or they are too large. The caller has checked the characters. What is
 * given to these functions may be in the store itself. */
int head_add(struct head *, const char *name, size_t, const char *value, size_t, struct err *);

static inline const char *head_str(const struct head *h, uint32_t off)
{
        return off ? (const char *)h->store.data + off : "";
}

/* head_find(h, name): the first field of that name, or NULL. head_count: how many there are. */
const struct field *head_find(const struct head *, const char *name);
size_t head_count(const struct head *, const char *name);
/* head_drop(h, name): take all fields of that name out. */
void head_drop(struct head *, const char *name);

/* head_target(h, target, len, err): take a request target in origin form ("/path?query", or "*" for
 * OPTIONS): fills target, path, query. -1 and a sentence when path_canon refuses it. */
int head_target(struct head *, const char *, size_t, struct err *);

/* head_authority(h, text, len, err): "host" or "host:port" into host and port. The one place where
 * Host and :authority become a host_name. */
int head_authority(struct head *, const char *, size_t, struct err *);

/* head_is_token(p, n), head_is_value(p, n): RFC 9110 token; field value without control bytes (tab
 * is fine), no blanks at its ends. Used by every parser and by every writer before it writes. */
bool head_is_token(const char *, size_t);
bool head_is_value(const char *, size_t);

/* head_is_hop(name, n): does a field of that name (any case) belong to one connection, so that it
 * never stands in `fields`? */
bool head_is_hop(const char *, size_t);
/* head_may_trail(name, n): may a field of that name (small letters) stand in a trailer? Nothing
 * that frames, routes, authenticates or describes the content may. For HTTP/2 trailers too. */
bool head_may_trail(const char *, size_t);
/* head_is_grpc_type(value, n): is this content type gRPC's? */
bool head_is_grpc_type(const char *, size_t);

#endif
