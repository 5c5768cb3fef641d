#!/usr/bin/env python3
"""agent_storm.py SECONDS SEED - unruly clients of the ssh agent in a box: halves of messages, many at once, hang-ups
in the middle, garbage. Ends with a well-behaved request and prints what that was answered: "listed N"."""
import os
import random
import socket
import struct
import sys
import time

end = time.monotonic() + float(sys.argv[1])
rnd = random.Random(int(sys.argv[2]))
SOCKET = os.environ["SSH_AUTH_SOCK"]


def connect():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect(SOCKET)
    return s


def text(b):
    return struct.pack(">I", len(b)) + b


def message():
    kind = rnd.randrange(6)
    if kind == 0:
        return text(bytes([11]))
    if kind == 1:
        return text(bytes([13]) + text(rnd.randbytes(51)) + text(rnd.randbytes(200)) + bytes(4))
    if kind == 2:
        return text(bytes([27]) + text(b"session-bind@openssh.com") + text(text(b"ssh-ed25519") + text(rnd.randbytes(32)))
                    + text(rnd.randbytes(32)) + text(text(b"ssh-ed25519") + text(rnd.randbytes(64))) + b"\0")
    if kind == 3:
        return text(rnd.randbytes(rnd.randrange(40)))
    if kind == 4:
        return text(bytes([11])) * rnd.randrange(1, 300)
    return rnd.randbytes(rnd.randrange(1, 3000))


held = []
tried = 0
while time.monotonic() < end:
    tried += 1
    try:
        s = connect()
        for _ in range(rnd.randrange(1, 4)):
            m = message()
            s.sendall(m[: rnd.randrange(1, len(m) + 1)] if rnd.random() < 0.3 else m)
        if rnd.random() < 0.3:
            held.append(s)
        else:
            if rnd.random() < 0.5:
                s.setblocking(False)
                s.recv(4096)
            s.close()
    except OSError:
        pass
    while len(held) > 90:
        held.pop(rnd.randrange(len(held))).close()
for s in held:
    s.close()

# So many at a time and no more: until the door has seen that those before are gone, it hangs up, or those that wait
# to be accepted are too many for one more.
end = time.monotonic() + 60
while True:
    try:
        s = connect()
        s.sendall(text(bytes([11])))
        head = s.recv(4, socket.MSG_WAITALL)
    except (BlockingIOError, BrokenPipeError, ConnectionResetError):
        head = b""
    if len(head) == 4 or time.monotonic() > end:
        break
    time.sleep(0.1)
body = s.recv(struct.unpack(">I", head)[0], socket.MSG_WAITALL)
print("listed", struct.unpack(">I", body[1:5])[0], "after", tried)
