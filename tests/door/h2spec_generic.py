"""h2spec_generic.py - what every HTTP/2 server must understand: h2spec's generic sections and HPACK's."""
import struct

from h2raw import (  # the words of a frame
    ACK, CANCEL, COMPRESSION, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS,
    NO_ERROR, PADDED, PING, PRIO, PRIORITY, RST, SETTINGS, WINDOW, Closed, fields, integer,
    settings, text,
)

CASES = []


def case(name, is_bare=False, mine=()):
    def add(f):
        CASES.append((name, is_bare, mine, f))
        return f

    return add


def prio(parent, weight, is_exclusive=False):
    return struct.pack(">IB", parent | (0x80000000 if is_exclusive else 0), weight)


def padded(payload, n=8):
    return bytes([n]) + payload + bytes(n)


@case("generic/1/1 a client preface")
def _(c):
    c.alive()


@case("generic/2/1 PRIORITY on an idle stream")
def _(c):
    c.send(PRIORITY, 0, 1, prio(0, 1))
    c.alive()


@case("generic/2/2 WINDOW_UPDATE on a half-closed stream")
def _(c):
    c.get()
    c.send(WINDOW, 0, 1, b"\0\0\0\1")
    c.answer()


@case("generic/2/3 PRIORITY on a half-closed stream")
def _(c):
    c.get()
    c.send(PRIORITY, 0, 1, prio(0, 1))
    c.answer()


@case("generic/2/4 RST_STREAM on a half-closed stream")
def _(c):
    c.get()
    c.send(RST, 0, 1, struct.pack(">I", CANCEL))
    c.alive()


@case("generic/2/5 PRIORITY on a closed stream")
def _(c):
    c.get()
    c.ended()
    c.send(PRIORITY, 0, 1, prio(0, 1))
    c.alive()


@case("generic/3.1/1 a DATA frame")
def _(c):
    c.post()
    c.send(DATA, END_STREAM, 1, b"test")
    c.answer()


@case("generic/3.1/2 several DATA frames")
def _(c):
    c.post()
    c.send(DATA, 0, 1, b"test")
    c.send(DATA, END_STREAM, 1, b"test")
    c.answer()


@case("generic/3.1/3 DATA with padding")
def _(c):
    c.post()
    c.send(DATA, END_STREAM | PADDED, 1, padded(b"test"))
    c.answer()


@case("generic/3.2/1 a HEADERS frame")
def _(c):
    c.get()
    c.answer()


@case("generic/3.2/2 HEADERS with padding")
def _(c):
    c.send(HEADERS, END_STREAM | END_HEADERS | PADDED, 1, padded(c.request()))
    c.answer()


@case("generic/3.2/3 HEADERS with priority")
def _(c):
    c.send(HEADERS, END_STREAM | END_HEADERS | PRIO, 1, prio(0, 255) + c.request())
    c.answer()


for number, payload in enumerate((prio(0, 0), prio(0, 255), prio(3, 10), prio(3, 10, True)), 1):

    @case("generic/3.3/%d PRIORITY, then HEADERS" % number)
    def _(c, payload=payload):
        c.send(PRIORITY, 0, 1, payload)
        c.get()
        c.answer()


@case("generic/3.3/5 PRIORITY on an idle stream, then HEADERS on a lower one")
def _(c):
    c.send(PRIORITY, 0, 5, prio(0, 10))
    c.get(3)
    c.answer(3)


@case("generic/3.4/1 RST_STREAM")
def _(c):
    c.post()
    c.send(RST, 0, 1, struct.pack(">I", CANCEL))
    c.alive()


@case("generic/3.5/1 SETTINGS")
def _(c):
    c.send(SETTINGS, 0, 0, settings((3, 100)))
    c.until(lambda f: f[0] == SETTINGS and f[1] & ACK)


@case("generic/3.7/1 PING")
def _(c):
    c.alive()


@case("generic/3.8/1 GOAWAY")
def _(c):
    c.send(GOAWAY, 0, 0, struct.pack(">II", 0, NO_ERROR))
    try:
        c.send(PING, 0, 0, b"12345678")
        c.until(lambda f: f[0] in (PING, GOAWAY))
    except Closed:
        pass


@case("generic/3.9/1 WINDOW_UPDATE for the connection")
def _(c):
    c.send(WINDOW, 0, 0, b"\0\0\0\1")
    c.get()
    c.answer()


@case("generic/3.9/2 WINDOW_UPDATE for a stream")
def _(c):
    c.post()
    c.send(WINDOW, 0, 1, b"\0\0\0\1")
    c.send(DATA, END_STREAM, 1, b"x")
    c.answer()


for number, parts in ((1, 2), (2, 3)):

    @case("generic/3.10/%d %d frames of header block" % (number, parts))
    def _(c, parts=parts):
        c.send(HEADERS, END_STREAM, 1, c.request())
        for i in range(1, parts):
            c.send(CONTINUATION, END_HEADERS if i == parts - 1 else 0, 1, fields([("x-%d" % i, "1")]))
        c.answer()


for number, method in enumerate(("GET", "HEAD", "POST"), 1):

    @case("generic/4/%d %s" % (number, method))
    def _(c, method=method):
        if method == "POST":
            c.post()
            c.send(DATA, END_STREAM, 1, b"test")
        else:
            c.send(HEADERS, END_STREAM | END_HEADERS, 1, c.request(method))
        c.answer()


@case("generic/4/4 POST with trailers")
def _(c):
    c.post(1, ("trailer", "x-test"))
    c.send(DATA, 0, 1, b"test")
    c.send(HEADERS, END_STREAM | END_HEADERS, 1, fields([("x-test", "ok")]))
    c.answer()


# RFC 7541 appendix C has these words in Huffman's code.
KEY, VALUE = bytes.fromhex("25a849e95ba97d7f"), bytes.fromhex("25a849e95bb8e8b4bf")


def huffman(b):
    return integer(len(b), 7, 0x80) + b


BLOCKS = [("an indexed field", b"\x90")]  # accept-encoding: gzip, deflate
for what, first, bits in (("incremental indexing", 0x40, 6), ("no indexing", 0, 4), ("never indexing", 0x10, 4)):
    BLOCKS += [
        (what + ", indexed name", integer(58, bits, first) + text("agent")),
        (what + ", indexed name, Huffman", integer(58, bits, first) + huffman(VALUE)),
        (what + ", new name", bytes([first]) + text("x-test") + text("yes")),
        (what + ", new name, Huffman", bytes([first]) + huffman(KEY) + huffman(VALUE)),
    ]
for number, (what, block) in enumerate(BLOCKS, 1):

    @case("generic/5/%d %s" % (number, what))
    def _(c, block=block):
        c.send(HEADERS, END_STREAM | END_HEADERS, 1, c.request() + block)
        c.answer()


for number, updates in ((14, b"\x20"), (15, b"\x20\x3e")):

    @case("generic/5/%d dynamic table size updates" % number)
    def _(c, updates=updates):
        c.send(HEADERS, END_STREAM | END_HEADERS, 1, updates + c.request())
        c.answer()


def broken_block(name, block, is_before=False):
    @case(name)
    def _(c):
        all_of_it = block + c.request() if is_before else c.request() + block
        c.send(HEADERS, END_STREAM | END_HEADERS, 1, all_of_it)
        c.connection_error(COMPRESSION)


broken_block("hpack/2.3.3/1 an indexed field with an invalid index", integer(70, 7, 0x80))
broken_block("hpack/2.3.3/2 a literal with an invalid index", integer(70, 6, 0x40) + text("x"))
broken_block("hpack/4.2/1 a table size update at the end", b"\x21")
broken_block("hpack/5.2/1 Huffman padding longer than 7 bits", b"\0" + text("x-test") + huffman(VALUE + b"\xff"))
broken_block("hpack/5.2/2 Huffman padding of zeros", b"\0" + text("x-test") + huffman(b"\x18"))
broken_block("hpack/5.2/3 Huffman with EOS", b"\0" + text("x-test") + huffman(b"\xff\xff\xff\xff"))
broken_block("hpack/6.1/1 index 0", b"\x80")
broken_block("hpack/6.3/1 a table size above the limit", integer(4097, 5, 0x20), True)
