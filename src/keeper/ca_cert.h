/* ca_cert.h - a new authority for one box: a P-256 key and a certificate signed with itself. Used
 * by make-ca and its tests; runs with the user's rights, never in a role. */
#ifndef KEEPER_CA_CERT_H
#define KEEPER_CA_CERT_H

#include <stddef.h>
#include <stdint.h>

struct err;

struct ca_cert {
        uint8_t *key_der, *cert_der; /* OpenSSL's memory */
        size_t key_len, cert_len;
        char *pem;     /* the certificate with a line of words before it */
        char hash[16]; /* "1a2b3c4d.0": the name OpenSSL looks for in a directory */
};

/* ca_cert_make(c, err): 0 or -1. ca_cert_free wipes the key. */
int ca_cert_make(struct ca_cert *, struct err *);
void ca_cert_free(struct ca_cert *);

#endif
