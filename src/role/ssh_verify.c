/* ssh_verify.c - public keys as ssh writes them, and the signature by which a server shows that it
 * took part in a session. Called by egress and keeper with bytes of the box: every length is
 * bounded before OpenSSL sees it. See ssh_proof.h. */
#include "role/ssh_proof.h"

#include "base/err.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/param_build.h>
#include <string.h>

enum { RSA_MIN_BITS = 2048, RSA_MAX_BITS = 8192, NUMBER_MAX = RSA_MAX_BITS / 8 + 1 };

/* get_number(c, max): a number that is not negative; the caller frees. NULL when it is none. */
static BIGNUM *get_number(struct cur *c, size_t max)
{
        struct ssh_bytes s;
        if (ssh_get(c, max, &s) < 0 || s.n == 0 || (s.p[0] & 0x80))
                return NULL;
        return BN_bin2bn(s.p, (int)s.n, NULL);
}

static EVP_PKEY *make_key(const char *kind, OSSL_PARAM_BLD *b)
{
        EVP_PKEY *key = NULL;
        OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(b);
        EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, kind, NULL);
        if (!params || !ctx || EVP_PKEY_fromdata_init(ctx) != 1 ||
            EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
                key = NULL;
        EVP_PKEY_CTX_free(ctx);
        OSSL_PARAM_free(params);
        return key;
}

static EVP_PKEY *get_rsa(struct cur *c)
{
        BIGNUM *e = get_number(c, 9), *n = e ? get_number(c, NUMBER_MAX) : NULL;
        OSSL_PARAM_BLD *b = OSSL_PARAM_BLD_new();
        EVP_PKEY *key = NULL;
        if (n && b && BN_num_bits(n) >= RSA_MIN_BITS && BN_num_bits(n) <= RSA_MAX_BITS &&
            BN_is_odd(n) && BN_is_odd(e) && !BN_is_one(e) && BN_num_bits(e) <= 64 &&
            OSSL_PARAM_BLD_push_BN(b, OSSL_PKEY_PARAM_RSA_N, n) &&
            OSSL_PARAM_BLD_push_BN(b, OSSL_PKEY_PARAM_RSA_E, e))
                key = make_key("RSA", b);
        OSSL_PARAM_BLD_free(b);
        BN_free(n);
        BN_free(e);
        return key;
}

static EVP_PKEY *get_ec(struct cur *c, const struct ssh_method *m)
{
        struct ssh_bytes curve, point;
        if (ssh_get(c, 16, &curve) < 0 || !ssh_is(&curve, m->curve) ||
            ssh_get(c, 133, &point) < 0 || point.n == 0 ||
            point.p[0] != POINT_CONVERSION_UNCOMPRESSED)
                return NULL;
        OSSL_PARAM_BLD *b = OSSL_PARAM_BLD_new();
        EVP_PKEY *key = NULL;
        if (b && OSSL_PARAM_BLD_push_utf8_string(b, OSSL_PKEY_PARAM_GROUP_NAME, m->group, 0) &&
            OSSL_PARAM_BLD_push_octet_string(b, OSSL_PKEY_PARAM_PUB_KEY, point.p, point.n))
                key = make_key("EC", b);
        OSSL_PARAM_BLD_free(b);
        return key;
}

EVP_PKEY *ssh_public_key(const struct ssh_bytes *blob, struct err *err)
{
        struct cur c = cur_of(blob->p, blob->n);
        struct ssh_bytes type, raw;
        const struct ssh_method *m = NULL;
        EVP_PKEY *key = NULL;
        if (ssh_get(&c, 64, &type) == 0)
                m = ssh_method_of_key(&type);
        if (!m) {
                err_set(err, E_REFUSED,
                        "the key is of a kind that is not supported (ed25519, "
                        "ecdsa and rsa are)");
                return NULL;
        }
        if (m->curve)
                key = get_ec(&c, m);
        else if (m->digest)
                key = get_rsa(&c);
        else if (ssh_get(&c, 32, &raw) == 0 && raw.n == 32)
                key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, raw.p, raw.n);
        if (key && c.left) {
                EVP_PKEY_free(key);
                key = NULL;
        }
        if (!key)
                err_set(err, E_REFUSED, "the key is broken, or of a length that is not supported");
        return key;
}

/* ec_der(s, der, &n): ssh writes the two numbers of a signature one after the other. */
static int ec_der(const struct ssh_bytes *s, uint8_t der[160], size_t *n)
{
        struct cur c = cur_of(s->p, s->n);
        BIGNUM *r = get_number(&c, 67), *t = r ? get_number(&c, 67) : NULL;
        ECDSA_SIG *sig = ECDSA_SIG_new();
        if (!t || !sig || c.left || ECDSA_SIG_set0(sig, r, t) != 1) {
                BN_free(r);
                BN_free(t);
                ECDSA_SIG_free(sig);
                return -1;
        }
        uint8_t *at = der;
        int len = i2d_ECDSA_SIG(sig, NULL);
        if (len > 0 && len <= 160)
                len = i2d_ECDSA_SIG(sig, &at);
        ECDSA_SIG_free(sig);
        *n = len > 0 && len <= 160 ? (size_t)len : 0;
        return *n ? 0 : -1;
}

/* is_signed(key, m, raw, text): by this key, over these bytes? */
static bool is_signed(EVP_PKEY *key, const struct ssh_method *m, const struct ssh_bytes *raw,
                      const struct ssh_bytes *text)
{
        uint8_t room[RSA_MAX_BITS / 8];
        const uint8_t *sig = raw->p;
        size_t n = raw->n;
        if (m->curve) {
                if (ec_der(raw, room, &n) < 0)
                        return false;
                sig = room;
        } else if (m->digest) {
                /* Leading zeros may have been left out. */
                size_t whole = (size_t)EVP_PKEY_get_size(key);
                if (n > whole || whole > sizeof room)
                        return false;
                memset(room, 0, whole - n);
                memcpy(room + (whole - n), raw->p, n);
                sig = room;
                n = whole;
        }
        EVP_MD_CTX *ctx = EVP_MD_CTX_new();
        bool ok = ctx &&
                  EVP_DigestVerifyInit_ex(ctx, NULL, m->digest, NULL, NULL, key, NULL) == 1 &&
                  EVP_DigestVerify(ctx, sig, n, text->p, text->n) == 1;
        EVP_MD_CTX_free(ctx);
        return ok;
}

int ssh_signature_check(const struct ssh_bytes *key_blob, const struct ssh_method *want,
                        const struct ssh_bytes *signature, const struct ssh_bytes *text,
                        struct err *err)
{
        struct cur c = cur_of(signature->p, signature->n);
        struct cur k = cur_of(key_blob->p, key_blob->n);
        struct ssh_bytes name, raw, type;
        EVP_PKEY *key = ssh_public_key(key_blob, err);
        if (!key)
                return -1;
        const struct ssh_method *m = NULL;
        if (signature->n <= SSH_SIGNATURE_MAX && ssh_get(&c, 64, &name) == 0 &&
            ssh_get(&c, SSH_SIGNATURE_MAX, &raw) == 0 && !c.left && ssh_get(&k, 64, &type) == 0)
                m = ssh_method_find(&name);
        bool ok =
                m && (!want || m == want) && ssh_is(&type, m->key) && is_signed(key, m, &raw, text);
        EVP_PKEY_free(key);
        return ok ? 0 : err_set(err, E_REFUSED, "the signature is not good");
}

int ssh_bind_check(const struct ssh_bind *b, struct err *err)
{
        struct err why = {0};
        if (b->session.n < 16 || b->session.n > SSH_SESSION_MAX)
                return err_set(err, E_REFUSED, "the session that the client showed is no session");
        if (ssh_signature_check(&b->host_key, NULL, &b->signature, &b->session, &why) < 0)
                return err_set(
                        err, E_REFUSED,
                        "the host key did not sign the session that the client showed: %.200s",
                        why.text);
        return 0;
}
