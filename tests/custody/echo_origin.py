#!/usr/bin/env python3
"""echo_origin.py CERT KEY - an origin that reflects the key it was shown, for custody_scrub.sh. Prints `tls=N tcp=N`.

GET /echo?writing=W&coding=C&frame=F answers with the text behind `Authorization: Bearer` in that writing, coding
and frame. /kept has it among other text and serves ranges; /ws is a WebSocket that sends it over several frames;
POST /oauth/token and /form/token give out tokens, and GET /whoami tells which one was shown; the raw port says the
last key that anybody showed."""
import base64
import functools
import gzip
import hashlib
import io
import json
import os
import socket
import ssl
import subprocess
import sys
import tarfile
import threading
import urllib.parse
import zipfile
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from trial_writings import WRITINGS  # noqa: E402

try:
    import brotli
except ImportError:
    brotli = None

last = b"nothing"
acks = {}
TOKENS = {"access_token": "tok-fake-access-Hk3Lm9Qw2Zx8", "refresh_token": "tok-fake-refresh-Vb7Nc4Ty6Ui1",
          "id_token": "tok-fake-identity-Gf5Ds2Aq0Po9"}


def code(coding, data):
    """(bytes, Content-Encoding)"""
    if coding == "gzip":
        return gzip.compress(data), "gzip"
    if coding == "deflate":
        return zlib.compress(data), "deflate"
    if coding == "raw-deflate":
        c = zlib.compressobj(wbits=-15)
        return c.compress(data) + c.flush(), "deflate"
    if coding == "members":
        return gzip.compress(data[:30]) + gzip.compress(data[30:]), "gzip"
    if coding == "br":
        return brotli.compress(data), "br"
    if coding == "zstd":
        return subprocess.run(["zstd", "-c", "-q"], input=data, stdout=subprocess.PIPE, check=True).stdout, "zstd"
    if coding == "twice":
        return gzip.compress(zlib.compress(data)), "deflate, gzip"
    if coding == "cut":  # flushed, so that all of the text could be decoded, but without an end
        c = zlib.compressobj(wbits=31)
        return c.compress(data) + c.flush(zlib.Z_SYNC_FLUSH), "gzip"
    if coding == "lie":
        return data, "gzip"
    if coding == "unknown":
        return data, "compress"
    return data, ""


@functools.lru_cache(maxsize=None)
def pack(kind, data):
    """A file with it inside, as a body that has no coding."""
    if kind.endswith("-large"):  # much before it, which does not become small
        noise = hashlib.shake_128(b"noise").hexdigest(1500000).encode()
        return pack(kind[:-6], noise + data + noise)
    if kind == "gzip":
        return gzip.compress(data)
    if kind == "zlib":
        return zlib.compress(data)
    if kind == "zstd":
        return code("zstd", data)[0]
    out = io.BytesIO()
    if kind in ("zip", "zip-stored"):
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if kind == "zip" else zipfile.ZIP_STORED) as z:
            z.writestr("first.txt", "nothing")
            z.writestr("second.txt", data)
    elif kind in ("tar", "tgz"):
        with tarfile.open(fileobj=out, mode="w:gz" if kind == "tgz" else "w") as t:
            info = tarfile.TarInfo("some/file.txt")
            info.size = len(data)
            t.addfile(info, io.BytesIO(data))
    elif kind == "zip-in-gzip":
        return gzip.compress(pack("zip", data))
    return out.getvalue()


def chunks(conn, data, step, trailer=b""):
    for i in range(0, len(data), step):
        piece = data[i:i + step]
        conn.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
    conn.sendall(b"0\r\n" + trailer + b"\r\n")


def answer(conn, status, headers, data):
    lines = ["HTTP/1.1 %s" % status] + ["%s: %s" % h for h in headers] + ["content-length: %d" % len(data), "", ""]
    conn.sendall("\r\n".join(lines).encode("latin-1") + data)


def echo(conn, key, query):
    want = dict(urllib.parse.parse_qsl(query))
    text = WRITINGS[want.get("writing", "raw")](key.decode("latin-1"))
    text = "nothing of value" if want.get("value") == "none" else text
    plain = ("{\"before\": \"it\"}\n" + text + "\n and after\n").encode("latin-1")
    data, name = (pack(want["pack"], plain), "") if "pack" in want else code(want.get("coding", ""), plain)
    headers = [("content-type", "text/plain"), ("etag", '"strong"')] + ([("content-encoding", name)] if name else [])
    frame = want.get("frame", "length")
    start = "HTTP/1.1 200 OK\r\n" + "".join("%s: %s\r\n" % h for h in headers) + "transfer-encoding: chunked\r\n\r\n"
    if frame == "bytes":
        conn.sendall(start.encode("latin-1"))
        chunks(conn, data, 1)
    elif frame == "trailer":
        conn.sendall(start.encode("latin-1"))
        chunks(conn, b"ok\n", 3, b"x-checksum: " + text.encode("latin-1") + b"\r\n")
    elif frame == "trailer-name":
        conn.sendall(start.encode("latin-1"))
        chunks(conn, b"ok\n", 3, text.encode("latin-1") + b": 1\r\n")
    elif frame == "header":
        answer(conn, "200 OK", [("x-echo", text), ("set-cookie", "k=" + text), ("www-authenticate", "Bearer realm=\"%s\"" % text),
                                ("location", "/?k=" + text)], b"ok\n")
    elif frame == "name":
        answer(conn, "200 OK", [(text, "1")], b"ok\n")
    elif frame == "types":  # two of them, and the text in an alphabet that nobody looks for
        answer(conn, "200 OK", [("content-type", "text/plain"), ("content-type", "text/plain; charset=cp500")], data.decode("latin-1").encode("cp500"))
    elif frame == "error":
        answer(conn, "500 Oops " + text, headers, data)
    elif frame == "hint":
        conn.sendall(("HTTP/1.1 103 Early Hints\r\nlink: </%s>; rel=preload\r\n\r\n" % text).encode("latin-1"))
        answer(conn, "200 OK", headers, data)
    elif frame == "close":
        conn.sendall(("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n").encode() + data)
        return False
    elif frame == "grpc":
        answer(conn, "200 OK", [("content-type", "application/grpc"), ("grpc-encoding", "gzip")],
               b"\1" + len(gzip.compress(data)).to_bytes(4, "big") + gzip.compress(data))
    else:
        answer(conn, "200 OK", headers, data)
    return True


def kept(conn, key, headers):
    data = b"." * 100 + key + b"." * 100
    unit, _, what = headers.get("range", "").partition("=")
    if unit != "bytes" or "," in what:
        answer(conn, "200 OK", [("content-type", "text/plain")], data)
        return
    a, _, b = what.partition("-")
    a, b = int(a), int(b) if b else len(data) - 1
    answer(conn, "206 Partial Content", [("content-type", "text/plain"), ("content-range", "bytes %d-%d/%d" % (a, b, len(data)))], data[a:b + 1])


def websocket(conn, key, headers, is_halves=False):
    accept = hashlib.sha1((headers.get("sec-websocket-key", "") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
    conn.sendall(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nx-echo: " + key +
                 b"\r\nsec-websocket-accept: " + base64.b64encode(accept) + b"\r\n\r\n")

    def frame(first, data):
        conn.sendall(bytes([first, len(data)]) + data)
    if is_halves:
        frame(0x81, b"first " + key[:20])
        frame(0x82, key[20:])
        frame(0x88, b"\x03\xe8")
        return
    frame(0x81, b"whole " + key)
    frame(0x01, b"parts " + key[:9])
    frame(0x89, key)
    for i in range(9, len(key)):
        frame(0x00, key[i:i + 1])
    frame(0x80, b" end")
    frame(0x88, b"\x03\xe8" + key)


def guess(conn, query):
    """What was asked for, and nothing more until /ack names it."""
    want = dict(urllib.parse.parse_qsl(query))
    event = acks.setdefault(want["id"], threading.Event())
    text = b"x:" + want["text"].encode("latin-1")
    conn.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(text), text))
    event.wait(50)
    conn.sendall(b"4\r\nend\n\r\n0\r\n\r\n")


def serve_one(conn, head, body):
    """False: close the connection."""
    global last
    lines = head.decode("latin-1").split("\r\n")
    target = lines[0].split(" ")[1]
    headers = {n.lower(): v.strip() for n, _, v in (line.partition(":") for line in lines[1:] if line)}
    key = headers.get("authorization", "").partition(" ")[2].encode("latin-1")
    last = key or last
    path, _, query = target.partition("?")
    if path == "/echo":
        return echo(conn, key, query)
    if path == "/kept":
        kept(conn, key, headers)
    elif path in ("/ws", "/halves"):
        websocket(conn, key, headers, path == "/halves")
        return False
    elif path == "/oauth/token":
        answer(conn, "200 OK", [("content-type", "application/json")], json.dumps(dict(TOKENS, token_type="Bearer", expires_in=3600)).encode())
    elif path == "/long/oauth/token":
        answer(conn, "200 OK", [("content-type", "application/json")], json.dumps(dict(TOKENS, fill="x" * 400000)).encode())
    elif path == "/form/token":
        answer(conn, "200 OK", [("content-type", "application/x-www-form-urlencoded")], urllib.parse.urlencode(TOKENS).encode())
    elif path == "/guess":
        guess(conn, query)
    elif path == "/ack":
        acks.setdefault(query, threading.Event()).set()
        answer(conn, "200 OK", [], b"ok\n")
    elif path == "/whoami":
        name = [n for n, v in TOKENS.items() if v.encode() == key]
        answer(conn, "200 OK", [], ("you showed " + (name[0] if name else "something else")).encode())
    else:
        answer(conn, "404 Not Found", [], b"no\n")
    return True


def serve_tls(conn):
    try:
        conn = context.wrap_socket(conn, server_side=True)
        conn.settimeout(60)
        data = b""
        while True:
            while b"\r\n\r\n" not in data:
                more = conn.recv(65536)
                if not more:
                    return
                data += more
            head, _, data = data.partition(b"\r\n\r\n")
            n = [int(line.partition(b":")[2]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
            while n and len(data) < n[0]:
                data += conn.recv(65536)
            body, data = data[:n[0]] if n else b"", data[n[0]:] if n else data
            is_last = b"connection: close" in head.lower()
            if not serve_one(conn, head, body) or is_last:
                conn.unwrap()
                return
    except (OSError, ValueError, IndexError):
        pass
    finally:
        conn.close()


def serve_tcp(conn):
    try:
        for i in range(len(last)):
            conn.sendall(last[i:i + 1])
        conn.sendall(b" was shown, once more: " + base64.b64encode(last) + b"\n")
    finally:
        conn.close()


def listen(serve):
    s = socket.create_server(("127.0.0.1", 0))

    def loop():
        while True:
            conn = s.accept()[0]
            conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=serve, args=(conn,), daemon=True).start()
    threading.Thread(target=loop, daemon=True).start()
    return s.getsockname()[1]


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
print("tls=%d tcp=%d" % (listen(serve_tls), listen(serve_tcp)), flush=True)
threading.Event().wait()
