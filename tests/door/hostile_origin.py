#!/usr/bin/env python3
"""hostile_origin.py - an origin that means harm: every answer is right, broken, cut off, too early, too long or
missing, by dice. tests/door_hostile.sh runs it behind a door that has to survive it.

usage: hostile_origin.py SEED h1|h2 [CERT KEY]    the port is printed
"""
import random
import socket
import socketserver
import ssl
import struct
import sys
import time

from h2raw import (ACK, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, PREFACE, RST, SETTINGS, WINDOW, fields,
                   settings)

seeds = random.Random(sys.argv[1] if len(sys.argv) > 1 else "1")
PARTS = [b"\r\n", b"\r\n\r\n", b"\0", b"\n", b"0\r\n\r\n", b"ffffffffffffffff\r\n", b"HTTP/1.1 200 OK\r\n",
         b"content-length: 5\r\n", b"transfer-encoding: chunked\r\n", b"connection: close\r\n", b": x\r\n", b"\xff" * 9]


def answers(dice):
    body = dice.randbytes(dice.choice([0, 1, 100, 5000, 70000]))
    size = len(body)
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(body[i:i + 999]), body[i:i + 999]) for i in range(0, size, 999))
    return [
        b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % size + body,
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + chunks + b"0\r\nx-sum: 1\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\n" + body,
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 304 Not Modified\r\ncontent-length: 10\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n" * dice.choice([1, 50]) + b"HTTP/1.1 404 No\r\ncontent-length: 2\r\n\r\nno",
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok" * 2,
        b"HTTP/1.1 999 ?\r\n\r\n",
    ]


def broken(dice, data):
    data = bytearray(data)
    for _ in range(dice.choice([0, 0, 1, 3])):
        at = dice.randrange(len(data) + 1)
        data[at:at + dice.choice([0, 1, 7])] = dice.choice(PARTS)
    return bytes(data[:dice.randrange(len(data) + 1)]) if dice.random() < 0.2 else bytes(data)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request, client_address):
        pass


class Base(socketserver.BaseRequestHandler):
    def handle(self):
        self.dice = random.Random(seeds.random())
        self.request.settimeout(5)
        try:
            self.serve()
        except (OSError, ValueError):
            pass
        if self.dice.random() < 0.3:
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def pieces(self, data):
        while data:
            n = self.dice.choice([1, 10, 1000, 100000])
            self.request.sendall(data[:n])
            data = data[n:]
            if self.dice.random() < 0.02:
                time.sleep(0.02)


class One(Base):
    def serve(self):
        got = b""
        if self.dice.random() < 0.03:  # before anybody asked
            self.pieces(self.dice.choice(answers(self.dice)))
        while True:
            while b"\r\n\r\n" not in got and self.dice.random() < 0.95:
                part = self.request.recv(65536)
                if not part:
                    return
                got += part
            got = b""  # bodies are taken for requests, which is hostile enough
            if self.dice.random() < 0.05:
                return
            self.pieces(broken(self.dice, self.dice.choice(answers(self.dice))))


class Two(Base):
    def frame(self, kind, flags, stream, payload=b""):
        self.request.sendall(struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload)

    def take(self, n):
        while len(self.got) < n:
            part = self.request.recv(65536)
            if not part:
                raise OSError
            self.got += part
        out, self.got = self.got[:n], self.got[n:]
        return out

    def answer(self, stream):
        dice, kind = self.dice, self.dice.randrange(14)
        head = fields([(":status", dice.choice(["200", "204", "404", "101", "103", "2", "x"] + ["200"] * 5))])
        if kind < 6:
            self.frame(HEADERS, END_HEADERS, stream, head)
            for _ in range(dice.choice([0, 1, 5])):
                self.frame(DATA, 0, stream, dice.randbytes(dice.choice([1, 1000, 16384])))
            self.frame(DATA, END_STREAM, stream)
        elif kind == 6:
            self.frame(HEADERS, END_HEADERS | END_STREAM, stream, head)
        elif kind == 7:
            self.frame(RST, 0, stream, struct.pack(">I", dice.choice([0, 1, 2, 7, 8, 11])))
        elif kind == 8:
            self.frame(GOAWAY, 0, 0, struct.pack(">II", dice.choice([0, stream, 2**31 - 1]), 0))
        elif kind == 9:
            self.frame(HEADERS, END_HEADERS, stream, head + fields([(dice.choice(["x-a", "X-A", ":path", "connection"]), "b")]))
        elif kind == 10:
            self.frame(dice.randrange(12), dice.randrange(256), dice.choice([0, stream, 2, stream + 2]), dice.randbytes(dice.randrange(40)))
        elif kind == 11:
            self.frame(SETTINGS, 0, 0, settings((dice.choice([1, 3, 4, 5, 8]), dice.choice([0, 1, 65535, 2**31 - 1]))))
        elif kind == 12:
            for _ in range(dice.choice([1, 100])):
                self.frame(PING, 0, 0, b"12345678")
        # 13: never

    def serve(self):
        self.got = b""
        if isinstance(self.request, ssl.SSLSocket):
            self.request.do_handshake()
        self.take(len(PREFACE))
        self.frame(SETTINGS, 0, 0, settings((3, self.dice.choice([0, 1, 2, 100])), (4, self.dice.choice([0, 10, 65535]))))
        self.frame(WINDOW, 0, 0, struct.pack(">I", 1 << 20))
        while True:
            head = self.take(9)
            kind, flags, stream = head[3], head[4], struct.unpack(">I", head[5:])[0]
            self.take(int.from_bytes(head[:3], "big"))
            if kind == SETTINGS and not flags & ACK:
                self.frame(SETTINGS, ACK, 0)
            elif kind == HEADERS:
                self.answer(stream)
            if self.dice.random() < 0.01:
                return


def main():
    _, which, *tls = sys.argv[1:]
    server = Server(("127.0.0.1", 0), Two if which == "h2" else One)
    if tls:
        ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        ctx.load_cert_chain(*tls)
        ctx.set_alpn_protocols(["h2" if which == "h2" else "http/1.1"])
        server.socket = ctx.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
