#!/usr/bin/env python3
"""flood_waits.py - how long others wait under a flood, for bench/flood.sh. Waits are printed as NAME=MS, the 99th
percentile.

usage: flood_waits.py asks ATTACK N             in the box: ask N times while ATTACK (flood_client.py) is made again and again
       flood_waits.py changes CONTROL NAME...   outside: for each secret NAME allow and deny a rule, and revoke the secret
"""
import os
import re
import socket
import struct
import subprocess
import sys
import time


def p99(took):
    took.sort()
    return f"{took[min(len(took) - 1, len(took) * 99 // 100)] * 1000:.1f}" if took else "-"


def asks(attack, n):
    here = os.path.dirname(os.path.abspath(__file__))
    loop = 'while :; do python3 -B flood_client.py "$0" 0; done'
    flood = subprocess.Popen(["sh", "-c", loop, attack], cwd=here, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             start_new_session=True)
    print("begun", flush=True)
    took = []
    for _ in range(n):
        time.sleep(0.01)
        begin = time.perf_counter()
        s = socket.create_connection(("honest.example.test", 80), 60)
        s.sendall(b"GET /hello HTTP/1.1\r\nHost: honest.example.test\r\nConnection: close\r\n\r\n")
        if s.recv(12) == b"HTTP/1.1 200":
            took.append(time.perf_counter() - begin)
        s.close()
    os.killpg(flood.pid, 9)
    print(f"request={p99(took)} answered={len(took)}/{n}", flush=True)


def number(name):
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
    text = re.sub(r"/\*.*?\*/", "", open(os.path.join(top, "src/wire/msg.h"), encoding="ascii").read(), flags=re.S)
    value = 0
    for item in text[text.index("enum msg_type {") + 15:].split("}")[0].split(","):
        word, _, n = item.partition("=")
        value = int(n) if n else value
        if word.strip() == name:
            return value
        value += 1
    raise SystemExit("no message " + name)


def changes(path, names):
    directory = os.open(os.path.dirname(path), os.O_RDONLY)
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect("/proc/self/fd/%d/%s" % (directory, os.path.basename(path)))
    rule, revoke, done, failed = number("MSG_RULE"), number("MSG_REVOKE"), number("MSG_DONE"), number("MSG_FAILED")
    took = {"allow": [], "deny": [], "revoke": []}

    def call(what, frame):
        begin = time.perf_counter()
        s.send(frame)
        while True:
            kind = struct.unpack(">I", s.recv(65536)[:4])[0]
            if kind in (done, failed):
                break
        if kind == done:
            took[what].append(time.perf_counter() - begin)

    for i, name in enumerate(names):
        for what in ("allow", "deny"):
            line = b"%s GET new%d.example.test" % (what.encode(), i)
            call(what, struct.pack(">III", rule, 1, len(line)) + line)
        call("revoke", struct.pack(">II", revoke, len(name)) + name.encode())
    print(" ".join(f"{k}={p99(v)}" for k, v in took.items()))


if sys.argv[1] == "asks":
    asks(sys.argv[2], int(sys.argv[3]))
else:
    changes(sys.argv[2], sys.argv[3:])
