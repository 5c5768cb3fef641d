/* sigv4_key.c - see sigv4.h: keys of one day, region and service, and what is signed with them.
 * Pure but for the few keys it keeps. Called by sigv4.c and sign.c. Keys never leave this process.
 */
#include "base/sha256.h"
#include "keeper/sigv4.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

static void hmac(const void *key, size_t key_n, const void *p, size_t n, uint8_t out[SIGV4_HASH])
{
        unsigned len = SIGV4_HASH;
        if (!HMAC(EVP_sha256(), key, (int)key_n, p, n, out, &len))
                memset(out, 0, SIGV4_HASH); /* a signature that nobody takes */
}

void sigv4_stamp(time_t t, char out[SIGV4_STAMP + 1])
{
        struct tm tm = {0};
        gmtime_r(&t, &tm);
        strftime(out, SIGV4_STAMP + 1, "%Y%m%dT%H%M%SZ", &tm);
}

static void derive(const char *secret, const char *scope, uint8_t out[SIGV4_HASH])
{
        char first[512];
        const char *p = scope;
        int n = snprintf(first, sizeof first, "AWS4%s", secret);
        const uint8_t *key = (const uint8_t *)first;
        size_t key_n = n > 0 && (size_t)n < sizeof first ? (size_t)n : sizeof first - 1;
        /* Day, region, service, "aws4_request": each is signed with the one before. */
        for (;;) {
                size_t len = strcspn(p, "/");
                uint8_t next[SIGV4_HASH];
                hmac(key, key_n, p, len, next);
                memcpy(out, next, SIGV4_HASH);
                explicit_bzero(next, sizeof next);
                key = out;
                key_n = SIGV4_HASH;
                if (!p[len])
                        break;
                p += len + 1;
        }
        explicit_bzero(first, sizeof first);
}

void sigv4_key(const char *secret, const char *scope, struct sigv4_keys *keys,
               uint8_t out[SIGV4_HASH])
{
        enum { SLOTS = sizeof keys->slots / sizeof *keys->slots };
        for (size_t i = 0; keys && i < SLOTS; i++)
                if (strcmp(keys->slots[i].scope, scope) == 0) {
                        memcpy(out, keys->slots[i].key, SIGV4_HASH);
                        return;
                }
        derive(secret, scope, out);
        if (!keys || strlen(scope) >= sizeof keys->slots[0].scope)
                return;
        size_t i = keys->next++ % SLOTS;
        memcpy(keys->slots[i].scope, scope, strlen(scope) + 1);
        memcpy(keys->slots[i].key, out, SIGV4_HASH);
}

static void put_hex(const uint8_t *p, size_t n, char *out)
{
        static const char digits[] = "0123456789abcdef";
        for (size_t i = 0; i < n; i++) {
                out[2 * i] = digits[p[i] >> 4];
                out[2 * i + 1] = digits[p[i] & 15];
        }
        out[2 * n] = 0;
}

static void sign_text(const uint8_t key[SIGV4_HASH], const char *text, size_t n,
                      char out[SIGV4_HEX + 1])
{
        uint8_t mac[SIGV4_HASH];
        hmac(key, SIGV4_HASH, text, n, mac);
        put_hex(mac, sizeof mac, out);
}

void sigv4_sign(const uint8_t key[SIGV4_HASH], const char *stamp, const char *scope,
                const void *request, size_t n, char out[SIGV4_HEX + 1])
{
        char hash[SIGV4_HEX + 1], text[512];
        sha256_hex(request, n, hash);
        int len = snprintf(text, sizeof text, "AWS4-HMAC-SHA256\n%s\n%s\n%s", stamp, scope, hash);
        sign_text(key, text, (size_t)len, out);
}

void sigv4_chain_next(struct sigv4_chain *c, const uint8_t hash[SIGV4_HASH], bool is_trailer)
{
        /* The hash of nothing stands where a chunk could have fields of its own. */
        static const char nothing[] =
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n";
        char hex[SIGV4_HEX + 1], text[512];
        put_hex(hash, SIGV4_HASH, hex);
        int n = snprintf(text, sizeof text, "AWS4-HMAC-SHA256-%s\n%s\n%s\n%s\n%s%s",
                         is_trailer ? "TRAILER" : "PAYLOAD", c->stamp, c->scope, c->last,
                         is_trailer ? "" : nothing, hex);
        sign_text(c->key, text, (size_t)n, c->last);
}
