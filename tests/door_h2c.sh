#!/bin/bash
# suite: test=user soak=root,user timeout=120
# tier: origins are spoken to alike whoever starts the box; both users in soak
# door_h2c.sh - HTTP/2 without TLS: a program that speaks it to the door has its origin spoken to in the same way,
# with the real OpenTelemetry SDK and a collector of gRPC, with curl and nghttpd, and with an origin of HTTP/1 alone (finding C6).
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs door_h2c curl openssl /usr/sbin/nginx python3 node nghttpd h2load
/usr/bin/python3 -c 'import grpc' 2>/dev/null || { skip door_h2c "python3-grpcio is missing" && exit 0; }
packages=${SUITE_CACHE:-$top/out}/test-agents/managers/node_modules
door_ca && door_nginx
check "nginx is up" $? "$(cat "$work/nginx.err")"
/usr/bin/python3 tests/door/grpc_origin.py - - "$work/seen" >"$work/grpc" 2>"$work/grpc.err" &
door_pids+=($!)
h2c=$(free_port)
nghttpd --no-tls -a 127.0.0.1 -d "$work/www" "$h2c" >/dev/null 2>&1 &
door_pids+=($!)
within 60 test -s "$work/grpc" && listens "$h2c"
check "origins of HTTP/2 without TLS are up" $? "$(cat "$work/grpc.err")"

cp tests/door/grpc_client.py "$work/ws/"
mkdir "$work/ws/node_modules" && cp -r "$packages/." "$work/ws/node_modules/" 2>/dev/null
door_box h2c --allow "POST collector.example.test:4317/opentelemetry.proto.collector.trace.v1.TraceService/Export to=127.0.0.1:$(cat "$work/grpc")" \
	--allow "POST chat.example.test:4317 to=127.0.0.1:$(cat "$work/grpc")" \
	--allow "* h2c.example.test:4318 to=127.0.0.1:$h2c" --allow "* h1.example.test:4318 to=127.0.0.1:$nginx_plain" >/dev/null

export_method=/opentelemetry.proto.collector.trace.v1.TraceService/Export
rpc() { in_box h2c /usr/bin/python3 grpc_client.py "$@" 2>&1 | tail -n 1; }
same "gRPC without TLS, with its trailers" "$(rpc unary collector.example.test:4317 $export_method 100)" " 100"
same "a conversation in lockstep" "$(rpc talk chat.example.test:4317)" "talked 0"
holds "a method that no rule allows is a gRPC status" "$(rpc unary collector.example.test:4317 /test.Chat/Fail 1)" "PERMISSION_DENIED"
holds "an origin of HTTP/1 alone is no place for gRPC, and that is said" "$(rpc unary h1.example.test:4318 /x/y 1)" \
	"does not speak HTTP/2 without TLS"
fetch() { in_box h2c curl -sS -m 60 --http2-prior-knowledge -w ' %{http_version} %{http_code}' "$@" 2>&1; }
same "curl with prior knowledge" "$(fetch http://h2c.example.test:4318/hello)" "hello from nginx
 2 200"
holds "a hundred at once" "$(in_box h2c h2load -n 100 -c 1 -m 100 http://h2c.example.test:4318/hello 2>&1)" "100 succeeded, 0 failed"
same "prior knowledge for an origin of HTTP/1 alone" "$(fetch http://h1.example.test:4318/hello)" "hello from nginx
 2 200"
same "and with a body" "$(fetch -d a=1 -o /dev/null http://h1.example.test:4318/teapot)" " 2 418"

if [ -e "$packages/@opentelemetry/exporter-trace-otlp-grpc" ]; then
	cat >"$work/ws/otel.cjs" <<-'JS'
		const { NodeTracerProvider, BatchSpanProcessor } = require("@opentelemetry/sdk-trace-node");
		const { OTLPTraceExporter } = require("@opentelemetry/exporter-trace-otlp-grpc");
		const exporter = new OTLPTraceExporter({ url: "http://collector.example.test:4317" });
		const plain = exporter.export.bind(exporter);
		exporter.export = (spans, done) => plain(spans, (r) => { console.log("spans", spans.length, "code", r.code, r.error ? r.error.message : ""); done(r); });
		const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
		for (let i = 0; i < 50; i++) provider.getTracer("test").startSpan("span " + i).end();
		provider.forceFlush().then(() => provider.shutdown()).catch((e) => console.log("failed", e.message));
	JS
	: >"$work/seen"
	same "the OpenTelemetry SDK exports 50 spans over gRPC" "$(in_box h2c node otel.cjs 2>&1)" "spans 50 code 0 "
	holds "and the collector has them" "$(cat "$work/seen")" "user-agent: OTel-OTLP-Exporter-JavaScript"
else
	skip "the OpenTelemetry SDK" "it could not be installed from npm"
fi
exit "$bad"
