#!/usr/bin/env python3
"""grpc_origin.py - a gRPC server without generated code: a collector that counts what it is sent, and a chat
that answers each message before the next one comes. With SEEN, the metadata of each call of the collector is written to
that file, and one of them comes back in the trailers. usage: grpc_origin.py CERT KEY [SEEN], - for both: without TLS; prints its port."""
import concurrent.futures
import sys

import grpc


def export(request, context):
    trailers = [("x-seen", str(len(request)))]
    if len(sys.argv) > 3:
        given = context.invocation_metadata()
        with open(sys.argv[3], "a") as seen:
            seen.write("bytes: %d\n" % len(request))
            seen.writelines("%s: %s\n" % (name, value) for name, value in given)
        trailers += [("x-echo", value) for name, value in given if name == "x-token"]
    context.set_trailing_metadata(trailers)
    if sys.argv[1] == "-" and len(sys.argv) > 3:
        return b""  # an ExportTraceServiceResponse without a word: all was taken
    return b"got " + str(len(request)).encode()


def chat(requests, context):
    for n, message in enumerate(requests):
        yield b"%d:" % n + message


def fail(request, context):
    context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "no more: 100% used")


class Handlers(grpc.GenericRpcHandler):
    def service(self, details):
        return {
            "/opentelemetry.proto.collector.trace.v1.TraceService/Export": grpc.unary_unary_rpc_method_handler(export),
            "/test.Chat/Talk": grpc.stream_stream_rpc_method_handler(chat),
            "/test.Chat/Fail": grpc.unary_unary_rpc_method_handler(fail),
        }.get(details.method)


def main():
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(8), handlers=(Handlers(),))
    if sys.argv[1] == "-":
        port = server.add_insecure_port("127.0.0.1:0")
    else:
        cert, key = (open(name, "rb").read() for name in sys.argv[1:3])
        port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([(key, cert)]))
    server.start()
    print(port, flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main()
