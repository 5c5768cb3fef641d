#!/usr/bin/env python3
"""registry.py - a package registry on loopback: npm's and pip's, small and real enough for the tools themselves.

Usage: registry.py PORT LOG DIRECTORY...

Every npm package that lies below a DIRECTORY (a package.json with name and version, in or out of a node_modules) is
published under its own name and version, packed when it is asked for, without the packages below it. Every wheel that
lies directly in a DIRECTORY is in pip's index at /simple/. Each request is one line in LOG: method, path. PUT and POST
are taken and answered with 201, so that whoever refuses them was not this server. It is an HTTP proxy as well, behind
which every host is this registry. Port 0 takes a free one; "ready PORT"
is the first line of the output.
"""
import base64
import gzip
import hashlib
import http.server
import io
import json
import os
import re
import select
import socket
import sys
import tarfile
import threading
import urllib.parse

packages = {}  # name -> version -> directory
wheels = {}  # name -> [path]
packed = {}
lock = threading.Lock()
log = None


def find(top):
    for dir, below, files in os.walk(top):
        if "package.json" in files:
            try:
                with open(os.path.join(dir, "package.json")) as f:
                    said = json.load(f)
                packages.setdefault(said["name"], {}).setdefault(said["version"], dir)
            except (ValueError, KeyError, TypeError, OSError):
                pass
        below[:] = [b for b in below if b != ".git"]
    for name in os.listdir(top):
        if name.endswith(".whl"):
            wheels.setdefault(re.sub(r"[-_.]+", "-", name.split("-")[0]).lower(), []).append(os.path.join(top, name))


def pack(dir):
    """The tarball of a package, as `npm pack` would make it."""
    with lock:
        if dir not in packed:
            raw = io.BytesIO()
            with gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=1, mtime=0) as z, tarfile.open(fileobj=z, mode="w") as t:
                for at, below, files in os.walk(dir):
                    below[:] = sorted(b for b in below if b != "node_modules")
                    for name in sorted(files):
                        path = os.path.join(at, name)
                        if not os.path.islink(path):
                            t.add(path, "package/" + os.path.relpath(path, dir))
            packed[dir] = raw.getvalue()
        return packed[dir]


def version_order(v):
    return [int(n) if n.isdigit() else 0 for n in re.split(r"[.+-]", v)[:3]] + ["-" not in v, v]


class Registry(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def note(self):
        with lock:
            log.write(f"{self.command} {self.path}\n")
            log.flush()

    def answer(self, code, body, kind):
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def packument(self, name, base):
        versions = {}
        for version, dir in packages[name].items():
            with open(os.path.join(dir, "package.json")) as f:
                said = json.load(f)
            tarball = pack(dir)
            said["dist"] = {
                "tarball": f"{base}/{name}/-/{name.split('/')[-1]}-{version}.tgz",
                "shasum": hashlib.sha1(tarball).hexdigest(),
                "integrity": "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode(),
            }
            # An installed package.json may miss this; a registry says it from the files.
            if "scripts" in said and said["scripts"].get("postinstall"):
                said["hasInstallScript"] = True
            versions[version] = said
        newest = sorted((v for v in versions if "-" not in v), key=version_order) or sorted(versions)
        time = {v: "2020-01-01T00:00:00.000Z" for v in ["created", "modified", *versions]}
        return {"name": name, "dist-tags": {"latest": newest[-1]}, "versions": versions, "time": time}

    def simple(self, name, base):
        links = "".join(f'<a href="{base}/wheels/{os.path.basename(w)}">{os.path.basename(w)}</a>\n' for w in wheels[name])
        return f"<!DOCTYPE html><html><body>{links}</body></html>".encode()

    def do_GET(self):
        self.note()
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        base = f"http://{self.headers.get('Host')}"
        tar = re.fullmatch(r"/(.+)/-/[^/]*?-(\d+\..*)\.tgz", path)
        simple = re.fullmatch(r"/simple/([^/]+)/?", path)
        wheel = re.fullmatch(r"/wheels/([^/]+)", path)
        if tar and tar[2] in packages.get(tar[1], {}):
            return self.answer(200, pack(packages[tar[1]][tar[2]]), "application/octet-stream")
        if simple and simple[1] in wheels:
            return self.answer(200, self.simple(simple[1], base), "text/html")
        for paths in wheels.values() if wheel else []:
            for p in paths:
                if os.path.basename(p) == wheel[1]:
                    with open(p, "rb") as f:
                        return self.answer(200, f.read(), "application/octet-stream")
        if path[1:] in packages:
            return self.answer(200, json.dumps(self.packument(path[1:], base)).encode(), "application/json")
        self.answer(404, b'{"error":"not found"}', "application/json")

    do_HEAD = do_GET

    def do_POST(self):
        self.note()
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.answer(201, b'{"ok":true}', "application/json")

    do_PUT = do_POST

    def do_CONNECT(self):
        """As a proxy: whatever host is asked for is this registry."""
        self.note()
        self.send_response(200)
        self.end_headers()
        there = socket.create_connection(self.server.server_address)
        here = self.connection
        while True:
            for s in select.select([here, there], [], [])[0]:
                got = s.recv(65536)
                if not got:
                    there.close()
                    self.close_connection = True
                    return
                (there if s is here else here).sendall(got)


def main():
    global log
    port, where, tops = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    log = open(where, "a")
    for top in tops:
        find(top)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Registry)
    server.daemon_threads = True
    print(f"ready {server.server_address[1]}", flush=True)
    server.serve_forever()


main()
