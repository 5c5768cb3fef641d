/* ssh_key.h - a private key of ssh as the keeper holds it: read from the text of its file, used for
 * signatures, never given out. Called by ssh_sign.c. */
#ifndef KEEPER_SSH_KEY_H
#define KEEPER_SSH_KEY_H

#include "base/buf.h"

#include <openssl/evp.h>

struct err;
struct ssh_bytes;
struct ssh_method;

struct ssh_key {
        EVP_PKEY *key;
        struct buf blob; /* the public key as ssh writes it */
        char *comment;   /* printable; "" when there is none */
};

enum { SSH_COMMENT_MAX = 128 };

/* ssh_key_read(text, n, key, err): the content of ~/.ssh/id_ed25519 and its like: openssh-key-v1 or
 * PEM; ed25519, ecdsa on NIST's curves, rsa. 0 (release it with ssh_key_free), or -1 and a sentence
 * that goes on after "the key of NAME". */
int ssh_key_read(const char *text, size_t n, struct ssh_key *, struct err *);
void ssh_key_free(struct ssh_key *);

/* ssh_key_public(text, n, key): of a file whose private half cannot be had here (it has a
 * passphrase, or is a .pub file) at least the public one; key->key is NULL. 0 or -1. */
int ssh_key_public(const char *text, size_t n, struct ssh_key *);

/* ssh_key_line(key, b): "ssh-ed25519 AAAA... comment", as in a .pub file. */
void ssh_key_line(const struct ssh_key *, struct buf *);

/* ssh_key_sign(key, method, data, b): append the signature as ssh writes it. 0 or -1. */
int ssh_key_sign(const struct ssh_key *, const struct ssh_method *, const struct ssh_bytes *data,
                 struct buf *);

/* For ssh_key.c and ssh_key_format.c. */
/* ssh_key_armour(text, n, &label): the bytes between BEGIN ${label} and its END, in OpenSSL's
 * locked memory; *len of them. The caller frees with OPENSSL_secure_clear_free(p, n). NULL: no such
 * thing.
 */
uint8_t *ssh_key_armour(const char *text, size_t n, const char *label, size_t *len);
/* ssh_key_open(bytes, key, err): openssh-key-v1. */
int ssh_key_open(const struct ssh_bytes *, struct ssh_key *, struct err *);
/* ssh_key_open_public(bytes, b): only its public half, which no passphrase hides. 0 or -1. */
int ssh_key_open_public(const struct ssh_bytes *, struct buf *);
/* ssh_key_decode(p, end, out): base64 with blanks in it; how many bytes, or -1. */
ssize_t ssh_key_decode(const char *p, const char *end, uint8_t *out);
/* ssh_key_blob(pkey, b): the public key as ssh writes it. 0 or -1 for a kind that ssh lacks. */
int ssh_key_blob(EVP_PKEY *, struct buf *);
void ssh_put(struct buf *, const void *, size_t);
void ssh_put_number(struct buf *, const BIGNUM *);

#endif
