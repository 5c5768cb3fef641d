/* leaf.h - the keeper's certificates as OpenSSL wants them, without what makes reading one dear:
 * its public key, which is the same in all of them. Used by tls.c. */
#ifndef EGRESS_LEAF_H
#define EGRESS_LEAF_H

#include <openssl/x509.h>
#include <stddef.h>
#include <stdint.h>

/* leaf_public(key): the public half of the box's leaf key in the form that leaf_read wants; the
 * caller's. NULL when the key is not on a curve; leaf_read takes that too. */
EVP_PKEY *leaf_public(const EVP_PKEY *);

/* leaf_read(der, n, pub): the certificate, the caller's, or NULL when ${der} is none. */
X509 *leaf_read(const uint8_t *, size_t, EVP_PKEY *pub);

#endif
