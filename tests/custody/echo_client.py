#!/usr/bin/env python3
"""echo_client.py HOST PORT CA KEY OUT CASES... - ask echo_origin.py for everything it can reflect, showing KEY.

Runs in a box (with a placeholder for a key) and on the host (with the value, CA given). Every byte that comes is
written to OUT, deciphered and decoded. One line per case: `CASE found` when KEY came back in the writing that was
asked for, else `CASE missing`, `CASE 502` or `CASE broke`."""
import base64
import gzip
import hashlib
import html
import http.client
import os
import re
import socket
import ssl
import subprocess
import sys
import threading
import urllib.parse
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from trial_writings import WRITINGS  # noqa: E402

host, port, ca, key, out = sys.argv[1:6]
address = os.environ.get("ECHO_ADDRESS", host)
context = ssl.create_default_context(cafile=ca or None)
seen = open(out, "ab")


def connect():
    raw = socket.create_connection((address, int(port)), timeout=100)
    return context.wrap_socket(raw, server_hostname=host)


def undo(data, coding):
    for name in reversed([c.strip() for c in coding.split(",") if c.strip()]):
        if name == "gzip":
            data = gzip.decompress(data)
        elif name == "deflate":
            try:
                data = zlib.decompress(data)
            except zlib.error:
                data = zlib.decompress(data, -15)
        elif name == "br":
            import brotli
            data = brotli.decompress(data)
        elif name == "zstd":
            data = subprocess.run(["zstd", "-d", "-c", "-q"], input=data, stdout=subprocess.PIPE, check=True).stdout
    return data


class Raw(http.client.HTTPResponse):
    """Keeps the trailers, which http.client throws away."""
    trailers = b""

    def _read_and_discard_trailer(self):
        while True:
            line = self.fp.readline(65536)
            self.trailers += line
            if line in (b"\r\n", b"\n", b""):
                break


def request(target, method="GET", headers=(), body=None, bearer=None):
    """(status, everything that came as bytes); status 0 when the connection broke off."""
    conn = connect()
    lines = ["%s %s HTTP/1.1" % (method, target), "host: " + host, "authorization: Bearer " + (bearer or key),
             "accept-encoding: gzip, deflate, br, zstd", "te: trailers", "connection: close, te"]
    lines += ["%s: %s" % h for h in headers] + (["content-length: %d" % len(body)] if body else [])
    conn.sendall(("\r\n".join(lines) + "\r\n\r\n" + (body or "")).encode("latin-1"))
    wire = b""
    try:
        while True:
            more = conn.recv(65536)
            if not more:
                break
            wire += more
    except (OSError, ssl.SSLError):
        pass
    conn.close()
    seen.write(wire + b"\n")
    return parse(wire)


class Wire:
    def __init__(self, data):
        self.data = data

    def makefile(self, *_):
        import io
        return io.BytesIO(self.data)


def parse(wire):
    everything = b""
    while wire.startswith(b"HTTP/1.1 1"):
        head, _, wire = wire.partition(b"\r\n\r\n")
        everything += head
    response = Raw(Wire(wire))
    try:
        response.begin()
        body = response.read()
        plain = undo(body, response.headers.get("content-encoding", ""))
        seen.write(plain + b"\n")
        return response.status, everything + str(response.headers).encode("latin-1") + plain + response.trailers
    except (http.client.HTTPException, OSError, ValueError, zlib.error, EOFError, subprocess.CalledProcessError):
        return 0, wire


def tell(case, status, got, want):
    print(case, "broke" if status == 0 else "found" if want in got else {200: "missing", 206: "missing"}.get(status, status), flush=True)


def echo(case):
    want = dict(urllib.parse.parse_qsl(case))
    text = WRITINGS[want.get("writing", "raw")](key).encode("latin-1")
    status, got = request("/echo?" + case)
    if want.get("value") == "none":  # what came is to be compared
        print(case, status, hashlib.sha256(got.partition(b"\n\n")[2]).hexdigest(), flush=True)
        return
    if want.get("writing", "").startswith("base64"):
        text = text[3:-8]  # its ends hold what stands around it
    n = got.count(text)
    if want.get("writing") == "html":  # numbers of as many digits, so not every letter can be the same
        even = b".".join(re.escape(html.escape(c).encode()) for c in key[::2])
        n = 1 if re.search(even.replace(b".", rb"&#\d+;"), got) else 0
        text = got if n else text
    tell(case, status, got, text)
    if want.get("frame") == "header":
        print("header fields with it:", n)


def kept(case):
    """kept:A-B: is any piece of the key there that is as long as 6 letters?"""
    status, got = request("/kept", headers=[("range", "bytes=" + case[5:])])
    body = got.partition(b"\n\n")[2]
    whole = key.encode() in got
    print(case, status, "whole" if whole else "masked" if b"xxxx" in body else "bare", flush=True)


def frames(data):
    text = b""
    while len(data) >= 2:
        n = data[1] & 127
        text += data[2:2 + n] if data[0] & 15 in (0, 1) else b""
        data = data[2 + n:]
    return text


def websocket(case):
    conn = connect()
    conn.sendall(("GET /ws HTTP/1.1\r\nhost: %s\r\nauthorization: Bearer %s\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
                  "sec-websocket-version: 13\r\nsec-websocket-key: %s\r\n\r\n" % (host, key, base64.b64encode(b"0" * 16).decode())).encode())
    wire = b""
    try:
        while True:
            more = conn.recv(65536)
            if not more:
                break
            wire += more
    except (OSError, ssl.SSLError):
        pass
    seen.write(wire + b"\n")
    head, _, data = wire.partition(b"\r\n\r\n")
    text = frames(data)
    seen.write(text + b"\n")
    want = b"whole " + key.encode() + b"parts " + key.encode() + b" end"
    print(case, "found" if text == want and key.encode() in head else "missing", flush=True)


def guess_one(text, name, most, said):
    """When and how it comes: `early` when before the origin was told to go on, and the sizes of its chunks."""
    conn = connect()
    conn.sendall(("GET /guess?id=%s&text=%s HTTP/1.1\r\nhost: %s\r\nconnection: close\r\n\r\n" % (name, urllib.parse.quote(text), host)).encode())
    conn.settimeout(most)
    wire, is_early = b"", False
    try:
        while text.encode() not in wire.partition(b"\r\n\r\n")[2]:
            wire += conn.recv(65536)
        is_early = True
    except socket.timeout:
        pass
    ack = connect()  # without a key, which has no business at the other host
    ack.sendall(("GET /ack?%s HTTP/1.1\r\nhost: %s\r\nconnection: close\r\n\r\n" % (name, host)).encode())
    while ack.recv(65536):
        pass
    ack.close()
    conn.settimeout(100)
    while not wire.endswith(b"0\r\n\r\n"):
        more = conn.recv(65536)
        if not more:
            break
        wire += more
    sizes, rest = [], wire.partition(b"\r\n\r\n")[2]
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        sizes.append(int(size, 16))
        rest = rest[sizes[-1] + 2:]
    said[name] = ("early" if is_early else "late", wire.split(b"\r\n")[0].decode(), tuple(sizes), len(wire))


def guesses(case):
    """guess:SECONDS:KEY: right and wrong guesses of its first letters, 1 to 8; do they look the same?"""
    _, most, real = case.split(":", 2)
    said, threads = {}, []
    for n in range(1, 9):
        for kind, text in (("right", real[:n]), ("wrong", real[:n - 1] + "7")):
            name = "%s-%d-%s-%s" % (kind, n, host, os.getpid())
            threads.append(threading.Thread(target=guess_one, args=(text, name, float(most), said)))
            threads[-1].start()
    for t in threads:
        t.join()
    for n in range(1, 9):
        right, wrong = (said.get("%s-%d-%s-%s" % (kind, n, host, os.getpid())) for kind in ("right", "wrong"))
        print("guess of %d" % n, "same" if right and right == wrong else "differs: %s, %s" % (right, wrong), right and right[0], flush=True)


def halves(case):
    conn = connect()
    conn.sendall(("GET /halves HTTP/1.1\r\nhost: %s\r\nauthorization: Bearer %s\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
                  "sec-websocket-version: 13\r\nsec-websocket-key: %s\r\n\r\n" % (host, key, base64.b64encode(b"0" * 16).decode())).encode())
    wire = b""
    while True:
        more = conn.recv(65536)
        if not more:
            break
        wire += more
    seen.write(wire + b"\n")
    print(case, "second half is mine" if key[20:].encode() in wire.partition(b"\r\n\r\n")[2] else "second half is another", flush=True)


def tokens(case):
    status, got = request(case.partition(":")[2], method="POST", body="grant_type=device_code&code=1")
    print(case, status, "shows one" if b"tok-fake-" in got and any(t in got for t in (b"Hk3Lm9Qw2Zx8", b"Vb7Nc4Ty6Ui1", b"Gf5Ds2Aq0Po9")) else "hides all",
          flush=True)
    if b"access_token" in got and b"{" in got:
        import json
        token = json.loads(got[got.index(b"{"):got.rindex(b"}") + 1])["access_token"]
        print("whoami", request("/whoami", bearer=token)[1].decode("latin-1").splitlines()[-1], flush=True)


def tcp(case):
    conn = socket.create_connection((os.environ.get("ECHO_TCP", "raw.example.test"), int(case.partition(":")[2])), timeout=100)
    wire = b""
    while True:
        more = conn.recv(65536)
        if not more:
            break
        wire += more
    seen.write(wire + b"\n")
    print("tcp", "found" if wire.startswith(key.encode() + b" was") else "missing", flush=True)


for one in sys.argv[6:]:
    {"kept": kept, "guess": guesses, "halves": halves, "ws": websocket, "token": tokens, "tcp": tcp}.get(one.partition(":")[0], echo)(one)
