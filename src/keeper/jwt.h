/* jwt.h - assertions signed with RS256, as Google's and GitHub's token endpoints want them. Pure
 * but for OpenSSL; used by token_make.c. */
#ifndef KEEPER_JWT_H
#define KEEPER_JWT_H

#include <openssl/evp.h>

struct buf;
struct err;

/* jwt_key(pem, n, err): an RSA private key without passphrase; the caller's to free. NULL and a
 * sentence otherwise. */
EVP_PKEY *jwt_key(const void *pem, size_t n, struct err *);

/* jwt_sign(key, kid, claims, out, err): append "header.claims.signature". ${kid} may be NULL;
 * ${claims} is a JSON object as text. */
int jwt_sign(EVP_PKEY *, const char *kid, const char *claims, struct buf *out, struct err *);

/* jwt_base64url(p, n, out): without padding. */
void jwt_base64url(const void *, size_t, struct buf *out);

#endif
