#!/usr/bin/env python3
"""adversary_agent.py - the attacker of custody_adversary.sh, in the box or, as a control, outside.

    adversary_agent.py fetch HOST PORT CA KEY OUT       every attack of adversary_attacks.py; OUT: one JSON line each
    adversary_agent.py guess HOST PORT CA ALPHABET FIRST LAST LEN OUT   read a value at the edges of partial answers
    adversary_agent.py send HOST PORT CA OUT            requests in JSON from stdin, [name, text] per line; OUT: status each

With ADVERSARY_ADDRESS everything goes there instead of to where the name leads.

Attacks do not depend on each other, so AT_ONCE of them are under way at a time: one that is never answered costs its 20
seconds beside the others, not before them. What is written to OUT stays in their order."""
import functools
import json
import os
import re
import socket
import ssl
import sys
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

from adversary_attacks import ATTACKS

AT_ONCE = 16


@functools.lru_cache
def trust(ca):
    return ssl.create_default_context(cafile=ca or None)


def connect(host, port, ca):
    s = socket.create_connection((os.environ.get("ADVERSARY_ADDRESS") or host, int(port)), 60)
    return trust(ca).wrap_socket(s, server_hostname=host)


def exchange(host, port, ca, text):
    """Everything that comes until the other end closes or stops."""
    got = b""
    try:
        with connect(host, port, ca) as s:
            s.sendall(text)
            s.settimeout(20)
            while True:
                piece = s.recv(65536)
                if not piece:
                    break
                got += piece
                # Nobody closes after an upgrade, or after an answer to a request that did not ask for it.
                if b"HTTP/1.1 101" in got[:20] or b"connection: close" not in text and b"\r\n\r\n" in got:
                    s.settimeout(3)
    except OSError as e:
        got += b"" if got else b"error: %s" % str(e).encode()
    return got


def fetch(host, port, ca, key, out):
    def asked(i, a):
        raws = []
        for lines in a["many"](len(key)):
            text = "%s /attack/%d HTTP/1.1\r\nhost: %s\r\nauthorization: Bearer %s\r\n%s\r\n" % (
                a["method"], i, host, key, "".join(x + "\r\n" for x in lines + ([] if "upgrade: websocket" in lines or "upgrade: raw" in lines else ["connection: close"])))
            raws.append(exchange(host, port, ca, text.encode()).decode("latin-1"))
        return raws

    with ThreadPoolExecutor(AT_ONCE) as pool, open(out, "w", encoding="utf-8") as f:
        for name, raws in zip(ATTACKS, pool.map(asked, range(len(ATTACKS)), ATTACKS.values())):
            f.write(json.dumps([name, raws]) + "\n")


class Guesser:
    def __init__(self, host, port, ca):
        self.to, self.s, self.asked = (host, port, ca), None, 0

    def ask(self, first, last):
        """What stands at the edges in the end; None: nothing came."""
        query = urllib.parse.urlencode({"first": first, "last": last})
        text = "GET /guess?%s HTTP/1.1\r\nhost: %s\r\nrange: bytes=1000-9999\r\n\r\n" % (query, self.to[0])
        for _ in range(2):
            try:
                self.s = self.s or connect(*self.to)
                self.s.settimeout(60)
                self.s.sendall(text.encode())
                data = b""
                while b"\r\n\r\n" not in data:
                    data += self.more()
                head, _, body = data.partition(b"\r\n\r\n")
                n = int(re.search(rb"content-length: (\d+)", head.lower()).group(1))
                while len(body) < n:
                    body += self.more()
                self.asked += 1
                if b" 206 " not in head[:16]:
                    return None
                return body[:len(first)].decode("latin-1"), body[len(body) - len(last):].decode("latin-1")
            except (OSError, AttributeError, EOFError):
                self.s = None
        return None

    def more(self):
        data = self.s.recv(65536)
        if not data:
            raise EOFError
        return data


def guess(host, port, ca, alphabet, first, last, length, out):
    """From a known beginning and a known end, letter by letter: what is written over was right."""
    g, length = Guesser(host, port, ca), int(length)
    while len(first) + len(last) < length:
        right = [None, None]
        for c in alphabet:
            # The value's end may stand at the front of a part, its beginning at the back.
            seen = g.ask(c + last, first + c)
            if seen is None:
                break
            if seen[0] != c + last:
                right[0] = c
            if seen[1] != first + c:
                right[1] = c
            if None not in right:
                break
        if right == [None, None]:
            break
        last, first = (right[0] or "") + last, first + (right[1] or "")
    with open(out, "w", encoding="utf-8") as f:
        f.write("%s %s %d\n" % (first, last, g.asked))


def send(host, port, ca, out):
    def sent(text):
        head, _, body = text.partition("\n\n")
        got = exchange(host, port, ca, (head + "\n\n").replace("\n", "\r\n").encode("latin-1") + body.encode("latin-1"))
        return got[:15].decode("latin-1").split(" ")[1] if got.startswith(b"HTTP/1.1 ") else "none"

    names, texts = zip(*(json.loads(line) for line in sys.stdin))
    with ThreadPoolExecutor(AT_ONCE) as pool, open(out, "w", encoding="utf-8") as f:
        for name, status in zip(names, pool.map(sent, texts)):
            f.write("%s\t%s\n" % (name, status))


{"fetch": fetch, "guess": guess, "send": send}[sys.argv[1]](*sys.argv[2:])
