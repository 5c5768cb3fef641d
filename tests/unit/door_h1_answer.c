/* door_h1_answer.c - answers, chunked bodies and the writers of HTTP/1: what an origin may say,
 * what costs it its connection, and that nothing leaves which we would refuse ourselves. */
#include "base/err.h"
#include "egress/h1.h"
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>

#define BYTES(s) s, sizeof(s) - 1
#define OK       "HTTP/1.1 200 OK\r\n"
#define LEN      "Content-Length: 5\r\n"
#define CHUNKED  "Transfer-Encoding: chunked\r\n"
#define UPGRADE  "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
#define ACCEPT   "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"

enum {
        NONE = HEAD_BODY_NONE,
        LENGTH = HEAD_BODY_LENGTH,
        STREAM = HEAD_BODY_STREAM,
        CLOSE = HEAD_BODY_CLOSE,
        BAD
};

static const struct {
        const char *name, *bytes;
        size_t len;
        int body; /* or BAD */
        bool is_persistent, is_to_head;
} answers[] = {
        {"a length", BYTES(OK LEN "\r\n"), LENGTH, true, false},
        {"no bytes", BYTES(OK "Content-Length: 0\r\n\r\n"), NONE, true, false},
        {"chunked", BYTES(OK CHUNKED "\r\n"), STREAM, true, false},
        {"neither", BYTES(OK "\r\n"), CLOSE, false, false},
        {"close", BYTES(OK LEN "Connection: close\r\n\r\n"), LENGTH, false, false},
        {"HTTP/1.0", BYTES("HTTP/1.0 200 OK\r\n" LEN "\r\n"), LENGTH, false, false},
        {"HTTP/1.0 that stays", BYTES("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" LEN "\r\n"),
         LENGTH, true, false},
        {"HTTP/1.0 chunked", BYTES("HTTP/1.0 200 OK\r\n" CHUNKED "\r\n"), BAD, false, false},
        {"no reason", BYTES("HTTP/1.1 200\r\n" LEN "\r\n"), LENGTH, true, false},
        {"an empty reason", BYTES("HTTP/1.1 200 \r\n" LEN "\r\n"), LENGTH, true, false},
        {"a reason beyond ASCII", BYTES("HTTP/1.1 200 \xc3\xa9t\xc3\xa9\r\n" LEN "\r\n"), LENGTH,
         true, false},
        {"a control byte in the reason", BYTES("HTTP/1.1 200 O\x01K\r\n" LEN "\r\n"), BAD, false,
         false},
        {"a value beyond ASCII", BYTES(OK LEN "X: \xe9\r\n\r\n"), LENGTH, true, false},
        {"a status nobody knows", BYTES("HTTP/1.1 999 Denied\r\n" LEN "\r\n"), LENGTH, true, false},
        {"a status under 100", BYTES("HTTP/1.1 099 x\r\n" LEN "\r\n"), BAD, false, false},
        {"a status of two digits", BYTES("HTTP/1.1 20 OK\r\n" LEN "\r\n"), BAD, false, false},
        {"a status of four digits", BYTES("HTTP/1.1 2000 OK\r\n" LEN "\r\n"), BAD, false, false},
        {"two spaces", BYTES("HTTP/1.1  200 OK\r\n" LEN "\r\n"), BAD, false, false},
        {"HTTP/2", BYTES("HTTP/2 200 OK\r\n" LEN "\r\n"), BAD, false, false},
        {"HTTP/1.2", BYTES("HTTP/1.2 200 OK\r\n" LEN "\r\n"), BAD, false, false},
        {"ICY", BYTES("ICY 200 OK\r\n" LEN "\r\n"), BAD, false, false},
        {"no HTTP at all", BYTES("hello, world"), BAD, false, false},
        {"an empty line before", BYTES("\r\n" OK LEN "\r\n"), BAD, false, false},
        {"LF alone", BYTES("HTTP/1.1 200 OK\n" LEN "\r\n"), BAD, false, false},
        {"LF alone after a field", BYTES(OK "Content-Length: 5\n\r\n"), BAD, false, false},
        {"a folded field", BYTES(OK LEN "X: a\r\n b\r\n\r\n"), BAD, false, false},
        {"a blank before the colon", BYTES(OK "Content-Length : 5\r\n\r\n"), BAD, false, false},
        {"NUL", BYTES(OK LEN "X: a\0b\r\n\r\n"), BAD, false, false},
        {"two lengths", BYTES(OK LEN LEN "\r\n"), BAD, false, false},
        {"a length in a list", BYTES(OK "Content-Length: 5, 5\r\n\r\n"), BAD, false, false},
        {"a negative length", BYTES(OK "Content-Length: -1\r\n\r\n"), BAD, false, false},
        {"a length and chunked", BYTES(OK LEN CHUNKED "\r\n"), BAD, false, false},
        {"chunked twice", BYTES(OK CHUNKED CHUNKED "\r\n"), BAD, false, false},
        {"gzip, chunked", BYTES(OK "Transfer-Encoding: gzip, chunked\r\n\r\n"), BAD, false, false},
        {"identity", BYTES(OK "Transfer-Encoding: identity\r\n\r\n"), BAD, false, false},
        {"Connection lists Content-Length", BYTES(OK LEN "Connection: content-length\r\n\r\n"), BAD,
         false, false},
        {"204", BYTES("HTTP/1.1 204 No Content\r\n\r\n"), NONE, true, false},
        {"204 with a length", BYTES("HTTP/1.1 204 No Content\r\n" LEN "\r\n"), NONE, false, false},
        {"204 with a length of 0", BYTES("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n"),
         NONE, true, false},
        {"204 chunked", BYTES("HTTP/1.1 204 No Content\r\n" CHUNKED "\r\n"), NONE, false, false},
        {"304 with a length", BYTES("HTTP/1.1 304 Not Modified\r\n" LEN "\r\n"), NONE, true, false},
        {"304 chunked", BYTES("HTTP/1.1 304 Not Modified\r\n" CHUNKED "\r\n"), NONE, false, false},
        {"to HEAD, a length", BYTES(OK LEN "\r\n"), NONE, true, true},
        {"to HEAD, chunked", BYTES(OK CHUNKED "\r\n"), NONE, true, true},
        {"to HEAD, neither", BYTES(OK "\r\n"), NONE, true, true},
        {"to HEAD, both", BYTES(OK LEN CHUNKED "\r\n"), BAD, false, true},
        {"100", BYTES("HTTP/1.1 100 Continue\r\n\r\n"), NONE, true, false},
        {"103", BYTES("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), NONE, true, false},
        {"100 with a length", BYTES("HTTP/1.1 100 Continue\r\n" LEN "\r\n"), BAD, false, false},
        {"103 chunked", BYTES("HTTP/1.1 103 Early Hints\r\n" CHUNKED "\r\n"), BAD, false, false},
        {"101", BYTES(UPGRADE "Connection: upgrade\r\n" ACCEPT "\r\n"), NONE, true, false},
        {"101 without Connection", BYTES(UPGRADE ACCEPT "\r\n"), BAD, false, false},
        {"101 without its proof", BYTES(UPGRADE "Connection: upgrade\r\n\r\n"), BAD, false, false},
        {"101 to h2c",
         BYTES("HTTP/1.1 101 x\r\nUpgrade: h2c\r\nConnection: upgrade\r\n" ACCEPT "\r\n"), BAD,
         false, false},
        {"101 with an extension",
         BYTES(UPGRADE
               "Connection: upgrade\r\nSec-WebSocket-Extensions: permessage-deflate\r\n" ACCEPT
               "\r\n"),
         BAD, false, false},
        {"426",
         BYTES("HTTP/1.1 426 Upgrade Required\r\nUpgrade: h2c\r\nConnection: upgrade\r\n" LEN
               "\r\n"),
         LENGTH, true, false},
};

static void test_answers(void)
{
        for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
                struct head h, again;
                struct err err = {0};
                head_init(&h);
                head_init(&again);
                ssize_t used = h1_answer(answers[i].bytes, answers[i].len, answers[i].is_to_head,
                                         &h, &err);
                bool good = answers[i].body == BAD
                                    ? used == -1 && err.text[0]
                                    : used == (ssize_t)answers[i].len &&
                                              (int)h.body == answers[i].body &&
                                              h.is_persistent == answers[i].is_persistent;
                check(good, answers[i].name, "%zd, body %d, stays %d (%s)", used, (int)h.body,
                      h.is_persistent, err.text);
                if (used > 0) {
                        _cleanup_buf_ struct buf b = {0};
                        h1_put_answer(&b, &h, 1, h.is_persistent);
                        ssize_t n = h1_answer((const char *)b.data, b.len, answers[i].is_to_head,
                                              &again, &err);
                        check(n == (ssize_t)b.len &&
                                      again.body == (h.body == HEAD_BODY_CLOSE ? HEAD_BODY_STREAM
                                                                               : h.body) &&
                                      again.length == h.length && again.status == h.status &&
                                      again.has_length == h.has_length &&
                                      again.fields_n == h.fields_n,
                              answers[i].name, "is not the same again: %s (%s)", buf_cstr(&b),
                              err.text);
                }
                head_free(&h);
                head_free(&again);
                for (ssize_t n = 0; n < used; n++)
                        if (h1_answer(answers[i].bytes, (size_t)n, answers[i].is_to_head, &h, &err))
                                check(false, answers[i].name, "its first %zd bytes were judged", n);
                head_free(&h);
        }
}

static void check_written(const char *name, const char *in, bool is_to_head, int minor,
                          bool is_persistent, const char *want)
{
        struct head h;
        struct err err = {0};
        _cleanup_buf_ struct buf b = {0};
        head_init(&h);
        check(h1_answer(in, strlen(in), is_to_head, &h, &err) > 0, name, "%s", err.text);
        h1_put_answer(&b, &h, minor, is_persistent);
        check_str(name, buf_cstr(&b), want);
        head_free(&h);
}

static void test_written(void)
{
        check_written("a reason is our own", "HTTP/1.1 404 Sorry\r\nContent-Length: 3\r\n\r\n",
                      false, 1, true, "HTTP/1.1 404 Not Found\r\ncontent-length: 3\r\n\r\n");
        check_written("chunked for HTTP/1.1", OK CHUNKED "\r\n", false, 1, true,
                      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
        check_written("what ended with its connection too", OK "\r\n", false, 1, true,
                      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
        check_written("closed for HTTP/1.0", OK CHUNKED "\r\n", false, 0, true,
                      "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
        check_written("HTTP/1.0 is told that it stays", OK LEN "\r\n", false, 0, true,
                      "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: keep-alive\r\n\r\n");
        check_written("a length to HEAD is told", OK LEN "\r\n", true, 1, true,
                      "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n");
        check_written("no length to HEAD is not made up", OK CHUNKED "\r\n", true, 1, true,
                      "HTTP/1.1 200 OK\r\n\r\n");
        check_written("304 tells no length of its own", "HTTP/1.1 304 x\r\nETag: \"a\"\r\n\r\n",
                      false, 1, true, "HTTP/1.1 304 Not Modified\r\netag: \"a\"\r\n\r\n");
        check_written("204 neither", "HTTP/1.1 204 x\r\n\r\n", false, 1, false,
                      "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n");
        check_written("interim answers are bare", "HTTP/1.1 100 x\r\n\r\n", false, 1, true,
                      "HTTP/1.1 100 Continue\r\n\r\n");
        check_written("HTTP/1.0 gets none", "HTTP/1.1 100 x\r\n\r\n", false, 0, true, "");
        check_written("websocket", UPGRADE "Connection: upgrade\r\n" ACCEPT "\r\n", false, 1, true,
                      "HTTP/1.1 101 Switching Protocols\r\nsec-websocket-accept: "
                      "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nconnection: Upgrade\r\nupgrade: "
                      "websocket\r\n\r\n");

        static const struct {
                const char *name, *field, *value;
                bool is_fine;
        } fields[] = {
                {"a field", "x-a", "b", true},
                {"CR LF in a value", "x-a", "b\r\nx-b: c", false},
                {"LF in a value", "x-a", "b\nc", false},
                {"a blank at its end", "x-a", "b ", false},
                {"a colon in a name", "x-a:", "b", false},
                {"a blank in a name", "x a", "b", false},
                {"no name", "", "b", false},
                {"framing", "content-length", "5", false},
                {"framing with _", "transfer_encoding", "chunked", false},
                {"a Host", "host", "b.org", false},
                {"Connection", "connection", "close", false},
        };
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
                struct head h;
                head_init(&h);
                h.status = 200;
                h.method = head_put(&h, "GET", h.method_len = 3);
                head_target(&h, "/", 1, NULL);
                head_authority(&h, "a.org", 5, NULL);
                head_add(&h, fields[i].field, strlen(fields[i].field), fields[i].value,
                         strlen(fields[i].value), NULL);
                for (int kind = 0; kind < 3; kind++) {
                        _cleanup_buf_ struct buf b = {0};
                        buf_put_str(&b, "before");
                        if (kind == 0)
                                h1_put_request(&b, &h, true);
                        else if (kind == 1)
                                h1_put_answer(&b, &h, 1, true);
                        else
                                h1_put_last(&b, &h);
                        check(b.is_broken != fields[i].is_fine && (b.len > 6) == fields[i].is_fine,
                              fields[i].name, "was written: %s", buf_cstr(&b));
                }
                head_free(&h);
        }

        _cleanup_buf_ struct buf b = {0};
        h1_put_chunk_head(&b, 1);
        h1_put_chunk_head(&b, 0x1a2b);
        h1_put_chunk_head(&b, SIZE_MAX);
        h1_put_last(&b, NULL);
        struct buf none = {0};
        h1_put_chunk_head(&none, 0);
        CHECK("a chunk of nothing is not", none.is_broken && none.len == 0);
        check_str("chunks are written", buf_cstr(&b), "1\r\n1a2b\r\nffffffffffffffff\r\n0\r\n\r\n");
}

static const struct {
        const char *name, *bytes;
        size_t len;
        const char *data;     /* NULL: refused */
        const char *trailers; /* "name=value;", or NULL: refused */
} bodies[] = {
        {"one chunk", BYTES("5\r\nhello\r\n0\r\n\r\n"), "hello", ""},
        {"two chunks", BYTES("1\r\na\r\n2\r\nbc\r\n0\r\n\r\n"), "abc", ""},
        {"no chunk", BYTES("0\r\n\r\n"), "", ""},
        {"zeros", BYTES("000\r\n\r\n"), "", ""},
        {"zeros in front", BYTES("00000000000005\r\nhello\r\n0\r\n\r\n"), "hello", ""},
        {"hexadecimal, large", BYTES("A\r\n0123456789\r\n0\r\n\r\n"), "0123456789", ""},
        {"hexadecimal, small", BYTES("a\r\n0123456789\r\n0\r\n\r\n"), "0123456789", ""},
        {"CR LF as data", BYTES("4\r\n\r\n\r\n\r\n0\r\n\r\n"), "\r\n\r\n", ""},
        {"an extension", BYTES("5;a=b;c=\"d\"\r\nhello\r\n0;x\r\n\r\n"), "hello", ""},
        {"0x", BYTES("0x5\r\nhello\r\n0\r\n\r\n"), NULL, NULL},
        {"a blank before", BYTES(" 5\r\nhello\r\n0\r\n\r\n"), NULL, NULL},
        {"a blank after", BYTES("5 \r\nhello\r\n0\r\n\r\n"), NULL, NULL},
        {"a sign", BYTES("+5\r\nhello\r\n0\r\n\r\n"), NULL, NULL},
        {"a minus", BYTES("-1\r\nhello\r\n0\r\n\r\n"), NULL, NULL},
        {"_", BYTES("0_5\r\nhello\r\n0\r\n\r\n"), NULL, NULL},
        {"no size", BYTES("\r\nhello\r\n0\r\n\r\n"), NULL, NULL},
        {"only an extension", BYTES(";a\r\nhello\r\n0\r\n\r\n"), NULL, NULL},
        {"not hexadecimal", BYTES("g\r\n"), NULL, NULL},
        {"@ is no digit", BYTES("@\r\n"), NULL, NULL},
        {"17 digits", BYTES("00000000000000005\r\nhello\r\n0\r\n\r\n"), NULL, NULL},
        {"a size that overflows", BYTES("ffffffffffffffff\r\n"), NULL, NULL},
        {"a size that wraps around", BYTES("10000000000000005\r\nhello\r\n0\r\n\r\n"), NULL, NULL},
        {"LF after the size", BYTES("5\nhello\r\n0\r\n\r\n"), NULL, NULL},
        {"CR alone after the size", BYTES("5\rhello\r\n0\r\n\r\n"), NULL, NULL},
        {"LF in an extension", BYTES("5;a\nhello\r\n0\r\n\r\n"), NULL, NULL},
        {"CR in an extension", BYTES("5;a\rb\r\nhello\r\n0\r\n\r\n"), NULL, NULL},
        {"NUL in an extension", BYTES("5;\0\r\nhello\r\n0\r\n\r\n"), NULL, NULL},
        {"nothing after the data", BYTES("5\r\nhello0\r\n\r\n"), NULL, NULL},
        {"LF after the data", BYTES("5\r\nhello\n0\r\n\r\n"), NULL, NULL},
        {"more data than told", BYTES("4\r\nhello\r\n0\r\n\r\n"), NULL, NULL},
        {"two bytes after the data", BYTES("5\r\nhelloXY0\r\n\r\n"), NULL, NULL},
        {"LF at the end", BYTES("0\r\n\n"), NULL, NULL},
        {"CR X at the end", BYTES("0\r\n\rX"), NULL, NULL},
        {"trailers", BYTES("0\r\ngrpc-status: 0\r\nGrpc-Message:\r\n\r\n"), "",
         "grpc-status=0;grpc-message=;"},
        {"trailers are filtered",
         BYTES("0\r\nContent-Length: 5\r\nX-A: 1\r\nAuthorization: x\r\nSet-Cookie: a\r\nHost: "
               "b.org\r\n"
               "Content-Type: a/b\r\nTransfer-Encoding: chunked\r\nX-B: 2\r\n\r\n"),
         "", "x-a=1;x-b=2;"},
        {"LF in trailers", BYTES("0\r\nX: a\n\r\n\r\n"), NULL, NULL},
        {"NUL in trailers", BYTES("0\r\nX: \0\r\n\r\n"), NULL, NULL},
        {"a folded trailer", BYTES("0\r\nX: a\r\n b\r\n\r\n"), "", NULL},
        {"a trailer without a name", BYTES("0\r\n: a\r\n\r\n"), "", NULL},
        {"junk for a trailer", BYTES("0\r\nGET / HTTP/1.1\r\n\r\n"), "", NULL},
};

/* Feed in pieces of ${step} bytes; what came out is in ${data}. 1: done, 0: not yet, -1. */
static int feed(struct h1_chunks *c, const char *p, size_t n, size_t step, struct buf *data,
                size_t *used_n)
{
        *used_n = 0;
        while (*used_n < n && !c->is_done) {
                const char *run;
                size_t run_len, piece = n - *used_n < step ? n - *used_n : step;
                ssize_t used = h1_chunks_feed(c, p + *used_n, piece, &run, &run_len, NULL);
                if (used <= 0)
                        return -1;
                buf_put(data, run, run_len);
                *used_n += (size_t)used;
        }
        return c->is_done;
}

static void test_chunks(void)
{
        for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
                bool good = true;
                for (size_t step = 1; step <= bodies[i].len + 4; step++) {
                        struct h1_chunks c = {0};
                        struct head t;
                        struct err err = {0};
                        size_t used;
                        _cleanup_buf_ struct buf data = {0}, words = {0}, in = {0};
                        head_init(&t);
                        buf_put(&in, bodies[i].bytes, bodies[i].len);
                        buf_put_str(&in, "GET ");
                        int rc = feed(&c, (const char *)in.data, in.len, step, &data, &used);
                        if (!bodies[i].data) {
                                good &= rc < 0;
                        } else {
                                int read = h1_chunks_trailers(&c, &t, &err);
                                for (size_t k = 0; k < t.fields_n; k++)
                                        buf_put_fmt(&words, "%s=%s;",
                                                    head_str(&t, t.fields[k].name),
                                                    head_str(&t, t.fields[k].value));
                                good &= rc == 1 && used == bodies[i].len &&
                                        !strcmp(buf_cstr(&data), bodies[i].data);
                                good &= bodies[i].trailers
                                                ? read == 0 && !strcmp(buf_cstr(&words),
                                                                       bodies[i].trailers)
                                                : read < 0 && err.text[0];
                        }
                        h1_chunks_free(&c);
                        head_free(&t);
                }
                check(good, bodies[i].name, "is not read so");
        }

        struct h1_chunks c = {0};
        size_t used;
        _cleanup_buf_ struct buf data = {0}, in = {0};
        buf_put_str(&in, "1;");
        for (int i = 0; i < 256; i++)
                buf_put_u8(&in, 'x');
        CHECK("a long extension is dropped",
              feed(&c, (const char *)in.data, in.len, in.len, &data, &used) == 0);
        CHECK("a longer one is refused", feed(&c, "x", 1, 1, &data, &used) < 0);
        h1_chunks_free(&c);
        in.len = 0;
        buf_put_str(&in, "0\r\nx: ");
        for (int i = 0; i < 17 << 10; i++)
                buf_put_u8(&in, 'x');
        CHECK("endless trailers are refused",
              feed(&c, (const char *)in.data, in.len, in.len, &data, &used) < 0);
        h1_chunks_free(&c);
        CHECK("after its end nothing is used",
              feed(&c, "0\r\n\r\n", 5, 5, &data, &used) == 1 &&
                      h1_chunks_feed(&c, "0", 1, &(const char *){0}, &used, NULL) == 0);
        h1_chunks_free(&c);
}

int main(void)
{
        test_answers();
        test_written();
        test_chunks();
        return check_end();
}
