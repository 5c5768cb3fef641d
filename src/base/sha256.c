/* sha256.c - see sha256.h. */
#include "base/sha256.h"

#include <string.h>

static const uint32_t k[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
        0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
        0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
        0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
        0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
        0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
        0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
        0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
        0xc67178f2,
};

static uint32_t ror(uint32_t x, unsigned n)
{
        return x >> n | x << (32 - n);
}

static void block(struct sha256 *s, const uint8_t *p)
{
        uint32_t w[64], v[8];
        for (size_t i = 0; i < 16; i++)
                w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
                       (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
        for (size_t i = 16; i < 64; i++) {
                uint32_t a = w[i - 15], b = w[i - 2];
                w[i] = w[i - 16] + (ror(a, 7) ^ ror(a, 18) ^ a >> 3) + w[i - 7] +
                       (ror(b, 17) ^ ror(b, 19) ^ b >> 10);
        }
        memcpy(v, s->h, sizeof v);
        for (size_t i = 0; i < 64; i++) {
                uint32_t e = v[4], a = v[0];
                uint32_t t1 = v[7] + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) +
                              ((e & v[5]) ^ (~e & v[6])) + k[i] + w[i];
                uint32_t t2 = (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) +
                              ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
                memmove(v + 1, v, 7 * sizeof *v);
                v[4] += t1;
                v[0] = t1 + t2;
        }
        for (size_t i = 0; i < 8; i++)
                s->h[i] += v[i];
}

void sha256_begin(struct sha256 *s)
{
        *s = (struct sha256){.h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                   0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(struct sha256 *s, const void *bytes, size_t n)
{
        const uint8_t *p = bytes;
        size_t have = s->total % 64;
        s->total += n;
        while (n) {
                size_t take = 64 - have < n ? 64 - have : n;
                memcpy(s->block + have, p, take);
                p += take;
                n -= take;
                have += take;
                if (have == 64) {
                        block(s, s->block);
                        have = 0;
                }
        }
}

void sha256_end(struct sha256 *s, uint8_t out[SHA256_LEN])
{
        uint64_t bits = s->total * 8;
        uint8_t pad[72] = {0x80};
        size_t have = s->total % 64, zeros = have < 56 ? 56 - have : 120 - have;
        for (size_t i = 0; i < 8; i++)
                pad[zeros + i] = (uint8_t)(bits >> (56 - 8 * i));
        sha256_add(s, pad, zeros + 8);
        for (size_t i = 0; i < SHA256_LEN; i++)
                out[i] = (uint8_t)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_hex(const void *p, size_t n, char out[SHA256_HEX_LEN + 1])
{
        static const char digits[] = "0123456789abcdef";
        struct sha256 s;
        uint8_t sum[SHA256_LEN];
        sha256_begin(&s);
        sha256_add(&s, p, n);
        sha256_end(&s, sum);
        for (size_t i = 0; i < SHA256_LEN; i++) {
                out[2 * i] = digits[sum[i] >> 4];
                out[2 * i + 1] = digits[sum[i] & 15];
        }
        out[SHA256_HEX_LEN] = 0;
}
