/* door_hello.c - any bytes as a ClientHello. What is accepted reads the same however it is cut into
 * records, asks for more when it is not whole, and OpenSSL finds the same name in it: nobody is
 * judged by one name and answered by another (case E2). */
#include "base/buf.h"
#include "base/err.h"
#include "egress/hello.h"

#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
        if (!holds)
                abort();
}

/* Called by OpenSSL when it has read the hello itself. */
static int on_hello(SSL *ssl, int *alert, void *ctx)
{
        const struct hello *h = *(const struct hello **)ctx;
        const unsigned char *ext;
        size_t n;
        struct host_name name;
        (void)alert;
        bool has_sni = SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &ext, &n);
        must(has_sni == h->has_sni);
        if (has_sni) {
                must(n > 5 && host_name_parse((const char *)ext + 5, n - 5, &name, NULL) == 0);
                must(host_name_equal(&name, &h->sni));
        }
        must(h->has_alpn ==
             SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_application_layer_protocol_negotiation,
                                       &ext, &n));
        return SSL_CLIENT_HELLO_ERROR;
}

static void ask_openssl(const uint8_t *p, size_t n, const struct hello *h)
{
        static SSL_CTX *ctx;
        static const struct hello *expected;
        if (!ctx) {
                ctx = SSL_CTX_new(TLS_server_method());
                SSL_CTX_set_client_hello_cb(ctx, on_hello, &expected);
        }
        expected = h;
        SSL *ssl = SSL_new(ctx);
        BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
        must(ssl && in && out);
        BIO_write(in, p, (int)n);
        SSL_set_bio(ssl, in, out);
        SSL_accept(ssl);
        SSL_free(ssl);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct hello h, again;
        struct err err = {0};
        if (size < 1)
                return 0;
        const uint8_t *p = data + 1;
        size_t n = size - 1, step = (size_t)data[0] + 1;
        int got = hello_parse(p, n, &h, &err);
        must(got >= 0 || err.text[0]);
        if (got != 1) {
                static const struct hello zero;
                must(memcmp(&h, &zero, sizeof h) == 0);
                return 0;
        }
        must(h.version == 0x0303 || h.version == 0x0304);
        must(!h.has_sni || (h.sni.kind == HOST_NAME && h.sni.len));

        /* The message without its records, and in others. */
        _cleanup_buf_ struct buf message = {0}, records = {0};
        size_t need = 4, at = 0;
        while (message.len < need) {
                size_t len = (size_t)p[at + 3] << 8 | p[at + 4];
                buf_put(&message, p + at + 5, len);
                at += 5 + len;
                if (message.len >= 4)
                        need = 4 + ((size_t)message.data[1] << 16 | (size_t)message.data[2] << 8 |
                                    message.data[3]);
        }
        must(message.len == need && at <= n);
        must(hello_parse(p, at - 1, &again, &err) == 0);
        for (size_t i = 0; i < need; i += step) {
                size_t len = need - i < step ? need - i : step;
                uint8_t head[5] = {22, 3, 1, (uint8_t)(len >> 8), (uint8_t)len};
                buf_put(&records, head, 5);
                buf_put(&records, message.data + i, len);
        }
        if (records.len <= HELLO_MAX) {
                must(hello_parse(records.data, records.len, &again, &err) == 1);
                must(memcmp(&h, &again, sizeof h) == 0);
        }
        ask_openssl(p, at, &h);
        return 0;
}
