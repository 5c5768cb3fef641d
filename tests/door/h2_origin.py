#!/usr/bin/env python3
"""h2_origin.py - an HTTP/2 server for tests of the door that is right, odd or wrong by the name it is called by: the
first label of SNI chooses one behaviour of `Origin`.

usage: h2_origin.py CERT KEY   prints its port
"""
import socket
import ssl
import struct
import sys
import threading

from h2raw import (  # the words of a frame
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, INTERNAL, NO_ERROR, PADDED,
    PING, PREFACE, PUSH, REFUSED, RST, SETTINGS, Closed, Conn, Failed, fields, settings,
)

OK = b"\x88"  # :status 200 in HPACK's table
seen = {}
lock = threading.Lock()


class Origin:
    def __init__(self, s, name, number):
        self.s, self.buf, self.name, self.number = s, b"", name, number
        self.answers = getattr(self, "do_" + name.replace("-", "_"), self.do_hello)

    def raw(self, b):
        self.s.sendall(b)

    send = Conn.send
    frame = Conn.frame

    def run(self):
        if self.name == "garbage":
            self.raw(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello")
            return
        while len(self.buf) < len(PREFACE):
            self.buf += self.s.recv(65536)
        self.buf = self.buf[len(PREFACE):]
        self.send(SETTINGS, 0, 0, settings((3, 1)) if self.name == "one-at-a-time" else b"")
        while True:
            kind, flags, stream, payload = self.frame(30)
            if kind == SETTINGS and not flags & ACK:
                self.send(SETTINGS, ACK, 0)
            elif kind == PING and not flags & ACK:
                self.send(PING, ACK, 0, payload)
            elif kind in (DATA, HEADERS) and flags & END_STREAM:
                if self.answers(stream) is False:
                    return

    def hello(self, stream, more=b"", body=b"hello\n"):
        self.send(HEADERS, END_HEADERS, stream, OK + more)
        self.send(DATA, END_STREAM, stream, body)

    do_hello = do_one_at_a_time = hello

    def do_interim(self, stream):
        self.send(HEADERS, END_HEADERS, stream, b"\x08\x03103" + fields([("link", "</x>")]))
        self.hello(stream)

    def do_trailers(self, stream):
        self.send(HEADERS, END_HEADERS, stream, OK)
        self.send(DATA, 0, stream, b"hello\n")
        self.send(HEADERS, END_HEADERS | END_STREAM, stream, fields([("x-sum", "42"), ("content-type", "x")]))

    def do_goodbye(self, stream):
        """The first connection refuses everything politely; the next is good."""
        if self.number > 1:
            return self.hello(stream)
        self.send(GOAWAY, 0, 0, struct.pack(">II", 0, NO_ERROR))

    def do_refused_once(self, stream):
        if stream > 1 or self.number > 1:
            return self.hello(stream)
        self.send(RST, 0, stream, struct.pack(">I", REFUSED))

    def do_padded(self, stream):
        self.send(HEADERS, END_HEADERS, stream, OK)
        for i in range(200):
            self.send(DATA, PADDED, stream, b"\xff" + b"x" * 100 + bytes(255))
        self.send(DATA, END_STREAM, stream, b"")

    # --- wrong ---

    def do_refused(self, stream):
        self.send(RST, 0, stream, struct.pack(">I", REFUSED))

    def do_reset(self, stream):
        self.send(HEADERS, END_HEADERS, stream, OK)
        self.send(DATA, 0, stream, b"hel")
        self.send(RST, 0, stream, struct.pack(">I", INTERNAL))

    def do_hang_up(self, stream):
        return False

    def do_cut(self, stream):
        self.send(HEADERS, END_HEADERS, stream, OK)
        self.send(DATA, 0, stream, b"hel")
        return False

    def do_short(self, stream):
        self.hello(stream, fields([("content-length", "10")]))

    def do_long(self, stream):
        self.hello(stream, fields([("content-length", "2")]))

    def do_no_status(self, stream):
        self.send(HEADERS, END_HEADERS | END_STREAM, stream, fields([("x", "y")]))

    def do_large_letters(self, stream):
        self.hello(stream, fields([("X-Test", "y")]))

    def do_newline(self, stream):
        self.hello(stream, fields([("x-test", "y\r\nset-cookie: a=b")]))

    def do_connection(self, stream):
        self.hello(stream, fields([("transfer-encoding", "chunked")]))

    def do_huge_head(self, stream):
        self.send(HEADERS, 0, stream, OK)
        for i in range(6):
            self.send(CONTINUATION, END_HEADERS if i == 5 else 0, stream, fields([("x-%d" % i, "y" * 15000)]))

    def do_push(self, stream):
        self.send(PUSH, END_HEADERS, stream, struct.pack(">I", 2) + fields([(":method", "GET")]))
        self.hello(stream)

    def do_switch(self, stream):
        self.send(HEADERS, END_HEADERS, stream, b"\x08\x03101")

    def do_flood(self, stream):
        for i in range(5000):
            self.send(PING, 0, 0, b"12345678")

    def do_window_overrun(self, stream):
        self.send(HEADERS, END_HEADERS, stream, OK)
        for i in range(2000):
            self.send(DATA, 0, stream, bytes(16384))


def serve(s, context):
    t = s
    try:
        s.settimeout(30)
        t = context.wrap_socket(s, server_side=True, do_handshake_on_connect=False)
        t.do_handshake()
        name = t.sni
        with lock:
            seen[name] = seen.get(name, 0) + 1
            number = seen[name]
        Origin(t, name, number).run()
    except (OSError, Closed, Failed, ssl.SSLError, AttributeError, ValueError):
        pass
    finally:
        t.close() # whoever keeps the connection has to see that nobody reads it any more


class Socket(ssl.SSLSocket):
    sni = ""


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.sslsocket_class = Socket
    context.load_cert_chain(*sys.argv[1:3])
    context.set_alpn_protocols(["h2"])

    def on_sni(t, name, _):
        t.sni = (name or "").split(".")[0]

    context.sni_callback = on_sni
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0], context), daemon=True).start()


if __name__ == "__main__":
    main()
