#!/usr/bin/env python3
"""forms_client.py CASE HOST [ARG...] - requests that no curl makes, from inside a box: bodies cut anywhere, in any
coding, trailers, WebSocket messages in fragments, raw streams. Prints the status and the beginning of the answer, or
`closed` and why. A word @NAME stands for the environment's NAME, @j:NAME for it escaped as JSON wants, @f:NAME as a
form does."""
import base64
import gzip
import io
import json
import os
import socket
import ssl
import struct
import sys
import tarfile
import urllib.parse
import zipfile
import zlib


def known(word):
    if word.startswith("@j:"):
        return json.dumps(os.environ[word[3:]])[1:-1]
    if word.startswith("@f:"):
        return urllib.parse.quote(os.environ[word[3:]], safe="")
    return os.environ[word[1:]] if word.startswith("@") and word[1:].isidentifier() else word


def connect(host, port=443, sni=None):
    s = socket.create_connection((host, port), timeout=100)
    if port in (80, 7000):
        return s
    ctx = ssl.create_default_context()
    ctx.check_hostname = sni is None or sni == host
    return ctx.wrap_socket(s, server_hostname=sni or host)


def answer(s):
    got = b""
    try:
        while True:
            head, _, rest = got.partition(b"\r\n\r\n")
            want = None
            for line in head.split(b"\r\n"):
                if line.lower().startswith(b"content-length:"):
                    want = int(line.split(b":")[1])
            if want is not None and _ and len(rest) >= want:
                break
            data = s.recv(65536)
            if not data:
                break
            got += data
    except OSError as e:
        if not got:
            return "closed %s" % e
    if not got:
        return "closed"
    head, _, rest = got.partition(b"\r\n\r\n")
    return (head.split(b" ")[1] + b" " + rest[:600]).decode("latin-1").strip()


def head(method, host, path, fields, extra=()):
    lines = ["%s %s HTTP/1.1" % (method, path), "host: " + host] + list(fields) + list(extra)
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def file_of(kind, data):
    """A packed file with it inside, which no field tells of."""
    out = io.BytesIO()
    if kind in ("zip", "zip-stored"):
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if kind == "zip" else zipfile.ZIP_STORED) as z:
            z.writestr("first.txt", "nothing")
            z.writestr("second.txt", data)
        return out.getvalue()
    if kind == "tgz":
        with tarfile.open(fileobj=out, mode="w:gz") as t:
            info = tarfile.TarInfo("some/file.txt")
            info.size = len(data)
            t.addfile(info, io.BytesIO(data))
        return out.getvalue()
    if kind == "multipart":
        return b"--x\r\ncontent-disposition: form-data; name=f; filename=f\r\n\r\n" + file_of("tgz", data) + b"\r\n--x--\r\n"
    if kind == "zip-in-gzip":
        return gzip.compress(file_of("zip", data))
    return packed({"zlib": "deflate"}.get(kind, kind), data)


def packed(coding, data):
    if coding == "gzip":
        return gzip.compress(data)
    if coding == "deflate":
        return zlib.compress(data)
    if coding == "br":
        import brotli
        return brotli.compress(data)
    if coding == "zstd":
        import zstandard
        return zstandard.ZstdCompressor().compress(data)
    if coding.startswith("file:"):
        return file_of(coding[5:], data)
    if coding == "gzip, gzip":
        return gzip.compress(gzip.compress(data))
    return data


def post(host, path, kind, coding, step, text, expect=0, trailers=b""):
    """A body in chunks of ${step} bytes; 0: with its length."""
    data = packed(coding, text)
    s = connect(host)
    fields = ["content-type: " + kind] + (["content-encoding: " + coding] if coding and not coding.startswith("file:") else [])
    try:
        if step == 0:
            s.sendall(head("POST", host, path, fields, ["content-length: %d" % len(data)]) + data)
        else:
            s.sendall(head("POST", host, path, fields, ["transfer-encoding: chunked"]))
            for i in range(0, len(data), step):
                piece = data[i:i + step]
                s.sendall(b"%x\r\n" % len(piece) + piece + b"\r\n")
            s.sendall(b"0\r\n" + trailers + b"\r\n")
    except OSError:
        pass  # refused before the end; the answer tells why
    return answer(s)


def frame(op, data, is_last=True):
    mask = os.urandom(4)
    n = len(data)
    size = bytes([0x80 | n]) if n < 126 else b"\xfe" + struct.pack(">H", n) if n < 65536 else b"\xff" + struct.pack(">Q", n)
    return bytes([(0x80 if is_last else 0) | op]) + size + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data))


def websocket(host, path, pieces, fields=(), is_messages=False):
    s = connect(host)
    s.sendall(head("GET", host, path, ["upgrade: websocket", "connection: Upgrade", "sec-websocket-version: 13",
                                       "sec-websocket-key: " + base64.b64encode(os.urandom(16)).decode()] + list(fields)))
    got = b""
    while b"\r\n\r\n" not in got:
        data = s.recv(4096)
        if not data:
            return "closed"
        got += data
    first, _, rest = got.partition(b"\r\n\r\n")
    if b" 101 " not in first.split(b"\r\n")[0]:
        return first.split(b" ")[1].decode() + " " + rest.decode("latin-1")
    is_answered = False
    try:
        for i, piece in enumerate(pieces):
            s.sendall(frame(1 if i == 0 or is_messages else 0, piece, is_messages or i == len(pieces) - 1))
    except OSError:
        pass  # cut off; what came before tells why
    try:
        while True:
            at, is_answered = 0, False
            while at + 2 <= len(rest):
                n, skip = rest[at + 1] & 127, 2
                if n == 126 and at + 4 <= len(rest):
                    n, skip = struct.unpack(">H", rest[at + 2:at + 4])[0], 4
                if at + skip + n > len(rest):
                    break
                if rest[at] & 15 == 8:
                    return "101 close " + rest[at + skip + 2:at + skip + n].decode("latin-1")
                is_answered = is_answered or rest[at] & 0x80 != 0
                at += skip + n
            if is_answered and at == len(rest):
                s.settimeout(5)
            data = s.recv(4096)
            if not data:
                return "closed"
            rest += data
    except OSError as e:
        return "101 answered" if is_answered else "closed %s" % e


def cut(text, n):
    return [text[i:i + n] for i in range(0, len(text), n)] or [b""]


def main():
    case, host, args = sys.argv[1], sys.argv[2], [known(a) for a in sys.argv[3:]]
    if case == "post":  # PATH TYPE CODING STEP TEXT...
        text = "".join(args[4:]).encode("latin-1")
        print(post(host, args[0], args[1], args[2], int(args[3]), text))
    elif case == "large":  # PATH TYPE CODING STEP SIZE BEFORE VALUE AFTER: much text around it
        text = (args[5] + args[6] + args[7]).replace("@@", "lorem ipsum dolor " * (int(args[4]) // 18)).encode("latin-1")
        print(post(host, args[0], args[1], args[2], int(args[3]), text))
    elif case == "trailer":
        print(post(host, "/", "text/plain", "", 4, b"nothing here", trailers=("x-note: %s\r\n" % args[0]).encode()))
    elif case == "ws":  # PATH STEP TEXT...
        print(websocket(host, args[0], cut("".join(args[2:]).encode("latin-1"), int(args[1]))))
    elif case == "messages":  # PATH STEP TEXT...: each piece a message of its own
        print(websocket(host, args[0], cut("".join(args[2:]).encode("latin-1"), int(args[1])), is_messages=True))
    elif case == "tcp":
        s, text = connect(host, 7000), "".join(args[1:]).encode("latin-1")
        got = b""
        try:
            for piece in cut(text, int(args[0])):
                s.sendall(piece)
            s.shutdown(socket.SHUT_WR)
            while True:
                data = s.recv(65536)
                if not data:
                    break
                got += data
        except OSError:
            pass
        print("got " + got.decode("latin-1") if got == text else "closed after %d" % len(got))
    elif case == "sni":
        try:
            s = connect(host, sni=args[0])
            s.sendall(head("GET", host, "/", []))
            print(answer(s))
        except OSError as e:
            print("closed %s" % e)
    elif case == "lookup":
        try:
            print("found", socket.getaddrinfo(args[0], 443)[0][4][0])
        except OSError as e:
            print("closed %s" % e)
    elif case == "get":  # PATH FIELD...: exactly these fields
        s = connect(host, 80 if args[0].startswith("plain:") else 443)
        s.sendall(head("GET", host, args[0].replace("plain:", ""), args[1:]))
        print(answer(s))


main()
