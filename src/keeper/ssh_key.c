/* ssh_key.c - see ssh_key.h. What a user may point us at by mistake (a public key, a key with a
 * passphrase, one of PuTTY's) gets a sentence that says what to do. No value ever stands in one. */
#include "keeper/ssh_key.h"

#include "base/err.h"
#include "base/str.h"
#include "role/ssh_proof.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>

void ssh_put(struct buf *b, const void *p, size_t n)
{
        buf_put_u32(b, (uint32_t)n);
        buf_put(b, p, n);
}

/* ssh_put_number(b, x): big-endian, with a zero in front where it would look negative. */
void ssh_put_number(struct buf *b, const BIGNUM *x)
{
        size_t n = (size_t)BN_num_bytes(x);
        size_t zero = n && BN_num_bits(x) % 8 == 0;
        buf_put_u32(b, (uint32_t)(n + zero));
        if (zero)
                buf_put_u8(b, 0);
        uint8_t *p = buf_room(b, n);
        if (p)
                BN_bn2bin(x, p);
}

static int blob_of_ec(EVP_PKEY *key, struct buf *b)
{
        char group[32], *at;
        uint8_t point[133];
        size_t n = 0;
        static const struct {
                const char *group, *type, *curve;
        } curves[] = {{"prime256v1", "ecdsa-sha2-nistp256", "nistp256"},
                      {"secp384r1", "ecdsa-sha2-nistp384", "nistp384"},
                      {"secp521r1", "ecdsa-sha2-nistp521", "nistp521"}};
        if (EVP_PKEY_get_utf8_string_param(key, OSSL_PKEY_PARAM_GROUP_NAME, group, sizeof group,
                                           NULL) != 1 ||
            EVP_PKEY_set_utf8_string_param(key, OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT,
                                           "uncompressed") != 1 ||
            EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point,
                                            &n) != 1)
                return -1;
        at = group;
        for (size_t i = 0; i < sizeof curves / sizeof *curves; i++)
                if (strcmp(at, curves[i].group) == 0) {
                        ssh_put(b, curves[i].type, strlen(curves[i].type));
                        ssh_put(b, curves[i].curve, strlen(curves[i].curve));
                        ssh_put(b, point, n);
                        return 0;
                }
        return -1;
}

static int blob_of_rsa(EVP_PKEY *key, struct buf *b)
{
        BIGNUM *n = NULL, *e = NULL;
        int r = -1;
        if (EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_N, &n) == 1 &&
            EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &e) == 1) {
                ssh_put(b, "ssh-rsa", 7);
                ssh_put_number(b, e);
                ssh_put_number(b, n);
                r = 0;
        }
        BN_free(n);
        BN_free(e);
        return r;
}

int ssh_key_blob(EVP_PKEY *key, struct buf *b)
{
        uint8_t raw[32];
        size_t n = sizeof raw;
        switch (EVP_PKEY_get_base_id(key)) {
        case EVP_PKEY_ED25519:
                if (EVP_PKEY_get_raw_public_key(key, raw, &n) != 1 || n != sizeof raw)
                        return -1;
                ssh_put(b, "ssh-ed25519", 11);
                ssh_put(b, raw, n);
                return 0;
        case EVP_PKEY_EC:
                return blob_of_ec(key, b);
        case EVP_PKEY_RSA:
                return blob_of_rsa(key, b);
        default:
                return -1;
        }
}

static int no_passphrase(char *room, int size, int is_writing, void *asked)
{
        (void)room, (void)size, (void)is_writing;
        *(bool *)asked = true;
        return -1;
}

static int has_passphrase(struct err *err)
{
        return err_set(err, E_INPUT,
                       "has a passphrase: load it into your ssh agent (ssh-add KEY), or give boxes "
                       "a key of "
                       "their own without one (ssh-keygen -t ed25519 -N '' -f KEY)");
}

static int read_pem(const char *text, size_t n, struct ssh_key *k, struct err *err)
{
        bool asked = false;
        BIO *in = BIO_new_mem_buf(text, (int)n);
        if (in)
                k->key = PEM_read_bio_PrivateKey(in, NULL, no_passphrase, &asked);
        BIO_free(in);
        if (asked)
                return has_passphrase(err);
        if (!k->key)
                return err_set(err, E_INPUT, "cannot be read: it is not a private key of ssh");
        if (ssh_key_blob(k->key, &k->blob) < 0)
                return err_set(err, E_INPUT,
                               "is of a kind that ssh does not use (ed25519, ecdsa, rsa)");
        k->comment = str_dup("");
        return 0;
}

static bool has(const char *text, size_t n, const char *word)
{
        return memmem(text, n, word, strlen(word)) != NULL;
}

static int read_any(const char *text, size_t n, struct ssh_key *k, struct err *err)
{
        size_t len;
        if (memchr(text, 0, n))
                return err_set(err, E_INPUT, "cannot be read: it is not a private key of ssh");
        if (has(text, n, "PuTTY-User-Key-File"))
                return err_set(err, E_INPUT,
                               "is one of PuTTY's: puttygen KEY -O private-openssh -o COPY makes "
                               "one that ssh can use");
        if (has(text, n, "PROC-TYPE: 4,ENCRYPTED") || has(text, n, "Proc-Type: 4,ENCRYPTED") ||
            has(text, n, "BEGIN ENCRYPTED PRIVATE KEY"))
                return has_passphrase(err);
        if (n > 6 && !has(text, n, "-----BEGIN ") &&
            (memcmp(text, "ssh-", 4) == 0 || memcmp(text, "ecdsa-", 6) == 0))
                return err_set(err, E_INPUT,
                               "is a public key: name the file without .pub, which holds the "
                               "private one, or load it into your ssh agent");
        uint8_t *bytes = ssh_key_armour(text, n, "OPENSSH PRIVATE KEY", &len);
        if (!bytes)
                return read_pem(text, n, k, err);
        int r = ssh_key_open(&(struct ssh_bytes){bytes, len}, k, err);
        OPENSSL_secure_clear_free(bytes, n);
        if (r < 0 && err->code == E_REFUSED)
                return has_passphrase(err);
        return r;
}

/* try_out(k, err): sign something and look at it as if it came from elsewhere. A key that is too
 * short for egress, or whose halves do not belong together, is told now. */
static int try_out(const struct ssh_key *k, struct err *err)
{
        static const uint8_t text[] = "a session that nobody has";
        _cleanup_buf_ struct buf sig = {0};
        struct cur c = cur_of(k->blob.data, k->blob.len);
        struct ssh_bytes type, session = {text, sizeof text};
        struct err why = {0};
        const struct ssh_method *m = NULL;
        if (ssh_get(&c, 64, &type) == 0)
                m = ssh_method_of_key(&type);
        if (!m || k->blob.is_broken || ssh_key_sign(k, m, &session, &sig) < 0)
                return err_set(err, E_INPUT, "cannot be used for signatures");
        struct ssh_bind b = {.host_key = {k->blob.data, k->blob.len},
                             .session = session,
                             .signature = {sig.data, sig.len}};
        if (ssh_bind_check(&b, &why) < 0)
                return err_set(err, E_INPUT,
                               "is damaged or too short: rsa needs 2048 bits, and its two halves "
                               "must belong together");
        return 0;
}

int ssh_key_read(const char *text, size_t n, struct ssh_key *k, struct err *err)
{
        *k = (struct ssh_key){0};
        int r = read_any(text, n, k, err);
        if (r == 0)
                r = try_out(k, err);
        if (r < 0)
                ssh_key_free(k);
        return r;
}

/* public_line(text, n, k): "ssh-ed25519 AAAA... comment". */
static int public_line(const char *text, size_t n, struct ssh_key *k)
{
        const char *end = text + n, *nl = memchr(text, '\n', n);
        end = nl ? nl : end;
        const char *from = memchr(text, ' ', (size_t)(end - text));
        if (!from)
                return -1;
        from++;
        const char *to = memchr(from, ' ', (size_t)(end - from));
        to = to ? to : end;
        uint8_t *room = buf_room(&k->blob, (size_t)(to - from) + 1);
        ssize_t got = room ? ssh_key_decode(from, to, room) : -1;
        k->blob.len = got > 0 ? (size_t)got : 0;
        return got > 0 ? 0 : -1;
}

int ssh_key_public(const char *text, size_t n, struct ssh_key *k)
{
        size_t len;
        struct err err = {0};
        *k = (struct ssh_key){.comment = str_dup("")};
        uint8_t *bytes = ssh_key_armour(text, n, "OPENSSH PRIVATE KEY", &len);
        int r = bytes ? ssh_key_open_public(&(struct ssh_bytes){bytes, len}, &k->blob)
                      : public_line(text, n, k);
        if (bytes)
                OPENSSL_secure_clear_free(bytes, n);
        EVP_PKEY *key =
                r == 0 ? ssh_public_key(&(struct ssh_bytes){k->blob.data, k->blob.len}, &err)
                       : NULL;
        bool is_good = key != NULL;
        EVP_PKEY_free(key);
        if (!is_good)
                ssh_key_free(k);
        return is_good ? 0 : -1;
}

void ssh_key_free(struct ssh_key *k)
{
        EVP_PKEY_free(k->key);
        buf_free(&k->blob);
        free(k->comment);
        *k = (struct ssh_key){0};
}

void ssh_key_line(const struct ssh_key *k, struct buf *b)
{
        struct cur c = cur_of(k->blob.data, k->blob.len);
        struct ssh_bytes type;
        if (ssh_get(&c, 64, &type) < 0)
                return;
        buf_put(b, type.p, type.n);
        buf_put_u8(b, ' ');
        size_t n = 4 * ((k->blob.len + 2) / 3);
        uint8_t *p = buf_room(b, n + 1);
        if (p) {
                EVP_EncodeBlock(p, k->blob.data, (int)k->blob.len);
                b->len--; /* its NUL */
        }
        if (*k->comment)
                buf_put_fmt(b, " %s", k->comment);
}

/* put_ec(der, n, b): the two numbers of a signature, as ssh writes them. */
static int put_ec(const uint8_t *der, size_t n, struct buf *b)
{
        _cleanup_buf_ struct buf two = {0};
        ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &der, (long)n);
        if (!sig)
                return -1;
        ssh_put_number(&two, ECDSA_SIG_get0_r(sig));
        ssh_put_number(&two, ECDSA_SIG_get0_s(sig));
        ECDSA_SIG_free(sig);
        ssh_put(b, two.data, two.len);
        return 0;
}

int ssh_key_sign(const struct ssh_key *k, const struct ssh_method *m, const struct ssh_bytes *data,
                 struct buf *b)
{
        uint8_t sig[SSH_SIGNATURE_MAX];
        size_t n = sizeof sig;
        EVP_MD_CTX *ctx = EVP_MD_CTX_new();
        bool ok = ctx &&
                  EVP_DigestSignInit_ex(ctx, NULL, m->digest, NULL, NULL, k->key, NULL) == 1 &&
                  EVP_DigestSign(ctx, sig, &n, data->p, data->n) == 1;
        EVP_MD_CTX_free(ctx);
        if (!ok)
                return -1;
        ssh_put(b, m->name, strlen(m->name));
        if (m->curve)
                return put_ec(sig, n, b);
        ssh_put(b, sig, n);
        return 0;
}
