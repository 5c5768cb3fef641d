/* ca_roots.c - see ca_roots.h. The format of Java's store (JKS) is: magic, version, count; for each
 * trusted certificate its kind, alias, time, "X.509" and DER; then SHA-1 over password, a fixed
 * phrase and all of it. The digest is no secret, it only finds damage. */
#include "keeper/ca_roots.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "keeper/ca_cert.h"

#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <string.h>

enum { BUNDLE_MAX = 8 << 20, JKS_CERTIFICATE = 2 };

static void put_utf(struct buf *b, const char *s)
{
        size_t n = strlen(s);
        buf_put_u8(b, (uint8_t)(n >> 8));
        buf_put_u8(b, (uint8_t)n);
        buf_put(b, s, n);
}

static void put_entry(struct buf *b, const char *alias, const void *der, size_t n)
{
        buf_put_u32(b, JKS_CERTIFICATE);
        put_utf(b, alias);
        buf_put_u64(b, 0); /* when it was added: nobody asks */
        put_utf(b, "X.509");
        buf_put_u32(b, (uint32_t)n);
        buf_put(b, der, n);
}

/* put_roots(r): every certificate of the bundle; returns how many. */
static uint32_t put_roots(struct ca_roots *r, struct buf *out)
{
        BIO *in = r->pem.len ? BIO_new_mem_buf(r->pem.data, (int)r->pem.len) : NULL;
        char *name, *header, alias[32];
        uint8_t *der;
        long len;
        uint32_t n = 0;
        while (in && PEM_read_bio(in, &name, &header, &der, &len)) {
                if (strcmp(name, PEM_STRING_X509) == 0 && len > 0) {
                        snprintf(alias, sizeof alias, "root-%u", n++);
                        put_entry(out, alias, der, (size_t)len);
                }
                OPENSSL_free(name);
                OPENSSL_free(header);
                OPENSSL_free(der);
        }
        ERR_clear_error();
        BIO_free(in);
        return n;
}

int ca_roots_read(struct ca_roots *r, const char *bundle, bool wants_java, struct err *err)
{
        *r = (struct ca_roots){0};
        if (bundle) {
                _cleanup_close_ int fd = open(bundle, O_RDONLY | O_CLOEXEC);
                if (fd < 0 || fdio_read_all(fd, &r->pem, BUNDLE_MAX) < 0)
                        return err_sys(err, "read the trusted roots in %s", bundle);
                /* What we add must begin on a line of its own. */
                if (r->pem.len && r->pem.data[r->pem.len - 1] != '\n')
                        buf_put_u8(&r->pem, '\n');
        }
        if (!wants_java)
                return 0;
        _cleanup_buf_ struct buf roots = {0};
        uint32_t n = put_roots(r, &roots);
        buf_put_u32(&r->jks, 0xfeedfeed);
        buf_put_u32(&r->jks, 2);
        buf_put_u32(&r->jks, n + 1);
        buf_put(&r->jks, roots.data, roots.len);
        return roots.is_broken || r->jks.is_broken
                       ? err_set(err, E_SYSTEM, "there is no memory for Java's store")
                       : 0;
}

void ca_roots_free(struct ca_roots *r)
{
        buf_free(&r->pem);
        buf_free(&r->jks);
}

int ca_roots_java(const struct ca_roots *r, const struct ca_cert *c, struct buf *tail,
                  struct err *err)
{
        static const char password[] = "\0c\0h\0a\0n\0g\0e\0i\0t"; /* two bytes a letter */
        static const char phrase[] = "Mighty Aphrodite";
        uint8_t digest[EVP_MAX_MD_SIZE];
        unsigned len = 0;
        put_entry(tail, "ostiary", c->cert_der, c->cert_len);
        EVP_MD_CTX *md = EVP_MD_CTX_new();
        int is_done = md && EVP_DigestInit_ex(md, EVP_sha1(), NULL) &&
                      EVP_DigestUpdate(md, password, sizeof password - 1) &&
                      EVP_DigestUpdate(md, phrase, sizeof phrase - 1) &&
                      EVP_DigestUpdate(md, r->jks.data, r->jks.len) &&
                      EVP_DigestUpdate(md, tail->data, tail->len) &&
                      EVP_DigestFinal_ex(md, digest, &len);
        EVP_MD_CTX_free(md);
        buf_put(tail, digest, len);
        return is_done && !tail->is_broken ? 0
                                           : err_set(err, E_SYSTEM, "Java's store was not made");
}
