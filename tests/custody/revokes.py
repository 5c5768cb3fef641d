"""revokes.py - revoke the secrets of a running box one after the other over one connection to its supervisor, and say
how long each took until neither keeper nor egress could use it any more.

usage: revokes.py CONTROL_SOCKET NAME...: prints the median, the 99th percentile and the maximum in microseconds.
Speaks wire/msg.h, whose numbers tests/door/changes.py reads."""
import os
import re
import socket
import struct
import sys
import time


def number(top, name):
    text = re.sub(r"/\*.*?\*/", "", open(os.path.join(top, "src/wire/msg.h"), encoding="ascii").read(), flags=re.S)
    value = 0
    for item in text[text.index("enum msg_type {") + 15:].split("}")[0].split(","):
        item = item.strip()
        if "=" in item:
            item, _, n = item.partition("=")
            value = int(n)
        if item.strip() == name:
            return value
        value += 1
    raise SystemExit("no message " + name)


def main():
    path, names = sys.argv[1], sys.argv[2:]
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
    revoke, done = number(top, "MSG_REVOKE"), number(top, "MSG_DONE")
    directory = os.open(os.path.dirname(path), os.O_RDONLY)
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect("/proc/self/fd/%d/%s" % (directory, os.path.basename(path)))
    took = []
    for name in names:
        frame = struct.pack(">II", revoke, len(name)) + name.encode()
        begin = time.perf_counter()
        s.send(frame)
        answer = s.recv(65536)
        took.append((time.perf_counter() - begin) * 1e6)
        if struct.unpack(">I", answer[:4])[0] != done:
            sys.exit("%s was answered by %r" % (name, answer[:200]))
        time.sleep(0.01)
    took.sort()
    print("%d %d %d" % (took[len(took) // 2], took[len(took) * 99 // 100], took[-1]))


main()
