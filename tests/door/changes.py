"""changes.py - change the rules of a running box many times over one connection to its supervisor, and say how
long each change took until it was in force.

usage: changes.py CONTROL_SOCKET COUNT HOST [MAX_US]: prints the median, the 99th percentile and the maximum in
microseconds. Speaks wire/msg.h: a frame is a u32 type and its body."""

import os
import socket
import struct
import sys
import time

MSG_FAILED_MIN, MSG_FAILED_MAX = 100, 199


def numbers(top):
    """The values of MSG_RULE, MSG_DONE and MSG_FAILED, from the header itself."""
    values, value = {}, 0
    with open(os.path.join(top, "src/wire/msg.h"), encoding="ascii") as f:
        text = f.read()
    body = text[text.index("enum msg_type {") + 15 : text.index("};", text.index("enum msg_type {"))]
    while "/*" in body:
        start = body.index("/*")
        body = body[:start] + body[body.index("*/", start) + 2 :]
    for item in body.split(","):
        item = item.strip()
        if not item:
            continue
        if "=" in item:
            item, number = (s.strip() for s in item.split("="))
            value = int(number)
        values[item] = value
        value += 1
    return values


def main():
    path, count, host = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    msg = numbers(os.path.join(os.path.dirname(__file__), "../.."))
    directory = os.open(os.path.dirname(path), os.O_RDONLY)
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect("/proc/self/fd/%d/%s" % (directory, os.path.basename(path)))
    took = []
    for i in range(count):
        line = ("%s GET %s/%d" % (("allow", "deny")[i % 2], host, i // 2 % 16)).encode()
        frame = struct.pack(">III", msg["MSG_RULE"], 1, len(line)) + line
        begin = time.perf_counter()
        s.send(frame)
        answer = s.recv(65536)
        took.append((time.perf_counter() - begin) * 1e6)
        (kind,) = struct.unpack(">I", answer[:4])
        if kind != msg["MSG_DONE"]:
            sys.exit("change %d was answered by message %d: %r" % (i, kind, answer[4:200]))
    took.sort()
    print("%d %d %d" % (took[count // 2], took[count * 99 // 100], took[-1]))


main()
