#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: once in test, as a user: how many questions a box may ask does not depend on who started it
# door_ask.sh - a box cannot wear its user out with questions: few wait at a time, few come in a row, the rest is refused
# unseen with the command that would allow it, which the user hears once and the log has. What was asked is answered as
# ever, and after a while the box may ask again.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs door_ask curl openssl /usr/sbin/nginx python3
door_ca && door_nginx
check "origins are up" $? "$(cat "$work/nginx.err")"
json() { python3 -c "import json,sys; d=json.load(sys.stdin); d = d[\"data\"] if \"ostiary\" in d else d; print($1)"; }
open_n() { "$ostiary" approvals flood --json | json 'len(d)'; }
codes() { cat "$work"/asked.* 2>/dev/null | grep -c "$1"; }
door_box flood --allow "ask GET $(plain_rule '' ask.example.test "$nginx_plain" | cut -c 2-)" >/dev/null
check "a box that has to ask starts" $?
# Somebody is attached and sees what is said.
"$ostiary" exec flood -- sleep 1000 </dev/null >/dev/null 2>"$work/attached" &
door_pids+=($!)
for n in $(seq 50); do
	# shellcheck disable=SC2016
	echo "curl -s -m 250 -w ' %{http_code}\\n' http://ask.example.test/hello?$n >asked.$n"
done >"$work/ws/many.sh"
in_box flood sh -c 'while read -r line; do sh -c "$line" & done <many.sh; wait' &
asking=$!
refused() { [ "$(in_box flood sh -c 'cat asked.* | grep -c " 403"')" = 34 ]; }
within 100 refused
check "of fifty questions at once all but sixteen are refused" $? "$(in_box flood sh -c 'cat asked.* | grep -c " 403"')"
same "sixteen wait for a person" "$(open_n)" 16
one=$(in_box flood sh -c 'cat $(grep -l " 403" asked.* | head -n 1)')
holds "the refusal says why" "$one" "this box asks too much, so nobody was asked"
holds "and how to allow it" "$one" "ostiary allow flood"
same "the user hears of it once" "$(grep -c "the box asks too much" "$work/attached")" 1
same "and of each question that waits" "$(grep -c "the box asks: " "$work/attached")" 16
log=$("$ostiary" log flood --json)
same "the log says so once" "$(grep '"method":"ask"' <<<"$log" | grep -c "asks too much")" 1
same "and has each refusal" "$(grep '"kind":"http"' <<<"$log" | grep -c '"verdict":"ask-no"')" 34
for id in $("$ostiary" approvals flood --json | json '" ".join(str(q["id"]) for q in d)'); do
	"$ostiary" approve "$id" >/dev/null 2>&1
done
wait "$asking"
same "those that waited are answered" "$(in_box flood sh -c 'cat asked.* | grep -c " 200"')" 16
# Sixteen were asked in a row; four more may come, however fast they are answered.
in_box flood sh -c 'rm -f asked.*; for n in 1 2 3 4 5 6 7 8 9 10; do curl -s -m 250 -w " %{http_code}\n" "http://ask.example.test/hello?again$n" >asked.$n & done; wait' &
asking=$!
answer_all() {
	local id
	for id in $("$ostiary" approvals flood --json | json '" ".join(str(q["id"]) for q in d)'); do
		"$ostiary" approve "$id" >/dev/null 2>&1
	done
	! kill -0 "$asking" 2>/dev/null
}
within 200 answer_all
check "a second flood ends" $?
wait "$asking"
n=$(in_box flood sh -c 'cat asked.* | grep -c " 403"')
[ "$n" -ge 1 ] || [ "$(grep -c "the box asks: " "$work/attached")" -le 26 ]
check "also when they are answered at once only so many come in a row" $? "$n refused"
# A rule that allows it ends the questions.
"$ostiary" allow flood "GET $(plain_rule '' ask.example.test "$nginx_plain" | cut -c 2-)" >/dev/null 2>"$work/err"
check "the rule is added" $? "$(cat "$work/err")"
same "and nobody is asked any more" "$(in_box flood curl -s -m 100 -o /dev/null -w '%{http_code}' http://ask.example.test/hello)" 200
# Who said no is said.
door_box who --allow "ask GET $(plain_rule '' ask.example.test "$nginx_plain" | cut -c 2-)" >/dev/null
in_box who sh -c 'curl -s -m 250 http://ask.example.test/hello >said' &
asking=$!
id=''
waits() { id=$("$ostiary" approvals who --json | json '" ".join(str(q["id"]) for q in d)') && [ -n "$id" ]; }
within 100 waits
"$ostiary" refuse "$id" >/dev/null 2>"$work/err"
check "a question is refused" $? "$(cat "$work/err")"
wait "$asking"
said=$(in_box who cat said)
holds "a person said no" "$said" "a person said no"
[[ $said != *nobody* ]]
check "and nothing is said of nobody" $? "$said"
(cd "$work/ws" && "$ostiary" run -q -d -n alone -- sh -c 'curl -s -m 100 http://other.example.test/ >said; sleep 300') >/dev/null
alone() { "$ostiary" log alone --denied 2>/dev/null | grep -q other.example.test; }
within 100 alone
said=$("$ostiary" log alone --denied)
holds "with nobody there that is said" "$said" "nobody is attached who could be asked"
[[ $said != *'person said no'* ]]
check "and no person" $? "$said"
# Who is there and wants no questions is not asked either, and nothing waits for two minutes.
said=$(cd "$work/ws" && timeout 100 script -qec "'$ostiary' run -q --rm -n hush -- curl -s -m 90 http://other.example.test/" /dev/null </dev/null)
holds "with --quiet nobody is asked, which is said at once" "$said" "with --quiet nobody is asked"
holds "with the command that would allow it" "$said" "ostiary allow hush 'GET other.example.test"
[[ $("$ostiary" log alone --denied) != *clone3* ]]
check "a call that programs do without is no refusal" $? "$said"
holds "but it is in the log" "$("$ostiary" log alone --kind call)" clone3
# Patience brings a question back: one every three seconds.
door_box calm --allow "ask GET $(plain_rule '' ask.example.test "$nginx_plain" | cut -c 2-)" >/dev/null
in_box calm sh -c 'for n in $(seq 40); do curl -s -m 1 -o /dev/null "http://ask.example.test/hello?$n" & done; wait'
asked() { [ "$("$ostiary" approvals calm --json | json 'len(d)')" -ge 1 ]; }
again() {
	in_box calm curl -s -m 3 -o /dev/null http://ask.example.test/hello &
	within 2 asked
}
within 60 again
check "a box that was too fast may ask again later" $?
exit "$bad"
