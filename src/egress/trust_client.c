/* trust_client.c - how strictly an origin is looked at, and what is said when it fails. Called by
 * upstream before and after each handshake; must never let a connection through unverified. */
#include "egress/trust.h"

#include "base/err.h"
#include "policy/host_name.h"

#include <openssl/bn.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

/* OpenSSL forgets the certificate that it refused; for the words it is kept with the connection. */
static void drop_refused(void *parent, void *ptr, CRYPTO_EX_DATA *ad, int idx, long argl,
                         void *argp)
{
        (void)parent, (void)ad, (void)idx, (void)argl, (void)argp;
        X509_free(ptr);
}

static int refused_index(void)
{
        static int index = -1;
        if (index < 0)
                index = SSL_get_ex_new_index(0, NULL, NULL, NULL, drop_refused);
        return index;
}

/* Looks on; the verdict stays what it is. */
static int on_verify(int is_ok, X509_STORE_CTX *ctx)
{
        SSL *ssl = X509_STORE_CTX_get_ex_data(ctx, SSL_get_ex_data_X509_STORE_CTX_idx());
        X509 *x = is_ok ? NULL : X509_STORE_CTX_get_current_cert(ctx);
        if (x && ssl && !SSL_get_ex_data(ssl, refused_index()) && X509_up_ref(x) &&
            !SSL_set_ex_data(ssl, refused_index(), x))
                X509_free(x);
        return is_ok;
}

int trust_client(struct trust *t, SSL *ssl, const struct host_name *host, const char *ca,
                 struct err *err)
{
        X509_STORE *store = trust_store(t, ca);
        if (!store && ca)
                return err_set(err, E_INPUT,
                               "the certificate of %s cannot be checked: the file %s that the rule "
                               "names with ca= was not loaded",
                               host->text, ca);
        if (!store)
                return err_set(err, E_MACHINE,
                               "the certificate of %s cannot be checked: this machine has no list "
                               "of trusted authorities (install the package ca-certificates, or "
                               "name a file with ca= in the rule)",
                               host->text);

        X509_VERIFY_PARAM *p = SSL_get0_param(ssl);
        size_t addr_len = host_name_addr_len(host);
        X509_VERIFY_PARAM_set_hostflags(p, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
                                                   X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
        /* Level 2 is 112 bits: SHA-1 signatures and RSA below 2048 are refused in every certificate
         * of the chain. */
        SSL_set_security_level(ssl, 2);
        SSL_set_verify(ssl, SSL_VERIFY_PEER, on_verify);
        SSL_set_connect_state(ssl);
        if (!SSL_set1_verify_cert_store(ssl, store) ||
            !SSL_set_min_proto_version(ssl, TLS1_2_VERSION) ||
            !(addr_len ? X509_VERIFY_PARAM_set1_ip(p, host->addr, addr_len)
                       : X509_VERIFY_PARAM_set1_host(p, host->text, host->len)) ||
            (!addr_len && !SSL_set_tlsext_host_name(ssl, host->text)))
                return err_set(err, E_SYSTEM, "TLS to %s could not be set up", host->text);
        return 0;
}

/* put_date(t, text): "2026-11-16" of a certificate's time. */
static const char *put_date(const ASN1_TIME *t, char text[16])
{
        struct tm tm = {0};
        if (!t || !ASN1_TIME_to_tm(t, &tm))
                return "an unreadable date";
        snprintf(text, 16, "%04u-%02u-%02u", (unsigned)(tm.tm_year + 1900) % 10000u,
                 (unsigned)(tm.tm_mon + 1) % 100u, (unsigned)tm.tm_mday % 100u);
        return text;
}

/* put_name(name, text): the part of a subject or issuer that a person would call it by. */
static void put_name(const X509_NAME *name, char text[120])
{
        static const int best[] = {NID_commonName, NID_organizationalUnitName,
                                   NID_organizationName};
        text[0] = 0;
        for (size_t i = 0; i < sizeof best / sizeof *best && !text[0]; i++)
                if (X509_NAME_get_text_by_NID(name, best[i], text, 119) < 0)
                        text[0] = 0;
        /* From a stranger, for a log and a terminal. */
        for (char *c = text; *c; c++)
                if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e || *c == '"')
                        *c = '?';
        if (!text[0])
                memcpy(text, "nobody in particular", sizeof "nobody in particular");
}

/* put_names(x, text): what the certificate is for, as far as it fits. */
static void put_names(X509 *x, char text[200])
{
        GENERAL_NAMES *names = X509_get_ext_d2i(x, NID_subject_alt_name, NULL, NULL);
        size_t at = 0;
        text[0] = 0;
        for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
                const GENERAL_NAME *g = sk_GENERAL_NAME_value(names, i);
                char one[120] = "";
                if (g->type == GEN_DNS)
                        snprintf(one, sizeof one, "%.*s", ASN1_STRING_length(g->d.dNSName),
                                 (const char *)ASN1_STRING_get0_data(g->d.dNSName));
                else if (g->type == GEN_IPADD && ASN1_STRING_length(g->d.iPAddress) == 4) {
                        const unsigned char *a = ASN1_STRING_get0_data(g->d.iPAddress);
                        snprintf(one, sizeof one, "%u.%u.%u.%u", a[0], a[1], a[2], a[3]);
                }
                for (char *c = one; *c; c++)
                        if ((unsigned char)*c < 0x21 || (unsigned char)*c > 0x7e || *c == '"')
                                *c = '?';
                if (!one[0])
                        continue;
                if (at + strlen(one) + 8 > 200) {
                        memcpy(text + at, ", ...", 6);
                        break;
                }
                at += (size_t)snprintf(text + at, 200 - at, "%s%s", at ? ", " : "", one);
        }
        GENERAL_NAMES_free(names);
        if (!text[0])
                memcpy(text, "no name at all", sizeof "no name at all");
}

static void put_host(SSL *ssl, char text[260])
{
        const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
        char *ip = name ? NULL : X509_VERIFY_PARAM_get1_ip_asc(SSL_get0_param(ssl));
        snprintf(text, 260, "%s", name ? name : ip ? ip : "the origin");
        OPENSSL_free(ip);
}

const char *trust_words(SSL *ssl)
{
        static char words[900];
        char host[260], date[16], name[120], names[200];
        long why = SSL_get_verify_result(ssl);
        if (why == X509_V_OK)
                return NULL;
        X509 *x = SSL_get_ex_data(ssl, refused_index());
        put_host(ssl, host);
        switch (why) {
        case X509_V_ERR_CERT_HAS_EXPIRED:
                snprintf(words, sizeof words,
                         "the certificate of %s, or one above it, has expired%s%s", host,
                         x ? " on " : "", x ? put_date(X509_get0_notAfter(x), date) : "");
                break;
        case X509_V_ERR_CERT_NOT_YET_VALID:
                snprintf(words, sizeof words,
                         "the certificate of %s is not valid yet%s%s; is this machine's clock "
                         "right?",
                         host, x ? ", only from " : "",
                         x ? put_date(X509_get0_notBefore(x), date) : "");
                break;
        case X509_V_ERR_HOSTNAME_MISMATCH:
        case X509_V_ERR_IP_ADDRESS_MISMATCH:
                if (x)
                        put_names(x, names);
                snprintf(words, sizeof words, "the certificate of %s is for another name: %s", host,
                         x ? names : "unknown");
                break;
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
                snprintf(words, sizeof words,
                         "the certificate of %s is self-signed; if it is yours, name it with "
                         "ca=FILE in the rule",
                         host);
                break;
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
                if (x)
                        put_name(X509_get_issuer_name(x), name);
                snprintf(words, sizeof words,
                         "the certificate of %s comes from an authority that is not trusted here "
                         "(\"%s\"), or an intermediate certificate is missing; an authority of "
                         "your own is named with ca=FILE in the rule",
                         host, x ? name : "unknown");
                break;
        case X509_V_ERR_EE_KEY_TOO_SMALL:
        case X509_V_ERR_CA_KEY_TOO_SMALL:
        case X509_V_ERR_CA_MD_TOO_WEAK:
                snprintf(words, sizeof words,
                         "the certificate of %s, or one above it, is too weak: %s", host,
                         why == X509_V_ERR_CA_MD_TOO_WEAK ? "it is signed with SHA-1 or MD5"
                                                          : "its key is shorter than RSA 2048");
                break;
        case X509_V_ERR_CERT_REVOKED:
                snprintf(words, sizeof words, "the certificate of %s was revoked", host);
                break;
        default:
                snprintf(words, sizeof words, "the certificate of %s is refused: %s", host,
                         X509_verify_cert_error_string(why));
        }
        return words;
}
