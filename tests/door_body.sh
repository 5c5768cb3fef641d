#!/bin/bash
# suite: test=user soak=root,user timeout=180
# tier: the door is one process with the same rights for both users, so test runs it once
# door_body.sh - rules that look into bodies, with the programs that send them: a git push is held to its own branches,
# compressed JSON is read, and what cannot be read in one way only is refused.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs door_body curl git openssl python3 gzip h2load
door_ca && door_odd
check "origins are up" $?
mkdir -p "$work/git"
git init -q --bare "$work/git/repo.git" && git -C "$work/git/repo.git" config http.receivepack true
python3 tests/door/git_origin.py "$work/git" >"$work/git_port" 2>/dev/null &
door_pids+=($!)
within 60 test -s "$work/git_port"
at="to=127.0.0.1:$(cat "$work/git_port")"
odd="to=127.0.0.1:$odd_plain"
cat >"$work/rules" <<-RULES
	allow GET  git.example.test:80/repo.git/** $at
	allow POST git.example.test:80/repo.git/git-upload-pack $at
	allow POST git.example.test:80/repo.git/git-receive-pack form:ref=refs/heads/agent/* $at
	allow POST api.example.test:80/echo json:/name=good $odd
	allow POST api.example.test:80/slow json:/name=good $odd
	deny  POST sum.example.test:80/echo json:/name=bad
	allow POST sum.example.test:80/echo $odd
RULES
door_box body --policy "$work/rules"
check "the box starts" $?
cu() { in_box body curl -sS -m 60 "$@" 2>&1; }

# --- git -------------------------------------------------------------------------------------------

cat >"$work/ws/begin" <<-'SH'
	set -e
	git init -q -b main work && cd work
	git config user.name tester && git config user.email tester@example.test
	git remote add origin http://git.example.test/repo.git
	echo one >file && git add file && git commit -q -m one
SH
out=$(in_box body sh begin 2>&1)
check "a repository in the box" $? "$out"
push() { in_box body git -C work push -q origin "$@" 2>&1; }
refs() { git -C "$work/git/repo.git" for-each-ref --format='%(refname)' | tr '\n' ' '; }
out=$(push HEAD:refs/heads/agent/one)
same "a push to a branch of its own arrives" "$(refs)" "refs/heads/agent/one "
out=$(push HEAD:refs/heads/main)
holds "a push to main is refused" "$out" 403
out=$(push HEAD:refs/heads/agent/two HEAD:refs/heads/main)
holds "so is one to both" "$out" 403
out=$(push HEAD:refs/tags/v1)
holds "and a tag" "$out" 403
out=$(push HEAD:refs/heads/agent/two :refs/heads/agent/one)
same "several branches of its own, and one deleted" "$(refs)" "refs/heads/agent/two "
out=$(in_box body git -C work push -q --force -o some=option origin HEAD:refs/heads/agent/three 2>&1)
out=$(in_box body sh -c 'cd work && head -c 3000000 /dev/urandom >large && git add large && git commit -q -m large' 2>&1)
out=$(push HEAD:refs/heads/agent/large)
holds "a push with a pack of any size, after git tried whether it may" "$(refs)" refs/heads/agent/large
out=$(push HEAD:refs/heads/main)
holds "and refused by the same line" "$out" 403
same "nothing else was changed" "$(refs | tr ' ' '\n' | grep -cvE '^(refs/heads/agent/.*)?$')" 0
same "and what was pushed can be fetched" "$(in_box body sh -c 'git clone -q -b agent/two http://git.example.test/repo.git copy && cat copy/file' 2>&1)" one

printf '0000' >"$work/ws/flush"
plain() { cu -o /dev/null -w '%{http_code}' "$@"; }
same "a form with the right ref is no push" "$(plain -d 'ref=refs/heads/agent/x' http://git.example.test/repo.git/git-receive-pack)" 403
same "and no body calls itself a push elsewhere" "$(plain -H 'content-type: application/x-git-receive-pack-request' --data-binary @flush http://api.example.test/echo)" 403

# --- codings ---------------------------------------------------------------------------------------

json() { # FILE URL HEADER...: its status
	local file=$1 url=$2
	shift 2
	cu -o /dev/null -w '%{http_code}' -H "content-type:${type- application/json}" "$@" --data-binary "@$file" "$url"
}
api=http://api.example.test/echo sum=http://sum.example.test/echo
cd "$work/ws" || exit 1
echo '{"name": "good"}' >good
echo '{"name": "bad"}' >bad
for f in good bad; do
	gzip -k "$f"
	! has zstd || zstd -q "$f"
	! has brotli || brotli "$f"
done
same "JSON that a rule allows" "$(json good $api)" 200
same "and that it does not" "$(json bad $api)" 403
for coding in gzip:gz zstd:zst br:br; do
	[ -e "good.${coding#*:}" ] || continue
	same "the same in ${coding%:*}" "$(json "good.${coding#*:}" $api -H "content-encoding: ${coding%:*}")" 200
	same "and refused in ${coding%:*}" "$(json "bad.${coding#*:}" $sum -H "content-encoding: ${coding%:*}")" 403
done
same "what no rule denies passes" "$(json good $sum)" 200
head -c 20000000 /dev/zero | tr '\0' ' ' | gzip -9 >bomb
echo '{"name": "good", "name": "bad"}' >twice
echo '[{"name": "good"}, {"name": "bad"}]' >several
echo '{"NAME": "bad"}' >letters
echo '{"\u006eame": "b\u0061d"}' >escaped
(printf '{"x": "' && head -c 9000000 /dev/zero | tr '\0' x && printf '", "name": "good"}') >large
for url in $api $sum; do
	same "a bomb is refused ($url)" "$(json bomb $url -H 'content-encoding: gzip')" 403
	same "a key twice is refused ($url)" "$(json twice $url)" 403
	same "a batch with one of them is refused ($url)" "$(json several $url)" 403
	same "an unknown coding is refused ($url)" "$(json good $url -H 'content-encoding: compress')" 403
	same "a coding that does not apply is refused ($url)" "$(json good $url -H 'content-encoding: gzip')" 403
	same "a body over the limit is refused ($url)" "$(json large $url)" 403
	same "other letters of the key dodge nothing ($url)" "$(json letters $url)" 403
	same "escapes dodge nothing ($url)" "$(json escaped $url)" 403
	same "another type dodges nothing ($url)" "$(type=' text/plain' json bad $url)" 403
	same "nor does none ($url)" "$(type='' json bad $url)" 403
	same "nor a form ($url)" "$(type=' application/x-www-form-urlencoded' json bad $url)" 403
done
echo '{"name": "fine"}' >fine
echo 'name=bad' >fields
same "JSON that no line refuses passes" "$(json fine $sum)" 200
same "a form is not read for JSON" "$(type=' application/x-www-form-urlencoded' json fields $sum)" 403
printf -- '--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nbad\r\n--b--\r\n' >parts
same "nor is a form in parts" "$(type=' multipart/form-data; boundary=b' json parts $sum)" 403

# --- many at once ----------------------------------------------------------------------------------

# Each is far below what the door may hold; all of them together are not. They wait for each other.
cat >"$work/ws/many.py" <<-'PY'
	import collections, socket, sys, threading
	n, size, how = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
	path = sys.argv[4] if len(sys.argv) > 4 else "/echo"
	if how == "stall":
	    held = [socket.create_connection(("api.example.test", 80)) for _ in range(n)]
	    for s in held:
	        s.sendall(b"POST /echo HTTP/1.1\r\nhost: api.example.test\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n[" % size)
	    print("stalled", flush=True)
	    sys.stdin.read()
	    sys.exit()
	body = b'{"name": "good", "x": "' + b"x" * size + b'"}'
	meet, said, lock = threading.Barrier(n, timeout=400), collections.Counter(), threading.Lock()
	def one():
	    word = "nothing"
	    try:
	        s = socket.create_connection(("api.example.test", 80), timeout=400)
	        kind = b"content-length: %d" % len(body) if how == "length" else b"transfer-encoding: chunked"
	        head = b"POST %s HTTP/1.1\r\nhost: api.example.test\r\ncontent-type: application/json\r\nconnection: close\r\n" % path.encode() + kind + b"\r\n\r\n"
	        pieces = [body[i:i + 50000] for i in range(0, len(body), 50000)]
	        if how != "length":
	            pieces = [b"%x\r\n%s\r\n" % (len(p), p) for p in pieces] + [b"0\r\n\r\n"]
	        s.sendall(head + pieces[0])
	        meet.wait()
	        for p in pieces[1:]:
	            s.sendall(p)
	        got = s.recv(65536)
	        word = got.split(b" ")[1].decode()
	        while s.recv(65536):
	            pass
	    except Exception as e:
	        word = word if word != "nothing" else type(e).__name__
	    with lock:
	        said[word] += 1
	threads = [threading.Thread(target=one) for _ in range(n)]
	[t.start() for t in threads]
	[t.join() for t in threads]
	print(" ".join("%s:%d" % pair for pair in sorted(said.items())))
PY
"$ostiary" rm -f body >/dev/null 2>&1
door_box many --policy "$work/rules" --limit door-memory=40M
check "a box whose door has little memory starts" $?
many() { in_box_time=500 in_box many python3 many.py "$@" 2>&1; }
same "six bodies of 4 MB at once" "$(many 6 4000000 length)" 200:6
same "thirty of 1 MB" "$(many 30 1000000 length)" 200:30
same "twelve of 3 MB for an origin that takes its time" "$(many 12 3000000 length /slow)" 200:12
in_box many python3 -c 'print("""{"name": "good", "x": "%s"}""" % ("x" * 3000000))' >"$work/ws/three" 2>/dev/null
holds "sixteen of 3 MB on one connection of HTTP/2" \
	"$(in_box_time=500 in_box many h2load -n 16 -c 1 -m 16 -d three -H 'content-type: application/json' http://api.example.test/echo 2>&1)" '16 2xx, 0 3xx, 0 4xx, 0 5xx'
same "control: one of a length that nobody says" "$(many 1 4000000 chunked)" 200:1
out=$(many 6 4000000 chunked)
[ "$(tr ' ' '\n' <<<"$out" | sed -n 's/^200://p')" -ge 1 ] && [ "$(tr ' ' '\n' <<<"$out" | grep -cvE '^(200|503):')" = 0 ]
check "six of a length that nobody says: each is answered, and not all with 503" $? "$out"
same "and nobody is left waiting" "$(many 2 4000000 length)" 200:2
# The test build's door waits for 1.5 s instead of 30: a body that has stalled is waited for no longer.
"$ostiary" rm -f many >/dev/null 2>&1
ostiary=${OSTIARY_WEAK:-$top/out/weak/ostiary}
export OSTIARY_SCALE=20
door_box many --policy "$work/rules" --limit door-memory=40M >/dev/null
mkfifo "$work/hold"
timeout -k 2 500 "$ostiary" exec many -- python3 many.py 4 7000000 stall <"$work/hold" >"$work/stalled" 2>&1 &
door_pids+=($!)
exec {hold}>"$work/hold"
within 60 grep -q stalled "$work/stalled"
check "four bodies of 7 MB stall at their beginning" $? "$(cat "$work/stalled")"
same "the others go on" "$(many 4 4000000 length)" 200:4
exec {hold}>&-
exit "$bad"
