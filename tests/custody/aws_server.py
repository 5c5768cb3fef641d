"""aws_server.py - a small AWS on loopback whose judge is botocore: S3, STS, DynamoDB; and a partner who wants HMACs.

Called by tests/custody_aws.sh: aws_server.py CERT KEY CREDENTIALS LOG. CREDENTIALS is a file with the real
id, key and perhaps token, one a line. Each request's signature is made again from what arrived, by botocore's
own classes (signed chunks by the formula of the S3 documentation, since botocore sends none), and compared.
LOG gets one line a request: method, host, target, "good" or why not, and which of the form it had. Prints its
port. Answers 403 to whatever is not signed by the real key."""
import base64
import hashlib
import hmac
import http.server
import json
import re
import ssl
import sys
import threading
import time
import urllib.parse
import zlib

import botocore.auth
import botocore.awsrequest
import botocore.credentials

CERT, KEY, CREDENTIALS, LOG = sys.argv[1:5]
EMPTY = hashlib.sha256(b"").hexdigest()
objects, uploads, lock = {}, {}, threading.Lock()


def credentials():
    lines = open(CREDENTIALS).read().split("\n")
    return botocore.credentials.Credentials(lines[0], lines[1], lines[2] or None if len(lines) > 2 else None)


# What AssumeRole lends.
ROLE = botocore.credentials.Credentials("ASIAROLEROLEROLEROLE", "role/REALREALREALREAL+REALREALREALREALREALR", "ROLETOKENROLETOKENROLETOKENROLETOKEN+/012345678=")


def sign_key(secret, scope):
    key = ("AWS4" + secret).encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key


class Bad(Exception):
    pass


class Judge:
    """One request: is it signed by the real key? What is its body without chunks?"""

    def __init__(self, method, host, target, headers, body):
        self.method, self.host, self.target, self.headers, self.body = method, host, target, headers, body
        self.form = "none"
        self.creds = credentials()

    def header(self, name):
        found = [v for n, v in self.headers if n == name]
        if len(found) > 1:
            raise Bad(name + " twice")
        return found[0] if found else None

    def request(self, names, url):
        headers = {}
        for name in names:
            if name == "host":
                continue
            values = [v for n, v in self.headers if n == name]
            if not values:
                raise Bad("signed header " + name + " is not there")
            headers[name] = ",".join(values)
        headers["Host"] = self.host
        return botocore.awsrequest.AWSRequest(self.method, url, headers=headers, data=self.body)

    def scope(self, text):
        ident, date, region, service, last = text.split("/")
        if ident == ROLE.access_key:
            self.creds = ROLE
        if ident != self.creds.access_key:
            raise Bad("another access key: " + ident)
        if last != "aws4_request":
            raise Bad("scope")
        return date, region, service

    def make(self, auth, request, stamp):
        request.context["timestamp"] = stamp
        canonical = auth.canonical_request(request)
        return auth.signature(auth.string_to_sign(request, canonical), request)

    def hmac(self):
        """hook.*: v1=hex(HMAC-SHA256(key, "time.METHOD target.body"))"""
        self.form = "hmac"
        stamp = self.header("x-time") or ""
        text = ("%s.%s %s." % (stamp, self.method, self.target)).encode() + self.body
        want = "v1=" + hmac.new(self.creds.secret_key.encode(), text, hashlib.sha256).hexdigest()
        if not stamp or self.header("x-signature") != want:
            raise Bad("signature of the partner")
        return self.body

    def judge(self):
        if self.host.startswith("hook."):
            return self.hmac()
        query = self.target.partition("?")[2]
        if "X-Amz-Signature=" in query:
            self.in_url(query)
        else:
            self.in_header()
        return self.body

    def in_url(self, query):
        self.form = "presigned"
        p = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        date, region, service = self.scope(p["X-Amz-Credential"])
        if p.get("X-Amz-Security-Token") != self.creds.token:
            raise Bad("token")
        if int(p["X-Amz-Expires"]) > 604800 or not p["X-Amz-Date"].startswith(date):
            raise Bad("expires")
        rest = re.sub(r"&?X-Amz-Signature=[0-9a-f]*", "", self.target)
        kind = botocore.auth.S3SigV4QueryAuth if service == "s3" else botocore.auth.SigV4QueryAuth
        request = self.request(p["X-Amz-SignedHeaders"].split(";"), "https://" + self.host + rest)
        if self.make(kind(self.creds, service, region), request, p["X-Amz-Date"]) != p["X-Amz-Signature"]:
            raise Bad("signature in the URL")

    def in_header(self):
        value = self.header("authorization")
        m = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=(\S+), SignedHeaders=(\S+), Signature=([0-9a-f]{64})", value or "")
        if not m:
            raise Bad("no signature")
        date, region, service = self.scope(m.group(1))
        stamp = self.header("x-amz-date")
        if not stamp.startswith(date):
            raise Bad("day of the scope")
        if self.header("x-amz-security-token") != self.creds.token:
            raise Bad("token")
        names = m.group(2).split(";")
        unsigned = [n for n, _ in self.headers if n.startswith("x-amz-") and n not in names]
        if unsigned:
            raise Bad("not signed: " + " ".join(unsigned))
        kind = botocore.auth.S3SigV4Auth if service == "s3" else botocore.auth.SigV4Auth
        request = self.request(names, "https://" + self.host + self.target)
        if self.make(kind(self.creds, service, region), request, stamp) != m.group(3):
            raise Bad("signature")
        payload = self.header("x-amz-content-sha256")
        if service == "s3" and not payload:
            raise Bad("S3 wants x-amz-content-sha256")
        self.form = payload if payload and not re.fullmatch("[0-9a-f]{64}", payload) else "hash"
        if self.form == "hash" and payload and payload != hashlib.sha256(self.body).hexdigest():
            raise Bad("hash of the body")
        if self.form.startswith("STREAMING-"):
            self.body = self.chunks(stamp, "/".join([date, region, service, "aws4_request"]), m.group(3))

    def chunks(self, stamp, scope, last):
        data, at, is_signed = b"", 0, "AWS4-HMAC" in self.form
        key = sign_key(self.creds.secret_key, scope)

        def sign(kind, *rest):
            text = "\n".join(["AWS4-HMAC-SHA256-" + kind, stamp, scope, last, *rest])
            return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()

        while True:
            end = self.body.index(b"\r\n", at)
            size, _, extension = self.body[at:end].decode().partition(";")
            at = end + 2
            piece = self.body[at:at + int(size, 16)]
            at += len(piece)
            if is_signed:
                want = sign("PAYLOAD", EMPTY, hashlib.sha256(piece).hexdigest())
                if extension != "chunk-signature=" + want:
                    raise Bad("signature of a chunk")
                last = want
            if not piece:
                break
            if self.body[at:at + 2] != b"\r\n":
                raise Bad("chunk framing")
            at += 2
            data += piece
        lines = self.body[at:].decode().split("\r\n")
        if lines[-2:] != ["", ""]:
            raise Bad("end of the chunks")
        lines = lines[:-2]
        if "TRAILER" in self.form:
            signature = None
            if is_signed:
                name, _, signature = lines.pop().partition(":")
                text = "".join(line + "\n" for line in sorted(lines))
                if name != "x-amz-trailer-signature" or signature != sign("TRAILER", hashlib.sha256(text.encode()).hexdigest()):
                    raise Bad("signature of the trailer")
            checks = dict(line.split(":", 1) for line in lines)
            if checks.get("x-amz-checksum-crc32") != base64.b64encode(zlib.crc32(data).to_bytes(4, "big")).decode():
                raise Bad("checksum in the trailer")
        elif lines:
            raise Bad("a trailer that nobody announced")
        if len(data) != int(self.header("x-amz-decoded-content-length")):
            raise Bad("x-amz-decoded-content-length")
        return data


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def read_body(self):
        if "chunked" in (self.headers.get("transfer-encoding") or ""):
            body = b""
            while True:
                size = int(self.rfile.readline().split(b";")[0], 16)
                body += self.rfile.read(size)
                self.rfile.readline()
                if not size:
                    return body
        want = int(self.headers.get("content-length") or 0)
        body = b""
        if self.path.endswith("/slow"):  # the door's buffers, and ours, are full by then
            time.sleep(2)
            while len(body) < want // 2:
                body += self.rfile.read(100000)
                time.sleep(0.01)
        body += self.rfile.read(want - len(body))
        if len(body) < want:
            raise ConnectionError("the request was given up in the middle")
        return body

    def say(self, status, body=b"", kind="application/xml", **headers):
        self.send_response(status)
        self.send_header("content-type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        length = headers.pop("content_length", None)
        if length is None:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def serve(self):
        body = self.read_body()
        host = self.headers.get("host", "")
        headers = [(n.lower(), v) for n, v in self.headers.items()]
        judge = Judge(self.command, host, self.path, headers, body)
        try:
            body, why = judge.judge(), "good"
        except Exception as e:  # whatever is wrong with it, it is not signed
            why = "%s: %s" % (type(e).__name__, e)
        form = judge.form + (" role" if judge.creds is ROLE else "")
        with lock, open(LOG, "a") as log:
            log.write("%s %s %s %s [%s]\n" % (self.command, host, self.path.partition("?")[0], why, form))
        if why != "good":
            # AWS tells what it was shown; nothing of it may reach the box.
            seen = (self.headers.get("authorization") or self.path).replace("&", "&amp;")
            return self.say(403, ("<Error><Code>SignatureDoesNotMatch</Code><Message>%s</Message><AWSAccessKeyId>%s</AWSAccessKeyId>"
                                  "<Seen>%s</Seen></Error>" % (why, credentials().access_key, seen)).encode())
        if host.startswith("hook."):
            return self.say(200, b"hooked")
        if host.startswith("sts.") and b"Action=AssumeRole" in body:
            text = ("<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey>"
                    "<SessionToken>%s</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>"
                    % (ROLE.access_key, ROLE.secret_key, ROLE.token))
            return self.say(200, text.encode(), "text/xml")
        if host.startswith("sts."):
            text = ("<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::123456789012:user/tester</Arn><UserId>%s</UserId>"
                    "<Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>" % credentials().access_key)
            return self.say(200, text.encode(), "text/xml")
        if host.startswith("dynamodb."):
            return self.say(200, json.dumps({"TableNames": [json.loads(body).get("ExclusiveStartTableName", "none")]}).encode(),
                            "application/x-amz-json-1.0")
        if self.path.endswith("/echo"):
            return self.say(200, ("%s %s" % (self.headers.get("authorization"), credentials().token)).encode(), "text/plain")
        self.s3(host, body)

    def s3(self, host, body):
        path, _, query = self.path.partition("?")
        q = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        bucket = host.partition(".s3.")[0] if ".s3." in host else None
        name = urllib.parse.unquote(path)[1:]
        if bucket is None:
            bucket, _, name = name.partition("/")
        with lock:
            if not bucket:
                return self.say(200, b"<ListAllMyBucketsResult><Owner><ID>1</ID></Owner><Buckets><Bucket><Name>tb</Name>"
                                     b"<CreationDate>2020-01-01T00:00:00.000Z</CreationDate></Bucket></Buckets></ListAllMyBucketsResult>")
            if not name:
                keys = "".join("<Contents><Key>%s</Key><Size>%d</Size><LastModified>2020-01-01T00:00:00.000Z</LastModified></Contents>"
                               % (k[1], len(v)) for k, v in sorted(objects.items()) if k[0] == bucket and k[1].startswith(q.get("prefix", "")))
                return self.say(200, ("<ListBucketResult><Name>%s</Name><IsTruncated>false</IsTruncated>%s</ListBucketResult>" % (bucket, keys)).encode())
            if self.command == "POST" and "uploads" in q:
                uploads["u1"] = {}
                return self.say(200, b"<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>")
            if self.command == "POST" and "uploadId" in q:
                objects[(bucket, name)] = b"".join(v for _, v in sorted(uploads.pop(q["uploadId"]).items()))
                return self.say(200, b"<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>")
            if self.command == "PUT" and "uploadId" in q:
                uploads[q["uploadId"]][int(q["partNumber"])] = body
                return self.say(200, ETag='"%s"' % hashlib.md5(body).hexdigest())
            if self.command == "PUT":
                objects[(bucket, name)] = body
                return self.say(200, ETag='"%s"' % hashlib.md5(body).hexdigest())
            found = objects.get((bucket, name))
        if found is None:
            return self.say(404, b"<Error><Code>NoSuchKey</Code></Error>")
        fields = {"ETag": '"x"', "Last_Modified": "Wed, 01 Jan 2020 00:00:00 GMT"}
        m = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("range") or "")
        if self.command == "HEAD":
            return self.say(200, content_length=str(len(found)), **fields)
        if m:
            a, b = int(m.group(1)), int(m.group(2) or len(found) - 1)
            piece = found[a:b + 1]
            return self.say(206, piece, "binary/octet-stream",
                            Content_Range="bytes %d-%d/%d" % (a, a + len(piece) - 1, len(found)), **fields)
        self.say(200, found, "binary/octet-stream", **fields)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = serve


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # clients go away


server = Server(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(CERT, KEY)
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(server.server_address[1], flush=True)
server.serve_forever()
