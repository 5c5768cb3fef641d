/* sha256.h - SHA-256 (FIPS 180-4), for what is trusted by its content and for the chain of the log.
 * Small and plain: it hashes kilobytes. No secret is ever hashed here. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_LEN = 32, SHA256_HEX_LEN = 64 };

struct sha256 {
        uint32_t h[8];
        uint64_t total; /* bytes so far */
        uint8_t block[64];
};

void sha256_begin(struct sha256 *);
void sha256_add(struct sha256 *, const void *, size_t);
void sha256_end(struct sha256 *, uint8_t out[SHA256_LEN]);

/* sha256_hex(p, n, out): of ${n} bytes, as 64 small hexadecimal digits and a NUL. */
void sha256_hex(const void *, size_t, char out[SHA256_HEX_LEN + 1]);

#endif
