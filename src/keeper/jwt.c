/* jwt.c - see jwt.h. */
#include "keeper/jwt.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>

void jwt_base64url(const void *p, size_t n, struct buf *out)
{
        static const char letters[] =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        const uint8_t *b = p;
        for (size_t i = 0; i < n; i += 3) {
                size_t left = n - i;
                uint32_t v = (uint32_t)b[i] << 16 | (left > 1 ? (uint32_t)b[i + 1] << 8 : 0) |
                             (left > 2 ? b[i + 2] : 0);
                for (size_t k = 0; k < (left > 2 ? 4 : left + 1); k++)
                        buf_put_u8(out, (uint8_t)letters[v >> (18 - 6 * k) & 63]);
        }
}

/* no_passphrase: OpenSSL would ask on a terminal; there is none, and nobody to ask. */
static int no_passphrase(char *into, int n, int is_writing, void *ctx)
{
        (void)into, (void)n, (void)is_writing, (void)ctx;
        return -1;
}

EVP_PKEY *jwt_key(const void *pem, size_t n, struct err *err)
{
        BIO *in = BIO_new_mem_buf(pem, (int)n);
        EVP_PKEY *key = in ? PEM_read_bio_PrivateKey(in, NULL, no_passphrase, NULL) : NULL;
        BIO_free(in);
        ERR_clear_error();
        if (key && EVP_PKEY_base_id(key) == EVP_PKEY_RSA && EVP_PKEY_bits(key) >= 2048)
                return key;
        err_set(err, E_INPUT,
                key ? "its private key is not an RSA key of at least 2048 bits"
                    : "its private key cannot be read, or has a passphrase");
        EVP_PKEY_free(key);
        return NULL;
}

int jwt_sign(EVP_PKEY *key, const char *kid, const char *claims, struct buf *out, struct err *err)
{
        _cleanup_free_ char *head =
                kid ? str_fmt("{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"%s\"}", kid)
                    : str_dup("{\"alg\":\"RS256\",\"typ\":\"JWT\"}");
        size_t from = out->len, n = 0;
        jwt_base64url(head, strlen(head), out);
        buf_put_u8(out, '.');
        jwt_base64url(claims, strlen(claims), out);
        EVP_MD_CTX *md = EVP_MD_CTX_new();
        uint8_t signature[1024];
        n = sizeof signature;
        bool is_done = md && !out->is_broken &&
                       EVP_DigestSignInit(md, NULL, EVP_sha256(), NULL, key) == 1 &&
                       EVP_DigestSign(md, signature, &n, out->data + from, out->len - from) == 1;
        EVP_MD_CTX_free(md);
        if (!is_done)
                return err_set(err, E_SYSTEM, "the assertion could not be signed");
        buf_put_u8(out, '.');
        jwt_base64url(signature, n, out);
        return 0;
}
