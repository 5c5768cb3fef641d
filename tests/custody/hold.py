#!/usr/bin/env python3
"""hold.py h1|h2 HOST VARIABLE - in a box: one connection that stays open. Each line of standard input is a path; the
request carries `Authorization: Bearer $VARIABLE`, and what became of it is printed as one line: the status and the
body, or `closed`. After `closed` the next request has a connection of its own."""
import os
import socket
import ssl
import sys

kind, host, variable = sys.argv[1:4]
bearer = "Bearer " + os.environ[variable]


class H1:
    def __init__(self):
        self.s = connect("http/1.1")
        self.file = self.s.makefile("rb")

    def get(self, path):
        self.s.sendall(("GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\n\r\n" % (path, host, bearer)).encode())
        line = self.file.readline()
        if not line:
            raise ConnectionError
        headers = {}
        while True:
            field = self.file.readline().strip()
            if not field:
                break
            name, _, value = field.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        body = b""
        if "chunked" in headers.get("transfer-encoding", ""):
            while True:
                n = int(self.file.readline(), 16)
                body += self.file.read(n)
                self.file.readline()
                if n == 0:
                    break
        else:
            want = int(headers.get("content-length", "0"))
            body = self.file.read(want)
            if len(body) < want:
                raise ConnectionError
        return line.split()[1].decode(), body


class H2:
    def __init__(self):
        import h2.connection
        import h2.events
        self.events = h2.events
        self.s = connect("h2")
        self.c = h2.connection.H2Connection()
        self.c.initiate_connection()
        self.s.sendall(self.c.data_to_send())

    def get(self, path):
        n = self.c.get_next_available_stream_id()
        self.c.send_headers(n, [(":method", "GET"), (":scheme", "https"), (":authority", host), (":path", path),
                                ("authorization", bearer)], end_stream=True)
        self.s.sendall(self.c.data_to_send())
        status, body = "?", b""
        while True:
            data = self.s.recv(65536)
            if not data:
                raise ConnectionError
            for e in self.c.receive_data(data):
                if getattr(e, "stream_id", n) != n:
                    continue
                if isinstance(e, self.events.ResponseReceived):
                    status = dict((k.decode() if isinstance(k, bytes) else k, v.decode() if isinstance(v, bytes) else v)
                                  for k, v in e.headers)[":status"]
                elif isinstance(e, self.events.DataReceived):
                    body += e.data
                    self.c.acknowledge_received_data(e.flow_controlled_length, n)
                elif isinstance(e, self.events.StreamReset):
                    return "reset", b""
                elif isinstance(e, self.events.ConnectionTerminated):
                    raise ConnectionError
                elif isinstance(e, self.events.StreamEnded):
                    self.s.sendall(self.c.data_to_send())
                    return status, body
            self.s.sendall(self.c.data_to_send())


def connect(alpn):
    context = ssl.create_default_context()
    context.set_alpn_protocols([alpn])
    s = context.wrap_socket(socket.create_connection((host, 443), timeout=100), server_hostname=host)
    s.settimeout(100)
    return s


conn = None
for line in sys.stdin:
    try:
        conn = conn or (H1() if kind == "h1" else H2())
        status, body = conn.get(line.strip())
        print(status, body.decode("latin-1").replace("\n", " ")[:300], flush=True)
    except (OSError, ValueError):
        print("closed", flush=True)
        conn = None
