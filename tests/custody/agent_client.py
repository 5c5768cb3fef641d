#!/usr/bin/env python3
"""agent_client.py - raw messages to the ssh agent in a box, each of which must be refused.

agent_client.py HOST_KEY.pub: prints "NAME: TYPE" for each, with the number of the answer's type. 12 is a list of
keys, 6 success, 14 a signature, 5 and 28 failures.
"""
import base64
import os
import socket
import struct
import sys

SOCKET = os.environ["SSH_AUTH_SOCK"]
host_key = base64.b64decode(open(sys.argv[1], encoding="ascii").read().split()[1])
session = bytes(range(32))


def text(b):
    return struct.pack(">I", len(b)) + b


def talk(*messages):
    """The types of the answers to some messages over one connection; 0 when it was hung up."""
    types = []
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(100)
        s.connect(SOCKET)
        for m in messages:
            try:
                s.sendall(struct.pack(">I", len(m)) + m)
                head = s.recv(4, socket.MSG_WAITALL)
            except (BrokenPipeError, ConnectionResetError):
                head = b""
            if len(head) < 4:
                types.append(0)
                break
            last = s.recv(struct.unpack(">I", head)[0], socket.MSG_WAITALL)
            types.append(last[0])
    return types, last if types[-1] else b""


types, listed = talk(bytes([11]))
n = struct.unpack(">I", listed[1:5])[0]
size = struct.unpack(">I", listed[5:9])[0]
key = listed[9:9 + size]
print("list:", types[0], n)


def login(sid=session, method=b"publickey", extra=b""):
    return (text(sid) + bytes([50]) + text(b"git") + text(b"ssh-connection") + text(method) + b"\1" +
            text(b"ssh-ed25519") + text(key) + extra)


def sign(data, flags=0):
    return bytes([13]) + text(key) + text(data) + struct.pack(">I", flags)


def bind(signature, forwarding=0):
    return (bytes([27]) + text(b"session-bind@openssh.com") + text(host_key) + text(session) +
            text(text(b"ssh-ed25519") + text(signature)) + bytes([forwarding]))


for kind in (1, 9, 17, 18, 19, 20, 21, 22, 23, 25, 26, 200):
    print(f"kind {kind}:", talk(bytes([kind]) + text(b"x") * 4)[0][0])
print("sign without a server:", talk(sign(login()))[0][0])
print("forged server:", talk(bind(b"\0" * 64))[0][0])
print("sign after a forged server:", talk(bind(b"\0" * 64), sign(login()))[0][1])
print("forwarded:", talk(bind(b"\0" * 64, 1))[0][0])
print("sign a document:", talk(sign(b"SSHSIG" + text(b"git") * 3))[0][0])
print("another extension:", talk(bytes([27]) + text(b"query"))[0][0])
print("too long:", talk(b"\x0d" + b"\0" * 100000)[0][0])
