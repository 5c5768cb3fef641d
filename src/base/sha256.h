/* sha256.h - SHA-256 of some bytes, for what is trusted by its content and for the chain of the
 * log. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_HEX_LEN = 64 };

/* sha256_hex(p, n, out): of ${n} bytes, as 64 small hexadecimal digits and a NUL. */
void sha256_hex(const void *, size_t, char out[SHA256_HEX_LEN + 1]);

/* The same piece by piece, for what is larger than memory: begin, add as often as there is
 * something, end once. Nothing to free. */
struct sha256 {
        uint64_t state[16];
};
void sha256_begin(struct sha256 *);
void sha256_add(struct sha256 *, const void *, size_t);
void sha256_end(struct sha256 *, char out[SHA256_HEX_LEN + 1]);

#endif
