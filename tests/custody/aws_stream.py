"""aws_stream.py - a client in the box that uploads to S3 in chunks, as SDKs of other languages do.

aws_stream.py FORM HOST PATH SIZE [FAULT]: FORM is signed, signed-trailer, unsigned-trailer or unsigned. Signs with
whatever AWS_ACCESS_KEY_ID and its friends hold. FAULT: http-chunked (inside HTTP chunks too), bad-frame, huge-chunk,
short. Prints the answer's status and the first words of its body."""
import base64
import datetime
import hashlib
import hmac
import http.client
import os
import ssl
import sys
import zlib

form, host, path, size = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
fault = sys.argv[5] if len(sys.argv) > 5 else ""
ident, secret, token = (os.environ.get("AWS_" + n, "") for n in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN"))
region, service = "eu-west-1", "s3"
data = bytes(i * 7 % 251 for i in range(1000)) * (size // 1000) + b"x" * (size % 1000)
now = datetime.datetime.utcnow().strftime("%Y%m%dT%H%M%SZ")
scope = "%s/%s/%s/aws4_request" % (now[:8], region, service)
words = {"signed": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "signed-trailer": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
         "unsigned-trailer": "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "unsigned": "UNSIGNED-PAYLOAD"}[form]
key = ("AWS4" + secret).encode()
for part in scope.split("/"):
    key = hmac.new(key, part.encode(), hashlib.sha256).digest()


def sign(text):
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


headers = {"host": host, "x-amz-date": now, "x-amz-content-sha256": words}
if token:
    headers["x-amz-security-token"] = token
if form != "unsigned":
    headers["content-encoding"] = "aws-chunked"
    headers["x-amz-decoded-content-length"] = str(len(data))
if "trailer" in form:
    headers["x-amz-trailer"] = "x-amz-checksum-crc32"
names = ";".join(sorted(headers))
canonical = "\n".join(["PUT", path, "", "".join("%s:%s\n" % (n, headers[n]) for n in sorted(headers)), names, words])
last = sign("\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()]))
headers["authorization"] = "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s" % (ident, scope, names, last)

empty = hashlib.sha256(b"").hexdigest()
body = b""
step = 64 << 10 if fault != "huge-chunk" else 2 << 20
if form == "unsigned":
    body = data
else:
    for at in list(range(0, len(data), step)) + [len(data)]:
        piece = data[at:at + step]
        head = "%x" % len(piece)
        if form.startswith("signed"):
            last = sign("\n".join(["AWS4-HMAC-SHA256-PAYLOAD", now, scope, last, empty, hashlib.sha256(piece).hexdigest()]))
            head += ";chunk-signature=" + last
        body += head.encode() + b"\r\n" + piece + (b"\r\n" if piece else b"")
    if "trailer" in form:
        line = "x-amz-checksum-crc32:" + base64.b64encode(zlib.crc32(data).to_bytes(4, "big")).decode()
        body += line.encode() + b"\r\n"
        if form.startswith("signed"):
            text = line + "\n"
            body += ("x-amz-trailer-signature:" + sign("\n".join(["AWS4-HMAC-SHA256-TRAILER", now, scope, last, hashlib.sha256(text.encode()).hexdigest()]))).encode() + b"\r\n"
    body += b"\r\n"
if fault == "bad-frame":
    body = body.replace(b";chunk-signature=", b"; chunk-signature=", 1)
if fault == "short":
    body = body[:-100]
    headers["content-length"] = str(len(body))

connection = http.client.HTTPSConnection(host, timeout=100, context=ssl.create_default_context())
try:
    if fault == "http-chunked":
        pieces = (body[i:i + 5000] for i in range(0, len(body), 5000))
        connection.request("PUT", path, body=pieces, headers={**headers, "transfer-encoding": "chunked"}, encode_chunked=True)
    else:
        connection.request("PUT", path, body=body, headers=headers)
except (BrokenPipeError, ConnectionResetError):
    pass  # refused in the middle; the answer may be there all the same
try:
    answer = connection.getresponse()
    print(answer.status, answer.read(300).decode(errors="replace"))
except (http.client.HTTPException, OSError) as e:
    print("cut", e)
