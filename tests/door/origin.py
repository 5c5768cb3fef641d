#!/usr/bin/env python3
"""origin.py - a server for tests of the door whose every answer is written byte by byte, so that it can
be right, odd or wrong on purpose. nginx is the honest origin; this one is for what nginx does not do.

usage: origin.py PORT CERT KEY   (TLS)     origin.py PORT   (plain)
PORT 0 picks one; the port is printed. Every path below is one behaviour.
"""
import base64
import hashlib
import json
import select
import socket
import socketserver
import ssl
import struct
import sys
import threading
import time

acks = {}
seen = []  # requests that came where none should
acks_changed = threading.Condition()


class Handler(socketserver.StreamRequestHandler):
    timeout = 120

    def send(self, data):
        self.wfile.write(data if isinstance(data, bytes) else data.encode())
        self.wfile.flush()

    def answer(self, status, body=b"", fields=""):
        if isinstance(body, str):
            body = body.encode()
        self.send(f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\n{fields}\r\n".encode() + body)

    def read_body(self, headers):
        if headers.get("transfer-encoding") == "chunked":
            body = b""
            while True:
                size = int(self.rfile.readline().split(b";")[0], 16)
                data = self.rfile.read(size)
                self.rfile.readline()
                if size == 0:
                    return body
                body += data
        return self.rfile.read(int(headers.get("content-length", 0)))

    def handle(self):
        try:
            while self.one():
                pass
        except (OSError, ValueError):
            pass

    def one(self):
        line = self.rfile.readline(65537)
        if not line:
            return False
        method, target, _ = line.decode().split()
        headers, raw = {}, []
        while True:
            field = self.rfile.readline(65537).decode().rstrip("\r\n")
            if not field:
                break
            name, value = field.split(":", 1)
            raw.append([name, value.strip()])
            headers[name.lower()] = value.strip()
        path = target.split("?")[0]
        if "smuggled" in target:
            seen.append("smuggled")
        name = path.strip("/").split("/")[0].replace("-", "_") or "hello"
        body = b"" if name in ("early_answer", "websocket") else self.read_body(headers)
        behave = getattr(self, "do_" + name, None)
        if behave is None:
            self.answer("404 Not Found", "no such behaviour\n")
            return True
        return behave(method, target, headers, raw, body) is not False

    # --- right -----------------------------------------------------------------------------------

    def do_hello(self, method, *_):
        self.answer("200 OK", b"" if method == "HEAD" else "hello\n", "content-type: text/plain\r\n")

    def do_echo(self, method, target, headers, raw, body):
        """What arrived, as JSON: what the door forwarded is what is tested."""
        out = {"method": method, "target": target, "fields": raw, "body": body.decode("latin-1"),
               "sha256": hashlib.sha256(body).hexdigest(), "length": len(body)}
        self.answer("200 OK", json.dumps(out) + "\n", "content-type: application/json\r\n")

    def do_chunked(self, *_):
        self.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n")
        for part in ("one ", "two ", "three\n"):
            self.send(f"{len(part):x};ext=1\r\n{part}\r\n")
        self.send("0\r\nx-sum: 3\r\ncontent-length: 7\r\n\r\n")

    def do_to_close(self, *_):
        self.send("HTTP/1.1 200 OK\r\n\r\nuntil the end\n")
        if isinstance(self.connection, ssl.SSLSocket):
            self.connection.unwrap()  # an end without a goodbye would be a cut
        return False

    def do_hints(self, *_):
        self.send("HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n")
        self.do_hello("GET")

    def do_slow(self, *_):
        time.sleep(1)
        self.do_hello("GET")

    def do_big(self, method, target, *_):
        n = int(target.rsplit("/", 1)[1])
        self.send(f"HTTP/1.1 200 OK\r\ncontent-length: {n}\r\n\r\n")
        block = bytes(range(256)) * 256
        while n > 0:
            self.send(block[: min(n, len(block))])
            n -= len(block)

    def do_sse(self, method, target, *_):
        """Event n + 1 is sent only after the client has acknowledged event n (POST /ack/KEY/n)."""
        key = target.split("/")[2]
        self.send("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        for n in range(1, 21):
            event = f"id: {n}\ndata: {{\"n\":{n}}}\n\n"
            self.send(f"{len(event):x}\r\n{event}\r\n")
            with acks_changed:
                if not acks_changed.wait_for(lambda: acks.get(key, 0) >= n, timeout=100):
                    return False
        self.send("0\r\n\r\n")

    def do_ack(self, method, target, *_):
        _, _, key, n = target.split("/")
        with acks_changed:
            acks[key] = int(n)
            acks_changed.notify_all()
        self.answer("204 No Content")

    def do_websocket(self, method, target, headers, *_):
        """Echoes text messages, pongs pings, closes on "bye"; "/websocket/wrong" proves nothing."""
        proof = hashlib.sha1((headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode())
        accept = base64.b64encode(proof.digest()).decode()
        if target.endswith("/wrong"):
            accept = "AAAA" + accept[4:]
        self.send("HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n"
                  f"sec-websocket-accept: {accept}\r\n\r\n")
        while True:
            first, second = self.rfile.read(2)
            n = second & 0x7F
            if n == 126:
                n, = struct.unpack(">H", self.rfile.read(2))
            elif n == 127:
                n, = struct.unpack(">Q", self.rfile.read(8))
            if not second & 0x80:
                return False  # a client's frame must be masked
            mask = self.rfile.read(4)
            data = bytes(b ^ mask[i % 4] for i, b in enumerate(self.rfile.read(n)))
            opcode = first & 15
            if opcode == 8 or data == b"bye":
                self.send(b"\x88\x02\x03\xe8")
                return False
            out = 0x8A if opcode == 9 else first  # parts of a message come back as parts
            if target.endswith("/masked"):
                self.send(bytes([out, 0x80 | len(data)]) + b"\0\0\0\0" + data)
                continue
            head = bytes([out, n]) if n < 126 else bytes([out, 126]) + struct.pack(">H", n)
            self.send(head + data)

    # --- wrong -----------------------------------------------------------------------------------

    def do_cut(self, *_):
        self.send("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nonly this")
        return False

    def do_reset(self, *_):
        self.send("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nonly this")
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False

    def do_twice(self, *_):
        """A second answer that nobody asked for, in the same packet."""
        self.send("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nfirst\n"
                  "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npoisoned\n")

    def do_nothing(self, *_):
        return False

    def do_two_lengths(self, *_):
        self.send("HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello\n")

    def do_length_and_chunks(self, *_):
        self.send("HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")

    def do_folded(self, *_):
        self.send("HTTP/1.1 200 OK\r\nx-a: b\r\n c\r\ncontent-length: 0\r\n\r\n")

    def do_huge_head(self, *_):
        self.send("HTTP/1.1 200 OK\r\n")
        for i in range(10000):
            self.send(f"x-{i}: " + "y" * 1000 + "\r\n")
        self.send("content-length: 0\r\n\r\n")

    def do_switch(self, *_):
        self.send("HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\r\n")

    def do_garbage(self, *_):
        self.send(b"\x00\x01\x02 not http at all\r\n\r\n")
        return False

    def do_early_answer(self, method, target, headers, *_):
        self.send("HTTP/1.1 413 Content Too Large\r\ncontent-length: 4\r\nconnection: close\r\n\r\nbig\n")
        # Nothing more is read. What comes after our end is answered by a reset, which must not overtake the answer.
        over = select.poll()
        over.register(self.connection.fileno(), select.POLLRDHUP)
        over.poll(5000)
        return False

    def do_refuse_slowly(self, *_):
        """No to a WebSocket, with a body that takes its time; whatever comes meanwhile is read as requests."""
        self.send("HTTP/1.1 403 Forbidden\r\ncontent-length: 4\r\n\r\nn")
        time.sleep(1)
        self.send("o!\n")

    def do_seen(self, *_):
        self.answer("200 OK", f"smuggled {seen.count('smuggled')}\n")

    def do_continues(self, *_):
        for _i in range(200):
            self.send("HTTP/1.1 102 Processing\r\n\r\n")
        self.do_hello("GET")


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address):
        pass


def main():
    port, *tls = sys.argv[1:]
    server = Server(("127.0.0.1", int(port)), Handler)
    if tls:
        ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        ctx.load_cert_chain(tls[0], tls[1])
        ctx.set_alpn_protocols(["http/1.1"])
        server.socket = ctx.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
