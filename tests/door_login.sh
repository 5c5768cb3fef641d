#!/bin/bash
# suite: test=user soak=root,user timeout=240
# tier: forwarding and the terminal are the same for both users, so test runs it once
# door_login.sh - a login that calls back to localhost: the address that a program in the box wants opened is
# shown, nothing is opened, and the port it comes back to is forwarded when the user says so, by key or command.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
has tmux && has curl || { skip door_login 'tmux or curl is missing' && exit 0; }
cd "$work/ws" || exit 1
python=$(PATH=/usr/bin:/bin command -v python3)

# A port that is free on the host too, as such programs choose it, and that nobody else there is given meanwhile.
port=$(free_port)
back="http%3A%2F%2Flocalhost%3A$port%2Fcallback"
cat >login.py <<-'PY'
	import http.server, os, subprocess, sys
	class H(http.server.BaseHTTPRequestHandler):
	    def do_GET(self):
	        self.send_response(200)
	        self.end_headers()
	        self.wfile.write(b"you may close this window\n")
	        print("came back with", self.path, flush=True)
	    def log_message(self, *a): pass
	s = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), H)
	subprocess.run([os.environ["BROWSER"], sys.argv[2]], check=True)
	s.handle_request()
PY
url="https://login.example.test/authorize?client_id=1&redirect_uri=$back&state=xyz"

# --- without a terminal: words on stderr, a command to type elsewhere -----------------------------------

"$ostiary" run -q -n pipes -- "$python" login.py "$port" "$url" >"$work/out" 2>"$work/err" </dev/null &
run=$!
within 60 grep -q 'wants this opened' "$work/err"
holds 'the address is shown' "$(cat "$work/err")" "the box wants this opened: $url"
holds 'and the command that lets the login come back' "$(cat "$work/err")" "ostiary forward pipes $port:$port"
curl -s -m 3 -o /dev/null "http://127.0.0.1:$port/callback?code=1"
[ $? != 0 ]
check 'nothing is forwarded unasked' $? "port $port answers"
"$ostiary" forward -d pipes "$port:$port" >/dev/null
same 'the command forwards it' "$(curl -sS -m 60 "http://127.0.0.1:$port/callback?code=2" 2>&1)" 'you may close this window'
wait "$run"
same 'and the login is done' "$(cat "$work/out")" 'came back with /callback?code=2'

# --- at a terminal: a key ---------------------------------------------------------------------------------

term_open
term_type "\$OSTIARY run -q -n keys -- $python login.py $port '$url'"
shows 'at a terminal the address is shown' 'the box wants this opened'
shows 'with the key' "it comes back to port $port of the box; to let it: Ctrl-\] f"
term_key 'C-]' f
shows 'the key forwards it' "port $port of the box is at 127.0.0.1:$port until the box ends"
same 'and it answers' "$(curl -sS -m 60 "http://127.0.0.1:$port/callback?code=3" 2>&1)" 'you may close this window'
shows 'and the login is done, at a terminal' 'came back with /callback.code=3'
term_prompt

# Without a question the key means nothing: it goes to the command.
term_type "\$OSTIARY run -q -n cat -- sh -c 'echo rea''dy; exec cat -v'"
term_wait '^ready'
term_key 'C-]' f Enter
shows 'without a question the key goes to the box' '\^\]f'
term_key C-c
term_prompt

# --- a box that misbehaves --------------------------------------------------------------------------------

# The good one again and again: one that is read together with what came before it is thrown away with that.
box -n odd -- sh -c '
	printf "javascript:alert(1)\nhttp://a b\n" >/run/ostiary/addresses; sleep 0.6
	printf "https://a.example/\033[2Jx\n" >/run/ostiary/addresses; sleep 0.6
	printf "file:///etc/passwd\n" >/run/ostiary/addresses; sleep 0.6
	head -c 100000 /dev/zero | tr "\0" x >/run/ostiary/addresses & sleep 0.6; kill $! 2>/dev/null
	while :; do printf "https://good.example/\n" >/run/ostiary/addresses; sleep 0.6; done' >"$work/odd" 2>&1 &
run=$!
within 60 grep -q 'wants this opened: https://good.example/' "$work/odd"
check 'a good address is shown' $? "$(cat "$work/odd")"
"$ostiary" stop --time 0 odd >/dev/null 2>&1
wait "$run"
same 'and nothing else is' "$(grep 'wants this opened' "$work/odd" | sort -u)" 'ostiary: the box wants this opened: https://good.example/'
start=$EPOCHSECONDS
out=$(box -n flood -- sh -c 'i=0; while [ $i -lt 2000 ]; do echo "https://a.example/$i"; i=$((i+1)); done >/run/ostiary/addresses; sleep 0.3; echo done' 2>&1)
# One is shown each half second, however long that takes here.
[ "$(grep -c 'wants this opened' <<<"$out")" -le $((4 + 2 * (EPOCHSECONDS - start))) ]
check 'a flood of addresses is held back' $? "$(grep -c opened <<<"$out") were shown"
holds 'and the box goes on' "$out" 'done'
exit $bad
