#!/bin/bash
# suite: test=user soak=root,user timeout=1200
# tier: as root two layers are felt by other lines of the demo; the attack suite has both as root in test
# demo_weak.sh - the demo passes on the release build and fails, saying where, when a wall is off.
#
# Each row leaves layers out of the weak build and names the line of the demo that must turn. Layers
# that a script cannot feel are found by the demo's last line, `ostiary probe`.
set -u
cd "$(dirname "$0")/.." || exit 1
weak=${OSTIARY_WEAK:-$PWD/out/weak/ostiary}
bad=0
work=$(mktemp -d "${HOME:-/tmp}/weak.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/lib_par.sh
. tests/lib_par.sh
# shellcheck source=tests/lib_tier.sh
. tests/lib_tier.sh
report() { # status, name, why
	if [ "$1" = 0 ]; then echo "ok $2"; else
		echo "not ok $2: $3"
		bad=1
	fi
}

# Each demo has its own places, names and ports, and most of its time is waiting: four run at once.
as_it_is() {
	local start out ms
	start=$(date +%s%N)
	out=$(sh demo/run.sh 2>&1)
	report $? 'the demo passes on the program under test' "$(tail -n 20 <<<"$out" | tr '\n' '|')"
	ms=$((($(date +%s%N) - start) / 1000000))
	echo "# the demo took $ms ms" # a figure, not a test: machines are noisy
	tail -n 1 <<<"$out" | grep -q 'make install.*ostiary run claude'
	report $? 'the demo ends with the next command to type' "$(tail -n 1 <<<"$out")"
	! grep -q $'\033' <<<"$out"
	report $? 'the demo uses no colour in a pipe' 'there is an escape in its output'
}
plain_ascii() {
	LC_ALL=C LANG=C sh demo/run.sh 2>&1 | LC_ALL=C grep -q '[^ -~]'
	[ "${PIPESTATUS[1]}" != 0 ]
	report $? 'the demo is plain ASCII in the C locale' 'a byte outside ASCII was printed'
}
control() {
	local out
	out=$(LC_ALL=C OSTIARY=$weak sh demo/run.sh 2>&1)
	report $? 'the demo passes on the weak build with every layer on (control)' "$(grep BAD <<<"$out" | head -n 3 | tr '\n' '|')"
}
par as_it_is
par plain_ascii
par control

# turns PART TITLE LAYERS [FLAGS]: without LAYERS the demo fails, and this line of its PART is among what failed. What
# comes after the part is shown in soak alone.
turns() {
	local out status until
	until=$(by_tier "$1" '')
	shift
	out=$(LC_ALL=C OSTIARY=$weak OSTIARY_WEAKEN=$2 DEMO_FLAGS=${3:-} DEMO_UNTIL=$until sh demo/run.sh 2>&1)
	status=$?
	[ "$status" != 0 ] && grep -q "BAD $1" <<<"$out"
	report $? "without ${2:-copy-on-write}: '$1' turns" "status $status; $(grep BAD <<<"$out" | head -n 2 | tr '\n' '|')"
}

par turns walls 'your files stay as they were' '' --live
par turns walls 'cannot see your environment' env
par turns walls 'cannot use what you had open' fds
par turns walls 'cannot reach your machine' netns
par turns walls 'cannot use a shared pipe' overlay-ro
par turns walls 'cannot look into processes' pidns
par turns walls 'cannot learn whose machine it is' utsns
par turns walls 'cannot learn its configuration' etc-filter
command -v ipcmk >/dev/null && par turns walls 'cannot see shared memory' ipcns
for layer in caps seccomp nosuid userns-limits masks rlimits; do par turns walls 'holds no rights' $layer; done
for layer in dumpable tiocsti; do par turns probe 'ostiary probe' $layer; done

# Custody. (No layer gives the box the key itself: no process that builds it has ever had that.)
par turns keys 'nor from an answer' scrub
par turns keys 'the placeholder is a tripwire' tripwire

# Review. No layer stands behind it, so a program that does one thing wrong takes the place of ours.
wrongly() { # title, command of ours, what is done instead
	local wrong out status
	wrong=$(mktemp -d "$work/wrong.XXXXXX")
	printf '#!/bin/sh\nreal=%s\nif [ "$1" = %s ]; then %s; fi\nexec "$real" "$@"\n' "${OSTIARY:-$PWD/out/release/ostiary}" "$2" "$3" >"$wrong/ostiary"
	chmod 755 "$wrong/ostiary"
	out=$(LC_ALL=C OSTIARY=$wrong/ostiary DEMO_UNTIL=$(by_tier review '') sh demo/run.sh 2>&1)
	status=$?
	[ "$status" != 0 ] && grep -q "BAD $1" <<<"$out"
	report $? "with a wrong $2: '$1' turns" "status $status; $(grep BAD <<<"$out" | head -n 2 | tr '\n' '|')"
}
par wrongly 'shows what the agent changed' diff 'exec "$real" "$@" --name-only'
par wrongly 'lets the harmless part land' apply 'exec "$real" apply "$2" --dry-run'
par wrongly 'and not what would run' apply 'exec "$real" apply "$2" --yes=runs-on-commit'
par wrongly 'takes it back' undo 'exec "$real" undo --dry-run'

# A box that cannot be built without a layer shows its agent nothing at all: nnp, because the filter and
# Landlock need it; cwd, because the directory is gone. (What propagation lets in shows only when the
# host mounts something while a live box of root runs: attack 26.)
par turns walls 'edits the project' nnp
if [ "${SUITE_USER:-}" = root ]; then
	par turns probe 'ostiary probe' cwd
	# A high uid is the difference between a box of root and root; the kernel's uid 0 is what it stops.
	par turns walls 'holds no rights' highuid
else
	par turns walls 'edits the project' cwd
	# Landlock is the second wall around signals: it is felt when the first is gone.
	par turns walls 'cannot end processes' pidns,landlock
fi

# Our state lies in the home directory and may not be shown, so for this one it has to lie elsewhere.
without_home_mask() {
	local state
	state=$(mktemp -d) # not in the home
	export XDG_STATE_HOME=$state/state XDG_DATA_HOME=$state/data XDG_CONFIG_HOME=$state/config
	turns walls 'cannot see your home' home-mask
	rm -rf "$state"
}
par without_home_mask
par_wait

# Not here, because no script can feel them by themselves: keyring (its calls are filtered), cgroup (the
# supervisor watches as well), pty (there is no terminal). The attack suite has them.
exit $bad
