#!/usr/bin/env python3
"""hostile_client.py - a program in the box that means harm: thousands of connections, each with something right
or wrong by dice, and given up at any moment. tests/door_hostile.sh looks whether the door is well afterwards.

usage: hostile_client.py SEED SECONDS    prints how many connections it made
"""
import random
import socket
import ssl
import struct
import sys
import threading
import time

from h2raw import (CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PREFACE, RST, SETTINGS, WINDOW, fields, settings)

TLS = ["h1.example.test", "h2.example.test", "odd.example.test", "nginx.example.test", "denied.example.test"]
PLAIN = ["plain.example.test", "oddplain.example.test", "body.example.test", "ask.example.test", "no.example.test"]
PATHS = ["/", "/hello", "/big", "/big/300000", "/chunked", "/cut", "/reset", "/twice", "/huge-head", "/garbage", "/echo",
         "/early-answer", "/continues", "/hints", "/to-close", "/nothing", "/switch", "/%2e%2e/x", "/a?b=c", "*", "x", "/\x7f"]
PARTS = [b"\r\n", b"\n", b"\0", b" ", b"\r\n\r\n", b"HTTP/1.1", b"0\r\n\r\n", b"Content-Length: 7\r\n", b":", b"\xff\xfe",
         b"Transfer-Encoding: chunked\r\n", b"Host: other.example.test\r\n", b"Expect: 100-continue\r\n", b"A" * 70000]
done, lock = [0], threading.Lock()


def pieces(dice, s, data):
    """Send it in pieces, perhaps not all of it."""
    end = len(data) if dice.random() < 0.7 else dice.randrange(len(data) + 1)
    at = 0
    while at < end:
        n = dice.choice([1, 9, 300, 20000, 100000])
        s.sendall(data[at:min(end, at + n)])
        at += n
        if dice.random() < 0.01:
            time.sleep(0.01)


def spoil(dice, data):
    data = bytearray(data)
    for _ in range(dice.choice([0, 0, 0, 1, 2])):
        at = dice.randrange(len(data) + 1)
        data[at:at + dice.choice([0, 1, 5])] = dice.choice(PARTS)
    return bytes(data)


def request(dice, host):
    path, body = dice.choice(PATHS).encode("latin-1"), dice.randbytes(dice.choice([0, 0, 5, 3000, 200000]))
    head = dice.choice([b"GET ", b"GET ", b"POST ", b"HEAD ", b"PUT ", b"OPTIONS ", b"CONNECT ", b"TRACE "]) + path
    head += dice.choice([b" HTTP/1.1\r\n", b" HTTP/1.1\r\n", b" HTTP/1.0\r\n"]) + b"Host: " + host.encode() + b"\r\n"
    kind = dice.randrange(6)
    if kind == 0:
        return head + b"Content-Length: %d\r\nContent-Type: application/json\r\n\r\n" % len(body) + body
    if kind == 1:
        return head + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % max(1, len(body)) + (body or b"x") + b"\r\n0\r\n\r\n"
    if kind == 2:
        return head + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    if kind == 3:
        return (b"GET /websocket HTTP/1.1\r\nHost: " + host.encode() + b"\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
                + dice.choice([b"\x81\x85aaaa\x09\x04\x0d\x0d\x0e", b"\x81\x05hello", b"\x88\x80aaaa", body]))
    return head + dice.choice([b"", b"Connection: close\r\n"]) + b"\r\n"


def one(dice, s, host):
    data = b"".join(request(dice, host) for _ in range(dice.choice([1, 1, 1, 3, 200])))
    pieces(dice, s, spoil(dice, data))


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def two(dice, s, host, is_tls):
    out = PREFACE + frame(SETTINGS, 0, 0, settings((4, dice.choice([0, 1, 65535, 1 << 20]))))
    stream = 1
    for _ in range(dice.choice([1, 5, 150])):
        kind = dice.randrange(12)
        head = fields([(":method", dice.choice(["GET", "POST", "HEAD"])), (":scheme", "https" if is_tls else "http"),
                       (":path", dice.choice(PATHS)), (":authority", dice.choice([host, host, host, "other.example.test"]))])
        if kind < 5:
            out += frame(HEADERS, END_HEADERS | (END_STREAM if dice.random() < 0.6 else 0), stream, head)
            for _ in range(dice.choice([0, 0, 1, 4])):
                out += frame(DATA, dice.choice([0, END_STREAM]), stream, dice.randbytes(dice.choice([0, 1, 9000])))
            stream += 2
        elif kind == 5:
            out += frame(HEADERS, END_HEADERS, stream, fields([
                (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"), (":path", dice.choice(["/websocket", "/hello"])),
                (":authority", host), ("sec-websocket-version", "13")])) + frame(DATA, 0, stream, b"\x81\x85aaaa\x09\x04\x0d\x0d\x0e")
            stream += 2
        elif kind == 6:
            out += frame(RST, 0, max(1, stream - 2 * dice.randrange(1, 4)), struct.pack(">I", 8))
        elif kind == 7:
            out += frame(dice.randrange(12), dice.randrange(256), dice.choice([0, 1, 2, stream]), dice.randbytes(dice.randrange(30)))
        elif kind == 8:
            out += frame(WINDOW, 0, dice.choice([0, 1, stream]), struct.pack(">I", dice.choice([1, 100000, 2**31 - 1])))
        elif kind == 9:
            out += frame(SETTINGS, 0, 0, settings((dice.choice([1, 2, 3, 4, 5]), dice.choice([0, 1, 16384, 2**31]))))
        elif kind == 10:
            out += frame(HEADERS, 0, stream, head[:7]) + frame(CONTINUATION, END_HEADERS, stream, head[7:])
            stream += 2
    pieces(dice, s, spoil(dice, out) if dice.random() < 0.2 else out)


def visit(dice):
    is_tls, is_two = dice.random() < 0.5, dice.random() < 0.4
    host = dice.choice(TLS if is_tls else PLAIN)
    s = socket.create_connection((host, 443 if is_tls else 80), 3)
    s.settimeout(3)
    raw = s
    try:
        if is_tls and dice.random() < 0.1:  # half a handshake, or none
            pieces(dice, s, b"\x16\x03\x01" + dice.randbytes(dice.choice([0, 2, 600])))
            return
        if is_tls:
            ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            ctx.check_hostname, ctx.verify_mode = False, ssl.CERT_NONE
            ctx.set_alpn_protocols(["h2"] if is_two else dice.choice([["http/1.1"], ["x"]]))
            name = host if dice.random() < 0.95 else dice.choice(["other.example.test", None])
            s = ctx.wrap_socket(s, server_hostname=name)
            raw = s
        two(dice, s, host, is_tls) if is_two else one(dice, s, host)
        how = dice.randrange(5)
        if how == 0 and not is_tls:
            s.shutdown(socket.SHUT_WR)
        s.settimeout(dice.choice([0.01, 0.05, 0.5]))
        for _ in range(0 if how == 1 else dice.choice([1, 3, 50])):
            if not s.recv(dice.choice([1, 4096, 65536])):
                break
    except (OSError, ValueError):
        pass
    finally:
        if dice.random() < 0.3:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raw.close()


def crowd(dice):
    """Many at once that say nothing, or a little."""
    host = dice.choice(PLAIN)
    all_of_them = []
    for _ in range(300):
        s = socket.create_connection((host, 80), 3)
        s.sendall(dice.choice([b"G", b"GET /hello HTTP/1.1\r\nHost: " + host.encode() + b"\r\n\r\n", PREFACE]))
        all_of_them.append(s)
    for s in all_of_them:
        s.close()


def run(seed, until):
    dice = random.Random(seed)
    while time.time() < until:
        try:
            crowd(dice) if dice.random() < 0.005 else visit(dice)
        except OSError:
            pass
        with lock:
            done[0] += 1


def main():
    seed, seconds = sys.argv[1], float(sys.argv[2])
    until = time.time() + seconds
    threads = [threading.Thread(target=run, args=(f"{seed}.{i}", until), daemon=True) for i in range(48)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(max(0, until + 60 - time.time()))
    print("connections", done[0])


if __name__ == "__main__":
    main()
