/* trust_index.c - `ostiary-door index-roots BUNDLE OUT`: the certificates of a PEM bundle as the
 * index that trust.c reads. Run by session with the user's rights when the host's roots have
 * changed; never by a role. */
#include "egress/trust_index.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fdio.h"
#include "egress/egress.h"

#include <fcntl.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct root {
        uint32_t hash;
        uint32_t len;
        unsigned char *der;
};

static int by_hash(const void *a, const void *b)
{
        const struct root *x = a, *y = b;
        return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* read_roots(f, roots): how many; what is not a certificate is passed over. */
static size_t read_roots(FILE *f, struct root *roots)
{
        size_t n = 0;
        while (n < TRUST_ROOTS_MAX) {
                /* Also what says TRUSTED CERTIFICATE; the extra trust it carries is not used. */
                X509 *x = PEM_read_X509_AUX(f, NULL, NULL, NULL);
                if (!x)
                        break;
                int len = i2d_X509(x, NULL);
                unsigned char *der = NULL;
                if (len > 0 && i2d_X509(x, &der) == len)
                        roots[n++] = (struct root){
                                .hash = (uint32_t)X509_subject_name_hash(x),
                                .len = (uint32_t)len,
                                .der = der,
                        };
                X509_free(x);
        }
        return n;
}

static void put_index(struct buf *b, const struct root *roots, size_t n)
{
        size_t at = TRUST_MAGIC_LEN + 4 + n * TRUST_ENTRY_LEN;
        buf_put(b, TRUST_MAGIC, TRUST_MAGIC_LEN);
        buf_put_u32(b, (uint32_t)n);
        for (size_t i = 0; i < n; i++) {
                buf_put_u32(b, roots[i].hash);
                buf_put_u32(b, (uint32_t)at);
                buf_put_u32(b, roots[i].len);
                at += roots[i].len;
        }
        for (size_t i = 0; i < n; i++)
                buf_put(b, roots[i].der, roots[i].len);
}

/* put_file(out, b): whole or not there, for somebody may be reading the old one. */
static int put_file(const char *out, const struct buf *b)
{
        char tmp[4096];
        if (snprintf(tmp, sizeof tmp, "%s.%d", out, (int)getpid()) >= (int)sizeof tmp)
                return -1;
        _cleanup_close_ int fd = open(tmp, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
        if (fd < 0)
                return -1;
        if (fdio_write_all(fd, b->data, b->len) == 0 && rename(tmp, out) == 0)
                return 0;
        unlink(tmp);
        return -1;
}

int egress_index_main(int argc, char **argv)
{
        if (argc != 3) {
                fprintf(stderr, "usage: ostiary-door index-roots BUNDLE OUT\n");
                return 64;
        }
        _cleanup_fclose_ FILE *f = fopen(argv[1], "re");
        if (!f) {
                perror(argv[1]);
                return 1;
        }
        struct root *roots = calloc(TRUST_ROOTS_MAX, sizeof *roots);
        _cleanup_buf_ struct buf b = {.max = TRUST_INDEX_MAX};
        size_t n = roots ? read_roots(f, roots) : 0;
        if (n)
                qsort(roots, n, sizeof *roots, by_hash);
        put_index(&b, roots, n);
        int r = n == 0 || b.is_broken ? -1 : put_file(argv[2], &b);
        if (r < 0)
                fprintf(stderr,
                        n ? "index-roots: %s cannot be written.\n"
                          : "index-roots: %s holds no certificate.\n",
                        n ? argv[2] : argv[1]);
        for (size_t i = 0; i < n; i++)
                OPENSSL_free(roots[i].der);
        free(roots);
        return r < 0 ? 1 : 0;
}
