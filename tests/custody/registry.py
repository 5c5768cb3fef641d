#!/usr/bin/env python3
"""registry.py - a private index of npm and pip over TLS that wants a token with every request.

registry.py CERT KEY LOG TOKEN: prints its port. Each line of LOG is "STATUS METHOD PATH AUTHORIZATION", so a test
sees what reached the server. npm shows the token as a bearer, pip as the password of Basic.
"""
import base64
import hashlib
import http.server
import io
import json
import ssl
import sys
import tarfile
import zipfile

cert, key, log, token = sys.argv[1:]


def make_tgz():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as t:
        for name, text in (
            ("package/package.json", '{"name": "thing", "version": "1.0.0", "main": "index.js"}'),
            ("package/index.js", 'module.exports = "a private thing";\n'),
        ):
            info = tarfile.TarInfo(name)
            info.size = len(text)
            t.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


def make_wheel():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr("thing.py", "x = 1\n")
        z.writestr("thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n")
        z.writestr("thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr("thing-1.0.dist-info/RECORD", "")
    return out.getvalue()


TGZ = make_tgz()
WHEEL = make_wheel()
WHEEL_NAME = "thing-1.0-py3-none-any.whl"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def is_known(self):
        auth = self.headers.get("Authorization", "")
        kind, _, rest = auth.partition(" ")
        if kind.lower() == "bearer":
            return rest == token
        if kind.lower() == "basic":
            return base64.b64decode(rest).decode(errors="replace").partition(":")[2] == token
        return False

    def answer(self, status, body, kind="application/json"):
        with open(log, "a", encoding="utf-8") as f:
            f.write(f"{status} {self.command} {self.path} {self.headers.get('Authorization', '-')}\n")
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if status == 401:
            self.send_header("WWW-Authenticate", 'Basic realm="index"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        host = self.headers.get("Host", "")
        if not self.is_known():
            self.answer(401, b'{"error": "a token is wanted"}')
        elif self.path == "/thing":
            dist = {
                "tarball": f"https://{host}/thing/-/thing-1.0.0.tgz",
                "integrity": "sha512-" + base64.b64encode(hashlib.sha512(TGZ).digest()).decode(),
                "shasum": hashlib.sha1(TGZ).hexdigest(),
            }
            version = {"name": "thing", "version": "1.0.0", "dist": dist}
            self.answer(200, json.dumps({"name": "thing", "dist-tags": {"latest": "1.0.0"},
                                         "versions": {"1.0.0": version}}).encode())
        elif self.path == "/thing/-/thing-1.0.0.tgz":
            self.answer(200, TGZ, "application/octet-stream")
        elif self.path == "/simple/thing/":
            self.answer(200, f'<a href="/files/{WHEEL_NAME}">{WHEEL_NAME}</a>'.encode(), "text/html")
        elif self.path == f"/files/{WHEEL_NAME}":
            self.answer(200, WHEEL, "application/octet-stream")
        else:
            self.answer(404, b"{}")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(cert, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
