"""h2spec_frames.py - frames and streams: h2spec's sections 3 to 7 of RFC 7540."""
import struct

from h2raw import (  # the words of a frame
    ACK, CANCEL, COMPRESSION, CONTINUATION, DATA, END_HEADERS, END_STREAM, FLOW, FRAME_SIZE,
    GOAWAY, HEADERS, PING, PRIORITY, PROTOCOL, REFUSED, RST, SETTINGS, STREAM_CLOSED, WINDOW,
    Closed, fields, settings,
)
from h2raw import Failed
from h2spec_generic import prio

CASES = []


def case(name, is_bare=False, mine=()):
    def add(f):
        CASES.append(("http2/" + name, is_bare, mine, f))
        return f

    return add


def errs(name, kind, codes, *frames, mine=()):
    """After these frames comes an error. A frame is a tuple for Conn.send, or a word for a usual request."""

    @case(name, mine=mine)
    def _(c):
        play(c, frames)
        (c.connection_error if kind == "connection" else c.stream_error)(*codes)


def play(c, frames):
    for f in frames:
        if f == "get":
            c.get()
        elif f == "post":
            c.post()
        elif f == "ended":
            c.ended()
        elif f == "reset":
            c.send(RST, 0, 1, struct.pack(">I", CANCEL))
        elif f == "head":
            c.send(HEADERS, END_STREAM, 1, c.request())
        elif f[0] == HEADERS and f[3] is None:
            c.send(HEADERS, f[1], f[2], c.request())
        else:
            c.send(*f)


@case("3.5/1 a client preface")
def _(c):
    c.alive()


@case("3.5/2 an invalid preface", is_bare=True)
def _(c):
    c.raw(b"INVALID CONNECTION PREFACE\r\n\r\n")
    try:
        while True:
            c.frame()
    except Closed:
        pass


@case("4.1/1 a frame of unknown type")
def _(c):
    c.send(0xF0, 0, 0, b"12345678")
    c.alive()


@case("4.1/2 a frame with undefined flags")
def _(c):
    c.send(PING, 0x16, 0, b"12345678")
    c.until(lambda f: f[0] == PING and f[1] & ACK)


@case("4.1/3 a frame with the reserved bit")
def _(c):
    c.send(PING, 0, 0x80000000, b"12345678")
    c.until(lambda f: f[0] == PING and f[1] & ACK)


@case("4.2/1 DATA of 2^14 bytes")
def _(c):
    c.post()
    c.send(DATA, END_STREAM, 1, bytes(16384))
    c.answer()


BIG = bytes(16385)
errs("4.2/2 DATA larger than allowed", "stream", (FRAME_SIZE,), "post", (DATA, END_STREAM, 1, BIG))
errs("4.2/3 HEADERS larger than allowed", "connection", (FRAME_SIZE,), (HEADERS, 5, 1, BIG))
errs("4.3/1 an invalid header block", "connection", (COMPRESSION,), (HEADERS, 5, 1, b"\x80"))
errs("4.3/2 PRIORITY inside a header block", "connection", (PROTOCOL,), "head", (PRIORITY, 0, 1, prio(0, 1)))
errs("4.3/3 HEADERS inside a header block", "connection", (PROTOCOL,), "head", (HEADERS, 5, 3, None))

errs("5.1/1 idle: DATA", "connection", (PROTOCOL, STREAM_CLOSED), (DATA, 1, 1, b"test"))
errs("5.1/2 idle: RST_STREAM", "connection", (PROTOCOL,), "reset")
errs("5.1/3 idle: WINDOW_UPDATE", "connection", (PROTOCOL,), (WINDOW, 0, 1, b"\0\0\0\x64"))
errs("5.1/4 idle: CONTINUATION", "connection", (PROTOCOL,), (CONTINUATION, 4, 1, b"\x90"))
errs("5.1/5 half-closed: DATA", "stream", (STREAM_CLOSED,), "get", (DATA, 1, 1, b"test"))
errs("5.1/6 half-closed: HEADERS", "stream", (STREAM_CLOSED,), "get", (HEADERS, 5, 1, None))
errs("5.1/7 half-closed: CONTINUATION", "connection", (STREAM_CLOSED, PROTOCOL), "get", (CONTINUATION, 4, 1, b"\x90"))
errs("5.1/8 closed: DATA after RST_STREAM", "stream", (STREAM_CLOSED,), "post", "reset", (DATA, 1, 1, b"test"))
errs("5.1/9 closed: HEADERS after RST_STREAM", "stream", (STREAM_CLOSED,), "post", "reset", (HEADERS, 5, 1, None))
errs("5.1/10 closed: CONTINUATION after RST_STREAM", "connection", (STREAM_CLOSED, PROTOCOL), "post", "reset",
     (CONTINUATION, 4, 1, b"\x90"))
errs("5.1/11 closed: DATA", "stream", (STREAM_CLOSED,), "get", "ended", (DATA, 1, 1, b"test"))
errs("5.1/12 closed: HEADERS", "connection", (STREAM_CLOSED,), "get", "ended", (HEADERS, 5, 1, None))
errs("5.1/13 closed: CONTINUATION", "connection", (STREAM_CLOSED, PROTOCOL), "get", "ended",
     (CONTINUATION, 4, 1, b"\x90"))
errs("5.1.1/1 an even stream", "connection", (PROTOCOL,), (HEADERS, 5, 2, None))
errs("5.1.1/2 a stream below one that was used", "connection", (PROTOCOL,), (HEADERS, 5, 5, None), (HEADERS, 5, 3, None))


@case("5.1.2/1 more streams than allowed", mine=((4, 0),))
def _(c):
    most = c.theirs.get(3)
    if not most:
        raise Failed("no limit was announced")
    for i in range(most + 1):
        c.post(1 + 2 * i)
    c.stream_error(PROTOCOL, REFUSED)


errs("5.3.1/1 HEADERS that depend on themselves", "stream", (PROTOCOL,), (HEADERS, 0x25, 1, prio(1, 1)))
errs("5.3.1/2 PRIORITY that depends on itself", "stream", (PROTOCOL,), "post", (PRIORITY, 0, 1, prio(1, 1)))
errs("5.4.1/1 an invalid PING closes the connection", "connection", (FRAME_SIZE,), (PING, 0, 0, b"\0" * 6))


@case("5.4.1/2 and a GOAWAY comes before that")
def _(c):
    c.send(PING, 0, 1, b"12345678")
    c.until(lambda f: f[0] == GOAWAY)


@case("5.5/1 an extension frame")
def _(c):
    c.send(0x16, 0, 0, b"12345678")
    c.alive()


errs("5.5/2 an extension frame inside a header block", "connection", (PROTOCOL,), "head", (0x16, 0, 1, b"12345678"))

errs("6.1/1 DATA on stream 0", "connection", (PROTOCOL,), (DATA, 1, 0, b"test"))
errs("6.1/2 DATA on a stream that is not open", "stream", (STREAM_CLOSED,), "get", (DATA, 1, 1, b"test"))
errs("6.1/3 DATA with too much padding", "connection", (PROTOCOL,), "post", (DATA, 9, 1, b"\x06test"))
errs("6.2/1 HEADERS without END_HEADERS, then PRIORITY", "connection", (PROTOCOL,), "head", (PRIORITY, 0, 1, prio(0, 1)))
errs("6.2/2 HEADERS for another stream inside", "connection", (PROTOCOL,), "head", (HEADERS, 5, 3, None))
errs("6.2/3 HEADERS on stream 0", "connection", (PROTOCOL,), (HEADERS, 5, 0, None))
errs("6.2/4 HEADERS with too much padding", "connection", (PROTOCOL,), (HEADERS, 13, 1, b"\x06\x82\x87\x84"))
errs("6.3/1 PRIORITY on stream 0", "connection", (PROTOCOL,), (PRIORITY, 0, 0, prio(0, 1)))
errs("6.3/2 PRIORITY of four bytes", "stream", (FRAME_SIZE,), "post", (PRIORITY, 0, 1, b"\x80\0\0\1"))
errs("6.4/1 RST_STREAM on stream 0", "connection", (PROTOCOL,), (RST, 0, 0, b"\0\0\0\x08"))
errs("6.4/2 RST_STREAM on an idle stream", "connection", (PROTOCOL,), "reset")
errs("6.4/3 RST_STREAM of three bytes", "connection", (FRAME_SIZE,), "post", (RST, 0, 1, b"\0\0\0"))
errs("6.5/1 SETTINGS ACK with a payload", "connection", (FRAME_SIZE,), (SETTINGS, 1, 0, b"\0" * 6))
errs("6.5/2 SETTINGS on a stream", "connection", (PROTOCOL,), (SETTINGS, 0, 1, settings((3, 100))))
errs("6.5/3 SETTINGS of five bytes", "connection", (FRAME_SIZE,), (SETTINGS, 0, 0, b"\0\3\0\0\0"))
errs("6.5.2/1 ENABLE_PUSH 2", "connection", (PROTOCOL,), (SETTINGS, 0, 0, settings((2, 2))))
errs("6.5.2/2 INITIAL_WINDOW_SIZE too large", "connection", (FLOW,), (SETTINGS, 0, 0, settings((4, 1 << 31))))
errs("6.5.2/3 MAX_FRAME_SIZE too small", "connection", (PROTOCOL,), (SETTINGS, 0, 0, settings((5, 16383))))
errs("6.5.2/4 MAX_FRAME_SIZE too large", "connection", (PROTOCOL,), (SETTINGS, 0, 0, settings((5, 1 << 24))))


@case("6.5.2/5 an unknown setting")
def _(c):
    c.send(SETTINGS, 0, 0, settings((0xFF, 0)))
    c.alive()


@case("6.5.3/1 the last of several values counts")
def _(c):
    c.send(SETTINGS, 0, 0, settings((4, 100), (4, 1)))
    c.get()
    f = c.until(lambda f: f[0] == DATA)
    if len(f[3]) != 1:
        raise Failed("%d bytes" % len(f[3]))


@case("6.5.3/2 SETTINGS are acknowledged")
def _(c):
    c.send(SETTINGS, 0, 0, b"")
    c.until(lambda f: f[0] == SETTINGS and f[1] & ACK)


@case("6.7/1 PING is answered")
def _(c):
    c.alive()


@case("6.7/2 PING with ACK is not")
def _(c):
    c.send(PING, ACK, 0, b"invalid!")
    c.send(PING, 0, 0, b"12345678")
    if c.until(lambda f: f[0] == PING)[3] != b"12345678":
        raise Failed("an answer to an answer")


errs("6.7/3 PING on a stream", "connection", (PROTOCOL,), (PING, 0, 1, b"12345678"))
errs("6.7/4 PING of six bytes", "connection", (FRAME_SIZE,), (PING, 0, 0, b"123456"))
errs("6.8/1 GOAWAY on a stream", "connection", (PROTOCOL,), (GOAWAY, 0, 1, b"\0" * 8))
errs("6.9/1 WINDOW_UPDATE of 0", "connection", (PROTOCOL,), (WINDOW, 0, 0, b"\0\0\0\0"))
errs("6.9/2 WINDOW_UPDATE of 0 on a stream", "stream", (PROTOCOL,), "post", (WINDOW, 0, 1, b"\0\0\0\0"))
errs("6.9/3 WINDOW_UPDATE of three bytes", "connection", (FRAME_SIZE,), (WINDOW, 0, 0, b"\0\0\1"))


@case("6.9.1/1 a window of one byte is kept", mine=((4, 1),))
def _(c):
    c.get()
    f = c.until(lambda f: f[0] == DATA)
    if len(f[3]) != 1:
        raise Failed("%d bytes" % len(f[3]))


MAX = b"\x7f\xff\xff\xff"
errs("6.9.1/2 the connection's window overflows", "connection", (FLOW,), (WINDOW, 0, 0, MAX), (WINDOW, 0, 0, MAX))
errs("6.9.1/3 a stream's window overflows", "stream", (FLOW,), "post", (WINDOW, 0, 1, MAX), (WINDOW, 0, 1, MAX))


@case("6.9.2/1 a window that grows after HEADERS", mine=((4, 0),))
def _(c):
    c.get()
    c.answer()
    c.send(SETTINGS, 0, 0, settings((4, 1)))
    if len(c.until(lambda f: f[0] == DATA)[3]) != 1:
        raise Failed("not one byte")


@case("6.9.2/2 a window that becomes negative", mine=((4, 3),))
def _(c):
    c.get()
    c.until(lambda f: f[0] == DATA and f[2] == 1 and len(f[3]) == 3)
    c.send(SETTINGS, 0, 0, settings((4, 2)))
    c.send(WINDOW, 0, 1, struct.pack(">I", 2))
    if len(c.until(lambda f: f[0] == DATA)[3]) != 1:
        raise Failed("not one byte")


errs("6.9.2/3 INITIAL_WINDOW_SIZE too large", "connection", (FLOW,), (SETTINGS, 0, 0, settings((4, 1 << 31))))


@case("6.10/1 several CONTINUATION frames")
def _(c):
    play(c, ["head"] + [(CONTINUATION, f, 1, fields([("x", "y")])) for f in (0, 0, END_HEADERS)])
    c.answer()


X = fields([("x", "y")])
errs("6.10/2 another frame after CONTINUATION", "connection", (PROTOCOL,), "head", (CONTINUATION, 0, 1, X),
     (DATA, 1, 1, b"test"))
errs("6.10/3 CONTINUATION on stream 0", "connection", (PROTOCOL,), "head", (CONTINUATION, 4, 0, X))
errs("6.10/4 CONTINUATION after END_HEADERS", "connection", (PROTOCOL, STREAM_CLOSED), "post", (CONTINUATION, 4, 1, X))
errs("6.10/5 CONTINUATION after a CONTINUATION with END_HEADERS", "connection", (PROTOCOL, STREAM_CLOSED), "head",
     (CONTINUATION, 4, 1, X), (CONTINUATION, 4, 1, X))
errs("6.10/6 CONTINUATION after DATA", "connection", (PROTOCOL,), "post", (DATA, 0, 1, b"test"), (CONTINUATION, 4, 1, X))


@case("7/1 GOAWAY with an unknown code")
def _(c):
    c.send(GOAWAY, 0, 0, struct.pack(">II", 0, 0xFF))
    try:
        c.send(PING, 0, 0, b"12345678")
        c.until(lambda f: f[0] in (PING, GOAWAY))
    except Closed:
        pass


@case("7/2 RST_STREAM with an unknown code")
def _(c):
    c.post()
    c.send(RST, 0, 1, struct.pack(">I", 0xFF))
    c.alive()
