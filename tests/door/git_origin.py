#!/usr/bin/env python3
"""git_origin.py - git's own http-backend behind the smallest server that can run it, for pushes through the door.

usage: git_origin.py FOLDER   serves the bare repositories in it, pushes too; prints its port
"""
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def body(self):
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length", 0)))
        parts = []
        while True:
            n = int(self.rfile.readline(), 16)
            parts.append(self.rfile.read(n))
            self.rfile.readline()
            if n == 0:
                return b"".join(parts)

    def run(self):
        body = self.body()
        path, _, query = self.path.partition("?")
        env = {
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": sys.argv[1], "GIT_HTTP_EXPORT_ALL": "1",
            "REMOTE_USER": "tester", "REMOTE_ADDR": "127.0.0.1", "REQUEST_METHOD": self.command,
            "PATH_INFO": path, "QUERY_STRING": query, "CONTENT_TYPE": self.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)), "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
        }
        if "git-protocol" in self.headers:
            env["GIT_PROTOCOL"] = self.headers["git-protocol"]
        if self.headers.get("content-encoding") == "gzip":
            env["HTTP_CONTENT_ENCODING"] = "gzip"
        out = subprocess.run(["git", "http-backend"], input=body, env=env, stdout=subprocess.PIPE, check=False).stdout
        head, _, rest = out.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line]
        status = next((v for k, v in fields if k.lower() == "status"), "200 OK")
        self.send_response(int(status.split()[0]))
        for k, v in fields:
            if k.lower() != "status":
                self.send_header(k, v)
        self.send_header("content-length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest)

    do_GET = do_POST = run


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
