/* door_trust.c - an origin is believed when its chain, dates, name and strength are right and not
 * otherwise, by the index of roots and by ca= files; each refusal has its sentence. Certificates
 * are made here, handshakes run in memory. */
#include "unit/check.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "egress/egress.h"
#include "egress/trust.h"
#include "policy/host_name.h"

#include <fcntl.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { DAY = 86400 };

struct made {
        X509 *x;
        EVP_PKEY *key;
};

static void add_ext(X509 *x, X509 *issuer, int nid, const char *value)
{
        X509V3_CTX ctx;
        X509V3_set_ctx(&ctx, issuer, x, NULL, NULL, 0);
        X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
        X509_add_ext(x, e, -1);
        X509_EXTENSION_free(e);
}

/* make(name, san, issuer, from, to, key, md): a certificate; an authority when ${san} is NULL;
 * self-signed when ${issuer} is NULL. */
static struct made make(const char *name, const char *san, const struct made *issuer, long from,
                        long to, EVP_PKEY *key, const EVP_MD *md)
{
        static long serial = 1000;
        struct made m = {.x = X509_new(), .key = key ? key : EVP_EC_gen("P-256")};
        X509_set_version(m.x, X509_VERSION_3);
        ASN1_INTEGER_set(X509_get_serialNumber(m.x), serial++);
        X509_gmtime_adj(X509_getm_notBefore(m.x), from * DAY);
        X509_gmtime_adj(X509_getm_notAfter(m.x), to * DAY);
        X509_NAME_add_entry_by_txt(X509_get_subject_name(m.x), "CN", MBSTRING_ASC,
                                   (const unsigned char *)name, -1, -1, 0);
        X509_set_issuer_name(m.x, X509_get_subject_name(issuer ? issuer->x : m.x));
        X509_set_pubkey(m.x, m.key);
        add_ext(m.x, m.x, NID_basic_constraints, san ? "CA:FALSE" : "critical,CA:TRUE");
        if (san)
                add_ext(m.x, m.x, NID_subject_alt_name, san);
        /* Two roots of one name are told apart by their keys' identifiers. */
        add_ext(m.x, m.x, NID_subject_key_identifier, "hash");
        if (issuer)
                add_ext(m.x, issuer->x, NID_authority_key_identifier, "keyid");
        X509_sign(m.x, issuer ? issuer->key : m.key, md ? md : EVP_sha256());
        return m;
}

static void unmake(struct made *m)
{
        X509_free(m->x);
        EVP_PKEY_free(m->key);
}

/* shake(t, server, chain, host, ca): the whole handshake; "" when the origin was believed, else the
 * words. */
static const char *shake(struct trust *t, const struct made *server, X509 *chain, const char *host,
                         const char *ca)
{
        static char words[1024];
        struct host_name h;
        struct err err = {0};
        SSL_CTX *sc = SSL_CTX_new(TLS_server_method()), *cc = SSL_CTX_new(TLS_client_method());
        /* The server is as weak as its certificate wants it to be. */
        SSL_CTX_set_security_level(sc, 0);
        SSL_CTX_use_certificate(sc, server->x);
        SSL_CTX_use_PrivateKey(sc, server->key);
        if (chain)
                SSL_CTX_add1_chain_cert(sc, chain);
        SSL *s = SSL_new(sc), *c = SSL_new(cc);
        BIO *a, *b;
        BIO_new_bio_pair(&a, 0, &b, 0);
        SSL_set_bio(s, a, a);
        SSL_set_bio(c, b, b);
        SSL_set_accept_state(s);
        host_name_parse(host, strlen(host), &h, NULL);
        snprintf(words, sizeof words, "the handshake failed without words");
        if (trust_client(t, c, &h, ca, &err) < 0) {
                snprintf(words, sizeof words, "%s", err.text);
        } else {
                int r = 0;
                for (int i = 0; i < 20 && r != 1; i++) {
                        r = SSL_do_handshake(c);
                        SSL_do_handshake(s);
                }
                if (trust_words(c))
                        snprintf(words, sizeof words, "%s", trust_words(c));
                else if (r == 1)
                        words[0] = 0;
        }
        SSL_free(s);
        SSL_free(c);
        SSL_CTX_free(sc);
        SSL_CTX_free(cc);
        return words;
}

static void says(const char *name, const char *got, const char *want)
{
        check(strstr(got, want) != NULL, name, "got \"%s\", wanted \"%s\" in it", got, want);
}

static char *pem_of(X509 *x)
{
        char *data;
        BIO *b = BIO_new(BIO_s_mem());
        PEM_write_bio_X509(b, x);
        long n = BIO_get_mem_data(b, &data);
        char *text = strndup(data, (size_t)n);
        BIO_free(b);
        return text;
}

static struct made root, twin, other, middle;
static char dir[] = "/tmp/ostiary-trust.XXXXXX";

/* index_of(): two roots of the same name and one other, through the program's own command. */
static int index_of(void)
{
        char bundle[64], out[64];
        snprintf(bundle, sizeof bundle, "%s/bundle", dir);
        snprintf(out, sizeof out, "%s/index", dir);
        FILE *f = fopen(bundle, "we");
        fputs("# words before\n", f);
        PEM_write_X509(f, twin.x);
        fputs("# words between\n", f);
        PEM_write_X509(f, other.x);
        PEM_write_X509(f, root.x);
        fclose(f);
        char *argv[] = {"index-roots", bundle, out, NULL};
        CHECK("the index is made", egress_index_main(3, argv) == 0);
        int fd = open(out, O_RDONLY | O_CLOEXEC);
        unlink(bundle);
        unlink(out);
        return fd;
}

static void by_index(struct trust *t)
{
        struct made m =
                make("leaf", "DNS:www.example.org,IP:198.51.100.7", &root, -1, 30, NULL, NULL);
        check_str("a good origin is believed", shake(t, &m, NULL, "www.example.org", NULL), "");
        check_str("again", shake(t, &m, NULL, "www.example.org", NULL), "");
        check_str("by its address", shake(t, &m, NULL, "198.51.100.7", NULL), "");
        says("another address", shake(t, &m, NULL, "198.51.100.8", NULL), "is for another name");
        says("another name", shake(t, &m, NULL, "example.org", NULL),
             "is for another name: www.example.org, 198.51.100.7");
        unmake(&m);

        m = make("leaf", "DNS:www.example.org", &root, -30, -2, NULL, NULL);
        says("an expired one", shake(t, &m, NULL, "www.example.org", NULL), "has expired on 20");
        unmake(&m);
        m = make("leaf", "DNS:www.example.org", &root, 2, 30, NULL, NULL);
        says("one of the future", shake(t, &m, NULL, "www.example.org", NULL), "not valid yet");
        unmake(&m);
        m = make("leaf", "DNS:www.example.org", NULL, -1, 30, NULL, NULL);
        says("a self-signed one", shake(t, &m, NULL, "www.example.org", NULL), "is self-signed");
        unmake(&m);
        m = make("leaf", "DNS:www.example.org", &root, -1, 30, NULL, EVP_sha1());
        says("one signed with SHA-1", shake(t, &m, NULL, "www.example.org", NULL), "SHA-1");
        unmake(&m);
        m = make("leaf", "DNS:www.example.org", &root, -1, 30, EVP_RSA_gen(1024), NULL);
        says("a short key", shake(t, &m, NULL, "www.example.org", NULL), "shorter than RSA 2048");
        unmake(&m);
        m = make("www.example.org", "DNS:else.example.org", &root, -1, 30, NULL, NULL);
        says("the common name counts for nothing", shake(t, &m, NULL, "www.example.org", NULL),
             "is for another name");
        unmake(&m);

        m = make("leaf", "DNS:*.example.org", &root, -1, 30, NULL, NULL);
        check_str("a wildcard of the origin's", shake(t, &m, NULL, "www.example.org", NULL), "");
        says("is one label", shake(t, &m, NULL, "a.b.example.org", NULL), "another name");
        unmake(&m);

        m = make("leaf", "DNS:www.example.org", &middle, -1, 30, NULL, NULL);
        check_str("a chain", shake(t, &m, middle.x, "www.example.org", NULL), "");
        says("without its middle", shake(t, &m, NULL, "www.example.org", NULL),
             "an authority that is not trusted here (\"Middle\")");
        struct made strange = make("Strange\x1b[31m", NULL, NULL, -1, 30, NULL, NULL);
        struct made n = make("leaf", "DNS:www.example.org", &strange, -1, 30, NULL, NULL);
        says("a stranger's authority", shake(t, &n, strange.x, "www.example.org", NULL),
             "not trusted here (\"Strange?[31m\")");
        unmake(&strange);
        unmake(&n);
        unmake(&m);
}

static void by_file(struct trust *t)
{
        struct err err = {0};
        struct made own = make("Own", NULL, NULL, -1, 30, NULL, NULL);
        struct made m = make("leaf", "DNS:git.home.arpa", &own, -1, 30, NULL, NULL);
        struct made public = make("leaf", "DNS:git.home.arpa", &root, -1, 30, NULL, NULL);
        struct made self = make("leaf", "DNS:self.home.arpa", NULL, -1, 30, NULL, NULL);
        _cleanup_free_ char *pem = pem_of(own.x);
        _cleanup_free_ char *self_pem = pem_of(self.x);
        says("before it is named", shake(t, &m, NULL, "git.home.arpa", "~/ca.pem"),
             "~/ca.pem that the rule names with ca= was not loaded");
        CHECK("a ca= file", trust_add_ca(t, "~/ca.pem", pem, strlen(pem), &err) == 0);
        check_str("is believed", shake(t, &m, NULL, "git.home.arpa", "~/ca.pem"), "");
        says("only where it is named", shake(t, &m, NULL, "git.home.arpa", NULL),
             "not trusted here");
        says("and then alone", shake(t, &public, NULL, "git.home.arpa", "~/ca.pem"),
             "not trusted here");
        CHECK("words are no certificate", trust_add_ca(t, "~/ca.pem", "hello", 5, &err) < 0);
        says("says so", err.text, "holds no certificate");
        check_str("what was there stays", shake(t, &m, NULL, "git.home.arpa", "~/ca.pem"), "");
        CHECK("the same name again replaces it",
              trust_add_ca(t, "~/ca.pem", self_pem, strlen(self_pem), &err) == 0);
        says("and what it held is gone", shake(t, &m, NULL, "git.home.arpa", "~/ca.pem"),
             "not trusted here");
        check_str("a server's own certificate can be named",
                  shake(t, &self, NULL, "self.home.arpa", "~/ca.pem"), "");
        says("for its own name", shake(t, &self, NULL, "git.home.arpa", "~/ca.pem"),
             "another name");
        unmake(&own), unmake(&m), unmake(&public), unmake(&self);
}

static void without_roots(void)
{
        struct err err = {0};
        struct trust *t = trust_open(-1, &err);
        struct made m = make("leaf", "DNS:www.example.org", &root, -1, 30, NULL, NULL);
        _cleanup_free_ char *pem = pem_of(root.x);
        says("a machine without roots", shake(t, &m, NULL, "www.example.org", NULL),
             "no list of trusted authorities");
        CHECK("takes ca= files", trust_add_ca(t, "/ca", pem, strlen(pem), &err) == 0);
        check_str("and believes them", shake(t, &m, NULL, "www.example.org", "/ca"), "");
        unmake(&m);
        trust_free(t);
}

static void damaged(int good_fd)
{
        uint8_t bytes[4096];
        ssize_t n = pread(good_fd, bytes, sizeof bytes, 0);
        static const size_t at[] = {0, 8, 9, 16, 17, 20, 21, 23};
        for (size_t i = 0; i <= sizeof at / sizeof *at; i++) {
                int fd = memfd_create("index", MFD_CLOEXEC);
                uint8_t copy[4096];
                memcpy(copy, bytes, sizeof copy);
                if (i < sizeof at / sizeof *at)
                        copy[at[i]] ^= 0xff;
                size_t len = i < sizeof at / sizeof *at ? (size_t)n : 40;
                fdio_write_all(fd, copy, len);
                struct err err = {0};
                struct trust *t = trust_open(fd, &err);
                struct made m = make("leaf", "DNS:www.example.org", &root, -1, 30, NULL, NULL);
                if (t) /* it may refuse or believe, but not fall over */
                        shake(t, &m, NULL, "www.example.org", NULL);
                CHECK("a damaged index does no harm", t || err.text[0]);
                unmake(&m);
                trust_free(t);
                close(fd);
        }
}

int main(void)
{
        struct err err = {0};
        if (!mkdtemp(dir))
                return 1;
        root = make("Root", NULL, NULL, -1, 365, NULL, NULL);
        twin = make("Root", NULL, NULL, -1, 365, NULL, NULL);
        other = make("Other", NULL, NULL, -1, 365, NULL, NULL);
        middle = make("Middle", NULL, &root, -1, 365, NULL, NULL);
        _cleanup_close_ int fd = index_of();
        struct trust *t = trust_open(fd, &err);
        if (CHECK("the index opens", t != NULL)) {
                by_index(t);
                by_file(t);
        }
        trust_free(t);
        without_roots();
        damaged(fd);
        rmdir(dir);
        unmake(&root), unmake(&twin), unmake(&other), unmake(&middle);
        return check_end();
}
