/* sigv4_int.h - what sigv4.c (the request, the header) and sigv4_query.c (the URL) share. */
#ifndef KEEPER_SIGV4_INT_H
#define KEEPER_SIGV4_INT_H

#include "base/buf.h"
#include "keeper/sigv4.h"
#include "policy/aws_auth.h"

struct err;

enum { SIGV4_ALL_FIELDS_MAX = 192 };

/* One request on its way from the box's signature to ours. */
struct sigv4_job {
        const struct sigv4_ask *ask;
        const struct sigv4_secret *secret;
        struct sigv4_made *made;
        struct err *err;

        struct sigv4_field fields[SIGV4_ALL_FIELDS_MAX]; /* as they will be sent */
        size_t fields_n;
        char service[72], region[72]; /* of the new scope */
        char stamp[SIGV4_STAMP + 1], scope[SIGV4_SCOPE_MAX];
        const char *payload;
        struct buf names; /* the new list of signed headers */
};

/* sigv4_refuse(j, words): -1. */
int sigv4_refuse(struct sigv4_job *, const char *words);
/* sigv4_field(j, name, &n): the last value of that name, and how many there are. */
const char *sigv4_field(const struct sigv4_job *, const char *name, size_t *n);
/* sigv4_check_token(j, token): a session token beside our id is ours as well, or there is none
 * (NULL). */
int sigv4_check_token(struct sigv4_job *, const char *token);
/* sigv4_pin(j, scope): the scope that the box asks for (NULL: none) against what the line says or,
 * where it is silent, what the host's name says. */
int sigv4_pin(struct sigv4_job *, const struct aws_scope *);
/* sigv4_take_payload(j): the last line of what is signed. */
int sigv4_take_payload(struct sigv4_job *);
/* sigv4_begin_scope(j, now): stamp and scope. */
void sigv4_begin_scope(struct sigv4_job *, time_t now);
/* sigv4_put_names(j, asked): the client's signed headers, as far as they are still there, and those
 * that we set; without a client's list everything that AWS wants signed. */
void sigv4_put_names(struct sigv4_job *, struct aws_text asked);
/* sigv4_sign_job(j, target, out): the signature. */
int sigv4_sign_job(struct sigv4_job *, const char *target, char out[SIGV4_HEX + 1]);

/* sigv4_in_query(j, p, now): a presigned URL (sigv4_query.c). */
int sigv4_in_query(struct sigv4_job *, const struct aws_presigned *, time_t now);

#endif
