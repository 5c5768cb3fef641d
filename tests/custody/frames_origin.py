#!/usr/bin/env python3
"""frames_origin.py STATE CERT KEY - an HTTP/2 origin for custody_frames.sh that writes down what reaches it, and sends
requests back, says goodbye or waits by the name it is called by. Prints its port.

STATE/seen has one line of JSON per request: the first label of its host, the number of its connection, its fields
(with "!" in front of the name where the sender said never to index them), its body and its trailers."""
import json
import os
import socket
import ssl
import struct
import sys
import threading
import time

import hpack

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "door"))
from h2raw import (  # the words of a frame
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, NO_ERROR, PADDED, PING,
    PREFACE, PRIO, PUSH, REFUSED, RST, SETTINGS, WINDOW, Closed, Conn, Failed, fields,
)

state = sys.argv[1]
OK = b"\x88"  # :status 200 in HPACK's table
lock = threading.Lock()
connections, answered = {}, {}


def text(b):
    return b.decode("latin-1") if isinstance(b, bytes) else b


class Origin:
    def __init__(self, s, name):
        self.s, self.buf, self.name = s, b"", name
        self.decoder = hpack.Decoder()
        self.block, self.open = b"", {}
        with lock:
            self.number = connections[name] = connections.get(name, 0) + 1
        self.answer = getattr(self, "do_" + name.replace("-", "_"), self.hello)

    def raw(self, b):
        self.s.sendall(b)

    send = Conn.send
    frame = Conn.frame

    def fields(self, block):
        return [("!" if isinstance(h, hpack.NeverIndexedHeaderTuple) else "") + text(h[0]) + ": " + text(h[1])
                for h in self.decoder.decode(block, raw=True)]

    def run(self):
        while len(self.buf) < len(PREFACE):
            more = self.s.recv(65536)
            if not more:
                return
            self.buf += more
        self.buf = self.buf[len(PREFACE):]
        self.send(SETTINGS, 0, 0)
        while True:
            kind, flags, stream, payload = self.frame(60)
            if kind == SETTINGS and not flags & ACK:
                self.send(SETTINGS, ACK, 0)
            elif kind == PING and not flags & ACK:
                self.send(PING, ACK, 0, payload)
            elif kind == RST:
                self.open.pop(stream, None)
            elif kind in (HEADERS, CONTINUATION):
                if kind == HEADERS:
                    self.block, self.flags = b"", flags
                    if flags & PADDED:
                        payload = payload[1:len(payload) - payload[0]]
                    payload = payload[5:] if flags & PRIO else payload
                self.block += payload
                if not flags & END_HEADERS:
                    continue
                r = self.open.setdefault(stream, {"host": self.name, "connection": self.number, "fields": [], "body": "", "trailers": []})
                r["trailers" if r["fields"] else "fields"] += self.fields(self.block)
                if self.flags & END_STREAM:
                    self.whole(stream)
            elif kind == DATA and stream in self.open:
                if flags & PADDED:
                    payload = payload[1:len(payload) - payload[0]]
                self.open[stream]["body"] += payload.decode("latin-1")
                self.send(WINDOW, 0, 0, struct.pack(">I", max(1, len(payload))))
                if flags & END_STREAM:
                    self.whole(stream)

    def whole(self, stream):
        r = self.open.pop(stream)
        with lock:
            answered[self.name] = answered.get(self.name, 0) + 1
            with open(os.path.join(state, "seen"), "a", encoding="utf-8") as f:
                f.write(json.dumps(r) + "\n")
        self.shown = "".join(x for x in r["fields"] if "authorization:" in x).partition("Bearer ")[2].encode("latin-1")
        self.answer(stream)

    def hello(self, stream, more=b"", body=b"hello\n"):
        self.send(HEADERS, END_HEADERS, stream, OK + more)
        self.send(DATA, END_STREAM, stream, body)

    # --- requests that have to be sent again ---

    def do_goaway(self, stream):
        if self.number > 1:
            return self.hello(stream)
        return self.send(GOAWAY, 0, 0, struct.pack(">II", 0, NO_ERROR) + b"debug " + self.shown)

    def do_goaway_always(self, stream):
        self.send(GOAWAY, 0, 0, struct.pack(">II", 0, NO_ERROR) + b"debug " + self.shown)

    def do_refused(self, stream):
        if answered[self.name] > 1:
            return self.hello(stream)
        return self.send(RST, 0, stream, struct.pack(">I", REFUSED))

    def do_refused_always(self, stream):
        """One after the other, slowly, and never more than a file allows at a time: whoever looks can act in between."""
        n = answered[self.name]
        while not os.path.exists(os.path.join(state, "refuse-%d" % n)):
            time.sleep(0.02)
        self.send(RST, 0, stream, struct.pack(">I", REFUSED))

    def do_hangup(self, stream):
        """The first request of a connection is answered, the second is hung up on."""
        if stream == 1:
            return self.hello(stream)
        raise Closed()

    # --- answers that bring the value back in odd frames ---

    def do_continued(self, stream):
        block = OK + fields([("x-echo", self.shown)])
        at = len(block) - len(self.shown)
        cuts = [0, 1, at - 3, at, at + 9, at + 10, at + 20, len(block)]  # more frames than eight are a flood to many
        for i in range(len(cuts) - 1):
            self.send(CONTINUATION if i else HEADERS, END_HEADERS if i == len(cuts) - 2 else 0, stream, block[cuts[i]:cuts[i + 1]])
        self.send(DATA, END_STREAM, stream, b"hello\n")

    def do_padding(self, stream):
        self.send(HEADERS, END_HEADERS | PADDED, stream, bytes([len(self.shown)]) + OK + self.shown)
        self.send(DATA, PADDED, stream, bytes([len(self.shown)]) + b"hel" + self.shown)
        self.send(DATA, END_STREAM | PADDED, stream, bytes([len(self.shown)]) + b"lo\n" + self.shown)

    def do_bytes(self, stream):
        self.send(HEADERS, END_HEADERS, stream, OK)
        for b in b"<" + self.shown + b">":
            self.send(DATA, PADDED, stream, b"\x02" + bytes([b]) + b"\0\0")
        self.send(DATA, END_STREAM, stream)

    def do_trailed(self, stream):
        self.send(HEADERS, END_HEADERS, stream, OK)
        self.send(DATA, 0, stream, b"hello\n")
        self.send(HEADERS, END_HEADERS | END_STREAM, stream, fields([("x-sum", self.shown), ("grpc-message", b"%" + self.shown)]))

    def do_hinted(self, stream):
        self.send(HEADERS, END_HEADERS, stream, b"\x08\x03103" + fields([("link", b"</" + self.shown + b">")]))
        self.hello(stream)

    def do_unknown(self, stream):
        self.send(0x0a, 0, stream, struct.pack(">H", 0) + self.shown)  # ALTSVC
        self.send(0x0c, 0, 0, struct.pack(">H", len(self.shown)) + self.shown)  # ORIGIN
        self.send(0xee, 0, stream, self.shown)
        self.send(PING, 0, 0, self.shown[-8:])
        self.hello(stream)

    def do_pushed(self, stream):
        self.send(PUSH, END_HEADERS, stream, struct.pack(">I", 2) + fields([(":method", "GET"), (":scheme", "https"), (":authority", "x.example.test"), (":path", b"/" + self.shown)]))
        self.hello(stream)


class Socket(ssl.SSLSocket):
    sni = ""


def serve(s, context):
    t = None
    try:
        s.settimeout(60)
        t = context.wrap_socket(s, server_side=True, do_handshake_on_connect=False)
        t.do_handshake()
        t.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        Origin(t, t.sni).run()
    except (OSError, Closed, Failed, ssl.SSLError, ValueError):
        pass
    finally:
        (t or s).close()


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.sslsocket_class = Socket
    context.load_cert_chain(*sys.argv[2:4])
    context.set_alpn_protocols(["h2"])

    def on_sni(t, name, _):
        t.sni = (name or "").split(".")[0]

    context.sni_callback = on_sni
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0], context), daemon=True).start()


main()
