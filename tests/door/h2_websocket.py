#!/usr/bin/env python3
"""h2_websocket.py - a WebSocket on a stream of HTTP/2 (RFC 8441), frame by frame.

usage: h2_websocket.py HOST PATH   prints what comes back for "hello" and for a message in two parts.
"""
import sys

from h2raw import (  # the words of a frame
    DATA, END_HEADERS, END_STREAM, HEADERS, RST, Conn, Failed, fields,
)

MASK = b"\x37\xfa\x21\x3d"


def frame(first, payload):
    return bytes([first, 0x80 | len(payload)]) + MASK + bytes(b ^ MASK[i % 4] for i, b in enumerate(payload))


def main():
    host, path = sys.argv[1:3]
    c = Conn((host, 443, True))
    print("offered", c.theirs.get(8))
    c.send(HEADERS, END_HEADERS, 1, fields([
        (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"), (":path", path),
        (":authority", host), ("sec-websocket-version", "13"), ("origin", "https://" + host)]))
    f = c.until(lambda f: f[2] == 1 and f[0] in (HEADERS, RST))
    print("agreed", f[0] == HEADERS and f[3][:1] == b"\x88")  # 0x88 is :status 200
    if f[0] != HEADERS or f[3][:1] != b"\x88":
        return 1
    got = b""

    def take(n):
        nonlocal got
        while len(got) < n:
            f = c.until(lambda f: f[0] in (DATA, RST))
            if f[0] == RST:
                raise Failed("reset")
            got += f[3]
        out, got = got[:n], got[n:]
        return out

    for parts in ([frame(0x81, b"hello")], [frame(0x01, b"in two"), frame(0x80, b" parts")]):
        for p in parts:
            c.send(DATA, 0, 1, p)
        words, is_final = b"", False
        while not is_final:
            head = take(2)
            words, is_final = words + take(head[1]), head[0] & 0x80
        print("echoed", words.decode())
    c.send(DATA, 0, 1, frame(0x88, b"\x03\xe8"))
    head = take(2)
    print("closed", int.from_bytes(take(head[1])[:2], "big"))
    c.send(DATA, END_STREAM, 1, b"")
    c.ended()
    c.alive()
    print("and the connection lives")


if __name__ == "__main__":
    sys.exit(main())
