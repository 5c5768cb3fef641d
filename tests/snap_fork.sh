#!/bin/bash
# suite: test=root,user soak=root,user timeout=300
# tier: overlays of root carry other marks than those of a user; forks have all of them
# snap_fork.sh - boxes made from a box: each goes on by itself over what they share; what the agent wrote down of a
# placeholder in the parent works in the fork; and no value of a secret is ever in a snapshot or a frozen layer.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs snap_fork curl openssl python3
state=$work/home/.local/state/ostiary
o() { timeout -k 5 150 "$ostiary" "$@" </dev/null; }
names() { o "$@" | /usr/bin/python3 -c 'import json, sys; print(" ".join(json.load(sys.stdin)["data"]["boxes"]))'; }

# --- forks ------------------------------------------------------------------------------------------
cd "$work/ws" || exit 1
echo host >file
o run -q -n parent -- sh -c 'echo parent >file; echo p >p; echo memory >~/memory'
made=$(o fork parent --number 8 --name child)
same 'eight boxes are made, with names' "$(tr '\n' ' ' <<<"$made")" 'child-1 child-2 child-3 child-4 child-5 child-6 child-7 child-8 '
same 'they share what they have in common' "$(find "$state/frozen" -name p | wc -l)" 1
same 'none runs' "$(o ps -q)" ''
same 'logs of a fork that wrote nothing yet, into a pipe' "$(o logs child-8 2>&1 | cat; echo "${PIPESTATUS[0]}")" 0
same 'a fork sees what the parent saw' "$(o exec child-1 -- sh -c 'cat file p ~/memory' | tr '\n' ' ')" 'parent p memory '
o exec child-1 -- sh -c 'echo one >file; rm p; echo mine >mine'
o exec parent -- sh -c 'echo later >later'
same 'what one changes is its own' "$(o exec child-2 -- sh -c 'cat file p; ls' | tr '\n' ' ')" 'parent p file p '
same 'the parent goes on too' "$(o exec parent -- sh -c 'cat file p later' | tr '\n' ' ')" 'parent p later '
same 'the fork keeps what it changed' "$(o exec child-1 -- sh -c 'cat file; ls' | tr '\n' ' ')" 'one file mine '
same 'a fork of a fork' "$(o exec "$(o fork child-1)" -- sh -c 'cat file mine; ls p 2>/dev/null' | tr '\n' ' ')" 'one mine '
same 'as JSON' "$(names fork parent --number 2 --json | wc -w)" 2
o rm -f parent >/dev/null
same 'a fork outlives its parent' "$(o exec child-3 -- cat p)" p
same 'the host is as it was' "$(cat file)" host
got=$(o fork child-1 --number 3 --name child 2>&1)
holds 'a name that is taken is refused' "$got" 'there is a box named child-1'
same 'and then none is made' "$(o ps -a -q | grep -c '^child-[123]$')" 3
holds 'how many must make sense' "$(o fork child-1 --number 0 2>&1)" 'from 1 to'
holds 'a box that is not there is told of' "$(o fork nobody 2>&1)" 'there is no box'
o ps -a -q | xargs -r "$ostiary" rm -f >/dev/null
same 'nothing is left when they are removed' "$(find "$state/frozen" -mindepth 1 -maxdepth 1 -type d | wc -l)" 0

# --- secrets ----------------------------------------------------------------------------------------
door_trial 'DNS:*.example.test,DNS:example.test,IP:127.0.0.1'
export FORK_KEY=canary-value-of-the-key-0815
printf 'PASSWORD=canary-value-in-a-file-4711\n' >.env
chmod 600 .env
rule="* *.example.test:443 to=127.0.0.1:$h1 ca=$work/ca.pem"
o run -q -n keeper --level strict --allow "$rule" --secret FORK_KEY@api.example.test -- \
	sh -c 'echo "$FORK_KEY" >written; cp .env copied; echo "$FORK_KEY" >~/token'
written=$(o exec keeper -- cat written)
[ -n "$written" ] && [ "$written" != "$FORK_KEY" ]
check 'the parent wrote a placeholder down' $? "$written"
o snapshot keeper with-secret >/dev/null
o fork keeper --name heir >/dev/null
# shellcheck disable=SC2016 # for the shell in the box
ask='curl -s -m 60 -o /dev/null -w "%{http_code}" -H "Authorization: Bearer $(cat written)" https://api.example.test/$1'
same 'what the parent wrote down works in the fork' "$(o exec heir -- sh -c "$ask" sh heir)" 200
holds 'the origin saw the value' "$(cat "$work"/seen/received-api.example.test)" "$FORK_KEY"
: >"$work/seen/received-api.example.test"
same 'and in the parent' "$(o exec keeper -- sh -c "$ask" sh parent)" 200
holds 'the origin saw the value from there too' "$(cat "$work"/seen/received-api.example.test)" "$FORK_KEY"
same 'both live, each in a box of its own' "$(o ps -q | sort | tr '\n' ' ')" 'heir keeper '
o stop keeper >/dev/null
same 'one goes on when the other ends' "$(o exec heir -- sh -c "$ask" sh again)" 200
o create -n third --level strict --allow "$rule" --secret FORK_KEY@api.example.test --from with-secret >/dev/null
same 'it works in a box made from the snapshot too' "$(o exec third -- sh -c "$ask" sh third)" 200
o run -q -d -n busy --level strict --allow "$rule" --secret FORK_KEY@api.example.test -- \
	sh -c 'echo "$FORK_KEY" >written; cat .env >copied; echo ready >ready; sleep 600'
within 60 o exec busy -- test -e ready
o snapshot busy of-busy >/dev/null 2>&1
check 'a busy box with a secret is kept too' $?
for canary in canary-value-of-the-key-0815 canary-value-in-a-file-4711; do
	grep -rqF "$canary" "$state/frozen" "$state/snapshots" 2>/dev/null
	check "$canary is in no frozen layer and no snapshot" $((1 - $?)) "$(grep -rlF "$canary" "$state/frozen" "$state/snapshots" 2>/dev/null)"
done
grep -rqF "$written" "$state/frozen" "$state/snapshots"
check 'the search finds what is there: the placeholder' $?
find "$state/frozen" -name .env | grep -q .
check 'a masked copy that the box did not touch is in no layer' $((1 - $?)) "$(find "$state/frozen" -name .env)"
same 'the file of the host is as it was' "$(cat .env)" 'PASSWORD=canary-value-in-a-file-4711'
o exec heir -- sh -c 'grep -q canary .env' 2>/dev/null
check 'and is masked in a fork' $((1 - $?))
o exec heir -- sh -c 'echo own >>.env'
o snapshot heir >/dev/null
holds 'what a box made of it is its own after a snapshot' "$(o exec heir -- cat .env)" own
exit $bad
