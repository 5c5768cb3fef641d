#!/bin/bash
# suite: test=user soak=root,user timeout=240
# tier: the log is told in the same way whoever started the box
# story_timeline.sh - what a box ran, asked for and changed, in one order: the timeline, its filters, what led up to a change, and the
# same filters for the log. Real boxes first; then a log whose every time is known, written as the audit role writes it.
set -u
. "$(dirname "$0")/lib_life.sh"
py=/usr/bin/python3
[ -x $py ] || py=python3
export TZ=UTC0
jl() { $py -c "import json, sys
d = [json.loads(l) for l in sys.stdin]
print($1)"; }
has() { # name, text, literal part of it
	if [[ $2 == *"$3"* ]]; then ok "$1"; else not_ok "$1" "\"$3\" is not in \"$2\""; fi
}
clean() { ! LC_ALL=C grep -q $'[\001-\010\013-\037\177]'; }

# --- a real box -----------------------------------------------------------------------------------------------------
echo host >old
echo host >gone
mkdir -p src
echo host >src/app.js
box=$tag-real
SAY_LIMIT=150 say "$ostiary" run -q --keep --name "$box" -- sh -c 'echo 1 >first; sleep 0.1; cat /dev/null >/dev/tcp/nowhere 2>/dev/null
	sleep 0.1; curl -s -m 60 http://refused.example/x >answer; sleep 0.1; echo 2 >src/app.js; sleep 0.1; rm gone
	sleep 0.1; mkdir -p .githooks; echo "#!/bin/sh" >.githooks/pre-commit; sleep 0.1
	: >"$(printf "n\377x")"; sleep 0.1
	touch -d "2001-02-03 04:05:06 UTC" planted; sleep 0.1; printf x >"$(printf "a\033[31m\nb<b>")"'
same 'the run' "$code" 0
say "$ostiary" timeline "$box"
text=$out
same 'timeline of an ended box' "$code" 0
has 'the zone is said' "$text" ', times in UTC (+00:00)'
order=$("$ostiary" timeline "$box" --json | jl 'ascii([("R" if e["kind"] == "http" else e["change"]["path"][:8]) for e in d if e["kind"] in ("change", "http") and not e.get("change", {}).get("type") == "directory"])')
same 'changes and requests in one order' "$order" "['first', 'R', 'answer', 'src/app.', 'gone', '.githook', 'n\ufffdx', 'planted', 'a\\x1b[31m\\nb']"
clean <<<"$text"
check 'no byte of a hostile name reaches the terminal' $? "$(LC_ALL=C grep -n $'[\001-\010\013-\037\177]' <<<"$text" | head -n 1 | cat -v)"
has 'a hostile name is quoted' "$text" 'added a\x1b[31m\x0ab<b>'
has 'a change that somebody runs is told as one' "$text" 'added .githooks/pre-commit  [runs on commit: git hook]'
has 'a time that the box set is told, and that it can' "$text" 'added planted  (says it is of 2001-02-03 04:05:06, which a box can set)'
[[ ! $text == *'added first  (says'* ]]
check 'one that it did not set is not' $? "$text"
has 'a deletion' "$text" 'deleted gone'
has 'a name that is not UTF-8' "$text" 'added n\xffx'
has 'a refusal' "$text" 'GET refused.example/x 403'
same 'every line is JSON with time, kind and group' \
	"$("$ostiary" timeline "$box" --json | jl 'all(e["time"].endswith("Z") and e["kind"] and e["group"] for e in d) and len(d) > 7')" True
same 'times never run backwards by more than a tick' \
	"$("$ostiary" timeline "$box" --json | $py -c 'import json, sys, datetime
d = [datetime.datetime.fromisoformat(json.loads(l)["time"][:-1]) for l in sys.stdin]
print(all((a - b).total_seconds() < 0.02 for a, b in zip(d, d[1:])))')" True
same 'only changes below a path' "$("$ostiary" timeline "$box" --path src --json | jl '[e["change"]["path"] for e in d if e["kind"] == "change"]')" "['src/app.js']"
same 'the same by its whole path' "$("$ostiary" timeline "$box" --kind change --path "$work/ws/src" --json | jl '[e["change"]["path"] for e in d]')" "['src/app.js']"
# -f: what was, what comes, and the end; nothing twice
living=$tag-follow
"$ostiary" create -q --name "$living" >/dev/null
"$ostiary" exec -q "$living" -- sh -c 'echo 1 >early'
"$ostiary" timeline -f --json "$living" >"$work/followed" 2>"$work/followed.err" </dev/null &
follower=$!
until_has() { # WORD: in what was followed so far
	for _ in $(seq 1 300); do
		grep -q "$1" "$work/followed" && return 0
		sleep 0.1
	done
	return 1
}
until_has '"early"'
check 'timeline -f begins with what was' $? "$(cat "$work/followed" "$work/followed.err")"
"$ostiary" exec -q "$living" -- sh -c 'echo 2 >later; exec /bin/true follow-me'
until_has 'follow-me'
check 'goes on with what is run' $? "$(cat "$work/followed" "$work/followed.err")"
until_has '"later"'
check 'and with what is changed' $? "$(cat "$work/followed" "$work/followed.err")"
"$ostiary" exec -q "$living" -- sh -c 'mkdir -p .husky; echo "#!/bin/sh" >.husky/pre-commit; echo again >>later'
"$ostiary" stop "$living" >/dev/null 2>&1
wait "$follower"
same 'and ends with the box' "$? $(cat "$work/followed.err")" '0 '
same 'with the last change too, a file that changed twice twice, and nothing else twice' \
	"$(jl '([c for c in [e["change"]["path"] for e in d if e["kind"] == "change" and e["change"]["type"] == "file"]], sorted(n for n in [e["record"]["seq"] for e in d if "record" in e]) == list(range(1, len([0 for e in d if "record" in e]) + 1)))' <"$work/followed")" \
	"(['early', 'later', '.husky/pre-commit', 'later'], True)"
say "$ostiary" timeline -f "$living" --before later
same '-f and --before exclude each other' "$code" 64
"$ostiary" rm --force "$living" >/dev/null 2>&1

say "$ostiary" timeline "$box" --before src/app.js
has 'before a change: the change' "$out" 'modified src/app.js'
has 'and the request that came before it' "$out" 'GET refused.example/x 403'
say "$ostiary" timeline "$box" --before first
has 'nothing came before the first' "$out" 'No request came before it.'
say "$ostiary" timeline "$box" --before nothing-of-it
[ "$code" = 121 ] && [[ $err == *"no change of nothing-of-it"* ]]
check 'a file that was not changed is said to be none' $? "$code $err"
say "$ostiary" timeline "$box" --before src/app.js --json
same 'the same as JSON' "$(jl '[d[0]["data"]["change"]["path"], d[0]["data"]["requests"][0]["host"]]' <<<"$out")" "['src/app.js', 'refused.example']"

# What ran.
same 'what ran is between what it did' "$("$ostiary" timeline "$box" --json | $py -c 'import json, sys
d = [json.loads(l) for l in sys.stdin]
run = [i for i, e in enumerate(d) if e["kind"] == "exec" and "curl" in e["record"].get("note", "")]
ask = [i for i, e in enumerate(d) if e["kind"] == "http"]
first = [i for i, e in enumerate(d) if e["kind"] == "change"]
print(len(run) >= 1 and len(ask) == 1 and first[0] < run[-1] < ask[0])')" True
has '--kind exec shows commands' "$("$ostiary" timeline "$box" --kind exec)" 'rm gone'
has '--process' "$("$ostiary" timeline "$box" --process rm)" 'rm gone'
has 'exits have a status' "$("$ostiary" timeline "$box" --kind exit)" 'status 0'
has 'before a change: what ran' "$("$ostiary" timeline "$box" --before src/app.js)" 'Running at that moment'

# --- applied and taken back ------------------------------------------------------------------------------------------
if "$ostiary" help apply >/dev/null 2>&1 && "$ostiary" help undo >/dev/null 2>&1; then
	say "$ostiary" apply "$box" first --yes
	if [ "$code" = 0 ]; then
		say "$ostiary" timeline "$box" --kind review
		has 'an apply is part of the story' "$out" 'apply '
		has 'with how many paths' "$out" '1 path in'
		has 'what was applied is still told as done by the box' "$("$ostiary" timeline "$box" --kind change)" 'added first  [applied since]'
		same 'and nothing else is called applied' "$("$ostiary" timeline "$box" --kind change | grep -c 'applied since')" 1
		say "$ostiary" undo
		say "$ostiary" timeline "$box" --kind undo,apply
		has 'and so is an undo' "$out" 'undo '
	else
		not_ok 'apply for the timeline' "$code $err"
	fi
else
	skip 'an apply is part of the story' 'this build cannot apply'
fi
"$ostiary" rm -f "$box" >/dev/null
rm -rf "$work/ws/.githooks"

# --- who wrote it --------------------------------------------------------------------------------------------------------
box=$tag-files
say "$ostiary" run -q --keep --audit=files --name "$box" -- sh -c 'sh -c "echo 3 >src/app.js"; sleep 0.1; cp old copied'
say "$ostiary" timeline "$box" --before copied
has 'with --audit=files the writer of a change is known' "$out" 'Opened for writing by:'
has 'by name' "$(grep -A 1 'Opened for writing' <<<"$out" | tail -n 1)" 'cp['
same 'as JSON too' "$("$ostiary" timeline "$box" --before src/app.js --json | jl '[d[0]["data"]["log_has_opens"], d[0]["data"]["writers"][0]["kind"], d[0]["data"]["writers"][0]["exe"] != ""]')" \
	"[True, 'open', True]"
same 'opens by path' "$("$ostiary" timeline "$box" --kind open --path copied --json | jl 'sorted({e["record"]["path"] for e in d})')" "['$work/ws/copied']"
"$ostiary" rm -f "$box" >/dev/null

# --- a living box --------------------------------------------------------------------------------------------------------
"$ostiary" create -q --name "$tag-alive" >/dev/null
"$ostiary" exec "$tag-alive" -- sh -c 'echo x >made'
say "$ostiary" timeline "$tag-alive"
has 'timeline of a living box' "$code $out" 'added made'
"$ostiary" rm -f "$tag-alive" >/dev/null

# --- a log whose every time is known ---------------------------------------------------------------------------------------
box=$tag-known
"$ostiary" run -q --keep --name "$box" -- touch changed
dir=$boxes/$box
night=1763344800 # 2025-11-17 02:00:00 UTC
$py - "$night" <<'END' | $py "$here/story/makelog.py" "$box" >"$dir/audit.jsonl"
import json, sys
t = int(sys.argv[1])
def put(at, **k): print(json.dumps(dict(at=t + at, **k)))
put(0, kind="box", method="start")
put(600, kind="exec", pid=10, ppid=9, exe="/bin/sh", path="/usr/bin/git", note="git clone https://a.example.org/x")
put(602, kind="http", verdict="allow", method="GET", host="a.example.org", port=443, path="/x/info/refs", status=200, bytes_down=99, pid=10, exe="/usr/bin/git")
put(660, kind="exec", pid=11, ppid=9, exe="/bin/sh", path="/usr/bin/npm", note="npm install")
put(700, kind="exit", pid=10, exe="/usr/bin/git", status=0, cpu_us=1500000, peak_kib=2048)
put(890, kind="exec", pid=12, ppid=11, exe="/usr/bin/node", path="/bin/sh", note="sh -c 'postinstall \u001b[2J'")
put(901, kind="exec", pid=13, ppid=11, exe="/usr/bin/node", path="/bin/late", note="late")
put(610, kind="http", verdict="allow", method="GET", host="slow.example.org", port=443, path="/big", status=200, total_us=400000000)
put(905, kind="http", verdict="deny", method="POST", host="evil.example.net", port=443, path="/leak", status=403, pid=12, exe="/bin/sh", cure="allow POST evil.example.net/leak")
put(906, kind="alarm", verdict="deny", host="evil.example.net", secrets="TOKEN", note="seen in a body")
put(907, kind="http", verdict="ask-yes", method="GET", host="docs.example.com", port=443, path="/", status=200)
put(908, kind="call", verdict="deny", method="mount", pid=12, exe="/bin/sh")
put(909, kind="open", verdict="allow", method="w", path="src/x.c", pid=12, exe="/bin/sh")
put(910, kind="marvel", method="unheard-of", note="of a later version")
END
sed -i "s/^created_us .*/created_us $((night - 60))000000/; s/^ended_us .*/ended_us $((night + 3600))000000/" "$dir/meta"
same 'the log is whole' "$("$ostiary" log "$box" --verify >/dev/null; echo $?)" 0
t() { "$ostiary" timeline "$box" --json "$@" | jl '[e["record"].get("note", e["record"].get("host", e["kind"])) if "record" in e else e["kind"] for e in d]'; }
same 'what ran between 02:10 and 02:15' "$(t --since 02:10 --until 02:15 --kind exec)" \
	"['git clone https://a.example.org/x', 'npm install', \"sh -c 'postinstall \\x1b[2J'\"]"
same 'the same in another zone' "$(TZ=CET-1 t --since 03:10 --until 03:15 --kind exec)" "$(t --since 02:10 --until 02:15 --kind exec)"
same 'with a day' "$(t --since '2025-11-17 02:15' --until '2025-11-17 02:15:01' --kind exec)" "['late']"
same 'a request stands where it began' "$("$ostiary" timeline "$box" --kind request --json | jl '[e["record"]["host"] for e in d]')" \
	"['a.example.org', 'slow.example.org', 'evil.example.net', 'docs.example.com']"
same 'in the log where it ended' "$("$ostiary" log "$box" --kind request --json | jl '[e["host"] for e in d]')" \
	"['a.example.org', 'slow.example.org', 'evil.example.net', 'docs.example.com']"
same 'by host and what is below it' "$(t --host example.org)" "['a.example.org', 'slow.example.org']"
same 'by process' "$(t --process npm)" "['npm install']"
same 'by pid' "$("$ostiary" timeline "$box" --pid 10 --json | jl '[e["kind"] for e in d]')" "['exec', 'http', 'exit']"
same 'by path' "$("$ostiary" timeline "$box" --path src/x.c --json | jl '[e["kind"] for e in d]')" "['open']"
same 'refusals' "$("$ostiary" timeline "$box" --kind denied --json | jl '[e["kind"] for e in d]')" "['http', 'alarm', 'call']"
same 'alarms' "$(t --kind alarms)" "['seen in a body']"
same 'approvals' "$(t --kind approval)" "['docs.example.com']"
has 'a kind of a later version is shown' "$("$ostiary" timeline "$box")" 'marvel                   unheard-of  (of a later version)'
has 'and in the log' "$("$ostiary" log "$box")" 'marvel   unheard-of  (of a later version)'
has 'two filters at once' "$("$ostiary" timeline "$box" --kind exec --until 02:12)" 'npm install'
"$ostiary" timeline "$box" | clean
check 'command lines are quoted' $? 'a control byte is in it'
"$ostiary" log "$box" | clean
check 'in the log too' $? 'a control byte is in it'
same 'the log by kind' "$("$ostiary" log "$box" --kind exec,exit --json | jl '[e["kind"] for e in d]')" "['exec', 'exec', 'exit', 'exec', 'exec']"
same 'the log by host' "$("$ostiary" log "$box" --host evil.example.net --json | jl 'len(d)')" 2
same 'the log by time' "$("$ostiary" log "$box" --since 02:15:06 --until 02:15:07 --json | jl '[e["kind"] for e in d]')" "['alarm', 'http']"
same 'the log by process and pid' "$("$ostiary" log "$box" --process sh --pid 12 --json | jl 'len(d)')" 4
same 'the log by path' "$("$ostiary" log "$box" --path /x --json | jl '[e["host"] for e in d]')" "['a.example.org']"
same 'the log without filters is every line as it is' "$("$ostiary" log "$box" --json | sha256sum)" "$(sha256sum <"$dir/audit.jsonl")"

# --- bad input --------------------------------------------------------------------------------------------------------------
for words in '--since 25:00' '--until nonsense' '--since 02:15 --until 2025-11-17' '--kind exce' '--kind exec,' '--host=' '--pid x' '--before= ' '--before x --kind exec'; do
	# shellcheck disable=SC2086
	say "$ostiary" timeline "$box" $words
	[ "$code" = 64 ] && [[ $err == 'ostiary: '* ]]
	check "timeline $words is refused in words" $? "$code $err"
done
say "$ostiary" log "$box" --since 25:00
has 'a time that is none' "$code $err" '64 ostiary: '
say "$ostiary" log "$box" --verify --kind exec
same '--verify goes with no filter' "$code" 64
say "$ostiary" timeline "$tag-nobody"
same 'an unknown box' "$code" 121
say "$ostiary" timeline "$box" --kind splice
same 'nothing that fits is no error' "$code $out" '0 '
has 'and is said' "$err" 'nothing of box'
printf 'garbage\n{"seq":7\n' >>"$dir/audit.jsonl"
say "$ostiary" timeline "$box" --kind exec
same 'a damaged end does not hide the rest' "$code $(grep -c exec <<<"$out")" '0 4'
mv "$dir/layers/ws" "$dir/ws.away"
say "$ostiary" timeline "$box" --kind exec,change
same 'layers that are missing do not hide the log' "$code $(grep -c ' exec ' <<<"$out")" '0 4'
has 'and are told' "$err" 'the changed files are not in this list'
mv "$dir/ws.away" "$dir/layers/ws"
rm "$dir/audit.jsonl"
say "$ostiary" timeline "$box"
has 'no log: the changes are told' "$code $out" 'added changed'
"$ostiary" rm -f "$box" >/dev/null
rm -f "$HOME"/.local/state/ostiary/boxes/* 2>/dev/null
nothing_left 'nothing is left of these boxes'
exit $bad
