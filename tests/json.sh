#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: what is printed does not depend on who asks; root repeats it in soak
# json.sh - one shape for machines: with --json every command prints one document, good or bad, and each is
# held against docs/json.schema.json; the page docs/json.md names every kind.
set -u
. "$(dirname "$0")/lib_life.sh"
python=/usr/bin/python3
schema=$here/../docs/json.schema.json
cd "$work/ws" || exit 1
mkdir "$work/docs"

# doc NAME KIND COMMAND...: print a document of that kind; it is kept as $work/docs/NAME, and all are judged at the
# end, in one go.
doc() {
	local name=$1 kind=$2
	shift 2
	timeout 100 "$ostiary" "$@" >"$work/docs/$name" 2>"$work/err" </dev/null
	code=$?
	printf '%s\t%s\t%s\n' "$name" "$kind" "$code" >>"$work/list"
}
# of EXPRESSION NAME: d is the data of a document.
of() { $python -c 'import json, sys; d = json.load(open(sys.argv[2]))["data"]; print(eval(sys.argv[1]))' "$1" "$work/docs/$2"; }
b=$tag-b c=$tag-c

# --- boxes ------------------------------------------------------------------------------------------
echo one >file && git init -q . 2>/dev/null
printf 'allow GET example.org\n' >.ostiary
export FAKE_KEY=fake-value-of-a-key-000000000001
doc create box create --name "$b" --turns --json
doc create-secret box create --name "$c" --json --secret FAKE_KEY@api.example.test --allow 'ask GET asked.example.test'
same 'a box has its name, and the time it was made in UTC' "$(of '(d["id"], d["state"], d["created"][-1])' create)" "('$b', 'running', 'Z')"
doc run box run -d --json --name "$tag-run" -- sleep 300
doc ps boxes ps --json
doc ps-filter boxes ps --json --filter state=running --filter younger=1h
same 'a filter chooses' "$(of 'len(d)' ps-filter)" 3
"$ostiary" exec "$b" -- sh -c 'echo two >file; echo new >added; git config user.email x; git add .' >/dev/null 2>&1
doc turns turns turns "$b" --json
doc diff diff diff "$b" --json
doc apply-dry apply apply "$b" --dry-run --json
doc cp copied cp "$b:file" "$work/copied" --json
same 'cp says how much' "$(of '(d["files"], d["direction"])' cp)" "(1, 'out')"
doc snapshot snapshot snapshot "$b" "$tag-snap" --json
doc snapshots snapshots snapshots --json
doc fork fork fork "$b" --number 2 --json
doc snapshots-rm removed snapshots rm "$tag-snap" --json
doc apply apply apply "$b" file added --yes --json
doc history history history --json
doc before before timeline "$b" --before file --json
doc undo-dry undo undo --dry-run --json
doc undo undo undo --json
doc undo-turn undo-turn undo --turn 1 "$b" --json
doc report report report "$b" -o "$work/page.html" --json
doc audit audit audit verify "$b" --json
"$ostiary" stop --time 0 "$tag-run" >/dev/null 2>&1
doc resume box resume -d --json "$tag-run"
doc ports ports ports "$c" --json
doc forward published forward -d "$c" 8000:0 --json

# --- rules and secrets ------------------------------------------------------------------------------
doc allow rule allow "$c" 'GET api.example.test' --json
doc allow-undo rule allow --undo "$c" 'GET api.example.test' --json
doc deny rule deny "$c" 'POST api.example.test' --json
doc rules rules rules "$c" --json
doc why verdict why "$c" 'POST https://api.example.test/' --json
doc check verdict policy check 'GET https://example.org/' --json
printf 'allow GET example.org\n' >"$work/good.policy"
doc check-file policy-files policy check --policy "$work/good.policy" --json
doc reload reloaded policy reload "$c" --json
"$ostiary" exec "$c" -- sh -c 'curl -s -m 90 http://asked.example.test/' >/dev/null 2>&1 </dev/null &
asking=$!
waits() { "$ostiary" approvals "$c" --json | grep -q '"what"'; }
wait_for 60 waits
doc approvals approvals approvals "$c" --json
doc refuse answer refuse "$(of 'd[0]["id"] if d else "none/1"' approvals)" --json
wait $asking
doc why-last refusal why "$c" --json
doc learn learned learn "$c" --refused --json
doc trust trust trust . --json
doc untrust trust trust . --revoke --json
doc secrets secrets secrets "$c" --json
printf new-fake-value-of-a-key-00002 | timeout 60 "$ostiary" rotate "$c" FAKE_KEY - --json >"$work/docs/rotate" 2>"$work/err"
printf 'rotate\trotated\t%s\n' $? >>"$work/list"
doc revoke revoked revoke "$c" FAKE_KEY --json
printf fake-value-0003 | timeout 60 "$ostiary" secret set KEEP --json >"$work/docs/secret-set" 2>"$work/err"
printf 'secret-set\tvault-change\t%s\n' $? >>"$work/list"
doc secret-ls vault secret ls --json
doc secret-rm vault-change secret rm KEEP --json
same 'the vault tells when, in UTC' "$(of 'd[0]["changed"][-1]' secret-ls)" Z

# --- the rest ---------------------------------------------------------------------------------------
doc profiles profiles profile ls --json
doc profile profile profile show claude --json
same 'profile show --json is the profile, as data' "$(of '(d["name"], d["command"], "extends" in d["text"])' profile)" "('claude', 'claude', True)"
doc profile-new profile-file profile new mine --json
doc version version version --json
doc doctor doctor doctor --json
doc explain plan explain --json -- true
doc seccomp seccomp explain --seccomp --json
printf '{"network": {"allowedDomains": ["example.org"], "deniedDomains": []}}' >"$work/srt.json"
doc import imported import srt "$work/srt.json" --json
doc probe probe probe --json
doc stop stopped stop "$tag-run" --json --time 0
doc rm removed rm -f "$tag-run" --json
doc rm-half removed rm --yes no-such-box "$(of 'd["boxes"][0]' fork)" --json
same 'one that fails does not spare the others, and both are told' \
	"$code $($python -c 'import json, sys; e = json.load(open(sys.argv[1])); print(len(e["data"]), [x["kind"] for x in e["errors"]])' "$work/docs/rm-half")" "121 1 ['absent']"
doc gc gc gc --json

# log and timeline: one object a line, each with a time in UTC, and a fault as the last line.
for command in log timeline; do
	"$ostiary" $command "$b" --json >"$work/lines" 2>/dev/null
	$python -c 'import json, sys
lines = [json.loads(l) for l in open(sys.argv[1])]
assert lines and all(l["time"].endswith("Z") and l["kind"] for l in lines)' "$work/lines" 2>"$work/err"
	check "$command: an object a line" $? "$(tail -n 1 "$work/err")"
	doc "$command-absent" error $command no-such-box --json
done

# --- faults -----------------------------------------------------------------------------------------
# Every command that has --json tells a wrong word as JSON, and people still get their sentence.
wrong='' n=0
for command in $("$ostiary" help --all | sed -nE 's/^  ([a-z]+) .*/\1/p'); do
	"$ostiary" help "$command" | grep -q -- '--json' || continue
	n=$((n + 1))
	doc "$command-wrong" error "$command" --no-such-flag --json
	[ $code = 64 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -q '"kind":"usage".*"exit_code":64' "$work/docs/$command-wrong" ||
		wrong="$wrong $command:$code"
done
[ -z "$wrong" ]
check 'a wrong flag is told as JSON by every command that has --json' $? "$wrong"
[ "$n" -ge 38 ]
check 'which are nearly all' $? "only $n"
# So do words that are no command, and commands that have no document of their own.
for line in 'no-such-command --json' 'inspect x --json' '--json ps' 'logs --json' 'attach --json' 'exec --json' 'help --json'; do
	# shellcheck disable=SC2086 # several words
	doc "${line// /_}" error $line
	same "ostiary $line: a document all the same" "$code $(grep -c '"kind":"usage".*"exit_code":64' "$work/docs/${line// /_}")" '64 1'
done
for command in diff apply snapshot fork rules secrets learn why report ports resume turns; do
	args=()
	[ $command = report ] && args=(-o "$work/x.html")
	[ $command = resume ] && args=(-d)
	[ $command = apply ] && args=(--yes)
	doc "$command-absent" error $command no-such-box "${args[@]}" --json
	same "$command of no box: the same kind and status" "$code $($python -c 'import json, sys; e = json.load(open(sys.argv[1]))["errors"][0]; print(e["kind"], e["exit_code"], e["hint"])' "$work/docs/$command-absent")" \
		'121 absent 121 ostiary ps -a lists them'
done
"$ostiary" run --json -- true >"$work/fault" 2>/dev/null
same 'run without -d has no document of its own' "$? $(grep -c '"usage"' "$work/fault")" '64 1'
same 'what follows a command is its own' "$("$ostiary" run -q --rm -- echo --json 2>/dev/null)" --json

# --- all of them against the schema ------------------------------------------------------------------
$python "$here/json_check.py" "$schema" "$work/docs" "$work/list" || bad=1

# --- the page ---------------------------------------------------------------------------------------
wrong=''
for kind in $($python -c 'import json, sys; print(*json.load(open(sys.argv[1]))["$defs"])' "$schema"); do
	case $kind in _*) continue ;; esac
	grep -q "^| \`$kind\` |" "$here/../docs/json.md" || wrong="$wrong page:$kind"
	[ "$kind" = error ] || grep -qs "\"kind\":\"$kind\"" "$work"/docs/* || wrong="$wrong tried:$kind"
done
[ -z "$wrong" ]
check 'every kind of the schema is on the page and was seen' $? "$wrong"
"$ostiary" rm --all --yes --force >/dev/null 2>&1
exit $bad
