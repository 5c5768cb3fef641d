"""h2raw.py - HTTP/2 frames as bytes, for tests that break its rules on purpose. Needs no library: fields are
written as literals, so that nothing is hidden by a table.
"""
import functools
import socket
import ssl
import struct

DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED, PRIO = 1, 1, 4, 8, 0x20
NO_ERROR, PROTOCOL, INTERNAL, FLOW, TIMEOUT, STREAM_CLOSED, FRAME_SIZE, REFUSED, CANCEL, COMPRESSION = range(10)
CALM = 11
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


class Failed(Exception):
    pass


class Closed(Exception):
    pass


def integer(n, bits=7, first=0):
    top = (1 << bits) - 1
    if n < top:
        return bytes([first | n])
    out, n = [first | top], n - top
    while n >= 128:
        out.append(n % 128 + 128)
        n //= 128
    return bytes(out + [n])


def text(s):
    b = s if isinstance(s, bytes) else s.encode()
    return integer(len(b)) + b


def fields(pairs):
    return b"".join(b"\0" + text(n) + text(v) for n, v in pairs)


def settings(*pairs):
    return b"".join(struct.pack(">HI", k, v) for k, v in pairs)


@functools.lru_cache
def trust(is_anybody):
    """Made once: reading the system's authorities takes longer than a connection."""
    context = ssl.create_default_context()
    if is_anybody:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    return context


class Conn:
    """One connection. `is_bare` leaves the preface to the case."""

    def __init__(self, target, is_bare=False, mine=()):
        self.target = target
        host, port, is_tls = target
        self.s = socket.create_connection((host, port), timeout=60)
        self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if is_tls:
            self.s = trust(host == "127.0.0.1").wrap_socket(self.s, server_hostname=host)
        self.buf = b""
        self.theirs = {}
        if not is_bare:
            self.raw(PREFACE)
            self.send(SETTINGS, 0, 0, settings(*mine))
            has_ack = False
            while not (has_ack and self.theirs):
                t, flags, _, p = self.frame()
                if t == SETTINGS and flags & ACK:
                    has_ack = True
                elif t == SETTINGS:
                    self.theirs = {k: v for k, v in struct.iter_unpack(">HI", p)} or {0: 0}
                    self.send(SETTINGS, ACK, 0)

    def close(self):
        self.s.close()

    def raw(self, b):
        try:
            self.s.sendall(b)
        except (ConnectionError, ssl.SSLError):
            pass  # what it said before is still to be read

    def send(self, kind, flags, stream, payload=b"", length=None):
        n = len(payload) if length is None else length
        self.raw(struct.pack(">I", n)[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload)

    def frame(self, wait=60.0):
        """The next one as (type, flags, stream, payload); Failed after `wait` seconds, Closed at the end."""
        self.s.settimeout(wait)
        while True:
            if len(self.buf) >= 9:
                n = int.from_bytes(self.buf[:3], "big")
                if len(self.buf) >= 9 + n:
                    t, flags, stream = struct.unpack(">BBI", self.buf[3:9])
                    payload, self.buf = self.buf[9:9 + n], self.buf[9 + n:]
                    return t, flags, stream & 0x7FFFFFFF, payload
            try:
                got = self.s.recv(65536)
            except (socket.timeout, TimeoutError):
                raise Failed("nothing came")
            except (ConnectionError, ssl.SSLError):
                raise Closed()
            if not got:
                raise Closed()
            self.buf += got

    def request(self, method="GET", *more, **change):
        host, port, is_tls = self.target
        pseudo = {"method": method, "scheme": "https" if is_tls else "http", "path": "/hello", "authority": host}
        pseudo.update(change)
        return fields([(":" + k, v) for k, v in pseudo.items() if v is not None] + list(more))

    def get(self, stream=1, flags=END_STREAM | END_HEADERS):
        self.send(HEADERS, flags, stream, self.request())

    def post(self, stream=1, *more):
        self.send(HEADERS, END_HEADERS, stream, self.request("POST", *more))

    # --- what must come ---

    def until(self, test, wait=60.0):
        seen = []
        while True:
            try:
                f = self.frame(wait)
            except Failed:
                raise Failed("nothing more after %s" % seen)
            seen.append(f[:3])
            if test(f):
                return f

    def connection_error(self, *codes):
        try:
            f = self.until(lambda f: f[0] == GOAWAY)
            code = struct.unpack(">I", f[3][4:8])[0]
            if code not in codes:
                raise Failed("GOAWAY with %d" % code)
        except Closed:
            pass

    def stream_error(self, *codes):
        try:
            f = self.until(lambda f: f[0] in (RST, GOAWAY))
            code = struct.unpack(">I", f[3][:4] if f[0] == RST else f[3][4:8])[0]
            if code not in codes:
                raise Failed("%s with %d" % ("RST_STREAM" if f[0] == RST else "GOAWAY", code))
        except Closed:
            pass

    def answer(self, stream=1):
        """An answer's head."""
        try:
            self.until(lambda f: f[0] == HEADERS and f[2] == stream)
        except Closed:
            raise Failed("the connection was closed")

    def ended(self, stream=1):
        """The stream came to its end, one way or the other."""
        try:
            self.until(lambda f: f[2] == stream and (f[0] == RST or (f[0] < 2 and f[1] & END_STREAM)))
        except Closed:
            pass

    def alive(self):
        """It answers a PING."""
        try:
            self.send(PING, 0, 0, b"are you?")
            self.until(lambda f: f[0] == PING and f[1] & ACK and f[3] == b"are you?")
        except Closed:
            raise Failed("the connection was closed")
