#!/usr/bin/env python3
"""token_server.py STATE CERT KEY - a provider that gives tokens and serves whoever shows a good one. Prints its port.

It is the judge of logins: a refresh token works once; when one is used again, everything that was ever derived from
the same login is revoked, as real providers do it. STATE/counts has what happened, one word per line; STATE/config
(read at each request) can say `life=SECONDS`, `broken=1`; while there is a file STATE/hold a token has been given
and is not sent. A login named F begins with access-F and refresh-F.

  POST /v1/oauth/token, /oauth/token, /token   refresh_token, client_credentials, authorization_code, jwt-bearer
  POST /app/installations/7/access_tokens      a GitHub app
  anything else                                200 for a good bearer (or password of Basic), else 401"""
import base64
import json
import os
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

state = sys.argv[1]
lock = threading.Lock()
access = {}  # token -> (family, good until)
refresh = {}  # token -> (family, was used)
revoked = set()
serial = 0


def config(name, default):
    try:
        for line in open(os.path.join(state, "config")):
            key, _, value = line.strip().partition("=")
            if key == name:
                return value
    except OSError:
        pass
    return default


def count(words):
    with open(os.path.join(state, "counts"), "a") as f:
        f.write(words + "\n")


def new_pair(family):
    global serial
    serial += 1
    life = float(config("life", "3600"))
    a, r = "acc-%s-%06d-%s" % (family, serial, "a" * 40), "ref-%s-%06d-%s" % (family, serial, "r" * 40)
    access[a] = (family, time.time() + life)
    refresh[r] = (family, False)
    return {"access_token": a, "refresh_token": r, "token_type": "Bearer", "expires_in": int(life)}


def seed(family):
    access["access-%s-%s" % (family, "x" * 40)] = (family, 0)
    refresh["refresh-%s-%s" % (family, "y" * 40)] = (family, False)


def is_signed(jwt, pem):
    """By the openssl program, so that nothing is shared with who made it."""
    head, claims, signature = jwt.split(".")
    with tempfile.TemporaryDirectory() as d:
        open(d + "/s", "wb").write(base64.urlsafe_b64decode(signature + "=" * (-len(signature) % 4)))
        open(d + "/m", "wb").write((head + "." + claims).encode())
        done = subprocess.run(["openssl", "dgst", "-sha256", "-verify", pem, "-signature", d + "/s", d + "/m"], capture_output=True)
    return done.returncode == 0 and json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))


def grant(ask):
    kind = ask.get("grant_type", "")
    if kind == "refresh_token":
        if "client_secret" in ask:
            count("secret " + ask["client_secret"])
        token = ask.get("refresh_token", "")
        if token not in refresh:
            count("unknown refresh token")
            return 400, {"error": "invalid_grant"}
        family, was_used = refresh[token]
        if was_used:
            revoked.add(family)
            count("reuse " + family)
        if family in revoked:
            return 400, {"error": "invalid_grant"}
        refresh[token] = (family, True)
        count("refresh " + family)
        return 200, new_pair(family)
    if kind == "client_credentials":
        if (ask.get("client_id"), ask.get("client_secret")) != ("robot", "robot-secret-0123456789"):
            return 401, {"error": "invalid_client"}
        count("client robot")
        pair = new_pair("robot")
        del pair["refresh_token"]
        return 200, pair
    if kind == "authorization_code":
        count("code")
        return 200, new_pair("coded")
    if kind.endswith("jwt-bearer"):
        claims = is_signed(ask.get("assertion", ""), os.path.join(state, "gcp.pub"))
        if not claims or claims.get("iss") != "robot@example.test" or claims["exp"] - claims["iat"] > 3600:
            count("bad assertion")
            return 400, {"error": "invalid_grant"}
        count("gcp")
        pair = new_pair("gcp")
        del pair["refresh_token"]
        return 200, pair
    return 400, {"error": "unsupported_grant_type"}


class Provider(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, thing):
        body = json.dumps(thing).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def shown(self):
        kind, _, rest = self.headers.get("authorization", "").partition(" ")
        if kind.lower() == "basic":
            return base64.b64decode(rest).decode().partition(":")[2]
        return rest

    def serve(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode("latin-1")
        path = self.path.partition("?")[0]
        if path.endswith("/token") and self.command == "POST":
            if config("broken", "") == "1":
                self.answer(500, {"error": "server_error"})
                return
            is_json = "json" in self.headers.get("content-type", "")
            ask = json.loads(body) if is_json else {k: v[0] for k, v in parse_qs(body).items()}
            with lock:
                status, thing = grant(ask)
            while os.path.exists(os.path.join(state, "hold")):
                time.sleep(0.02)
            self.answer(status, thing)
        elif path == "/app/installations/7/access_tokens":
            claims = is_signed(self.shown(), os.path.join(state, "app.pub"))
            if not claims or claims.get("iss") != "Iv1.test":
                self.answer(401, {"message": "bad credentials"})
                return
            with lock:
                pair = new_pair("app")
            count("app " + ",".join(json.loads(body).get("repositories", ["everything"])))
            self.answer(201, {"token": pair["access_token"], "expires_at": "2099-01-01T00:00:00Z"})
        else:
            family, until = access.get(self.shown(), ("nobody", 0))
            good = family in revoked or until < time.time()
            count("%s %s" % ("refused" if good else "served", family))
            self.answer(401 if good else 200, {"hello": family})

    do_GET = do_POST = serve

    def log_message(self, *words):
        pass


for name in ("host", "codex", "crm", "plain"):
    seed(name)
server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[2], sys.argv[3])
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
