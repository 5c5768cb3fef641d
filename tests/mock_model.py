"""mock_model.py - a model service on loopback that wants exactly one command run.

Started inside a box by tests/real_agents.sh. Speaks enough of three services' streams for their agents: the
answer to the first question is a call of the agent's own shell tool, the answer to its result is the
word DONE. Arguments: port, command; then, outside of the box, perhaps CERT KEY CREDENTIAL: TLS, and whoever does
not show that credential is not served, as a real service does it. Port 0 takes any and prints it.

An agent on a busy machine may answer before its command is over. A command that ends in `echo all-of-""it-ran` is
asked for again until that is in an answer."""
import json
import ssl
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, COMMAND = int(sys.argv[1]), sys.argv[2]
CERT, KEY, CREDENTIAL = sys.argv[3:6] if len(sys.argv) > 5 else (None, None, None)
MARK = "all-of-it-ran" if 'all-of-""it-ran' in COMMAND else None


def is_done(text, answer):
    """Has the agent answered, and the command ended? Whoever never comes to its end is let go after a while."""
    answers = text.count(answer)
    if not answers or MARK is None or MARK in text or answers > 60:
        return answers > 0
    time.sleep(1)
    return False


def anthropic(ask):
    """Events of /v1/messages."""
    text = json.dumps(ask.get("messages", []))
    tools = [t.get("name") for t in ask.get("tools", [])]
    yield {"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": ask.get("model", "m"), "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}}
    name = next((n for n in tools if n in ("Bash", "bash")), None)
    if name and not is_done(text, '"tool_result"'):
        block = {"type": "tool_use", "id": f"toolu_{text.count('tool_use_id') + 1}", "name": name, "input": {}}
        words = json.dumps({"command": COMMAND, "description": "the one command"})
        delta, why = {"type": "input_json_delta", "partial_json": words}, "tool_use"
    else:
        block, delta, why = {"type": "text", "text": ""}, {"type": "text_delta", "text": "DONE"}, "end_turn"
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": why, "stop_sequence": None}, "usage": {"output_tokens": 2}}
    yield {"type": "message_stop"}


def openai(ask):
    """Events of /v1/responses. The shell tool has had several names and forms."""
    forms = {"shell": {"command": ["bash", "-c", COMMAND]}, "local_shell": {"command": ["bash", "-c", COMMAND]},
             "shell_command": {"command": COMMAND}, "exec_command": {"cmd": COMMAND}}
    names = [t.get("name") for t in ask.get("tools", [])]
    name = next((n for n in forms if n in names), None)
    text = json.dumps(ask.get("input", []))
    done = is_done(text, '"function_call_output"')
    yield {"type": "response.created", "response": {"id": "resp_1"}}
    if name and not done:
        item = {"type": "function_call", "id": "fc_1", "call_id": f"call_{text.count('function_call_output') + 1}", "name": name, "arguments": json.dumps(forms[name])}
    else:
        word = "DONE" if done else "no shell among " + ",".join(map(str, names))
        item = {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": word}]}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": {"id": "resp_1", "output": [item], "usage": {
        "input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "input_tokens_details": None, "output_tokens_details": None}}}


def google(ask):
    """Pieces of :streamGenerateContent."""
    names = [f.get("name") for t in ask.get("tools", []) for f in t.get("functionDeclarations", [])]
    if "run_shell_command" in names and not is_done(json.dumps(ask.get("contents", [])), '"functionResponse"'):
        part = {"functionCall": {"name": "run_shell_command", "args": {"command": COMMAND, "description": "the one command"}}}
    else:
        part = {"text": "DONE"}
    yield {"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
           "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}


class Model(BaseHTTPRequestHandler):
    def answer(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def is_known(self):
        """Where these services look for a key: three headers and a query parameter."""
        shown = [self.headers.get("authorization", "").removeprefix("Bearer "), self.headers.get("x-api-key"),
                 self.headers.get("x-goog-api-key"), self.path.partition("key=")[2].partition("&")[0]]
        if CREDENTIAL is None or CREDENTIAL in shown:
            return True
        sys.stderr.write(f"{self.path} without the key\n")
        sys.stderr.flush()
        self.send_response(401)
        self.send_header("Content-Length", "0")
        self.end_headers()
        return False

    def do_GET(self):
        self.answer("application/json", b'{"data": [], "models": []}')

    do_HEAD = do_GET

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            ask = json.loads(raw)
        except ValueError:
            ask = {}
        if not self.is_known():
            return
        path = self.path.split("?")[0]
        speak = anthropic if path.endswith("/messages") else openai if path.endswith("/responses") else google if "enerateContent" in path else None
        sys.stderr.write(f"{path} {len(raw)} tools={len(ask.get('tools') or [])}\n")
        sys.stderr.flush()
        if speak is None:
            self.answer("application/json", b'{"input_tokens": 1, "totalTokens": 1}')
        elif speak is google and ":generateContent" in path:
            self.answer("application/json", json.dumps(next(google(ask))).encode())
        elif speak is anthropic and not ask.get("stream"):
            self.answer("application/json", json.dumps({
                "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
                "content": [{"type": "text", "text": "DONE"}], "usage": {"input_tokens": 1, "output_tokens": 1}}).encode())
        else:
            lines = "".join((f"event: {e['type']}\n" if "type" in e else "") + f"data: {json.dumps(e)}\n\n" for e in speak(ask))
            self.answer("text/event-stream", lines.encode())

    def log_message(self, *words):
        pass


server = ThreadingHTTPServer(("127.0.0.1", PORT), Model)
if CERT:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERT, KEY)
    server.socket = context.wrap_socket(server.socket, server_side=True)
if PORT == 0:
    print(server.server_address[1], flush=True)
server.serve_forever()
