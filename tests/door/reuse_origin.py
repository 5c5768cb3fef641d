#!/usr/bin/env python3
"""reuse_origin.py - an origin that does not read bodies (CL.0), answers before it was asked, or twice.

usage: reuse_origin.py LOG. Prints its port. Every request that it takes for one is written to LOG as
"CONNECTION METHOD TARGET". /twice and /late send a second answer that nobody asked for, at once or when
LOG.late exists; /denied takes until the next request is here; everything else is answered with its own
target. Bodies are left where they are, so that they are read as the next request; /reads takes them.
"""
import os
import select
import socket
import sys
import threading
import time

log = sys.argv[1]
lock = threading.Lock()
count = 0


def note(words):
    with lock, open(log, "a") as f:
        f.write(words + "\n")


def answer(target):
    body = f"answer to {target}\n".encode()
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def serve(conn, number):
    data = b""
    while True:
        while b"\r\n\r\n" not in data:
            part = conn.recv(65536)
            if not part:
                return
            data = (data + part).lstrip(b"\r\n")
        head, data = data.split(b"\r\n\r\n", 1)
        words = head.split(b"\r\n")[0].decode("latin-1").split()
        if len(words) != 3:
            note(f"{number} junk")
            conn.close()
            return
        note(f"{number} {words[0]} {words[1]}")
        reads = words[1].startswith("/reads")
        length = [int(l.split(b":")[1]) for l in head.lower().split(b"\r\n") if l.startswith(b"content-length:")]
        while reads and length and len(data) < length[0]:
            data += conn.recv(65536)
        if reads and length:
            data = data[length[0]:]
        if words[1] == "/denied":  # a slow page: the next request is here before its answer is out
            select.select([conn], [], [], 10)
        # Both answers of /twice go out in one call: a second one that leaves after the next request was
        # sent is that request's answer by every rule of HTTP/1.1, and the client is free to be that fast.
        conn.sendall(answer(words[1]) + (answer("/unasked") if words[1] == "/twice" else b""))
        if words[1] == "/late":
            while not os.path.exists(log + ".late"):
                time.sleep(0.02)
            conn.sendall(answer("/unasked"))
            note(f"{number} said it")


listener = socket.create_server(("127.0.0.1", 0), backlog=64)
print(listener.getsockname()[1], flush=True)
while True:
    conn, _ = listener.accept()
    count += 1
    threading.Thread(target=serve, args=(conn, count), daemon=True).start()
