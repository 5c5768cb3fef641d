#!/usr/bin/env python3
"""flood_origin.py - an origin that means to stop or bloat the door: the path says how. Everything is bounded in
count; a write that nobody takes ends after a while.

usage: flood_origin.py h1|h2 [CERT KEY]    the port is printed
"""
import base64
import hashlib
import socketserver
import ssl
import struct
import sys
import time

from flood_bodies import CODED, body
from h2raw import (ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PREFACE, RST, SETTINGS, WINDOW,
                   fields, settings)

MANY = 20_000


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 4096

    def handle_error(self, request, client_address):
        pass


class Base(socketserver.BaseRequestHandler):
    def setup(self):
        self.request.settimeout(30)
        if len(sys.argv) > 3:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(sys.argv[2], sys.argv[3])
            context.set_alpn_protocols([{"h1": "http/1.1"}.get(sys.argv[1], "h2")])
            self.request = context.wrap_socket(self.request, server_side=True)

    def send(self, data):
        self.request.sendall(data)


class H1(Base):
    def handle(self):
        data = b""
        while True:
            while b"\r\n\r\n" not in data:
                more = self.request.recv(65536)
                if not more:
                    return
                data += more
            head, data = data.split(b"\r\n\r\n", 1)
            size = [int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
            left = size[0] - len(data) if size else 0
            while left > 0:
                left -= len(self.request.recv(65536) or b"x" * left)
            data = b"" if size else data
            self.answer(head.split(b" ")[1].decode()[1:], head)

    def answer(self, case, head):
        if case in CODED:
            coding, coded = body(case)
            self.send(b"HTTP/1.1 200 OK\r\ncontent-encoding: %s\r\ncontent-length: %d\r\n\r\n" % (coding.encode(), len(coded)) + coded)
        elif case in ("hold-br", "hold-zstd"):  # the window is made, and the end never comes
            coding, coded = body(case[5:])
            self.send(b"HTTP/1.1 200 OK\r\ncontent-encoding: %s\r\ncontent-length: 100000\r\n\r\n" % coding.encode() + coded[:-4])
            self.request.recv(1)
        elif case.endswith("token"):  # most of an answer with a token in it, and then silence
            self.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 260000\r\n\r\n" + b" " * 250_000)
            self.request.settimeout(120)
            self.request.recv(1)
        elif case == "slow":
            self.send(b"HTTP/1.1 200 OK\r\ncontent-length: 40\r\n\r\n")
            for _ in range(40):
                self.send(b"x")
                time.sleep(0.02)
        elif case == "interim":
            for _ in range(MANY):
                self.send(b"HTTP/1.1 102 Processing\r\n\r\n")
            self.send(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        elif case == "trailers":
            self.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n")
            for i in range(MANY):
                self.send(b"x-%d: %s\r\n" % (i, b"y" * 100))
        elif case == "head":
            self.send(b"HTTP/1.1 200 OK\r\n")
            for i in range(MANY):
                self.send(b"x-%d: %s\r\n" % (i, b"y" * 100))
        elif case == "line":
            self.send(b"HTTP/1.1 200 OK\r\nx: ")
            for _ in range(1000):
                self.send(b"y" * 10000)
        elif case == "chunks":
            self.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 100_000 + b"0\r\n\r\n")
        elif case == "ws":
            key = [line.split(b":")[1].strip() for line in head.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key")][0]
            accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
            self.send(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: " + accept + b"\r\n\r\n")
            self.send(b"\x89\x00" * 200_000 + b"\x88\x02\x03\xe8")
        else:
            self.send(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello")


class H2(Base):
    def frame(self, kind, flags, stream, data=b""):
        self.send(struct.pack(">I", len(data))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + data)

    def need(self, n):
        while len(self.data) < n:
            more = self.request.recv(65536)
            if not more:
                raise EOFError
            self.data += more
        out, self.data = self.data[:n], self.data[n:]
        return out

    def handle(self):
        self.data = b""
        self.need(len(PREFACE))
        self.frame(SETTINGS, 0, 0, settings())
        while True:
            head = self.need(9)
            size, kind, flags, stream = int.from_bytes(head[:3], "big"), head[3], head[4], int.from_bytes(head[5:], "big")
            data = self.need(size)
            if kind == SETTINGS and not flags & ACK:
                self.frame(SETTINGS, ACK, 0)
            elif kind == HEADERS:
                self.answer(stream, data)

    def answer(self, stream, data):
        ok = fields([(":status", "200")])
        case = next((c for c in ("ping", "settings", "continuation", "bomb", "empty", "window", "interim", "reset", "trailers")
                     if c.encode() in data), "")
        if case == "ping":
            for _ in range(MANY):
                self.frame(PING, 0, 0, b"12345678")
        elif case == "settings":
            for _ in range(MANY):
                self.frame(SETTINGS, 0, 0, settings((4, 65535)))
        elif case == "continuation":
            self.frame(HEADERS, 0, stream, ok)
            for _ in range(MANY):
                self.frame(CONTINUATION, 0, stream, fields([("x", "y" * 100)]))
        elif case == "bomb":  # one large field in the table, then named again and again
            self.frame(HEADERS, END_HEADERS, stream, ok + b"\x40\x01x\x7f\xa1\x1e" + b"y" * 4000 + b"\xbe" * 16000)
        elif case == "empty":
            self.frame(HEADERS, END_HEADERS, stream, ok)
            for _ in range(MANY):
                self.frame(DATA, 0, stream)
        elif case == "window":
            for _ in range(MANY):
                self.frame(WINDOW, 0, 0, b"\0\0\0\1")
        elif case == "interim":
            for _ in range(MANY):
                self.frame(HEADERS, END_HEADERS, stream, fields([(":status", "103"), ("link", "<a>")]))
        elif case == "reset":
            self.frame(RST, 0, stream, b"\0\0\0\7")  # refused: try again
        elif case == "trailers":
            self.frame(HEADERS, END_HEADERS, stream, ok)
            for _ in range(MANY):
                self.frame(HEADERS, END_HEADERS, stream, fields([("x", "y")]))
        self.frame(HEADERS, END_HEADERS, stream, ok)
        self.frame(DATA, END_STREAM, stream, b"hello")


server = Server(("127.0.0.1", 0), {"h1": H1, "h2": H2}[sys.argv[1]])
print(server.server_address[1], flush=True)
server.serve_forever()
