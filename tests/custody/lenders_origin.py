#!/usr/bin/env python3
"""lenders_origin.py CERT KEY - an origin that lends credentials in whatever form it is asked for: the query's `type` is the
Content-Type ("-" for none), `body` the answer, in which TOKEN, KEYID, SECRET and SESSION stand for fresh ones, `coding` gzip
packs it, `status` and `location` are what they say, `field` is one more field. Every token that it gave out stands in the file `lent`, one in a line."""
import gzip
import http.server
import secrets
import ssl
import string
import sys
import urllib.parse

LENT = open(sys.argv[3], "a")


def fresh(prefix, n=40):
    text = prefix + "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(n))
    LENT.write(text + "\n")
    LENT.flush()
    return text


class Origin(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query, keep_blank_values=True))
        body = query.get("body", "")
        for name, prefix in (("TOKEN", "lent-"), ("KEYID", "ASIA"), ("SECRET", "lentSecret"), ("SESSION", "lentSession")):
            while name in body:
                body = body.replace(name, fresh(prefix), 1)
        data = body.encode("utf-16" if query.get("utf16") else "utf-8")
        if query.get("coding") == "gzip":
            data = gzip.compress(data)
        self.send_response(int(query.get("status", "200")))
        if query.get("type", "-") != "-":
            self.send_header("content-type", query["type"])
        if query.get("type2"):
            self.send_header("content-type", query["type2"])
        if query.get("coding"):
            self.send_header("content-encoding", query["coding"])
        if query.get("location"):
            self.send_header("location", query["location"].replace("TOKEN", fresh("lent-")))
        if query.get("field"):
            name, _, value = query["field"].partition(": ")
            self.send_header(name, value.replace("TOKEN", fresh("lent-")))
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_POST = do_PUT = do_GET

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
