/* trust.h - whom egress believes upstream: the system's roots by an index that is mapped and not
 * loaded, and the files that rules name with ca=.
 *
 * Loading a hundred and forty roots takes 25 ms of every box; a box meets five of them. The index
 * holds each root's DER under the hash of its subject, so OpenSSL asks for one issuer and only that
 * one is parsed. A rule with ca=FILE believes FILE alone: whoever names a private authority for a
 * host does not want every public one to be able to speak for it too. */
#ifndef EGRESS_TRUST_H
#define EGRESS_TRUST_H

#include <openssl/ssl.h>
#include <stddef.h>

struct err;
struct host_name;
struct trust;

/* trust_open(fd, err): ${fd} is the index of DOOR_TRUST, which stays the caller's (it may be closed
 * at once), or -1 when the machine has no roots: then only ca= works. NULL on failure. */
struct trust *trust_open(int fd, struct err *);
void trust_free(struct trust *); /* NULL is fine */

/* trust_into(t, store): let ${store} look issuers up in the index. ${t} must outlive it. 0 or -1.
 */
int trust_into(struct trust *, X509_STORE *);

/* trust_add_ca(t, name, pem, n, err): the certificates of a ca= file under its name as the rule has
 * it; the same name again replaces it for connections to come. On failure -1 and what was there
 * stays. */
int trust_add_ca(struct trust *, const char *name, const void *pem, size_t n, struct err *);

/* trust_store(t, ca): what verifies an origin: the system's roots for NULL, else exactly that file;
 * NULL when no such file was added. Stays ${t}'s. */
X509_STORE *trust_store(struct trust *, const char *ca);

/* trust_client(t, ssl, host, ca, err): make ${ssl} a client that accepts only a certificate that
 * ${host} (a name or an address) is entitled to: chain, dates, name, TLS 1.2 or newer, no SHA-1, no
 * RSA below 2048 bits; sends SNI for a name. ${ca} is the rule's or NULL. Call before the
 * handshake. 0 or -1 (no such ca= file, no roots at all). */
int trust_client(struct trust *, SSL *, const struct host_name *, const char *ca, struct err *);

/* trust_words(ssl): after a handshake that failed: one sentence on why the certificate was refused,
 * or NULL when it was not the certificate. Valid until the next call. */
const char *trust_words(SSL *);

#endif
