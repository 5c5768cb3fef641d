#!/bin/bash
# suite: test=user soak=root,user timeout=400
# tier: the policy is read in the same way for both users, so test runs it once
# custody_reload.sh - `policy reload` and the secrets of a running box: a line that is gone is revoked at once, a changed one
# counts for the next request, a new one has a placeholder that is honoured; what a running box cannot be given is said,
# and a broken file changes nothing.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib.sh
. tests/lib_door.sh
door_needs custody_reload curl openssl /usr/bin/python3
door_trial 'DNS:*.one.test,DNS:*.two.test'
export STAYS=fake-value-that-stays-0001 GOES=fake-value-that-goes-0002 WANDERS=fake-value-that-wanders-3
printf fake-value-of-a-file-000004 >"$work/value"
printf fake-value-of-another-00005 >"$work/other"
chmod 600 "$work/value" "$work/other"
rules() {
	cat <<-RULES
		allow * *.one.test to=127.0.0.1:$h1 ca=$work/ca.pem
		allow * *.two.test to=127.0.0.1:$h1 ca=$work/ca.pem
	RULES
}
# policy LINE...: the box's file.
policy() {
	{
		rules
		printf '%s\n' "$@"
	} >"$work/policy"
}
count() { grep -ac "$2" "$work/seen/received-$1" 2>/dev/null || true; }
get() { # BOX HOST VARIABLE: status and body
	# shellcheck disable=SC2016
	in_box "$1" sh -c 'eval "v=\$$2"; curl -s -m 100 -w " %{http_code}" -H "Authorization: Bearer $v" "https://$1/"' sh "$2" "$3"
}
stays='secret STAYS from env at *.one.test as bearer'
goes='secret GOES from env at *.one.test as bearer'
wanders='secret WANDERS from env at *.one.test as bearer'
filed="secret FILED from file $work/value at *.one.test as bearer"

policy "$stays" "$goes" "$wanders" "$filed"
door_box re --policy "$work/policy" >/dev/null 2>"$work/err"
check "a box with four secrets starts" $? "$(cat "$work/err")"
for name in STAYS GOES WANDERS FILED; do
	holds "before: $name" "$(get re a.one.test $name)" " 200"
done
same "reading the same again says nothing of secrets" "$("$ostiary" policy reload re 2>&1)" re

# --- a broken file -----------------------------------------------------------------------------------

policy "$stays" "$goes" "$wanders" "$filed" 'secret STAYS from env at *.two.test as basic'
got=$("$ostiary" policy reload re 2>&1)
[ $? -ne 0 ]
check "a name that stands for two things is an error" $? "$got"
holds "with both lines" "$got" "is there twice"
for name in STAYS GOES; do
	holds "and changes nothing: $name" "$(get re a.one.test $name)" " 200"
done

# --- gone --------------------------------------------------------------------------------------------

placeholder=$(in_box re printenv GOES)
policy "$stays" "$wanders" "$filed"
holds "a line that is gone is told" "$("$ostiary" policy reload re 2>&1)" "secret GOES: revoked, because its line is gone"
seen=$(count a.one.test "$GOES")
got=$(get re a.one.test GOES)
holds "its secret is refused" "$got" "GOES was revoked"
holds "with a 403" "$got" " 403"
same "the origin sees no more of it" "$(count a.one.test "$GOES")" "$seen"
holds "the list says revoked" "$("$ostiary" secrets re | grep GOES)" revoked
holds "the others are served on" "$(get re a.one.test STAYS)" " 200"
policy "$stays" "$wanders" "$filed" "secret GOES from env at *.two.test as bearer"
holds "a line that comes back does not bring it back" "$("$ostiary" policy reload re 2>&1)" "secret GOES: it was revoked in this box and stays so"
holds "it stays refused" "$(in_box re curl -s -m 100 -w ' %{http_code}' -H "Authorization: Bearer $placeholder" https://a.two.test/)" " 403"

# --- changed -----------------------------------------------------------------------------------------

before=$(in_box re printenv WANDERS)
holds "before: it may not go to the other place" "$(get re a.two.test WANDERS)" " 403"
policy "$stays" "$filed" "secret WANDERS from env at *.two.test as bearer"
holds "another place for a secret whose source cannot be asked again" "$("$ostiary" policy reload re 2>&1)" "secret WANDERS: its new line is in force"
holds "it may go there now" "$(get re a.two.test WANDERS)" " 200"
got=$(get re a.one.test WANDERS)
holds "and not where it went before" "$got" " 403"
same "the box has the same placeholder" "$(in_box re printenv WANDERS)" "$before"
same "the other place saw the value" "$(count a.two.test "$WANDERS")" 1
policy "$stays" "$filed" "secret WANDERS from env OTHER_NAME at *.two.test as bearer"
holds "another variable cannot be had" "$("$ostiary" policy reload re 2>&1)" "secret WANDERS: a variable of the shell that started the box cannot be asked again"
holds "and the line before stays" "$(get re a.two.test WANDERS)" " 200"
policy "$stays" "secret WANDERS from env at *.two.test as bearer" "secret FILED from file $work/other at *.one.test as bearer"
holds "another file" "$("$ostiary" policy reload re 2>&1)" "secret FILED: its new line is in force"
get re b.one.test FILED >/dev/null
same "its value is what the origin sees" "$(count b.one.test fake-value-of-another-00005)" 1
policy "$stays" "secret WANDERS from env at *.two.test as bearer" "secret FILED from file $work/nowhere at *.one.test as bearer"
holds "a file that is not there" "$("$ostiary" policy reload re 2>&1)" "secret FILED: its line was not taken, and the one before stays"
holds "its secret is served on" "$(get re b.one.test FILED)" " 200"
policy "$stays" "secret WANDERS from env at *.two.test as bearer" "secret FILED from file $work/other at *.one.test as sigv4 region=eu-west-1 service=s3"
holds "a key of another kind" "$("$ostiary" policy reload re 2>&1)" "secret FILED: a box gets a key of this kind only when it starts"
policy "$stays" "secret WANDERS from env at *.two.test as bearer ttl=1s" "secret FILED from file $work/other at *.one.test as bearer"
"$ostiary" policy reload re >/dev/null 2>&1
expired() { get re a.two.test WANDERS | grep -q "WANDERS has expired"; }
within 60 expired
check "a ttl= that was added counts" $? "$(get re a.two.test WANDERS)"

# --- new ---------------------------------------------------------------------------------------------

printf fake-value-of-a-new-one-0006 >"$work/new"
chmod 600 "$work/new"
late="secret LATE from file $work/new at *.one.test as bearer"
filed="secret FILED from file $work/other at *.one.test as bearer"
policy "$stays" "$filed" "$late" "secret NOVAR from env at *.one.test as bearer" "secret NOFILE from file $work/nowhere at *.one.test as bearer"
got=$("$ostiary" policy reload re 2>&1)
holds "a new secret" "$got" "secret LATE: taken in; what runs in the box already has no placeholder for it"
holds "one of a variable" "$got" "secret NOVAR: not taken in: a variable can be read only by the shell that starts a box"
holds "one whose file is not there" "$got" "secret NOFILE: not taken in"
placeholder=$(in_box re printenv LATE)
[ -n "$placeholder" ] && [ "$placeholder" != fake-value-of-a-new-one-0006 ]
check "what is started now has a placeholder" $? "$placeholder"
holds "which is honoured" "$(get re c.one.test LATE)" " 200"
same "the origin saw the value" "$(count c.one.test fake-value-of-a-new-one-0006)" 1
holds "but not elsewhere" "$(get re c.two.test LATE)" " 403"
holds "with an alarm" "$("$ostiary" log re --json | grep '"kind":"alarm"')" LATE
holds "the list has it" "$("$ostiary" secrets re | grep LATE)" held
same "it can be revoked" "$("$ostiary" revoke re LATE 2>&1)" "re: LATE revoked"
holds "and is then refused" "$(get re c.one.test LATE)" " 403"
for value in "$STAYS" "$WANDERS" fake-value-of-a-new-one-0006 fake-value-of-another-00005; do
	! in_box re sh -c "cat /proc/[0-9]*/environ 2>/dev/null; env" | grep -aq "$value"
	check "no value is in the box: $value" $?
done
"$ostiary" rm -f re >/dev/null 2>&1

# A box that began without any secret, before and after somebody has come to its door.
for when in idle open; do
	policy
	door_box "$when" --policy "$work/policy" >/dev/null 2>"$work/err"
	check "$when: a box without secrets starts" $? "$(cat "$work/err")"
	[ "$when" = idle ] || in_box "$when" curl -s -m 100 -o /dev/null https://d.one.test/
	policy "$late" "secret MADE from cmd 'echo fake-value-of-a-command-7' at *.one.test as bearer inject"
	got=$("$ostiary" policy reload "$when" 2>&1)
	holds "$when: it gets a first secret" "$got" "secret LATE: taken in"
	holds "$when: and one of a command" "$got" "secret MADE: taken in"
	holds "$when: which is honoured" "$(get "$when" "$when.one.test" LATE)" " 200"
	same "$when: the origin saw the value" "$(count "$when.one.test" fake-value-of-a-new-one-0006)" 1
	in_box "$when" curl -s -m 100 -o /dev/null "https://made-$when.one.test/"
	same "$when: one that is injected goes with a request that has none" "$(count "made-$when.one.test" fake-value-of-a-command-7)" 1
	policy
	holds "$when: and loses both" "$("$ostiary" policy reload "$when" 2>&1 | tr '\n' ' ')" "secret LATE: revoked, because its line is gone"
	holds "$when: the next request is refused" "$(get "$when" "$when.one.test" LATE)" " 403"
	"$ostiary" rm -f "$when" >/dev/null 2>&1
done
exit "$bad"
