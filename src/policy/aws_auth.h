/* aws_auth.h - the shape of an AWS signature in a request: the Authorization header, the parameters
 * of a presigned URL, the scope in both. egress reads them to tell whose a signature is, the keeper
 * once more before it makes it anew, so both do it here. Pure; strict: what AWS itself would not
 * write is not one. */
#ifndef POLICY_AWS_AUTH_H
#define POLICY_AWS_AUTH_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Bytes inside somebody else's text. */
struct aws_text {
        const char *p;
        size_t n;
};
bool aws_text_is(struct aws_text, const char *);

/* ID/YYYYMMDD/REGION/SERVICE/aws4_request */
struct aws_scope {
        struct aws_text id, date, region, service;
};
/* aws_scope_parse(p, n, scope): 0 or -1. Region and service are letters, digits, - and _. */
int aws_scope_parse(const char *, size_t, struct aws_scope *);

/* AWS4-HMAC-SHA256 Credential=SCOPE, SignedHeaders=a;b, Signature=64 digits */
struct aws_auth {
        struct aws_scope scope;
        struct aws_text names; /* small letters, sorted, each once, "host" among them */
        struct aws_text signature;
};
/* aws_auth_parse(value, n, auth): 0 or -1: another algorithm, a part that is missing, twice there
 * or unknown. */
int aws_auth_parse(const char *, size_t, struct aws_auth *);

/* aws_auth_name_ok(p, n): is this a name of a header, in small letters? */
bool aws_auth_name_ok(const char *, size_t);
/* aws_auth_names_ok(p, n): is this a list of signed headers? */
bool aws_auth_names_ok(const char *, size_t);
/* aws_auth_name_next(list, name): the next name of such a list, which is shortened by it; false at
 * its end. */
bool aws_auth_name_next(struct aws_text *list, struct aws_text *name);

/* aws_auth_is_aws(value, n): does this value of Authorization mean to be a signature of AWS, of any
 * version and however wrong? */
bool aws_auth_is_aws(const char *, size_t);

/* Which parameter of a query is this? Names count decoded and in any case, so that nobody hides one
 * from us that a server reads. */
enum aws_param {
        AWS_PARAM_OTHER,
        AWS_PARAM_ALGORITHM,
        AWS_PARAM_CREDENTIAL,
        AWS_PARAM_DATE,
        AWS_PARAM_EXPIRES,
        AWS_PARAM_NAMES, /* X-Amz-SignedHeaders */
        AWS_PARAM_TOKEN,
        AWS_PARAM_SIGNATURE,
        AWS_PARAM_CONTENT, /* X-Amz-Content-Sha256 */
        AWS_PARAM_OLD,     /* AWSAccessKeyId: version 2 */
        AWS_PARAMS,
};
enum aws_param aws_param_of(const char *name, size_t);
/* aws_param_name(p): as AWS writes it. */
const char *aws_param_name(enum aws_param);

/* aws_query_next(query, name, value): the next parameter of a raw query, which is shortened by it;
 * false at its end. Empty ones are passed over; without "=" the value is empty. */
bool aws_query_next(struct aws_text *query, struct aws_text *name, struct aws_text *value);

/* aws_decode(p, n, out): undo percent signs; a broken one stays as it is, and a plus is a plus. */
void aws_decode(const char *, size_t, struct buf *out);
/* aws_encode(p, n, keeps_slash, out): everything but A-Z a-z 0-9 - . _ ~ (and /) as %XX. */
void aws_encode(const char *, size_t, bool keeps_slash, struct buf *out);

/* A presigned query taken apart: each parameter of ours at most once. Values are decoded copies. */
struct aws_presigned {
        char *values[AWS_PARAMS]; /* NULL: not there */
        struct aws_scope scope;   /* inside values[AWS_PARAM_CREDENTIAL] */
};
/* aws_presigned_has(query, n): does it have any part of a signature? */
bool aws_presigned_has(const char *, size_t);
/* aws_presigned_parse(query, n, p): 0 when it is a whole signature of version 4, spelled as AWS
 * spells it; -1 otherwise. Free it with aws_presigned_free in either case. */
int aws_presigned_parse(const char *, size_t, struct aws_presigned *);
void aws_presigned_free(struct aws_presigned *);

#endif
