/* door_sign_body.c - the side of a signature that egress sees: whose it is, what of the request the
 * keeper must know, and bodies in signed chunks taken apart, cut at every place. */
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "egress/awschunk.h"
#include "egress/sign.h"
#include "egress/undo.h"
#include "unit/check.h"

#include <openssl/sha.h>
#include <stdlib.h>

#define DIGITS "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHERS "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
#define CHUNK  ";chunk-signature=" DIGITS "\r\n"

static const char plain_body[] = "5" CHUNK "hello\r\n10" CHUNK "0123456789abcdef\r\n0" CHUNK "\r\n";
static const char trailer_body[] = "5" CHUNK "hello\r\n0" CHUNK "x-amz-checksum-crc32c:AAAAAA==\r\n"
                                   "x-amz-trailer-signature:" DIGITS "\r\n\r\n";

/* read_all(text, n, cut, trailer, length, out, hashes): in two pieces cut at ${cut}; every
 * signature becomes OTHERS in ${out}. How many units, or -1. */
static int read_all(const char *text, size_t n, size_t cut, bool has_trailer, uint64_t length,
                    struct buf *out, uint8_t hashes[8][AWSCHUNK_HASH])
{
        struct awschunk *c = awschunk_new(has_trailer, length);
        struct awschunk_unit u;
        struct err err = {0};
        int r = 0, units = 0;
        for (int part = 0; part < 2 && r >= 0; part++) {
                const uint8_t *p = (const uint8_t *)text + (part ? cut : 0);
                size_t left = part ? n - cut : cut;
                while (left && (r = awschunk_feed(c, &p, &left, &u, &err)) == 1) {
                        memcpy(u.bytes.data + u.signature, OTHERS, AWSCHUNK_SIGNATURE);
                        buf_put(out, u.bytes.data, u.bytes.len);
                        if (units < 8)
                                memcpy(hashes[units], u.hash, AWSCHUNK_HASH);
                        units++;
                        awschunk_unit_free(&u);
                }
        }
        bool is_over = awschunk_is_over(c);
        awschunk_free(c);
        return r < 0 || !is_over ? -1 : units;
}

static char *with_others(const char *text)
{
        char *copy = str_dup(text), *at;
        while ((at = strstr(copy, DIGITS)))
                memcpy(at, OTHERS, AWSCHUNK_SIGNATURE);
        return copy;
}

static void test_cuts(const char *name, const char *text, bool has_trailer, uint64_t length,
                      int units)
{
        size_t n = strlen(text), good = 0;
        char *want = with_others(text);
        uint8_t hashes[8][AWSCHUNK_HASH];
        for (size_t cut = 0; cut <= n; cut++) {
                _cleanup_buf_ struct buf out = {0};
                int got = read_all(text, n, cut, has_trailer, length, &out, hashes);
                good += got == units && strcmp(buf_cstr(&out), want) == 0;
        }
        check(good == n + 1, name, "%zu of %zu cuts", good, n + 1);
        free(want);
        uint8_t hash[AWSCHUNK_HASH];
        SHA256((const uint8_t *)"hello", 5, hash);
        CHECK("a chunk has the hash of its data", memcmp(hashes[0], hash, sizeof hash) == 0);
        if (has_trailer) {
                static const char lines[] = "x-amz-checksum-crc32c:AAAAAA==\n";
                SHA256((const uint8_t *)lines, sizeof lines - 1, hash);
                CHECK("a trailer that of its lines",
                      memcmp(hashes[units - 1], hash, sizeof hash) == 0);
        }
}

static void test_bad(void)
{
        static const struct {
                const char *name, *text;
                bool has_trailer;
                uint64_t length;
        } t[] = {
                {"an empty body", "", false, UINT64_MAX},
                {"no signature", "5\r\nhello\r\n0\r\n\r\n", false, UINT64_MAX},
                {"a short signature", "0;chunk-signature=00\r\n\r\n", false, UINT64_MAX},
                {"a signature in large letters",
                 "0;chunk-signature="
                 "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"
                 "\r\n\r\n",
                 false, UINT64_MAX},
                {"bare line feeds", "0;chunk-signature=" DIGITS "\n\n", false, UINT64_MAX},
                {"a size with zeros in front", "05" CHUNK "hello\r\n0" CHUNK "\r\n", false,
                 UINT64_MAX},
                {"a size with a sign", "+5" CHUNK "hello\r\n0" CHUNK "\r\n", false, UINT64_MAX},
                {"a size with 0x", "0x5" CHUNK "hello\r\n0" CHUNK "\r\n", false, UINT64_MAX},
                {"a chunk that is too large", "100001" CHUNK, false, UINT64_MAX},
                {"a size that overflows", "ffffffffffffffff" CHUNK, false, UINT64_MAX},
                {"data longer than its size", "4" CHUNK "hello\r\n0" CHUNK "\r\n", false,
                 UINT64_MAX},
                {"data shorter than its size", "6" CHUNK "hello\r\n0" CHUNK "\r\n", false,
                 UINT64_MAX},
                {"an end without the last chunk", "5" CHUNK "hello\r\n", false, UINT64_MAX},
                {"something behind the end", "0" CHUNK "\r\n0", false, UINT64_MAX},
                {"more than was said", "5" CHUNK "hello\r\n0" CHUNK "\r\n", false, 4},
                {"less than was said", "5" CHUNK "hello\r\n0" CHUNK "\r\n", false, 6},
                {"a trailer where there is none", "0" CHUNK "a:b\r\n\r\n", false, UINT64_MAX},
                {"no trailer where there is one", "0" CHUNK "\r\n", true, UINT64_MAX},
                {"a trailer without signature", "0" CHUNK "a:b\r\n\r\n", true, UINT64_MAX},
                {"a signature without trailer",
                 "0" CHUNK "x-amz-trailer-signature:" DIGITS "\r\n\r\n", true, UINT64_MAX},
                {"a trailer behind its signature",
                 "0" CHUNK "a:b\r\nx-amz-trailer-signature:" DIGITS "\r\nc:d\r\n\r\n", true,
                 UINT64_MAX},
                {"a name twice",
                 "0" CHUNK "a:b\r\nA:c\r\nx-amz-trailer-signature:" DIGITS "\r\n\r\n", true,
                 UINT64_MAX},
                {"a line without a name",
                 "0" CHUNK ":b\r\nx-amz-trailer-signature:" DIGITS "\r\n\r\n", true, UINT64_MAX},
        };
        for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
                size_t n = strlen(t[i].text), refused = 0;
                uint8_t hashes[8][AWSCHUNK_HASH];
                for (size_t cut = 0; cut <= n; cut++) {
                        _cleanup_buf_ struct buf out = {0};
                        refused += read_all(t[i].text, n, cut, t[i].has_trailer, t[i].length, &out,
                                            hashes) < 0;
                }
                check(refused == n + 1, t[i].name, "refused in %zu of %zu cuts", refused, n + 1);
        }
}

/* --- only the data, for whoever looks for something in it --- */

static void test_plain(void)
{
        static const struct {
                const char *name, *coding, *text, *want; /* NULL: refused */
        } t[] = {
                {"signed chunks", "aws-chunked", plain_body, "hello0123456789abcdef\r\n"},
                {"chunks without signatures, and their trailer", "aws-chunked",
                 "5\r\nhello\r\n6\r\n world\r\n0\r\na:b\r\n\r\n", "hello worlda:b\r\n\r\n"},
                {"a text that heads cut up", "identity, aws-chunked",
                 "3\r\npla\r\n8\r\nceholder\r\n0\r\n\r\n", "placeholder\r\n"},
                {"no last chunk", "aws-chunked", "5\r\nhello\r\n", NULL},
                {"longer than it says", "aws-chunked", "4\r\nhello\r\n0\r\n\r\n", NULL},
                {"no chunks at all", "aws-chunked", "hello\r\n", NULL},
                {"no size", "aws-chunked", ";x\r\n", NULL},
        };
        for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
                size_t n = strlen(t[i].text), good = 0;
                for (size_t cut = 0; cut <= n; cut++) {
                        _cleanup_buf_ struct buf out = {0};
                        struct undo *u = NULL;
                        struct err err = {0};
                        char piece[7];
                        ssize_t got = undo_new(t[i].coding, NULL, NULL, &u, &err);
                        for (int part = 0; part < 2 && got >= 0; part++) {
                                undo_put(u, t[i].text + (part ? cut : 0), part ? n - cut : cut);
                                while ((got = undo_take(u, part, piece, sizeof piece, &err)) > 0)
                                        buf_put(&out, piece, (size_t)got);
                        }
                        undo_free(u);
                        good += t[i].want ? got == 0 && strcmp(buf_cstr(&out), t[i].want) == 0
                                          : got < 0 && err.text[0];
                }
                check(good == n + 1, t[i].name, "%zu of %zu cuts", good, n + 1);
        }
}

/* --- whose it is --- */

#define AUTH(id, names)                                                                            \
        "AWS4-HMAC-SHA256 Credential=" id                                                          \
        "/20260101/eu-west-1/s3/aws4_request, SignedHeaders=" names ", Signature=" DIGITS
#define QUERY(id)                                                                                  \
        "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=" id                                    \
        "%2F20260101%2Feu-west-1%2Fs3%2Faws4_request&X-Amz-Date=20260101T000000Z&X-Amz-Expires="   \
        "60&X-Amz-SignedHeaders=host&X-Amz-Signature=" DIGITS

static void test_look(void)
{
        static const struct {
                const char *name, *target, *auth, *token;
                enum sign_found want;
        } t[] = {
                {"nothing", "/", NULL, NULL, SIGN_NONE},
                {"a bearer token", "/", "Bearer x", NULL, SIGN_NONE},
                {"ours", "/", AUTH("AKIAFAKE", "host"), NULL, SIGN_OURS},
                {"ours with our token", "/", AUTH("AKIAFAKE", "host"), "fake-token", SIGN_OURS},
                {"ours with another token (S13)", "/", AUTH("AKIAFAKE", "host"), "x", SIGN_FOREIGN},
                {"another id", "/", AUTH("AKIAOTHER", "host"), NULL, SIGN_FOREIGN},
                {"another id with our token (S13)", "/", AUTH("AKIAOTHER", "host"), "fake-token",
                 SIGN_FOREIGN},
                {"our token alone (S13)", "/", NULL, "fake-token", SIGN_FOREIGN},
                {"version 2", "/", "AWS AKIAFAKE:abc=", NULL, SIGN_FOREIGN},
                {"version 4 in small letters", "/", "aws4-hmac-sha256 x", NULL, SIGN_FOREIGN},
                {"a URL of ours", "/x?" QUERY("AKIAFAKE"), NULL, NULL, SIGN_OURS},
                {"a URL of ours with our token",
                 "/x?" QUERY("AKIAFAKE") "&X-Amz-Security-Token=fake-token", NULL, NULL, SIGN_OURS},
                {"a URL of ours with another token",
                 "/x?" QUERY("AKIAFAKE") "&X-Amz-Security-Token=x", NULL, NULL, SIGN_FOREIGN},
                {"a URL of ours, and a token in the head", "/x?" QUERY("AKIAFAKE"), NULL,
                 "fake-token", SIGN_FOREIGN},
                {"a URL of somebody else", "/x?" QUERY("AKIAOTHER"), NULL, NULL, SIGN_FOREIGN},
                {"a URL in an odd spelling", "/x?x-amz-creden%74ial=AKIAOTHER", NULL, NULL,
                 SIGN_FOREIGN},
                {"a URL of version 2", "/x?AWSAccessKeyId=AKIAOTHER&Signature=x&Expires=1", NULL,
                 NULL, SIGN_FOREIGN},
                {"both", "/x?" QUERY("AKIAFAKE"), AUTH("AKIAFAKE", "host"), NULL, SIGN_FOREIGN},
        };
        static const char line[] =
                "secret AWS from aws at s3.eu-west-1.amazonaws.com as sigv4 service=s3";
        struct custody_secret s = {.number = 1, .parts_n = 3};
        struct err err = {0};
        size_t column;
        s.parts[0].name = (char *)"id";
        s.parts[0].placeholder = (char *)"AKIAFAKE";
        s.parts[1].name = (char *)"key";
        s.parts[1].placeholder = (char *)"fake-key";
        s.parts[2].name = (char *)"token";
        s.parts[2].placeholder = (char *)"fake-token";
        if (!check(rule_line_parse(line, strlen(line), &s.line, &column, &err) == 1, "the line",
                   "%s", err.text))
                return;
        for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
                struct head h;
                head_init(&h);
                h.method = head_put(&h, "GET", 3);
                h.method_len = 3;
                head_authority(&h, "s3.eu-west-1.amazonaws.com", 26, NULL);
                head_target(&h, t[i].target, strlen(t[i].target), NULL);
                if (t[i].auth)
                        head_add(&h, "authorization", 13, t[i].auth, strlen(t[i].auth), NULL);
                if (t[i].token)
                        head_add(&h, "x-amz-security-token", 20, t[i].token, strlen(t[i].token),
                                 NULL);
                enum sign_found got = sign_look(&s, 0, &h);
                check(got == t[i].want, t[i].name, "found %d, wanted %d", (int)got, (int)t[i].want);
                h.body = HEAD_BODY_STREAM;
                CHECK("S3 needs no body", got == SIGN_FOREIGN || !sign_needs_body(&s, 0, &h));
                head_free(&h);
        }
        rule_line_free(&s.line);
}

int main(void)
{
        test_cuts("chunks, cut anywhere", plain_body, false, 21, 3);
        test_cuts("without a length", plain_body, false, UINT64_MAX, 3);
        test_cuts("a trailer, cut anywhere", trailer_body, true, 5, 3);
        test_bad();
        test_plain();
        test_look();
        return check_end();
}
