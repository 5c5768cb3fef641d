/* door_leaf.c - a leaf that is put together from its parts is the certificate that the keeper
 * signed, byte for byte; everything else is read the long way or not at all. */
#include "unit/check.h"

#include "base/err.h"
#include "egress/leaf.h"
#include "keeper/ca_cert.h"
#include "keeper/mint.h"
#include "policy/host_name.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <time.h>

static struct ca_cert ca;
static struct mint *mint;
static EVP_PKEY *key, *pub;

static size_t make(const char *text, uint8_t der[MINT_LEAF_MAX])
{
        struct err err = {0};
        struct host_name h;
        size_t len = 0;
        host_name_parse(text, strlen(text), &h, NULL);
        return mint_leaf(mint, &h, der, &len, &err) == 0 ? len : 0;
}

static double now_us(void)
{
        struct timespec t;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void the_same(const char *text)
{
        uint8_t der[MINT_LEAF_MAX], *mine = NULL;
        const uint8_t *p = der;
        size_t n = make(text, der);
        X509 *x = leaf_read(der, n, pub), *y = d2i_X509(NULL, &p, (long)n);
        int mine_n = x ? i2d_X509(x, &mine) : 0;
        CHECK(text, x && y && X509_cmp(x, y) == 0 && (size_t)mine_n == n && !memcmp(mine, der, n));
        CHECK("it is for that name", x && (X509_check_host(x, text, 0, 0, NULL) == 1 ||
                                           X509_check_ip_asc(x, text, 0) == 1));
        OPENSSL_free(mine);
        X509_free(x);
        X509_free(y);
}

static void serves(void)
{
        uint8_t der[MINT_LEAF_MAX];
        size_t n = make("one.example.test", der);
        X509 *x = leaf_read(der, n, pub);
        SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
        CHECK("TLS takes it with the key",
              SSL_CTX_use_certificate(ctx, x) == 1 && SSL_CTX_use_PrivateKey(ctx, key) == 1);
        SSL_CTX_free(ctx);
        X509_free(x);
}

static void others(void)
{
        uint8_t der[MINT_LEAF_MAX];
        size_t n = make("two.example.test", der);
        X509 *x = leaf_read(der, n, NULL);
        CHECK("without a key it is read the long way", x != NULL);
        X509_free(x);
        x = leaf_read(ca.cert_der, ca.cert_len, pub);
        const uint8_t *p = ca.cert_der;
        X509 *y = d2i_X509(NULL, &p, (long)ca.cert_len);
        CHECK("a certificate with another key keeps it",
              x && y && X509_cmp(x, y) == 0 &&
                      EVP_PKEY_eq(X509_get0_pubkey(x), X509_get0_pubkey(y)) == 1);
        X509_free(x);
        X509_free(y);
        int read_n = 0;
        for (size_t cut = 0; cut < n; cut++) {
                x = leaf_read(der, cut, pub);
                read_n += x != NULL;
                X509_free(x);
        }
        CHECK("half a certificate is none", read_n == 0);
        for (size_t i = 0; i < n; i++) {
                der[i] ^= 0x41;
                x = leaf_read(der, n, pub);
                p = der;
                y = d2i_X509(NULL, &p, (long)n);
                if ((x == NULL) != (y == NULL) || (x && y && X509_cmp(x, y) != 0))
                        read_n++;
                X509_free(x);
                X509_free(y);
                der[i] ^= 0x41;
        }
        CHECK("a changed byte is read as OpenSSL reads it", read_n == 0);
}

static void quick(void)
{
        enum { TIMES = 200 };
        uint8_t der[MINT_LEAF_MAX];
        size_t n = make("three.example.test", der);
        double began = now_us();
        for (int i = 0; i < TIMES; i++)
                X509_free(leaf_read(der, n, pub));
        double ours = now_us() - began;
        began = now_us();
        for (int i = 0; i < TIMES; i++) {
                const uint8_t *p = der;
                X509_free(d2i_X509(NULL, &p, (long)n));
        }
        double theirs = now_us() - began;
        printf("# %.1f us, the long way %.1f us\n", ours / TIMES, theirs / TIMES);
        CHECK("the short way is taken", ours < theirs);
}

int main(void)
{
        struct err err = {0};
        uint8_t der[MINT_KEY_MAX];
        const uint8_t *p = der;
        size_t n = 0;
        if (ca_cert_make(&ca, &err) < 0 ||
            !(mint = mint_new(ca.key_der, ca.key_len, ca.cert_der, ca.cert_len, &err)) ||
            mint_leaf_key(mint, der, &n) < 0 || !(key = d2i_AutoPrivateKey(NULL, &p, (long)n)))
                return 1;
        pub = leaf_public(key);
        CHECK("the leaf key has a public half", pub != NULL);
        the_same("one.example.test");
        the_same("a-rather-long-label-that-goes-on-and-on.and-another-one.deep.example.test");
        the_same("192.0.2.7");
        serves();
        others();
        quick();
        EVP_PKEY_free(key);
        EVP_PKEY_free(pub);
        mint_free(mint);
        ca_cert_free(&ca);
        return check_end();
}
