/* ssh_key_format.c - the file format of ssh-keygen, openssh-key-v1 (PROTOCOL.key of OpenSSH), from
 * its armour to a key. The bytes stay in OpenSSL's locked memory and are wiped by the caller. */
#include "base/err.h"
#include "base/str.h"
#include "keeper/ssh_key.h"
#include "role/ssh_proof.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/param_build.h>
#include <stdlib.h>
#include <string.h>

enum { FIELD_MAX = 8 << 10 };

static int digit(char c)
{
        if (c >= 'A' && c <= 'Z')
                return c - 'A';
        if (c >= 'a' && c <= 'z')
                return c - 'a' + 26;
        if (c >= '0' && c <= '9')
                return c - '0' + 52;
        return c == '+' ? 62 : c == '/' ? 63 : -1;
}

ssize_t ssh_key_decode(const char *p, const char *end, uint8_t *out)
{
        uint32_t bits = 0;
        unsigned have = 0;
        size_t n = 0;
        for (; p < end && *p != '='; p++) {
                if (*p == '\n' || *p == '\r' || *p == ' ' || *p == '\t')
                        continue;
                int d = digit(*p);
                if (d < 0)
                        return -1;
                bits = bits << 6 | (uint32_t)d;
                have += 6;
                if (have >= 8) {
                        have -= 8;
                        out[n++] = (uint8_t)(bits >> have);
                }
        }
        for (; p < end; p++)
                if (*p != '=' && *p != '\n' && *p != '\r' && *p != ' ' && *p != '\t')
                        return -1;
        return (ssize_t)n;
}

uint8_t *ssh_key_armour(const char *text, size_t n, const char *label, size_t *len)
{
        char *begin = str_fmt("-----BEGIN %s-----", label);
        char *end = str_fmt("-----END %s-----", label);
        const char *from = memmem(text, n, begin, strlen(begin)), *to = NULL;
        if (from) {
                from += strlen(begin);
                to = memmem(from, n - (size_t)(from - text), end, strlen(end));
        }
        free(begin);
        free(end);
        if (!to)
                return NULL;
        uint8_t *bytes = OPENSSL_secure_zalloc(n);
        if (!bytes)
                str_no_memory();
        ssize_t got = ssh_key_decode(from, to, bytes);
        *len = got > 0 ? (size_t)got : 0;
        return bytes;
}

static int broken(struct err *err)
{
        return err_set(err, E_INPUT, "is damaged: ssh-keygen -y -f FILE would not read it either");
}

static BIGNUM *get_number(struct cur *c)
{
        struct ssh_bytes s;
        BIGNUM *x = BN_secure_new();
        if (!x || ssh_get(c, FIELD_MAX, &s) < 0 || s.n == 0 || (s.p[0] & 0x80) ||
            !BN_bin2bn(s.p, (int)s.n, x)) {
                BN_clear_free(x);
                return NULL;
        }
        return x;
}

static EVP_PKEY *make_key(const char *kind, OSSL_PARAM_BLD *b)
{
        EVP_PKEY *key = NULL;
        OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(b);
        EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, kind, NULL);
        if (!params || !ctx || EVP_PKEY_fromdata_init(ctx) != 1 ||
            EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_KEYPAIR, params) != 1)
                key = NULL;
        EVP_PKEY_CTX_free(ctx);
        OSSL_PARAM_free(params);
        return key;
}

static EVP_PKEY *get_ed25519(struct cur *c)
{
        struct ssh_bytes public, both;
        if (ssh_get(c, 32, &public) < 0 || public.n != 32 || ssh_get(c, 64, &both) < 0 ||
            both.n != 64 || memcmp(both.p + 32, public.p, 32) != 0)
                return NULL;
        return EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, both.p, 32);
}

static EVP_PKEY *get_ec(struct cur *c, const struct ssh_method *m)
{
        struct ssh_bytes curve, point;
        if (ssh_get(c, 16, &curve) < 0 || !ssh_is(&curve, m->curve) || ssh_get(c, 133, &point) < 0)
                return NULL;
        BIGNUM *d = get_number(c);
        OSSL_PARAM_BLD *b = OSSL_PARAM_BLD_new();
        EVP_PKEY *key = NULL;
        if (d && b && OSSL_PARAM_BLD_push_utf8_string(b, OSSL_PKEY_PARAM_GROUP_NAME, m->group, 0) &&
            OSSL_PARAM_BLD_push_octet_string(b, OSSL_PKEY_PARAM_PUB_KEY, point.p, point.n) &&
            OSSL_PARAM_BLD_push_BN(b, OSSL_PKEY_PARAM_PRIV_KEY, d))
                key = make_key("EC", b);
        OSSL_PARAM_BLD_free(b);
        BN_clear_free(d);
        return key;
}

/* exponent(d, p): what is left of ${d} for one prime. */
static BIGNUM *exponent(const BIGNUM *d, const BIGNUM *p)
{
        BIGNUM *less = BN_dup(p), *r = BN_secure_new();
        BN_CTX *ctx = BN_CTX_secure_new();
        bool ok = less && r && ctx && BN_sub_word(less, 1) && !BN_is_zero(less) &&
                  BN_mod(r, d, less, ctx);
        BN_CTX_free(ctx);
        BN_clear_free(less);
        if (!ok) {
                BN_clear_free(r);
                return NULL;
        }
        return r;
}

static EVP_PKEY *get_rsa(struct cur *c)
{
        /* In the order of the file; the last two are computed. */
        static const char *const names[] = {
                OSSL_PKEY_PARAM_RSA_N,         OSSL_PKEY_PARAM_RSA_E,
                OSSL_PKEY_PARAM_RSA_D,         OSSL_PKEY_PARAM_RSA_COEFFICIENT1,
                OSSL_PKEY_PARAM_RSA_FACTOR1,   OSSL_PKEY_PARAM_RSA_FACTOR2,
                OSSL_PKEY_PARAM_RSA_EXPONENT1, OSSL_PKEY_PARAM_RSA_EXPONENT2};
        enum { N, E, D, IQMP, P, Q, DP, DQ, ALL };
        BIGNUM *x[ALL] = {0};
        OSSL_PARAM_BLD *b = OSSL_PARAM_BLD_new();
        EVP_PKEY *key = NULL;
        bool ok = b != NULL;
        for (int i = N; ok && i <= Q; i++)
                ok = (x[i] = get_number(c)) != NULL;
        ok = ok && BN_num_bits(x[N]) <= 16384 && (x[DP] = exponent(x[D], x[P])) &&
             (x[DQ] = exponent(x[D], x[Q]));
        for (int i = N; ok && i < ALL; i++)
                ok = OSSL_PARAM_BLD_push_BN(b, names[i], x[i]) == 1;
        if (ok)
                key = make_key("RSA", b);
        OSSL_PARAM_BLD_free(b);
        for (int i = N; i < ALL; i++)
                BN_clear_free(x[i]);
        return key;
}

/* take_comment(s): for people; whatever is not plain is left out. */
static char *take_comment(const struct ssh_bytes *s)
{
        char *text = malloc(SSH_COMMENT_MAX + 1);
        size_t n = 0;
        if (!text)
                str_no_memory();
        for (size_t i = 0; i < s->n && n < SSH_COMMENT_MAX; i++)
                if (s->p[i] >= ' ' && s->p[i] < 0x7f)
                        text[n++] = (char)s->p[i];
        text[n] = 0;
        return text;
}

static int open_private(const struct ssh_bytes *inner, struct ssh_key *k, struct err *err)
{
        struct cur c = cur_of(inner->p, inner->n);
        struct ssh_bytes type, comment;
        uint32_t check, again;
        if (cur_u32(&c, &check) < 0 || cur_u32(&c, &again) < 0 || check != again ||
            ssh_get(&c, 64, &type) < 0)
                return broken(err);
        const struct ssh_method *m = ssh_method_of_key(&type);
        if (!m)
                return err_set(err, E_INPUT,
                               "is of a kind that is not supported: ed25519, ecdsa and rsa are; a "
                               "key that lives in a security token cannot be used here");
        k->key = m->curve ? get_ec(&c, m) : m->digest ? get_rsa(&c) : get_ed25519(&c);
        if (!k->key || ssh_get(&c, FIELD_MAX, &comment) < 0)
                return broken(err);
        for (uint8_t pad = 1; c.left; pad++) {
                uint8_t got;
                if (cur_u8(&c, &got) < 0 || got != pad)
                        return broken(err);
        }
        k->comment = take_comment(&comment);
        return 0;
}

/* A file of ssh-keygen, but for its private part. */
struct outer {
        struct ssh_bytes cipher, kdf, options, public, inner;
};

static int open_outer(const struct ssh_bytes *bytes, struct outer *o)
{
        static const char magic[] = "openssh-key-v1"; /* with its NUL */
        struct cur c = cur_of(bytes->p, bytes->n);
        const uint8_t *head;
        uint32_t n;
        if (cur_bytes(&c, sizeof magic, &head) < 0 || memcmp(head, magic, sizeof magic) != 0 ||
            ssh_get(&c, 64, &o->cipher) < 0 || ssh_get(&c, 64, &o->kdf) < 0 ||
            ssh_get(&c, 256, &o->options) < 0 || cur_u32(&c, &n) < 0 || n != 1 ||
            ssh_get(&c, FIELD_MAX, &o->public) < 0 || ssh_get(&c, FIELD_MAX * 2, &o->inner) < 0)
                return -1;
        return 0;
}

int ssh_key_open(const struct ssh_bytes *bytes, struct ssh_key *k, struct err *err)
{
        struct outer o;
        if (open_outer(bytes, &o) < 0)
                return broken(err);
        if (!ssh_is(&o.cipher, "none") || !ssh_is(&o.kdf, "none"))
                return err_set(err, E_REFUSED, "has a passphrase");
        if (open_private(&o.inner, k, err) < 0)
                return -1;
        if (ssh_key_blob(k->key, &k->blob) < 0 || k->blob.is_broken ||
            !ssh_same(&o.public, &(struct ssh_bytes){k->blob.data, k->blob.len}))
                return broken(err);
        return 0;
}

int ssh_key_open_public(const struct ssh_bytes *bytes, struct buf *b)
{
        struct outer o;
        if (open_outer(bytes, &o) < 0)
                return -1;
        buf_put(b, o.public.p, o.public.n);
        return 0;
}
