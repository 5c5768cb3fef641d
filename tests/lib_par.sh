# lib_par.sh - parts of a suite that do not touch each other run at once; what they say is printed in their own order.
#
# Sourced by suites after the library that has their results. A part is a function or a command; it runs in a subshell,
# so what it sets is lost, and a `not ok` that it prints sets $bad here. $work is a directory of the suite.
# shellcheck shell=bash disable=SC2154,SC2034

par_max=${PAR_MAX:-4}
declare -A par_pids=()
par_outs=()

# par COMMAND...: start it, as soon as fewer than $par_max are under way.
par() {
	local out=$work/.par.${#par_outs[@]}
	while [ ${#par_pids[@]} -ge "$par_max" ]; do par_reap; done
	"$@" >"$out" 2>&1 </dev/null &
	par_pids[$!]=1
	par_outs+=("$out")
}
# par_reap: until one of them has ended.
par_reap() {
	local pid=''
	wait -n -p pid "${!par_pids[@]}"
	if [ -n "$pid" ]; then unset "par_pids[$pid]"; else par_pids=(); fi
}

# par_wait: until all are over; their words, in the order in which they were started.
par_wait() {
	local out
	while [ ${#par_pids[@]} -gt 0 ]; do par_reap; done
	for out in "${par_outs[@]}"; do
		cat "$out"
		! grep -q '^not ok ' "$out" || bad=1
		if ! grep -qE '^(ok|not ok|skip) ' "$out"; then # it was killed, or is no command at all
			echo "not ok a part of the suite that runs beside others has a result: it said nothing (part ${out##*.})"
			bad=1
		fi
		rm -f "$out"
	done
	par_outs=()
}
