#!/usr/bin/env python3
"""asks.py - requests exactly as a list writes them, one connection each, and the status of each.

usage: asks.py HOST PORT < LIST. A line is METHOD TARGET [HEADER: VALUE | DATA]... between tabs; a part
that begins with "=" is the body, and the type is a form unless a header says otherwise. Prints "STATUS METHOD TARGET ...".
"""
import socket
import sys

host, port = sys.argv[1], int(sys.argv[2])
for line in sys.stdin.buffer.read().split(b"\n"):
    if not line:
        continue
    method, target, *more = line.split(b"\t")
    body = b"".join(m[1:] for m in more if m.startswith(b"="))
    fields = [m for m in more if not m.startswith(b"=")]
    if body and not any(f.lower().startswith(b"content-type:") for f in fields):
        fields.append(b"Content-Type: application/x-www-form-urlencoded")
    if body:
        fields.append(b"Content-Length: %d" % len(body))
    head = b"\r\n".join([method + b" " + target + b" HTTP/1.1", b"Host: " + host.encode(),
                         b"Connection: close"] + fields) + b"\r\n\r\n"
    got = b""
    try:
        with socket.create_connection((host, port), 60) as s:
            s.sendall(head + body)
            while b"\r\n" not in got:
                part = s.recv(4096)
                if not part:
                    break
                got += part
    except OSError as e:
        got = b"- " + str(e).encode()
    status = got.split(b" ")[1].decode() if got.startswith(b"HTTP/") else "none"
    print(status, line.replace(b"\t", b" | ").decode("utf-8", "replace"), flush=True)
