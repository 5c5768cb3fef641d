/* tls.c - deciphering on both sides. One context each for the life of the process, because making
 * one costs as much as a handshake; a leaf certificate per name from the keeper, kept; one key for
 * all of them. No session tickets toward the box: each connection shows its name again. */
#include "egress/door.h"

#include "base/err.h"
#include "base/str.h"
#include "egress/leaf.h"
#include "egress/trust.h"

#include <openssl/err.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

/* Certificates for new names: at once, and then in a second. Names that are looked up are fewer;
 * this is for those that a program only says in its handshake with an address. */
enum { LEAVES_MAX = 4096, LEAVES_BURST = 500, LEAVES_PER_SECOND = 50 };
enum { LEAF_COST = 3 << 10 }; /* of memory: the certificate as OpenSSL has it, and its name */

struct leaf {
        struct host_name host;
        X509 *cert;
        uint64_t used; /* loop_now of its last use */
        struct leaf *next;
};

/* A request for a leaf that the keeper has not answered. */
struct leaf_wait {
        struct door *door;
        struct host_name host;
        void (*fn)(void *, X509 *, const char *);
        void *ctx;
};

static int choose_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_n,
                       const unsigned char *in, unsigned in_n, void *ctx)
{
        static const unsigned char ours[] = "\x02h2\x08http/1.1";
        unsigned char *chosen;
        (void)ssl;
        (void)ctx;
        if (SSL_select_next_proto(&chosen, out_n, ours, sizeof ours - 1, in, in_n) !=
            OPENSSL_NPN_NEGOTIATED)
                return SSL_TLSEXT_ERR_NOACK; /* it offers HTTP/1.0 only, say: HTTP/1 it is */
        *out = chosen;
        return SSL_TLSEXT_ERR_OK;
}

static SSL_CTX *new_ctx(const SSL_METHOD *method)
{
        SSL_CTX *c = SSL_CTX_new(method);
        if (!c || SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION) != 1)
                return NULL;
        SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                    SSL_MODE_RELEASE_BUFFERS);
        SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
        SSL_CTX_set_read_ahead(c, 1);
        return c;
}

int tls_init(struct door *d, struct err *err)
{
        d->server_ctx = new_ctx(TLS_server_method());
        d->client_ctx = new_ctx(TLS_client_method());
        if (!d->server_ctx || !d->client_ctx)
                return err_set(err, E_SYSTEM, "the TLS library could not be set up");
        SSL_CTX_set_options(d->server_ctx, SSL_OP_NO_TICKET);
        SSL_CTX_set_num_tickets(d->server_ctx, 0);
        SSL_CTX_set_session_cache_mode(d->server_ctx, SSL_SESS_CACHE_OFF);
        SSL_CTX_set_alpn_select_cb(d->server_ctx, choose_alpn, NULL);
        SSL_CTX_set_session_cache_mode(d->client_ctx, SSL_SESS_CACHE_OFF);
        /* Several records of a large answer in one read; given back as soon as it is empty. */
        SSL_CTX_set_default_read_buffer_len(d->client_ctx, 4 * CONN_READ);
        SSL_CTX_set_verify(d->client_ctx, SSL_VERIFY_PEER, NULL);
        return 0;
}

int tls_keeper_hello(struct door *d, const uint8_t *key, size_t key_n, const uint8_t *ca,
                     size_t ca_n)
{
        if (d->leaf_key)
                return -1;
        X509 *issuer = d2i_X509(NULL, &ca, (long)ca_n);
        d->leaf_key = d2i_AutoPrivateKey(NULL, &key, (long)key_n);
        bool is_ok = issuer && d->leaf_key && SSL_CTX_add1_chain_cert(d->server_ctx, issuer) == 1;
        X509_free(issuer);
        if (is_ok)
                d->leaf_pub = leaf_public(d->leaf_key);
        return is_ok ? 0 : -1;
}

static struct leaf **slot(struct door *d, const struct host_name *h)
{
        uint32_t x = 2166136261u;
        for (size_t i = 0; i < h->len; i++)
                x = (x ^ (uint8_t)h->text[i]) * 16777619u;
        return &d->leaves[x % DOOR_LEAF_SLOTS];
}

/* forget_some(d): drop the older half of what is kept. */
static void forget_some(struct door *d)
{
        uint64_t sum = 0;
        for (size_t i = 0; i < DOOR_LEAF_SLOTS; i++)
                for (struct leaf *l = d->leaves[i]; l; l = l->next)
                        sum += l->used / d->leaves_n;
        for (size_t i = 0; i < DOOR_LEAF_SLOTS; i++)
                for (struct leaf **p = &d->leaves[i]; *p;) {
                        struct leaf *l = *p;
                        if (l->used > sum) {
                                p = &l->next;
                                continue;
                        }
                        *p = l->next;
                        X509_free(l->cert);
                        free(l);
                        d->leaves_n--;
                }
}

static void on_leaf(void *ctx, const uint8_t *der, size_t n, const char *why)
{
        struct leaf_wait *w = ctx;
        struct door *d = w->door;
        X509 *cert = der ? leaf_read(der, n, d->leaf_pub) : NULL;
        if (cert) {
                if (d->leaves_n >= LEAVES_MAX || account_is_full(&d->account))
                        forget_some(d);
                struct leaf *l = calloc(1, sizeof *l);
                if (!l)
                        str_no_memory();
                struct leaf **at = slot(d, &w->host);
                *l = (struct leaf){
                        .host = w->host, .cert = cert, .used = loop_now(d->loop), .next = *at};
                *at = l;
                d->leaves_n++;
                account_set(&d->account, &d->leaves_charged, d->leaves_n * LEAF_COST);
        }
        w->fn(w->ctx, cert, cert ? NULL : why ? why : "the keeper's certificate cannot be read");
        free(w);
}

/* may_mint(d): may the keeper be asked once more now? */
static bool may_mint(struct door *d)
{
        uint64_t now = loop_now(d->loop), passed = now - d->minted_ms;
        d->minted_ms = now;
        uint64_t back = passed * LEAVES_PER_SECOND; /* thousandths */
        d->minted = d->minted > back ? d->minted - back : 0;
        if (d->minted >= LEAVES_BURST * 1000)
                return false;
        d->minted += 1000;
        return true;
}

struct leaf_call *tls_leaf(struct door *d, const struct host_name *host,
                           void (*fn)(void *ctx, X509 *, const char *why), void *ctx)
{
        for (struct leaf *l = *slot(d, host); l; l = l->next)
                if (host_name_equal(&l->host, host)) {
                        l->used = loop_now(d->loop);
                        fn(ctx, l->cert, NULL);
                        return NULL;
                }
        if (!may_mint(d)) {
                fn(ctx, NULL, "certificates for new names are asked for too fast");
                return NULL;
        }
        struct leaf_wait *w = calloc(1, sizeof *w);
        if (!w)
                str_no_memory();
        *w = (struct leaf_wait){.door = d, .host = *host, .fn = fn, .ctx = ctx};
        return link_leaf(d, host, on_leaf, w);
}

SSL *tls_server(struct door *d, X509 *cert)
{
        SSL *s = SSL_new(d->server_ctx);
        if (!s || SSL_use_certificate(s, cert) != 1 || SSL_use_PrivateKey(s, d->leaf_key) != 1) {
                SSL_free(s);
                return NULL;
        }
        SSL_set_accept_state(s);
        return s;
}

SSL *tls_client(struct door *d, const struct host_name *host, const char *ca, bool is_h1_only,
                struct err *err)
{
        static const unsigned char both[] = "\x02h2\x08http/1.1";
        SSL *s = SSL_new(d->client_ctx);
        if (!s) {
                err_set(err, E_SYSTEM, "the TLS library could not make a connection");
                return NULL;
        }
        const unsigned char *offer = is_h1_only ? both + 3 : both;
        unsigned offer_n = (unsigned)(both + sizeof both - 1 - offer);
        if (SSL_set_alpn_protos(s, offer, offer_n) != 0 ||
            trust_client(d->trust, s, host, ca, err) < 0) {
                SSL_free(s);
                return NULL;
        }
        SSL_set_connect_state(s);
        return s;
}

const char *tls_alpn(const SSL *s)
{
        const unsigned char *p;
        unsigned n;
        SSL_get0_alpn_selected(s, &p, &n);
        if (n == 2 && memcmp(p, "h2", 2) == 0)
                return "h2";
        return n == 8 && memcmp(p, "http/1.1", 8) == 0 ? "http/1.1" : "";
}
