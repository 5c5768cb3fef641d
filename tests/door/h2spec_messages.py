"""h2spec_messages.py - HTTP in HTTP/2: h2spec's section 8, and what a proxy must refuse besides."""
import struct

from h2raw import (  # the words of a frame
    CALM, CANCEL, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, INTERNAL, PING,
    PROTOCOL, PUSH, RST, SETTINGS, WINDOW, Closed, fields,
)
from h2raw import Failed

CASES = []
HEAD = END_STREAM | END_HEADERS
OK = b"\x88"  # :status 200 in HPACK's table


def case(name, is_bare=False, mine=()):
    def add(f):
        CASES.append((name, is_bare, mine, f))
        return f

    return add


def malformed(name, *more, method="GET", before=(), **change):
    @case("http2/8." + name)
    def _(c):
        block = fields(before) + c.request(method, *more, **change)
        c.send(HEADERS, HEAD, 1, block)
        c.stream_error(PROTOCOL)


@case("http2/8.1/1 a second HEADERS frame without END_STREAM")
def _(c):
    c.post()
    c.send(HEADERS, END_HEADERS, 1, fields([("x-test", "ok")]))
    c.stream_error(PROTOCOL)


malformed("1.2/1 large letters", ("X-TEST", "ok"))
malformed("1.2.1/1 an unknown pseudo-field", (":test", "ok"))
malformed("1.2.1/2 a pseudo-field of answers", (":status", "200"))


@case("http2/8.1.2.1/3 a pseudo-field as a trailer")
def _(c):
    c.post()
    c.send(HEADERS, HEAD, 1, fields([(":method", "GET")]))
    c.stream_error(PROTOCOL)


malformed("1.2.1/4 a pseudo-field after others", before=(("x-test", "ok"),))
malformed("1.2.2/1 connection", ("connection", "keep-alive"))
malformed("1.2.2/2 te", ("trailers", "test"), ("te", "trailers, deflate"))
malformed("1.2.3/1 an empty path", path="")
malformed("1.2.3/2 no method", method=None)
malformed("1.2.3/3 no scheme", scheme=None)
malformed("1.2.3/4 no path", path=None)
malformed("1.2.3/5 two methods", before=((":method", "GET"),))
malformed("1.2.3/6 two schemes", before=((":scheme", "https"),))
malformed("1.2.3/7 two paths", before=((":path", "/"),))

for number, parts in ((1, 1), (2, 2)):

    @case("http2/8.1.2.6/%d content-length that differs from %d DATA" % (number, parts))
    def _(c, parts=parts):
        c.post(1, ("content-length", "1"))
        for i in range(parts):
            c.send(DATA, END_STREAM if i == parts - 1 else 0, 1, b"test")
        c.stream_error(PROTOCOL)


@case("http2/8.2/1 PUSH_PROMISE from a client")
def _(c):
    c.send(PUSH, END_HEADERS, 1, struct.pack(">I", 3) + c.request())
    c.connection_error(PROTOCOL)


# --- not h2spec's: what could become something else in HTTP/1, and floods ---


# Nothing with this word in its path may reach an origin: the suite looks into the origin's log.
FORBIDDEN = "must-not-arrive"


def refused(name, *more, method="GET", before=(), **change):
    """Reset, or answered by the door; whether it was passed on is for the origin's log to say."""
    change.setdefault("path", "/" + FORBIDDEN)

    @case("own/" + name)
    def _(c):
        c.send(HEADERS, HEAD, 1, fields(before) + c.request(method, *more, **change))
        f = c.until(lambda f: f[2] == 1 and f[0] in (HEADERS, RST))
        if f[0] == HEADERS and f[3][:1] == OK:
            raise Failed("it was answered with 200")


refused("a name with a space", ("x test", "1"))
refused("a name with a colon", ("x:test", "1"))
refused("a value with CR LF", ("x-test", "1\r\nhost: other"))
refused("a value with NUL", ("x-test", "1\0"))
refused("a value with blanks around it", ("x-test", " 1 "))
refused("transfer-encoding", ("transfer-encoding", "chunked"))
refused("transfer_encoding", ("transfer_encoding", "chunked"))
refused("upgrade", ("upgrade", "h2c"))
refused("two hosts that differ", ("host", "other.example.test"))
refused("a path without a slash", path=FORBIDDEN)
refused("a path with a space", path="/%s x" % FORBIDDEN)
refused("an absolute path", path="https://other.example.test/" + FORBIDDEN)
refused("a path that climbs in code", path="/%s/%%252e%%252e/x" % FORBIDDEN)
refused("a method with a space", method="GET /x")
refused("TRACE", method="TRACE")
refused("a small method", method="get")
refused("another scheme", scheme="ftp")
refused("user and password in :authority", authority="a:b@example.test")
refused("CONNECT", method="CONNECT", path=None, scheme=None)


def flood(name, send, n=3000, codes=(CALM,)):
    @case("own/" + name)
    def _(c):
        for i in range(n):
            send(c, i)
        try:
            f = c.until(lambda f: f[0] == GOAWAY)
            if struct.unpack(">I", f[3][4:8])[0] not in codes:
                raise Failed("GOAWAY with %r" % f[3])
        except Closed:
            pass


flood("a flood of PING", lambda c, i: c.send(PING, 0, 0, b"12345678"))
flood("a flood of SETTINGS", lambda c, i: c.send(SETTINGS, 0, 0, b""))


def rapid_reset(c, i):
    c.get(1 + 2 * i)
    c.send(RST, 0, 1 + 2 * i, struct.pack(">I", CANCEL))


def made_you_reset(c, i):
    c.post(1 + 2 * i)
    c.send(WINDOW, 0, 1 + 2 * i, b"\x7f\xff\xff\xff")


def empty_data(c, i):
    if i == 0:
        c.post()
    c.send(DATA, 0, 1, b"")


def tiny_windows(c, i):
    c.send(WINDOW, 0, 0, b"\0\0\0\1")


# nghttp2 has a limit of its own for resets that it receives, and says INTERNAL: on a slow machine it is met first.
flood("rapid reset", rapid_reset, codes=(CALM, INTERNAL))
flood("resets that the server is made to send", made_you_reset)
flood("a flood of empty DATA", empty_data)
flood("a flood of WINDOW_UPDATE", tiny_windows)


@case("own/a flood of CONTINUATION")
def _(c):
    c.send(HEADERS, END_STREAM, 1, c.request())
    for i in range(1000):
        c.send(CONTINUATION, 0, 1, fields([("x", "y")]))
    c.connection_error(CALM, PROTOCOL, INTERNAL)


@case("own/a head that is too large is 431 or a reset")
def _(c):
    c.send(HEADERS, END_STREAM, 1, c.request())
    for i in range(6):
        c.send(CONTINUATION, END_HEADERS if i == 5 else 0, 1, fields([("x-%d" % i, "y" * 15000)]))
    f = c.until(lambda f: f[2] == 1 and f[0] in (HEADERS, RST))
    if f[0] == HEADERS and b"431" not in f[3][:8] and not f[3][:1] == b"\x48":
        raise Failed("it was answered: %r" % f[3][:12])
    c.alive()


@case("own/cookies in crumbs")
def _(c):
    c.send(HEADERS, HEAD, 1, c.request("GET", ("cookie", "a=1"), ("cookie", "b=2")))
    c.answer()
