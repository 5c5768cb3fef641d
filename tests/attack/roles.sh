# shellcheck shell=bash disable=SC2034,SC2154
# roles.sh - attacker code run as our own roles shows what taking one over yields.
#
# Sourced by judge.sh. The CLI and the supervisor have the user's own rights by design, which is
# said as a skip; pid 1 of the box must yield nothing: no environment, no secret in memory, no
# capability, no descriptor of the host but its control socket and the first command's streams.

role_canary=OSTIARY-ROLE-CANARY-91c2e57f
skip role-cli "attacker code as the CLI" "it yields the user's own rights, by design (docs/threat-model.md)"

# role ROLE [WEAKEN]: run the hook of the weak build as that role, its lines into $res/role.ROLE.
role() {
	(
		cd "$work/ws" || exit 125
		"${user_env[@]}" OSTIARY_ROLE_ATTACK="$1" OSTIARY_ROLE_CANARY="$role_canary" \
			OSTIARY_ROLE_OUT="$res/role.out" \
			${2:+OSTIARY_WEAKEN="$2"} timeout -k 5 100 "$work/bin/ostiary-weak" run -q --rm --workspace "$work/ws" -- "$inside" 8n \
			6>&- 7<"$work/secret-dir/secret" 8<"$work/secret-dir" </dev/null
	) 2>&1 | cat >"$res/role.$1"
	[ ! -e "$res/role.out" ] || mv "$res/role.out" "$res/role.$1"
}
role_value() { awk -v k="$2" '$1 == "role" && $3 == k { print $4; exit }' "$res/role.$1"; }

# role_is ROLE KEY WANTED WORDS
role_is() {
	local got
	got=$(role_value "$1" "$2")
	if [ "$got" = "$3" ]; then
		ok "role-$1-$2" "$4"
	else
		not_ok "role-$1-$2" "$4" "it is '$got', not '$3'"
	fi
}

role pid1
if ! grep -q '^role pid1 end' "$res/role.pid1"; then
	not_ok role-pid1 "attacker code as pid 1" "the hook did not run: $(tail -n 1 "$res/role.pid1")"
else
	role_is pid1 environ 0 "pid 1 has no environment"
	role_is pid1 canary 0 "the user's environment is not in the memory of pid 1"
	role_is pid1 caps 0000000000000000 "pid 1 has no capability"
	role_is pid1 no_new_privs 1 "pid 1 can gain no privilege"
	role_is pid1 dumpable 0 "pid 1 cannot be traced"
	opened=$(awk '$3 == "state-paths" { print $6 }' "$res/role.pid1")
	if [ "$opened" = 0 ]; then
		ok role-pid1-paths "pid 1 can open no path of the box's state"
	else
		not_ok role-pid1-paths "pid 1 can open no path of the box's state" "it opened $opened"
	fi
	if [ "$(role_value pid1 userns)" = made ]; then
		not_ok role-pid1-userns "pid 1 can make no namespace" "it made one"
	else
		ok role-pid1-userns "pid 1 can make no namespace"
	fi
	odd=$(awk '$3 == "fd" && $5 != "null" && $5 != "pipe" {
		if ($5 == "socket" && !sockets++) next
		printf "%s ", $4 ":" $5 ":" $6 }' "$res/role.pid1")
	if [ -z "$odd" ]; then
		ok role-pid1-fds "pid 1 holds its control socket and the first command's streams"
	else
		not_ok role-pid1-fds "pid 1 holds its control socket and the first command's streams" "also $odd"
	fi
fi

# The control: with the user's environment let in, the same scan must find it.
role pid1 env
if [ "$(role_value pid1 canary)" = 0 ]; then
	not_ok role-pid1-control "the scan finds a secret that is there" "it found nothing without the env layer"
else
	ok role-pid1-control "the scan finds a secret that is there"
fi

role supervisor
if grep -q '^role supervisor end' "$res/role.supervisor"; then
	role_is supervisor canary 0 "the user's environment is not in the memory of the supervisor"
fi
skip role-supervisor "attacker code as the supervisor" "it yields the user's own rights, by design (docs/threat-model.md)"
