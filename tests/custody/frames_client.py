#!/usr/bin/env python3
"""frames_client.py - in a box: requests with a placeholder, written as HTTP/2 frames that no library would write.

Prints one line for each: its name, what became of it (a status, `reset N`, `goaway N`, `closed`) and all bytes that
came down with it, as JSON. $KEY is a bearer of api.example.test, $FIELD stands in its x-widget-key, $CRUMB in its cookie
`session`."""
import json
import os
import struct
import sys

import hpack

from h2raw import (  # the words of a frame
    CANCEL, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PADDED, PING, PRIO,
    PRIORITY, RST, Closed, Conn, Failed, fields, text,
)

HOST = "api.example.test"
KEY, FIELD, CRUMB = os.environ["KEY"], os.environ["FIELD"], os.environ["CRUMB"]
BEARER = ("authorization", "Bearer " + KEY)
ALL = END_STREAM | END_HEADERS
decoder = None


def connect(host=HOST):
    global decoder
    decoder = hpack.Decoder()
    return Conn((host, 443, True))


def outcome(c, stream=1):
    """What became of a stream, and everything that came."""
    status, came, block = "?", b"", b""
    while True:
        try:
            kind, flags, on, payload = c.frame(60)
        except Closed:
            return status if status != "?" else "closed", came
        except Failed:
            return "nothing", came
        came += payload
        if kind in (HEADERS, CONTINUATION):
            block += payload
            if flags & END_HEADERS:
                fields_ = decoder.decode(block, raw=True)
                block = b""
                came += b"".join(n + b": " + v + b"\n" for n, v in fields_)
                status = dict(fields_).get(b":status", status.encode()).decode() if on == stream else status
        if kind == GOAWAY:
            code = struct.unpack(">I", payload[4:8])[0]
            return (status if status != "?" else "goaway %d" % code), came
        if kind == RST and on == stream:
            return (status if status != "?" else "reset %d" % struct.unpack(">I", payload)[0]), came
        if kind in (DATA, HEADERS) and on == stream and flags & END_STREAM and not block:
            return status, came


def tell(name, c, stream=1):
    what, came = outcome(c, stream)
    print(json.dumps([name, what, came.decode("latin-1")]), flush=True)
    c.close()


def path(name):
    return "/" + name.replace(" ", "-").replace(":", "")


def get(c, name, *more, **change):
    return c.request("GET", *more, path=path(name), **change)


def whole(name, *more, **change):
    """One request in one frame."""
    c = connect()
    c.send(HEADERS, ALL, 1, get(c, name, *more, **change))
    tell(name, c)


def cut(name, at_of, step=None):
    """The block of a request with the bearer, cut behind each of some bytes."""
    c = connect()
    block = get(c, name, BEARER)
    cuts = at_of(block)
    pieces = [block[a:b] for a, b in zip([0] + cuts, cuts + [len(block)])]
    c.send(HEADERS, END_STREAM | (END_HEADERS if len(pieces) == 1 else 0), 1, pieces[0])
    for i, piece in enumerate(pieces[1:], 2):
        c.send(CONTINUATION, END_HEADERS if i == len(pieces) else 0, 1, piece)
    tell(name, c)


def blocks():
    whole("control one frame", BEARER)
    at = lambda block, k: block.index(KEY.encode()) + k
    for k in range(0, len(KEY) + 1):
        cut("cut in the placeholder behind %d" % k, lambda b: [at(b, k)])
    cut("cut in the placeholder three times", lambda b: [at(b, 3), at(b, 9), at(b, 17)])
    cut("cut before the length of the value", lambda b: [at(b, -len("Bearer ") - 1)])
    cut("cut in the name of the field", lambda b: [b.index(b"authorization") + 5])
    cut("an empty continuation", lambda b: [at(b, 5), at(b, 5)])
    c = connect()
    block = get(c, "another frame between head and continuation", BEARER)
    c.send(HEADERS, END_STREAM, 1, block[:at(block, 5)])
    c.send(PING, 0, 0, b"are you?")
    c.send(CONTINUATION, END_HEADERS, 1, block[at(block, 5):])
    tell("another frame between head and continuation", c)
    c = connect()
    block = get(c, "another stream between head and continuation", BEARER)
    c.send(HEADERS, END_STREAM, 1, block[:at(block, 5)])
    c.send(HEADERS, ALL, 3, block)
    c.send(CONTINUATION, END_HEADERS, 1, block[at(block, 5):])
    tell("another stream between head and continuation", c)
    c = connect()
    block = get(c, "continuation on another stream", BEARER)
    c.send(HEADERS, END_STREAM, 1, block[:at(block, 5)])
    c.send(CONTINUATION, END_HEADERS, 3, block[at(block, 5):])
    tell("continuation on another stream", c)
    c = connect()
    block = get(c, "a block without an end", BEARER)
    c.send(HEADERS, END_STREAM, 1, block[:at(block, 20)])
    c.s.shutdown(1)
    tell("a block without an end", c)


def padding():
    for n in (0, 1, 255):
        c = connect()
        block = get(c, "padded by %d" % n, BEARER)
        c.send(HEADERS, ALL | PADDED, 1, bytes([n]) + block + bytes(n))
        tell("padded by %d" % n, c)
    pad = b"Bearer " + KEY.encode()
    c = connect()
    c.send(HEADERS, ALL | PADDED, 1, bytes([len(pad)]) + get(c, "a placeholder as padding") + pad)
    tell("a placeholder as padding", c)
    c = connect()
    c.send(HEADERS, END_HEADERS, 1, c.request("POST", BEARER, path="/a-placeholder-as-padding-of-data"))
    c.send(DATA, PADDED, 1, bytes([len(pad)]) + b"body" + pad)
    c.send(DATA, END_STREAM | PADDED, 1, bytes([len(pad)]) + pad)
    tell("a placeholder as padding of data", c)
    c = connect()
    block = get(c, "more padding than frame", BEARER)
    c.send(HEADERS, ALL | PADDED, 1, b"\xff" + block[:100])
    tell("more padding than frame", c)
    c = connect()
    block = get(c, "priority in the frame", BEARER)
    c.send(HEADERS, ALL | PRIO | PADDED, 1, b"\x05" + struct.pack(">IB", 0x80000000, 200) + block + bytes(5))
    tell("priority in the frame", c)
    c = connect()
    for i in range(20):
        c.send(PRIORITY, 0, 1, struct.pack(">IB", 3 + 2 * i, i))
    c.send(HEADERS, ALL, 1, get(c, "priority around it", BEARER))
    for i in range(20):
        c.send(PRIORITY, 0, 1, struct.pack(">IB", 3 + 2 * i, i))
    tell("priority around it", c)
    c = connect()
    block = get(c, "depends on itself", BEARER)
    c.send(HEADERS, ALL | PRIO, 1, struct.pack(">IB", 1, 1) + block)
    tell("depends on itself", c)
    whole("priority as a field", BEARER, ("priority", "u=1, i"))
    whole("a placeholder in priority", ("priority", "u=1, k=" + KEY))


def pseudo():
    def request(name, pairs):
        c = connect()
        c.send(HEADERS, ALL, 1, fields([(k, v.replace("$", path(name))) for k, v in pairs]))
        tell(name, c)
    usual = [(":method", "GET"), (":scheme", "https"), (":path", "$"), (":authority", HOST)]
    request("control: pseudo headers by hand", usual + [BEARER])
    request("path twice", usual + [(":path", "/other"), BEARER])
    request("path twice, the other first", [(":path", "/other")] + usual + [BEARER])
    request("authority twice", usual + [(":authority", "stranger.example.test"), BEARER])
    request("authority twice, the other first", [(":authority", "stranger.example.test")] + usual + [BEARER])
    request("authority twice, the same", usual + [(":authority", HOST), BEARER])
    request("method twice", usual + [(":method", "POST"), BEARER])
    request("scheme twice", usual + [(":scheme", "http"), BEARER])
    request("scheme http", [(k, "http" if k == ":scheme" else v) for k, v in usual] + [BEARER])
    request("a pseudo header behind the bearer", [usual[0], usual[1], usual[2], BEARER, usual[3]])
    request("an unknown pseudo header", usual + [(":authorization", "Bearer " + KEY)])
    request("a status", usual + [(":status", "200"), BEARER])
    request("another authority", [(k, "stranger.example.test" if k == ":authority" else v) for k, v in usual] + [BEARER])
    request("another host", usual + [("host", "stranger.example.test"), BEARER])
    request("host twice", usual + [("host", HOST), ("host", HOST), BEARER])
    request("a placeholder as authority", [(k, KEY + ".example.test" if k == ":authority" else v) for k, v in usual])
    request("a placeholder as scheme", [(k, KEY if k == ":scheme" else v) for k, v in usual])
    request("a placeholder as method", [(k, KEY if k == ":method" else v) for k, v in usual])
    request("a placeholder as protocol", [(":method", "CONNECT")] + usual[1:] + [(":protocol", KEY)])
    request("large letters", usual + [("Authorization", "Bearer " + KEY)])
    request("a line end in the name", usual + [("authorization\r\nx", "Bearer " + KEY)])
    request("a line end behind the placeholder", usual + [("authorization", "Bearer " + KEY + "\r\nx-stolen: " + KEY)])
    request("a NUL behind the placeholder", usual + [("authorization", "Bearer " + KEY + "\0")])
    request("a blank behind the placeholder", usual + [("authorization", "Bearer " + KEY + " ")])
    request("the bearer twice", usual + [BEARER, BEARER])
    request("a foreign bearer besides it", usual + [BEARER, ("authorization", "Bearer sk-foreign-credential-1")])
    request("connection names the field", usual + [BEARER, ("connection", "authorization")])
    request("te names the field", usual + [BEARER, ("te", "trailers, " + KEY)])


def crumbs():
    whole("control: a cookie in crumbs", ("cookie", "a=1"), ("cookie", "session=" + CRUMB), ("cookie", "b=2"))
    whole("a cookie cut in its placeholder", ("cookie", "session=" + CRUMB[:12]), ("cookie", CRUMB[12:]))
    whole("a cookie of another name", ("cookie", "other=" + CRUMB))
    whole("another cookie of its name", ("cookie", "session=" + CRUMB), ("cookie", "session=foreign-credential-2"))
    whole("control: the field", ("x-widget-key", FIELD))
    whole("two in one head", BEARER, ("x-widget-key", FIELD), ("cookie", "session=" + CRUMB))
    whole("the field has another's placeholder", ("x-widget-key", KEY))


def trailers():
    def post(name, *trail, head=(BEARER,)):
        c = connect()
        c.send(HEADERS, END_HEADERS, 1, c.request("POST", *head, path=path(name)))
        c.send(DATA, 0, 1, b"body")
        c.send(HEADERS, ALL, 1, fields(trail))
        tell(name, c)
    post("control: a trailer", ("x-sum", "42"))
    post("the bearer as trailer", BEARER)
    post("a foreign bearer as trailer", ("authorization", "Bearer sk-foreign-credential-3"))
    post("the field as trailer", ("x-widget-key", FIELD))
    post("a foreign field as trailer", ("x-widget-key", "sk-foreign-credential-4"))
    post("a foreign field as trailer with an underscore", ("x_widget_key", "sk-foreign-credential-5"))
    post("a foreign key of another kind as trailer", ("x-goog-api-key", "sk-foreign-credential-6"))
    post("a foreign field as trailer and none in the head", ("x-widget-key", "sk-foreign-credential-7"), head=())
    post("the cookie as trailer", ("cookie", "session=" + CRUMB))
    post("a placeholder in a trailer", ("x-sum", "sum " + KEY))
    post("a placeholder as a trailer's name", (KEY.lower(), "1"))
    post("a pseudo header as trailer", (":path", "/other"), BEARER)
    c = connect()
    c.send(HEADERS, END_HEADERS, 1, c.request("POST", BEARER, path="/a-second-head"))
    c.send(HEADERS, END_HEADERS, 1, c.request("POST", BEARER, path="/a-second-head"))
    c.send(DATA, END_STREAM, 1, b"body")
    tell("a second head", c)
    c = connect()
    c.send(HEADERS, END_HEADERS, 1, c.request("POST", BEARER, path="/a-second-head-and-its-end"))
    c.send(HEADERS, ALL, 1, c.request("POST", BEARER, path="/a-second-head-and-its-end"))
    tell("a second head and its end", c)


def tables():
    """HPACK: the field is put into the table once, and named by its number from then on."""
    c = connect()
    kept = b"\x40" + text("authorization") + text("Bearer " + KEY)  # with incremental indexing: entry 62
    for stream, name, block in ((1, "kept in the table", kept), (3, "by its number", b"\xbe"),
                                (5, "its name by number, a foreign value", b"\x0f\x2f" + text("Bearer sk-foreign-credential-8")),
                                (7, "its name by number, never indexed", b"\x1f\x2f" + text("Bearer " + KEY))):
        c.send(HEADERS, ALL, stream, get(c, name) + block)
        what, came = outcome(c, stream)
        print(json.dumps([name, what, came.decode("latin-1")]), flush=True)
    c.send(HEADERS, ALL, 9, b"\x20" + get(c, "by its number when the table was emptied") + b"\xbe")
    tell("by its number when the table was emptied", c, 9)
    c = connect()
    encoder = hpack.Encoder()
    for stream in (1, 3):
        name = "huffman %d" % stream
        c.send(HEADERS, ALL, stream, encoder.encode([(":method", "GET"), (":scheme", "https"), (":path", path(name)), (":authority", HOST), BEARER]))
        what, came = outcome(c, stream)
        print(json.dumps([name, what, came.decode("latin-1")]), flush=True)
    c.close()


def storm():
    """Heads that are taken back while the keeper is asked: no answer of the keeper may land in another's head."""
    c = connect()
    stream = 1
    for i in range(60):
        bearer = BEARER if i % 2 else ("x-widget-key", FIELD)
        c.send(HEADERS, ALL, stream, get(c, "taken back", bearer))
        c.send(RST, 0, stream, struct.pack(">I", CANCEL))
        stream += 2
    last = []
    for i in range(20):
        name = "served after the storm %s %d" % (("bearer", "field", "nothing")[i % 3], i)
        c.send(HEADERS, ALL, stream, get(c, name, *([BEARER], [("x-widget-key", FIELD)], [])[i % 3]))
        last.append((stream, name))
        stream += 2
    seen = {}
    want = {s for s, _ in last}
    while want:
        kind, flags, on, payload = c.frame(60)
        if kind == HEADERS:
            seen.setdefault(on, dict(decoder.decode(payload, raw=True)).get(b":status", b"?").decode())
        if flags & END_STREAM and kind in (DATA, HEADERS) or kind == RST:
            want.discard(on)
    for s, name in last:
        print(json.dumps([name, seen.get(s, "?"), ""]), flush=True)
    c.close()


def answers():
    for name in ("continued", "padding", "bytes", "trailed", "hinted", "unknown", "pushed"):
        host = name + ".example.test"
        c = connect(host)
        c.send(HEADERS, ALL, 1, c.request("GET", BEARER, path="/answer-" + name))
        tell("an answer: " + name, c)


{"blocks": blocks, "padding": padding, "pseudo": pseudo, "crumbs": crumbs, "trailers": trailers, "tables": tables, "storm": storm,
 "answers": answers}[sys.argv[1]]()
