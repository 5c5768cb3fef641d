#!/usr/bin/env python3
"""trial_origin.py DIR CERT KEY - the origins of the exfiltration trial: HTTP/1.1, HTTP/2 and WebSocket over TLS, and
a raw TCP port. Prints their ports as `h1=N h2=N plain=N tcp=N`.

Every byte received, deciphered, goes to DIR/received-HOST (HOST as the request names it). A request is answered
with what its x-reflect header wants: `PART WRITING CODING FRAME`, where PART is a part of this very request. A
path that ends in /hold is answered only once DIR/go exists."""
import asyncio
import base64
import gzip
import hashlib
import os
import ssl
import struct
import sys
import zlib

from trial_writings import WRITINGS

try:
    import h2.config
    import h2.connection
    import h2.events
except ImportError:
    h2 = None
try:
    import brotli
except ImportError:
    brotli = None

where = sys.argv[1]


def record(host, data):
    name = "".join(c for c in (host or "unknown").split(":")[0] if c.isalnum() or c in ".-")[:80] or "unknown"
    with open(os.path.join(where, "received-" + name), "ab") as f:
        f.write(data)


def secret_of(value):
    """What a reflecting server would take out of a header: the password of Basic, the token of Bearer."""
    kind, _, rest = value.partition(" ")
    if kind.lower() == "basic":
        try:
            return base64.b64decode(rest).decode().partition(":")[2]
        except ValueError:
            return rest
    return rest or value


def part_of(part, target, headers, body):
    if part == "target":
        return target
    if part == "body":
        return body.decode("latin-1")
    if part == "all":
        return "\n".join("%s: %s" % h for h in headers)
    for name, value in headers:
        if name == part:
            return secret_of(value) if name == "authorization" else value
    return ""


def coded(coding, data):
    if coding == "gzip":
        return gzip.compress(data), "gzip"
    if coding == "deflate":
        return zlib.compress(data), "deflate"
    if coding == "br" and brotli:
        return brotli.compress(data), "br"
    if coding == "twice":
        return gzip.compress(gzip.compress(data)), "gzip, gzip"
    return data, ""


def answer_to(target, headers, body):
    """(extra headers, body, frame) for a request."""
    want = dict(headers).get("x-reflect", "").split()
    if len(want) != 4:
        return [], b"ok\n", "length"
    part, writing, coding, frame = want
    text = WRITINGS.get(writing, WRITINGS["raw"])(part_of(part, target, headers, body))
    data, name = coded(coding, ("before " * 9 + text + " after" * 9).encode("latin-1", "replace"))
    extra = [("content-encoding", name)] if name else []
    if frame == "header":
        clean = text.replace("\n", " ").replace("\r", " ")[:4000]
        extra += [("x-echo", clean), ("set-cookie", "echo=" + clean.replace(";", ",")), ("location", "/?" + clean.replace(" ", ""))]
    return extra, data, frame


async def held(target):
    while target.partition("?")[0].endswith("/hold") and not os.path.exists(os.path.join(where, "go")):
        await asyncio.sleep(0.02)


async def read_h1(reader):
    """(raw, target, headers, body) of one request, or None."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, ssl.SSLError):
        return None
    raw, lines = head, head.decode("latin-1").split("\r\n")
    headers = [(n.lower(), v.strip()) for n, _, v in (line.partition(":") for line in lines[1:] if line)]
    by, body = dict(headers), b""
    if "chunked" in by.get("transfer-encoding", ""):
        while True:
            line = await reader.readuntil(b"\r\n")
            size = int(line.split(b";")[0], 16)
            data = await reader.readexactly(size + 2) if size else b""
            raw += line + data
            body += data[:-2]
            if not size:
                while True:
                    line = await reader.readuntil(b"\r\n")
                    raw += line
                    if line == b"\r\n":
                        break
                break
    elif int(by.get("content-length", "0") or 0):
        body = await reader.readexactly(int(by["content-length"]))
        raw += body
    parts = lines[0].split(" ")
    return raw, parts[1] if len(parts) > 1 else "/", headers, body


def write_h1(writer, extra, data, frame):
    lines = ["HTTP/1.1 200 OK", "content-type: text/plain"] + ["%s: %s" % h for h in extra]
    if frame in ("chunks", "bytes", "trailer"):
        lines.append("transfer-encoding: chunked")
        out = []
        step = 1 if frame == "bytes" else 7
        for i in range(0, len(data), step):
            piece = data[i:i + step]
            out.append(b"%x\r\n" % len(piece) + piece + b"\r\n")
        out.append(b"0\r\n")
        if frame == "trailer":
            out.append(b"x-checksum: " + data.replace(b"\n", b" ")[:3000] + b"\r\n")
        out.append(b"\r\n")
        data = b"".join(out)
    else:
        lines.append("content-length: %d" % len(data))
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace") + data)


async def websocket(reader, writer, host, headers):
    key = dict(headers).get("sec-websocket-key", "")
    accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
    writer.write(("HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n"
                  "sec-websocket-accept: %s\r\n\r\n" % accept).encode())
    told = part_of("authorization", "", headers, b"")
    while True:
        head = await reader.readexactly(2)
        n = head[1] & 127
        more = await reader.readexactly(2 if n == 126 else 8 if n == 127 else 0)
        n = struct.unpack(">H", more)[0] if n == 126 else struct.unpack(">Q", more)[0] if n == 127 else n
        mask = await reader.readexactly(4)
        data = bytes(b ^ mask[i % 4] for i, b in enumerate(await reader.readexactly(n)))
        record(host, head + more + mask + data)
        if head[0] & 15 == 8:
            return
        writing = WRITINGS.get(data.decode("latin-1").strip(), WRITINGS["raw"])
        text = writing(told).encode("latin-1", "replace")
        half = len(text) // 2  # in two frames: the value lies across them
        for first, part in ((0x01, text[:half]), (0x80, text[half:])):
            size = bytes([len(part)]) if len(part) < 126 else b"\x7e" + struct.pack(">H", len(part))
            writer.write(bytes([first]) + size + part)
        await writer.drain()


async def serve_h1(reader, writer):
    try:
        while True:
            got = await read_h1(reader)
            if not got:
                break
            raw, target, headers, body = got
            host = dict(headers).get("host", "")
            record(host, raw)
            await held(target)
            if dict(headers).get("upgrade", "").lower() == "websocket":
                await websocket(reader, writer, host, headers)
                break
            write_h1(writer, *answer_to(target, headers, body))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError, ValueError):
        pass
    writer.close()


async def serve_h2(reader, writer):
    c = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="latin-1"))
    c.initiate_connection()
    writer.write(c.data_to_send())
    streams = {}
    try:
        while True:
            data = await reader.read(65536)
            if not data:
                break
            for e in c.receive_data(data):
                if isinstance(e, h2.events.RequestReceived):
                    streams[e.stream_id] = [e.headers, b""]
                elif isinstance(e, h2.events.DataReceived):
                    streams[e.stream_id][1] += e.data
                    c.acknowledge_received_data(e.flow_controlled_length, e.stream_id)
                elif isinstance(e, h2.events.TrailersReceived):
                    streams[e.stream_id][0] += e.headers
                elif isinstance(e, h2.events.StreamEnded):
                    headers, body = streams.pop(e.stream_id)
                    by = dict(headers)
                    record(by.get(":authority", ""), ("\n".join("%s: %s" % h for h in headers) + "\n").encode("latin-1") + body)
                    await held(by.get(":path", "/"))
                    extra, data, frame = answer_to(by.get(":path", "/"), headers, body)
                    c.send_headers(e.stream_id, [(":status", "200"), ("content-type", "text/plain")] + extra)
                    step = 1 if frame == "bytes" else 7 if frame == "chunks" else 4096
                    for i in range(0, len(data), step):
                        c.send_data(e.stream_id, data[i:i + step])
                    if frame == "trailer":
                        c.send_headers(e.stream_id, [("x-checksum", data.decode("latin-1").replace("\n", " ")[:3000])], end_stream=True)
                    else:
                        c.send_data(e.stream_id, b"", end_stream=True)
            writer.write(c.data_to_send())
            await writer.drain()
    except (ConnectionError, ssl.SSLError, h2.exceptions.ProtocolError):
        pass
    writer.close()


async def serve_tcp(reader, writer):
    try:
        while True:
            data = await reader.read(65536)
            if not data:
                break
            record("tcp", data)
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    writer.close()


async def main():
    ports = {}
    for name, serve, alpn in (("h1", serve_h1, "http/1.1"), ("h2", serve_h2, "h2"), ("plain", serve_h1, None), ("tcp", serve_tcp, None)):
        if name == "h2" and not h2:
            continue
        ctx = None
        if alpn:
            ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            ctx.load_cert_chain(sys.argv[2], sys.argv[3])
            ctx.set_alpn_protocols([alpn])
        server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=ctx, limit=1 << 20)
        ports[name] = server.sockets[0].getsockname()[1]
    print(" ".join("%s=%d" % p for p in ports.items()), flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
