/* mint.c - see mint.h. */
#include "keeper/mint.h"

#include "base/err.h"
#include "base/str.h"
#include "keeper/der.h"
#include "policy/host_name.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct piece {
        uint8_t der[512];
        size_t len;
};

struct mint {
        EVP_PKEY *ca_key, *leaf_key;
        EVP_PKEY_CTX *sign; /* set up once, used for every signature */
        EVP_MD *sha256;
        struct piece issuer;     /* the authority's name */
        struct piece leaf_pub;   /* SubjectPublicKeyInfo */
        struct piece extensions; /* those that are the same for each leaf, one after the other */
        time_t ca_end;
};

enum { DAY = 86400, LEAF_DAYS = 397 };

static const uint8_t ecdsa_sha256[] = {0x30, 0x0a, 0x06, 0x08, 0x2a, 0x86,
                                       0x48, 0xce, 0x3d, 0x04, 0x03, 0x02};
static const uint8_t oid_cn[] = {0x06, 0x03, 0x55, 0x04, 0x03};
static const uint8_t oid_o[] = {0x06, 0x03, 0x55, 0x04, 0x0a};
static const uint8_t oid_san[] = {0x06, 0x03, 0x55, 0x1d, 0x11};
static const uint8_t oid_key_id[] = {0x06, 0x03, 0x55, 0x1d, 0x0e};
static const uint8_t oid_ca_key_id[] = {0x06, 0x03, 0x55, 0x1d, 0x23};
/* keyUsage digitalSignature, critical; extKeyUsage serverAuth; basicConstraints of no authority */
static const uint8_t fixed_extensions[] = {
        0x30, 0x0e, 0x06, 0x03, 0x55, 0x1d, 0x0f, 0x01, 0x01, 0xff, 0x04, 0x04, 0x03,
        0x02, 0x07, 0x80, 0x30, 0x13, 0x06, 0x03, 0x55, 0x1d, 0x25, 0x04, 0x0c, 0x30,
        0x0a, 0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01, 0x30, 0x0c,
        0x06, 0x03, 0x55, 0x1d, 0x13, 0x01, 0x01, 0xff, 0x04, 0x02, 0x30, 0x00};

static int keep(struct piece *p, int len, uint8_t *der)
{
        int r = -1;
        if (len > 0 && (size_t)len <= sizeof p->der && der) {
                memcpy(p->der, der, (size_t)len);
                p->len = (size_t)len;
                r = 0;
        }
        OPENSSL_free(der);
        return r;
}

/* build_extensions(m, ca): what does not depend on the name, key identifiers included: clients that
 * meet two authorities of one name tell them apart by them. */
static int build_extensions(struct mint *m, X509 *ca)
{
        const ASN1_OCTET_STRING *ca_id = X509_get0_subject_key_id(ca);
        uint8_t id[EVP_MAX_MD_SIZE];
        unsigned id_len = 0;
        if (!ca_id || !EVP_Digest(m->leaf_pub.der, m->leaf_pub.len, id, &id_len, m->sha256, NULL))
                return -1;
        struct der d = der_in(m->extensions.der, sizeof m->extensions.der);
        der_raw(&d, fixed_extensions, sizeof fixed_extensions);

        const uint8_t *whole = der_mark(&d), *inner = whole;
        der_put(&d, DER_OCTETS, id, 20);
        der_wrap(&d, DER_OCTETS, inner);
        der_raw(&d, oid_key_id, sizeof oid_key_id);
        der_wrap(&d, DER_SEQ, whole);

        whole = inner = der_mark(&d);
        der_put(&d, 0x80, ASN1_STRING_get0_data(ca_id), (size_t)ASN1_STRING_length(ca_id));
        der_wrap(&d, DER_SEQ, inner);
        der_wrap(&d, DER_OCTETS, inner);
        der_raw(&d, oid_ca_key_id, sizeof oid_ca_key_id);
        der_wrap(&d, DER_SEQ, whole);

        m->extensions.len = der_len(&d);
        if (!m->extensions.len)
                return -1;
        memmove(m->extensions.der, d.at, m->extensions.len);
        return 0;
}

static int build(struct mint *m, X509 *ca)
{
        uint8_t *der = NULL;
        struct tm tm;
        int len = i2d_X509_NAME(X509_get_subject_name(ca), &der);
        m->leaf_key = EVP_EC_gen("P-256");
        if (keep(&m->issuer, len, der) < 0 || !m->leaf_key)
                return -1;
        der = NULL;
        len = i2d_PUBKEY(m->leaf_key, &der);
        if (keep(&m->leaf_pub, len, der) < 0)
                return -1;
        m->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
        m->sign = EVP_PKEY_CTX_new_from_pkey(NULL, m->ca_key, NULL);
        if (!m->sha256 || !m->sign || EVP_PKEY_sign_init(m->sign) != 1 ||
            !ASN1_TIME_to_tm(X509_get0_notAfter(ca), &tm))
                return -1;
        m->ca_end = timegm(&tm);
        return build_extensions(m, ca);
}

struct mint *mint_new(const uint8_t *key, size_t key_len, const uint8_t *ca_der, size_t ca_len,
                      struct err *err)
{
        struct mint *m = calloc(1, sizeof *m);
        if (!m)
                str_no_memory();
        X509 *ca = d2i_X509(NULL, &ca_der, (long)ca_len);
        m->ca_key = d2i_AutoPrivateKey(NULL, &key, (long)key_len);
        if (!ca || !m->ca_key || EVP_PKEY_get_base_id(m->ca_key) != EVP_PKEY_EC ||
            X509_check_private_key(ca, m->ca_key) != 1 || build(m, ca) < 0) {
                err_set(err, E_PROTO,
                        "the box's authority is not a P-256 key with its certificate");
                X509_free(ca);
                mint_free(m);
                return NULL;
        }
        X509_free(ca);
        return m;
}

void mint_free(struct mint *m)
{
        if (!m)
                return;
        EVP_PKEY_CTX_free(m->sign);
        EVP_PKEY_free(m->ca_key);
        EVP_PKEY_free(m->leaf_key);
        EVP_MD_free(m->sha256);
        free(m);
}

int mint_leaf_key(const struct mint *m, uint8_t der[MINT_KEY_MAX], size_t *len)
{
        int n = i2d_PrivateKey(m->leaf_key, NULL);
        uint8_t *p = der;
        if (n <= 0 || n > MINT_KEY_MAX || i2d_PrivateKey(m->leaf_key, &p) != n)
                return -1;
        *len = (size_t)n;
        return 0;
}

static void put_san(struct der *d, const struct host_name *h)
{
        const uint8_t *whole = der_mark(d);
        size_t addr_len = host_name_addr_len(h);
        if (addr_len)
                der_put(d, 0x87, h->addr, addr_len);
        else
                der_put(d, 0x82, h->text, h->len);
        der_wrap(d, DER_SEQ, whole);
        der_wrap(d, DER_OCTETS, whole);
        der_raw(d, oid_san, sizeof oid_san);
        der_wrap(d, DER_SEQ, whole);
}

static void put_rdn(struct der *d, const uint8_t oid[5], const char *text, size_t n)
{
        const uint8_t *whole = der_mark(d);
        der_put(d, DER_UTF8, text, n);
        der_raw(d, oid, 5);
        der_wrap(d, DER_SEQ, whole);
        der_wrap(d, DER_SET, whole);
}

/* put_subject(d, h): for people who read certificates; programs go by the alternative name. A
 * common name has at most 64 characters. */
static void put_subject(struct der *d, const struct host_name *h)
{
        const uint8_t *whole = der_mark(d);
        if (h->len <= 64)
                put_rdn(d, oid_cn, h->text, h->len);
        put_rdn(d, oid_o, "Ostiary", 7);
        der_wrap(d, DER_SEQ, whole);
}

static int put_tbs(struct mint *m, struct der *d, const struct host_name *h)
{
        static const uint8_t v3[] = {0xa0, 0x03, 0x02, 0x01, 0x02};
        uint8_t serial[16];
        time_t now = time(NULL);
        time_t end = now + (time_t)LEAF_DAYS * DAY;
        if (RAND_bytes(serial, sizeof serial) != 1)
                return -1;
        serial[0] = (serial[0] & 0x7f) | 0x40; /* positive, and always of the same length */

        const uint8_t *whole = der_mark(d), *mark = whole;
        der_raw(d, m->extensions.der, m->extensions.len);
        put_san(d, h);
        der_wrap(d, DER_SEQ, mark);
        der_wrap(d, 0xa3, mark);
        der_raw(d, m->leaf_pub.der, m->leaf_pub.len);
        put_subject(d, h);
        mark = der_mark(d);
        der_time(d, end < m->ca_end ? end : m->ca_end);
        der_time(d, now - DAY); /* a clock in the box may be somewhat behind */
        der_wrap(d, DER_SEQ, mark);
        der_raw(d, m->issuer.der, m->issuer.len);
        der_raw(d, ecdsa_sha256, sizeof ecdsa_sha256);
        der_put(d, DER_INTEGER, serial, sizeof serial);
        der_raw(d, v3, sizeof v3);
        der_wrap(d, DER_SEQ, whole);
        return 0;
}

int mint_leaf(struct mint *m, const struct host_name *h, uint8_t out[MINT_LEAF_MAX], size_t *len,
              struct err *err)
{
        uint8_t room[MINT_LEAF_MAX - 128], digest[EVP_MAX_MD_SIZE], sig[80];
        unsigned digest_len;
        size_t sig_len = sizeof sig - 1;
        struct der tbs = der_in(room, sizeof room);
        if (h->len == 0 || put_tbs(m, &tbs, h) < 0 || der_len(&tbs) == 0 ||
            EVP_Digest(tbs.at, der_len(&tbs), digest, &digest_len, m->sha256, NULL) != 1 ||
            EVP_PKEY_sign(m->sign, sig + 1, &sig_len, digest, digest_len) != 1)
                return err_set(err, E_SYSTEM, "a certificate for %s could not be made", h->text);
        sig[0] = 0; /* no unused bits */

        struct der cert = der_in(out, MINT_LEAF_MAX);
        const uint8_t *whole = der_mark(&cert);
        der_put(&cert, DER_BITS, sig, sig_len + 1);
        der_raw(&cert, ecdsa_sha256, sizeof ecdsa_sha256);
        der_raw(&cert, tbs.at, der_len(&tbs));
        der_wrap(&cert, DER_SEQ, whole);
        *len = der_len(&cert);
        if (!*len)
                return err_set(err, E_SYSTEM, "the certificate for %s is too long", h->text);
        memmove(out, cert.at, *len);
        return 0;
}
