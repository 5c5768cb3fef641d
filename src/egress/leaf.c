/* leaf.c - see leaf.h. Reading a certificate takes OpenSSL 3.0 some 170 us, nine tenths of them to
 * find a decoder for the public key. Here it is put together from its parts with a key that is
 * known already. Whether the result is the same certificate is not a matter of belief: it is
 * written out and compared, and read the long way when one byte differs. */
#define OPENSSL_SUPPRESS_DEPRECATED /* a key in the older form is what saves the search */
#include "egress/leaf.h"

#include <openssl/ec.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <string.h>

EVP_PKEY *leaf_public(const EVP_PKEY *key)
{
        EC_KEY *both = EVP_PKEY_get1_EC_KEY((EVP_PKEY *)(uintptr_t)key);
        EC_KEY *half = both ? EC_KEY_new() : NULL;
        EVP_PKEY *pub = half ? EVP_PKEY_new() : NULL;
        bool is_ok = pub && EC_KEY_set_group(half, EC_KEY_get0_group(both)) == 1 &&
                     EC_KEY_set_public_key(half, EC_KEY_get0_public_key(both)) == 1 &&
                     EVP_PKEY_set1_EC_KEY(pub, half) == 1;
        EC_KEY_free(both);
        EC_KEY_free(half);
        if (!is_ok) {
                EVP_PKEY_free(pub);
                return NULL;
        }
        return pub;
}

/* enter(p, end, tag, &inner_end): step into the element at *p; false when it is not ${tag}. */
static bool enter(const uint8_t **p, const uint8_t *end, int tag, const uint8_t **inner_end)
{
        long n;
        int got, class;
        const uint8_t *at = *p;
        if (ASN1_get_object(&at, &n, &got, &class, end - at) & 0x80 || got != tag || n > end - at)
                return false;
        *p = at;
        *inner_end = at + n;
        return true;
}

static bool skip(const uint8_t **p, const uint8_t *end, int tag)
{
        const uint8_t *after;
        if (!enter(p, end, tag, &after))
                return false;
        *p = after;
        return true;
}

static bool take_name(X509 *x, const uint8_t **p, const uint8_t *end,
                      int (*set)(X509 *, const X509_NAME *))
{
        X509_NAME *name = d2i_X509_NAME(NULL, p, end - *p);
        bool is_ok = name && set(x, name) == 1;
        X509_NAME_free(name);
        return is_ok;
}

static bool take_serial(X509 *x, const uint8_t **p, const uint8_t *end)
{
        ASN1_INTEGER *serial = d2i_ASN1_INTEGER(NULL, p, end - *p);
        bool is_ok = serial && X509_set_serialNumber(x, serial) == 1;
        ASN1_INTEGER_free(serial);
        return is_ok;
}

static bool take_times(X509 *x, const uint8_t **p, const uint8_t *end)
{
        const uint8_t *after;
        if (!enter(p, end, V_ASN1_SEQUENCE, &after))
                return false;
        ASN1_TIME *from = d2i_ASN1_TIME(NULL, p, after - *p);
        ASN1_TIME *to = from ? d2i_ASN1_TIME(NULL, p, after - *p) : NULL;
        bool is_ok = to && X509_set1_notBefore(x, from) == 1 && X509_set1_notAfter(x, to) == 1;
        ASN1_TIME_free(from);
        ASN1_TIME_free(to);
        return is_ok;
}

static bool take_extensions(X509 *x, const uint8_t **p, const uint8_t *end)
{
        const uint8_t *after;
        if (!enter(p, end, 3, &after))
                return false;
        X509_EXTENSIONS *all = d2i_X509_EXTENSIONS(NULL, p, after - *p);
        bool is_ok = all != NULL;
        for (int i = 0; is_ok && i < sk_X509_EXTENSION_num(all); i++)
                is_ok = X509_add_ext(x, sk_X509_EXTENSION_value(all, i), -1) == 1;
        sk_X509_EXTENSION_pop_free(all, X509_EXTENSION_free);
        return is_ok;
}

/* take_signature(x, p, end): OpenSSL shows where it keeps it, and has no way to set it but signing.
 */
static bool take_signature(X509 *x, const uint8_t **p, const uint8_t *end)
{
        const ASN1_BIT_STRING *sig;
        const X509_ALGOR *outer, *inner = X509_get0_tbs_sigalg(x);
        X509_get0_signature(&sig, &outer, x);
        X509_ALGOR *alg = d2i_X509_ALGOR(NULL, p, end - *p);
        ASN1_BIT_STRING *bits = alg ? d2i_ASN1_BIT_STRING(NULL, p, end - *p) : NULL;
        bool is_ok = bits && X509_ALGOR_copy((X509_ALGOR *)(uintptr_t)outer, alg) == 1 &&
                     X509_ALGOR_copy((X509_ALGOR *)(uintptr_t)inner, alg) == 1 &&
                     ASN1_STRING_copy((ASN1_STRING *)(uintptr_t)sig, bits) == 1;
        X509_ALGOR_free(alg);
        ASN1_BIT_STRING_free(bits);
        return is_ok;
}

static bool put_together(X509 *x, const uint8_t *p, size_t n, EVP_PKEY *pub)
{
        const uint8_t *end = p + n, *tbs_end;
        return enter(&p, end, V_ASN1_SEQUENCE, &end) && enter(&p, end, V_ASN1_SEQUENCE, &tbs_end) &&
               skip(&p, tbs_end, 0) && X509_set_version(x, X509_VERSION_3) == 1 &&
               take_serial(x, &p, tbs_end) && skip(&p, tbs_end, V_ASN1_SEQUENCE) &&
               take_name(x, &p, tbs_end, X509_set_issuer_name) && take_times(x, &p, tbs_end) &&
               take_name(x, &p, tbs_end, X509_set_subject_name) &&
               skip(&p, tbs_end, V_ASN1_SEQUENCE) && X509_set_pubkey(x, pub) == 1 &&
               take_extensions(x, &p, tbs_end) && take_signature(x, &p, end) && p == end;
}

static bool is_same(X509 *x, const uint8_t *der, size_t n)
{
        uint8_t *mine = NULL;
        int mine_n = i2d_X509(x, &mine);
        bool yes = mine_n > 0 && (size_t)mine_n == n && memcmp(mine, der, n) == 0;
        OPENSSL_free(mine);
        return yes;
}

X509 *leaf_read(const uint8_t *der, size_t n, EVP_PKEY *pub)
{
        X509 *x = pub ? X509_new() : NULL;
        if (x && put_together(x, der, n, pub) && is_same(x, der, n))
                return x;
        X509_free(x);
        return d2i_X509(NULL, &der, (long)n);
}
