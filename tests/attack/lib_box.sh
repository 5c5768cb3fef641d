# shellcheck shell=bash disable=SC2034,SC2154
# lib_box.sh - how the judge starts boxes: one function per way of starting, results in files.
#
# Sourced by judge.sh and host_cases.sh. $work, $as, $canary and $here come from run.sh.

inside=$work/ws/inside
env_file=$work/ws/.attack-env
events=$work/secret-dir/events

# The environment of a person's shell; the canary in it must not be found in the box (case 30).
user_env=(env -i HOME="$work/home" PATH="$PATH" TERM=xterm LANG=C.UTF-8 USER=attacker
	XDG_STATE_HOME="$work/xdg/state" XDG_DATA_HOME="$work/xdg/data" XDG_CONFIG_HOME="$work/xdg/config"
	SECRET_TOKEN="$canary" OSTIARY_TEST_CANARY="$canary")

# box PROGRAM WEAKEN FLAGS -- COMMAND...: run a command in a box, at most 150 s, which is for a busy machine. Descriptors 7 and 8
# are left open on purpose (case 29).
box() {
	local program=$1 weaken=$2
	shift 2
	(
		cd "$work/ws" || exit 125
		"${user_env[@]}" ${weaken:+OSTIARY_WEAKEN="$weaken"} timeout -k 5 150 \
			"$work/bin/$program" run -q --rm --workspace "$work/ws" --bind "$work/tree:ro" "$@" \
			6>&- 7<"$work/secret-dir/secret" 8<"$work/secret-dir"
	)
}

# run_plain PROGRAM WEAKEN RESULT [CASE...]: all plain cases, or the named ones, in one box.
run_plain() {
	local program=$1 weaken=$2 result=$3
	shift 3
	[ $# -gt 0 ] || set -- all
	box "$program" "$weaken" -- "$inside" "$@" </dev/null >"$result" 2>"$result.err"
	echo "$?" >"$result.status"
}

# run_tty: the same with a terminal, for the cases that need one.
run_tty() {
	local program=$1 weaken=$2 result=$3
	(
		cd "$work/ws" || exit 125
		"${user_env[@]}" ${weaken:+OSTIARY_WEAKEN="$weaken"} timeout -k 5 150 \
			"$work/bin/plant" tty "$env_file" "$work/bin/$program" run -q --rm \
			--workspace "$work/ws" -- "$inside" all-tty 6>&-
	) </dev/null 2>"$result.err" | tr -d '\r' | grep '^case ' >"$result"
}

# run_limit PROGRAM WEAKEN RESULT CASE: a box with small limits for one starving case. A box that a
# limit ended says so with exit code 120, which is the verdict then.
run_limit() {
	local program=$1 weaken=$2 result=$3 id=$4 status
	box "$program" "$weaken" --limit memory=96M --limit pids=100 --limit files=512 \
		--limit inotify=200 --limit disk=16M -- "$inside" "$id" </dev/null >"$result.one" 2>"$result.err"
	status=$?
	if grep -q "^case $id " "$result.one"; then
		grep "^case $id " "$result.one" >>"$result"
	elif [ "$status" = 120 ] || [ "$status" = 137 ]; then
		echo "case $id blocked LIMIT the box was ended by its limit" >>"$result"
	fi
}

# verdict RESULT CASE: blocked, escaped, n/a, or nothing when the box did not start.
verdict() {
	awk -v id="$2" '$1 == "case" && $2 == id { print $3; exit }' "$1" 2>/dev/null
}

detail() {
	awk -v id="$2" '$1 == "case" && $2 == id { sub(/^case [^ ]+ [^ ]+ ?/, ""); print; exit }' "$1" 2>/dev/null
}
