/* door_h1.c - HTTP/1 requests that are taken and that are refused: each class of smuggling (case
 * E3) beside the nearest request that is fine. Whatever is taken is written anew and read again. */
#include "base/err.h"
#include "egress/h1.h"
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>

#define BYTES(s) s, sizeof(s) - 1
#define HOST     "Host: a.org\r\n"
#define GET      "GET / HTTP/1.1\r\n" HOST
#define POST     "POST / HTTP/1.1\r\n" HOST

/* Read, write, read: the same head twice, and the written form has no trace of how it came. */
static bool same_again(const struct head *h)
{
        struct head again;
        struct err err = {0};
        int status;
        bool good = false;
        _cleanup_buf_ struct buf text = {0};
        head_init(&again);
        struct head first = *h;
        if (!first.host.len)
                host_name_parse("a.org", 5, &first.host, NULL);
        h1_put_request(&text, &first, false);
        ssize_t used = text.is_broken ? -1
                                      : h1_request((const char *)text.data, text.len, &again,
                                                   &status, &err);
        if (used == (ssize_t)text.len)
                good = again.fields_n == h->fields_n && again.body == h->body &&
                       again.length == h->length && again.is_websocket == h->is_websocket &&
                       !strcmp(again.path.text, h->path.text) && again.query_len == h->query_len;
        for (size_t i = 0; good && i < h->fields_n; i++)
                good = !strcmp(head_str(h, h->fields[i].name),
                               head_str(&again, again.fields[i].name)) &&
                       !strcmp(head_str(h, h->fields[i].value),
                               head_str(&again, again.fields[i].value));
        head_free(&again);
        return good;
}

static const struct {
        const char *name, *bytes;
        size_t len;
        int status; /* 0: taken */
} requests[] = {
        {"a plain request", BYTES(GET "\r\n"), 0},
        {"HTTP/1.0 without Host", BYTES("GET / HTTP/1.0\r\n\r\n"), 0},
        {"one empty line before", BYTES("\r\n" GET "\r\n"), 0},
        {"two empty lines before", BYTES("\r\n\r\n" GET "\r\n"), 400},
        {"a bare LF before", BYTES("\n" GET "\r\n"), 400},

        {"the line ends with LF alone", BYTES("GET / HTTP/1.1\nHost: a.org\r\n\r\n"), 400},
        {"a field ends with LF alone", BYTES("GET / HTTP/1.1\r\nHost: a.org\n\r\n"), 400},
        {"the head ends with LF alone", BYTES(GET "\n"), 400},
        {"a bare CR in a value", BYTES(GET "X: a\rb\r\n\r\n"), 400},
        {"a bare CR for a line end", BYTES(GET "X: a\rY: b\r\n\r\n"), 400},
        {"CR CR LF", BYTES(GET "X: a\r\r\n\r\n"), 400},
        {"CR in the empty line", BYTES(GET "\r\r\n"), 400},
        {"a tab in a value", BYTES(GET "X: a\tb\r\n\r\n"), 0},
        {"bytes beyond ASCII in a value", BYTES(GET "X: \xc3\xa9\xff\r\n\r\n"), 0},
        {"NUL in a value", BYTES(GET "X: a\0b\r\n\r\n"), 400},
        {"DEL in a value", BYTES(GET "X: a\x7f\r\n\r\n"), 400},
        {"a control byte in a value", BYTES(GET "X: a\x01\r\n\r\n"), 400},
        {"vertical tab before a value",
         BYTES(GET "X:\x0b"
                   "a\r\n\r\n"),
         400},

        {"a name", BYTES(GET "X-y: a\r\n\r\n"), 0},
        {"no name", BYTES(GET ": a\r\n\r\n"), 400},
        {"no colon", BYTES(GET "Xa\r\n\r\n"), 400},
        {"a blank before the colon", BYTES(GET "X : a\r\n\r\n"), 400},
        {"a tab before the colon", BYTES(GET "X\t: a\r\n\r\n"), 400},
        {"a blank in a name", BYTES(GET "X y: a\r\n\r\n"), 400},
        {"a folded value", BYTES(GET "X: a\r\n b\r\n\r\n"), 400},
        {"a folded value, tab", BYTES(GET "X: a\r\n\tb\r\n\r\n"), 400},
        {"a blank before the first field", BYTES("GET / HTTP/1.1\r\n Host: a.org\r\n\r\n"), 400},
        {"a line of blanks", BYTES(GET " \r\n\r\n"), 400},
        {"NUL in a name", BYTES(GET "X\0: a\r\n\r\n"), 400},
        {"a byte beyond ASCII in a name", BYTES(GET "X\xff: a\r\n\r\n"), 400},
        {"a bracket in a name", BYTES(GET "X[0]: a\r\n\r\n"), 400},
        {"no value", BYTES(GET "X:\r\n\r\n"), 0},
        {"blanks around a value", BYTES(GET "X: \t a \t\r\n\r\n"), 0},

        {"a length", BYTES(POST "Content-Length: 5\r\n\r\nhello"), 0},
        {"a length of nothing", BYTES(POST "Content-Length: 0\r\n\r\n"), 0},
        {"GET with a length", BYTES(GET "Content-Length: 5\r\n\r\nhello"), 0},
        {"the largest length", BYTES(POST "Content-Length: 9223372036854775807\r\n\r\n"), 0},
        {"a length over that", BYTES(POST "Content-Length: 9223372036854775808\r\n\r\n"), 400},
        {"a length that overflows", BYTES(POST "Content-Length: 18446744073709551621\r\n\r\n"),
         400},
        {"an empty length", BYTES(POST "Content-Length:\r\n\r\n"), 400},
        {"a length with +", BYTES(POST "Content-Length: +5\r\n\r\n"), 400},
        {"a length with -", BYTES(POST "Content-Length: -5\r\n\r\n"), 400},
        {"a length in hexadecimal", BYTES(POST "Content-Length: 0x5\r\n\r\n"), 400},
        {"a length with a fraction", BYTES(POST "Content-Length: 5.0\r\n\r\n"), 400},
        {"a length with _", BYTES(POST "Content-Length: 1_0\r\n\r\n"), 400},
        {"a length with a blank inside", BYTES(POST "Content-Length: 1 0\r\n\r\n"), 400},
        {"a length in a list", BYTES(POST "Content-Length: 5, 5\r\n\r\n"), 400},
        {"a length in quotes", BYTES(POST "Content-Length: \"5\"\r\n\r\n"), 400},
        {"two lengths", BYTES(POST "Content-Length: 5\r\nContent-Length: 6\r\n\r\n"), 400},
        {"two equal lengths", BYTES(POST "Content-Length: 5\r\ncontent-length: 5\r\n\r\n"), 400},
        {"two lengths of 0", BYTES(POST "Content-Length: 0\r\nContent-Length: 0\r\n\r\n"), 400},
        {"a length with _ for -", BYTES(POST "Content_Length: 5\r\n\r\n"), 400},

        {"chunked", BYTES(POST "Transfer-Encoding: chunked\r\n\r\n"), 0},
        {"chunked in other letters", BYTES(POST "transfer-encoding: Chunked\r\n\r\n"), 0},
        {"chunked and a length",
         BYTES(POST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"), 400},
        {"a length and chunked",
         BYTES(POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"), 400},
        {"chunked twice",
         BYTES(POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"), 400},
        {"chunked twice in a list", BYTES(POST "Transfer-Encoding: chunked, chunked\r\n\r\n"), 501},
        {"chunked and identity", BYTES(POST "Transfer-Encoding: chunked, identity\r\n\r\n"), 501},
        {"identity", BYTES(POST "Transfer-Encoding: identity\r\n\r\n"), 501},
        {"gzip and chunked", BYTES(POST "Transfer-Encoding: gzip, chunked\r\n\r\n"), 501},
        {"xchunked", BYTES(POST "Transfer-Encoding: xchunked\r\n\r\n"), 501},
        {"chunked with a parameter", BYTES(POST "Transfer-Encoding: chunked;q=1\r\n\r\n"), 501},
        {"chunked in quotes", BYTES(POST "Transfer-Encoding: \"chunked\"\r\n\r\n"), 501},
        {"chunked with a comma", BYTES(POST "Transfer-Encoding: chunked,\r\n\r\n"), 501},
        {"an empty coding", BYTES(POST "Transfer-Encoding:\r\n\r\n"), 501},
        {"chunked after a vertical tab",
         BYTES(POST "Transfer-Encoding: \x0b"
                    "chunked\r\n\r\n"),
         400},
        {"chunked with a blank before the colon", BYTES(POST "Transfer-Encoding : chunked\r\n\r\n"),
         400},
        {"chunked folded", BYTES(POST "Transfer-Encoding:\r\n chunked\r\n\r\n"), 501},
        {"chunked with _ for -", BYTES(POST "Transfer_Encoding: chunked\r\n\r\n"), 400},
        {"chunked in HTTP/1.0",
         BYTES("POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"), 400},
        {"a length in HTTP/1.0", BYTES("POST / HTTP/1.0\r\n" HOST "Content-Length: 1\r\n\r\n1"), 0},

        {"no Host", BYTES("GET / HTTP/1.1\r\n\r\n"), 400},
        {"an empty Host", BYTES("GET / HTTP/1.1\r\nHost:\r\n\r\n"), 400},
        {"two Hosts", BYTES(GET "Host: b.org\r\n\r\n"), 400},
        {"two equal Hosts", BYTES(GET HOST "\r\n"), 400},
        {"two Hosts in one", BYTES("GET / HTTP/1.1\r\nHost: a.org, b.org\r\n\r\n"), 400},
        {"a Host with a user", BYTES("GET / HTTP/1.1\r\nHost: b.org@a.org\r\n\r\n"), 400},
        {"a Host with a path", BYTES("GET / HTTP/1.1\r\nHost: a.org/b\r\n\r\n"), 400},
        {"a Host with a query", BYTES("GET / HTTP/1.1\r\nHost: a.org?b\r\n\r\n"), 400},
        {"a Host with a blank", BYTES("GET / HTTP/1.1\r\nHost: a.org b.org\r\n\r\n"), 400},
        {"a Host with a bad port", BYTES("GET / HTTP/1.1\r\nHost: a.org:x\r\n\r\n"), 400},
        {"a Host with a port", BYTES("GET / HTTP/1.1\r\nHost: a.org:81\r\n\r\n"), 0},
        {"a Host that is an odd address", BYTES("GET / HTTP/1.1\r\nHost: 0x7f.1\r\n\r\n"), 400},
        {"a Host with NUL", BYTES("GET / HTTP/1.1\r\nHost: b.org\0.a.org\r\n\r\n"), 400},
        {"no Host in HTTP/1.0 with a bad one", BYTES("GET / HTTP/1.0\r\nHost: a b\r\n\r\n"), 400},

        {"absolute form", BYTES("GET http://a.org/b?c HTTP/1.1\r\n" HOST "\r\n"), 0},
        {"absolute form, other letters", BYTES("GET HTTP://A.org/b HTTP/1.1\r\n" HOST "\r\n"), 0},
        {"absolute form, usual port", BYTES("GET http://a.org:80/b HTTP/1.1\r\n" HOST "\r\n"), 0},
        {"absolute form, no path", BYTES("GET http://a.org HTTP/1.1\r\n" HOST "\r\n"), 0},
        {"absolute form, only a query", BYTES("GET http://a.org?x HTTP/1.1\r\n" HOST "\r\n"), 0},
        {"absolute form, other host", BYTES("GET http://b.org/ HTTP/1.1\r\n" HOST "\r\n"), 400},
        {"absolute form, other port", BYTES("GET http://a.org:81/ HTTP/1.1\r\n" HOST "\r\n"), 400},
        {"absolute form, port of https", BYTES("GET https://a.org:80/ HTTP/1.1\r\n" HOST "\r\n"),
         400},
        {"absolute form, no Host", BYTES("GET http://a.org/ HTTP/1.1\r\n\r\n"), 400},
        {"absolute form, no Host, 1.0", BYTES("GET http://a.org/ HTTP/1.0\r\n\r\n"), 400},
        {"absolute form, empty host", BYTES("GET http:///b HTTP/1.1\r\n" HOST "\r\n"), 400},
        {"absolute form with a user", BYTES("GET http://b@a.org/ HTTP/1.1\r\n" HOST "\r\n"), 400},
        {"absolute form with a fragment", BYTES("GET http://a.org#x HTTP/1.1\r\n" HOST "\r\n"),
         400},
        {"absolute form, other scheme", BYTES("GET ftp://a.org/ HTTP/1.1\r\n" HOST "\r\n"), 400},
        {"absolute form, no slashes", BYTES("GET http:a.org HTTP/1.1\r\n" HOST "\r\n"), 400},
        {"a path that looks absolute", BYTES("GET //b.org/x HTTP/1.1\r\n" HOST "\r\n"), 0},
        {"authority form", BYTES("GET a.org:80 HTTP/1.1\r\n" HOST "\r\n"), 400},
        {"CONNECT", BYTES("CONNECT a.org:443 HTTP/1.1\r\nHost: a.org:443\r\n\r\n"), 405},
        {"CONNECT to a path", BYTES("CONNECT / HTTP/1.1\r\n" HOST "\r\n"), 405},
        {"OPTIONS *", BYTES("OPTIONS * HTTP/1.1\r\n" HOST "\r\n"), 0},
        {"OPTIONS in absolute form", BYTES("OPTIONS http://a.org HTTP/1.1\r\n" HOST "\r\n"), 0},
        {"GET *", BYTES("GET * HTTP/1.1\r\n" HOST "\r\n"), 400},
        {"OPTIONS *x", BYTES("OPTIONS *x HTTP/1.1\r\n" HOST "\r\n"), 400},
        {"a bare path", BYTES("GET a HTTP/1.1\r\n" HOST "\r\n"), 400},
        {"a fragment", BYTES("GET /a#b HTTP/1.1\r\n" HOST "\r\n"), 400},
        {"a hidden dot segment", BYTES("GET /%252e%252e/ HTTP/1.1\r\n" HOST "\r\n"), 400},
        {"NUL in a path", BYTES("GET /\0 HTTP/1.1\r\n" HOST "\r\n"), 400},
        {"a tab in a path", BYTES("GET /\ta HTTP/1.1\r\n" HOST "\r\n"), 400},

        {"TRACE", BYTES("TRACE / HTTP/1.1\r\n" HOST "\r\n"), 405},
        {"TRACK", BYTES("TRACK / HTTP/1.1\r\n" HOST "\r\n"), 405},
        {"a method nobody knows", BYTES("M-SEARCH / HTTP/1.1\r\n" HOST "\r\n"), 0},
        {"a method in small letters", BYTES("get / HTTP/1.1\r\n" HOST "\r\n"), 400},
        {"a method that is none", BYTES("G(T / HTTP/1.1\r\n" HOST "\r\n"), 400},
        {"no method", BYTES(" / HTTP/1.1\r\n" HOST "\r\n"), 400},
        {"a long method", BYTES("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA / HTTP/1.1\r\n"), 501},
        {"two spaces after the method", BYTES("GET  / HTTP/1.1\r\n" HOST "\r\n"), 400},
        {"two spaces before the version", BYTES("GET /  HTTP/1.1\r\n" HOST "\r\n"), 400},
        {"a space after the version", BYTES("GET / HTTP/1.1 \r\n" HOST "\r\n"), 400},
        {"a tab for a space", BYTES("GET\t/ HTTP/1.1\r\n" HOST "\r\n"), 400},
        {"HTTP/0.9", BYTES("GET /\r\n"), 400},
        {"HTTP/0.9 with a version", BYTES("GET / HTTP/0.9\r\n\r\n"), 505},
        {"HTTP/1.2", BYTES("GET / HTTP/1.2\r\n" HOST "\r\n"), 505},
        {"HTTP/2.0", BYTES("GET / HTTP/2.0\r\n" HOST "\r\n"), 505},
        {"the preface of HTTP/2", BYTES("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505},
        {"HTTP/1.10", BYTES("GET / HTTP/1.10\r\n" HOST "\r\n"), 400},
        {"HTTP/01.1", BYTES("GET / HTTP/01.1\r\n" HOST "\r\n"), 400},
        {"http/1.1", BYTES("GET / http/1.1\r\n" HOST "\r\n"), 400},
        {"HTTPS/1.1", BYTES("GET / HTTPS/1.1\r\n" HOST "\r\n"), 400},
        {"a ClientHello", BYTES("\x16\x03\x01\x02\x00\x01"), 400},
        {"SSH", BYTES("SSH-2.0-OpenSSH_9.2\r\n"), 400},

        {"Expect", BYTES(POST "Expect: 100-continue\r\nContent-Length: 1\r\n\r\n"), 0},
        {"another Expect", BYTES(POST "Expect: 200-ok\r\nContent-Length: 1\r\n\r\n"), 417},
        {"two content types", BYTES(POST "Content-Type: a/b\r\nContent-Type: c/d\r\n\r\n"), 400},
        {"Connection lists a field", BYTES(GET "Connection: x-a\r\nX-A: 1\r\n\r\n"), 0},
        {"Connection lists Host", BYTES(GET "Connection: host\r\n\r\n"), 400},
        {"Connection lists Content-Length",
         BYTES(POST "Connection: Content-Length\r\nContent-Length: 5\r\n\r\n"), 400},
        {"Connection lists Transfer-Encoding",
         BYTES(POST "Connection: close, Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n\r\n"),
         400},
        {"Connection lists no name", BYTES(GET "Connection: a b\r\n\r\n"), 400},
        {"Connection lists nothing", BYTES(GET "Connection: ,, ,\r\n\r\n"), 0},
};

static void test_requests(void)
{
        for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
                struct head h;
                struct err err = {0};
                int status = -1;
                head_init(&h);
                ssize_t used = h1_request(requests[i].bytes, requests[i].len, &h, &status, &err);
                bool good = requests[i].status
                                    ? used == -1 && status == requests[i].status && err.text[0]
                                    : used > 0 && status == 0 && same_again(&h);
                check(good, requests[i].name, "%zd, status %d, wanted %d (%s)", used, status,
                      requests[i].status, err.text);
                head_free(&h);

                /* Every beginning of what is taken asks for more. */
                bool is_patient = true;
                for (ssize_t n = 0; n < used; n++) {
                        is_patient &=
                                h1_request(requests[i].bytes, (size_t)n, &h, &status, &err) == 0;
                        is_patient &= h.fields_n == 0 && h.host.len == 0;
                }
                if (used > 0)
                        check(is_patient, requests[i].name, "a beginning of it was judged");
                head_free(&h);
        }
}

/* read(bytes, &h): a request that is expected to be fine. */
static bool read_good(const char *bytes, struct head *h)
{
        struct err err = {0};
        int status;
        head_init(h);
        return check(h1_request(bytes, strlen(bytes), h, &status, &err) > 0, "is taken", "%s (%s)",
                     bytes, err.text);
}

static void test_members(void)
{
        struct head h;
        read_good(
                "POST http://A.org:81/x/../y?q=1 HTTP/1.1\r\nHost: a.org:81\r\nTE: trailers, "
                "deflate\r\n"
                "Connection: close, TE, X-Hop\r\nKeep-Alive: 5\r\nProxy-Authorization: Basic x\r\n"
                "X-Hop: 1\r\nProxy-Connection: keep-alive\r\nTrailer: x\r\nExpect: 100-Continue\r\n"
                "Content-Type: application/grpc\r\nTransfer-Encoding: chunked\r\nX-End: 2\r\n\r\n",
                &h);
        CHECK("only fields from end to end are left",
              h.fields_n == 2 && head_find(&h, "x-end") && head_find(&h, "content-type"));
        CHECK("what the others said is known", h.takes_trailers && h.wants_continue &&
                                                       !h.is_persistent && h.is_grpc &&
                                                       h.body == HEAD_BODY_STREAM);
        check_str("the target is in origin form", head_str(&h, h.target), "/x/../y?q=1");
        check_str("the path is canonical", h.path.text, "/y");
        CHECK("the port is known", h.port == 81);
        _cleanup_buf_ struct buf b = {0};
        h1_put_request(&b, &h, true);
        check_str("it is written anew", buf_cstr(&b),
                  "POST /y?q=1 HTTP/1.1\r\nhost: a.org:81\r\ncontent-type: application/grpc\r\n"
                  "x-end: 2\r\ntransfer-encoding: chunked\r\n\r\n");
        head_free(&h);

        read_good("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\nExpect: 100-continue\r\n\r\n", &h);
        CHECK("HTTP/1.0 stays when asked", h.is_persistent && !h.wants_continue && h.minor == 0);
        buf_free(&b);
        h1_put_request(&b, &h, true);
        CHECK("a request without a host cannot be written", b.is_broken && b.len == 0);
        head_free(&h);
        read_good("GET / HTTP/1.0\r\n\r\n", &h);
        CHECK("HTTP/1.0 ends otherwise", !h.is_persistent && h.host.len == 0);
        head_free(&h);
        read_good("PUT / HTTP/1.1\r\nHost: a.org:443\r\nContent-Length: 0\r\n\r\n", &h);
        CHECK("no bytes are no body", h.body == HEAD_BODY_NONE && h.is_persistent);
        buf_free(&b);
        h1_put_request(&b, &h, true);
        check_str("but a server is told so", buf_cstr(&b),
                  "PUT / HTTP/1.1\r\nhost: a.org\r\ncontent-length: 0\r\n\r\n");
        head_free(&h);
}

#define WS(method, version, more) method " /chat HTTP/" version "\r\n" HOST more "\r\n"
#define KEY                       "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define V13                       "Sec-WebSocket-Version: 13\r\n"
#define UP                        "Upgrade: websocket\r\n"
#define CONN                      "Connection: keep-alive, Upgrade\r\n"

static void test_upgrade(void)
{
        static const struct {
                const char *name, *bytes;
                bool is_websocket;
        } cases[] = {
                {"a websocket", WS("GET", "1.1", UP CONN KEY V13), true},
                {"in other letters", WS("GET", "1.1", "upgrade: WebSocket\r\n" CONN KEY V13), true},
                {"with an extension",
                 WS("GET", "1.1",
                    UP CONN KEY V13 "Sec-WebSocket-Extensions: permessage-deflate\r\n"),
                 true},
                {"not GET", WS("POST", "1.1", UP CONN KEY V13), false},
                {"HTTP/1.0", WS("GET", "1.0", UP CONN KEY V13), false},
                {"no Connection", WS("GET", "1.1", UP KEY V13), false},
                {"no Upgrade", WS("GET", "1.1", CONN KEY V13), false},
                {"no key", WS("GET", "1.1", UP CONN V13), false},
                {"two keys", WS("GET", "1.1", UP CONN KEY KEY V13), false},
                {"a short key", WS("GET", "1.1", UP CONN V13 "Sec-WebSocket-Key: abc=\r\n"), false},
                {"a key with spare bits",
                 WS("GET", "1.1", UP CONN V13 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZR==\r\n"),
                 false},
                {"another version", WS("GET", "1.1", UP CONN KEY "Sec-WebSocket-Version: 8\r\n"),
                 false},
                {"h2c",
                 WS("GET", "1.1",
                    "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n"
                    "HTTP2-Settings: AAMAAABkAAQAAP__\r\n"),
                 false},
                {"h2c besides", WS("GET", "1.1", "Upgrade: websocket, h2c\r\n" CONN KEY V13),
                 false},
                {"two upgrades", WS("GET", "1.1", UP "Upgrade: h2c\r\n" CONN KEY V13), false},
                {"a body", WS("GET", "1.1", UP CONN KEY V13 "Content-Length: 5\r\n"), false},
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct head h;
                read_good(cases[i].bytes, &h);
                bool has_key = head_find(&h, "sec-websocket-key");
                _cleanup_buf_ struct buf b = {0};
                h1_put_request(&b, &h, true);
                bool says_upgrade = strcasestr(buf_cstr(&b), "upgrade");
                check(h.is_websocket == cases[i].is_websocket && has_key == h.is_websocket &&
                              says_upgrade == h.is_websocket && same_again(&h) &&
                              !head_find(&h, "sec-websocket-extensions") &&
                              !strstr(buf_cstr(&b), "http2-settings"),
                      cases[i].name, "websocket %d, key %d: %s", h.is_websocket, has_key,
                      buf_cstr(&b));
                head_free(&h);
        }
}

/* A head with ${lines} fields of ${each} bytes. */
static char *large(size_t target, size_t lines, size_t each, size_t *len)
{
        struct buf b = {0};
        buf_put_str(&b, "GET /");
        for (size_t i = 0; i < target; i++)
                buf_put_u8(&b, 'a');
        buf_put_str(&b, " HTTP/1.1\r\nHost: a.org\r\n");
        for (size_t i = 0; i < lines; i++) {
                buf_put_str(&b, "x:");
                for (size_t k = 2; k < each; k++)
                        buf_put_u8(&b, 'v');
                buf_put_str(&b, "\r\n");
        }
        buf_put_str(&b, "\r\n");
        *len = b.len;
        return (char *)b.data;
}

static void test_limits(void)
{
        static const struct {
                const char *name;
                size_t target, lines, each;
                int status;
        } cases[] = {
                {"128 lines", 1, 127, 10, 0},
                {"129 lines", 1, 128, 10, 431},
                {"a line of 16 KiB", 1, 1, HEAD_LINE_MAX, 0},
                {"a line of more", 1, 1, HEAD_LINE_MAX + 1, 431},
                {"60 KiB", 1, 4, 15 << 10, 0},
                {"70 KiB", 1, 5, 14 << 10, 431},
                {"a long target", 16000, 0, 0, 0},
                {"a longer target", HEAD_LINE_MAX, 0, 0, 414},
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct head h;
                struct err err = {0};
                int status;
                size_t len;
                char *bytes = large(cases[i].target, cases[i].lines, cases[i].each, &len);
                head_init(&h);
                ssize_t used = h1_request(bytes, len, &h, &status, &err);
                check(cases[i].status ? used < 0 && status == cases[i].status
                                      : used == (ssize_t)len,
                      cases[i].name, "%zd, status %d (%s)", used, status, err.text);
                head_free(&h);
                free(bytes);
        }

        /* What never ends is refused, wherever it does not end. */
        static const char *const starts[] = {"GET /",
                                             GET "x",
                                             GET "x: ",
                                             "HTTP/1.1 200 ",
                                             "HTTP/1.1 200 OK\r\nx",
                                             "HTTP/1.1 200 OK\r\nx: "};
        char *endless = malloc(HEAD_BYTES_MAX);
        for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
                struct head h;
                struct err err = {0};
                int status;
                memset(endless, 'a', HEAD_BYTES_MAX);
                memcpy(endless, starts[i], strlen(starts[i]));
                head_init(&h);
                ssize_t used = starts[i][0] == 'G'
                                       ? h1_request(endless, HEAD_LINE_MAX + 100, &h, &status, &err)
                                       : h1_answer(endless, HEAD_LINE_MAX + 100, false, &h, &err);
                check(used < 0, "what never ends is refused", "%s", starts[i]);
                head_free(&h);
        }
        free(endless);
}

int main(void)
{
        test_requests();
        test_members();
        test_upgrade();
        test_limits();
        return check_end();
}
