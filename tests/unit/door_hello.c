/* door_hello.c - ClientHellos: those that libraries send, in one record or in many, and those that
 * two readers could read in two ways. */
#include "base/buf.h"
#include "base/err.h"
#include "egress/hello.h"
#include "unit/check.h"

#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#define BYTES(s) s, sizeof(s) - 1

/* Extensions as bytes. The name in all of them is "a.org". */
#define SNI                                                                                        \
        "\x00\x00\x00\x0a\x00\x08\x00\x00\x05"                                                     \
        "a.org"
#define ALPN     "\x00\x10\x00\x0e\x00\x0c\x02h2\x08http/1.1"
#define VERSIONS "\x00\x2b\x00\x05\x04\x03\x04\x03\x03"
#define GREASE   "\x5a\x5a\x00\x01\x00"
#define ECH      "\xfe\x0d\x00\x05\x00\x00\x01\x00\x01"

struct parts {
        uint16_t version;
        const char *session, *suites, *compressions;
        size_t suites_len, compressions_len, session_len;
};
static const struct parts usual = {.version = 0x0303,
                                   .session = "",
                                   .suites = "\x0a\x0a\x13\x01",
                                   .suites_len = 4,
                                   .compressions = "\0",
                                   .compressions_len = 1};

static void put_u16(struct buf *b, size_t v)
{
        buf_put_u8(b, (uint8_t)(v >> 8));
        buf_put_u8(b, (uint8_t)v);
}

/* The message alone, with its four bytes in front. */
static void put_message(struct buf *out, const struct parts *p, const char *ext, size_t ext_len)
{
        _cleanup_buf_ struct buf b = {0};
        put_u16(&b, p->version);
        for (int i = 0; i < 32; i++)
                buf_put_u8(&b, 'r');
        buf_put_u8(&b, (uint8_t)p->session_len);
        buf_put(&b, p->session, p->session_len);
        put_u16(&b, p->suites_len);
        buf_put(&b, p->suites, p->suites_len);
        buf_put_u8(&b, (uint8_t)p->compressions_len);
        buf_put(&b, p->compressions, p->compressions_len);
        if (ext) {
                put_u16(&b, ext_len);
                buf_put(&b, ext, ext_len);
        }
        buf_put_u32(out, 1u << 24 | (uint32_t)b.len);
        buf_put(out, b.data, b.len);
}

/* Any bytes as records of ${step} bytes. */
static void put_records(struct buf *out, const uint8_t *p, size_t n, size_t step)
{
        for (size_t at = 0; at < n; at += step) {
                size_t len = n - at < step ? n - at : step;
                buf_put(out, "\x16\x03\x01", 3);
                put_u16(out, len);
                buf_put(out, p + at, len);
        }
}

static int parse_parts(const struct parts *p, const char *ext, size_t ext_len, struct hello *h,
                       struct err *err)
{
        _cleanup_buf_ struct buf message = {0}, records = {0};
        put_message(&message, p, ext, ext_len);
        put_records(&records, message.data, message.len, message.len);
        return hello_parse(records.data, records.len, h, err);
}

static const struct {
        const char *name, *ext;
        size_t len;
        const char *sni; /* NULL: refused; "": none */
        const char *words;
} extensions[] = {
        {"no extensions", BYTES(""), "", NULL},
        {"a name", BYTES(SNI), "a.org", NULL},
        {"everything", BYTES(GREASE SNI ALPN VERSIONS ECH), "a.org", NULL},
        {"an unknown extension", BYTES("\x12\x34\x00\x02xx" SNI), "a.org", NULL},
        {"two names in one list",
         BYTES("\x00\x00\x00\x12\x00\x10\x00\x00\x05"
               "a.org\x00\x00\x05"
               "b.org"),
         NULL, "exactly one"},
        {"the extension twice", BYTES(SNI SNI), NULL, "twice"},
        {"another extension twice", BYTES(GREASE SNI GREASE), NULL, "twice"},
        {"a name of another type",
         BYTES("\x00\x00\x00\x0a\x00\x08\x01\x00\x05"
               "a.org"),
         NULL, "exactly one"},
        {"an empty list", BYTES("\x00\x00\x00\x02\x00\x00"), NULL, "malformed"},
        {"an empty extension", BYTES("\x00\x00\x00\x00"), NULL, "malformed"},
        {"an empty name", BYTES("\x00\x00\x00\x05\x00\x03\x00\x00\x00"), NULL, "missing"},
        {"NUL in the name",
         BYTES("\x00\x00\x00\x0a\x00\x08\x00\x00\x05"
               "a\0org"),
         NULL, "NUL"},
        {"an address for a name",
         BYTES("\x00\x00\x00\x0c\x00\x0a\x00\x00\x07"
               "1.2.3.4"),
         NULL, "address"},
        {"a list longer than its extension",
         BYTES("\x00\x00\x00\x0a\x00\x09\x00\x00\x05"
               "a.org"),
         NULL, "malformed"},
        {"a list shorter than its extension",
         BYTES("\x00\x00\x00\x0b\x00\x08\x00\x00\x05"
               "a.org!"),
         NULL, "malformed"},
        {"a name longer than its list",
         BYTES("\x00\x00\x00\x0a\x00\x08\x00\x00\x06"
               "a.org"),
         NULL, "malformed"},
        {"an extension longer than the hello",
         BYTES("\x00\x00\x00\x0b\x00\x08\x00\x00\x05"
               "a.org"),
         NULL, "malformed"},
        {"half an extension", BYTES(SNI "\x00"), NULL, "malformed"},
        {"an inner hello of ECH", BYTES(SNI "\xfe\x0d\x00\x01\x01"), NULL, "inner"},
        {"an empty ECH", BYTES(SNI "\xfe\x0d\x00\x00"), NULL, "inner"},
        {"ESNI", BYTES(SNI "\xff\xce\x00\x01\x00"), NULL, "ESNI"},
        {"an empty protocol", BYTES(SNI "\x00\x10\x00\x03\x00\x01\x00"), NULL, "protocols"},
        {"no protocol", BYTES(SNI "\x00\x10\x00\x02\x00\x00"), NULL, "protocols"},
        {"a protocol too long", BYTES(SNI "\x00\x10\x00\x05\x00\x03\x03h2"), NULL, "protocols"},
        {"half a version", BYTES(SNI "\x00\x2b\x00\x02\x01\x03"), NULL, "versions"},
        {"no version", BYTES(SNI "\x00\x2b\x00\x01\x00"), NULL, "versions"},
        {"only old versions", BYTES(SNI "\x00\x2b\x00\x03\x02\x03\x02"), NULL, "older"},
};

static void test_extensions(void)
{
        for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) {
                struct hello h;
                struct err err = {0};
                int got = parse_parts(&usual, extensions[i].ext, extensions[i].len, &h, &err);
                const char *sni = extensions[i].sni;
                bool good = sni ? got == 1 && h.has_sni == (sni[0] != 0) && !strcmp(h.sni.text, sni)
                                : got == -1 && strstr(err.text, extensions[i].words) && !h.has_sni;
                check(good, extensions[i].name, "%d \"%s\" (%s)", got, h.sni.text, err.text);
        }

        struct hello h;
        parse_parts(&usual, BYTES(GREASE SNI ALPN VERSIONS ECH), &h, NULL);
        CHECK("what it offers is known",
              h.offers_h2 && h.offers_h1 && h.has_alpn && h.has_ech && h.version == 0x0304);
        parse_parts(&usual, BYTES(SNI), &h, NULL);
        CHECK("what it does not offer too",
              !h.offers_h2 && !h.offers_h1 && !h.has_alpn && !h.has_ech && h.version == 0x0303);
        parse_parts(&usual, BYTES("\x00\x10\x00\x05\x00\x03\x02h3"), &h, NULL);
        CHECK("protocols that are not ours", h.has_alpn && !h.offers_h1 && !h.offers_h2);
        CHECK("no extension block at all", parse_parts(&usual, NULL, 0, &h, NULL) == 1);
}

static void test_message(void)
{
        struct hello h;
        struct parts p = usual;
        p.version = 0x0302;
        CHECK("TLS 1.1 is refused", parse_parts(&p, BYTES(SNI), &h, NULL) < 0);
        CHECK("TLS 1.1 that is 1.3 is not", parse_parts(&p, BYTES(SNI VERSIONS), &h, NULL) == 1);
        p.version = 0x0305;
        CHECK("a version beyond all is 1.2",
              parse_parts(&p, BYTES(SNI), &h, NULL) == 1 && h.version == 0x0303);
        p = usual;
        p.suites_len = 0;
        CHECK("no suites", parse_parts(&p, BYTES(SNI), &h, NULL) < 0);
        p.suites_len = 3;
        CHECK("half a suite", parse_parts(&p, BYTES(SNI), &h, NULL) < 0);
        p = usual;
        p.compressions_len = 0;
        CHECK("no compression", parse_parts(&p, BYTES(SNI), &h, NULL) < 0);
        p.compressions = "\x01";
        p.compressions_len = 1;
        CHECK("only real compression", parse_parts(&p, BYTES(SNI), &h, NULL) < 0);
        p = usual;
        p.session = "0123456789012345678901234567890123456789";
        p.session_len = 32;
        CHECK("a session", parse_parts(&p, BYTES(SNI), &h, NULL) == 1);
        p.session_len = 33;
        CHECK("a session too long", parse_parts(&p, BYTES(SNI), &h, NULL) < 0);
}

static void test_records(void)
{
        struct hello h;
        struct err err = {0};
        _cleanup_buf_ struct buf m = {0}, r = {0};
        put_message(&m, &usual, BYTES(GREASE SNI ALPN VERSIONS));
        bool good = true;
        for (size_t step = 1; step <= m.len; step++) {
                r.len = 0;
                put_records(&r, m.data, m.len, step);
                for (size_t n = 0; n < r.len; n++)
                        good &= hello_parse(r.data, n, &h, &err) == 0 && !h.has_sni;
                good &= hello_parse(r.data, r.len, &h, &err) == 1 && h.offers_h2 &&
                        !strcmp(h.sni.text, "a.org");
        }
        CHECK("it may be cut into records anywhere", good);

        buf_put(&r, "\x14\x03\x03\x00\x01\x01", 6);
        CHECK("another record may follow", hello_parse(r.data, r.len, &h, &err) == 1);
        r.len = 0;
        buf_put_u8(&m, 0x0b);
        put_records(&r, m.data, m.len, m.len);
        CHECK("another message may not", hello_parse(r.data, r.len, &h, &err) < 0);
        r.len = 0;
        put_records(&r, m.data, m.len, 40);
        CHECK("nor in a record of several", hello_parse(r.data, r.len, &h, &err) < 0);
        m.len--;

        r.len = 0;
        put_records(&r, m.data, 40, 40);
        buf_put(&r, "\x16\x03\x01\x00\x00", 5);
        put_records(&r, m.data + 40, m.len - 40, m.len);
        CHECK("an empty record in between", hello_parse(r.data, r.len, &h, &err) < 0);
        r.len = 0;
        put_records(&r, m.data, 40, 40);
        buf_put(&r, "\x15\x03\x01\x00\x02\x01\x00", 7);
        CHECK("an alert in between", hello_parse(r.data, r.len, &h, &err) < 0);

        static const struct {
                const char *name, *bytes;
                size_t len;
        } never[] = {
                {"SSLv2", BYTES("\x80\x2e\x01\x03\x01")},
                {"HTTP", BYTES("GET / HTTP/1.1\r\n")},
                {"an alert", BYTES("\x15\x03\x01\x00\x02\x02\x28")},
                {"another version of records", BYTES("\x16\x02\x00")},
                {"a record too long", BYTES("\x16\x03\x01\x40\x01")},
                {"a ServerHello", BYTES("\x16\x03\x01\x00\x05\x02\x00\x00\x01\x00")},
                {"a hello too long", BYTES("\x16\x03\x01\x00\x05\x01\x00\x40\x00\x00")},
        };
        for (size_t i = 0; i < sizeof never / sizeof *never; i++)
                CHECK(never[i].name,
                      hello_parse((const uint8_t *)never[i].bytes, never[i].len, &h, &err) < 0);

        /* One byte per record: more records than hello. */
        uint8_t *flood = calloc(1, HELLO_MAX);
        for (size_t at = 0; at + 6 <= HELLO_MAX; at += 6) {
                memcpy(flood + at, "\x16\x03\x01\x00\x01\x00", 6);
                flood[at + 5] = at == 0 ? 1 : at == 12 ? 0x20 : 0;
        }
        CHECK("a flood of records ends", hello_parse(flood, HELLO_MAX - 4, &h, &err) == 0 &&
                                                 hello_parse(flood, HELLO_MAX, &h, &err) < 0);
        free(flood);
}

/* What the library sends that most programs use. */
static void test_openssl(void)
{
        static const unsigned char protocols[] = "\x02h2\x08http/1.1";
        SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
        SSL *ssl = SSL_new(ctx);
        BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
        SSL_set_bio(ssl, in, out);
        SSL_set_tlsext_host_name(ssl, "API.Example.org");
        SSL_set_alpn_protos(ssl, protocols, sizeof protocols - 1);
        SSL_connect(ssl);
        char *p;
        long n = BIO_get_mem_data(out, &p);
        struct hello h;
        struct err err = {0};
        int got = hello_parse((const uint8_t *)p, (size_t)n, &h, &err);
        check(got == 1 && !strcmp(h.sni.text, "api.example.org") && h.offers_h2 && h.offers_h1 &&
                      h.version == 0x0304 && hello_is_tls((uint8_t)p[0]),
              "what OpenSSL sends is understood", "%d (%s)", got, err.text);
        SSL_free(ssl);
        SSL_CTX_free(ctx);
}

int main(void)
{
        test_extensions();
        test_message();
        test_records();
        test_openssl();
        return check_end();
}
