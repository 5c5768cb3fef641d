#!/usr/bin/env python3
"""adversary_origin.py RECEIVED CERT KEY - the origin of custody_adversary.sh. Prints `tls=N`.

/attack/N answers with the N-th of adversary_attacks.py, made of the credential that came; /guess?first=A&last=B is a page of the
attacker's own that begins with A and ends with B, as part of something larger; everything else is answered with what
came. RECEIVED gets one line per request: host, line, fields and body, in JSON."""
import base64
import json
import os
import re
import socket
import ssl
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from adversary_attacks import ATTACKS, reply  # noqa: E402

NAMES = list(ATTACKS)
lock = threading.Lock()


def answer(line, fields, body):
    target = line.split(" ")[1] if line.count(" ") else "/"
    h = {}
    for n, v in fields:
        h.setdefault(n.lower(), v)
    key = h.get("authorization", "").partition(" ")[2].encode("latin-1")
    path, _, query = target.partition("?")
    q = dict(urllib.parse.parse_qsl(query))
    if path.startswith("/attack/"):
        return ATTACKS[NAMES[int(path[8:])]]["make"](key, h)
    if path == "/guess":
        page = q.get("first", "").encode() + b" " * 3000 + q.get("last", "").encode()
        return reply(page, "content-type: text/plain", "content-range: bytes 1000-%d/9000" % (999 + len(page)), status="206 Partial Content")
    if path == "/double":  # the whole field once more in another coding
        whole = h.get("authorization", "").encode("latin-1")
        return reply(base64.b64encode(b"authorization: " + whole) + b"\n" + whole.hex().encode())
    if re.sub(r"(;.*|%3b.*|\.json|/)+$", "", path.lower()).endswith("/oauth/token"):
        return reply(json.dumps({"access_token": "tok-fake-born-Hk3Lm9Qw2Zx8", "token_type": "Bearer"}).encode(), "content-type: application/json",
                     status="201 Created" if "created" in query else "200 OK")
    if path == "/slow":
        return [b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(key)] + [key[i:i + 1] for i in range(len(key))]
    return reply(json.dumps({"line": line, "fields": fields, "body": body.decode("latin-1")}).encode(), "content-type: application/json")


def serve(conn):
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
            lines = head.decode("latin-1").split("\r\n")
            fields = [(n, v.strip()) for n, _, v in (x.partition(":") for x in lines[1:])]
            low = {n.lower(): v for n, v in fields}
            n = int(low.get("content-length", "0"))
            while len(data) < n:
                data += conn.recv(65536)
            body, data = data[:n], data[n:]
            with lock, open(sys.argv[1], "a", encoding="utf-8") as f:
                f.write(json.dumps({"host": low.get("host", ""), "line": lines[0], "fields": fields, "body": body.decode("latin-1")}) + "\n")
            out = answer(lines[0], fields, body)
            for piece in out if isinstance(out, list) else [out]:
                conn.sendall(piece)
                if isinstance(out, list):
                    time.sleep(0.03)
            if "/attack/" in lines[0]:
                return
    except (OSError, ValueError, IndexError):
        pass
    finally:
        conn.close()


def loop(s):
    while True:
        conn = s.accept()[0]
        conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(conn,), daemon=True).start()


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[2], sys.argv[3])
listener = socket.create_server(("127.0.0.1", 0), backlog=64)
print("tls=%d" % listener.getsockname()[1], flush=True)
loop(listener)
