/* ca_roots.h - the host's trusted roots, read once for all authorities that one make-ca makes, and
 * the two forms in which a box gets them with its own authority added: a PEM bundle and Java's
 * store.
 */
#ifndef KEEPER_CA_ROOTS_H
#define KEEPER_CA_ROOTS_H

#include "base/buf.h"

#include <stdint.h>

struct ca_cert;
struct err;

struct ca_roots {
        struct buf pem; /* the bundle as it is; empty when the host has none */
        struct buf jks; /* Java's store up to where ours comes; empty when nobody wants it */
};

/* ca_roots_read(r, bundle, wants_java, err): ${bundle} may be NULL. 0 or -1. */
int ca_roots_read(struct ca_roots *, const char *bundle, bool wants_java, struct err *);
void ca_roots_free(struct ca_roots *);

/* ca_roots_java(r, cert, tail, err): what follows r->jks in the file: our certificate and the
 * digest over everything, for the password that Java assumes ("changeit"). */
int ca_roots_java(const struct ca_roots *, const struct ca_cert *, struct buf *tail, struct err *);

#endif
