/* hello.c - see hello.h. Records are put together, then the message is read once through a cursor
 * that never passes the end of what it reads. Called for each TLS connection of the box before any
 * TLS library sees a byte. What a server could read differently is refused (case E2). */
#include "egress/hello.h"

#include "base/cur.h"
#include "base/err.h"

#include <string.h>

enum {
        RECORD_HANDSHAKE = 22,
        RECORD_MAX = 1 << 14,
        CLIENT_HELLO = 1,
        EXT_SERVER_NAME = 0,
        EXT_ALPN = 16,
        EXT_SUPPORTED_VERSIONS = 43,
        EXT_ECH = 0xfe0d,
        EXT_ESNI = 0xffce,
        EXTENSIONS_MAX = 128,
        TLS_1_2 = 0x0303,
        TLS_1_3 = 0x0304,
};

static int bad(struct err *err, const char *why)
{
        err_set(err, E_PROTO, "%s", why);
        return -1;
}

static int get_u16(struct cur *c, uint16_t *v)
{
        const uint8_t *p;
        if (cur_bytes(c, 2, &p) < 0)
                return -1;
        *v = (uint16_t)(p[0] << 8 | p[1]);
        return 0;
}

/* The next ${n} bytes as a cursor of their own. */
static int get_part(struct cur *c, size_t n, struct cur *part)
{
        const uint8_t *p;
        if (cur_bytes(c, n, &p) < 0)
                return -1;
        *part = cur_of(p, n);
        return 0;
}

/* A vector with its length in one or two bytes before it. */
static int get_vec8(struct cur *c, struct cur *part)
{
        uint8_t n;
        return cur_u8(c, &n) < 0 ? -1 : get_part(c, n, part);
}

static int get_vec16(struct cur *c, struct cur *part)
{
        uint16_t n;
        return get_u16(c, &n) < 0 ? -1 : get_part(c, n, part);
}

/* --- extensions --------------------------------------------------------------------------------
 */

static int read_sni(struct cur c, struct hello *h, struct err *err)
{
        struct cur list, name;
        uint8_t type;
        if (get_vec16(&c, &list) < 0 || c.left || cur_u8(&list, &type) < 0 ||
            get_vec16(&list, &name) < 0)
                return bad(err, "the server name in the TLS handshake is malformed");
        if (list.left || type != 0)
                return bad(err, "the TLS handshake has exactly one server name, and it is a host");
        if (host_name_parse((const char *)name.p, name.left, &h->sni, err) < 0)
                return err_add(err, "the server name in the TLS handshake");
        if (h->sni.kind != HOST_NAME)
                return bad(err,
                           "the server name in the TLS handshake is an address, which TLS does "
                           "not allow");
        h->has_sni = true;
        return 0;
}

static bool is_word(const struct cur *c, const char *word)
{
        return c->left == strlen(word) && memcmp(c->p, word, c->left) == 0;
}

static int read_alpn(struct cur c, struct hello *h, struct err *err)
{
        struct cur list, name;
        if (get_vec16(&c, &list) < 0 || c.left || !list.left)
                return bad(err, "the list of protocols in the TLS handshake is malformed");
        h->has_alpn = true;
        while (list.left) {
                if (get_vec8(&list, &name) < 0 || !name.left)
                        return bad(err, "the list of protocols in the TLS handshake is malformed");
                h->offers_h2 |= is_word(&name, "h2");
                h->offers_h1 |= is_word(&name, "http/1.1");
        }
        return 0;
}

static int read_versions(struct cur c, struct hello *h, struct err *err)
{
        struct cur list;
        uint16_t v;
        if (get_vec8(&c, &list) < 0 || c.left || !list.left || list.left % 2)
                return bad(err, "the list of versions in the TLS handshake is malformed");
        h->version = 0;
        while (get_u16(&list, &v) == 0)
                if ((v == TLS_1_2 || v == TLS_1_3) && v > h->version)
                        h->version = v;
        return 0;
}

static int read_ech(struct cur c, struct hello *h, struct err *err)
{
        uint8_t type;
        /* An inner hello is what a server in front passes on; nobody sends it by itself. */
        if (cur_u8(&c, &type) < 0 || type != 0)
                return bad(err,
                           "the TLS handshake is an inner hello of ECH, which is not accepted");
        h->has_ech = true;
        return 0;
}

static int read_extension(uint16_t type, struct cur body, struct hello *h, struct err *err)
{
        switch (type) {
        case EXT_SERVER_NAME:
                return read_sni(body, h, err);
        case EXT_ALPN:
                return read_alpn(body, h, err);
        case EXT_SUPPORTED_VERSIONS:
                return read_versions(body, h, err);
        case EXT_ECH:
                return read_ech(body, h, err);
        case EXT_ESNI:
                return bad(err, "the TLS handshake hides its server name (ESNI), which is not "
                                "accepted");
        default:
                return 0; /* GREASE among them */
        }
}

static int read_extensions(struct cur list, struct hello *h, struct err *err)
{
        uint16_t seen[EXTENSIONS_MAX];
        size_t seen_n = 0;
        while (list.left) {
                struct cur body;
                uint16_t type;
                if (get_u16(&list, &type) < 0 || get_vec16(&list, &body) < 0)
                        return bad(err, "an extension of the TLS handshake is malformed");
                if (seen_n == EXTENSIONS_MAX)
                        return bad(err, "the TLS handshake has too many extensions");
                for (size_t i = 0; i < seen_n; i++)
                        if (seen[i] == type)
                                return bad(err, "the TLS handshake has an extension twice");
                seen[seen_n++] = type;
                if (read_extension(type, body, h, err) < 0)
                        return -1;
        }
        return 0;
}

/* --- the message and its records ---------------------------------------------------------------
 */

static int read_message(struct cur c, struct hello *h, struct err *err)
{
        struct cur session, suites, compressions, extensions = {0};
        const uint8_t *random;
        uint16_t version;
        if (get_u16(&c, &version) < 0 || cur_bytes(&c, 32, &random) < 0 ||
            get_vec8(&c, &session) < 0 || get_vec16(&c, &suites) < 0 ||
            get_vec8(&c, &compressions) < 0 || (c.left && get_vec16(&c, &extensions) < 0) || c.left)
                return bad(err, "the TLS handshake is malformed");
        if (session.left > 32 || !suites.left || suites.left % 2 || !compressions.left ||
            !memchr(compressions.p, 0, compressions.left))
                return bad(err, "the TLS handshake is malformed");
        h->version = version > TLS_1_2 ? TLS_1_2 : version;
        if (read_extensions(extensions, h, err) < 0)
                return -1;
        if (h->version < TLS_1_2)
                return bad(err, "TLS older than 1.2 is not accepted");
        return 0;
}

/* The next record of a handshake: 1, 0 for more bytes, -1. ${c} moves on only with 1. */
static int next_record(struct cur *c, struct cur *body, struct err *err)
{
        const uint8_t *p = c->p;
        if ((c->left > 0 && p[0] != RECORD_HANDSHAKE) || (c->left > 1 && p[1] != 3))
                return bad(err, "this is not the beginning of a TLS handshake");
        if (c->left < 5)
                return 0;
        size_t n = (size_t)p[3] << 8 | p[4];
        if (n == 0 || n > RECORD_MAX)
                return bad(err, "a TLS record is empty or too long");
        if (c->left - 5 < n)
                return 0;
        *body = cur_of(p + 5, n);
        *c = cur_of(p + 5 + n, c->left - 5 - n);
        return 1;
}

/* message_size(p): of the message that begins with these four bytes, itself included; 0 when it is
 * not a ClientHello that we take. */
static size_t message_size(const uint8_t *p, struct err *err)
{
        size_t n = 4 + ((size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3]);
        if (p[0] != CLIENT_HELLO)
                bad(err, "a TLS handshake begins with a ClientHello");
        else if (n > HELLO_MAX)
                bad(err, "the TLS handshake is too long");
        else
                return n;
        return 0;
}

static int parse(const uint8_t *p, size_t n, struct hello *h, struct err *err)
{
        uint8_t joined[HELLO_MAX];
        struct cur in = cur_of(p, n);
        size_t have = 0, need = 4;
        while (have < need) {
                struct cur body;
                int got = next_record(&in, &body, err);
                if (got <= 0)
                        return got;
                /* The usual case: everything in one record, read where it is. */
                if (have == 0 && body.left >= 4) {
                        need = message_size(body.p, err);
                        if (need == 0)
                                return -1;
                        if (need == body.left) {
                                body = cur_of(body.p + 4, need - 4);
                                return read_message(body, h, err) < 0 ? -1 : 1;
                        }
                }
                if (body.left > sizeof joined - have)
                        return bad(err, "the TLS handshake is too long");
                memcpy(joined + have, body.p, body.left);
                have += body.left;
                if (have >= 4) {
                        need = message_size(joined, err);
                        if (need == 0)
                                return -1;
                }
        }
        if (have > need)
                return bad(err, "something follows the ClientHello before it was answered");
        return read_message(cur_of(joined + 4, need - 4), h, err) < 0 ? -1 : 1;
}

int hello_parse(const uint8_t *p, size_t n, struct hello *h, struct err *err)
{
        memset(h, 0, sizeof *h);
        int got = parse(p, n < HELLO_MAX ? n : HELLO_MAX, h, err);
        if (got == 0 && n >= HELLO_MAX)
                got = bad(err, "the TLS handshake is too long");
        if (got <= 0)
                memset(h, 0, sizeof *h);
        return got;
}
