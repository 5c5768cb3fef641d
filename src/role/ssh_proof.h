/* ssh_proof.h - what an ssh client has to show before something is signed for it: that a server
 * with a known host key took part in this session (session-bind@openssh.com), and that the bytes to
 * be signed log in to that session and do nothing else.
 *
 * egress judges by it, and the keeper again: whoever takes egress over still gets no signature that
 * a server of a granted place did not ask for. All bytes are the box's; nothing is copied. */
#ifndef ROLE_SSH_PROOF_H
#define ROLE_SSH_PROOF_H

#include "base/cur.h"

#include <openssl/evp.h>
#include <stdbool.h>

struct err;

struct ssh_bytes {
        const uint8_t *p;
        size_t n;
};

/* ssh_get(c, max, s): the next string of the wire: u32 length and bytes. 0 or -1. */
int ssh_get(struct cur *, size_t max, struct ssh_bytes *);
bool ssh_is(const struct ssh_bytes *, const char *text);
bool ssh_same(const struct ssh_bytes *, const struct ssh_bytes *);
/* ssh_words(s, words): as much of it as a person can read, for a record. Returns ${words}. */
enum { SSH_WORDS = 65 };
const char *ssh_words(const struct ssh_bytes *, char words[SSH_WORDS]);

enum { SSH_SESSION_MAX = 128, SSH_SIGNATURE_MAX = 2048, SSH_LOGIN_MAX = 16 << 10 };

/* Numbers of the protocol that an agent speaks (draft-ietf-sshm-ssh-agent). */
enum { SSH_FLAG_SHA256 = 2, SSH_FLAG_SHA512 = 4 };

/* How a signature is made: its name on the wire, the hash (NULL for ed25519). */
struct ssh_method {
        const char *name;   /* "rsa-sha2-512" */
        const char *key;    /* the type of the key that makes it: "ssh-rsa" */
        const char *digest; /* OpenSSL's name */
        const char *curve;  /* "nistp256" and its like; else NULL */
        const char *group;  /* OpenSSL's name of it */
};
/* ssh_method_find(name): NULL for what nobody should use any more, such as ssh-rsa with SHA-1. */
const struct ssh_method *ssh_method_find(const struct ssh_bytes *name);
/* ssh_method_of_key(type): any method of a key of that type; NULL when we do not know the type. */
const struct ssh_method *ssh_method_of_key(const struct ssh_bytes *type);

/* ssh_public_key(blob, err): of ssh-ed25519, ecdsa-sha2-nistp*, or ssh-rsa from 2048 to 8192 bits;
 * the caller frees. NULL and a sentence otherwise. */
EVP_PKEY *ssh_public_key(const struct ssh_bytes *blob, struct err *);

/* ssh_signature_check(key, method, signature, text, err): did ${key} sign ${text}, by ${method}
 * (NULL: by any that it can)? 0 or -1. */
int ssh_signature_check(const struct ssh_bytes *key, const struct ssh_method *,
                        const struct ssh_bytes *signature, const struct ssh_bytes *text,
                        struct err *);

/* What session-bind brings. */
struct ssh_bind {
        struct ssh_bytes host_key, session, signature;
};
/* ssh_bind_check(b, err): did the holder of the host key sign this session? 0 or -1. */
int ssh_bind_check(const struct ssh_bind *, struct err *);

struct ssh_login {
        struct ssh_bytes user;
        const struct ssh_method *method; /* how the answer has to be signed */
};
/* ssh_login_check(data, b, key, flags, login, err): is ${data} the request of RFC 4252, 7 (or its
 * variant publickey-hostbound-v00@openssh.com) for this session, this key and nothing behind it?
 * 0 and ${login}, or -1 and a sentence. */
int ssh_login_check(const struct ssh_bytes *data, const struct ssh_bind *,
                    const struct ssh_bytes *key, uint32_t flags, struct ssh_login *, struct err *);

#endif
