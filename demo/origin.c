/* origin.c - a throw-away HTTPS server on the host's loopback, for the part of the demo about keys.
 *
 * Started by demo/run.sh as `origin CERTIFICATE SEEN`: makes a key and a certificate for
 * *.example.test, writes the certificate to the first file, prints its port, appends each request
 * to the second file, and answers with the request itself: the worst that an origin can do with a
 * key. It ends by itself after ten minutes and never listens on anything but 127.0.0.1.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* accept4, memmem */
#endif
#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A certificate that vouches for itself; a rule's ca= names it. */
static X509 *make_certificate(EVP_PKEY *key)
{
        X509 *cert = X509_new();
        X509_NAME *name = X509_get_subject_name(cert);

        X509_set_version(cert, X509_VERSION_3);
        ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
        X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
        X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"demo origin",
                                   -1, -1, 0);
        X509_set_issuer_name(cert, name);
        X509_set_pubkey(cert, key);

        X509_EXTENSION *names =
                X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "DNS:*.example.test");
        if (!names || !X509_add_ext(cert, names, -1) || !X509_sign(cert, key, EVP_sha256()))
                return NULL;
        X509_EXTENSION_free(names);
        return cert;
}

/* How much follows a head, by its own account. The only client is the door, which writes it so. */
static size_t body_len(const char *head)
{
        const char *at = strcasestr(head, "\r\nContent-Length:");
        return at ? strtoul(at + 17, NULL, 10) : 0;
}

/* One request, whole, then the same bytes back. */
static void serve(SSL *tls, FILE *seen)
{
        char got[8192], head[160];
        size_t got_n = 0, want = sizeof got;

        if (SSL_accept(tls) != 1)
                return;
        while (got_n < want && got_n < sizeof got - 1) {
                int n = SSL_read(tls, got + got_n, (int)(sizeof got - 1 - got_n));
                if (n <= 0)
                        return;
                got_n += (size_t)n;
                got[got_n] = '\0';
                const char *end = strstr(got, "\r\n\r\n");
                if (end)
                        want = (size_t)(end + 4 - got) + body_len(got);
        }
        fwrite(got, 1, got_n, seen);
        fflush(seen);

        int n = snprintf(head, sizeof head,
                         "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
                         "Connection: close\r\n\r\n",
                         got_n);
        if (SSL_write(tls, head, n) == n && SSL_write(tls, got, (int)got_n) == (int)got_n)
                SSL_shutdown(tls);
}

int main(int argc, char **argv)
{
        struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t at_len = sizeof at;

        if (argc != 3)
                return 64;
        alarm(600);
        signal(SIGPIPE, SIG_IGN);
        signal(SIGCHLD, SIG_IGN);

        SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
        EVP_PKEY *key = EVP_EC_gen("P-256");
        X509 *cert = key ? make_certificate(key) : NULL;
        FILE *pem = fopen(argv[1], "w"), *seen = fopen(argv[2], "a");
        if (!ctx || !cert || !pem || !seen || SSL_CTX_use_certificate(ctx, cert) != 1 ||
            SSL_CTX_use_PrivateKey(ctx, key) != 1 || !PEM_write_X509(pem, cert) || fclose(pem)) {
                ERR_print_errors_fp(stderr);
                return 1;
        }

        int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (listener < 0 || bind(listener, (struct sockaddr *)&at, at_len) < 0 ||
            listen(listener, 8) < 0 || getsockname(listener, (struct sockaddr *)&at, &at_len) < 0) {
                perror("origin");
                return 1;
        }
        printf("%u\n", ntohs(at.sin_port));
        fclose(stdout);

        for (;;) {
                int peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
                SSL *tls = peer < 0 ? NULL : SSL_new(ctx);

                /* Each in a process of its own: the door may hold one open that it does not use. */
                if (tls && SSL_set_fd(tls, peer) == 1 && fork() == 0) {
                        alarm(600);
                        serve(tls, seen);
                        _exit(0);
                }
                SSL_free(tls);
                if (peer >= 0)
                        close(peer);
        }
}
