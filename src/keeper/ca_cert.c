/* ca_cert.c - see ca_cert.h. */
#include "keeper/ca_cert.h"

#include "base/err.h"
#include "base/str.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From yesterday, because the box's clock or a test may be behind; for two years, because an
 * authority may wait in the pool for a while and a box may live long. */
enum { DAY = 86400, VALID_DAYS = 730 };

static int add_ext(X509 *x, int nid, const char *value)
{
        X509V3_CTX ctx;
        X509V3_set_ctx_nodb(&ctx);
        X509V3_set_ctx(&ctx, x, x, NULL, NULL, 0);
        X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
        int r = e && X509_add_ext(x, e, -1) ? 0 : -1;
        X509_EXTENSION_free(e);
        return r;
}

/* name_it(x): each authority has a name of its own, so that a program which keeps certificates of
 * two boxes apart by name can. */
static int name_it(X509 *x)
{
        uint8_t id[4], serial[16];
        char cn[40];
        BIGNUM *n = NULL;
        if (RAND_bytes(id, sizeof id) != 1 || RAND_bytes(serial, sizeof serial) != 1)
                return -1;
        serial[0] = (serial[0] & 0x7f) | 0x40;
        snprintf(cn, sizeof cn, "Ostiary box CA %02x%02x%02x%02x", id[0], id[1], id[2], id[3]);
        X509_NAME *name = X509_get_subject_name(x);
        n = BN_bin2bn(serial, sizeof serial, NULL);
        int r = n && BN_to_ASN1_INTEGER(n, X509_get_serialNumber(x)) &&
                                X509_NAME_add_entry_by_txt(name, "O", MBSTRING_ASC,
                                                           (const uint8_t *)"Ostiary", -1, -1, 0) &&
                                X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                                           (const uint8_t *)cn, -1, -1, 0) &&
                                X509_set_issuer_name(x, name)
                        ? 0
                        : -1;
        BN_free(n);
        return r;
}

static X509 *self_signed(EVP_PKEY *key)
{
        X509 *x = X509_new();
        if (x && X509_set_version(x, X509_VERSION_3) && name_it(x) == 0 &&
            X509_gmtime_adj(X509_getm_notBefore(x), -DAY) &&
            X509_gmtime_adj(X509_getm_notAfter(x), (long)VALID_DAYS * DAY) &&
            X509_set_pubkey(x, key) &&
            add_ext(x, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") == 0 &&
            add_ext(x, NID_key_usage, "critical,keyCertSign,cRLSign") == 0 &&
            add_ext(x, NID_subject_key_identifier, "hash") == 0 && X509_sign(x, key, EVP_sha256()))
                return x;
        X509_free(x);
        return NULL;
}

static char *pem_of(X509 *x)
{
        BIO *b = BIO_new(BIO_s_mem());
        char *text = NULL, *data;
        /* The words before help whoever wonders what stands at the end of the bundle. */
        if (b && BIO_puts(b, "# Ostiary: the authority of this box alone\n") > 0 &&
            PEM_write_bio_X509(b, x)) {
                long n = BIO_get_mem_data(b, &data);
                text = str_fmt("%.*s", (int)n, data);
        }
        BIO_free(b);
        return text;
}

int ca_cert_make(struct ca_cert *c, struct err *err)
{
        *c = (struct ca_cert){0};
        EVP_PKEY *key = EVP_EC_gen("P-256");
        X509 *x = key ? self_signed(key) : NULL;
        int key_len = x ? i2d_PrivateKey(key, &c->key_der) : 0;
        int cert_len = x ? i2d_X509(x, &c->cert_der) : 0;
        c->key_len = key_len > 0 ? (size_t)key_len : 0;
        c->cert_len = cert_len > 0 ? (size_t)cert_len : 0;
        if (x) {
                c->pem = pem_of(x);
                snprintf(c->hash, sizeof c->hash, "%08lx.0", X509_subject_name_hash(x));
        }
        X509_free(x);
        EVP_PKEY_free(key);
        if (c->key_len && c->cert_len && c->pem)
                return 0;
        ca_cert_free(c);
        return err_set(err, E_SYSTEM, "OpenSSL could not make an authority for the box");
}

void ca_cert_free(struct ca_cert *c)
{
        OPENSSL_clear_free(c->key_der, c->key_len);
        OPENSSL_free(c->cert_der);
        free(c->pem);
        *c = (struct ca_cert){0};
}
