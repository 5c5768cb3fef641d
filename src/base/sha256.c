/* sha256.c - see sha256.h. OpenSSL's plain functions, because they need nothing of that library but
 * themselves: a static program grows by 30 KiB and starts no slower. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/sha256.h"

#include <openssl/sha.h>
#include <stdint.h>

_Static_assert(sizeof(SHA256_CTX) <= sizeof(struct sha256), "the state fits");

void sha256_begin(struct sha256 *s)
{
        SHA256_Init((SHA256_CTX *)s->state);
}

void sha256_add(struct sha256 *s, const void *p, size_t n)
{
        SHA256_Update((SHA256_CTX *)s->state, p, n);
}

void sha256_end(struct sha256 *s, char out[SHA256_HEX_LEN + 1])
{
        static const char hex[] = "0123456789abcdef";
        uint8_t sum[SHA256_DIGEST_LENGTH];
        SHA256_Final(sum, (SHA256_CTX *)s->state);
        for (size_t i = 0; i < sizeof sum; i++) {
                out[2 * i] = hex[sum[i] >> 4];
                out[2 * i + 1] = hex[sum[i] & 15];
        }
        out[SHA256_HEX_LEN] = 0;
}

void sha256_hex(const void *p, size_t n, char out[SHA256_HEX_LEN + 1])
{
        struct sha256 s;
        sha256_begin(&s);
        sha256_add(&s, p, n);
        sha256_end(&s, out);
}
