"""late_client.py - a program that opens many connections at once and is slow to use them.

late_client.py HOST PORT N SECONDS STAGE...: open N connections, wait, and ask on each; the wait is before the first byte
(open), between the two halves of the TLS handshake (shake) or before the request (ask). With the stage half the head of the
request never comes to its end. The stages run beside each other; for each a line: how many were answered with the right bytes,
and what became of the others. It waits because that is what it tests: the limits of the door are longer by far."""
import collections
import socket
import ssl
import sys
import threading
import time

host, port, n, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
context = ssl.create_default_context()
REQUEST = b"GET /hello HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % (host if port in (80, 443) else f"{host}:{port}").encode()


class Late:
    """One connection; TLS is done by hand, so that it can be stopped anywhere."""

    def __init__(self):
        self.s = socket.create_connection((host, port), timeout=120)
        self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.got, self.put = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.got, self.put, server_hostname=host) if port != 80 else None

    def flush(self):
        if self.put.pending:
            self.s.sendall(self.put.read())

    def hello(self):
        if not self.tls:
            return
        try:
            self.tls.do_handshake()
        except ssl.SSLWantReadError:
            self.flush()

    def take(self):
        p = self.s.recv(65536)
        if not p:
            raise ConnectionError("closed")
        self.got.write(p)

    def shake(self):
        while self.tls:
            try:
                self.tls.do_handshake()
                self.flush()
                return
            except ssl.SSLWantReadError:
                self.flush()
                self.take()

    def send(self, p):
        if not self.tls:
            self.s.sendall(p)
            return
        self.tls.write(p)
        self.flush()

    def answer(self):
        text = b""
        while not text.endswith(b"hello from nginx\n"):
            if not self.tls:
                p = self.s.recv(65536)
                if not p:
                    break
                text += p
                continue
            try:
                p = self.tls.read(65536)
                if not p:
                    break
                text += p
            except ssl.SSLWantReadError:
                try:
                    self.take()
                except ConnectionError:
                    break
            except ssl.SSLZeroReturnError:
                break
        words = text.split(b" ", 2)[1:2]
        return words[0].decode() if words else "closed"


def run(stage, ends):
    late = [Late() for _ in range(n)]
    request = REQUEST[:20] if stage == "half" else REQUEST
    steps = [("open", Late.hello), ("shake", Late.shake), ("ask", lambda c: c.send(request)), ("", None)]
    alive = late
    for name, step in steps:
        if name == stage:
            time.sleep(seconds)
        left = []
        for c in alive:
            try:
                if step:
                    step(c)
                else:
                    ends[c.answer()] += 1
                left.append(c)
            except (OSError, ssl.SSLError) as e:
                ends[type(e).__name__] += 1
        alive = left
    for c in late:
        c.s.close()


stages = [(s, collections.Counter()) for s in sys.argv[5:]]
threads = [threading.Thread(target=run, args=s) for s in stages]
for t in threads:
    t.start()
for t in threads:
    t.join()
for s, ends in stages:
    print(s, " ".join(f"{k}={v}" for k, v in sorted(ends.items())), end="; ")
