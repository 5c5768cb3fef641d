#!/bin/bash
# suite: test=user soak=root,user timeout=120
# tier: root may read and build everything, so what is not permitted is tried as a user; root in soak for the rest
# exit.sh - one exit code for each kind of mistake, the same in every command: each is provoked, in as many commands as
# can make it.
set -u
. "$(dirname "$0")/lib_life.sh"
cd "$work/ws" || exit 1
echo one >file

# ends NAME STATUS COMMAND...: with that status, and one sentence.
ends() {
	local name=$1 status=$2
	shift 2
	say "$@"
	[ "$code" = "$status" ] && grep -q '^ostiary: ' <<<"$err"
	check "$status: $name" $? "status $code: $err"
}
o() { "$ostiary" "$@"; }
b=$tag-b
o create -q --name "$b" >/dev/null
o exec "$b" -- sh -c 'echo two >file; echo all: >Makefile' >/dev/null

same '0: done' "$(o ps >/dev/null; echo $?)" 0
same '1: a request that would be refused' "$(o why "$b" 'GET https://nowhere.example.test/' >/dev/null; echo $?)" 1
same '1: something was left over' "$(o apply "$b" --yes >/dev/null 2>&1; echo $?)" 1

# The same words, every command that can hear them.
for command in attach logs log timeline diff rules secrets learn stop rm fork snapshot turns ports resume approvals; do
	ends "$command of no such box" 121 "$ostiary" $command no-such-box
done
ends 'exec in no such box' 121 "$ostiary" exec no-such-box -- true
ends 'allow in no such box' 121 "$ostiary" allow no-such-box example.org
ends 'deny in no such box' 121 "$ostiary" deny no-such-box example.org
ends 'cp from no such box' 121 "$ostiary" cp no-such-box:x .
ends 'apply of no such box' 121 "$ostiary" apply no-such-box --yes
ends 'why in no such box' 121 "$ostiary" why no-such-box 'GET https://example.org'
ends 'revoke in no such box' 121 "$ostiary" revoke no-such-box KEY
ends 'rotate in no such box' 121 "$ostiary" rotate no-such-box KEY
ends 'forward to no such box' 121 "$ostiary" forward no-such-box 80
ends 'report of no such box' 121 "$ostiary" report no-such-box -o page
ends 'audit of no such box' 121 "$ostiary" audit verify no-such-box
ends 'reload of no such box' 121 "$ostiary" policy reload no-such-box
ends 'approve in no such box' 121 "$ostiary" approve no-such-box/1
ends 'a pattern that fits nothing' 121 "$ostiary" rm 'no-such-*'
ends 'no such snapshot' 121 "$ostiary" run -q --from no-such-snapshot -- true
ends 'no such snapshot to remove' 121 "$ostiary" snapshots rm no-such-snapshot
ends 'no such record' 121 "$ostiary" undo 4711
ends 'no such profile, to run' 121 "$ostiary" run -q --profile no-such-profile -- true
ends 'no such profile, to show' 121 "$ostiary" profile show no-such-profile
ends 'no such profile, to begin with' 121 "$ostiary" profile new mine --from no-such-profile
ends 'no such profile, to check with' 121 "$ostiary" policy check --profile no-such-profile 'GET https://example.org'
ends 'no such secret in the vault' 121 "$ostiary" secret rm NO_SUCH
ends 'no such secret in a box' 121 "$ostiary" revoke "$b" NO_SUCH

for command in run create exec ps apply rm secret profile snapshots help version; do
	ends "an unknown flag of $command" 64 "$ostiary" $command --no-such-flag
done
ends 'an unknown command' 64 "$ostiary" no-such-command
ends 'a rule with a slip, at the start' 64 "$ostiary" run -q --allow 'GTE example.org' -- true
ends 'a rule with a slip, while it runs' 64 "$ostiary" allow "$b" 'GTE example.org'
ends 'a limit without sense' 64 "$ostiary" run -q --limit memory=lots -- true
ends 'a filter without sense' 64 "$ostiary" ps --filter state=asleep
ends 'apply without a terminal and without --yes' 64 "$ostiary" apply "$b"
ends 'rm of unapplied work by a pattern, without --yes' 64 "$ostiary" rm -f "$tag-*"

printf 'allow GTE example.org\n' >"$work/bad.policy"
printf 'extends default\nlimt memory=1G\n' >"$work/bad.profile"
mkdir -p "$HOME/.config/ostiary/profiles" && cp "$work/bad.profile" "$HOME/.config/ostiary/profiles/broken.profile"
ends 'a broken policy, at the start' 119 "$ostiary" run -q --policy "$work/bad.policy" -- true
ends 'a broken policy, to check a request' 119 "$ostiary" policy check --policy "$work/bad.policy" 'GET https://example.org'
ends 'a broken profile' 119 "$ostiary" run -q --profile broken -- true
ends 'a workspace that is not there' 119 "$ostiary" run -q -w /nonexistent -- true
ends 'a bind that is not there' 119 "$ostiary" run -q --bind /nonexistent -- true
ends 'a file of variables that is not there' 119 "$ostiary" run -q --env-file /nonexistent -- true
ends 'a path outside of the workspace' 119 "$ostiary" diff "$b" /etc/passwd
ends 'a path in the box that is not there' 119 "$ostiary" cp "$b:nothing" .
ends 'settings that are no JSON' 119 "$ostiary" import srt file
ends 'settings that are not there' 119 "$ostiary" import srt /nonexistent

ends 'rm of a box that runs' 122 "$ostiary" rm "$b"
ends 'a name that is taken' 122 "$ostiary" create -q --name "$b"
ends 'a workspace that is not permitted' 122 "$ostiary" run -q -w "$HOME" -- true
ends 'a profile that is there already' 122 "$ostiary" profile new broken
printf 'deny! * blocked.example.test\n' >"$HOME/.config/ostiary/policy"
o create -q --name "$tag-d" >/dev/null
ends 'a rule that may not be overridden' 122 "$ostiary" allow "$tag-d" blocked.example.test
rm "$HOME/.config/ostiary/policy"

say unshare -U "--map-user=$(id -u)" "--map-group=$(id -g)" --keep-caps sh -c 'echo 0 >/proc/sys/user/max_user_namespaces || exit 97
	exec setpriv --ambient-caps=-all --inh-caps=-all "$1" run -q --rm -- true' - "$ostiary"
same '123: a machine that cannot build a box' "$code" 123
ends 'the time limit' 124 "$ostiary" run -q --rm --limit time=1 -- sleep 100
say "$ostiary" run -q --rm --limit disk=8M -- sh -c 'head -c 100M /dev/zero >big; sleep 60'
same '120: the disk limit' "$code" 120
chmod 644 file
ends 'a file that is no program' 126 "$ostiary" run -q --rm -- ./file
ends 'a program that is not there' 127 "$ostiary" run -q --rm -- no-such-program
ends 'and by exec' 127 "$ostiary" exec "$b" -- no-such-program
say "$ostiary" run -q --rm -- sh -c 'exit 42'
same "the command's own" "$code" 42
say "$ostiary" run -q --rm -- sh -c 'kill -TERM $$'
same '128+N for a signal' "$code" 143
supervisor=$(o ps --json | python3 -c 'import json, sys; print([b["supervisor_pid"] for b in json.load(sys.stdin)["data"] if b["id"] == sys.argv[1]][0])' "$b")
o exec "$b" -- sleep 60 >/dev/null 2>"$work/err" </dev/null &
client=$!
sleeps() { o exec "$b" -- pgrep -x sleep >/dev/null 2>&1; }
wait_for 60 sleeps
kill -9 "$supervisor"
wait $client
same '125: a part of it died' $? 125
o rm --all --force --yes >/dev/null 2>&1
exit $bad
