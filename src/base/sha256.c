/* sha256.c - see sha256.h. OpenSSL's plain functions, because they need nothing of that library but
 * themselves: a static program grows by 30 KiB and starts no slower. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/sha256.h"

#include <openssl/sha.h>
#include <stdint.h>

void sha256_hex(const void *p, size_t n, char out[SHA256_HEX_LEN + 1])
{
        static const char hex[] = "0123456789abcdef";
        uint8_t sum[SHA256_DIGEST_LENGTH];
        SHA256_CTX c;
        SHA256_Init(&c);
        SHA256_Update(&c, p, n);
        SHA256_Final(sum, &c);
        for (size_t i = 0; i < sizeof sum; i++) {
                out[2 * i] = hex[sum[i] >> 4];
                out[2 * i + 1] = hex[sum[i] & 15];
        }
        out[SHA256_HEX_LEN] = 0;
}
