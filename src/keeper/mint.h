/* mint.h - leaf certificates of one box: one key for all names, a certificate per name, made from
 * pieces that were built once. Fetching algorithms and building X509 objects costs ten times as
 * much as the signature; both are avoided here. Used by keeper.c; needs no file and no network. */
#ifndef KEEPER_MINT_H
#define KEEPER_MINT_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct host_name;
struct mint;

enum { MINT_LEAF_MAX = 2048, MINT_KEY_MAX = 256 };

/* mint_new(key, key_len, ca, ca_len, err): take the authority's key and certificate, both DER, and
 * make the box's leaf key. NULL on failure. */
struct mint *mint_new(const uint8_t *key, size_t key_len, const uint8_t *ca, size_t ca_len,
                      struct err *);
void mint_free(struct mint *);

/* mint_leaf_key(m, der, &len): the leaf's private key, DER; 0 or -1. Wipe it after use. */
int mint_leaf_key(const struct mint *, uint8_t der[MINT_KEY_MAX], size_t *len);

/* mint_leaf(m, host, der, &len, err): a certificate for exactly that name or address, never for a
 * wildcard. 0 or -1. */
int mint_leaf(struct mint *, const struct host_name *, uint8_t der[MINT_LEAF_MAX], size_t *len,
              struct err *);

#endif
