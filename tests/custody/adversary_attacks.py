"""adversary_attacks.py - ways of getting a value into the box, each with the origin's part and the attacker's.

For custody_adversary.sh. An attack is one entry of ATTACKS: the requests that it makes, the answer that the origin gives
(raw bytes, made of the credential that it was shown), and how what came back is read. The origin imports answer(), the
attacker in the box requests(), and the judge outside, who alone knows the value, loot()."""
import base64
import gzip
import html
import json
import re
import subprocess
import zlib

ATTACKS = {}


def attack(name, head=(), undo=lambda b: b, many=None, method="GET"):
    """many(n): one list of header lines per request, for a value of n letters; head: for a single request."""
    def add(make):
        ATTACKS[name] = {"make": make, "undo": undo, "many": many or (lambda n: [list(head)]), "method": method}
        return make
    return add


def reply(body, *lines, status="200 OK"):
    return ("HTTP/1.1 %s\r\n" % status + "".join(x + "\r\n" for x in lines) + "content-length: %d\r\n\r\n" % len(body)).encode("latin-1") + body


def body_of(raw):
    """The body of an answer as a client sees it."""
    head, _, rest = raw.partition(b"\r\n\r\n")
    while head.startswith(b"HTTP/1.1 1"):
        head, _, rest = rest.partition(b"\r\n\r\n")
    if b"transfer-encoding: chunked" not in head.lower():
        return rest
    out = b""
    while True:
        size, _, rest = rest.partition(b"\r\n")
        try:
            n = int(size.split(b";")[0], 16)
        except ValueError:
            return out
        if n == 0:
            return out
        out, rest = out + rest[:n], rest[n + 2:]


def loot(name, raws):
    """Everything that the attacker can make of these answers."""
    a = ATTACKS[name]
    return b"\n".join(raws) + b"\n" + a["undo"](b"".join(body_of(r) for r in raws if b" 20" in r[:16] or b" 101" in r[:16]))


# --- parts of an answer ------------------------------------------------------------------------------

PAGE = 100  # letters before and behind the value


def partial(page, want, kind="multipart/byteranges"):
    unit, _, spec = (want or "").partition("=")
    if unit != "bytes" or not spec:
        return reply(page, "content-type: text/plain")
    spans = []
    for one in spec.split(","):
        a, _, b = one.strip().partition("-")
        spans.append((int(a) if a else len(page) - int(b), int(b) if a and b else len(page) - 1))
    if len(spans) == 1:
        a, b = spans[0]
        return reply(page[a:b + 1], "content-type: text/plain", "content-range: bytes %d-%d/%d" % (a, b, len(page)), status="206 Partial Content")
    parts = b"".join(b"\r\n--b\r\ncontent-range: bytes %d-%d/%d\r\n\r\n" % (a, b, len(page)) + page[a:b + 1] for a, b in spans)
    return reply(parts + b"\r\n--b--\r\n", "content-type: %s; boundary=b" % kind, status="206 Partial Content")


def by_three(name):
    return lambda n: [["%s: bytes=%d-%d" % (name, i, i + 2)] for i in range(PAGE, PAGE + n, 3)]


def page_of(key):
    return b"." * PAGE + key + b"." * PAGE


def no_parts(body):
    return b"".join(re.split(rb"\r\n--b(?:--)?\r\n(?:content-range[^\r]*\r\n\r\n)?", body))


for field in "range", "request-range", "x-ms-range", "x-range":
    attack("three letters at a time by " + field, many=by_three(field))(
        lambda key, h, field=field: partial(page_of(key), h.get(field)))
    attack("many ranges at once by " + field, undo=no_parts,
           head=["%s: bytes=%s" % (field, ",".join("%d-%d" % (i, i + 2) for i in range(PAGE, PAGE + 60, 3)))])(
        lambda key, h, field=field: partial(page_of(key), h.get(field), "multipart/x-byteranges"))


@attack("the end of a page that ends in it", many=lambda n: [["range: bytes=%d-" % (PAGE + i)] for i in range(1, n, 2)])
def page_end(key, h):
    return partial(b"." * PAGE + key, h.get("range"))


def all_html(key):
    return "".join("&#x%02x;" % c for c in key).encode()


def unescape(body):
    return html.unescape(body.decode("latin-1")).encode("latin-1", "replace")


@attack("half of it in escapes", undo=unescape, many=lambda n: [["range: bytes=%d-" % (PAGE + 6 * (n // 2))]])
def half_escaped(key, h):
    return partial(b"." * PAGE + all_html(key) + b"." * PAGE, h.get("range"))


@attack("a half that nobody asked for")
def half_unasked(key, h):
    return partial(page_of(key), "bytes=%d-" % (PAGE + len(key) // 2))


# --- codings ----------------------------------------------------------------------------------------

def gunzip(body):
    try:
        return zlib.decompressobj(47).decompress(body)
    except zlib.error:
        return b""


for coding in "GZIP", "x-gzip", "identity, gzip", "gzip, identity", "gzip,", ", gzip", "gzip;q=1", "gzip, br", "compress", "br", "zstd", "dcb", "\tgzip", "gzip gzip":
    attack("gzip that is called " + repr(coding), undo=gunzip)(
        lambda key, h, coding=coding: reply(gzip.compress(b"it is " + key), "content-encoding: " + coding))
attack("gzip in two fields", undo=lambda b: gunzip(gunzip(b)))(
    lambda key, h: reply(gzip.compress(gzip.compress(key)), "content-encoding: gzip", "content-encoding: gzip"))
attack("gzip without an end", undo=gunzip)(lambda key, h: reply(gzip.compress(key * 3)[:-9], "content-encoding: gzip"))
attack("gzip as the transfer", undo=gunzip)(
    lambda key, h: b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(gzip.compress(key)), gzip.compress(key)))


@attack("two frames of zstd", undo=lambda b: subprocess.run(["zstd", "-dcq"], input=b, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout)
def zstd_frames(key, h):
    def z(b):
        return subprocess.run(["zstd", "-cq"], input=b, stdout=subprocess.PIPE, check=True).stdout
    return reply(z(key[:20]) + b"\x50\x2a\x4d\x18\x04\x00\x00\x00skip" + z(key[20:]), "content-encoding: zstd")


for charset in "utf-16", "UTF-16LE", "utf-16be", "utf-32", "ucs-2", "utf-7", "\"utf-16le\"", "cp037":
    codec = {"ucs-2": "utf-16", "\"utf-16le\"": "utf-16le"}.get(charset, charset)
    attack("a body in " + charset, undo=lambda b, codec=codec: b.decode(codec, "replace").encode("latin-1", "replace"))(
        lambda key, h, charset=charset, codec=codec: reply(key.decode().encode(codec), "content-type: text/plain; charset=" + charset))


# --- base64 -----------------------------------------------------------------------------------------

def unb64(body):
    text = re.sub(rb"\\r|\\n|\s|=", b"", body)
    out = b""
    for skip in range(4):
        try:
            out += base64.b64decode(text[skip:] + b"=" * (-len(text[skip:]) % 4)) + b"\n"
        except ValueError:
            pass
    return out


attack("base64 in lines of 76", undo=unb64)(lambda key, h: reply(base64.encodebytes(b"authorization: Bearer padding-padding-pad " + key + b" and more" * 9)))
attack("base64 in lines of 60 in JSON", undo=lambda b: unb64(b[13:-2]))(
    lambda key, h: reply(json.dumps({"content": re.sub(r"(.{60})", r"\1\n", base64.b64encode(b"authorization: Bearer pad " + key + b" more" * 9).decode())}).encode()))
attack("base64 in lines that end in CR LF", undo=unb64)(
    lambda key, h: reply(base64.encodebytes(b"authorization: Bearer padding-padding-pad " + key).replace(b"\n", b"\r\n"), "content-type: multipart/mixed"))

attack("base64 in lines, byte by byte", undo=unb64)(
    lambda key, h: b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" +
    b"".join(b"1\r\n%c\r\n" % c for c in base64.encodebytes(b"authorization: Bearer padding-padding-pad " + key).replace(b"\n", b"\r\n")) + b"0\r\n\r\n")
attack("base64 in lines that are set in", undo=unb64)(
    lambda key, h: reply(base64.encodebytes(b"authorization: Bearer padding-padding-pad " + key).replace(b"\n", b"\n    ")))


# --- heads ------------------------------------------------------------------------------------------

for status in "200 OK", "304 Not Modified", "401 Unauthorized", "302 Found", "407 Proxy Authentication Required", "421 Misdirected Request", "451 x":
    attack("fields of a " + status)(
        lambda key, h, status=status: reply(b"" if status[0] == "3" else b"x", "etag: \"%s\"" % key.decode(), "location: https://stranger.example.test/?k=" + key.decode(),
                                            "set-cookie: a=b; path=/" + key.decode(), "www-authenticate: Bearer realm=" + key.decode(),
                                            "link: <https://%s.example.test>" % key.decode(), "proxy-status: " + key.decode(), status=status))
attack("the reason phrase")(lambda key, h: reply(b"x", status="200 " + key.decode()))
attack("the version")(lambda key, h: b"HTTP/1.1" + key + b" 200 OK\r\ncontent-length: 1\r\n\r\nx")
attack("a line that is folded")(lambda key, h: reply(b"x", "x-a: b\r\n " + key.decode()))
attack("the extension of a chunk")(lambda key, h: b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;k=" + key + b"\r\nx\r\n0;" + key + b"\r\n\r\n")
attack("a trailer")(lambda key, h: b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-k\r\n\r\n1\r\nx\r\n0\r\nx-k: " + key + b"\r\n\r\n")
attack("a name of a trailer")(lambda key, h: b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n" + key + b": 1\r\n\r\n")
attack("early hints, many")(lambda key, h: b"HTTP/1.1 103 Early Hints\r\nlink: </%s>\r\n\r\nHTTP/1.1 103 %s\r\nx: y\r\n\r\n" % (key, key) + reply(b"x"))
attack("what follows a length")(lambda key, h: b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok" + key)
attack("the body of a 204")(lambda key, h: b"HTTP/1.1 204 No Content\r\n\r\n" + key)
attack("the body of an answer to HEAD", method="HEAD")(lambda key, h: reply(key))
attack("TRACE", method="TRACE")(lambda key, h: reply(b"TRACE / HTTP/1.1\r\nAuthorization: Bearer " + key, "content-type: message/http"))
attack("an upgrade to nothing known", head=["connection: upgrade", "upgrade: raw"])(
    lambda key, h: b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: raw\r\n\r\n" + base64.b64encode(zlib.compress(key)) + key)
attack("HTTP/0.9")(lambda key, h: key)
attack("two lengths")(lambda key, h: b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\ncontent-length: %d\r\n\r\n" % len(key) + key)
attack("in large letters")(lambda key, h: reply(b"it was " + key.upper() + b"\n"))
attack("in small letters")(lambda key, h: reply(b"it was " + key.lower() + b"\n", "x-key: " + key.decode().lower()))
attack("event by event")(lambda key, h: reply(b"".join(b"data: {\"d\": \"\\u%04x\"}\n\n" % c for c in b"x") + b"data: " + key + b"\n\n", "content-type: text/event-stream"))


@attack("a WebSocket that is compressed", head=["connection: upgrade", "upgrade: websocket", "sec-websocket-version: 13",
                                                 "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==", "sec-websocket-extensions: permessage-deflate"],
        undo=lambda b: zlib.decompressobj(-15).decompress(b[2:] + b"\0\0\xff\xff") if len(b) > 2 else b"")
def ws_deflate(key, h):
    c = zlib.compressobj(wbits=-15)
    data = (c.compress(key) + c.flush(zlib.Z_SYNC_FLUSH))[:-4]
    return (b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-extensions: permessage-deflate\r\n"
            b"sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n" + bytes([0xC1, len(data)]) + data)
