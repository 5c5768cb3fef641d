/* sigv4.h - AWS Signature Version 4 as pure functions: what is signed (sigv4_canon.c), with which
 * key (sigv4_key.c), and how a signature that was made in the box becomes one of the real key
 * (sigv4.c). No clock, no file, no message: sign.c has those.
 *
 * The rules that break signers are in docs/signing.md; each has its case in
 * tests/unit/door_sign.c. */
#ifndef KEEPER_SIGV4_H
#define KEEPER_SIGV4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct buf;
struct err;

enum { SIGV4_HASH = 32, SIGV4_HEX = 64, SIGV4_STAMP = 16, SIGV4_EXPIRES_MAX = 604800 };
enum { SIGV4_SCOPE_MAX = 192 };

struct sigv4_field {
        const char *name, *value; /* the name in small letters */
};

/* --- what is signed (sigv4_canon.c) --- */

/* sigv4_put_path(path, n, is_s3, b): S3 signs what is sent, encoded once, and every slash and dot
 * of it; everybody else takes dots and double slashes out and encodes what is sent once more. */
void sigv4_put_path(const char *, size_t, bool is_s3, struct buf *);
/* sigv4_put_query(query, n, b): sorted by encoded name, then by encoded value; X-Amz-Signature is
 * left out. */
void sigv4_put_query(const char *, size_t, struct buf *);
/* sigv4_put_fields(fields, n, names, b): "name:value" lines of the names in ${names} ("a;b"),
 * trimmed, several of one name joined by commas. */
void sigv4_put_fields(const struct sigv4_field *, size_t, const char *names, struct buf *);
/* sigv4_put_request(...): all of the canonical request. ${target} is path and query as sent. */
void sigv4_put_request(const char *method, const char *target, bool is_s3,
                       const struct sigv4_field *, size_t, const char *names, const char *payload,
                       struct buf *);

/* --- with which key (sigv4_key.c) --- */

/* sigv4_stamp(t, out): 20130524T000000Z. */
void sigv4_stamp(time_t, char out[SIGV4_STAMP + 1]);
/* The last keys that were derived from one secret: four HMACs saved a request. It lives in locked
 * memory, zeroed is empty, and it is wiped when the secret changes or goes. */
struct sigv4_keys {
        struct {
                char scope[SIGV4_SCOPE_MAX];
                uint8_t key[SIGV4_HASH];
        } slots[8];
        size_t next;
};
/* sigv4_key(secret, scope, keys, out): the signing key of one day, region and service; ${scope} is
 * "20130524/us-east-1/s3/aws4_request". ${keys} may be NULL. */
void sigv4_key(const char *secret, const char *scope, struct sigv4_keys *, uint8_t out[SIGV4_HASH]);
/* sigv4_sign(key, stamp, scope, request, n, out): the signature of a canonical request. */
void sigv4_sign(const uint8_t key[SIGV4_HASH], const char *stamp, const char *scope,
                const void *request, size_t, char out[SIGV4_HEX + 1]);

/* A chain of signed chunks: each signs the one before. */
struct sigv4_chain {
        uint8_t key[SIGV4_HASH];
        char stamp[SIGV4_STAMP + 1];
        char scope[SIGV4_SCOPE_MAX];
        char last[SIGV4_HEX + 1]; /* the signature before, first the request's own */
        bool has_trailer;
};
/* sigv4_chain_next(c, hash, is_trailer): sign the next chunk whose data has this SHA-256, or the
 * trailer's lines; the result is in c->last. */
void sigv4_chain_next(struct sigv4_chain *, const uint8_t hash[SIGV4_HASH], bool is_trailer);

/* --- a signature of the box, made anew (sigv4.c) --- */

struct sigv4_ask {
        const char *method, *target;      /* as it goes to the origin */
        const char *host;                 /* its name alone, for what the line does not say */
        const struct sigv4_field *fields; /* all of them, "host" too, and "content-length" */
        size_t fields_n;
        const char *payload; /* the last line: hash of the body, UNSIGNED-PAYLOAD, STREAMING-... */
        bool is_tls;
        bool may_inject; /* without any signature: make one */
};
struct sigv4_secret {
        const char *id, *key, *token;       /* the real ones; token NULL when there is none */
        const char *shown_id, *shown_token; /* what the box has in their place; token NULL */
        const char *service, *region;       /* as the line says, or NULL */
        uint64_t left_s;                    /* a URL lives no longer than that; 0: no limit */
        struct sigv4_keys *keys;            /* may be NULL */
};
enum { SIGV4_FIELDS_MAX = 4 };
struct sigv4_made {
        char *target; /* NULL: as it was */
        struct {
                const char *name;
                char *value; /* "": take it out */
        } fields[SIGV4_FIELDS_MAX];
        size_t fields_n;
        bool has_chunks;
        struct sigv4_chain chain; /* when it has chunks */
};
/* sigv4_make(ask, secret, now, made, err): sign anew what was signed with the placeholder. -1 with
 * a sentence when there is no such signature, when it is for another service or region, or when
 * only half of it is ours. Release with sigv4_made_free in either case. */
int sigv4_make(const struct sigv4_ask *, const struct sigv4_secret *, time_t now,
               struct sigv4_made *, struct err *);
void sigv4_made_free(struct sigv4_made *);

#endif
