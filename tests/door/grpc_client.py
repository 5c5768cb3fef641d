"""grpc_client.py - runs in the box: one unary call, one conversation in lockstep, one failure, one refusal.
usage: grpc_client.py talk HOST | unary HOST METHOD BYTES [METADATA=TEXT...]; $NAME in TEXT is a variable.
HOST:PORT is without TLS."""
import os
import sys

import grpc

roots = open(os.environ.get("SSL_CERT_FILE", "/etc/ssl/certs/ca-certificates.crt"), "rb").read()


def channel(host):
    if ":" in host:  # with a port: without TLS
        return grpc.insecure_channel(host)
    return grpc.secure_channel(host + ":443", grpc.ssl_channel_credentials(roots))


def unary(host, method, data, metadata):
    call = channel(host).unary_unary(method)
    try:
        answer, done = call.with_call(data, timeout=100, metadata=metadata)
        trailers = dict(done.trailing_metadata())
        print(answer.decode(), trailers.get("x-seen", ""), *filter(None, [trailers.get("x-echo")]))
    except grpc.RpcError as e:
        print(e.code().name, e.details())


def talk(host):
    """Each message is sent only after the answer to the one before has come."""
    import queue
    q = queue.Queue()
    answers = channel(host).stream_stream("/test.Chat/Talk")(iter(q.get, None), timeout=100)
    for n in range(10):
        q.put(b"hello %d" % n)
        assert next(answers) == b"%d:hello %d" % (n, n)
    q.put(None)
    print("talked", len(list(answers)))


if __name__ == "__main__":
    what, host = sys.argv[1:3]
    if what == "talk":
        talk(host)
    else:
        given = [os.path.expandvars(word).split("=", 1) for word in sys.argv[5:]]
        unary(host, sys.argv[3], b"x" * int(sys.argv[4]), [tuple(pair) for pair in given])
